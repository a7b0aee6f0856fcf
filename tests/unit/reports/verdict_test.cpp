// Expectations met and missed.
#include "reports/verdict.hpp"

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

Expectation expect(const std::string& metric, std::int64_t low, std::int64_t high,
                   bool implied = false) {
  return {metric, low, high, implied, {}};
}

TEST(Verdict, BothEndsOfABoundMeetIt) {
  Fixture f;
  const auto passes = [&](std::int64_t low, std::int64_t high) {
    f.scenario.expect.all = {expect("requests", low, high)};
    return judge(f.report({outcome(0), outcome(1)})).passed();
  };
  EXPECT_TRUE(passes(2, 2));
  EXPECT_TRUE(passes(0, 2));
  EXPECT_TRUE(passes(2, 9));
  EXPECT_FALSE(passes(3, 9));
  EXPECT_FALSE(passes(0, 1));
}

TEST(Verdict, AFindingIsUnexpectedWhenTheScenarioSaysNothingOfFindings) {
  Fixture f;
  EXPECT_TRUE(judge(f.report({})).passed());
  f.found(finding(Rule::coverage, 1));
  EXPECT_FALSE(judge(f.report({})).passed());
  EXPECT_EQ(judge(f.report({})).unexpected_findings, 1u);
  f.scenario.expect.findings_given = true;
  f.scenario.expect.all = {expect("findings.I2", 1, 1)};
  EXPECT_TRUE(judge(f.report({})).passed());
}

TEST(Verdict, WhatIsImpliedShowsOnlyWhenMissed) {
  Fixture f;
  f.scenario.expect.findings_given = true;
  f.scenario.expect.all = {expect("findings.I1", 0, 0, true), expect("findings.I2", 0, 0, true)};
  EXPECT_TRUE(judge(f.report({})).checks.empty());
  f.found(finding(Rule::coverage, 1));
  const Verdict verdict = judge(f.report({}));
  ASSERT_EQ(verdict.checks.size(), 1u);
  EXPECT_EQ(text(verdict.checks[0]), "findings.I2: expected 0, found 1");
}

TEST(Verdict, WhatCannotBeMeasuredIsMissed) {
  Fixture f;
  f.scenario.expect.all = {expect("ttft_p50_ms", 0, 1'000'000)};
  const Verdict verdict = judge(f.report({}));
  EXPECT_FALSE(verdict.passed());
  EXPECT_EQ(text(verdict.checks[0]), "ttft_p50_ms: expected <= 1000000, found nothing to measure");
}

}  // namespace
}  // namespace handoff

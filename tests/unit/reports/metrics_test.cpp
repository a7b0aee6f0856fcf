// Metrics by name: percentiles, deployments, values that there are none of.
#include "reports/metrics.hpp"

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

TEST(Distribution, IsOfNearestRanks) {
  std::vector<TimeNs> samples;
  for (TimeNs i = 100; i >= 1; --i) samples.push_back(i);
  const Distribution d = distribution_of(samples);
  EXPECT_EQ(d.count, 100u);
  EXPECT_EQ(d.p50, 50);
  EXPECT_EQ(d.p90, 90);
  EXPECT_EQ(d.p99, 99);
  EXPECT_EQ(d.max, 100);
  EXPECT_EQ(d.mean, 51);  // 50.5, rounded half up

  // The smallest sample that at least half of them do not exceed.
  EXPECT_EQ(distribution_of({7, 3}).p50, 3);
  EXPECT_EQ(distribution_of({7, 3, 5}).p50, 5);
  EXPECT_EQ(distribution_of({7}).p99, 7);
  EXPECT_EQ(distribution_of({}).count, 0u);
  // A sum that does not fit in 64 bits.
  EXPECT_EQ(distribution_of({kNever - 1, kNever - 1, kNever - 1}).mean, kNever - 1);
}

TEST(Metrics, TimesAreOfSuccessfulResponses) {
  Fixture f;
  RequestOutcome failed = outcome(3, 9'000, 500);
  RequestOutcome single = outcome(2, 300);
  single.output_tokens_done = 1;
  const RunReport report = f.report({outcome(0, 100), outcome(1, 200), single, failed});
  EXPECT_EQ(metric_value(report, "requests"), 4);
  EXPECT_EQ(metric_value(report, "status.200"), 3);
  EXPECT_EQ(metric_value(report, "status.500"), 1);
  EXPECT_EQ(metric_value(report, "status.503"), 0);
  EXPECT_EQ(metric_value(report, "ttft_mean_ms"), 200);
  EXPECT_EQ(metric_value(report, "ttft_p50_ms"), 200);
  EXPECT_EQ(metric_value(report, "ttft_p99_ms"), 300);
  EXPECT_EQ(metric_value(report, "tpot_mean_us"), 10'000);
  EXPECT_EQ(report.all.tpot.count, 2u);
  EXPECT_EQ(metric_value(report, "e2e_p90_ms"), 400);
}

TEST(Metrics, ATimeWithoutASampleHasNoValue) {
  Fixture f;
  const RunReport report = f.report({outcome(0, 100, 500)});
  EXPECT_EQ(metric_value(report, "ttft_p50_ms"), std::nullopt);
  EXPECT_EQ(metric_value(report, "deployment.a.e2e_mean_ms"), std::nullopt);
}

TEST(Metrics, ADeploymentIsFoundByItsWholeName) {
  Fixture f;
  RequestOutcome other = outcome(1);
  other.deployment = 1;
  const RunReport report = f.report({outcome(0), other, outcome(2)});
  EXPECT_EQ(metric_value(report, "deployment.a.requests"), 2);
  EXPECT_EQ(metric_value(report, "deployment.a.b.requests"), 1);
  EXPECT_EQ(metric_value(report, "deployment.a.status.200"), 2);
  EXPECT_EQ(metric_value(report, "deployment.a.transfers"), 3);
  EXPECT_EQ(metric_value(report, "transfers"), 7);
}

TEST(Metrics, FindingsOfADeploymentAreUnknownOnceSomeWereNotKept) {
  Fixture f;
  f.found(finding(Rule::provenance, 0));
  f.found(finding(Rule::provenance, 1, 1));
  f.found(finding(Rule::coverage, 1, 1));
  EXPECT_EQ(metric_value(f.report({}), "findings"), 3);
  EXPECT_EQ(metric_value(f.report({}), "findings.I1"), 2);
  EXPECT_EQ(metric_value(f.report({}), "deployment.a.b.findings.I1"), 1);
  EXPECT_EQ(metric_value(f.report({}), "deployment.a.b.findings"), 2);
  ++f.result.findings_by_rule[static_cast<std::size_t>(Rule::provenance)];
  EXPECT_EQ(metric_value(f.report({}), "findings.I1"), 3);
  EXPECT_EQ(metric_value(f.report({}), "deployment.a.b.findings.I1"), std::nullopt);
  EXPECT_EQ(metric_value(f.report({}), "deployment.a.b.findings.I2"), 1);
}

TEST(Metrics, WrongResponsesAreListedBySerial) {
  Fixture f;
  RequestOutcome tainted = outcome(5);
  tainted.tainted = true;
  tainted.foreign_tokens = 40;
  RequestOutcome corrupt = outcome(2);
  corrupt.corrupt = true;
  corrupt.unwritten_tokens = 7;
  const RunReport report = f.report({tainted, outcome(3), corrupt});
  ASSERT_EQ(report.wrong.size(), 2u);
  EXPECT_EQ(report.wrong[0].serial, 2u);
  EXPECT_EQ(metric_value(report, "tainted_responses"), 1);
  EXPECT_EQ(metric_value(report, "corrupt_responses"), 1);
  EXPECT_EQ(metric_value(report, "foreign_tokens"), 40);
  EXPECT_EQ(metric_value(report, "unwritten_tokens"), 7);
}

// Every name that scenarios may expect can be asked for.
TEST(Metrics, HaveAValueForEveryName) {
  Fixture f;
  const RunReport report = f.report({outcome(0), outcome(1)});
  std::size_t plain = 0;
  for (const Metric& m : kMetrics) {
    const std::string name = m.name;
    if (name.back() == '*') continue;
    ++plain;
    EXPECT_TRUE(metric_value(report, name).has_value()) << name;
    if (!m.of_deployment) continue;
    EXPECT_TRUE(metric_value(report, "deployment.a." + name).has_value()) << name;
  }
  EXPECT_GT(all_metrics(report).size(), plain);
}

}  // namespace
}  // namespace handoff

// What a changed run is judged to have mended.
#include "reports/explain.hpp"

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

Observed leaking() {
  Observed o;
  o.outcome = outcome(1);
  o.outcome->tainted = true;
  o.findings = {finding(Rule::provenance, 1), finding(Rule::coverage, 1)};
  o.by_rule[static_cast<std::size_t>(Rule::provenance)] = 1;
  o.by_rule[static_cast<std::size_t>(Rule::coverage)] = 1;
  return o;
}

Observed clean(int status = 500, Cause cause = Cause::length_mismatch) {
  Observed o;
  o.outcome = outcome(1, 100, status);
  o.outcome->cause = cause;
  return o;
}

Judgement judged(const Observed& changed) {
  const Observed base = leaking();
  const Case story = cases_of(base.findings).front();
  return judge_trial(story, base, {"x", changed});
}

TEST(Explain, AChangeStopsItWhenNothingIsWrongAnyMore) {
  EXPECT_EQ(judged(clean()).effect, Effect::stops);
  EXPECT_EQ(judged(clean()).answer, "HTTP 500 after 200 ms (length mismatch)");
  EXPECT_EQ(judged(clean(200, Cause::finished)).answer, "HTTP 200 after 200 ms");
}

TEST(Explain, AChangeThatLeavesTheTaintHasNoEffect) {
  EXPECT_EQ(judged(leaking()).effect, Effect::none);
}

TEST(Explain, StarvationIsNoWholeFix) {
  const Judgement j = judged(clean(500, Cause::waiting_timeout));
  EXPECT_EQ(j.effect, Effect::partly);
  EXPECT_EQ(j.but, "only a timeout ends it, and its pages are held meanwhile");
}

TEST(Explain, AnAnswerOutOfEmptyMemoryIsNoWholeFix) {
  Observed o = clean(200, Cause::finished);
  o.outcome->corrupt = true;
  o.outcome->unwritten_tokens = 1234;
  o.findings = {finding(Rule::coverage, 1)};
  const Judgement j = judged(o);
  EXPECT_EQ(j.effect, Effect::partly);
  EXPECT_EQ(j.but, "1,234 of its positions hold nothing or the wrong content; findings remain: I2");
}

TEST(Explain, NoAnswerIsNoWholeFix) {
  Observed o = clean();
  o.outcome.reset();
  EXPECT_EQ(judged(o).effect, Effect::partly);
  EXPECT_EQ(judged(o).answer, "no answer");
}

TEST(Explain, WhatBefallsOthersInsteadIsSeen) {
  Observed o = clean();
  o.findings = {finding(Rule::provenance, 2), finding(Rule::balance, 3)};
  o.by_rule[static_cast<std::size_t>(Rule::provenance)] = 1;
  o.by_rule[static_cast<std::size_t>(Rule::balance)] = 1;
  const Judgement j = judged(o);
  EXPECT_EQ(j.effect, Effect::partly);
  EXPECT_EQ(j.but, "others have new findings: I5; it befalls another request: I1");
}

TEST(Explain, PolicyChangesAreOneDecisionAway) {
  const EnginePolicy policy;
  const std::vector<PolicyChange> changes = policy_changes(policy);
  EXPECT_GT(changes.size(), 20u);
  for (const PolicyChange& c : changes) {
    const std::string top = c.key.substr(0, c.key.find('.'));
    EXPECT_NE(policy_value(policy, top), policy_value(c.policy, top)) << c.key;
    EXPECT_NE(top, "bugs") << c.key;  // none is switched on
    // All others are the same.
    for (const PolicyChange& other : changes) {
      const std::string key = other.key.substr(0, other.key.find('.'));
      if (key == top) continue;
      EXPECT_EQ(policy_value(policy, key), policy_value(c.policy, key)) << c.key << " " << key;
    }
  }
  EnginePolicy buggy;
  buggy.bugs.abort_frees_twice = true;
  EXPECT_EQ(policy_changes(buggy).size(), changes.size() + 1);
}

}  // namespace
}  // namespace handoff

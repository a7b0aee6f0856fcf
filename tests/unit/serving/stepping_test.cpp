// What must not change a result: lazy or eager stepping, collapsed or explicit ranks, a copy, a
// second run.
#include <gtest/gtest.h>

#include "models/serving/cluster.hpp"
#include "tests/unit/serving/fixtures.hpp"

namespace handoff {
namespace {

// A busy mix: shared prefixes, aborts, oversize prompts, a pool that is too small for all.
RunConfig busy(EnginePolicy engine, std::uint64_t seed) {
  Rng rng(seed, "busy");
  engine.reserved_decode_tokens = 64;
  engine.clip_new_tokens = 128;
  std::vector<ListedRequest> requests;
  TimeNs at = 0;
  for (int i = 0; i < 150; ++i) {
    at += rng.between(0, 120) * kMillisecond;
    ListedRequest r = request(at, rng.between(50, 5'000), rng.between(1, 600));
    if (rng.chance(1, 25)) r.prompt_tokens = rng.between(8'186, 12'000);
    if (rng.chance(1, 10)) r.abort_after_ns = rng.between(1, 4'000) * kMillisecond;
    if (rng.chance(1, 2)) {
      r.blocks = {rng.below(3), rng.below(4)};
      r.block_tokens = 500;
    }
    requests.push_back(r);
  }
  RunConfig config = small_cluster(engine, requests);
  config.seed = seed;
  config.network.node_bytes_per_second = 400'000'000;
  return config;
}

// Everything but event numbers, which differ with the number of events.
void expect_same(const Observed& a, const Observed& b) {
  ASSERT_EQ(a.outcomes.size(), b.outcomes.size());
  for (std::size_t i = 0; i < a.outcomes.size(); ++i) {
    const RequestOutcome& x = a.outcomes[i];
    const RequestOutcome& y = b.outcomes[i];
    ASSERT_EQ(x.end_ns, y.end_ns) << "request " << i;
    ASSERT_EQ(x.first_token_ns, y.first_token_ns) << "request " << i;
    ASSERT_EQ(x.status, y.status) << "request " << i;
    ASSERT_EQ(x.output_tokens_done, y.output_tokens_done) << "request " << i;
    ASSERT_EQ(x.retractions, y.retractions) << "request " << i;
    ASSERT_EQ(x.foreign_tokens, y.foreign_tokens) << "request " << i;
    ASSERT_EQ(x.unwritten_tokens, y.unwritten_tokens) << "request " << i;
    ASSERT_EQ(x.tainted, y.tainted) << "request " << i;
    ASSERT_EQ(x.main_source, y.main_source) << "request " << i;
  }
  EXPECT_EQ(a.rules(), b.rules());
}

class Stepping_ : public ::testing::TestWithParam<std::tuple<int, FreeOrder>> {};

TEST_P(Stepping_, LazyAndEveryTokenGiveTheSameResults) {
  for (const EnginePolicy& base : {v0(), v1(), v2(), v3()}) {
    EnginePolicy engine = base;
    engine.free_order = std::get<1>(GetParam());
    RunConfig config = busy(engine, static_cast<std::uint64_t>(std::get<0>(GetParam())));
    const Observed lazy = observe(config);
    config.stepping = Stepping::every_token;
    const Observed eager = observe(config);
    expect_same(lazy, eager);
    EXPECT_LT(lazy.result.events, eager.result.events);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Stepping_,
                         ::testing::Combine(::testing::Range(1, 9),
                                            ::testing::Values(FreeOrder::lifo, FreeOrder::fifo,
                                                              FreeOrder::sorted,
                                                              FreeOrder::random)));

TEST(Ranks, ExplicitRanksGiveTheResultsOfOneThatStandsForAll) {
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    RunConfig config = busy(v0(), seed);
    const Observed collapsed = observe(config);
    config.deployments[0].ranks = 4;
    const Observed explicit_ranks = observe(config);
    expect_same(collapsed, explicit_ranks);
  }
}

TEST(Determinism, TheSameConfigurationGivesTheSameDigest) {
  const Observed a = observe(busy(v0(), 3));
  const Observed b = observe(busy(v0(), 3));
  const Observed c = observe(busy(v0(), 4));
  EXPECT_EQ(a.result.digest, b.result.digest);
  EXPECT_NE(a.result.digest, c.result.digest);
}

TEST(Determinism, ACopyOfTheWorldGoesOnAsTheOriginalDoes) {
  const auto config = std::make_shared<const RunConfig>(busy(v0(), 5));
  Simulator<Cluster> original{Cluster(config)};
  ASSERT_EQ(original.run(2'000), StopReason::reached);
  Simulator<Cluster> copy = original;
  ASSERT_EQ(original.run(), StopReason::drained);
  const std::uint64_t digest = original.digest();
  const std::uint64_t events = original.event_number();
  ASSERT_EQ(copy.run(), StopReason::drained);
  EXPECT_EQ(copy.digest(), digest);
  EXPECT_EQ(copy.event_number(), events);
  Simulator<Cluster> again{Cluster(config)};
  ASSERT_EQ(again.run(2'000), StopReason::reached);
  EXPECT_EQ(again.event_number(), 2'000u) << "replay to an event number";
}

TEST(Determinism, AFaultThatNeverFiresMovesNothing) {
  RunConfig config = busy(v2(), 6);
  const Observed plain = observe(config);
  NoticeFault never;
  never.kind = NoticeFaultKind::lost;
  never.select.prompt_tokens_min = 1'000'000;
  config.faults.push_back({"never", {}, never});
  expect_same(plain, observe(config));
}

// Sound and complete on ordinary traffic: whatever the order of reuse, a policy without a hole
// never yields a finding, prefix sharing included.
TEST(Soundness, SafePoliciesYieldNoFindingsUnderAnyOrderOfReuse) {
  for (const FreeOrder order :
       {FreeOrder::lifo, FreeOrder::fifo, FreeOrder::sorted, FreeOrder::random})
    for (std::uint64_t seed = 20; seed < 30; ++seed) {
      EnginePolicy engine = v2();
      engine.free_order = order;
      engine.abort_release = AbortRelease::when_drained;
      const Observed seen = observe(busy(engine, seed));
      EXPECT_EQ(seen.findings(), 0u) << "seed " << seed << ": " << seen.rules();
      EXPECT_EQ(seen.tainted(), 0u);
    }
}

}  // namespace
}  // namespace handoff

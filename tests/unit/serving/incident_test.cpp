// The stale-KV incident must emerge from the modelled decisions, and each rung of the ladder must
// do to it what the real change did.
#include <gtest/gtest.h>

#include "tests/unit/serving/fixtures.hpp"

namespace handoff {
namespace {

// An ordinary request leaves its content in decode's pages; a prompt longer than the prefill pool
// follows.
RunConfig incident(const EnginePolicy& engine) {
  return small_cluster(engine, {request(0, 7'000, 40), request(5 * kSecond, 9'000, 40)});
}

TEST(Incident, UnderV0TheOversizePromptIsAnsweredFromAnotherRequestsMemory) {
  const Observed seen = observe(incident(v0()));
  ASSERT_EQ(seen.outcomes.size(), 2u);
  EXPECT_FALSE(seen.outcomes[0].tainted);
  const RequestOutcome& victim = seen.outcomes[1];
  EXPECT_EQ(victim.status, 200);
  EXPECT_TRUE(victim.tainted);
  EXPECT_EQ(victim.main_source, 0u);
  // Request 0 left 109 full pages on decode. The first page comes from prefill, whole: the
  // placeholder's token, then 23 slots of what request 0 left in prefill's own last page.
  EXPECT_EQ(victim.foreign_tokens, 109 * 64 + 23);
  EXPECT_EQ(victim.unwritten_tokens, 9'000 - 109 * 64 - 24);
  EXPECT_EQ(victim.output_tokens_done, 40);
  EXPECT_EQ(seen.rules(), "I2 I1 I7");
}

TEST(Incident, TheChainTellsWhoWroteFreedSentAnnouncedCommittedAndRead) {
  const Observed seen = observe(incident(v0()));
  const Finding* leak = nullptr;
  for (const Finding& f : seen.result.findings)
    if (f.rule == Rule::provenance) leak = &f;
  ASSERT_NE(leak, nullptr);
  EXPECT_EQ(leak->victim, 1u);
  ASSERT_FALSE(leak->sources.empty());
  EXPECT_EQ(leak->sources[0].request, 0u);
  std::string told;
  TimeNs before = 0;
  for (const ChainLink& link : leak->chain) {
    EXPECT_GE(link.at, before) << "links are in time order";
    before = link.at;
    told += link.node + " " + std::to_string(link.request) + " " + link.what + "\n";
  }
  const std::vector<std::string> steps{
      "d/prefill[0] 0 computed this KV in prefill",
      "d/decode[0] 0 its KV arrived in page",
      "d/decode[0] 0 released page",
      "d/router 1 arrived: 9000 prompt tokens",
      "d/prefill[0] 1 prefill found 9000 tokens over its limit of 8186",
      "d/decode[0] 1 decode reserved 141 pages",
      "d/prefill[0] 1 prefill learnt the destination: 141 pages announced, 1 needed",
      "d/prefill[0] 1 prefill reported Success",
      "d/decode[0] 1 decode took \"transfer complete\" at its word",
      "d/decode[0] 1 read content of other requests"};
  std::size_t at = 0;
  for (const std::string& step : steps) {
    const std::size_t found = told.find(step, at);
    ASSERT_NE(found, std::string::npos) << "missing: " << step << "\nin:\n" << told;
    at = found;
  }
}

TEST(Incident, WithoutThePoolSizeMismatchThereIsNoLeak) {
  RunConfig config = incident(v0());
  config.deployments[0].prefill.kv_pool_tokens = 20'480;
  const Observed seen = observe(config);
  EXPECT_EQ(seen.findings(), 0u);
  EXPECT_EQ(seen.tainted(), 0u);
  EXPECT_EQ(seen.outcomes[1].status, 200);
}

TEST(Incident, OnAColdPoolTheAnswerIsCorruptButNobodysContentLeaks) {
  const Observed seen = observe(small_cluster(v0(), {request(0, 9'000)}));
  EXPECT_FALSE(seen.outcomes[0].tainted);
  EXPECT_TRUE(seen.outcomes[0].corrupt);
  EXPECT_EQ(seen.outcomes[0].foreign_tokens, 0);
  EXPECT_EQ(seen.count(Rule::provenance), 1u);
}

TEST(Incident, V1DoesNotLeakButDecodeHoldsThePagesUntilItsTimeout) {
  const Observed seen = observe(incident(v1()));
  EXPECT_EQ(seen.tainted(), 0u);
  EXPECT_EQ(seen.findings(), 0u);
  const RequestOutcome& r = seen.outcomes[1];
  EXPECT_EQ(r.status, 500);
  EXPECT_EQ(r.cause, Cause::waiting_timeout);
  EXPECT_GE(r.end_ns - r.arrival_ns, 300 * kSecond);
  // 141 pages for 300 seconds.
  EXPECT_GE(seen.result.deployments[0].nodes[1].pages_held_waiting_ns, 141 * 300 * kSecond);
}

TEST(Incident, UnderV1ABurstOfOversizePromptsStarvesOrdinaryRequests) {
  const std::vector<ListedRequest> burst{request(0, 9'000), request(kSecond, 9'000),
                                         request(2 * kSecond, 2'500)};
  const Observed starved = observe(small_cluster(v1(), burst));
  const Observed healthy = observe(small_cluster(v2(), burst));
  const auto waited = [](const Observed& o) {
    return o.outcomes[2].end_ns - o.outcomes[2].arrival_ns;
  };
  EXPECT_GT(waited(starved), 290 * kSecond) << "18,000 of 20,480 tokens are held for nothing";
  EXPECT_LT(waited(healthy), 5 * kSecond);
}

TEST(Incident, V2TellsDecodeBeforeAnySendAndTheClientSees500) {
  const Observed seen = observe(incident(v2()));
  EXPECT_EQ(seen.findings(), 0u);
  const RequestOutcome& r = seen.outcomes[1];
  EXPECT_EQ(r.status, 500);
  EXPECT_EQ(r.cause, Cause::prefill_failed);
  EXPECT_LT(r.end_ns - r.arrival_ns, kSecond);
  EXPECT_EQ(seen.result.deployments[0].transfers, 1u) << "nothing of the oversize prompt was sent";
}

TEST(Incident, V3RejectsBeforeAnyQueueAndTheClientSees400) {
  const Observed seen = observe(incident(v3()));
  EXPECT_EQ(seen.findings(), 0u);
  EXPECT_EQ(seen.outcomes[1].status, 400);
  EXPECT_LT(seen.outcomes[1].end_ns - seen.outcomes[1].arrival_ns, kSecond);
}

TEST(Incident, EachBackstopAloneStopsTheLeak) {
  EnginePolicy length = v0();
  length.commit.length = true;
  EnginePolicy checksum = v0();
  checksum.commit.checksum = true;
  EnginePolicy zero = v0();
  zero.zero_on_allocate = true;
  EnginePolicy router = v0();
  router.router_admission = RouterAdmission::smallest_node_limit;
  const Observed by_length = observe(incident(length));
  EXPECT_EQ(by_length.tainted(), 0u);
  EXPECT_EQ(by_length.outcomes[1].cause, Cause::length_mismatch);
  EXPECT_EQ(by_length.outcomes[1].status, 500);
  const Observed by_checksum = observe(incident(checksum));
  EXPECT_EQ(by_checksum.tainted(), 0u);
  EXPECT_EQ(by_checksum.outcomes[1].cause, Cause::checksum_mismatch);
  const Observed by_zero = observe(incident(zero));
  EXPECT_EQ(by_zero.tainted(), 0u);
  EXPECT_TRUE(by_zero.outcomes[1].corrupt)
      << "no leak, but the answer is still nonsense and HTTP 200";
  EXPECT_EQ(by_zero.outcomes[1].status, 200);
  const Observed by_router = observe(incident(router));
  EXPECT_EQ(by_router.findings(), 0u);
  EXPECT_EQ(by_router.outcomes[1].status, 400);
  EXPECT_EQ(by_router.outcomes[1].cause, Cause::rejected_router);
}

TEST(Incident, TheLimitIsSixTokensBelowThePool) {
  // min(context - 1, pool - 1) - 5 = 8,186; a prompt of that length or more is rejected.
  const Observed under = observe(small_cluster(v3(), {request(0, 8'185)}));
  const Observed at = observe(small_cluster(v3(), {request(0, 8'186)}));
  EXPECT_EQ(under.outcomes[0].status, 200);
  EXPECT_EQ(at.outcomes[0].status, 400);
}

TEST(Incident, APromptThatDecodeItselfCannotHoldIsAnsweredWith400) {
  const Observed seen =
      observe(small_cluster(v0(), {request(0, 2'000), request(5 * kSecond, 25'000)}));
  EXPECT_EQ(seen.outcomes[1].status, 400);
  EXPECT_EQ(seen.tainted(), 0u);
}

TEST(Incident, PromptsBeyondTheContextWindowNeverReachANode) {
  const Observed seen = observe(small_cluster(v0(), {request(0, 32'768)}));
  EXPECT_EQ(seen.outcomes[0].status, 400);
  EXPECT_EQ(seen.outcomes[0].cause, Cause::rejected_context);
  EXPECT_EQ(seen.outcomes[0].prefill_node, -1);
}

}  // namespace
}  // namespace handoff

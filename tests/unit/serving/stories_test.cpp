// Short directed stories: the ordinary life of requests, aborts, timeouts, crashes, operations.
#include <gtest/gtest.h>

#include "models/serving/cluster.hpp"
#include "tests/unit/serving/fixtures.hpp"

namespace handoff {
namespace {

TEST(Story, AnOrdinaryRequestGetsItsTokensAndLeavesNothingBehind) {
  const Observed seen = observe(small_cluster(v2(), {request(0, 1'000, 50)}));
  const RequestOutcome& r = seen.outcomes[0];
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.output_tokens_done, 50);
  EXPECT_GT(r.first_token_ns, r.arrival_ns);
  EXPECT_GT(r.end_ns, r.first_token_ns);
  EXPECT_EQ(seen.findings(), 0u);
  EXPECT_EQ(seen.result.stop, StopReason::drained);
  EXPECT_EQ(seen.result.unfinished, 0u);
}

TEST(Story, ASingleOutputTokenComesWithTheTransfer) {
  const Observed seen = observe(small_cluster(v2(), {request(0, 1'000, 1)}));
  EXPECT_EQ(seen.outcomes[0].output_tokens_done, 1);
  EXPECT_EQ(seen.outcomes[0].first_token_ns, seen.outcomes[0].end_ns);
  EXPECT_EQ(seen.result.deployments[0].nodes[1].steps, 0u);
}

TEST(Story, ASharedPrefixIsServedFromTheCacheAndNeverFlagged) {
  std::vector<ListedRequest> requests;
  for (int i = 0; i < 4; ++i) {
    ListedRequest r = request(i * kSecond, 1'500);
    r.blocks = {1, 2};
    r.block_tokens = 512;
    requests.push_back(r);
  }
  const Observed seen = observe(small_cluster(v2(), requests));
  EXPECT_EQ(seen.outcomes[0].cached_tokens, 0);
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(seen.outcomes[static_cast<std::size_t>(i)].cached_tokens, 1'024);
  EXPECT_EQ(seen.findings(), 0u);
}

TEST(Story, APrefixPoolTooSmallForAllEvictsAndStaysRight) {
  std::vector<ListedRequest> requests;
  for (int i = 0; i < 60; ++i) {
    ListedRequest r = request(i * 200 * kMillisecond, 2'000 + 37 * i);
    r.blocks = {static_cast<std::uint64_t>(i % 2), static_cast<std::uint64_t>(i % 3), 9};
    r.block_tokens = 300;  // blocks end inside pages
    requests.push_back(r);
  }
  const Observed seen = observe(small_cluster(v2(), requests));
  EXPECT_EQ(seen.findings(), 0u);
  EXPECT_GT(seen.result.deployments[0].cached_tokens, 0);
  for (const RequestOutcome& o : seen.outcomes) EXPECT_EQ(o.status, 200);
}

TEST(Story, DecodeRetractsWhenItsPoolRunsFullAndEveryResponseStaysRight) {
  EnginePolicy engine = v2();
  engine.reserved_decode_tokens = 16;
  engine.clip_new_tokens = 16;
  std::vector<ListedRequest> requests;
  for (int i = 0; i < 8; ++i) requests.push_back(request(i * 10 * kMillisecond, 2'000, 1'500));
  const Observed seen = observe(small_cluster(engine, requests));
  EXPECT_GT(seen.result.deployments[0].retractions, 0u);
  EXPECT_EQ(seen.findings(), 0u);
  for (const RequestOutcome& o : seen.outcomes) {
    EXPECT_EQ(o.status, 200);
    EXPECT_EQ(o.output_tokens_done, 1'500);
  }
}

// A slow link makes room to abort in the middle of a transfer.
RunConfig slow_transfer(const EnginePolicy& engine, TimeNs abort_after) {
  std::vector<ListedRequest> requests{request(0, 4'000, 64)};
  requests[0].abort_after_ns = abort_after;
  RunConfig config = small_cluster(engine, requests);
  config.network.node_bytes_per_second = 10'000'000;  // about 7 s for the transfer
  return config;
}

TEST(Story, AnAbortInMidTransferThatFreesAtOnceIsFound) {
  const Observed seen = observe(slow_transfer(v0(), 3 * kSecond));
  EXPECT_EQ(seen.outcomes[0].status, 499);
  EXPECT_EQ(seen.rules(), "I4 I4") << "on decode (destination) and on prefill (source)";
}

TEST(Story, AnAbortInMidTransferThatWaitsForTheDrainIsClean) {
  EnginePolicy engine = v0();
  engine.abort_release = AbortRelease::when_drained;
  const Observed seen = observe(slow_transfer(engine, 3 * kSecond));
  EXPECT_EQ(seen.outcomes[0].status, 499);
  EXPECT_EQ(seen.findings(), 0u);
}

TEST(Story, PagesFreedInMidTransferAndGivenOnAreOverwrittenUnderTheirNewOwner) {
  std::vector<ListedRequest> requests{request(0, 6'000, 64), request(3 * kSecond, 3'000, 400)};
  requests[0].abort_after_ns = 4 * kSecond;
  EnginePolicy engine = v0();
  engine.reserved_decode_tokens = 16;
  engine.transfer_queues = 4;
  RunConfig config = small_cluster(engine, requests);
  config.deployments[0].decode.kv_pool_tokens =
      7'040;  // the second waits for the first one's pages
  config.network.node_bytes_per_second = 10'000'000;
  const Observed at_once = observe(config);
  EXPECT_GT(at_once.count(Rule::late_write), 0u) << at_once.rules();
  EXPECT_GT(at_once.count(Rule::free_in_flight), 0u);
  config.deployments[0].engine.abort_release = AbortRelease::when_drained;
  const Observed drained = observe(config);
  EXPECT_EQ(drained.findings(), 0u) << drained.rules();
  EXPECT_EQ(drained.outcomes[1].status, 200);
}

TEST(Story, ADeadPrefillNodeFailsItsRoomsWithinTheHeartbeatBoundAndComesBackEmpty) {
  RunConfig config = slow_transfer(v2(), kNever);
  auto& listed = std::get<std::vector<ListedRequest>>(config.workloads[0].source);
  listed.push_back(request(2 * kSecond, 500));
  listed.push_back(request(60 * kSecond, 500));
  NodeCrashFault crash;
  crash.role = NodeRole::prefill;
  crash.at_ns = kSecond;
  crash.for_ns = 30 * kSecond;
  config.faults.push_back({"crash", {}, crash});
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[0].status, 500);
  EXPECT_LE(seen.outcomes[0].end_ns, 12 * kSecond) << "two heartbeats of five seconds";
  EXPECT_EQ(seen.outcomes[1].status, 503) << "no prefill node is up";
  EXPECT_EQ(seen.outcomes[2].status, 200);
  EXPECT_EQ(seen.findings(), 0u) << seen.rules();
}

TEST(Story, ADeadDecodeNodeEndsItsRequestsAndComesBackEmpty) {
  RunConfig config = slow_transfer(v2(), kNever);
  auto& listed = std::get<std::vector<ListedRequest>>(config.workloads[0].source);
  listed.push_back(request(60 * kSecond, 500));
  NodeCrashFault crash;
  crash.role = NodeRole::decode;
  crash.at_ns = 2 * kSecond;
  crash.for_ns = 10 * kSecond;
  config.faults.push_back({"crash", {}, crash});
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[0].status, 500);
  EXPECT_EQ(seen.outcomes[0].cause, Cause::node_down);
  EXPECT_EQ(seen.outcomes[1].status, 200);
  EXPECT_EQ(seen.findings(), 0u) << seen.rules();
}

TEST(Story, ASlowLinkDelaysAndADeadOneHoldsTheTransferUntilItIsBack) {
  const auto end_with = [](std::int64_t permille) {
    RunConfig config = slow_transfer(v2(), kNever);
    LinkFault link;
    link.link = "prefill[0]->spine";
    link.at_ns = 0;
    link.for_ns = 20 * kSecond;
    link.rate_permille = permille;
    config.faults.push_back({"link", {}, link});
    const Observed seen = observe(config);
    EXPECT_EQ(seen.outcomes[0].status, 200);
    EXPECT_EQ(seen.findings(), 0u);
    return seen.outcomes[0].end_ns;
  };
  EXPECT_LT(end_with(1000), end_with(500));
  EXPECT_GT(end_with(0), 26 * kSecond);
}

TEST(Story, AnUnknownLinkIsAnErrorOfTheConfiguration) {
  RunConfig config = small_cluster(v2(), {request(0, 100)});
  config.faults.push_back({"link", {12, 3}, LinkFault{"prefill[9]->spine", 0, kSecond, 0}});
  try {
    observe(config);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.mark().line, 12);
    EXPECT_NE(std::string(error.what()).find("prefill[0]->spine"), std::string::npos);
  }
}

TEST(Story, AnOfflineDeploymentAnswers503AndARedeployedOneServesUnderItsNewPolicy) {
  RunConfig config = small_cluster(
      v0(), {request(0, 7'000, 40), request(kSecond, 9'000, 3'000), request(20 * kSecond, 500),
             request(40 * kSecond, 7'000, 40), request(60 * kSecond, 9'000, 40)});
  Operation off;
  off.kind = Operation::Kind::take_offline;
  off.at_ns = 3 * kSecond;
  Operation on;
  on.kind = Operation::Kind::redeploy;
  on.at_ns = 30 * kSecond;
  on.engine = v2();
  on.engine_name = "v2";
  config.operations = {off, on};
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[1].status, 503) << "cut off while it decodes";
  EXPECT_TRUE(seen.outcomes[1].tainted);
  EXPECT_EQ(seen.outcomes[2].status, 503);
  EXPECT_EQ(seen.outcomes[3].status, 200);
  EXPECT_EQ(seen.outcomes[4].status, 500) << "the new policy refuses what the old one leaked";
  EXPECT_FALSE(seen.outcomes[4].tainted);
}

TEST(Story, ADrainedDeploymentFinishesWhatRuns) {
  RunConfig config = small_cluster(v2(), {request(0, 2'000, 2'000), request(2 * kSecond, 500)});
  Operation drain;
  drain.kind = Operation::Kind::drain;
  drain.at_ns = kSecond;
  config.operations = {drain};
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[0].status, 200);
  EXPECT_EQ(seen.outcomes[0].output_tokens_done, 2'000);
  EXPECT_EQ(seen.outcomes[1].status, 503);
}

TEST(Story, AnEmbeddingDeploymentIsPrefillOnly) {
  RunConfig config = small_cluster(v2(), {});
  DeploymentConfig& d = config.deployments[0];
  d.model.role = ModelRole::embed;
  d.model.groups.clear();
  d.decode.nodes = 0;
  config.workloads[0].source =
      std::vector<ListedRequest>{request(0, 300, 0), request(kSecond, 40'000, 0)};
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[0].status, 200);
  EXPECT_EQ(seen.outcomes[0].decode_node, -1);
  EXPECT_EQ(seen.outcomes[1].status, 400);
  EXPECT_EQ(seen.result.deployments[0].transfers, 0u);
}

TEST(Story, DeploymentsShareNoContentEvenWhenTheirBlocksAreLabelledAlike) {
  RunConfig config = small_cluster(v2(), {});
  config.deployments.push_back(config.deployments[0]);
  config.deployments[1].name = "e";
  WorkloadConfig other = config.workloads[0];
  ListedRequest r = request(0, 1'024);
  r.blocks = {1, 2};
  r.block_tokens = 512;
  config.workloads[0].source = std::vector<ListedRequest>{r};
  r.at_ns = 10 * kSecond;
  other.source = std::vector<ListedRequest>{r};
  other.deployment = 1;
  other.name = "other";
  config.workloads.push_back(other);
  const Observed seen = observe(config);
  EXPECT_EQ(seen.outcomes[1].deployment, 1u);
  EXPECT_EQ(seen.outcomes[1].cached_tokens, 0);
  EXPECT_EQ(seen.findings(), 0u);
}

TEST(Story, AWorldThatStopsMovingIsAFindingNotAHang) {
  EnginePolicy engine = v0();
  engine.waiting_timeout_ns = kNever;
  RunConfig config = small_cluster(engine, {request(0, 500)});
  NoticeFault lost;
  lost.kind = NoticeFaultKind::lost;
  config.faults.push_back({"lost", {}, lost});
  const Observed seen = observe(config);
  EXPECT_EQ(seen.result.unfinished, 1u);
  EXPECT_EQ(seen.rules(), "I6");
}

}  // namespace
}  // namespace handoff

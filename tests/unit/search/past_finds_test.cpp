// What swarm runs found in the model, shrunk: each was a fault of ours and must stay mended.
#include <gtest/gtest.h>

#include "models/serving/run.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {
namespace {

RunResult run_text(const std::string& text) {
  const Scenario s = parse_scenario(text, "find.yaml", HANDOFF_SOURCE_DIR "/models/catalog");
  return run(s.run);
}

void all_is_well(const std::string& text) {
  const RunResult result = run_text(text);
  EXPECT_EQ(result.stop, StopReason::drained);
  EXPECT_EQ(result.unfinished, 0u);
  for (const Finding& f : result.findings) ADD_FAILURE() << code(f.rule) << ": " << f.message;
}

// Resumed with room for what it holds but not for its next token, a request was retracted again at
// the same instant, for ever.
TEST(PastFinds, ARequestThatIsResumedHasRoomForItsNextToken) {
  all_is_well(R"(handoff: 1
name: "found: I6 on router"
description: "Seed 1 of swarm base, shrunk."
deployments:
  - name: "llama-3.1-8b"
    model: "llama-3.1-8b"
    engine:
      preset: "fail-closed"
      decode_running_max: 32
      reserved_decode_tokens: 0
      clip_new_tokens: 512
      transfer_queues: 2
      bootstrap_timeout: 5s
      waiting_timeout: 5s
      heartbeat_interval: 1s
      route: least_tokens
    cluster:
      context_window: 4517
      prefill: {hardware: "1xh100", kv_pool_tokens: 130}
      decode: {hardware: "1xh100", kv_pool_tokens: 200}
network: {link_latency: 5ms, node_rate: 50MB/s}
workload:
  - name: "requests"
    deployment: "llama-3.1-8b"
    requests:
      - {at: 0s, prompt_tokens: 110, output_tokens: 20}
      - {at: 0s}
      - {at: 0s}
)");
}

// All that ran gave way while others waited, and no step came to merge those.
TEST(PastFinds, WhoeverWaitsRunsWhenTheWholeBatchGaveWay) {
  all_is_well(R"(handoff: 1
name: "found: I6 on router"
description: "Seed 270 of swarm base, shrunk."
deployments:
  - name: "llama-3.1-8b"
    model: "llama-3.1-8b"
    engine:
      preset: "fail-closed"
      prefix_cache: false
      chunk_tokens: 4096
      prefill_running_max: 2
      decode_running_max: 1
      reserved_decode_tokens: 0
      clip_new_tokens: 16
      transfer_queues: 2
      bootstrap_timeout: 5s
      waiting_timeout: 5s
      heartbeat_interval: 1s
    cluster:
      context_window: 12422
      prefill: {hardware: "1xh100", kv_pool_tokens: 7000}
      decode: {nodes: 3, hardware: "1xh100", kv_pool_tokens: 10200}
workload:
  - name: "requests"
    deployment: "llama-3.1-8b"
    requests:
      - {at: 0s, prompt_tokens: 6000, output_tokens: 90}
      - {at: 0s}
      - {at: 0s}
      - {at: 0s, prompt_tokens: 450}
      - {at: 0s}
      - {at: 0s}
      - {at: 0s, prompt_tokens: 1200}
      - {at: 0s}
      - {at: 0s}
      - {at: 0s, prompt_tokens: 650}
      - {at: 0s}
      - {at: 0s}
      - {at: 0s, prompt_tokens: 1610}
)");
}

// A request that ends in the pass that merges it frees pages which a retracted one waits for.
TEST(PastFinds, PagesFreedInAPassReachTheRetracted) {
  all_is_well(R"(handoff: 1
name: "found: I6 on router"
description: "Seed 29887 of swarm base, shrunk."
deployments:
  - name: "llama-3.1-8b"
    model: "llama-3.1-8b"
    engine:
      preset: "fail-closed"
      page_tokens: 16
      prefill_requests_max: 1
      prefill_running_max: 16
      reserved_decode_tokens: 0
      transfer_queues: 3
      route: least_tokens
    cluster:
      context_window: 12379
      prefill: {hardware: "1xh100", kv_pool_tokens: 900}
      decode: {hardware: "1xh100", kv_pool_tokens: 1000}
network: {link_latency: 100us, node_rate: 50MB/s, spine_rate: 200MB/s}
workload:
  - name: "requests"
    deployment: "llama-3.1-8b"
    requests:
      - {at: 0s, prompt_tokens: 120, output_tokens: 30}
      - {at: 0s, prompt_tokens: 833}
)");
}

// A prefill node that dies after its Success is out does not make the request fail.
TEST(PastFinds, ANodeThatDiesAfterSuccessIsNoCauseOfFailure) {
  all_is_well(R"(handoff: 1
name: "found: I7 on router"
description: "Seed 8396 of swarm base, shrunk."
deployments:
  - name: "llama-3.1-8b"
    model: "llama-3.1-8b"
    engine: "fail-closed"
    cluster:
      context_window: 16095
      prefill: {hardware: "1xh100", kv_pool_tokens: 8000}
      decode: {hardware: "1xh100", kv_pool_tokens: 15000}
network: {link_latency: 100us, node_rate: 5GB/s}
workload:
  - name: "requests"
    deployment: "llama-3.1-8b"
    requests:
      - {at: 0s, prompt_tokens: 500}
      - {at: 0s, prompt_tokens: 4100}
      - {at: 0s, prompt_tokens: 4500}
      - {at: 0s, prompt_tokens: 5000}
      - {at: 0s, prompt_tokens: 5130}
      - {at: 0s, prompt_tokens: 6017}
      - {at: 0s, prompt_tokens: 850}
      - {at: 0s, prompt_tokens: 2370}
      - {at: 0s, prompt_tokens: 2916}
      - {at: 0s, prompt_tokens: 5742}
      - {at: 0s, prompt_tokens: 4937}
      - {at: 0s, prompt_tokens: 4023}
      - {at: 0s, prompt_tokens: 3993}
      - {at: 0s, prompt_tokens: 4327}
      - {at: 0s, prompt_tokens: 5788}
      - {at: 0s, prompt_tokens: 1616}
      - {at: 0s, prompt_tokens: 3923}
      - {at: 0s, prompt_tokens: 5533}
      - {at: 0s, prompt_tokens: 6791}
      - {at: 0s, prompt_tokens: 2336}
      - {at: 0s, prompt_tokens: 2602}
      - {at: 0s, prompt_tokens: 6694}
      - {at: 0s, prompt_tokens: 7216}
      - {at: 0s, prompt_tokens: 1100}
      - {at: 0s, prompt_tokens: 1900}
      - {at: 1s, prompt_tokens: 884}
      - {at: 1s, prompt_tokens: 4493}
      - {at: 1s, prompt_tokens: 4821}
      - {at: 1s, prompt_tokens: 683}
      - {at: 1s, prompt_tokens: 5400}
      - {at: 2s, prompt_tokens: 7173, output_tokens: 22}
      - {at: 2s, prompt_tokens: 6810}
      - {at: 2s, prompt_tokens: 4481}
      - {at: 2s, prompt_tokens: 1800, output_tokens: 4}
      - {at: 2s, prompt_tokens: 2188}
faults:
  - node_crash: {deployment: "llama-3.1-8b", node: "prefill[0]", at: 8s 8ms 482us 234ns, for: 378ms}
)");
}

const std::string kOneRequest = R"(handoff: 1
name: small
model: llama-3.1-8b
engine: {preset: fail-closed, control_latency: 0s}
cluster:
  context_window: 4000
  prefill: {hardware: 1xh100, kv_pool_tokens: 4096}
  decode: {hardware: 1xh100, kv_pool_tokens: 4096}
workload:
  - requests: [{at: 4s, prompt_tokens: 100, output_tokens: 20}]
)";

TimeNs answered(const std::string& text, std::int32_t status) {
  const Scenario s = parse_scenario(text, "x.yaml", HANDOFF_SOURCE_DIR "/models/catalog");
  TimeNs end = -1;
  RunObserver observer;
  observer.on_outcome = [&](const RequestOutcome& o, const TenantNames&) {
    EXPECT_EQ(o.status, status);
    end = o.end_ns;
  };
  (void)run(s.run, observer);
  return end;
}

// A node, or a link, is back when the last of the faults that keep it down has ended.
TEST(PastFinds, FaultsThatOverlapDoNotEndEachOther) {
  answered(kOneRequest + R"(faults:
  - node_crash: {node: "decode[0]", at: 1s, for: 9s}
  - node_crash: {node: "decode[0]", at: 2s, for: 1s}
)",
           503);
  EXPECT_GT(answered(kOneRequest + R"(faults:
  - link: {link: "prefill[0]->spine", at: 1s, for: 9s}
  - link: {link: "prefill[0]->spine", at: 2s, for: 1s, rate: 50%}
)",
                     200),
            10 * kSecond);
}

// An embedding prompt that its node rejects gets its answer, whatever is done for decode's sake.
TEST(PastFinds, AnEmbeddingPromptTooLongIsAnswered) {
  for (const char* engine : {"sglang-v0", "sglang-v1", "sglang-v2", "sglang-v3", "fail-closed"})
    EXPECT_GE(
        answered(std::string("handoff: 1\nname: e\nmodel: bge-base-en-v1.5\nengine: ") + engine +
                     "\ncluster: {context_window: 512, prefill: {hardware: 1xh100}}\n"
                     "workload: [{requests: [{at: 0s, prompt_tokens: 506, output_tokens: 0}]}]\n",
                 400),
        0)
        << engine;
}

// An abort at the very end of a step: both ways of stepping decide after it.
TEST(PastFinds, AnAbortAtTheEndOfAStep) {
  const auto steps = [](const char* stepping) {
    const Scenario s =
        parse_scenario(kOneRequest + "stepping: " + stepping +
                           "\nfaults: [{client_abort: {request: 0, at: 4s 36ms 762us 12ns}}]\n",
                       "x.yaml", HANDOFF_SOURCE_DIR "/models/catalog");
    return run(s.run).deployments[0].nodes[1].steps;
  };
  EXPECT_EQ(steps("lazy"), steps("every_token"));
}

}  // namespace
}  // namespace handoff

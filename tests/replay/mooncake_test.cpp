// Mooncake's conversation trace (12,031 requests in an hour, kvcache-ai/Mooncake,
// FAST25-release/traces) on the repository's replay scenario.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "models/serving/run.hpp"
#include "reports/metrics.hpp"
#include "sim/search/shrink.hpp"
#include "tests/unit/search/options.hpp"

namespace handoff {
namespace {

const std::string kTrace = HANDOFF_SOURCE_DIR "/../shared/traces/mooncake_conversation.jsonl.gz";
const std::string kScenario = HANDOFF_SOURCE_DIR "/scenarios/replay/mooncake_conversation.yaml";
constexpr std::uint64_t kRequests = 12'031;

struct Ran {
  RunReport report;
  std::vector<RequestOutcome> outcomes;
};

class Mooncake : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kTrace)) GTEST_SKIP() << "no trace at " << kTrace;
  }
  static Ran run_with(std::vector<std::string> sets) {
    sets.push_back("workload[0].trace=" + kTrace);
    const Scenario scenario = load_scenario(kScenario, sets, kCatalog);
    Ran ran;
    OutcomeCollector collector(scenario.run.deployments.size());
    RunObserver observer;
    observer.on_outcome = [&](const RequestOutcome& o, const TenantNames&) {
      collector.add(o);
      ran.outcomes.push_back(o);
    };
    ran.report = collector.finish(scenario, run(scenario.run, observer));
    return ran;
  }
};

TEST_F(Mooncake, EveryRequestEndsWithoutAFinding) {
  const Ran ran = run_with({});
  const RunResult& result = ran.report.result;
  EXPECT_EQ(result.stop, StopReason::drained);
  EXPECT_EQ(result.requests, kRequests);
  EXPECT_EQ(result.unfinished, 0u);
  EXPECT_EQ(ran.outcomes.size(), kRequests);
  EXPECT_EQ(ran.report.all.status.at(200), kRequests);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_GT(result.deployments[0].cached_tokens, 0);
  EXPECT_EQ(run_with({}).report.result.digest, result.digest);
}

// The same in every build: debug or release, g++ or clang++, with sanitizers.
TEST_F(Mooncake, HasThisDigest) {
  EXPECT_EQ(run_with({}).report.result.digest, 12136775758676381071u);
}

// Prompts above the prefill pool, one a hundred, in a decode pool so large that its pages are fresh
// for a while.
const std::vector<std::string> kOversize{
    "cluster.prefill.kv_pool_tokens=128_000", "cluster.decode.kv_pool_tokens=4_000_000",
    "faults=[{oversize_prompt: {rate: 1%, prompt: {uniform: {low: 128_001, high: 131_000}}, "
    "output: {fixed: 40}}}]"};

std::vector<std::string> oversize_under(const std::string& engine) {
  std::vector<std::string> sets = kOversize;
  sets.push_back("engine=" + engine);
  return sets;
}

TEST_F(Mooncake, OversizePromptsAreTaintedByWhatTheirPagesHeld) {
  const Ran ran = run_with(oversize_under("sglang-v0"));
  std::uint64_t injected = 0;
  std::uint64_t in_fresh_pages = 0;
  constexpr std::int64_t page = 64;
  for (const RequestOutcome& o : ran.outcomes) {
    if (!o.injected) {
      EXPECT_FALSE(o.tainted || o.corrupt) << "request " << o.serial;
      continue;
    }
    ++injected;
    EXPECT_EQ(o.status, 200);
    // All but the placeholder's one token is another's or was never written.
    EXPECT_EQ(o.foreign_tokens + o.unwritten_tokens, o.prompt_tokens - 1);
    EXPECT_EQ(o.tainted, o.foreign_tokens > 0) << "request " << o.serial;
    EXPECT_EQ(o.corrupt, o.foreign_tokens == 0) << "request " << o.serial;
    // On fresh pages of decode nothing is foreign but the rest of the one page that was sent: whole
    // pages travel, and prefill had used that one before.
    in_fresh_pages += o.foreign_tokens < page;
    EXPECT_TRUE(o.foreign_tokens >= page || o.foreign_tokens == page - 1 || o.foreign_tokens == 0);
  }
  EXPECT_GT(injected, kRequests / 200);
  EXPECT_GT(in_fresh_pages, 0u);
  EXPECT_LT(in_fresh_pages, injected / 2);
  EXPECT_EQ(ran.report.all.tainted + ran.report.all.corrupt, injected);
  EXPECT_GT(ran.report.result.deployments[0].cached_tokens, 0);
}

TEST_F(Mooncake, UnderTheFixNothingIsTainted) {
  const Ran ran = run_with(oversize_under("sglang-v2"));
  EXPECT_TRUE(ran.report.wrong.empty());
  EXPECT_TRUE(ran.report.result.findings.empty());
  EXPECT_GT(ran.report.all.status.at(500), kRequests / 200);
  EXPECT_EQ(ran.report.all.status.at(200), kRequests);
  EXPECT_GT(ran.report.result.deployments[0].cached_tokens, 0);
}

// An hour of real traffic with impatient clients, pages freed at once: the write that lands on
// another's page needs two requests.
TEST_F(Mooncake, AbortsShrinkToTwoRequests) {
  std::vector<std::string> sets{
      "engine={preset: sglang-v0, abort_release: at_once, free_order: lifo}",
      "cluster.decode.kv_pool_tokens=300_000", "network={node_rate: 25Gb/s}",
      "faults=[{client_abort: {chance: 20%, after: 500ms}}]", "workload[0].trace=" + kTrace};
  const Scenario scenario = load_scenario(kScenario, sets, kCatalog);
  const RunResult result = run(scenario.run);
  const auto finding = std::find_if(result.findings.begin(), result.findings.end(),
                                    [](const Finding& f) { return f.rule == Rule::late_write; });
  ASSERT_NE(finding, result.findings.end());
  const Shrunk shrunk =
      shrink(scenario.run, *finding, result.firings, 2'000'000, shrink_options(2));
  EXPECT_LE(shrunk.best.items.size(), 3u);
  EXPECT_TRUE(shrunk.best.faults.empty());
}

}  // namespace
}  // namespace handoff

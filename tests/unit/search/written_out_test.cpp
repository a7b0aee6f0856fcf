// A run and the same run with its requests written out have the same outcomes.
#include "sim/search/written_out.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "models/serving/run.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {
namespace {

const std::string kCatalog = HANDOFF_SOURCE_DIR "/models/catalog";

Scenario scenario(const std::string& more, const std::string& workload) {
  return parse_scenario(R"(handoff: 1
name: x
seed: 5
model: llama-3.1-8b
engine: {preset: sglang-v0, free_order: lifo}
cluster:
  context_window: 65_536
  prefill: {nodes: 2, hardware: 1xh100, kv_pool_tokens: 20_000}
  decode: {nodes: 2, hardware: 1xh100, kv_pool_tokens: 60_000}
workload:
)" + workload + more,
                        "x.yaml", kCatalog);
}

constexpr const char* kChat = R"(  - name: chat
    synthetic:
      arrivals: {poisson: {rate: 4/s}}
      prompt: {lognormal: {median: 2000, sigma: 1, low: 10, high: 15000}}
      output: {uniform: {low: 1, high: 60}}
      shared_prefix: {chance: 50%, prefixes: 2, tokens: 640}
      tenants: [{name: acme}, {name: birch}]
      for: 40s
)";

std::string outcomes(const RunConfig& config) {
  std::ostringstream out;
  RunObserver observer;
  observer.on_outcome = [&](const RequestOutcome& o, const TenantNames& tenants) {
    out << o.serial << ' ' << tenants.name(o.tenant) << ' ' << o.arrival_ns << ' ' << o.end_ns
        << ' ' << o.status << ' ' << o.cached_tokens << ' ' << o.output_tokens_done << ' '
        << o.foreign_tokens << '\n';
  };
  (void)run(config, observer);
  return out.str();
}

void same_outcomes(const Scenario& s) {
  const RunResult result = run(s.run);
  const WrittenOut written = write_out(s.run, kNever, result.firings);
  EXPECT_EQ(written.items.size(), result.requests);
  EXPECT_EQ(outcomes(assemble(written)), outcomes(s.run));
}

TEST(WrittenOut, AGeneratorWithSharedPrefixes) { same_outcomes(scenario("", kChat)); }

TEST(WrittenOut, InjectedPrompts) {
  same_outcomes(scenario(R"(faults:
  - oversize_prompt: {count: 4, for: 30s, prompt: {fixed: 25000}, output: {fixed: 9}}
  - oversize_prompt: {rate: 5%, prompt: {fixed: 30000}, output: {fixed: 9}}
)",
                         kChat));
}

TEST(WrittenOut, ClientsThatGiveUp) {
  same_outcomes(scenario(R"(faults:
  - client_abort: {chance: 20%, after: 300ms}
  - client_abort: {request: 7, at: 20s}
)",
                         kChat));
}

TEST(WrittenOut, NoticeFaultsAreTiedToTheRequestsTheyMet) {
  const Scenario s = scenario(R"(faults:
  - notice: {kind: early, by: 50ms, when: {chance: 20%}}
  - notice: {kind: delayed, by: 50ms, when: {nth: 9}}
)",
                              kChat);
  same_outcomes(s);
  const WrittenOut written = write_out(s.run, kNever, run(s.run).firings);
  ASSERT_GT(written.faults.size(), 5u);
  for (const WrittenOut::FaultItem& f : written.faults) EXPECT_TRUE(f.item.has_value());
  // Without the request, its fault goes too; others keep theirs under new numbers.
  const std::size_t first = *written.faults[0].item;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < written.items.size(); ++i)
    if (i != first) others.push_back(i);
  const WrittenOut less = with_items(written, others);
  EXPECT_LT(less.faults.size(), written.faults.size());
  for (const WrittenOut::FaultItem& f : less.faults) EXPECT_LT(*f.item, less.items.size());
}

TEST(WrittenOut, SeveralDeploymentsAtOneInstant) {
  const std::string text = R"(handoff: 1
name: x
deployments:
  - name: a
    model: llama-3.1-8b
    engine: sglang-v2
    cluster: &c
      context_window: 9000
      prefill: {hardware: 1xh100, kv_pool_tokens: 20_000}
      decode: {hardware: 1xh100, kv_pool_tokens: 60_000}
  - {name: b, model: llama-3.1-8b, engine: sglang-v2, cluster: *c}
workload:
  - {name: late, deployment: b, requests: [{at: 0s, prompt_tokens: 5}, {at: 1s, prompt_tokens: 6}]}
  - {name: soon, deployment: a, requests: [{at: 0s, prompt_tokens: 7}]}
)";
  const Scenario s = parse_scenario(text, "x.yaml", kCatalog);
  const WrittenOut written = write_out(s.run, kNever, {});
  const RunConfig config = assemble(written);
  ASSERT_EQ(config.workloads.size(), 2u);
  EXPECT_EQ(config.workloads[0].name, "a");
  EXPECT_EQ(std::get<std::vector<ListedRequest>>(config.workloads[1].source).size(), 2u);
  EXPECT_EQ(run(config).requests, 3u);
}

TEST(WrittenOut, EndsWhereAsked) {
  const Scenario s = scenario("", kChat);
  const WrittenOut written = write_out(s.run, 10 * kSecond, {});
  ASSERT_FALSE(written.items.empty());
  EXPECT_LE(written.items.back().request.at_ns, 10 * kSecond);
  EXPECT_LT(written.items.size(), run(s.run).requests);
}

}  // namespace
}  // namespace handoff

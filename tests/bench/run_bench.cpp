// Whole runs: what a scenario of each kind costs, in requests a second.
#include <benchmark/benchmark.h>

#include "models/serving/run.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {
namespace {

void run_scenario(benchmark::State& state, const char* name) {
  const Scenario scenario = load_scenario(std::string(HANDOFF_SOURCE_DIR "/scenarios/") + name, {},
                                          HANDOFF_SOURCE_DIR "/models/catalog");
  std::uint64_t requests = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    const RunResult result = run(scenario.run);
    requests += result.requests;
    events += result.events;
  }
  state.counters["requests"] =
      benchmark::Counter(static_cast<double>(requests), benchmark::Counter::kIsRate);
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_scenario, glm53_oversize, "incidents/glm53_oversize.yaml")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_scenario, mooncake_sample, "replay/mooncake_conversation.yaml")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_scenario, azure_sample, "replay/azure_conv.yaml")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace handoff

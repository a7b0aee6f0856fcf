// What a run measured: outcomes collected as they come, and every metric that a scenario may expect
// (kMetrics of scenarios/scenario.hpp) by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/serving/outcome.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {

// Percentiles are nearest ranks: the smallest sample that at least that share does not exceed.
struct Distribution {
  std::uint64_t count = 0;
  TimeNs mean = 0;  // rounded to the nearest
  TimeNs p50 = 0;
  TimeNs p90 = 0;
  TimeNs p99 = 0;
  TimeNs max = 0;
};
Distribution distribution_of(std::vector<TimeNs> samples);

// Times are those of responses with status 200.
struct OutcomeMetrics {
  std::uint64_t requests = 0;
  std::map<std::int32_t, std::uint64_t> status;
  std::uint64_t tainted = 0;
  std::uint64_t corrupt = 0;
  std::int64_t foreign_tokens = 0;
  std::int64_t unwritten_tokens = 0;
  Distribution ttft;           // arrival to the first token at the client
  Distribution tpot;           // a token after the first: (end - first token) / (tokens - 1)
  Distribution e2e;            // arrival to the end
  TimeNs terminal_max_ns = 0;  // arrival to the terminal state of the slowest, any status
};

// Everything that reports are made from. Wall time and memory of the simulator itself are not among
// it: a report is a function of the scenario.
struct RunReport {
  const Scenario* scenario = nullptr;
  RunResult result;
  OutcomeMetrics all;
  std::vector<OutcomeMetrics> deployments;
  std::vector<RequestOutcome> wrong;  // tainted or corrupt, by serial
};

class OutcomeCollector {
 public:
  explicit OutcomeCollector(std::size_t deployments) : deployments_(deployments) {}
  void add(const RequestOutcome& outcome);
  RunReport finish(const Scenario& scenario, RunResult result);

 private:
  struct Samples {
    OutcomeMetrics metrics;
    std::vector<TimeNs> ttft, tpot, e2e;
  };
  static void add(Samples& samples, const RequestOutcome& outcome);
  static OutcomeMetrics finish(const Samples& samples);

  Samples all_;
  std::vector<Samples> deployments_;
  std::vector<RequestOutcome> wrong_;
};

// The value of a metric. Nothing when the run gives none: a time without a sample, or findings of a
// deployment when more were found than kept. Requires a name that scenarios accept.
std::optional<std::int64_t> metric_value(const RunReport& report, std::string_view name);

// All metrics with their values, families expanded to the members that occurred, those of
// deployments included when there are several.
struct NamedMetric {
  std::string name;
  std::optional<std::int64_t> value;
};
std::vector<NamedMetric> all_metrics(const RunReport& report);

}  // namespace handoff

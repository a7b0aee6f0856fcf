// Workloads: streaming trace readers and seeded generators, merged by arrival time.
//
// A stream is a copyable value: a copy goes on independently from where the original stands, and both give
// the same rows (chunks read from a file are shared and immutable). Memory does not follow trace length.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "models/workload/request_spec.hpp"
#include "sim/engine/rng.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

enum class TraceFormat : std::uint8_t {
  mooncake,  // JSONL: timestamp ms, input_length, output_length, hash_ids (512-token blocks); plain or gzip
  azure,     // CSV: TIMESTAMP, ContextTokens, GeneratedTokens; CRLF or LF, plain or gzip
};

enum class ArrivalMode : std::uint8_t {
  as_recorded,
  spread,  // requests that share one recorded instant are spread, seeded, over the gap to the next one
};

struct TraceConfig {
  std::string path;  // resolved against the scenario's folder by the loader
  TraceFormat format = TraceFormat::mooncake;
  ArrivalMode arrival = ArrivalMode::as_recorded;
  std::int64_t block_tokens = 512;  // mooncake
  std::int64_t speedup_permille = 1000;  // 2000: arrivals twice as fast
  std::int64_t requests_max = 0;         // 0: all rows
  TimeNs from_ns = 0;                    // rows before are skipped (and counted); time restarts there
  TimeNs for_ns = kNever;
};

// Token lengths of a synthetic workload.
struct LengthDistribution {
  enum class Kind : std::uint8_t { fixed, uniform, lognormal, pareto, mixture } kind = Kind::fixed;
  std::int64_t value = 0;   // fixed
  std::int64_t low = 1;     // uniform: bounds; lognormal, pareto: results outside [low, high] are drawn again
  std::int64_t high = 0;    // 0: no upper bound (uniform needs one)
  double median = 0;        // lognormal: e^mu
  double sigma = 0;         // lognormal: deviation of the logarithm
  double scale = 0;         // pareto: smallest value
  double alpha = 0;         // pareto: tail exponent
  struct Part {
    std::int64_t weight = 1;
    std::shared_ptr<const LengthDistribution> of;
  };
  std::vector<Part> parts;  // mixture
};

struct ArrivalProcess {
  enum class Kind : std::uint8_t { poisson, gamma, fixed } kind = Kind::poisson;
  double rate_per_s = 1.0;  // mean arrivals per second
  double cv = 1.0;          // gamma: coefficient of variation of the gaps
};

struct TenantShare {
  std::string name;
  std::int64_t weight = 1;
};

struct SyntheticConfig {
  ArrivalProcess arrivals;
  LengthDistribution prompt;
  LengthDistribution output;
  std::int64_t requests_max = 0;  // 0: until for_ns
  TimeNs from_ns = 0;
  TimeNs for_ns = kNever;         // one of requests_max and for_ns must bound the stream
  std::vector<TenantShare> tenants;  // empty: one tenant named after the workload
  // With probability shared_prefix_permille a prompt starts with one of `shared_prefixes` common prefixes
  // of shared_prefix_tokens (chosen uniformly, per tenant).
  std::int64_t shared_prefix_permille = 0;
  std::int64_t shared_prefixes = 1;
  std::int64_t shared_prefix_tokens = 0;
};

// Requests written out one by one, as small scenarios and shrunk ones need.
struct ListedRequest {
  TimeNs at_ns = 0;
  std::int64_t prompt_tokens = 1;
  std::int64_t output_tokens = 1;
  std::string tenant;  // empty: the workload's name
  TimeNs abort_after_ns = kNever;
  std::vector<std::uint64_t> blocks;
  std::int64_t block_tokens = 0;
};

struct WorkloadConfig {
  std::string name;
  std::uint32_t deployment = 0;
  std::variant<SyntheticConfig, TraceConfig, std::vector<ListedRequest>> source;
  // Lengths above these are cut, and counted. 0: no cut.
  std::int64_t clip_prompt_tokens = 0;
  std::int64_t clip_output_tokens = 0;
  TimeNs abort_after_ns = kNever;  // clients of this workload give up after this long
};

// What happened to the rows; shown in every report.
struct WorkloadCounters {
  std::uint64_t rows_read = 0;
  std::uint64_t rows_skipped = 0;   // outside from/for
  std::uint64_t rows_dropped = 0;   // zero prompt or zero output tokens
  std::uint64_t prompts_clipped = 0;
  std::uint64_t outputs_clipped = 0;
  std::uint64_t requests = 0;       // handed on
  TimeNs first_arrival_ns = kNever;
  TimeNs last_arrival_ns = 0;
};

// A malformed trace. what() is "file:line:column: what is wrong, what was expected".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Names of the tenants of all workloads, in first-mention order; RequestSpec::tenant indexes it.
class TenantNames {
 public:
  std::uint32_t index(const std::string& name);  // adds it when new
  [[nodiscard]] const std::string& name(std::uint32_t index) const { return names_[index]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

// One workload as a stream of requests in arrival order. Throws TraceError from open() (absent file,
// directory, empty file, wrong header) or next() (a bad row, time going back, truncated gzip).
class WorkloadStream {
 public:
  static WorkloadStream open(const WorkloadConfig& config, std::uint32_t index, std::uint64_t seed,
                             TenantNames& tenants);
  std::optional<RequestSpec> next();
  [[nodiscard]] const WorkloadCounters& counters() const { return counters_; }

 private:
  struct Impl;  // immutable shared part + position; see workload.cpp
  std::shared_ptr<const Impl> impl_;
  WorkloadCounters counters_;
};

// Several streams merged by (arrival, stream index, row).
class MergedWorkload {
 public:
  MergedWorkload() = default;
  explicit MergedWorkload(std::vector<WorkloadStream> streams);
  std::optional<RequestSpec> next();
  [[nodiscard]] const std::vector<WorkloadStream>& streams() const { return streams_; }

 private:
  std::vector<WorkloadStream> streams_;
  std::vector<std::optional<RequestSpec>> heads_;
  bool primed_ = false;
};

}  // namespace handoff

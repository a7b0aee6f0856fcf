// Workloads: streaming trace readers and seeded generators, merged by arrival time.
//
// A stream is a copyable value: a copy goes on independently from where the original stands, and
// both give the same rows (chunks read from a file are shared and immutable). Memory does not
// follow trace length. Copies may be used by different threads; one copy may not.
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

// Lines end with LF or CRLF; plain or gzip, told by content.
enum class TraceFormat : std::uint8_t {
  mooncake,  // JSONL: timestamp ms, input_length, output_length, hash_ids (512-token blocks)
  azure,     // CSV: TIMESTAMP, ContextTokens, GeneratedTokens
};

enum class ArrivalMode : std::uint8_t {
  as_recorded,
  // Rows that share one recorded instant are spread, seeded, uniformly and in their order over the
  // gap to the next instant (the last ones: over the gap before theirs). A row alone at its instant
  // stays.
  spread,
};

struct TraceConfig {
  std::string path;  // resolved against the scenario's folder by the loader; never part of a result
  TraceFormat format = TraceFormat::mooncake;
  ArrivalMode arrival = ArrivalMode::as_recorded;
  std::int64_t block_tokens = 512;       // mooncake
  std::int64_t speedup_permille = 1000;  // 2000: arrivals twice as fast
  std::int64_t requests_max = 0;         // 0: all rows
  // In the trace's own time, after spreading and before speedup. Rows before `from` are skipped
  // (and counted); time restarts there. The first row at or after from + for is counted as skipped
  // and ends the stream: what follows it is not read.
  TimeNs from_ns = 0;
  TimeNs for_ns = kNever;
};

// Longest prompt or output that a trace may hold or a distribution gives: far above any context
// window, and low enough that sums over a run stay in 64 bits.
inline constexpr std::int64_t kTokensMax = std::int64_t{1} << 40;

// Token lengths of a synthetic workload. A draw is rounded to the nearest whole token.
struct LengthDistribution {
  enum class Kind : std::uint8_t { fixed, uniform, lognormal, pareto, mixture } kind = Kind::fixed;
  std::int64_t value = 0;  // fixed
  // Uniform: the bounds. Lognormal, pareto: results outside [low, high] are drawn again. A high of
  // 0 is kTokensMax (uniform needs a bound).
  std::int64_t low = 1;
  std::int64_t high = 0;
  double median = 0;  // lognormal: e^mu
  double sigma = 0;   // lognormal: deviation of the logarithm
  double scale = 0;   // pareto: smallest value
  double alpha = 0;   // pareto: tail exponent
  struct Part {
    std::int64_t weight = 1;
    std::shared_ptr<const LengthDistribution> of;
  };
  std::vector<Part> parts;  // mixture
};

// Fixed: arrivals at from, from + 1/rate, ...; the others: the first one gap after from.
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
  TimeNs for_ns = kNever;            // one of requests_max and for_ns must bound the stream
  std::vector<TenantShare> tenants;  // empty: one tenant named after the workload
  // With probability shared_prefix_permille a prompt starts with one of `shared_prefixes` common
  // prefixes of shared_prefix_tokens (chosen uniformly, per tenant). A prompt no longer than the
  // prefix holds only its beginning, which equals that of prompts of the same length alone.
  std::int64_t shared_prefix_permille = 0;
  std::int64_t shared_prefixes = 1;
  std::int64_t shared_prefix_tokens = 0;
};

// Requests written out one by one, as small scenarios and shrunk ones need. In any order: the
// stream sorts them by time, and RequestSpec::row is the place in this list. Their block labels are
// taken as they stand, so that several workloads can share a prefix; labels of traces and
// generators are unique to a workload.
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
  std::uint64_t rows_skipped = 0;  // outside from/for
  // Without prompt tokens; of a trace also without output tokens: a request that failed.
  std::uint64_t rows_dropped = 0;
  std::uint64_t prompts_clipped = 0;
  std::uint64_t outputs_clipped = 0;
  std::uint64_t requests = 0;  // handed on
  TimeNs first_arrival_ns = kNever;
  TimeNs last_arrival_ns = 0;
};

// A malformed trace: what() is "file:line:column: what is wrong, what was expected" (the file alone
// where no line is to blame), columns in bytes from 1. Also a workload that cannot be
// drawn or replayed: "workload ...: what is wrong".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Names of the tenants of all workloads, in first-mention order; RequestSpec::tenant indexes it.
class TenantNames {
 public:
  std::uint32_t index(const std::string& name);  // adds it when new
  [[nodiscard]] const std::string& name(std::uint32_t index) const { return names_.at(index); }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

class TraceFeed;
struct TraceChunk;
class SyntheticSource;

// Where a stream stands in its source. Only for WorkloadStream: a class nested there could not be
// the first alternative of its variant.
namespace workload_cursor {

struct Trace {
  std::shared_ptr<TraceFeed> feed;
  std::shared_ptr<const TraceChunk> chunk;
  std::size_t at = 0;  // in the chunk
  std::uint64_t row = 0;
  std::uint32_t tenant = 0;
  std::int64_t block_tokens = 0;
};

struct Listed {
  std::shared_ptr<const std::vector<RequestSpec>> rows;
  std::size_t at = 0;
};

struct Synthetic {
  std::shared_ptr<const SyntheticSource> source;
  Rng arrivals, prompt, output, tenant, prefix;
  TimeNs clock_ns = 0;
  std::uint64_t row = 0;
};

}  // namespace workload_cursor

// One workload as a stream of requests in arrival order. Throws TraceError from open() (absent
// file, directory, empty file, wrong header, no rows, a distribution that makes no sense) or next()
// (a bad row, time going back, truncated gzip: after all rows before it were given, and again
// whenever called again).
//
// RequestSpec::row is the row of the trace, from 0 and counting skipped and dropped ones, the place
// in the list, or the running number of the generator.
class WorkloadStream {
 public:
  static WorkloadStream open(const WorkloadConfig& config, std::uint32_t index, std::uint64_t seed,
                             TenantNames& tenants);
  std::optional<RequestSpec> next();
  [[nodiscard]] const WorkloadCounters& counters() const { return counters_; }

 private:
  // What every kind of source has in common.
  struct Common {
    std::uint32_t deployment = 0;
    std::uint32_t index = 0;
    std::uint64_t requests_max = 0;
    std::int64_t clip_prompt_tokens = 0;
    std::int64_t clip_output_tokens = 0;
    TimeNs abort_after_ns = kNever;
    std::int64_t speedup_permille = 1000;
    TimeNs from_ns = 0;
    TimeNs until_ns = kNever;
    bool drop_without_output = false;
  };

  WorkloadStream() = default;
  // The next row as its source has it, arrival in the source's time.
  std::optional<RequestSpec> take(workload_cursor::Trace& cursor);
  std::optional<RequestSpec> take(workload_cursor::Listed& cursor);
  std::optional<RequestSpec> take(workload_cursor::Synthetic& cursor);
  void clip(RequestSpec& spec);
  RequestSpec hand_on(RequestSpec spec);

  Common common_;
  std::variant<workload_cursor::Trace, workload_cursor::Listed, workload_cursor::Synthetic> cursor_;
  bool ended_ = false;
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

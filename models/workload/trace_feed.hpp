// Rows of a trace in chunks that any number of streams read. A chunk is immutable once it exists
// and knows the next one, so a stream is a pointer and an index; a chunk that every stream has
// passed is freed.
//
// Spreading happens here, over all rows of the file and before any window is applied: the time of a
// row does not depend on which part of the trace is replayed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/workload/trace_rows.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {

// Rows that may share one instant when they are spread: all must be held until the next instant is
// known.
inline constexpr std::size_t kRowsPerInstantMax = std::size_t{1} << 20;

struct TraceChunk {
  TraceChunk() = default;
  ~TraceChunk();
  TraceChunk(const TraceChunk&) = delete;
  TraceChunk& operator=(const TraceChunk&) = delete;

  std::vector<TraceRow> rows;
  std::string
      error;  // what stands behind the last row, as TraceError says it; empty: nothing wrong
  bool last = false;  // or an error

 private:
  friend class TraceFeed;
  mutable std::shared_ptr<const TraceChunk> next_;  // set once, under the feed's lock
};

class TraceFeed {
 public:
  // Spreading is keyed by (seed, workload), the latter an index. Throws TraceError as open_trace()
  // does.
  TraceFeed(const TraceConfig& config, std::uint64_t seed, std::uint32_t workload);

  [[nodiscard]] std::shared_ptr<const TraceChunk> first();
  // The chunk after one that is not the last.
  std::shared_ptr<const TraceChunk> after(const TraceChunk& chunk);

 private:
  std::shared_ptr<TraceChunk> produce();
  // Gives the next row in its final time, or none at the end.
  std::optional<TraceRow> next_row();
  void read_instant();

  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<TraceReader> reader_;
  bool spread_;
  Rng rng_;
  std::shared_ptr<const TraceChunk> first_;  // until it is taken
  // Rows of one instant in their final time; then the first row of the next instant, when
  // spreading.
  std::deque<TraceRow> ready_;
  std::optional<TraceRow> ahead_;
  std::string pending_error_;  // met while looking ahead: comes after the rows that are ready
  TimeNs gap_ns_ = 0;          // between the last two instants
};

}  // namespace handoff

#include "models/workload/trace_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// Large enough that the lock is taken rarely, small enough that a chunk is some hundred KiB.
constexpr std::size_t kChunkRows = 256;
constexpr std::size_t kChunkBlocks = std::size_t{1} << 17;

}  // namespace

TraceChunk::~TraceChunk() {
  // One by one: a chain of a long trace, freed at once, would nest as deep as it is long.
  std::shared_ptr<const TraceChunk> next = std::move(next_);
  while (next != nullptr && next.use_count() == 1) {
    // To see what the other owners did before they let go.
    std::atomic_thread_fence(std::memory_order_acquire);
    std::shared_ptr<const TraceChunk> after = std::move(next->next_);
    next = std::move(after);
  }
}

TraceFeed::TraceFeed(const TraceConfig& config, std::uint64_t seed, std::uint32_t workload)
    : path_(config.path),
      reader_(open_trace(config.path, config.format, config.block_tokens)),
      spread_(config.arrival == ArrivalMode::spread),
      rng_(seed, "arrival-spread", workload) {
  first_ = produce();
  if (first_->rows.empty() && first_->error.empty())
    throw TraceError(config.path + ": the trace has no rows");
}

std::shared_ptr<const TraceChunk> TraceFeed::first() {
  HANDOFF_CHECK(first_ != nullptr, "the first chunk is taken once");
  return std::exchange(first_, nullptr);
}

std::shared_ptr<const TraceChunk> TraceFeed::after(const TraceChunk& chunk) {
  const std::lock_guard<std::mutex> lock(mutex_);
  HANDOFF_CHECK(!chunk.last, "nothing follows the last chunk");
  // A chunk without a next one is the newest: only there does the reader stand.
  if (chunk.next_ == nullptr) chunk.next_ = produce();
  return chunk.next_;
}

std::shared_ptr<TraceChunk> TraceFeed::produce() {
  auto chunk = std::make_shared<TraceChunk>();
  std::size_t blocks = 0;
  try {
    while (chunk->rows.size() < kChunkRows && blocks < kChunkBlocks) {
      std::optional<TraceRow> row = next_row();
      if (!row.has_value()) {
        chunk->last = true;
        break;
      }
      blocks += row->blocks.size();
      chunk->rows.push_back(std::move(*row));
    }
  } catch (const TraceError& error) {
    chunk->error = error.what();
    chunk->last = true;
  }
  if (chunk->last) reader_.reset();
  return chunk;
}

std::optional<TraceRow> TraceFeed::next_row() {
  if (!spread_) return reader_->next();
  if (ready_.empty() && pending_error_.empty()) read_instant();
  if (ready_.empty()) {
    if (!pending_error_.empty()) throw TraceError(pending_error_);
    return std::nullopt;
  }
  TraceRow row = std::move(ready_.front());
  ready_.pop_front();
  return row;
}

void TraceFeed::read_instant() {
  try {
    if (!ahead_.has_value()) ahead_ = reader_->next();
    while (ahead_.has_value() && (ready_.empty() || ready_.front().at_ns == ahead_->at_ns)) {
      ready_.push_back(*std::exchange(ahead_, std::nullopt));
      if (ready_.size() > kRowsPerInstantMax)
        throw TraceError(fmt::format("{}: more than {} rows share one instant and cannot be spread",
                                     path_, kRowsPerInstantMax));
      ahead_ = reader_->next();
    }
  } catch (const TraceError& error) {
    pending_error_ = error.what();
  }
  if (ahead_.has_value()) gap_ns_ = ahead_->at_ns - ready_.front().at_ns;
  if (ready_.size() < 2 || gap_ns_ == 0) return;
  std::vector<TimeNs> offsets(ready_.size());
  for (TimeNs& offset : offsets) offset = rng_.between(0, gap_ns_ - 1);
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < offsets.size(); ++i) ready_[i].at_ns += offsets[i];
}

}  // namespace handoff

// What a trace holds, for people who look at it before they replay it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/workload/workload.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// Percentiles are nearest ranks: the smallest value that at least that share does not exceed.
struct LengthSummary {
  std::int64_t total = 0;
  std::int64_t mean = 0;  // rounded to the nearest token
  std::int64_t min = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

struct TraceInfo {
  std::string path;
  TraceFormat format = TraceFormat::mooncake;
  std::uint64_t rows = 0;
  std::uint64_t rows_without_tokens = 0;  // dropped in a replay
  TimeNs first_ns = 0;                    // time of the first row, as recorded
  TimeNs duration_ns = 0;                 // first to last row
  LengthSummary input;
  LengthSummary output;
  std::uint64_t instants = 0;  // distinct times
  std::uint64_t rows_per_instant_max = 0;
  // Set when times were rounded to a coarse clock: the middle of the gaps between instants.
  std::optional<TimeNs> time_step_ns;
  // Blocks of all prompts, the partial last ones included. A hit is a block in the leading run of
  // blocks that earlier rows held too: what a prefix cache without bound would find.
  std::int64_t block_tokens = 0;  // 0: the format knows no blocks
  std::uint64_t blocks = 0;
  std::uint64_t blocks_unique = 0;
  std::uint64_t blocks_hit = 0;
};

// Reads the whole trace; memory follows its rows. Throws TraceError.
TraceInfo trace_info(const std::string& path, TraceFormat format, std::int64_t block_tokens = 512);

// Several lines for a terminal, each ended.
std::string to_text(const TraceInfo& info);

// By content, never by name: mooncake when the first line is an object, azure when it is a header
// with one of Azure's columns. Throws TraceError when it is neither.
TraceFormat detect_format(const std::string& path);

const char* name(TraceFormat format);

}  // namespace handoff

#include "models/workload/trace_rows.hpp"

#include <fmt/format.h>

#include "sim/engine/check.hpp"

namespace handoff {

std::optional<TraceRow> TraceReader::next() {
  const auto line = text_.row();
  if (!line.has_value()) return std::nullopt;
  Parsed parsed = parse(*line);
  if (!first_ && parsed.row.at_ns < last_ns_)
    text_.fail(parsed.time_column,
               fmt::format("time goes back by {} ns; rows must be in order of time",
                           last_ns_ - parsed.row.at_ns));
  first_ = false;
  last_ns_ = parsed.row.at_ns;
  return std::move(parsed.row);
}

std::unique_ptr<TraceReader> open_trace(const std::string& path, TraceFormat format,
                                        std::int64_t block_tokens) {
  switch (format) {
    case TraceFormat::mooncake:
      return open_mooncake(path, block_tokens);
    case TraceFormat::azure:
      return open_azure(path);
  }
  HANDOFF_CHECK(false, "unknown trace format");
}

}  // namespace handoff

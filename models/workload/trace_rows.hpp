// One row of a trace whatever its format, and the readers that give rows in file order. Rows are as
// recorded: windows, spreading, dropping and clipping come later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/trace_text.hpp"
#include "models/workload/workload.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// Latest time of a trace, a hundred years: a larger one is a unit taken for another, and would not
// fit.
inline constexpr TimeNs kTraceTimeMax = 36'525 * kDay;

struct TraceRow {
  TimeNs at_ns = 0;
  std::int64_t prompt_tokens = 0;  // 0 ... kTokensMax, as output_tokens
  std::int64_t output_tokens = 0;
  std::vector<std::uint64_t> blocks;
};

class TraceReader {
 public:
  explicit TraceReader(const std::string& path) : text_(path) {}
  virtual ~TraceReader() = default;
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // In order of time, equal times in file order. Throws TraceError.
  std::optional<TraceRow> next();

 protected:
  // Where the time stands in the line, for the message when it runs backwards; columns from 1.
  struct Parsed {
    TraceRow row;
    std::size_t time_column = 1;
  };
  virtual Parsed parse(std::string_view line) = 0;

  TraceText text_;

 private:
  TimeNs last_ns_ = 0;
  bool first_ = true;
};

// Throws TraceError: what TraceText throws, a wrong header.
std::unique_ptr<TraceReader> open_mooncake(const std::string& path, std::int64_t block_tokens);
std::unique_ptr<TraceReader> open_azure(const std::string& path);
std::unique_ptr<TraceReader> open_trace(const std::string& path, TraceFormat format,
                                        std::int64_t block_tokens);

}  // namespace handoff

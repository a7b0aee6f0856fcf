// handoff trace: what a trace holds.
#include <fmt/format.h>

#include "models/workload/trace_info.hpp"
#include "scenarios/loader/diagnostics.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

int trace_command(const Words& words) {
  const Options options(words, {{"format", true}, {"block-tokens", true}});
  const Words& plain = options.plain(1, 2, "'info FILE'");
  if (plain[0] != "info")
    throw UsageError(fmt::format("expected 'info FILE', found '{}'{}", plain[0],
                                 loader::hint(plain[0], {"info"})));
  const std::string path = options.plain(2, 2, "a trace file")[1];
  const std::string format = options.one_of("format", {"auto", "mooncake", "azure"});
  const std::int64_t block = options.number("block-tokens", 512, 1, 1'000'000);
  const TraceFormat as = format == "mooncake" ? TraceFormat::mooncake
                         : format == "azure"  ? TraceFormat::azure
                                              : detect_format(path);
  print(to_text(trace_info(path, as, block)));
  return kClean;
}

}  // namespace

const Command kTrace{
    "trace", "tells what a trace holds", "trace info FILE [OPTION...]",
    R"(Reads a trace (Mooncake JSONL or Azure CSV, plain or gzip) and tells what it holds: rows, times,
lengths, the hits that a prefix cache without bound would have.

  --format auto|mooncake|azure   told by content by default
  --block-tokens N               tokens that a hash id of Mooncake's format stands for (default 512)
)",
    trace_command};

}  // namespace handoff::app

#include "sim/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "reports/text.hpp"

namespace handoff::app {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr std::int64_t kBarCells = 24;

TimeNs end_of(const WorkloadConfig& workload) {
  if (const auto* synthetic = std::get_if<SyntheticConfig>(&workload.source))
    return synthetic->for_ns == kNever ? kNever : synthetic->from_ns + synthetic->for_ns;
  if (const auto* listed = std::get_if<std::vector<ListedRequest>>(&workload.source)) {
    TimeNs last = 0;
    for (const ListedRequest& r : *listed) last = std::max(last, r.at_ns);
    return last;
  }
  return kNever;  // a trace: not before it is read
}

TimeNs horizon_of(const RunConfig& config) {
  TimeNs horizon = 0;
  for (const WorkloadConfig& workload : config.workloads)
    horizon = std::max(horizon, end_of(workload));
  return horizon;
}

}  // namespace

Progress::Progress(const RunConfig& config, bool quiet)
    : draws_(!quiet && ::isatty(STDERR_FILENO) == 1),
      horizon_ns_(horizon_of(config)),
      last_(std::chrono::steady_clock::now()) {}

void Progress::show(TimeNs now, std::uint64_t events, std::uint64_t completed,
                    std::uint64_t findings) {
  if (!draws_) return;
  const auto clock = std::chrono::steady_clock::now();
  if (clock - last_ < kRedraw) return;
  last_ = clock;
  drawn_ = true;
  std::string bar;
  if (horizon_ns_ != kNever && horizon_ns_ > 0) {
    const auto cells = static_cast<std::size_t>(
        std::clamp<std::int64_t>(mul_div(now, kBarCells, horizon_ns_), 0, kBarCells));
    bar = fmt::format("[{}{}] {}  ", std::string(cells, '#'), std::string(kBarCells - cells, '.'),
                      percent_text(std::min(now, horizon_ns_), horizon_ns_));
  }
  fmt::print(stderr, "\r\x1b[K{}{} simulated, {} events, {} requests done, {} findings", bar,
             duration_text(now), grouped(static_cast<std::int64_t>(events)),
             grouped(static_cast<std::int64_t>(completed)),
             grouped(static_cast<std::int64_t>(findings)));
  std::fflush(stderr);
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace handoff::app

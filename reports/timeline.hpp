// What happened from outside during a run: operations, remarks, faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/metrics.hpp"

namespace handoff {

struct TimelineEntry {
  TimeNs at = 0;
  std::string what;
};
// Operations and remarks of the scenario and, when a response was wrong, the first and last of
// them; in time order.
std::vector<TimelineEntry> timeline_of(const RunReport& report);

// Firings of each fault of the scenario, in its order. Counted over the kept firings.
struct FaultCount {
  std::string name;
  std::uint64_t fired = 0;
  TimeNs first_ns = kNever;
  TimeNs last_ns = 0;
};
std::vector<FaultCount> fault_counts(const RunReport& report);

}  // namespace handoff

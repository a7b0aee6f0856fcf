#include "reports/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/faults/fault.hpp"

namespace handoff {
namespace {

std::string sentence(const Operation& o, const std::string& deployment) {
  switch (o.kind) {
    case Operation::Kind::take_offline:
      return deployment + " is taken offline";
    case Operation::Kind::drain:
      return deployment + " is drained";
    case Operation::Kind::redeploy:
      return o.engine_name.empty()
                 ? deployment + " is deployed again"
                 : fmt::format("{} is deployed again with {}", deployment, o.engine_name);
  }
  return {};
}

}  // namespace

std::vector<TimelineEntry> timeline_of(const RunReport& report) {
  const RunConfig& run = report.scenario->run;
  std::vector<TimelineEntry> entries;
  for (const TimelineNote& note : run.notes) entries.push_back({note.at_ns, note.text});
  for (const Operation& o : run.operations)
    entries.push_back({o.at_ns, sentence(o, run.deployments[o.deployment].name)});
  if (entries.empty()) return entries;
  const auto by_end = [](const RequestOutcome& a, const RequestOutcome& b) {
    return a.end_ns < b.end_ns;
  };
  const auto [first, last] = std::minmax_element(report.wrong.begin(), report.wrong.end(), by_end);
  if (first != report.wrong.end()) {
    entries.push_back(
        {first->end_ns, fmt::format("the first wrong response (request {})", first->serial)});
    if (last != first)
      entries.push_back(
          {last->end_ns, fmt::format("the last wrong response (request {})", last->serial)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TimelineEntry& a, const TimelineEntry& b) { return a.at < b.at; });
  return entries;
}

std::vector<FaultCount> fault_counts(const RunReport& report) {
  std::vector<FaultCount> counts;
  for (const Fault& fault : report.scenario->run.faults) counts.push_back({label(fault)});
  for (const FaultFiring& firing : report.result.firings) {
    FaultCount& c = counts.at(firing.fault);
    ++c.fired;
    c.first_ns = std::min(c.first_ns, firing.at);
    c.last_ns = std::max(c.last_ns, firing.at);
  }
  return counts;
}

}  // namespace handoff

// Follows one request through a run that is left as soon as its fate is known.
#pragma once

#include <cstdint>
#include <optional>

#include "models/serving/config.hpp"
#include "reports/explain.hpp"

namespace handoff::app {

struct Wanted {
  // A request, or the victim of the finding with this id (in order of detection, from 1).
  std::optional<RequestSerial> request;
  std::uint32_t finding = 1;
  // Not left before this time, so that what happens to others by then is seen too.
  TimeNs at_least_ns = 0;
  // What only the end of a run shows (pages never freed, requests without end) is wanted: never
  // left early.
  bool to_the_end = false;
};

struct Followed {
  Observed observed;
  RequestSerial victim = kNoSerial;
  bool found = false;       // there is such a finding or request
  bool at_the_end = false;  // the finding came only when the run had ended
  TimeNs left_ns = 0;       // when the run was left
  std::vector<std::string> tenants;
};

// Throws as run() does, and ScenarioError for ConfigError is up to the caller.
Followed follow(const RunConfig& config, const Wanted& wanted);

}  // namespace handoff::app

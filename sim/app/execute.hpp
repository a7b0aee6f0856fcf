// Loads and runs one scenario: the common part of `run` and `check`.
#pragma once

#include <functional>
#include <string>

#include "models/serving/cluster.hpp"
#include "reports/verdict.hpp"

namespace handoff::app {

// The catalog that was built with the program, or the one that HANDOFF_CATALOG names.
std::string catalog_folder();

// A value of the scenario that only building the run could check, as an error at its place.
ScenarioError scenario_error(const Scenario& scenario, const ConfigError& error);

struct Executed {
  RunReport report;
  Verdict verdict;
  bool interrupted = false;  // report and verdict are of no use then
};

// `observer` may be empty; `on_outcome` of it is called besides the collecting.
// Throws ScenarioError (also for values that only building the run can check), TraceError and
// InternalError. `scenario` outlives the result.
Executed execute(const Scenario& scenario, RunObserver observer);

}  // namespace handoff::app

// Loads and runs one scenario: the common part of `run` and `check`.
#pragma once

#include <functional>
#include <string>

#include "reports/verdict.hpp"

namespace handoff::app {

// The catalog that was built with the program, or the one that HANDOFF_CATALOG names.
std::string catalog_folder();

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

// Configurations made by a program, as scenario files that people read and `check` runs.
#pragma once

#include <string>

#include "scenarios/scenario.hpp"

namespace handoff::app {

// Whether the configuration would load from a file.
bool loads(const RunConfig& run);

// The file: `run` as lean YAML, with what a run of it gives as `expect`. Throws as a run does.
std::string scenario_text(const RunConfig& run, const std::string& name,
                          const std::string& description);

}  // namespace handoff::app

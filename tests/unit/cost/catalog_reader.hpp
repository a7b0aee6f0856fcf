// Reads models/catalog/{llm,hardware}/*.yaml for these tests, apart from the loader of scenarios,
// so that a wrong number and a wrong reader cannot cancel out. Throws std::runtime_error on what it
// does not know.
#pragma once

#include <string>
#include <vector>

#include "models/cost/spec.hpp"

namespace handoff {

ModelSpec catalog_model(const std::string& name);
// "h200" or "8xh200".
HardwareSpec catalog_hardware(const std::string& name);
// Names of a catalog folder, sorted.
std::vector<std::string> catalog_names(const std::string& folder);

}  // namespace handoff

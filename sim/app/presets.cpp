#include "sim/app/presets.hpp"

#include "sim/app/execute.hpp"

namespace handoff::app {
namespace {

// "sglang-v0 (changed: commit)" -> "sglang-v0".
std::string preset_of(const DeploymentConfig& d) {
  return d.engine_name.substr(0, d.engine_name.find(' '));
}

}  // namespace

Presets::Presets(const RunConfig& run) {
  const std::vector<CatalogEntry> entries = catalog_list(catalog_folder());
  for (const DeploymentConfig& d : run.deployments)
    for (const CatalogEntry& entry : entries)
      if (entry.kind == "engine" && entry.name == preset_of(d))
        policies_.emplace(entry.name, load_engine(entry.name, catalog_folder()));
}

const EnginePolicy* Presets::of(const DeploymentConfig& d) const {
  const auto found = policies_.find(preset_of(d));
  return found == policies_.end() ? nullptr : &found->second;
}

}  // namespace handoff::app

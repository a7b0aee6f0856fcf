// The catalog's policies that deployments started from.
#pragma once

#include <map>
#include <string>

#include "scenarios/scenario.hpp"

namespace handoff::app {

class Presets {
 public:
  // Those of all deployments of the run.
  explicit Presets(const RunConfig& run);
  // nullptr: its engine was spelt out.
  [[nodiscard]] const EnginePolicy* of(const DeploymentConfig& deployment) const;

 private:
  std::map<std::string, EnginePolicy> policies_;
};

}  // namespace handoff::app

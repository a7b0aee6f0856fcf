// What shrinking needs, for tests.
#pragma once

#include <string>

#include "scenarios/scenario.hpp"
#include "sim/search/shrink.hpp"

namespace handoff {

inline const std::string kCatalog = HANDOFF_SOURCE_DIR "/models/catalog";

inline std::string lean_text_of(const RunConfig& run) {
  Scenario s;
  s.name = "x";
  s.run = run;
  return lean_text(s, kCatalog);
}

inline ShrinkOptions shrink_options(unsigned jobs) {
  ShrinkOptions o;
  o.jobs = jobs;
  o.acceptable = [](const RunConfig& run) {
    try {
      (void)parse_scenario(lean_text_of(run), "x", kCatalog);
      return true;
    } catch (const ScenarioError&) {
      return false;
    }
  };
  o.preset = [](const DeploymentConfig&) { return nullptr; };
  o.on_stage = [](const std::string&, const WrittenOut&, std::uint64_t) {};
  o.go_on = [] { return true; };
  return o;
}

}  // namespace handoff

// The smallest run that still shows a failure: fewer requests, faults, nodes and settings, shorter
// prompts, sooner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/search/signature.hpp"
#include "sim/search/written_out.hpp"

namespace handoff {

struct ShrinkOptions {
  unsigned jobs = 1;  // changes nothing in the result
  // Whether the configuration would load from a file; what would not is not taken. Called from
  // several threads.
  std::function<bool(const RunConfig&)> acceptable;
  // Policy of the catalog that a deployment's engine started from, to which single decisions are
  // put back. nullptr: none.
  std::function<const EnginePolicy*(const DeploymentConfig&)> preset;
  // Called after each stage with the best so far.
  std::function<void(const std::string& stage, const WrittenOut& best, std::uint64_t runs)>
      on_stage;
  // False ends the search where it stands. Called from several threads.
  std::function<bool()> go_on;
};

struct Shrunk {
  WrittenOut best;
  std::uint64_t runs = 0;
  bool complete = true;  // false: go_on ended it
};

// `config` shows `finding`. `firings` are those of its run. No run goes beyond `events_max` events.
// Throws InternalError.
Shrunk shrink(const RunConfig& config, const Finding& finding,
              const std::vector<FaultFiring>& firings, std::uint64_t events_max,
              const ShrinkOptions& options);

}  // namespace handoff

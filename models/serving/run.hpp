// Runs a configuration to its end.
#pragma once

#include "models/serving/config.hpp"
#include "models/serving/outcome.hpp"

namespace handoff {

// Throws TraceError for a malformed trace and InternalError for a broken invariant of ours.
RunResult run(const RunConfig& config, const RunObserver& observer = {});

}  // namespace handoff

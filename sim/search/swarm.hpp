// Swarm testing (Groce, Zhang, Eide, Chen, Regehr, "Swarm Testing", ISSTA 2012): each seed draws a
// cluster, a workload, a budget of faults, and which features are left off altogether, so that runs
// differ in kind and not only in order.
//
// Each run has a safety phase, in which faults strike, and a liveness phase: no fault begins after
// kFaultsEnd, and every request must have ended within a bound from its arrival.
//
// Decisions in which a handoff can be right or wrong are never drawn: they are those of the base
// configuration, whose safety is what is tested. Drawn are sizes, numbers of nodes and ranks,
// orders of reuse, batching, prefix caching, timeouts, lengths, arrivals, and faults.
#pragma once

#include <cstdint>

#include "models/serving/config.hpp"

namespace handoff {

inline constexpr TimeNs kFaultsEnd = 40 * kSecond;

// A function of (base, seed). `base`: one deployment, which generates; its model, hardware and
// decisions are kept.
RunConfig draw_swarm(const RunConfig& base, std::uint64_t seed);

}  // namespace handoff

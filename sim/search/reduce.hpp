// Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
// TSE 2002), with tests that may run on several threads and a result that does not depend on how
// many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace handoff {

// The smallest index below `count` for which `test` holds; nothing when for none. Indexes are tried
// in order on `jobs` threads, and all below the result have been tried and failed. Exceptions of
// `test` pass through.
std::optional<std::size_t> first_passing(std::size_t count, unsigned jobs,
                                         const std::function<bool(std::size_t)>& test);

// A subset of 0..count-1 that still passes and from which no single element can be left out (or,
// once `go_on` says no, what was reached). `test` gets ascending indexes and is never asked about
// the whole set, which passes, nor about the empty one.
std::vector<std::size_t> ddmin(std::size_t count, unsigned jobs,
                               const std::function<bool(const std::vector<std::size_t>&)>& test,
                               const std::function<bool()>& go_on);

// The smallest value in [low, high] that passes, if passing is monotone; some passing value if not.
// `high` passes. Then a rounder value not far above it, where that passes too: one with fewer
// significant digits reads better.
std::int64_t minimise(std::int64_t low, std::int64_t high,
                      const std::function<bool(std::int64_t)>& test);

}  // namespace handoff

// Named streams of random integers. A stream is keyed by (seed, purpose, entity): drawing more from
// one, or adding one, never moves another. So turning a fault on leaves the workload where it was.
//
// Counter-based: draw k of a stream is a pure function of (key, k), which makes a copy of the state
// a plain copy and lets two machines agree. No `std::` distribution is used anywhere, since their
// results differ between standard libraries.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/engine/hash.hpp"

namespace handoff {

class Rng {
 public:
  Rng() = default;
  Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t entity = 0)
      : key_(hash_combine(hash_combine(seed, hash_text(purpose)), entity)) {}

  // Uniform in [0, 2^64).
  std::uint64_t next() { return mix64(key_ ^ mix64(counter_++)); }
  // Uniform in [0, bound). Requires bound > 0. Unbiased (Lemire, "Fast random integer generation in
  // an interval", 2019).
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high]. Requires low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // True with probability numerator / denominator. Requires denominator > 0.
  bool chance(std::uint64_t numerator, std::uint64_t denominator);
  // Uniform in (0, 1), 52 random bits; neither end is ever drawn. For distributions drawn before
  // the run (see exact_math.hpp).
  double unit();

  // Exponential with the given mean, > 0.
  double exponential(double mean);
  // Normal with mean 0 and deviation 1 (Marsaglia's polar method).
  double normal();
  // Gamma with shape > 0 and scale > 0; results under e^-700 scales are 0 (Marsaglia and Tsang, "A
  // simple method for generating gamma variables", 2000).
  double gamma(double shape, double scale);

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace handoff

#include "sim/engine/rng.hpp"

#include <cmath>

#include "sim/engine/check.hpp"
#include "sim/engine/exact_math.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

__extension__ typedef unsigned __int128 UInt128;

std::uint64_t Rng::below(std::uint64_t bound) {
  HANDOFF_CHECK(bound > 0, "empty range");
  UInt128 product = static_cast<UInt128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<UInt128>(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  HANDOFF_CHECK(low <= high, "empty range");
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (span == ~std::uint64_t{0}) return static_cast<std::int64_t>(next());
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + below(span + 1));
}

bool Rng::chance(std::uint64_t numerator, std::uint64_t denominator) {
  return below(denominator) < numerator;
}

double Rng::unit() {
  // 52 bits, not 53: the largest value plus one half must still be exact, or the result could round
  // to 1.
  return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52;
}

double Rng::exponential(double mean) { return -mean * exact_log(unit()); }

double Rng::normal() {
  for (;;) {
    const double u = 2.0 * unit() - 1.0;
    const double v = 2.0 * unit() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * exact_log(s) / s);
  }
}

double Rng::gamma(double shape, double scale) {
  HANDOFF_CHECK(shape > 0.0 && scale > 0.0, "gamma needs a positive shape and scale");
  if (shape < 1.0) {
    const double boosted = gamma(shape + 1.0, scale);
    const double exponent = exact_log(unit()) / shape;
    // Small shapes put much of their weight near zero; below e^-700 a result is zero in any use of
    // it.
    return exponent < -700.0 ? 0.0 : boosted * exact_exp(exponent);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    if (exact_log(unit()) < 0.5 * x * x + d - d * v + d * exact_log(v)) return d * v * scale;
  }
}

}  // namespace handoff

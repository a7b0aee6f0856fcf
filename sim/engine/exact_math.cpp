#include "sim/engine/exact_math.hpp"

#include <cmath>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

constexpr double kLn2High = 0x1.62e42fefa39efp-1;

}  // namespace

double exact_log(double x) {
  HANDOFF_CHECK(x > 0.0 && std::isfinite(x), "logarithm of a number that is not positive");
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // m in [0.5, 1): exact by definition
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  // log m = 2 artanh z with z = (m - 1)/(m + 1), |z| < 0.1716: 12 terms leave less than 1e-19.
  const double z = (m - 1.0) / (m + 1.0);
  const double z2 = z * z;
  double sum = 0.0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z2 + 1.0 / static_cast<double>(k);
  return 2.0 * z * sum + static_cast<double>(exponent) * kLn2High;
}

double exact_exp(double x) {
  HANDOFF_CHECK(x >= -700.0 && x <= 700.0, "exponent out of range");
  const double scaled = x / kLn2High;
  const int k = static_cast<int>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double r = x - static_cast<double>(k) * kLn2High;  // |r| <= 0.347
  double sum = 1.0;
  for (int n = 18; n >= 1; --n) sum = 1.0 + sum * r / static_cast<double>(n);
  return std::ldexp(sum, k);  // exact scaling
}

}  // namespace handoff

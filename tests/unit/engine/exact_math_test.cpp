// Accuracy of the portable log and exp against the C library in long double, and their exact
// results. The library is only the yardstick here: no simulated result comes from it.
#include "sim/engine/exact_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

long double log_error(double x) {
  const long double truth = std::log(static_cast<long double>(x));
  const long double got = exact_log(x);
  return truth == 0.0L ? std::fabs(got) : std::fabs((got - truth) / truth);
}

long double exp_error(double x) {
  const long double truth = std::exp(static_cast<long double>(x));
  return std::fabs((static_cast<long double>(exact_exp(x)) - truth) / truth);
}

TEST(ExactLog, is_as_accurate_as_stated_over_the_whole_range) {
  long double worst = 0;
  for (int exponent = -1022; exponent <= 1023; ++exponent)
    for (int step = 0; step < 16; ++step)
      worst = std::max(worst, log_error(std::ldexp(1.0 + step / 16.0, exponent)));
  EXPECT_LT(worst, 1e-14L);
}

TEST(ExactLog, keeps_its_relative_accuracy_next_to_one) {
  for (int bits = 1; bits <= 52; ++bits) {
    EXPECT_LT(log_error(1.0 + std::ldexp(1.0, -bits)), 1e-14L) << bits;
    EXPECT_LT(log_error(1.0 - std::ldexp(1.0, -bits - 1)), 1e-14L) << bits;
  }
  EXPECT_EQ(exact_log(1.0), 0.0);
}

TEST(ExactLog, holds_for_the_numbers_that_streams_draw) {
  Rng rng(1, "log");
  for (int i = 0; i < 100'000; ++i) ASSERT_LT(log_error(rng.unit()), 1e-14L);
}

TEST(ExactLog, refuses_what_has_no_logarithm) {
  EXPECT_THROW(exact_log(0.0), InternalError);
  EXPECT_THROW(exact_log(-1.0), InternalError);
  EXPECT_THROW(exact_log(std::numeric_limits<double>::infinity()), InternalError);
  EXPECT_THROW(exact_log(std::numeric_limits<double>::quiet_NaN()), InternalError);
}

TEST(ExactExp, is_as_accurate_as_stated_over_the_whole_range) {
  long double worst = 0;
  for (int i = -70'000; i <= 70'000; ++i) worst = std::max(worst, exp_error(i / 100.0));
  EXPECT_LT(worst, 1e-13L);
  EXPECT_EQ(exact_exp(0.0), 1.0);
}

TEST(ExactExp, refuses_what_would_leave_the_range_of_a_double) {
  EXPECT_THROW(exact_exp(700.5), InternalError);
  EXPECT_THROW(exact_exp(-700.5), InternalError);
  EXPECT_THROW(exact_exp(std::numeric_limits<double>::quiet_NaN()), InternalError);
}

TEST(ExactMath, exp_undoes_log) {
  Rng rng(2, "inverse");
  for (int i = 0; i < 10'000; ++i) {
    const double x = 1e-6 + 1e6 * rng.unit();
    ASSERT_NEAR(exact_exp(exact_log(x)) / x, 1.0, 1e-13);
  }
}

TEST(ExactMath, results_are_these_bits_on_every_machine) {
  // From an independent implementation of exact_math.hpp in another language.
  EXPECT_EQ(exact_log(2.0), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(exact_log(10.0), 0x1.26bb1bbb55515p+1);
  EXPECT_EQ(exact_log(0.3), -0x1.34378fcbda720p+0);
  EXPECT_EQ(exact_log(1e300), 0x1.5963447f87fb5p+9);
  EXPECT_EQ(exact_exp(1.0), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(exact_exp(-12.345), 0x1.240572f47cb82p-18);
  EXPECT_EQ(exact_exp(699.0), 0x1.5c36fb1036e9dp+1008);
}

}  // namespace
}  // namespace handoff

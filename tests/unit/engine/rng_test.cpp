// Named random streams: exact values (any change of them moves every simulated result), exactness
// of the integer draws, independence, and moments of the three distributions.
#include "sim/engine/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

TEST(Rng, streams_give_these_values) {
  // From an independent implementation of hash.hpp and rng.hpp.
  struct Golden {
    std::uint64_t seed;
    const char* purpose;
    std::uint64_t entity;
    std::array<std::uint64_t, 4> values;
  };
  const Golden goldens[] = {
      {1,
       "arrivals",
       0,
       {0xCCFF9FF44B01509C, 0x8DADA20BC5280138, 0xEAAF357377728AF2, 0xE008AA0E6B9F9149}},
      {1,
       "arrivals",
       1,
       {0xF0F5D2724C9F616B, 0x3D7A8E7E2A13DE4F, 0x9755804EACC61084, 0x80219C974B648260}},
      {2,
       "arrivals",
       0,
       {0x13B52777B6205F34, 0x98FF850455E9C4A5, 0xBA73AA2A44B1ABFF, 0xDE6FB6808B4561E2}},
      {1,
       "oversize",
       0,
       {0x9C0F6E8B4FC0B48D, 0x2B31DEB367FBF387, 0x9D412D5311ED45DF, 0x29D6AF208574A0D5}},
  };
  for (const Golden& golden : goldens) {
    Rng rng(golden.seed, golden.purpose, golden.entity);
    for (const std::uint64_t value : golden.values) EXPECT_EQ(rng.next(), value) << golden.purpose;
  }
}

TEST(Rng, integer_draws_give_these_values) {
  Rng rng(7, "golden");
  for (const unsigned value : {7u, 5u, 1u, 4u, 6u, 6u, 8u, 8u, 6u, 8u, 8u, 9u, 5u, 1u, 9u, 4u})
    EXPECT_EQ(rng.below(10), value);
  // A bound of 3/4 of the range refuses a quarter of the draws: the fourth value needs two.
  Rng refused(7, "golden");
  for (const std::uint64_t value :
       {10222214728347205986ULL, 2757171694160383549ULL, 6059986369717466849ULL,
        8864755454608463293ULL, 8619510450278915082ULL, 11706530586285583801ULL})
    EXPECT_EQ(refused.below(3ULL << 62), value);
}

TEST(Rng, unit_gives_these_values) {
  Rng rng(7, "golden");
  for (const double value :
       {0x1.7a4c45b20d121p-1, 0x1.2d9ca2b167d29p-1, 0x1.9824b5d7a20b4p-3, 0x1.c08772a54e7fep-2})
    EXPECT_EQ(rng.unit(), value);
}

TEST(Rng, distributions_give_these_values) {
  // From an independent implementation in another language.
  Rng exponential(7, "exponential");
  for (const double value :
       {0x1.8eb0800df238dp-2, 0x1.3ec0cdc5b241bp-1, 0x1.83dffd63419eep+3, 0x1.07e1de562cc9ep+1})
    EXPECT_EQ(exponential.exponential(3.0), value);
  Rng normal(7, "normal");
  for (const double value :
       {0x1.87b45ce6f1195p-2, 0x1.41458695fd931p-1, 0x1.f4c870ffaeca4p-2, -0x1.2a4e2b3321794p-2})
    EXPECT_EQ(normal.normal(), value);
  Rng gamma(7, "gamma");
  for (const double value :
       {0x1.a1fcf11affee4p+2, 0x1.066e3b12b9ac9p+2, 0x1.29556461da18cp+3, 0x1.2d73e172dd358p+2})
    EXPECT_EQ(gamma.gamma(2.5, 1.5), value);
  Rng peaked(7, "peaked gamma");
  for (const double value :
       {0x1.49fdfb3d4d09ep-24, 0x1.5be48ed7e0f10p-10, 0x1.6864416bb535dp-2, 0x1.4cef7b902af62p-4})
    EXPECT_EQ(peaked.gamma(0.25, 1.5), value);
}

TEST(Rng, below_is_exactly_uniform_where_multiplication_alone_would_not_be) {
  // bound = 3 * 2^62 maps four draws in a row to three values; without refusal the values that are
  // 0 mod 3 would come twice as often.
  constexpr std::uint64_t kBound = 3ULL << 62;
  std::array<int, 3> counts{};
  Rng rng(1, "unbiased");
  constexpr int kDraws = 300'000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(kBound) % 3];
  // Deviation of a count is sqrt(n p (1 - p)) = 258.
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 3.0, 5 * 258);
}

TEST(Rng, below_reaches_every_value_equally_often) {
  constexpr int kBound = 13;
  constexpr int kDraws = 130'000;
  std::array<int, kBound> counts{};
  Rng rng(1, "small");
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(kBound)];
  constexpr double kExpected = static_cast<double>(kDraws) / kBound;
  double chi_squared = 0;
  for (const int count : counts)
    chi_squared += (count - kExpected) * (count - kExpected) / kExpected;
  EXPECT_LT(chi_squared, 32.9);  // 0.999 quantile for 12 degrees of freedom
}

TEST(Rng, bounds_are_kept_at_the_ends_of_the_range) {
  Rng rng(1, "ends");
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rng.below(1), 0u);
    EXPECT_EQ(rng.between(-5, -5), -5);
    EXPECT_EQ(rng.between(kMax, kMax), kMax);
    const std::int64_t any = rng.between(kMin, kMax);
    negative |= any < 0;
    positive |= any > 0;
    const std::int64_t small = rng.between(-2, 2);
    EXPECT_TRUE(small >= -2 && small <= 2);
    const double u = rng.unit();
    EXPECT_TRUE(u > 0.0 && u < 1.0);
  }
  EXPECT_TRUE(negative && positive);
}

TEST(Rng, chances_of_none_and_all_are_certain) {
  Rng rng(1, "chance");
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(rng.chance(0, 10));
    EXPECT_TRUE(rng.chance(10, 10));
    hits += rng.chance(3, 10);
  }
  EXPECT_NEAR(hits, 3000, 5 * 46);
}

TEST(Rng, impossible_requests_are_fatal) {
  Rng rng(1, "bad");
  EXPECT_THROW(rng.below(0), InternalError);
  EXPECT_THROW(rng.between(1, 0), InternalError);
  EXPECT_THROW(rng.chance(1, 0), InternalError);
  EXPECT_THROW(rng.gamma(0.0, 1.0), InternalError);
  EXPECT_THROW(rng.gamma(1.0, -1.0), InternalError);
}

TEST(Rng, drawing_from_one_stream_does_not_move_another) {
  Rng alone(5, "workload");
  Rng beside(5, "workload");
  Rng other(5, "faults");
  for (int i = 0; i < 1000; ++i) {
    for (int k = i % 3; k > 0; --k) other.next();
    ASSERT_EQ(alone.next(), beside.next());
  }
}

TEST(Rng, neighbouring_seeds_purposes_and_entities_share_no_values) {
  std::set<std::uint64_t> seen;
  int drawn = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (const char* purpose : {"a", "b", "ab"})
      for (std::uint64_t entity = 0; entity < 8; ++entity) {
        Rng rng(seed, purpose, entity);
        for (int i = 0; i < 100; ++i, ++drawn) seen.insert(rng.next());
      }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(drawn));
}

TEST(Rng, neighbouring_streams_do_not_correlate) {
  constexpr int kDraws = 100'000;
  Rng a(1, "x", 0);
  Rng b(1, "x", 1);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += (a.unit() - 0.5) * (b.unit() - 0.5);
  // Each product has deviation 1/12.
  EXPECT_LT(std::fabs(sum / kDraws), 5.0 / 12.0 / std::sqrt(kDraws));
}

TEST(Rng, a_copy_continues_equally) {
  Rng rng(1, "copy");
  rng.next();
  Rng copy = rng;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rng.next(), copy.next());
}

struct Moments {
  double mean;
  double variance;
  double lowest;
};

template <class Draw>
Moments moments_of(int count, Draw draw) {
  double sum = 0;
  double squares = 0;
  double lowest = std::numeric_limits<double>::max();
  for (int i = 0; i < count; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
    lowest = std::min(lowest, x);
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean, lowest};
}

constexpr int kMomentDraws = 400'000;

TEST(RngDistributions, exponential_has_its_mean_and_variance) {
  Rng rng(1, "exponential moments");
  const Moments m = moments_of(kMomentDraws, [&] { return rng.exponential(4.0); });
  EXPECT_NEAR(m.mean, 4.0, 5 * 4.0 / std::sqrt(kMomentDraws));
  EXPECT_NEAR(m.variance, 16.0, 16.0 * 0.03);
  EXPECT_GT(m.lowest, 0.0);
}

TEST(RngDistributions, normal_has_its_mean_variance_and_tails) {
  Rng rng(1, "normal moments");
  int beyond_two = 0;
  const Moments m = moments_of(kMomentDraws, [&] {
    const double x = rng.normal();
    beyond_two += std::fabs(x) > 2.0;
    return x;
  });
  EXPECT_NEAR(m.mean, 0.0, 5 / std::sqrt(kMomentDraws));
  EXPECT_NEAR(m.variance, 1.0, 0.02);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kMomentDraws, 0.0455, 0.002);
}

TEST(RngDistributions, gamma_has_its_mean_and_variance_below_and_above_shape_one) {
  for (const double shape : {0.25, 0.9, 1.0, 2.5, 40.0}) {
    Rng rng(1, "gamma moments");
    const Moments m = moments_of(kMomentDraws, [&] { return rng.gamma(shape, 3.0); });
    EXPECT_NEAR(m.mean, 3.0 * shape, 5 * 3.0 * std::sqrt(shape / kMomentDraws)) << shape;
    EXPECT_NEAR(m.variance, 9.0 * shape, 9.0 * shape * 0.05) << shape;
    EXPECT_GT(m.lowest, 0.0) << shape;
  }
}

TEST(RngDistributions, gamma_of_a_tiny_shape_stays_finite) {
  // cv = 10, as a very bursty workload asks for: many draws are below the smallest double.
  Rng rng(1, "tiny shape");
  const Moments m = moments_of(kMomentDraws, [&] { return rng.gamma(0.01, 1.0); });
  EXPECT_NEAR(m.mean, 0.01, 5 * std::sqrt(0.01 / kMomentDraws));
  EXPECT_GE(m.lowest, 0.0);
}

}  // namespace
}  // namespace handoff

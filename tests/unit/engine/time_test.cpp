// Integer helpers of simulated time, at the ends of their ranges, and identifiers.
#include "sim/engine/time.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "sim/engine/id.hpp"

namespace handoff {
namespace {

TEST(Time, products_beyond_64_bits_do_not_overflow) {
  EXPECT_EQ(mul_div(kNever, 1'000'000'007, 1'000'000'007), kNever);
  EXPECT_EQ(mul_div(9'000'000'000'000'000'000, 3, 4), 6'750'000'000'000'000'000);
}

TEST(Time, mul_div_rounds_towards_zero) {
  EXPECT_EQ(mul_div(7, 3, 4), 5);
  EXPECT_EQ(mul_div(-7, 3, 4), -5);
}

TEST(Time, div_ceil_rounds_up_and_never_adds_for_exact_quotients) {
  EXPECT_EQ(div_ceil(0, 64), 0);
  EXPECT_EQ(div_ceil(1, 64), 1);
  EXPECT_EQ(div_ceil(64, 64), 1);
  EXPECT_EQ(div_ceil(65, 64), 2);
  EXPECT_EQ(div_ceil(kNever, 1), kNever);
  EXPECT_EQ(div_ceil(kNever, kNever), 1);
}

TEST(Id, a_default_id_names_nothing_and_kinds_do_not_mix) {
  using A = Id<struct TagA>;
  using B = Id<struct TagB>;
  EXPECT_FALSE(A{}.valid());
  EXPECT_TRUE(A{0}.valid());
  EXPECT_LT(A{1}, A{2});
  static_assert(!std::is_convertible_v<A, B>);
  static_assert(!std::is_constructible_v<A, B>);
  static_assert(!std::is_convertible_v<std::uint32_t, A>);
}

}  // namespace
}  // namespace handoff

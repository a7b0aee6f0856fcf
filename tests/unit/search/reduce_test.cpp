// Delta debugging on tests whose answer is known.
#include "sim/search/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>

namespace handoff {
namespace {

bool holds(const std::vector<std::size_t>& set, const std::vector<std::size_t>& needed) {
  return std::includes(set.begin(), set.end(), needed.begin(), needed.end());
}

const auto kAlways = [] { return true; };

TEST(FirstPassing, IsTheSmallestForAnyNumberOfThreads) {
  for (const unsigned jobs : {1U, 2U, 7U}) {
    EXPECT_EQ(first_passing(50, jobs, [](std::size_t i) { return i == 13 || i > 20; }), 13u);
    EXPECT_EQ(first_passing(50, jobs, [](std::size_t) { return false; }), std::nullopt);
    EXPECT_EQ(first_passing(0, jobs, [](std::size_t) { return true; }), std::nullopt);
  }
}

TEST(FirstPassing, TriesNothingBeyondWhatPasses) {
  std::set<std::size_t> tried;
  first_passing(50, 1, [&](std::size_t i) { return tried.insert(i), i == 5; });
  EXPECT_EQ(tried.size(), 6u);
}

TEST(FirstPassing, PassesExceptionsOnUnlessSomethingBeforePasses) {
  const auto test = [](std::size_t i) -> bool {
    if (i == 8) throw std::runtime_error("broken");
    return i == 20;
  };
  for (const unsigned jobs : {1U, 4U})
    EXPECT_THROW(first_passing(50, jobs, test), std::runtime_error);
  for (const unsigned jobs : {1U, 4U})
    EXPECT_EQ(first_passing(50, jobs, [&](std::size_t i) { return i == 3 || test(i); }), 3u);
}

TEST(Ddmin, FindsWhatIsNeeded) {
  for (const auto& needed : std::vector<std::vector<std::size_t>>{
           {0}, {99}, {3, 4}, {0, 50, 99}, {10, 11, 12, 13, 14}}) {
    for (const unsigned jobs : {1U, 3U}) {
      const auto found = ddmin(
          100, jobs, [&](const std::vector<std::size_t>& s) { return holds(s, needed); }, kAlways);
      EXPECT_EQ(found, needed);
    }
  }
}

// No single element can be left out, though a smaller set may exist.
TEST(Ddmin, EndsAtASetWithoutASpareElement) {
  const auto test = [](const std::vector<std::size_t>& s) {
    return holds(s, {1, 2, 3}) || holds(s, {7});
  };
  const auto found = ddmin(16, 1, test, kAlways);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto less = found;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(!less.empty() && test(less));
  }
}

TEST(Ddmin, NeverAsksAboutAllOrNothing) {
  (void)ddmin(
      20, 1,
      [](const std::vector<std::size_t>& s) {
        EXPECT_FALSE(s.empty());
        EXPECT_LT(s.size(), 20u);
        return holds(s, {5, 6});
      },
      kAlways);
  EXPECT_EQ(ddmin(
                1, 1, [](const auto&) { return true; }, kAlways),
            std::vector<std::size_t>{0});
}

TEST(Ddmin, StopsWhenToldTo) {
  int asked = 0;
  const auto found = ddmin(
      64, 1, [&](const std::vector<std::size_t>& s) { return ++asked, holds(s, {5}); },
      [&] { return asked < 3; });
  EXPECT_TRUE(holds(found, {5}));
  EXPECT_LT(asked, 6);
}

TEST(Minimise, FindsTheSmallestAndPrefersARoundOne) {
  const auto above = [](std::int64_t least) {
    return [least](std::int64_t v) { return v >= least; };
  };
  EXPECT_EQ(minimise(1, 1'000, above(1)), 1);
  EXPECT_EQ(minimise(1, 1'000, above(7)), 7);
  EXPECT_EQ(minimise(1, 100'000, above(12'345)), 13'000);  // 20,000 is too far above
  EXPECT_EQ(minimise(1, 100'000, above(98'765)), 100'000);
  EXPECT_EQ(minimise(1, 99'000, above(98'765)), 99'000);
  EXPECT_EQ(minimise(5, 5, [](std::int64_t) { return false; }), 5);
}

// Only values that pass come out, whatever the shape.
TEST(Minimise, GivesAPassingValueOfAnyShape) {
  const auto odd = [](std::int64_t v) { return v % 2 == 1; };
  EXPECT_EQ(minimise(2, 999, odd) % 2, 1);
}

}  // namespace
}  // namespace handoff

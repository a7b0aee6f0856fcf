// Flows against closed forms: sharing, staggered arrivals, several bottlenecks, faults, cancelling,
// accounting.
#include "models/network/flows.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "tests/unit/network/star.hpp"

namespace handoff {
namespace {

constexpr std::int64_t kGb = 1'000'000'000;  // bytes
using Ended = std::vector<std::pair<FlowId, TimeNs>>;

TEST(Flows, one_flow_takes_its_bytes_at_the_lowest_rate_of_its_route) {
  Star star{10 * kGb, 4 * kGb};
  ASSERT_EQ(star.error, "");
  const FlowId flow = star.start(0, 1, 2 * kGb, 100);
  EXPECT_EQ(star.network.rate(flow), 4 * kGb);
  EXPECT_EQ(star.run(), (Ended{{flow, 100 + kSecond / 2}}));
  EXPECT_EQ(star.network.active(), 0u);
  EXPECT_EQ(star.network.next_completion(), kNever);
}

TEST(Flows, a_time_that_is_no_whole_nanosecond_is_rounded_up) {
  Star star{3, 3};
  star.start(0, 1, 1, 0);
  EXPECT_EQ(star.network.next_completion(), 333'333'334);
}

TEST(Flows, n_equal_flows_take_n_times_as_long_as_one) {
  for (std::int64_t n = 1; n <= 64; ++n) {
    Star star{50 * kGb, 50 * kGb};
    for (std::int64_t i = 0; i < n; ++i) star.start(0, 1, kGb, 0);
    const Ended ended = star.run();
    ASSERT_EQ(ended.size(), static_cast<std::size_t>(n));
    for (const auto& [flow, at] : ended) {
      EXPECT_GE(at, n * 20 * kMillisecond);
      EXPECT_LE(at, n * 20 * kMillisecond + 1);
    }
  }
}

TEST(Flows, completions_at_one_instant_come_in_order_of_start) {
  Star star{kGb, kGb, kGb, kGb};
  const FlowId a = star.start(2, 3, kGb, 0);
  const FlowId b = star.start(0, 1, kGb, 0);
  EXPECT_EQ(star.run(), (Ended{{a, kSecond}, {b, kSecond}}));
}

TEST(Flows, staggered_arrivals_match_the_closed_form) {
  // 1 GB/s. A alone for 1 s, then half each. A (3 GB) has 2 left: ends at 1 + 4 = 5 s if B lasts. B
  // (2.5 GB) carried 2 by then; 0.5 left alone: ends at 5.5 s.
  Star star{kGb, kGb};
  const FlowId a = star.start(0, 1, 3 * kGb, 0);
  const FlowId b = star.start(0, 1, 5 * kGb / 2, kSecond);
  EXPECT_EQ(star.network.rate(a), kGb / 2);
  EXPECT_EQ(star.run(), (Ended{{a, 5 * kSecond}, {b, 5 * kSecond + kSecond / 2}}));
}

TEST(Flows, completions_that_the_caller_slept_through_are_found_in_order) {
  // 3 GB/s: 1 each until a ends at 1 s, 1.5 each until b ends at 2 s, then c has 6 GB left and all
  // of the link.
  Star star{3 * kGb, 3 * kGb};
  const FlowId c = star.start(0, 1, 17 * kGb / 2, 0);
  const FlowId b = star.start(0, 1, 5 * kGb / 2, 0);
  const FlowId a = star.start(0, 1, kGb, 0);
  std::vector<FlowId> done;
  star.network.advance(3 * kSecond, done);
  EXPECT_EQ(done, (std::vector{a, b}));
  EXPECT_EQ(star.network.rate(c), 3 * kGb);
  EXPECT_EQ(star.network.next_completion(), 4 * kSecond);
}
// of them, others one link each; here with one link that two more flows share.
TEST(Flows, what_a_flow_bottlenecked_elsewhere_leaves_goes_to_the_others) {
  // h0 up 3: flows 0->1 (h1 down 1), 0->2, 0->3. The first is held to 1 by h1, the others get 1
  // each of h0.
  Star even{3 * kGb, kGb, 9 * kGb, 9 * kGb};
  const FlowId held = even.start(0, 1, kGb, 0);
  const FlowId left = even.start(0, 2, kGb, 0);
  const FlowId right = even.start(0, 3, kGb, 0);
  EXPECT_EQ(even.network.rate(held), kGb);
  EXPECT_EQ(even.network.rate(left), kGb);
  EXPECT_EQ(even.network.rate(right), kGb);

  // h0 up 9, h1 down 1: the held one takes 1, the others 4 each, not 3.
  Star uneven{9 * kGb, kGb, 9 * kGb, 9 * kGb};
  const FlowId slow = uneven.start(0, 1, kGb, 0);
  const FlowId fast = uneven.start(0, 2, kGb, 0);
  const FlowId fast_too = uneven.start(0, 3, kGb, 0);
  EXPECT_EQ(uneven.network.rate(slow), kGb);
  EXPECT_EQ(uneven.network.rate(fast), 4 * kGb);
  EXPECT_EQ(uneven.network.rate(fast_too), 4 * kGb);
}

TEST(Flows, bottlenecks_settle_one_after_the_other) {
  // Into h4 (1 GB/s): a from h0, b from h1. Out of h1 (2): b, c. Into h3 (4): c from h1, d from h2.
  // First h4: a = b = 1/2. Then h1: c = 3/2. Then h3: d = 5/2.
  Star star{9 * kGb, 2 * kGb, 9 * kGb, 4 * kGb, kGb};
  const FlowId a = star.start(0, 4, kGb, 0);
  const FlowId b = star.start(1, 4, kGb, 0);
  const FlowId c = star.start(1, 3, kGb, 0);
  const FlowId d = star.start(2, 3, kGb, 0);
  EXPECT_EQ(star.network.rate(a), kGb / 2);
  EXPECT_EQ(star.network.rate(b), kGb / 2);
  EXPECT_EQ(star.network.rate(c), 3 * kGb / 2);
  EXPECT_EQ(star.network.rate(d), 5 * kGb / 2);
}

TEST(Flows, the_two_directions_of_a_duplex_link_do_not_share) {
  Star star{kGb, kGb};
  const FlowId there = star.start(0, 1, kGb, 0);
  const FlowId back = star.start(1, 0, kGb, 0);
  EXPECT_EQ(star.run(), (Ended{{there, kSecond}, {back, kSecond}}));
}

TEST(Flows, a_flow_elsewhere_changes_nothing) {
  Star star{kGb, kGb, kGb, kGb};
  const FlowId a = star.start(0, 1, 7 * kGb + 3, 0);
  const TimeNs before = star.network.next_completion();
  for (TimeNs t = 1; t < 50; ++t) star.start(2, 3, 1, t);
  const Ended ended = star.run();
  EXPECT_EQ(ended.back(), (std::pair{a, before}));
}

TEST(Flows, cancel_returns_whole_bytes_and_gives_the_rate_back) {
  Star star{kGb, kGb};
  const FlowId a = star.start(0, 1, 2 * kGb, 0);
  const FlowId b = star.start(0, 1, 2 * kGb, 0);
  std::vector<FlowId> done;
  star.network.advance(kSecond + 1, done);  // each has carried half a GB and half a byte
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(star.network.cancel(a, kSecond + 1), kGb / 2);
  EXPECT_EQ(star.network.rate(b), kGb);
  // b lacks 1.5 GB less half a byte: half a nanosecond, rounded up.
  EXPECT_EQ(star.run(), (Ended{{b, kSecond + 1 + 3 * kSecond / 2}}));
  EXPECT_EQ(star.network.carried(star.up[0]), kGb / 2 + 2 * kGb);
  EXPECT_THROW(star.network.cancel(a, 5 * kSecond / 2 + 1), InternalError);
}

TEST(Flows, a_flow_over_a_dead_link_waits_and_goes_on) {
  Star star{kGb, kGb, kGb, kGb};
  const FlowId a = star.start(0, 1, 2 * kGb, 0);
  std::vector<FlowId> done;
  star.network.advance(kSecond, done);
  star.network.set_link_permille(star.down[1], 0, kSecond);
  EXPECT_EQ(star.network.rate(a), 0);
  EXPECT_EQ(star.network.next_completion(), kNever);
  const FlowId other = star.start(2, 3, kGb, kSecond);
  EXPECT_EQ(star.network.next_completion(), 2 * kSecond);
  star.network.advance(10 * kSecond, done);
  EXPECT_EQ(done, (std::vector{other}));
  star.network.set_link_permille(star.down[1], 1000, 10 * kSecond);
  EXPECT_EQ(star.run(), (Ended{{a, 11 * kSecond}}));
}

TEST(Flows, a_dead_link_frees_what_its_flows_took_elsewhere) {
  Star star{kGb, kGb, kGb};
  const FlowId dead = star.start(0, 1, kGb, 0);
  const FlowId live = star.start(0, 2, kGb, 0);
  star.network.set_link_permille(star.down[1], 0, 0);
  EXPECT_EQ(star.network.rate(dead), 0);
  EXPECT_EQ(star.network.rate(live), kGb);
}

TEST(Flows, a_link_at_part_of_its_rate_or_above_it_is_as_fast_as_said) {
  Star star{kGb, kGb};
  const FlowId a = star.start(0, 1, kGb, 0);
  star.network.set_link_permille(star.up[0], 250, 0);
  EXPECT_EQ(star.network.rate(a), kGb / 4);
  star.network.set_link_permille(star.up[0], 2000, 0);
  EXPECT_EQ(star.network.rate(a), kGb);  // the way down is the bottleneck now
  star.network.set_link_permille(star.down[1], 1500, 0);
  EXPECT_EQ(star.network.rate(a), 3 * kGb / 2);
}

TEST(Flows, nothing_to_carry_completes_at_once_even_over_a_dead_link_and_takes_no_share) {
  Star star{kGb, kGb};
  star.network.set_link_permille(star.up[0], 0, 0);
  const FlowId empty = star.start(0, 1, 0, 77);
  EXPECT_EQ(star.network.next_completion(), 77);
  EXPECT_EQ(star.run(100), (Ended{{empty, 77}}));
  star.network.set_link_permille(star.up[0], 1000, 77);
  const FlowId full = star.start(0, 1, kGb, 200);
  star.start(0, 1, 0, 200);
  EXPECT_EQ(star.network.rate(full), kGb);
}

TEST(Flows, carried_bytes_are_the_bytes_of_the_flows) {
  Star star{7, 5, 3};
  std::int64_t into_two = 0;
  for (std::int64_t i = 1; i <= 20; ++i) {
    star.start(static_cast<std::size_t>(i % 2), 2, i * 13, i * 1'000'000'007);
    into_two += i * 13;
  }
  star.run();
  EXPECT_EQ(star.network.carried(star.down[2]), into_two);
  EXPECT_EQ(star.network.carried(star.up[0]) + star.network.carried(star.up[1]), into_two);
  EXPECT_EQ(star.network.carried(star.up[2]), 0);
}

TEST(Flows, an_id_is_not_used_again_at_the_instant_it_ended) {
  Star star{kGb, kGb};
  const FlowId a = star.start(0, 1, kGb, 0);
  star.run();
  const FlowId b = star.start(0, 1, kGb, kSecond);
  EXPECT_NE(b, a);
  const FlowId c = star.start(0, 1, kGb, kSecond + 1);
  EXPECT_EQ(c, a);
}

TEST(Flows, a_copy_goes_on_like_the_original) {
  Star star{5 * kGb, 3 * kGb, kGb};
  for (std::size_t i = 0; i < 30; ++i)
    star.start(i % 3, (i + 1) % 3, static_cast<std::int64_t>(i) * 1'000'003,
               static_cast<TimeNs>(i) * 977);
  Star copy = star;
  EXPECT_EQ(copy.run(), star.run());
}

TEST(Flows, extremes_neither_overflow_nor_divide_by_zero) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Star fast{kMost, kMost};
  const FlowId a = fast.start(0, 1, kMost, 0);
  EXPECT_EQ(fast.network.rate(a), kMost);
  EXPECT_EQ(fast.network.next_completion(), kSecond);
  EXPECT_THROW(fast.network.set_link_permille(fast.up[0], 1001, 0), InternalError);
  Star slow{1, 1};
  slow.start(0, 1, kMost, 0);  // 292 billion years
  EXPECT_EQ(slow.network.next_completion(), kNever);
  std::vector<FlowId> done;
  slow.network.advance(kNever - 1, done);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(slow.network.carried(slow.up[0]), (kNever - 1) / kSecond);
}

TEST(Flows, misuse_is_a_broken_invariant_of_ours) {
  Star star{kGb, kGb};
  std::vector<FlowId> done;
  star.network.advance(10, done);
  EXPECT_THROW(star.network.advance(9, done), InternalError);
  EXPECT_THROW(star.network.start(star.topology, star.hosts[0], star.hosts[1], 1, 11),
               InternalError);
  EXPECT_THROW(star.network.start(star.topology, star.hosts[0], star.hosts[0], 1, 10),
               InternalError);
  EXPECT_THROW(star.network.start(star.topology, star.hosts[0], star.hosts[1], -1, 10),
               InternalError);
  EXPECT_THROW(star.network.set_link_permille(star.up[0], -1, 10), InternalError);
  EXPECT_THROW(star.network.set_link_permille(LinkId{99}, 1, 10), InternalError);
  EXPECT_THROW((void)star.network.rate(FlowId{0}), InternalError);
}

}  // namespace
}  // namespace handoff

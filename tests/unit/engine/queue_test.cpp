// The event queue against a slow model that can be seen to be right: a vector that is sorted anew.
#include "sim/engine/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

Event make_event(TimeNs at, std::uint16_t delta, std::uint16_t phase, std::uint32_t target,
                 std::uint32_t source, std::uint64_t sequence) {
  Event e;
  e.at = at;
  e.delta = delta;
  e.phase = phase;
  e.target = target;
  e.source = source;
  e.sequence = sequence;
  return e;
}

// The order as event.hpp words it, field by field; deliberately not key_of().
auto fields_of(const Event& e) {
  return std::make_tuple(e.at, e.delta, e.phase, e.target, e.source, e.sequence);
}

bool fields_less(const Event& a, const Event& b) { return fields_of(a) < fields_of(b); }

TEST(EventOrder, packed_key_orders_as_the_fields_do_up_to_their_largest_values) {
  constexpr std::uint16_t kTop16 = 0xFFFF;
  constexpr std::uint32_t kTop32 = 0xFFFFFFFF;
  std::vector<Event> events;
  for (const TimeNs at : {TimeNs{0}, TimeNs{1}, kNever})
    for (const std::uint16_t delta : {std::uint16_t{0}, std::uint16_t{1}, kTop16})
      for (const std::uint16_t phase : {std::uint16_t{0}, std::uint16_t{1}, kTop16})
        for (const std::uint32_t target : {0u, 1u, kTop32})
          for (const std::uint32_t source : {0u, kTop32})
            for (const std::uint64_t sequence : {std::uint64_t{0}, ~std::uint64_t{0}})
              events.push_back(make_event(at, delta, phase, target, source, sequence));
  for (const Event& a : events)
    for (const Event& b : events)
      ASSERT_EQ(before(key_of(a), key_of(b)), fields_less(a, b))
          << to_string(a) << " and " << to_string(b);
}

TEST(EventQueue, random_pushes_and_pops_agree_with_a_sorted_vector) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed, "queue test");
    EventQueue queue;
    std::vector<Event> model;
    std::uint64_t sequence = 0;
    Event last;
    bool popped_any = false;
    int refused = 0;
    for (int step = 0; step < 2000; ++step) {
      if (model.empty() || rng.chance(11, 20)) {
        // Few distinct values, so that each field decides often.
        const TimeNs at = last.at + rng.between(0, 3);
        const auto delta = static_cast<std::uint16_t>(rng.below(3));
        const auto phase = static_cast<std::uint16_t>(rng.below(3));
        const auto target = static_cast<std::uint32_t>(rng.below(3));
        const auto source = static_cast<std::uint32_t>(rng.below(3));
        Event e = make_event(at, delta, phase, target, source, ++sequence);
        e.payload[0] = rng.next();
        if (popped_any && !fields_less(last, e)) {
          ASSERT_THROW(queue.push(e), InternalError) << to_string(e);
          ++refused;
        } else {
          queue.push(e);
          model.push_back(e);
        }
      } else {
        std::sort(model.begin(), model.end(), fields_less);
        ASSERT_EQ(fields_of(queue.peek()), fields_of(model.front()));
        const Event popped = queue.pop();
        ASSERT_EQ(fields_of(popped), fields_of(model.front()));
        ASSERT_EQ(popped.payload, model.front().payload);
        last = popped;
        popped_any = true;
        model.erase(model.begin());
      }
      ASSERT_EQ(queue.size(), model.size());
      ASSERT_EQ(queue.empty(), model.empty());
    }
    EXPECT_GT(refused, 0) << "the past was never tried";
  }
}

TEST(EventQueue, order_of_pushing_does_not_matter) {
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 200; ++i)
    events.push_back(make_event(i % 5, 0, static_cast<std::uint16_t>(i % 3), i % 7, i % 2, i));
  std::vector<Event> sorted = events;
  std::sort(sorted.begin(), sorted.end(), fields_less);
  Rng rng(3, "shuffle");
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = events.size() - 1; i > 0; --i)
      std::swap(events[i], events[rng.below(i + 1)]);
    EventQueue queue;
    for (const Event& e : events) queue.push(e);
    for (const Event& expected : sorted) ASSERT_EQ(fields_of(queue.pop()), fields_of(expected));
  }
}

TEST(EventQueue, a_copy_goes_on_independently) {
  EventQueue queue;
  for (std::uint64_t i = 1; i <= 10; ++i)
    queue.push(make_event(static_cast<TimeNs>(i), 0, 0, 0, 0, i));
  queue.pop();
  EventQueue copy = queue;
  while (!queue.empty()) queue.pop();
  ASSERT_EQ(copy.size(), 9u);
  for (TimeNs at = 2; at <= 10; ++at) EXPECT_EQ(copy.pop().at, at);
}

TEST(EventQueue, two_events_with_one_key_are_fatal) {
  EventQueue queue;
  queue.push(make_event(5, 0, 1, 2, 3, 4));
  queue.push(make_event(5, 0, 1, 2, 3, 4));
  queue.pop();
  EXPECT_THROW(queue.pop(), InternalError);
}

TEST(EventQueue, payload_and_kind_do_not_break_a_tie) {
  EventQueue queue;
  Event first = make_event(5, 0, 1, 2, 3, 4);
  Event second = first;
  second.kind = 9;
  second.payload = {1, 2, 3, 4};
  queue.push(first);
  queue.push(second);
  queue.pop();
  EXPECT_THROW(queue.pop(), InternalError);
}

TEST(EventQueue, an_event_below_the_last_popped_key_is_fatal_in_each_field) {
  const Event last = make_event(5, 5, 5, 5, 5, 5);
  const std::vector<Event> earlier = {make_event(4, 9, 9, 9, 9, 9),
                                      make_event(5, 4, 9, 9, 9, 9),
                                      make_event(5, 5, 4, 9, 9, 9),
                                      make_event(5, 5, 5, 4, 9, 9),
                                      make_event(5, 5, 5, 5, 4, 9),
                                      make_event(5, 5, 5, 5, 5, 4),
                                      last};
  for (const Event& e : earlier) {
    EventQueue queue;
    queue.push(last);
    queue.pop();
    EXPECT_THROW(queue.push(e), InternalError) << to_string(e);
    EXPECT_TRUE(queue.empty()) << "a refused event must not stay in the queue";
  }
}

TEST(EventQueue, the_first_event_may_have_any_key) {
  EventQueue queue;
  queue.push(make_event(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(queue.pop().at, 0);
}

TEST(EventQueue, negative_time_and_popping_nothing_are_fatal) {
  EventQueue queue;
  EXPECT_THROW(queue.push(make_event(-1, 0, 0, 0, 0, 1)), InternalError);
  EXPECT_THROW(queue.pop(), InternalError);
}

TEST(EventText, names_every_field) {
  Event e = make_event(12'500, 1, 2, 7, 3, 42);
  e.kind = 4;
  e.payload = {10, 20, 30, 40};
  EXPECT_EQ(to_string(e),
            "at=12500ns delta=1 phase=2 target=7 source=3 seq=42 kind=4 [10 20 30 40]");
}

}  // namespace
}  // namespace handoff

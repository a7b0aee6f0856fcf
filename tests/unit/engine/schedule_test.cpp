// What an event may schedule, and where it sorts: the delta rule, per-source sequences, inert
// events.
#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <vector>

#include "sim/engine/rng.hpp"
#include "tests/unit/engine/scripted_world.hpp"

namespace handoff {
namespace {

// Kinds double as phases.
constexpr std::uint16_t kEarly = 1;
constexpr std::uint16_t kMiddle = 5;
constexpr std::uint16_t kLate = 9;

TEST(Schedule, events_of_one_instant_run_in_phase_then_target_order) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    s.at(10, kLate, 1);
    s.at(10, kEarly, 2);
    s.at(10, kEarly, 1);
    s.at(5, kLate, 7);
  };
  Simulator<ScriptedWorld> sim(world);
  ASSERT_EQ(sim.run(), StopReason::drained);
  std::vector<std::tuple<TimeNs, int, int>> order;
  for (const Event& e : sim.world().applied)
    order.emplace_back(e.at, static_cast<int>(e.phase), static_cast<int>(e.target));
  const std::vector<std::tuple<TimeNs, int, int>> expected = {
      {5, kLate, 7}, {10, kEarly, 1}, {10, kEarly, 2}, {10, kLate, 1}};
  EXPECT_EQ(order, expected);
}

// Runs one event of kMiddle at target 5 and instant 10 that schedules `kind` for `target` at once;
// gives the delta that this got.
std::uint16_t delta_of(std::uint16_t kind, std::uint32_t target) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) { s.at(10, kMiddle, 5); };
  world.on_event = [&](ScriptedWorld& w, const Event& e, Schedule& s) {
    if (w.applied.size() == 1) s.at(e.at, kind, target);
  };
  Simulator<ScriptedWorld> sim(world);
  EXPECT_EQ(sim.run(), StopReason::drained);
  EXPECT_EQ(sim.world().applied.size(), 2u);
  EXPECT_EQ(sim.world().applied.back().at, 10);
  EXPECT_EQ(sim.world().applied.back().source, 5u);
  return sim.world().applied.back().delta;
}

TEST(Schedule, now_in_a_later_phase_stays_in_the_same_micro_step) {
  EXPECT_EQ(delta_of(kLate, 0), 0);
  EXPECT_EQ(delta_of(kMiddle, 6), 0);
}

TEST(Schedule, now_in_a_phase_already_reached_goes_to_the_next_micro_step) {
  EXPECT_EQ(delta_of(kEarly, 5), 1);
  EXPECT_EQ(delta_of(kEarly, 9), 1);
  EXPECT_EQ(delta_of(kMiddle, 4), 1);
  EXPECT_EQ(delta_of(kMiddle, 5), 1)
      << "a component that calls itself must not stay in one micro-step";
}

TEST(Schedule, an_event_of_the_next_micro_step_waits_for_the_rest_of_this_one) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    s.at(10, kMiddle, 5);
    s.at(10, kLate, 1);
  };
  world.on_event = [](ScriptedWorld& w, const Event& e, Schedule& s) {
    if (w.applied.size() == 1) s.at(e.at, kEarly, 1);
  };
  Simulator<ScriptedWorld> sim(world);
  sim.run();
  ASSERT_EQ(sim.world().applied.size(), 3u);
  EXPECT_EQ(sim.world().applied[1].phase, kLate);
  EXPECT_EQ(sim.world().applied[2].phase, kEarly);
}

TEST(Schedule, the_micro_step_starts_anew_with_each_instant) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) { s.at(10, kMiddle, 5); };
  world.on_event = [](ScriptedWorld& w, const Event& e, Schedule& s) {
    if (w.applied.size() < 4) s.at(e.at, kEarly, 5);
    if (w.applied.size() == 4) s.at(e.at + 1, kEarly, 5);
  };
  Simulator<ScriptedWorld> sim(world);
  sim.run();
  EXPECT_EQ(sim.world().applied[3].delta, 3);
  EXPECT_EQ(sim.world().applied[4].delta, 0);
}

TEST(Schedule, the_past_and_never_are_refused) {
  for (const TimeNs when : {TimeNs{9}, TimeNs{-1}, kNever}) {
    ScriptedWorld world;
    world.on_start = [](Schedule& s) { s.at(10, kMiddle, 5); };
    world.on_event = [when](ScriptedWorld&, const Event&, Schedule& s) { s.at(when, kLate, 5); };
    Simulator<ScriptedWorld> sim(world);
    EXPECT_THROW(sim.run(), InternalError) << when;
  }
}

TEST(Schedule, sequences_count_per_source) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    s.at(1, kMiddle, 3);
    s.at(2, kMiddle, 8);
    s.at(3, kMiddle, 3);
  };
  world.on_event = [](ScriptedWorld&, const Event& e, Schedule& s) {
    if (e.source == 0) s.at(100, kLate, 0, {e.target});
  };
  Simulator<ScriptedWorld> sim(world);
  sim.run();
  std::vector<std::tuple<std::uint32_t, std::uint64_t>> sources;
  for (const Event& e : sim.world().applied)
    if (e.at == 100) sources.emplace_back(e.source, e.sequence);
  const std::vector<std::tuple<std::uint32_t, std::uint64_t>> expected = {{3, 1}, {3, 2}, {8, 1}};
  EXPECT_EQ(sources, expected);
}

TEST(Schedule, the_handler_sees_its_instant_its_number_and_its_component) {
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    EXPECT_EQ(s.now(), 0);
    EXPECT_EQ(s.event_number(), 0u);
    s.at(7, kMiddle, 4);
    s.at(8, kMiddle, 6);
  };
  world.on_event = [](ScriptedWorld& w, const Event& e, Schedule& s) {
    EXPECT_EQ(s.now(), e.at);
    EXPECT_EQ(s.component(), e.target);
    EXPECT_EQ(s.event_number(), w.applied.size());
  };
  Simulator<ScriptedWorld> sim(world);
  sim.run();
  EXPECT_EQ(sim.event_number(), 2u);
}

// Components 1..8 send each other events at few distinct instants, so that ties in time are the
// rule. With `inert`, component 100 adds events that change nothing, for itself and for the others.
constexpr std::uint16_t kInert = 7;
constexpr std::uint32_t kInertComponent = 100;

std::vector<Event> run_with_ties(bool inert) {
  struct Streams {
    std::vector<Rng> of;
  };
  auto streams = std::make_shared<Streams>();
  for (std::uint64_t c = 0; c <= 8; ++c) streams->of.emplace_back(11, "component", c);
  ScriptedWorld world;
  world.on_start = [inert](Schedule& s) {
    if (inert) s.at(0, kInert, kInertComponent);
    for (std::uint32_t c = 1; c <= 8; ++c) s.at(0, kMiddle, c);
    if (inert) s.at(3, kInert, kInertComponent);
  };
  world.on_event = [streams](ScriptedWorld& w, const Event& e, Schedule& s) {
    if (e.kind == kInert) {
      if (e.target != kInertComponent || e.at > 400) return;
      for (std::uint32_t c = 1; c <= 8; c += 3) s.at(e.at + (c & 1), kInert, c);
      s.at(e.at + 1, kInert, kInertComponent);
      return;
    }
    if (w.applied.size() > 20'000 || e.at > 400) return;
    // A component's own stream: what it sends depends on the order of what it receives.
    Rng& rng = streams->of[e.target];
    const std::uint16_t kind = rng.chance(1, 2) ? kEarly : kLate;
    const TimeNs when = e.at + rng.between(0, 2);
    const auto target = static_cast<std::uint32_t>(rng.between(1, 8));
    s.at(when, kind, target, {rng.next(), e.payload[0]});
  };
  Simulator<ScriptedWorld> sim(world);
  EXPECT_EQ(sim.run(), StopReason::drained);
  std::vector<Event> kept;
  for (const Event& e : sim.world().applied)
    if (e.kind != kInert) kept.push_back(e);
  return kept;
}

TEST(Schedule, inert_events_elsewhere_never_reorder_the_others) {
  const std::vector<Event> without = run_with_ties(false);
  const std::vector<Event> with = run_with_ties(true);
  ASSERT_GT(without.size(), 2000u);
  ASSERT_EQ(without.size(), with.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    const Event& a = without[i];
    const Event& b = with[i];
    ASSERT_EQ(std::tie(a.at, a.delta, a.phase, a.target, a.source, a.payload),
              std::tie(b.at, b.delta, b.phase, b.target, b.source, b.payload))
        << "event " << i << ": " << to_string(a) << " became " << to_string(b);
  }
}

}  // namespace
}  // namespace handoff

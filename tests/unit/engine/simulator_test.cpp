// The loop as a whole: reproducible, copyable, and ending for a stated reason.
#include "sim/engine/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "sim/engine/rng.hpp"
#include "tests/unit/engine/scripted_world.hpp"

namespace handoff {
namespace {

// A small closed model: parcels hop between sites; each hop takes a drawn time; a site handles one
// at a time; a parcel is done after a number of hops. Plain data only, as a real world must be.
class Parcels {
 public:
  Parcels(std::uint64_t seed, std::uint32_t parcels, std::uint32_t sites)
      : rng_(seed, "parcels"), hops_left_(parcels), busy_until_(sites, 0) {
    for (std::uint32_t& hops : hops_left_) hops = 1 + static_cast<std::uint32_t>(rng_.below(20));
  }

  enum Kind : std::uint16_t { kArrive, kReady };

  void start(Schedule& s) {
    for (std::uint32_t p = 0; p < hops_left_.size(); ++p) s.at(p % 7, kArrive, site_of(p), {p});
  }
  void apply(const Event& e, Schedule& s) {
    const auto parcel = static_cast<std::uint32_t>(e.payload[0]);
    if (e.kind == kArrive) {
      TimeNs& busy = busy_until_[e.target - 1];
      busy = std::max(busy, e.at) + rng_.between(0, 5);
      s.at(busy, kReady, e.target, {parcel});
      return;
    }
    if (--hops_left_[parcel] == 0) {
      ++completed_;
      return;
    }
    // One draw a statement: the order of draws within one is the compiler's choice.
    const TimeNs pause = rng_.between(0, 3);
    const auto place = static_cast<std::uint32_t>(rng_.below(1000));
    s.at(e.at + pause, kArrive, site_of(place), {parcel});
  }
  static std::uint16_t phase_of(std::uint16_t kind) { return kind; }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::uint64_t outstanding() const { return hops_left_.size() - completed_; }

 private:
  [[nodiscard]] std::uint32_t site_of(std::uint32_t n) const {
    return 1 + n % static_cast<std::uint32_t>(busy_until_.size());
  }

  Rng rng_;
  std::vector<std::uint32_t> hops_left_;
  std::vector<TimeNs> busy_until_;
  std::uint64_t completed_ = 0;
};

TEST(Simulator, the_same_world_gives_the_same_digest_twice_and_another_seed_another) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Simulator<Parcels> first(Parcels(seed, 300, 9));
    Simulator<Parcels> second(Parcels(seed, 300, 9));
    ASSERT_EQ(first.run(), StopReason::drained);
    ASSERT_EQ(second.run(), StopReason::drained);
    EXPECT_EQ(first.digest(), second.digest());
    EXPECT_EQ(first.event_number(), second.event_number());
    EXPECT_EQ(first.world().completed(), 300u);
    digests.insert(first.digest());
  }
  EXPECT_EQ(digests.size(), 5u);
}

TEST(Simulator, the_digest_of_a_known_run_is_fixed) {
  Simulator<Parcels> sim(Parcels(1, 300, 9));
  ASSERT_EQ(sim.run(), StopReason::drained);
  EXPECT_EQ(sim.event_number(), 6390u);
  EXPECT_EQ(sim.digest(), 0xCE158CF59A59A72BULL);
}

TEST(Simulator, the_digest_sees_each_field_of_an_event) {
  const auto digest_after = [](TimeNs at, std::uint16_t kind, std::uint32_t target,
                               std::array<std::uint64_t, 4> payload) {
    ScriptedWorld world;
    world.on_start = [=](Schedule& s) { s.at(at, kind, target, payload); };
    Simulator<ScriptedWorld> sim(world);
    sim.run();
    return sim.digest();
  };
  const std::set<std::uint64_t> digests = {
      digest_after(1, 1, 1, {}),           digest_after(2, 1, 1, {}),
      digest_after(1, 2, 1, {}),           digest_after(1, 1, 2, {}),
      digest_after(1, 1, 1, {1, 0, 0, 0}), digest_after(1, 1, 1, {0, 1, 0, 0}),
      digest_after(1, 1, 1, {0, 0, 1, 0}), digest_after(1, 1, 1, {0, 0, 0, 1})};
  EXPECT_EQ(digests.size(), 8u);
}

TEST(Simulator, a_copy_is_a_snapshot_that_continues_equally) {
  Simulator<Parcels> original(Parcels(3, 200, 5));
  ASSERT_EQ(original.run(500), StopReason::reached);
  Simulator<Parcels> snapshot = original;
  ASSERT_EQ(original.run(), StopReason::drained);
  EXPECT_EQ(snapshot.event_number(), 500u) << "running the original must not move the copy";
  ASSERT_EQ(snapshot.run(), StopReason::drained);
  EXPECT_EQ(snapshot.digest(), original.digest());
  EXPECT_EQ(snapshot.event_number(), original.event_number());
  EXPECT_EQ(snapshot.now(), original.now());
}

TEST(Simulator, stopping_anywhere_does_not_change_the_run) {
  Simulator<Parcels> whole(Parcels(4, 100, 5));
  ASSERT_EQ(whole.run(), StopReason::drained);
  Simulator<Parcels> stepped(Parcels(4, 100, 5));
  for (std::uint64_t n = 1; n < whole.event_number(); ++n) {
    ASSERT_EQ(stepped.run(n), StopReason::reached);
    ASSERT_EQ(stepped.event_number(), n);
  }
  ASSERT_EQ(stepped.run(), StopReason::drained);
  EXPECT_EQ(stepped.digest(), whole.digest());
}

TEST(Simulator, replay_to_event_n_meets_the_state_that_the_first_run_had_there) {
  Simulator<Parcels> first(Parcels(5, 100, 5));
  for (const std::uint64_t n : {1u, 10u, 77u, 400u}) {
    ASSERT_EQ(first.run(n), StopReason::reached);
    Simulator<Parcels> replay(Parcels(5, 100, 5));
    ASSERT_EQ(replay.run(n), StopReason::reached);
    EXPECT_EQ(replay.digest(), first.digest()) << n;
    EXPECT_EQ(replay.now(), first.now()) << n;
    EXPECT_EQ(replay.pending(), first.pending()) << n;
    EXPECT_EQ(replay.world().completed(), first.world().completed()) << n;
  }
}

TEST(Simulator, running_to_an_event_already_passed_does_nothing) {
  Simulator<Parcels> sim(Parcels(5, 100, 5));
  sim.run(50);
  const std::uint64_t digest = sim.digest();
  EXPECT_EQ(sim.run(20), StopReason::reached);
  EXPECT_EQ(sim.event_number(), 50u);
  EXPECT_EQ(sim.digest(), digest);
}

// Ticks every `period` for ever; `open` units of work never complete unless on_event says so.
ScriptedWorld ticking(TimeNs period, std::uint64_t open) {
  ScriptedWorld world;
  world.open = open;
  world.on_start = [](Schedule& s) { s.at(0, 1, 1); };
  world.on_event = [period](ScriptedWorld&, const Event& e, Schedule& s) {
    s.at(e.at + period, 1, 1);
  };
  return world;
}

TEST(SimulatorStops, drained_when_nothing_is_left) {
  Simulator<ScriptedWorld> sim{ScriptedWorld{}};
  EXPECT_EQ(sim.run(), StopReason::drained);
  EXPECT_EQ(sim.event_number(), 0u);
}

TEST(SimulatorStops, at_the_event_limit_after_exactly_that_many) {
  Limits limits;
  limits.events_max = 123;
  Simulator<ScriptedWorld> sim(ticking(kSecond, 0), limits);
  EXPECT_EQ(sim.run(), StopReason::event_limit);
  EXPECT_EQ(sim.event_number(), 123u);
}

TEST(SimulatorStops, at_the_time_limit_before_the_first_event_beyond_it) {
  Limits limits;
  limits.time_max_ns = 10 * kSecond;
  Simulator<ScriptedWorld> sim(ticking(kSecond, 0), limits);
  EXPECT_EQ(sim.run(), StopReason::time_limit);
  EXPECT_EQ(sim.now(), 10 * kSecond);
  EXPECT_EQ(sim.event_number(), 11u);
  EXPECT_EQ(sim.pending(), 1u) << "the event beyond the limit is still there";
}

TEST(SimulatorStops, stalled_when_too_many_events_complete_nothing) {
  Limits limits;
  limits.stall_events_max = 50;
  Simulator<ScriptedWorld> sim(ticking(1, 1), limits);
  EXPECT_EQ(sim.run(), StopReason::stalled);
  EXPECT_EQ(sim.event_number(), 51u);
}

TEST(SimulatorStops, stalled_when_too_much_time_completes_nothing) {
  Limits limits;
  limits.stall_time_max_ns = kMinute;
  Simulator<ScriptedWorld> sim(ticking(kSecond, 1), limits);
  EXPECT_EQ(sim.run(), StopReason::stalled);
  EXPECT_EQ(sim.now(), kMinute);
}

TEST(SimulatorStops, completions_hold_the_watchdog_off) {
  Limits limits;
  limits.stall_events_max = 50;
  limits.events_max = 1000;
  ScriptedWorld world = ticking(1, 1);
  world.on_event = [](ScriptedWorld& w, const Event& e, Schedule& s) {
    if (w.applied.size() % 50 == 0) ++w.done;
    s.at(e.at + 1, 1, 1);
  };
  Simulator<ScriptedWorld> sim(world, limits);
  EXPECT_EQ(sim.run(), StopReason::event_limit);
}

TEST(SimulatorStops, idle_time_is_no_stall_however_long) {
  Limits limits;
  limits.stall_time_max_ns = kHour;
  Simulator<ScriptedWorld> sim(ticking(kDay, 0), limits);
  EXPECT_EQ(sim.run(100), StopReason::reached);
}

TEST(SimulatorStops, work_that_arrives_after_an_idle_night_gets_its_full_time) {
  Limits limits;
  limits.stall_time_max_ns = 2 * kHour;
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    s.at(0, 1, 1);
    s.at(10 * kHour, 1, 1);                 // work arrives
    s.at(11 * kHour + 59 * kMinute, 2, 1);  // and is done within the bound
  };
  world.on_event = [](ScriptedWorld& w, const Event& e, Schedule&) {
    if (e.at == 10 * kHour) w.open = 1;
    if (e.kind == 2) {
      w.open = 0;
      ++w.done;
    }
  };
  Simulator<ScriptedWorld> sim(world, limits);
  EXPECT_EQ(sim.run(), StopReason::drained);
  EXPECT_EQ(sim.event_number(), 3u);
}

TEST(SimulatorStops, livelock_when_one_instant_never_ends) {
  Limits limits;
  limits.delta_max = 100;
  Simulator<ScriptedWorld> sim(ticking(0, 1), limits);
  EXPECT_EQ(sim.run(), StopReason::livelock);
  EXPECT_EQ(sim.now(), 0);
}

TEST(SimulatorStops, many_events_at_one_instant_without_micro_steps_are_no_livelock) {
  Limits limits;
  limits.delta_max = 1;
  ScriptedWorld world;
  world.on_start = [](Schedule& s) {
    for (std::uint32_t i = 0; i < 50'000; ++i) s.at(5, 1, i);
  };
  Simulator<ScriptedWorld> sim(world, limits);
  EXPECT_EQ(sim.run(), StopReason::drained);
  EXPECT_EQ(sim.event_number(), 50'000u);
}

TEST(SimulatorStops, a_delta_bound_that_could_not_be_seen_exceeded_is_refused) {
  Limits limits;
  limits.delta_max = 0xFFFF;
  EXPECT_THROW(Simulator<ScriptedWorld>(ScriptedWorld{}, limits), InternalError);
}

TEST(SimulatorStops, every_reason_has_its_own_name) {
  std::set<std::string> names;
  for (const StopReason r : {StopReason::drained, StopReason::event_limit, StopReason::time_limit,
                             StopReason::stalled, StopReason::livelock, StopReason::reached})
    names.insert(name(r));
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(names.count("?"), 0u);
}

TEST(Check, a_failure_says_where_what_and_why) {
  try {
    HANDOFF_CHECK(1 + 1 == 3, "arithmetic holds");
    FAIL() << "did not throw";
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("tests/unit/engine/simulator_test.cpp:"), 0u) << text;
    EXPECT_NE(text.find("arithmetic holds"), std::string::npos) << text;
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace handoff

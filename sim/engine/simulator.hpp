// The event loop. A Simulator is a copyable value: a snapshot is a copy, and replay to event N is a
// run from the start (or from an earlier snapshot) that stops there.
//
// World is the model. It must be copyable and have
//   void start(Schedule&)                          schedules the first events
//   void apply(const Event&, Schedule&)            the only place where its state changes
//   static std::uint16_t phase_of(std::uint16_t)   the phase of an event kind (one table)
//   std::uint64_t completed() const                units of work that reached a terminal state
//   std::uint64_t outstanding() const              units of work that have not
//   void finish(Schedule&, StopReason)             what is to be judged once the run has ended
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/hash.hpp"
#include "sim/engine/queue.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// What World::start and World::apply schedule with.
class Schedule {
 public:
  using PhaseOf = std::uint16_t (*)(std::uint16_t kind);

  explicit Schedule(PhaseOf phase_of) : phase_of_(phase_of) {}

  [[nodiscard]] TimeNs now() const { return current_.at; }
  // Number of the event being applied, from 1; 0 before the first.
  [[nodiscard]] std::uint64_t event_number() const { return event_number_; }
  // The micro-step of the event being applied.
  [[nodiscard]] std::uint16_t delta() const { return current_.delta; }
  // The component whose event is being applied: the source of what it schedules.
  [[nodiscard]] std::uint32_t component() const { return current_.target; }

  // Schedules `kind` for `target` at `when`, now() <= when < kNever. Components are dense: a
  // counter is kept for each up to the largest.
  void at(TimeNs when, std::uint16_t kind, std::uint32_t target,
          std::array<std::uint64_t, 4> payload = {}) {
    HANDOFF_CHECK(when >= current_.at, "an event must not be scheduled before now");
    HANDOFF_CHECK(when < kNever, "what never happens must not be scheduled");
    Event event;
    event.at = when;
    event.phase = phase_of_(kind);
    event.target = target;
    event.source = current_.target;
    event.kind = kind;
    event.payload = payload;
    if (event.source >= sequences_.size()) sequences_.resize(event.source + 1, 0);
    event.sequence = ++sequences_[event.source];
    if (when == current_.at && event_number_ > 0) {
      event.delta = current_.delta;
      if (key_of(event).place <= key_of(current_).place) ++event.delta;
    }
    queue_.push(event);
  }

 private:
  template <class World>
  friend class Simulator;

  PhaseOf phase_of_;
  EventQueue queue_;
  Event current_{};
  std::uint64_t event_number_ = 0;
  std::vector<std::uint64_t> sequences_;
};

// Bounds of a run. Each stops it with its own reason; none is a silent end.
struct Limits {
  std::uint64_t events_max = 2'000'000'000;
  TimeNs time_max_ns = kNever;
  // Watchdog: no unit of work completed while some are outstanding.
  std::uint64_t stall_events_max = 20'000'000;
  TimeNs stall_time_max_ns = 2 * kHour;
  // Micro-steps of one instant (Event::delta): more means that the model chases its own tail.
  std::uint16_t delta_max = 10'000;
};

enum class StopReason : std::uint8_t {
  drained,      // the queue is empty
  event_limit,  // Limits::events_max
  time_limit,   // Limits::time_max_ns
  stalled,      // the watchdog
  livelock,     // Limits::delta_max
  reached,      // the event number that the caller asked for
};

constexpr const char* name(StopReason r) {
  switch (r) {
    case StopReason::drained:
      return "drained";
    case StopReason::event_limit:
      return "event limit";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::stalled:
      return "stalled";
    case StopReason::livelock:
      return "livelock";
    case StopReason::reached:
      return "reached";
  }
  return "?";
}

template <class World>
class Simulator {
 public:
  explicit Simulator(World world, Limits limits = {})
      : world_(std::move(world)), schedule_(&World::phase_of), limits_(limits) {
    HANDOFF_CHECK(limits.delta_max < std::numeric_limits<std::uint16_t>::max(),
                  "delta_max leaves no room to see it exceeded");
  }

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] TimeNs now() const { return schedule_.current_.at; }
  [[nodiscard]] std::uint64_t event_number() const { return schedule_.event_number_; }
  [[nodiscard]] std::size_t pending() const { return schedule_.queue_.size(); }
  // Chained over every applied event, in order.
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

  // Lets the world judge the end of the run. No event is applied any more.
  void finish(StopReason reason) { world_.finish(schedule_, reason); }

  // Applies events until a limit is met or `until_event` of them have been applied in all.
  StopReason run(std::uint64_t until_event = ~std::uint64_t{0}) {
    start_once();
    for (;;) {
      if (schedule_.event_number_ >= until_event) return StopReason::reached;
      if (schedule_.queue_.empty()) return StopReason::drained;
      if (schedule_.event_number_ >= limits_.events_max) return StopReason::event_limit;
      if (schedule_.queue_.peek().at > limits_.time_max_ns) return StopReason::time_limit;
      if (schedule_.queue_.peek().delta > limits_.delta_max) return StopReason::livelock;
      if (stalled(schedule_.queue_.peek().at)) return StopReason::stalled;
      step();
    }
  }

  // Applies all events up to and including time `until`, or until a limit is met.
  StopReason run_to(TimeNs until) {
    start_once();
    while (!schedule_.queue_.empty() && schedule_.queue_.peek().at <= until) {
      const StopReason stop = run(schedule_.event_number_ + 1);
      if (stop != StopReason::reached) return stop;
    }
    return schedule_.queue_.empty() ? StopReason::drained : StopReason::reached;
  }

 private:
  void start_once() {
    if (started_) return;
    started_ = true;
    world_.start(schedule_);
  }

  void step() {
    const Event event = schedule_.queue_.pop();
    ++schedule_.event_number_;
    schedule_.current_ = event;
    const EventKey key = key_of(event);
    digest_.add(key.at);
    digest_.add(key.place);
    digest_.add(key.source << 32 | static_cast<std::uint64_t>(event.kind) << 16 | event.flags);
    digest_.add(key.sequence);
    for (const std::uint64_t word : event.payload) digest_.add(word);
    // Idle before counts too: else the first work after a quiet time would look as old as that
    // time.
    const bool was_idle = world_.outstanding() == 0;
    world_.apply(event, schedule_);
    if (was_idle || world_.outstanding() == 0 || world_.completed() != seen_completed_) {
      seen_completed_ = world_.completed();
      progress_event_ = schedule_.event_number_;
      progress_at_ = event.at;
    }
  }

  [[nodiscard]] bool stalled(TimeNs next_at) const {
    if (world_.outstanding() == 0) return false;
    return schedule_.event_number_ - progress_event_ > limits_.stall_events_max ||
           next_at - progress_at_ > limits_.stall_time_max_ns;
  }

  World world_;
  Schedule schedule_;
  Limits limits_;
  Digest digest_;
  std::uint64_t seen_completed_ = 0;
  std::uint64_t progress_event_ = 0;
  TimeNs progress_at_ = 0;
  bool started_ = false;
};

}  // namespace handoff

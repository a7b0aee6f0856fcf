// An event: plain data, never a closure, so that it can be printed, hashed, saved and compared.
//
// Events are applied in the total order (at, delta, phase, target, source, sequence).
//   at        simulated nanoseconds
//   delta     micro-step within one instant: an event scheduled for "now" gets the current delta
//   when its
//             (phase, target) is still to come and the next one otherwise. So the order never runs
//             backwards, and a chain of events that never leaves an instant is seen by its delta
//   phase     what goes first at one instant; the meanings belong to the model
//   (models/serving/events.hpp) target    component that the event is applied to source component
//   that scheduled it sequence  counter of that source
// The sequence counts per source, not globally: adding an event that touches nobody elsewhere
// cannot reorder the others. Two events with equal keys are a broken invariant and stop the run.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/engine/time.hpp"

namespace handoff {

struct Event {
  TimeNs at = 0;
  std::uint16_t delta = 0;
  std::uint16_t phase = 0;
  std::uint32_t target = 0;
  std::uint32_t source = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint64_t sequence = 0;
  std::array<std::uint64_t, 4> payload{};
};
static_assert(sizeof(Event) == 64);

// The key as three words that compare in order; packed because a member-wise comparison is slower.
struct EventKey {
  std::uint64_t at;
  std::uint64_t place;  // delta | phase | target
  std::uint64_t source;
  std::uint64_t sequence;

  friend constexpr bool operator==(const EventKey&, const EventKey&) = default;
};

constexpr EventKey key_of(const Event& e) {
  return {static_cast<std::uint64_t>(e.at),
          static_cast<std::uint64_t>(e.delta) << 48 | static_cast<std::uint64_t>(e.phase) << 32 |
              e.target,
          e.source, e.sequence};
}

constexpr bool before(const EventKey& a, const EventKey& b) {
  if (a.at != b.at) return a.at < b.at;
  if (a.place != b.place) return a.place < b.place;
  if (a.source != b.source) return a.source < b.source;
  return a.sequence < b.sequence;
}

// "at=12500ns delta=0 phase=2 target=7 source=1 seq=42 kind=3 [a b c d]"
[[nodiscard]] std::string to_string(const Event& event);

}  // namespace handoff

// A world whose behaviour is written in the test: for checks of the loop itself, not of a model.
// The phase of an event kind is the kind itself.
#pragma once

#include <functional>
#include <vector>

#include "sim/engine/simulator.hpp"

namespace handoff {

struct ScriptedWorld {
  std::function<void(Schedule&)> on_start;
  std::function<void(ScriptedWorld&, const Event&, Schedule&)> on_event;
  std::vector<Event> applied;
  std::uint64_t done = 0;
  std::uint64_t open = 0;

  void start(Schedule& schedule) {
    if (on_start) on_start(schedule);
  }
  void apply(const Event& event, Schedule& schedule) {
    applied.push_back(event);
    if (on_event) on_event(*this, event, schedule);
  }
  static std::uint16_t phase_of(std::uint16_t kind) { return kind; }
  [[nodiscard]] std::uint64_t completed() const { return done; }
  [[nodiscard]] std::uint64_t outstanding() const { return open; }
};

}  // namespace handoff

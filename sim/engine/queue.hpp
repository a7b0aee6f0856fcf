// Pending events in key order: a binary heap on a vector, so that a snapshot is a plain copy.
// The key never goes back: pushing below the last popped key, or popping two equal keys, stops the
// run.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine/event.hpp"

namespace handoff {

class EventQueue {
 public:
  void push(const Event& event);
  // Requires !empty().
  Event pop();
  [[nodiscard]] const Event& peek() const { return heap_.front(); }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

 private:
  std::vector<Event> heap_;
  EventKey last_{0, 0, 0, 0};
  bool popped_any_ = false;
};

}  // namespace handoff

#include "sim/engine/queue.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

bool later(const Event& a, const Event& b) { return before(key_of(b), key_of(a)); }

}  // namespace

void EventQueue::push(const Event& event) {
  HANDOFF_CHECK(event.at >= 0, "event before time zero: " + to_string(event));
  HANDOFF_CHECK(!popped_any_ || before(last_, key_of(event)),
                "event scheduled in the past: " + to_string(event));
  heap_.push_back(event);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

Event EventQueue::pop() {
  HANDOFF_CHECK(!heap_.empty(), "pop from an empty event queue");
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = heap_.back();
  heap_.pop_back();
  const EventKey key = key_of(event);
  HANDOFF_CHECK(!popped_any_ || before(last_, key), "two events with one key: " + to_string(event));
  last_ = key;
  popped_any_ = true;
  return event;
}

}  // namespace handoff

// A ring of slots threaded by index, and a table from block to slot.
#include "models/memory/block_lru.hpp"

#include "sim/engine/hash.hpp"

namespace handoff {

BlockLru::BlockLru(std::size_t capacity) : slots_(1), capacity_(capacity) {}

bool BlockLru::touch(std::uint64_t block) {
  ++lookups_;
  const std::uint64_t hash = mix64(block);
  std::uint32_t slot = index_.find(hash, [&](std::uint32_t i) { return slots_[i].block == block; });
  if (slot != IndexTable::kNone) {
    ++hits_;
    detach(slot);
    attach_front(slot);
    return true;
  }
  if (capacity_ != 0 && size() == capacity_) {
    slot = slots_[0].previous;
    index_.erase(mix64(slots_[slot].block), slot);
    detach(slot);
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slots_[slot].block = block;
  index_.insert(hash, slot);
  attach_front(slot);
  return false;
}

void BlockLru::detach(std::uint32_t slot) {
  const Slot& s = slots_[slot];
  slots_[s.previous].next = s.next;
  slots_[s.next].previous = s.previous;
}

void BlockLru::attach_front(std::uint32_t slot) {
  const std::uint32_t first = slots_[0].next;
  slots_[slot].previous = 0;
  slots_[slot].next = first;
  slots_[first].previous = slot;
  slots_[0].next = slot;
}

}  // namespace handoff

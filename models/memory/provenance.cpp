// Counting references to records. A record that goes drops its origin too, in a loop and not by
// recursion: a chain of copies may be long.
#include "models/memory/provenance.hpp"

#include "sim/engine/check.hpp"

namespace handoff {

const char* name(RecordKind kind) {
  switch (kind) {
    case RecordKind::allocate:
      return "allocate";
    case RecordKind::free:
      return "free";
    case RecordKind::prefill_write:
      return "prefill_write";
    case RecordKind::decode_write:
      return "decode_write";
    case RecordKind::transfer_write:
      return "transfer_write";
    case RecordKind::restore_write:
      return "restore_write";
    case RecordKind::zero:
      return "zero";
  }
  return "?";
}

RecordId ProvenanceLog::add(const Record& record) {
  if (record.origin.valid()) acquire(record.origin);
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  slots_[index] = {record, 0, true};
  return RecordId(index);
}

void ProvenanceLog::acquire(RecordId id) { acquire(id, 1); }

void ProvenanceLog::acquire(RecordId id, std::uint32_t count) {
  HANDOFF_CHECK(id.value < slots_.size() && slots_[id.value].live,
                "a record that is not alive was acquired");
  slots_[id.value].references += count;
}

void ProvenanceLog::release(RecordId id) {
  HANDOFF_CHECK(id.value < slots_.size() && slots_[id.value].references > 0,
                "a record without references was released");
  while (--slots_[id.value].references == 0) {
    Slot& slot = slots_[id.value];
    slot.live = false;
    free_.push_back(id.value);
    if (!slot.record.origin.valid()) return;
    id = slot.record.origin;
  }
}

const Record& ProvenanceLog::get(RecordId id) const {
  HANDOFF_CHECK(id.value < slots_.size() && slots_[id.value].live,
                "a record that is not alive was read");
  return slots_[id.value].record;
}

std::size_t ProvenanceLog::size() const { return slots_.size() - free_.size(); }

}  // namespace handoff

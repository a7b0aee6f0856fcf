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

std::size_t ProvenanceLog::size() const { return slots_.size() - free_.size(); }

}  // namespace handoff

// Provenance: who allocated, wrote, copied or freed what, when. A record is shared by all pages
// that one operation touched, and counted, so that memory follows what pages still remember. A
// copy's record names the record of what it copied (its origin), which chains over any number of
// hops.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/id.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

using RecordId = Id<struct RecordTag>;
// Running number of a request within the whole run, from 0; never reused. kNoSerial: nobody's.
using RequestSerial = std::uint32_t;
inline constexpr RequestSerial kNoSerial = ~RequestSerial{0};

enum class RecordKind : std::uint8_t {
  allocate,        // pages given to a request
  free,            // pages returned to the pool
  prefill_write,   // KV computed by a prefill chunk
  decode_write,    // KV computed by decode steps
  transfer_write,  // KV copied over the network; origin = the record of the source page's content
  restore_write,   // KV copied back from a host backup; origin likewise
  zero,            // page cleared
};
const char* name(RecordKind kind);

struct Record {
  RecordKind kind = RecordKind::allocate;
  std::uint16_t node = 0;    // index of the node within its deployment where it happened
  std::uint32_t tenant = 0;  // of the request
  RequestSerial request = kNoSerial;
  TimeNs at = 0;
  std::uint64_t event = 0;  // event number
  RecordId origin;
};

class ProvenanceLog {
 public:
  // The new record has no reference yet, and takes one on its origin. Acquire it before the next
  // release.
  RecordId add(const Record& record);
  void acquire(RecordId id);
  void acquire(RecordId id, std::uint32_t count);
  // Recycles the record, and then its origins, when no reference is left.
  void release(RecordId id);
  [[nodiscard]] const Record& get(RecordId id) const;
  [[nodiscard]] std::size_t size() const;  // live records

 private:
  struct Slot {
    Record record;
    std::uint32_t references = 0;
    bool live = false;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

// Inline: called for every page.

inline void ProvenanceLog::acquire(RecordId id) { acquire(id, 1); }

inline void ProvenanceLog::acquire(RecordId id, std::uint32_t count) {
  HANDOFF_CHECK(id.value < slots_.size() && slots_[id.value].live,
                "a record that is not alive was acquired");
  slots_[id.value].references += count;
}

inline void ProvenanceLog::release(RecordId id) {
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

inline const Record& ProvenanceLog::get(RecordId id) const {
  HANDOFF_CHECK(id.value < slots_.size() && slots_[id.value].live,
                "a record that is not alive was read");
  return slots_[id.value].record;
}

}  // namespace handoff

// Event kinds of the serving model, their phases and payloads.
//
// At one instant phases run in this order, each for a reason:
//   fault      the world changes first: what follows at this instant sees it
//   step_done  results of computation exist before anything is decided on them
//   transfer   then data becomes visible
//   message    then notices about data: a notice never precedes its data by accident of order
//   timer      a timeout loses against the message that arrives at the same instant
//   arrival    new work comes after old work has released what it held
//   schedule   nodes decide last, with everything of this instant known
#pragma once

#include <cstdint>

namespace handoff {

enum class Phase : std::uint16_t { fault, step_done, transfer, message, timer, arrival, schedule };

enum class EventKind : std::uint16_t {
  fault_begin,        // [index in the plan's timed list]
  operation,          // [index]
  prefill_step_done,  // [node generation]
  decode_wake,        // [wake generation]
  network_wake,       // [generation]
  data_visible,       // [operation slot]
  operation_start,    // [operation slot]: one that was held back
  prefill_submit,     // [request slot, serial]
  decode_submit,      // [request slot, serial]
  metadata,           // [request slot, serial]: decode's destinations reach prefill
  notice,             // [room, rank | status << 8 | code << 16, sender serial]
  abort_prefill,      // [request slot, serial, room, from: 0 router, 1 decode]
  abort_decode,       // [request slot, serial, code]
  abort_ack,          // [request slot, serial]: prefill has nothing of the room in flight
  peer_lost,          // [prefill node index]: heartbeats failed
  bootstrap_timer,    // [request slot, serial]
  waiting_timer,      // [request slot, serial]
  release_timer,      // [request slot, serial]: cap on a deferred release
  client_abort,       // [request slot, serial]
  arrival,            // the head of the merged workload
  prefill_schedule,   // [node generation]
  decode_schedule,    // [node generation]
  lease_timer,        // [request slot, serial]
  pull_done,          // [request slot, serial]: decode confirms to prefill that it has everything
  count_,
};

const char* name(EventKind kind);
Phase phase_of(EventKind kind);

}  // namespace handoff

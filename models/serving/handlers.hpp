// The handlers of the simulated system, by place of action. Cluster::apply calls them, they call
// each other; each gets the world and the schedule and changes nothing else.
#pragma once

#include <string_view>

#include "models/serving/world.hpp"

namespace handoff {

// --- lifecycle.cpp: requests from arrival to retirement
// ----------------------------------------------- Makes the request of a workload row; returns its
// slot.
std::uint32_t create_request(const Context& c, RequestSpec spec);
// Gives the client its answer, once; later answers are ignored.
void answer(const Context& c, Request& r, std::int32_t status, Cause cause);
// Remembers the first error anywhere.
void record_cause(Request& r, std::int32_t status, Cause cause);
// Recycles the slot when the client is answered and both legs are done.
void retire_if_done(const Context& c, Request& r);
// Advances a leg through its table. Reports a pair that is not listed and returns no actions, state
// kept.
PrefillActions advance(const Context& c, Request& r, PrefillFact fact);
DecodeActions advance(const Context& c, Request& r, DecodeFact fact);
// `fault`: index in the scenario. The request remembers that it was touched.
void record_firing(const Context& c, std::size_t fault, Request* r, std::string what);
// Index of a fault's value, found by its address in the run's configuration.
std::size_t fault_index(const World& world, const void* fault);

// --- router.cpp
// -----------------------------------------------------------------------------------------
void route(const Context& c, Request& r);
// A leg ended in an error: the router may cancel the other one.
void on_leg_error(const Context& c, Request& r, bool prefill_leg);
void on_client_abort(const Context& c, Request& r);

// --- prefill.cpp
// ----------------------------------------------------------------------------------------
std::int64_t input_limit(const Deployment& d, const NodeMemory& memory);
void on_prefill_submit(const Context& c, Request& r);
void on_metadata(const Context& c, Request& r);
void on_bootstrap_timer(const Context& c, Request& r);
void on_abort_prefill(const Context& c, std::uint64_t slot, std::uint64_t serial,
                      std::uint64_t room, PrefillNode& n, bool from_decode);
void on_prefill_step_done(const Context& c, Deployment& d, PrefillNode& n);
void schedule_prefill(const Context& c, Deployment& d, PrefillNode& n);
void wake_prefill(const Context& c, PrefillNode& n);
// A transfer operation of the request has ended; pages that waited for it may go now.
void on_operation_ended(const Context& c, Deployment& d, PrefillNode& n, Request& r);
void release_prefill_pages(const Context& c, Deployment& d, PrefillNode& n, Request& r);

// Carries out the table's actions that end prefill's leg.
void finish_prefill_leg(const Context& c, Deployment& d, PrefillNode& n, Request& r,
                        PrefillActions actions);

// --- pull.cpp: source first
// ---------------------------------------------------------------------------------- Whether the
// deployment hands off in this order.
bool pulls(const Deployment& d);
// Prefill has computed the prompt and holds it; decode is told by the router.
void hold(const Context& c, Deployment& d, PrefillNode& n, Request& r);
// Decode has its pages and reads prefill's into them.
void start_pull(const Context& c, Deployment& d, DecodeNode& n, Request& r);
void on_lease_timer(const Context& c, Request& r);
void on_pull_done(const Context& c, Request& r);
std::uint64_t prefill_checksum(const Context& c, const Deployment& d, const PrefillNode& n,
                               const Request& r);

// --- transfer.cpp
// --------------------------------------------------------------------------------------- Posts
// tokens [from, to) of the first group, and with the last chunk everything of the other groups and
// the aux record.
void post_chunk(const Context& c, Deployment& d, PrefillNode& n, Request& r, std::int64_t from,
                std::int64_t to, bool last);
// Source first: all of it at once, into decode's pages.
void post_pull(const Context& c, Deployment& d, PrefillNode& n, Request& r);
void on_network_wake(const Context& c);
void on_operation_start(const Context& c, std::uint32_t operation, RequestSerial serial);
void on_data_visible(const Context& c, std::uint32_t operation, RequestSerial serial);
// Drops what is queued or flowing from or to a node that died.
void drop_operations(const Context& c, std::uint32_t deployment, NodeRole role, std::uint32_t node);
void send_failure_notice(const Context& c, Deployment& d, PrefillNode& n, std::uint64_t room,
                         const Destination& to, Request* r, std::int32_t status);
// The network's state has changed at now(): moves its wake-up.
void reschedule_network(const Context& c);

// --- decode.cpp
// -----------------------------------------------------------------------------------------
void on_decode_submit(const Context& c, Request& r);
void on_notice(const Context& c, Deployment& d, DecodeNode& n, std::uint64_t room,
               std::uint32_t rank, bool success, std::int32_t code);
void on_waiting_timer(const Context& c, Request& r);
void on_release_timer(const Context& c, Request& r);
void on_abort_decode(const Context& c, Request& r, std::int32_t status);
void on_abort_ack(const Context& c, Request& r);
void on_peer_lost(const Context& c, Deployment& d, DecodeNode& n, std::uint32_t prefill_node);
void release_decode_pages(const Context& c, Deployment& d, DecodeNode& n, Request& r);
// End of the decode leg's handoff for any reason but a commit.
void end_transfer(const Context& c, Request& r, DecodeFact fact, std::int32_t status, Cause cause);

// --- decode_batch.cpp: the running batch
// -----------------------------------------------------------------
void on_decode_wake(const Context& c, Deployment& d, DecodeNode& n);
void schedule_decode(const Context& c, Deployment& d, DecodeNode& n);
// Something changed on the node: catch up to now, and have it decide at the next step boundary.
void touch_decode(const Context& c, Deployment& d, DecodeNode& n);
// Brings the node's memory up to now(), before somebody else writes to it.
void catch_up_decode(const Context& c, Deployment& d, DecodeNode& n);

// --- cluster_faults.cpp
// ----------------------------------------------------------------------------------
void on_timed_fault(const Context& c, const FaultPlan::TimedFault& timed);
void on_operation(const Context& c, const Operation& operation);

inline MemoryAccess access(const Context& c, Deployment& d, std::uint32_t component) {
  const bool traced = c.world.pages.on();
  return {d.trie,
          d.log,
          c.now(),
          c.event(),
          static_cast<std::uint16_t>(component),
          traced ? &c : nullptr,
          traced ? &d : nullptr};
}
inline Actor actor(const Request& r) { return {r.serial, r.spec.tenant}; }

}  // namespace handoff

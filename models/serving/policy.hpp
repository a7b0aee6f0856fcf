// What differs between engine versions, as values. One struct holds every decision that protocol.md
// lists; presets live in models/catalog/engines/*.yaml. A value is never looked at to guess a
// version.
#pragma once

#include <cstdint>

#include "models/memory/page_pool.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// What scheduler admission does with a request that it finds invalid (sglang
// validate_input_length).
enum class RejectedPrompt : std::uint8_t {
  placeholder,  // its prompt becomes one token, the error is pending, and it is queued all the same
  reject,       // it is answered before it enters any queue
};

// What prefill does with a request whose error is pending when its turn comes.
enum class PendingAbort : std::uint8_t {
  ignored,  // only the final reason is looked at: it runs and its pages are sent (sglang before
            // 36988)
  retire_result,         // it runs, its result is retired and not sent (36988)
  wait_for_destination,  // it never runs; it waits to learn the destination, then retires (38704)
};

// Whether prefill tells decode about a request that it will not send.
enum class AbortNotice : std::uint8_t {
  none,
  before_send,  // known destinations get Failed before anything is sent (38704)
  tombstone,    // also a room rejected before any queue: metadata that comes later is answered at
                // once (30551)
};

// What prefill reports when the transfer succeeded but an error was pending (33507).
enum class PendingAbortOnSuccess : std::uint8_t { success_wins, abort_wins };

// What status decode gives the client for a room that prefill failed.
enum class FailureStatus : std::uint8_t {
  generic,  // 500
  carried,  // prefill's own code travels with the notice
};

// How decode counts the ranks that have reported Success.
enum class NoticeCount : std::uint8_t { distinct_ranks, messages };

// How the ranks of a node come to one decision before commit.
enum class RankAgreement : std::uint8_t {
  all_reduce,  // minimum of status and of validity over ranks
  none,        // each rank decides by itself
};

enum class RouterAdmission : std::uint8_t {
  context_only,         // the context window alone
  smallest_node_limit,  // also the smallest input limit of all nodes that would serve it
};

enum class RoutePolicy : std::uint8_t { round_robin, random, least_tokens };

enum class HandoffOrder : std::uint8_t {
  destination_first,  // decode reserves and says where, prefill pushes (SGLang)
  source_first,       // prefill computes and holds under a lease, decode pulls (vLLM NIXL)
};

// Source first: what a pull of pages does whose lease has expired, so that prefill may have given
// them to others.
enum class StalePull : std::uint8_t {
  read_anyway,  // a one-sided read asks nobody (vllm issue 52234)
  refused,      // decode's own deadline, or a generation that the read names, fails it
};

enum class RetractOrder : std::uint8_t { fewest_output_first, latest_arrival_first };

// When pages of an aborted or failed room return to their pool.
enum class AbortRelease : std::uint8_t {
  at_once,
  when_drained,  // not before every posted operation on them has ended (35049); decode waits for
                 // prefill's word or a cap, prefill for its own transfer
};

// What a late Success for a room that is no longer known does (sglang common/conn.py
// update_status).
enum class LateNotice : std::uint8_t {
  recreates_room,  // the entry is made anew: the next request with that room number meets it
  ignored,
};

// Comparisons before decode commits a finished transfer. Room: the aux slot carries the room
// number.
struct CommitChecks {
  bool room = true;       // aux record must name this room (17430); a zero room means "not yet"
  bool length = false;    // logical length per group against the preallocated one (38704)
  bool checksum = false;  // digest of the content of all pages (39500)
};

// Deliberate bugs, for scenarios/negative: each is found by exactly one oracle.
struct Bugs {
  bool cache_ignores_content = false;    // a prefix of equal length is taken for an equal prefix
  bool free_source_before_sent = false;  // prefill frees its pages when the last chunk is submitted
  bool abort_frees_twice =
      false;  // an abort on decode returns the pages and the end of the request does again
  bool abort_forgets_pages = false;          // an abort on decode does not return the pages
  bool failure_reported_as_success = false;  // a failed request is answered 200
  bool drop_request_on_failure = false;      // a failed room is forgotten without an answer
};

struct EnginePolicy {
  HandoffOrder handoff = HandoffOrder::destination_first;

  // Admission
  RejectedPrompt rejected_prompt = RejectedPrompt::reject;
  PendingAbort pending_abort = PendingAbort::wait_for_destination;
  AbortNotice abort_notice = AbortNotice::tombstone;
  PendingAbortOnSuccess pending_abort_on_success = PendingAbortOnSuccess::abort_wins;
  FailureStatus failure_status = FailureStatus::carried;
  RouterAdmission router_admission = RouterAdmission::context_only;
  bool router_cancels_peer = false;  // a leg's error cancels the other leg (29017)

  // Before commit
  CommitChecks commit;
  NoticeCount notice_count = NoticeCount::distinct_ranks;
  RankAgreement rank_agreement = RankAgreement::all_reduce;
  LateNotice late_notice = LateNotice::ignored;

  // After an abort or a failure
  AbortRelease abort_release = AbortRelease::when_drained;
  TimeNs drain_cap_ns = 30 * kSecond;  // decode releases after this long without prefill's word

  // Source first: how long prefill holds what nobody has pulled (kNever: for ever), and whether
  // decode renews that while it still wants it.
  TimeNs lease_ns = 480 * kSecond;  // vllm VLLM_NIXL_ABORT_REQUEST_TIMEOUT
  bool lease_renewal = true;
  StalePull stale_pull = StalePull::refused;

  // Memory
  std::int64_t page_tokens = 64;
  FreeOrder free_order = FreeOrder::sorted;
  bool zero_on_allocate = false;
  bool prefix_cache = true;  // prefill nodes

  // Prefill scheduling
  std::int64_t chunk_tokens = 8192;         // chunked_prefill_size: tokens a step
  std::int64_t prefill_requests_max = 256;  // in one step
  bool overlap_schedule = true;             // a chunk's pages are sent one step later
  std::int64_t prefill_running_max =
      512;  // half the number of aux slots (2 x max_running_requests)

  // Decode scheduling
  std::int64_t decode_running_max = 256;
  std::int64_t reserved_decode_tokens = 512;  // num_reserved_decode_tokens, per active request
  std::int64_t clip_new_tokens = 4096;        // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
  RetractOrder retract_order = RetractOrder::fewest_output_first;

  // Transfers
  std::int64_t transfer_queues = 4;  // per prefill node, sharded by destination
  std::uint64_t room_space = 0;      // rooms are drawn below this; 0: 63 bits

  // Time
  TimeNs bootstrap_timeout_ns = 300 * kSecond;  // kNever: none
  TimeNs waiting_timeout_ns = 300 * kSecond;    // from send_metadata; kNever: none
  TimeNs heartbeat_interval_ns = 5 * kSecond;
  std::int64_t heartbeat_failures_max = 2;
  TimeNs control_latency_ns = 200 * kMicrosecond;  // one control message (HTTP, ZMQ)

  RoutePolicy route = RoutePolicy::round_robin;
  Bugs bugs;
};

}  // namespace handoff

// The handoff as pure machines: facts in, next state and actions out. Nothing here knows a clock, a
// queue or a page. Prefill's leg and decode's leg of one request are two machines, since in real
// engines they share nothing but messages, and lies between them are what this project is about.
//
// Both orders are rows of the same tables. Destination first (SGLang): decode reserves and
// publishes where, prefill waits for that (bootstrap) and pushes. Source first (vLLM): prefill runs
// at once and holds, decode pulls and confirms, and a lease bounds the hold.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/transition.hpp"

namespace handoff {

// Room status, numerically ordered: an update keeps the maximum, except that failed overrides
// anything (sglang disaggregation/base/conn.py).
enum class KvPoll : std::uint8_t {
  failed,
  bootstrapping,
  waiting_for_input,
  transferring,
  success
};

// --- prefill's leg
// ---------------------------------------------------------------------------------------
enum class PrefillState : std::uint8_t {
  none,
  bootstrap,
  waiting,
  running,
  inflight,
  held,
  done,
  count_
};
enum class PrefillFact : std::uint8_t {
  submitted,          // admitted to the queue; destination first
  submitted_unbound,  // admitted to the queue; needs no destination first (source first, embedding)
  rejected,           // answered before any queue
  destination_known,  // decode's metadata is here and an aux slot is free
  retired_unsent,     // an aborted request that has learnt its destination, or never will send
  scheduled,          // in a batch
  last_chunk_done,    // all tokens computed; pages on their way
  last_chunk_done_held,  // all tokens computed; waits to be pulled
  result_retired,        // computed, but an abort is pending: not sent
  no_handoff,            // computed, nobody to hand to (embedding)
  sent,                  // every byte has left
  pulled,                // decode confirms that it has everything
  lease_expired,         // nobody pulled in time
  failed,                // the room failed (abort by decode, send error, node lost)
  timed_out,             // no destination in time
  aborted,               // the client or the router gave up
  killed,                // the node died
  count_
};
enum class PrefillAction : std::uint8_t {
  enqueue_bootstrap,
  arm_bootstrap_timer,
  enqueue_waiting,
  take_aux,
  notify_failed,
  send_pages,
  cache_prefix,
  release_pages,
  release_aux,
  drop_room,
  count_
};

// --- decode's leg
// ----------------------------------------------------------------------------------------
enum class DecodeState : std::uint8_t {
  none,
  prealloc,
  transfer,
  waiting,
  running,
  retracted,
  draining,
  done,
  count_
};
enum class DecodeFact : std::uint8_t {
  submitted,
  rejected,
  allocated,   // pages and aux slot reserved
  committed,   // transfer complete as far as decode can tell
  refused,     // a check before commit failed
  merged,      // in the running batch
  finished,    // all tokens
  retracted,   // pages given up, copy in host memory
  resumed,     // pages again
  failed,      // prefill said so, or a peer was lost
  timed_out,   // no notice in time
  aborted,     // the client gave up
  must_drain,  // released only when no write to the pages can be under way
  drained,     // prefill says so, or the cap expired
  killed,      // the node died
  count_
};
enum class DecodeAction : std::uint8_t {
  enqueue_prealloc,
  publish_metadata,
  arm_waiting_timer,
  release_aux,
  clear_room,
  start_reading,
  back_up,
  release_pages,
  send_abort,
  count_
};

const char* name(KvPoll);
const char* name(PrefillState);
const char* name(PrefillFact);
const char* name(PrefillAction);
const char* name(DecodeState);
const char* name(DecodeFact);
const char* name(DecodeAction);

using PrefillActions = ActionSet<PrefillAction>;
using DecodeActions = ActionSet<DecodeAction>;
using PrefillRow = Row<PrefillState, PrefillFact, PrefillAction>;
using DecodeRow = Row<DecodeState, DecodeFact, DecodeAction>;

// nullptr: the pair is not listed.
const PrefillRow* find(PrefillState state, PrefillFact fact);
const DecodeRow* find(DecodeState state, DecodeFact fact);
// Running number of a row over both tables, prefill's first, and all rows by that number as
// "prefill: state, fact".
std::size_t row_number(const PrefillRow& row);
std::size_t row_number(const DecodeRow& row);
std::vector<std::string> handoff_rows();
// Both tables as Markdown, and as two DOT graphs.
std::string handoff_tables_markdown();
std::string handoff_tables_dot();

// The room status book of one side of one node. A cleared room is absent.
struct RoomStatus {
  std::vector<KvPoll> ranks;   // as each rank sees it
  std::uint32_t messages = 0;  // Success messages received
  std::int32_t code = 0;       // status that came with a failure, 0: none
};

class RoomBook {
 public:
  explicit RoomBook(std::uint32_t ranks = 1) : ranks_(ranks) {}
  // update_status: max, failed overrides; a late failed for a cleared room is ignored. Any other
  // status makes an absent entry anew when `recreate`, and is ignored otherwise.
  void update(std::uint64_t room, std::uint32_t rank, KvPoll status, bool recreate);
  void update_all(std::uint64_t room, KvPoll status, bool recreate);
  void fail(std::uint64_t room, std::int32_t code);
  void clear(std::uint64_t room) { rooms_.erase(room); }
  [[nodiscard]] RoomStatus* find(std::uint64_t room);
  // Minimum over ranks; failed when absent.
  [[nodiscard]] KvPoll reduced(std::uint64_t room) const;
  [[nodiscard]] std::size_t size() const { return rooms_.size(); }
  void reset() { rooms_.clear(); }

 private:
  std::map<std::uint64_t, RoomStatus> rooms_;
  std::uint32_t ranks_;
};

}  // namespace handoff

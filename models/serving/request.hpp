// A request in flight: what the client asked, and the two legs that serve it. The legs share
// nothing that the real engines do not share: each has its own view of the prompt.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/content.hpp"
#include "models/memory/prefix_cache.hpp"
#include "models/memory/shadow.hpp"
#include "models/serving/handoff.hpp"
#include "models/serving/outcome.hpp"
#include "models/workload/request_spec.hpp"

namespace handoff {

// pages[group], in the order of the positions they hold.
using PageLists = std::vector<std::vector<PageIndex>>;

// What happened to a request, step by step: the material of causal chains.
enum class Step : std::uint8_t {
  arrived,                 // [prompt tokens, output tokens]
  rejected_by_prefill,     // [limit, prompt tokens]
  placeholder_on_prefill,  // [limit, prompt tokens]
  rejected_by_decode,
  placeholder_on_decode,
  kept_for_notice,      // an aborted request waits to learn its destination
  allocated_on_decode,  // [pages of the first group]
  destination_known,    // [pages announced, pages prefill will send]
  prefilled,            // [tokens computed, tokens from the prefix cache]
  result_retired,
  last_chunk_posted,  // [pages of the first group sent in all]
  success_sent,       // [rank]
  failure_sent,       // [status]
  success_received,   // [rank]
  failure_received,   // [status]
  committed,          // [tokens decode assumes]
  refused,            // [cause]
  merged,             // in the running batch
  retracted,
  resumed,
  aborted_by_client,
  timed_out,
  pages_released,     // [pages of the first group]
  write_pending,      // pages released while a transfer to or from them was under way
  answered,           // [status]
  held,               // [pages, ns of the lease]: computed, to be pulled
  lease_ended,        // nobody pulled in time: the pages are given up
  pull_posted,        // [pages]: decode reads them
  pull_posted_stale,  // [pages]: likewise, after the lease had ended
  pull_refused,       // the lease had ended
  omitted,            // [how many steps]: there were too many to keep
};

struct JournalEntry {
  TimeNs at = 0;
  std::uint64_t event = 0;
  Step step = Step::arrived;
  std::uint32_t component = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
};

// The record that travels with the last chunk into decode's metadata slot (sglang: the aux buffer).
struct AuxRecord {
  std::uint64_t room = 0;            // 0: nothing there
  std::int64_t covered_tokens = 0;   // logical KV length as prefill sees it
  std::uint64_t checksum = 0;        // over the content of the pages that prefill sends
  RequestSerial writer = kNoSerial;  // for findings only; no policy reads it
};

struct PrefillLeg {
  PrefillState state = PrefillState::none;
  std::uint32_t node = 0;
  bool counted = false;     // in the node's queued tokens
  std::int64_t tokens = 0;  // prefill's own view of the prompt
  ContentNode tip;          // content it will compute: the prompt, or a placeholder
  ContentPath path;
  std::int32_t pending_abort = 0;  // status of an error that has not been acted on, 0: none
  bool has_aux = false;
  PageLists pages;
  std::int64_t cached = 0;    // leading tokens whose pages belong to the prefix cache
  std::int64_t computed = 0;  // leading tokens whose KV is there
  std::int64_t posted = 0;    // leading tokens of the first group posted for sending
  PrefixCache::Handle cache_handle;
  // Pages that stayed this request's own when the cache took the rest: tokens [own_from, own_to)
  // duplicate what was cached before, tokens from tail_from on are not whole units.
  std::int64_t own_from = 0, own_to = 0, tail_from = 0;
  bool tainted = false;
  bool abort_requested = false;  // acted on when the running step ends
  std::uint32_t flowing = 0;     // transfer operations whose bytes are under way
  bool draining = false;         // done, but pages wait for operations to end
  bool ack_pending = false;      // decode wants to know when nothing is under way any more
  bool pages_released = false;
  // Source first: who holds, and what a checksum of the held pages is.
  std::uint64_t generation = 0;  // of the node's process
  std::uint64_t checksum = 0;
};

struct DecodeLeg {
  DecodeState state = DecodeState::none;
  std::uint32_t node = 0;
  bool counted = false;     // in the node's queued tokens
  std::int64_t tokens = 0;  // decode's own view of the prompt
  std::int32_t pending_abort = 0;
  PageLists pages;
  std::int32_t aux_slot = -1;
  TimeNs transfer_since = 0;
  std::int64_t context = 0;    // positions with KV: prompt, then generated tokens but the last
  std::int64_t generated = 0;  // tokens the client has
  std::int64_t output = 0;     // tokens to generate in all
  bool aborted = false;        // leaves at the next step boundary
  bool read_checked = false;
  std::uint64_t joined = 0;  // running number of joining the batch
  RecordId decode_record;    // of its own KV writes
  // Host copy while retracted: runs[rank][group][page].
  std::vector<std::vector<std::vector<std::vector<ContentRun>>>> backup;
};

struct Request {
  bool live = false;
  RequestSerial serial = 0;
  RequestSpec spec;  // blocks are dropped once the path exists
  std::uint64_t room = 0;
  ContentNode tip;     // prompt
  ContentNode output;  // its continuation by this request's own tokens
  ContentPath path;    // prompt and output
  bool answered = false;
  std::int32_t first_cause_status = 0;  // of the first error anywhere, 0: none
  Cause first_cause = Cause::finished;
  PrefillLeg prefill;
  DecodeLeg decode;
  RequestOutcome outcome;
  std::int32_t fault = -1;  // last fault that touched it
  std::vector<JournalEntry> journal;
};

}  // namespace handoff

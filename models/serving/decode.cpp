// The decode node up to the running batch: admission, preallocation, transfer, commit, and the ways
// a handoff can end without one (sglang disaggregation/decode.py). The batch itself is
// decode_batch.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "models/oracle/provenance.hpp"
#include "models/serving/decode_queues.hpp"
#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"

namespace handoff {
namespace {

void release_aux(DecodeNode& n, Request& r) {
  const std::int32_t slot = std::exchange(r.decode.aux_slot, -1);
  if (slot < 0) return;
  // Zeroed, so that the next owner can tell "nothing yet" from a record (27374).
  for (AuxRecord& aux : n.aux[static_cast<std::size_t>(slot)]) aux = AuxRecord{};
  n.aux_free.push_back(slot);
}

void clear_room(const Context& c, DecodeNode& n, const Request& r) {
  n.rooms.clear(r.room);
  const auto it = n.requests_by_room.find(r.room);
  if (it != n.requests_by_room.end() && it->second == c.slot_of(r)) n.requests_by_room.erase(it);
}

void leave_queues(const Context& c, DecodeNode& n, const Request& r) {
  const std::uint32_t slot = c.slot_of(r);
  std::erase(n.prealloc, slot);
  std::erase(n.transfer, slot);
}

void count_waiting(const Context& c, DecodeNode& n, const Request& r) {
  if (r.decode.pages.empty()) return;
  n.totals.pages_held_waiting_ns +=
      static_cast<std::int64_t>(r.decode.pages[0].size()) * (c.now() - r.decode.transfer_since);
}

void release_after_failure(const Context& c, Deployment& d, DecodeNode& n, Request& r,
                           DecodeFact fact) {
  const bool abort = fact == DecodeFact::aborted;
  if (abort && d.engine.bugs.abort_forgets_pages) return;
  release_decode_pages(c, d, n, r);
  if (abort && d.engine.bugs.abort_frees_twice) release_decode_pages(c, d, n, r);
}

void reject(const Context& c, Deployment& d, DecodeNode& n, Request& r, std::int64_t limit) {
  c.note(r, Step::rejected_by_decode, n.component, limit, r.spec.prompt_tokens);
  record_cause(r, 400, Cause::rejected_decode);
  advance(c, r, DecodeFact::rejected);
  answer(c, r, 400, Cause::rejected_decode);
  if (d.engine.abort_notice == AbortNotice::tombstone)
    c.at(c.now() + d.engine.control_latency_ns, EventKind::abort_prefill,
         d.prefill[r.prefill.node].component, c.slot_of(r), r.serial, r.room, 1);
  on_leg_error(c, r, false);
  retire_if_done(c, r);
}

// A room number that was in use before: the notice of its earlier use may come again.
void replay_stale_notice(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  if (d.engine.room_space == 0) return;
  if (n.used_rooms[r.room]++ == 0) return;
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank) {
    const NoticeFacts facts{r.spec.deployment, r.prefill.node,       r.decode.node, rank,
                            r.serial,          r.spec.prompt_tokens, c.now()};
    const NoticeFault* fault = c.world.matcher.match_stale(facts);
    if (fault == nullptr) continue;
    record_firing(c, fault_index(c.world, fault), &r,
                  fmt::format("stale notice of room {} on rank {}", r.room, rank));
    c.at(c.now() + fault->by_ns, EventKind::notice, n.component, r.room,
         rank | std::uint64_t{1} << 32, r.serial, 2);
  }
}

// --- before commit
// -------------------------------------------------------------------------------------

std::uint64_t decode_checksum(const Deployment& d, const DecodeNode& n, const Request& r,
                              std::uint32_t rank) {
  std::uint64_t sum = 0;
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g)
    sum = hash_combine(sum, content_digest(d.trie, n.memory.groups[g].planes[rank],
                                           r.decode.pages[g], r.decode.tokens));
  return sum;
}

struct RankView {
  RankDecision decision = RankDecision::wait;
  Cause cause = Cause::finished;
};

// What one rank alone would do.
RankView view_of(const Deployment& d, const DecodeNode& n, const Request& r, const RoomStatus& room,
                 std::uint32_t rank) {
  KvPoll status = room.ranks[rank];
  const AuxRecord& aux = n.aux[static_cast<std::size_t>(r.decode.aux_slot)][rank];
  const CommitChecks& checks = d.engine.commit;
  if (status == KvPoll::failed) return {RankDecision::abort, Cause::prefill_failed};
  // Metadata gate: Success does not count before the aux record is there.
  if (status == KvPoll::success && checks.room && aux.room == 0) status = KvPoll::transferring;
  if (status != KvPoll::success) return {};
  if (checks.room && aux.room != r.room) return {RankDecision::abort, Cause::room_mismatch};
  if (checks.length && aux.covered_tokens != r.decode.tokens)
    return {RankDecision::abort, Cause::length_mismatch};
  if (checks.checksum && aux.checksum != decode_checksum(d, n, r, rank))
    return {RankDecision::abort, Cause::checksum_mismatch};
  return {RankDecision::commit, Cause::finished};
}

// All ranks together. With agreement: anyone's failure fails all, and all must be ready to commit.
// Without: each goes its own way, which the oracle sees; the node follows rank 0, whose scheduler
// answers clients.
RankView decide(const Context& c, const Deployment& d, const DecodeNode& n, Request& r,
                const RoomStatus& room) {
  std::vector<RankView> views;
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank)
    views.push_back(view_of(d, n, r, room, rank));
  if (d.engine.rank_agreement == RankAgreement::none) {
    std::vector<RankDecision> decisions;
    for (const RankView& v : views) decisions.push_back(v.decision);
    if (decisions[0] != RankDecision::wait) judge_ranks(c, r, n, decisions);
    return views[0];
  }
  for (const RankView& v : views)
    if (v.decision == RankDecision::abort) return v;
  for (const RankView& v : views)
    if (v.decision == RankDecision::wait) return v;
  return views[0];
}

void commit(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  c.note(r, Step::committed, n.component, r.decode.tokens);
  judge_commit(c, r, n);
  count_waiting(c, n, r);
  const DecodeActions actions = advance(c, r, DecodeFact::committed);
  if (actions.has(DecodeAction::release_aux)) release_aux(n, r);
  if (actions.has(DecodeAction::clear_room)) clear_room(c, n, r);
  r.decode.context = r.decode.tokens;
  if (r.decode.pending_abort != 0) {
    advance(c, r, DecodeFact::refused);
    release_decode_pages(c, d, n, r);
    answer(c, r, r.decode.pending_abort, Cause::rejected_decode);
    retire_if_done(c, r);
    return;
  }
  n.waiting.push_back(c.slot_of(r));
}

std::int32_t failure_status(const Deployment& d, const RoomStatus* room) {
  const bool carried =
      d.engine.failure_status == FailureStatus::carried && room != nullptr && room->code != 0;
  return carried ? room->code : 500;
}

}  // namespace

void release_decode_pages(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  const std::vector<std::size_t> first(r.decode.pages.size(), 0);
  if (!r.decode.pages.empty())
    c.note(r, Step::pages_released, n.component,
           static_cast<std::int64_t>(r.decode.pages[0].size()));
  judge_release(c, r, n.component,
                n.memory.release(access(c, d, n.component), actor(r), r.decode.pages, first));
}

void end_transfer(const Context& c, Request& r, DecodeFact fact, std::int32_t status, Cause cause) {
  Deployment& d = c.deployment(r);
  DecodeNode& n = d.decode[r.decode.node];
  const bool had_pages = r.decode.state == DecodeState::transfer;
  const bool drain = had_pages && d.engine.abort_release == AbortRelease::when_drained &&
                     d.prefill[r.prefill.node].up;
  if (had_pages) count_waiting(c, n, r);
  leave_queues(c, n, r);
  record_cause(r, status, cause);
  const DecodeActions actions = advance(c, r, drain ? DecodeFact::must_drain : fact);
  if (actions.has(DecodeAction::release_aux)) release_aux(n, r);
  if (actions.has(DecodeAction::clear_room)) clear_room(c, n, r);
  if (actions.has(DecodeAction::release_pages)) release_after_failure(c, d, n, r, fact);
  if (actions.has(DecodeAction::send_abort))
    c.at(c.now() + d.engine.control_latency_ns, EventKind::abort_prefill,
         d.prefill[r.prefill.node].component, c.slot_of(r), r.serial, r.room, 1);
  if (drain)
    c.at(c.now() + d.engine.drain_cap_ns, EventKind::release_timer, n.component, c.slot_of(r),
         r.serial);
  if (!(d.engine.bugs.drop_request_on_failure && fact == DecodeFact::failed)) {
    answer(c, r, status, cause);
    on_leg_error(c, r, false);
  }
  retire_if_done(c, r);
}

void on_decode_submit(const Context& c, Request& r) {
  if (r.decode.state != DecodeState::none) return;  // aborted on its way here
  Deployment& d = c.deployment(r);
  DecodeNode& n = d.decode[r.decode.node];
  if (!n.up) {
    advance(c, r, DecodeFact::killed);
    answer(c, r, 503, Cause::node_down);
    return retire_if_done(c, r);
  }
  DecodeLeg& leg = r.decode;
  leg.tokens = r.spec.prompt_tokens;
  const std::int64_t limit = input_limit(d, n.memory);
  if (leg.tokens >= limit) {
    const bool kept = d.engine.pending_abort == PendingAbort::wait_for_destination;
    if (d.engine.rejected_prompt == RejectedPrompt::reject || kept)
      return reject(c, d, n, r, limit);
    leg.tokens = 1;
    leg.pending_abort = 400;
    record_cause(r, 400, Cause::rejected_decode);
    c.note(r, Step::placeholder_on_decode, n.component, limit, r.spec.prompt_tokens);
  }
  // sglang: max_new_tokens is clipped to max_req_len - input length - 1; max_req_len = limit + 5.
  leg.output = std::clamp<std::int64_t>(r.spec.output_tokens, 1,
                                        std::max<std::int64_t>(limit + 5 - leg.tokens - 1, 1));
  advance(c, r, DecodeFact::submitted);
  n.rooms.update_all(r.room, KvPoll::bootstrapping, true);
  n.requests_by_room[r.room] = c.slot_of(r);
  n.prealloc.push_back(c.slot_of(r));
  // Prefill waits for decode here, not the other way round: the deadline covers the wait for room
  // too.
  if (pulls(d) && d.engine.waiting_timeout_ns != kNever)
    c.at(c.now() + d.engine.waiting_timeout_ns, EventKind::waiting_timer, n.component, c.slot_of(r),
         r.serial);
  touch_decode(c, d, n);
}

// Strict first in first out: the first that does not fit stops the rest.
void preallocate(const Context& c, Deployment& d, DecodeNode& n) {
  if (!n.retracted.empty()) return;
  std::int64_t retractable = 0;
  std::int64_t single = 0;
  for (const std::uint32_t slot : n.running) retractable += c.world.requests[slot].decode.context;
  for (const std::uint32_t slot : n.running) {
    const DecodeLeg& leg = c.world.requests[slot].decode;
    single =
        std::max(single, leg.tokens + std::min(leg.output, d.engine.clip_new_tokens) - retractable);
  }
  const auto active =
      static_cast<std::int64_t>(n.running.size() + n.transfer.size() + n.waiting.size());
  std::int64_t allocatable =
      n.memory.available_tokens() - std::max(d.engine.reserved_decode_tokens * active, single);
  std::size_t taken = 0;
  for (; taken < n.prealloc.size() && !n.aux_free.empty(); ++taken) {
    Request& r = c.world.requests[n.prealloc[taken]];
    DecodeLeg& leg = r.decode;
    const std::int64_t needed = leg.tokens + d.engine.reserved_decode_tokens;
    const std::int64_t grown =
        leg.tokens + std::min(leg.output, d.engine.clip_new_tokens) - retractable;
    if (std::max(needed, grown) > allocatable) break;
    if (!n.memory.allocate(access(c, d, n.component), actor(r), n.memory.pages_for(leg.tokens),
                           d.engine.zero_on_allocate, leg.pages))
      break;
    allocatable -= needed;
    leg.aux_slot = n.aux_free.back();
    n.aux_free.pop_back();
    leg.transfer_since = c.now();
    const DecodeActions actions = advance(c, r, DecodeFact::allocated);
    c.note(r, Step::allocated_on_decode, n.component,
           leg.pages.empty() ? 0 : static_cast<std::int64_t>(leg.pages[0].size()));
    n.transfer.push_back(n.prealloc[taken]);
    if (actions.has(DecodeAction::publish_metadata) && pulls(d)) {
      n.rooms.update_all(r.room, KvPoll::waiting_for_input, true);
      start_pull(c, d, n, r);
    } else if (actions.has(DecodeAction::publish_metadata)) {
      n.rooms.update_all(r.room, KvPoll::waiting_for_input, true);
      c.at(c.now() + d.engine.control_latency_ns, EventKind::metadata,
           d.prefill[r.prefill.node].component, c.slot_of(r), r.serial);
    }
    const bool arm = actions.has(DecodeAction::arm_waiting_timer) && !pulls(d);
    if (arm && d.engine.waiting_timeout_ns != kNever)
      c.at(c.now() + d.engine.waiting_timeout_ns, EventKind::waiting_timer, n.component,
           c.slot_of(r), r.serial);
    replay_stale_notice(c, d, n, r);
  }
  n.prealloc.erase(n.prealloc.begin(), n.prealloc.begin() + static_cast<std::ptrdiff_t>(taken));
}

void poll_prealloc(const Context& c, DecodeNode& n) {
  const std::vector<std::uint32_t> queue = n.prealloc;
  for (const std::uint32_t slot : queue) {
    Request& r = c.world.requests[slot];
    if (n.rooms.reduced(r.room) == KvPoll::failed)
      end_transfer(c, r, DecodeFact::failed, failure_status(c.deployment(r), n.rooms.find(r.room)),
                   Cause::prefill_failed);
  }
}

void poll_transfers(const Context& c, Deployment& d, DecodeNode& n) {
  const std::vector<std::uint32_t> queue = n.transfer;
  for (const std::uint32_t slot : queue) {
    Request& r = c.world.requests[slot];
    const RoomStatus* room = n.rooms.find(r.room);
    const RankView view = room != nullptr ? decide(c, d, n, r, *room)
                                          : RankView{RankDecision::abort, Cause::prefill_failed};
    if (view.decision == RankDecision::wait) continue;
    std::erase(n.transfer, slot);
    if (view.decision == RankDecision::commit) {
      commit(c, d, n, r);
      continue;
    }
    const bool failed = view.cause == Cause::prefill_failed;
    if (!failed) c.note(r, Step::refused, n.component, static_cast<std::int64_t>(view.cause));
    end_transfer(c, r, failed ? DecodeFact::failed : DecodeFact::refused,
                 failed ? failure_status(d, room) : 500, view.cause);
  }
}

void on_notice(const Context& c, Deployment& d, DecodeNode& n, std::uint64_t room,
               std::uint32_t rank, bool success, std::int32_t code) {
  if (!n.up) return;
  const bool recreate = d.engine.late_notice == LateNotice::recreates_room;
  if (!success) {
    n.rooms.fail(room, code);
  } else if (d.engine.notice_count == NoticeCount::distinct_ranks) {
    n.rooms.update(room, rank, KvPoll::success, recreate);
  } else {
    n.rooms.update(room, rank, KvPoll::transferring, recreate);
    RoomStatus* entry = n.rooms.find(room);
    if (entry != nullptr && ++entry->messages >= d.config->ranks)
      n.rooms.update_all(room, KvPoll::success, recreate);
  }
  const auto holder = n.requests_by_room.find(room);
  if (holder == n.requests_by_room.end()) return;
  Request& r = c.world.requests[holder->second];
  if (success)
    c.note(r, Step::success_received, n.component, rank);
  else
    c.note(r, Step::failure_received, n.component, code);
  touch_decode(c, d, n);
}

void on_waiting_timer(const Context& c, Request& r) {
  Deployment& d = c.deployment(r);
  const bool waits = r.decode.state == DecodeState::transfer ||
                     (pulls(d) && r.decode.state == DecodeState::prealloc);
  if (!waits) return;
  DecodeNode& n = d.decode[r.decode.node];
  c.note(r, Step::timed_out, n.component);
  touch_decode(c, d, n);
  end_transfer(c, r, DecodeFact::timed_out, 500, Cause::waiting_timeout);
}

void on_release_timer(const Context& c, Request& r) {
  if (r.decode.state == DecodeState::draining) on_abort_ack(c, r);
}

void on_abort_ack(const Context& c, Request& r) {
  if (r.decode.state != DecodeState::draining) return;
  Deployment& d = c.deployment(r);
  DecodeNode& n = d.decode[r.decode.node];
  const DecodeActions actions = advance(c, r, DecodeFact::drained);
  if (actions.has(DecodeAction::release_pages))
    release_after_failure(c, d, n, r, DecodeFact::aborted);
  touch_decode(c, d, n);
  retire_if_done(c, r);
}

void on_abort_decode(const Context& c, Request& r, std::int32_t status) {
  Deployment& d = c.deployment(r);
  DecodeNode& n = d.decode[r.decode.node];
  const Cause cause = r.first_cause_status != 0 ? r.first_cause : Cause::client_abort;
  switch (r.decode.state) {
    case DecodeState::none:
      advance(c, r, DecodeFact::aborted);
      answer(c, r, status, cause);
      return retire_if_done(c, r);
    case DecodeState::prealloc:
    case DecodeState::transfer: {
      touch_decode(c, d, n);
      return end_transfer(c, r, DecodeFact::aborted, status, cause);
    }
    case DecodeState::waiting:
    case DecodeState::running:
    case DecodeState::retracted:
      r.decode.aborted = true;
      return touch_decode(c, d, n);
    case DecodeState::draining:
    case DecodeState::done:
    case DecodeState::count_:
      return;
  }
}

void on_peer_lost(const Context& c, Deployment& d, DecodeNode& n, std::uint32_t prefill_node) {
  if (!n.up) return;
  for (const auto* queue : {&n.prealloc, &n.transfer})
    for (const std::uint32_t slot : *queue) {
      Request& r = c.world.requests[slot];
      if (r.prefill.node != prefill_node || r.prefill.state != PrefillState::done) continue;
      record_cause(r, 500, Cause::node_down);
      n.rooms.fail(r.room, 500);
    }
  touch_decode(c, d, n);
}

}  // namespace handoff

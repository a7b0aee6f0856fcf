#include "models/serving/handoff.hpp"

#include <algorithm>

namespace handoff {

const char* name(KvPoll s) {
  switch (s) {
    case KvPoll::failed:
      return "Failed";
    case KvPoll::bootstrapping:
      return "Bootstrapping";
    case KvPoll::waiting_for_input:
      return "WaitingForInput";
    case KvPoll::transferring:
      return "Transferring";
    case KvPoll::success:
      return "Success";
  }
  return "?";
}

const char* name(PrefillState s) {
  switch (s) {
    case PrefillState::none:
      return "none";
    case PrefillState::bootstrap:
      return "bootstrap";
    case PrefillState::waiting:
      return "waiting";
    case PrefillState::running:
      return "running";
    case PrefillState::inflight:
      return "inflight";
    case PrefillState::held:
      return "held";
    case PrefillState::done:
      return "done";
    case PrefillState::count_:
      break;
  }
  return "?";
}

const char* name(PrefillFact f) {
  switch (f) {
    case PrefillFact::submitted:
      return "submitted";
    case PrefillFact::submitted_unbound:
      return "submitted, unbound";
    case PrefillFact::rejected:
      return "rejected";
    case PrefillFact::destination_known:
      return "destination known";
    case PrefillFact::retired_unsent:
      return "retired unsent";
    case PrefillFact::scheduled:
      return "scheduled";
    case PrefillFact::last_chunk_done:
      return "last chunk done";
    case PrefillFact::last_chunk_done_held:
      return "last chunk done, held";
    case PrefillFact::result_retired:
      return "result retired";
    case PrefillFact::no_handoff:
      return "no handoff";
    case PrefillFact::sent:
      return "sent";
    case PrefillFact::pulled:
      return "pulled";
    case PrefillFact::lease_expired:
      return "lease expired";
    case PrefillFact::failed:
      return "failed";
    case PrefillFact::timed_out:
      return "timed out";
    case PrefillFact::aborted:
      return "aborted";
    case PrefillFact::killed:
      return "killed";
    case PrefillFact::count_:
      break;
  }
  return "?";
}

const char* name(PrefillAction a) {
  switch (a) {
    case PrefillAction::enqueue_bootstrap:
      return "enqueue bootstrap";
    case PrefillAction::arm_bootstrap_timer:
      return "arm bootstrap timer";
    case PrefillAction::enqueue_waiting:
      return "enqueue waiting";
    case PrefillAction::take_aux:
      return "take aux slot";
    case PrefillAction::notify_failed:
      return "notify failed";
    case PrefillAction::send_pages:
      return "send pages";
    case PrefillAction::cache_prefix:
      return "cache prefix";
    case PrefillAction::release_pages:
      return "release pages";
    case PrefillAction::release_aux:
      return "release aux slot";
    case PrefillAction::drop_room:
      return "drop room";
    case PrefillAction::count_:
      break;
  }
  return "?";
}

const char* name(DecodeState s) {
  switch (s) {
    case DecodeState::none:
      return "none";
    case DecodeState::prealloc:
      return "prealloc";
    case DecodeState::transfer:
      return "transfer";
    case DecodeState::waiting:
      return "waiting";
    case DecodeState::running:
      return "running";
    case DecodeState::retracted:
      return "retracted";
    case DecodeState::draining:
      return "draining";
    case DecodeState::done:
      return "done";
    case DecodeState::count_:
      break;
  }
  return "?";
}

const char* name(DecodeFact f) {
  switch (f) {
    case DecodeFact::submitted:
      return "submitted";
    case DecodeFact::rejected:
      return "rejected";
    case DecodeFact::allocated:
      return "allocated";
    case DecodeFact::committed:
      return "committed";
    case DecodeFact::refused:
      return "refused";
    case DecodeFact::merged:
      return "merged";
    case DecodeFact::finished:
      return "finished";
    case DecodeFact::retracted:
      return "retracted";
    case DecodeFact::resumed:
      return "resumed";
    case DecodeFact::failed:
      return "failed";
    case DecodeFact::timed_out:
      return "timed out";
    case DecodeFact::aborted:
      return "aborted";
    case DecodeFact::must_drain:
      return "must drain";
    case DecodeFact::drained:
      return "drained";
    case DecodeFact::killed:
      return "killed";
    case DecodeFact::count_:
      break;
  }
  return "?";
}

const char* name(DecodeAction a) {
  switch (a) {
    case DecodeAction::enqueue_prealloc:
      return "enqueue prealloc";
    case DecodeAction::publish_metadata:
      return "publish metadata";
    case DecodeAction::arm_waiting_timer:
      return "arm waiting timer";
    case DecodeAction::release_aux:
      return "release aux slot";
    case DecodeAction::clear_room:
      return "clear room";
    case DecodeAction::start_reading:
      return "start reading";
    case DecodeAction::back_up:
      return "back up";
    case DecodeAction::release_pages:
      return "release pages";
    case DecodeAction::send_abort:
      return "send abort";
    case DecodeAction::count_:
      break;
  }
  return "?";
}

namespace {

constexpr auto kPrefill = [] {
  using S = PrefillState;
  using F = PrefillFact;
  using A = PrefillAction;
  using X = PrefillActions;
  constexpr X kEnd{A::release_pages, A::release_aux, A::drop_room};
  return TransitionTable<S, F, A, 31>(
      "prefill leg",
      {{
          {S::none, F::submitted, S::bootstrap, X(A::enqueue_bootstrap, A::arm_bootstrap_timer)},
          {S::none, F::submitted_unbound, S::waiting, X(A::enqueue_waiting)},
          {S::none, F::rejected, S::done, X()},
          {S::none, F::aborted, S::done, X()},
          {S::none, F::killed, S::done, X()},
          {S::bootstrap, F::destination_known, S::waiting, X(A::take_aux, A::enqueue_waiting)},
          {S::bootstrap, F::retired_unsent, S::done, X(A::notify_failed, A::drop_room)},
          {S::bootstrap, F::failed, S::done, X(A::drop_room)},
          {S::bootstrap, F::timed_out, S::done, X(A::drop_room)},
          {S::bootstrap, F::aborted, S::done, X(A::drop_room)},
          {S::bootstrap, F::killed, S::done, X()},
          {S::waiting, F::scheduled, S::running, X()},
          {S::waiting, F::failed, S::done, X(A::release_aux, A::drop_room)},
          {S::waiting, F::aborted, S::done, X(A::release_aux, A::drop_room)},
          {S::waiting, F::killed, S::done, X()},
          {S::running, F::last_chunk_done, S::inflight, X(A::cache_prefix, A::send_pages)},
          {S::running, F::last_chunk_done_held, S::held, X(A::cache_prefix)},
          {S::running, F::result_retired, S::done, kEnd},
          {S::running, F::no_handoff, S::done, X(A::cache_prefix, A::release_pages)},
          {S::running, F::failed, S::done, kEnd},
          {S::running, F::aborted, S::done, kEnd},
          {S::running, F::killed, S::done, X()},
          {S::inflight, F::sent, S::done, kEnd},
          {S::inflight, F::failed, S::done, kEnd},
          {S::inflight, F::aborted, S::done, kEnd},
          {S::inflight, F::killed, S::done, X()},
          {S::held, F::pulled, S::done, X(A::release_pages)},
          {S::held, F::lease_expired, S::done, X(A::release_pages)},
          {S::held, F::failed, S::done, X(A::release_pages)},
          {S::held, F::aborted, S::done, X(A::release_pages)},
          {S::held, F::killed, S::done, X()},
      }});
}();

constexpr auto kDecode = [] {
  using S = DecodeState;
  using F = DecodeFact;
  using A = DecodeAction;
  using X = DecodeActions;
  constexpr X kEndTransfer{A::release_aux, A::clear_room, A::release_pages, A::send_abort};
  constexpr X kDrain{A::release_aux, A::clear_room, A::send_abort};
  return TransitionTable<S, F, A, 36>(
      "decode leg",
      {{
          {S::none, F::submitted, S::prealloc, X(A::enqueue_prealloc)},
          {S::none, F::rejected, S::done, X()},
          {S::none, F::aborted, S::done, X()},
          {S::none, F::killed, S::done, X()},
          {S::prealloc, F::allocated, S::transfer, X(A::publish_metadata, A::arm_waiting_timer)},
          {S::prealloc, F::failed, S::done, X(A::clear_room)},
          {S::prealloc, F::timed_out, S::done, X(A::clear_room, A::send_abort)},
          {S::prealloc, F::aborted, S::done, X(A::clear_room, A::send_abort)},
          {S::prealloc, F::killed, S::done, X()},
          {S::transfer, F::committed, S::waiting, X(A::release_aux, A::clear_room)},
          {S::transfer, F::refused, S::done, X(A::release_aux, A::clear_room, A::release_pages)},
          {S::transfer, F::failed, S::done, X(A::release_aux, A::clear_room, A::release_pages)},
          {S::transfer, F::timed_out, S::done, kEndTransfer},
          {S::transfer, F::aborted, S::done, kEndTransfer},
          {S::transfer, F::must_drain, S::draining, kDrain},
          {S::transfer, F::killed, S::done, X()},
          {S::draining, F::drained, S::done, X(A::release_pages)},
          {S::draining, F::aborted, S::draining, X()},
          {S::draining, F::killed, S::done, X()},
          {S::waiting, F::merged, S::running, X(A::start_reading)},
          {S::waiting, F::finished, S::done, X(A::release_pages)},
          {S::waiting, F::refused, S::done, X(A::release_pages)},
          {S::waiting, F::aborted, S::done, X(A::release_pages)},
          {S::waiting, F::failed, S::done, X(A::release_pages)},
          {S::waiting, F::killed, S::done, X()},
          {S::running, F::finished, S::done, X(A::release_pages)},
          {S::running, F::retracted, S::retracted, X(A::back_up, A::release_pages)},
          {S::running, F::aborted, S::done, X(A::release_pages)},
          {S::running, F::failed, S::done, X(A::release_pages)},
          {S::running, F::killed, S::done, X()},
          {S::retracted, F::resumed, S::waiting, X()},
          {S::retracted, F::aborted, S::done, X()},
          {S::retracted, F::failed, S::done, X()},
          {S::retracted, F::killed, S::done, X()},
          {S::done, F::aborted, S::done, X()},
          {S::done, F::drained, S::done, X()},
      }});
}();

}  // namespace

const PrefillRow* find(PrefillState state, PrefillFact fact) { return kPrefill.find(state, fact); }
const DecodeRow* find(DecodeState state, DecodeFact fact) { return kDecode.find(state, fact); }

std::size_t row_number(const PrefillRow& row) {
  return static_cast<std::size_t>(&row - kPrefill.rows().data());
}

std::size_t row_number(const DecodeRow& row) {
  return kPrefill.rows().size() + static_cast<std::size_t>(&row - kDecode.rows().data());
}

std::vector<std::string> handoff_rows() {
  std::vector<std::string> rows;
  for (const PrefillRow& r : kPrefill.rows())
    rows.push_back(std::string("prefill: ") + name(r.state) + ", " + name(r.fact));
  for (const DecodeRow& r : kDecode.rows())
    rows.push_back(std::string("decode: ") + name(r.state) + ", " + name(r.fact));
  return rows;
}

std::string handoff_tables_markdown() {
  return "### Prefill leg\n\n" + kPrefill.markdown() + "\n### Decode leg\n\n" + kDecode.markdown();
}

std::string handoff_tables_dot() { return kPrefill.dot() + kDecode.dot(); }

void RoomBook::update(std::uint64_t room, std::uint32_t rank, KvPoll status, bool recreate) {
  auto it = rooms_.find(room);
  if (it == rooms_.end()) {
    if (status == KvPoll::failed || !recreate) return;
    it = rooms_.emplace(room, RoomStatus{std::vector<KvPoll>(ranks_, KvPoll::bootstrapping), 0, 0})
             .first;
  }
  KvPoll& mine = it->second.ranks[rank];
  mine =
      status == KvPoll::failed || mine == KvPoll::failed ? KvPoll::failed : std::max(mine, status);
}

void RoomBook::update_all(std::uint64_t room, KvPoll status, bool recreate) {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) update(room, rank, status, recreate);
}

void RoomBook::fail(std::uint64_t room, std::int32_t code) {
  RoomStatus* entry = find(room);
  if (entry == nullptr) return;
  for (KvPoll& s : entry->ranks) s = KvPoll::failed;
  if (entry->code == 0) entry->code = code;
}

RoomStatus* RoomBook::find(std::uint64_t room) {
  const auto it = rooms_.find(room);
  return it == rooms_.end() ? nullptr : &it->second;
}

KvPoll RoomBook::reduced(std::uint64_t room) const {
  const auto it = rooms_.find(room);
  if (it == rooms_.end()) return KvPoll::failed;
  return *std::min_element(it->second.ranks.begin(), it->second.ranks.end());
}

}  // namespace handoff

#include "models/serving/events.hpp"

namespace handoff {

const char* name(EventKind kind) {
  switch (kind) {
    case EventKind::fault_begin:
      return "fault";
    case EventKind::operation:
      return "operation";
    case EventKind::prefill_step_done:
      return "prefill step done";
    case EventKind::decode_wake:
      return "decode wake";
    case EventKind::network_wake:
      return "network wake";
    case EventKind::data_visible:
      return "data visible";
    case EventKind::operation_start:
      return "operation start";
    case EventKind::prefill_submit:
      return "prefill submit";
    case EventKind::decode_submit:
      return "decode submit";
    case EventKind::metadata:
      return "metadata";
    case EventKind::notice:
      return "notice";
    case EventKind::abort_prefill:
      return "abort to prefill";
    case EventKind::abort_decode:
      return "abort to decode";
    case EventKind::abort_ack:
      return "abort ack";
    case EventKind::peer_lost:
      return "peer lost";
    case EventKind::bootstrap_timer:
      return "bootstrap timer";
    case EventKind::waiting_timer:
      return "waiting timer";
    case EventKind::release_timer:
      return "release timer";
    case EventKind::client_abort:
      return "client abort";
    case EventKind::arrival:
      return "arrival";
    case EventKind::prefill_schedule:
      return "prefill schedule";
    case EventKind::decode_schedule:
      return "decode schedule";
    case EventKind::lease_timer:
      return "lease timer";
    case EventKind::pull_done:
      return "pull done";
    case EventKind::count_:
      break;
  }
  return "?";
}

Phase phase_of(EventKind kind) {
  switch (kind) {
    case EventKind::fault_begin:
    case EventKind::operation:
      return Phase::fault;
    case EventKind::prefill_step_done:
    case EventKind::decode_wake:
      return Phase::step_done;
    case EventKind::network_wake:
    case EventKind::operation_start:
    case EventKind::data_visible:
      return Phase::transfer;
    case EventKind::prefill_submit:
    case EventKind::decode_submit:
    case EventKind::metadata:
    case EventKind::notice:
    case EventKind::abort_prefill:
    case EventKind::abort_decode:
    case EventKind::abort_ack:
    case EventKind::peer_lost:
    case EventKind::pull_done:
      return Phase::message;
    case EventKind::bootstrap_timer:
    case EventKind::waiting_timer:
    case EventKind::release_timer:
    case EventKind::lease_timer:
      return Phase::timer;
    case EventKind::client_abort:
    case EventKind::arrival:
      return Phase::arrival;
    case EventKind::prefill_schedule:
    case EventKind::decode_schedule:
    case EventKind::count_:
      break;
  }
  return Phase::schedule;
}

}  // namespace handoff

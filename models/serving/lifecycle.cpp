// Requests from arrival to retirement.
#include <fmt/format.h>

#include <algorithm>

#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"
#include "sim/engine/check.hpp"

namespace handoff {

const char* name(Cause cause) {
  switch (cause) {
    case Cause::finished:
      return "finished";
    case Cause::rejected_router:
      return "rejected by router";
    case Cause::rejected_context:
      return "longer than the context window";
    case Cause::rejected_prefill:
      return "longer than prefill's limit";
    case Cause::rejected_decode:
      return "longer than decode's limit";
    case Cause::prefill_failed:
      return "prefill failed";
    case Cause::bootstrap_timeout:
      return "bootstrap timeout";
    case Cause::waiting_timeout:
      return "waiting timeout";
    case Cause::length_mismatch:
      return "length mismatch";
    case Cause::checksum_mismatch:
      return "checksum mismatch";
    case Cause::room_mismatch:
      return "room mismatch";
    case Cause::rank_mismatch:
      return "rank mismatch";
    case Cause::node_down:
      return "node down";
    case Cause::client_abort:
      return "client abort";
    case Cause::offline:
      return "offline";
    case Cause::lease_expired:
      return "lease expired";
    case Cause::pool_exhausted:
      return "pool exhausted";
  }
  return "?";
}

namespace {

std::uint32_t take_slot(World& world) {
  if (!world.requests_free.empty()) {
    const std::uint32_t slot = world.requests_free.back();
    world.requests_free.pop_back();
    return slot;
  }
  world.requests.emplace_back();
  return static_cast<std::uint32_t>(world.requests.size() - 1);
}

bool room_in_use(const World& world, std::uint64_t room) {
  return std::any_of(world.requests.begin(), world.requests.end(),
                     [room](const Request& r) { return r.live && r.room == room; });
}

// Rooms are 63-bit random numbers, drawn by the router. A small room space is walked to the next
// free one.
std::uint64_t draw_room(const World& world, const Deployment& d, RequestSerial serial) {
  Rng rng(world.config->seed, "room", serial);
  const std::uint64_t space = d.engine.room_space;
  if (space == 0) return (rng.next() >> 1) + 1;
  const std::uint64_t first = rng.below(space);
  for (std::uint64_t i = 0; i < space; ++i) {
    const std::uint64_t room = (first + i) % space + 1;
    if (!room_in_use(world, room)) return room;
  }
  return (rng.next() >> 1) + space + 1;
}

}  // namespace

std::uint32_t create_request(const Context& c, RequestSpec spec) {
  World& world = c.world;
  const std::uint32_t slot = take_slot(world);
  Deployment& d = world.deployments[spec.deployment];
  const RequestSerial serial = world.next_serial++;
  const std::uint64_t room = draw_room(world, d, serial);
  Request& r = world.requests[slot];
  r = Request{};
  r.live = true;
  r.serial = serial;
  r.room = room;
  r.tip = prompt_node(d.trie, spec.blocks, spec.block_tokens, spec.prompt_tokens);
  r.output = d.trie.extend_unique(r.tip, std::max<std::int64_t>(spec.output_tokens, 1));
  d.trie.acquire(r.output);
  r.path = ContentPath(d.trie, r.output);
  r.spec = std::move(spec);
  trace_prompt(c, r);
  r.spec.blocks.clear();
  r.spec.blocks.shrink_to_fit();
  RequestOutcome& o = r.outcome;
  o.serial = serial;
  o.deployment = r.spec.deployment;
  o.workload = r.spec.workload;
  o.row = r.spec.row;
  o.tenant = r.spec.tenant;
  o.injected = r.spec.injected;
  o.arrival_ns = c.now();
  o.prompt_tokens = r.spec.prompt_tokens;
  o.output_tokens = r.spec.output_tokens;
  ++world.outstanding;
  ++d.totals.requests;
  d.totals.prompt_tokens += r.spec.prompt_tokens;
  if (r.spec.injected) {
    const std::size_t fault = r.spec.workload - world.config->workloads.size();
    record_firing(c, fault, &r, fmt::format("a prompt of {} tokens arrives", r.spec.prompt_tokens));
  }
  c.note(r, Step::arrived, d.router_component, r.spec.prompt_tokens, r.spec.output_tokens);
  return slot;
}

void record_cause(Request& r, std::int32_t status, Cause cause) {
  if (r.first_cause_status != 0) return;
  r.first_cause_status = status;
  r.first_cause = cause;
}

void answer(const Context& c, Request& r, std::int32_t status, Cause cause) {
  if (r.answered) return;
  Deployment& d = c.deployment(r);
  // What it has received so far counts up to this instant.
  if (r.decode.state == DecodeState::running) catch_up_decode(c, d, d.decode[r.decode.node]);
  if (status != 200) {
    record_cause(r, status, cause);
    if (d.engine.bugs.failure_reported_as_success && status >= 500) status = 200;
  }
  r.answered = true;
  RequestOutcome& o = r.outcome;
  o.status = status;
  o.cause = cause;
  o.first_cause = r.first_cause;
  o.end_ns = c.now() + (status == 499 ? 0 : d.engine.control_latency_ns);
  o.corrupt = o.corrupt && !o.tainted;
  d.totals.output_tokens += o.output_tokens_done;
  c.note(r, Step::answered, d.router_component, status);
  trace_answer(c, r, status);
  judge_answer(c, r);
  --c.world.outstanding;
  ++c.world.completed;
  c.world.outcomes.push_back(o);
}

namespace {

void uncount(Deployment& d, Request& r, bool prefill) {
  if (prefill && r.prefill.counted) {
    d.prefill[r.prefill.node].queued_tokens -= r.spec.prompt_tokens;
    r.prefill.counted = false;
  }
  if (!prefill && r.decode.counted) {
    d.decode[r.decode.node].queued_tokens -= r.spec.prompt_tokens + r.spec.output_tokens;
    r.decode.counted = false;
  }
}

}  // namespace

void retire_if_done(const Context& c, Request& r) {
  const bool prefill_done =
      r.prefill.state == PrefillState::none || r.prefill.state == PrefillState::done;
  const bool decode_done =
      r.decode.state == DecodeState::none || r.decode.state == DecodeState::done;
  if (!r.live || !r.answered || !prefill_done || !decode_done || r.prefill.draining ||
      r.prefill.flowing > 0)
    return;
  Deployment& d = c.deployment(r);
  if (pulls(d)) d.prefill[r.prefill.node].rooms.clear(r.room);
  uncount(d, r, true);
  uncount(d, r, false);
  c.world.oracles.coverage.forget(r.serial);
  if (r.decode.decode_record.valid()) d.log.release(r.decode.decode_record);
  if (r.prefill.tip.valid()) d.trie.release(r.prefill.tip);
  d.trie.release(r.output);
  const std::uint32_t slot = c.slot_of(r);
  r = Request{};
  c.world.requests_free.push_back(slot);
}

PrefillActions advance(const Context& c, Request& r, PrefillFact fact) {
  const PrefillRow* row = find(r.prefill.state, fact);
  if (row == nullptr) {
    const Deployment& d = c.deployment(r);
    judge_unlisted(c, r, d.prefill[r.prefill.node].component,
                   fmt::format("prefill leg of request {}: '{}' in state {}", r.serial, name(fact),
                               name(r.prefill.state)));
    return {};
  }
  ++c.world.transitions[row_number(*row)];
  r.prefill.state = row->next;
  if (row->next == PrefillState::done) uncount(c.deployment(r), r, true);
  return row->actions;
}

DecodeActions advance(const Context& c, Request& r, DecodeFact fact) {
  const DecodeRow* row = find(r.decode.state, fact);
  if (row == nullptr) {
    const Deployment& d = c.deployment(r);
    judge_unlisted(c, r, d.decode[r.decode.node].component,
                   fmt::format("decode leg of request {}: '{}' in state {}", r.serial, name(fact),
                               name(r.decode.state)));
    return {};
  }
  ++c.world.transitions[row_number(*row)];
  r.decode.state = row->next;
  if (row->next == DecodeState::done) uncount(c.deployment(r), r, false);
  return row->actions;
}

void record_firing(const Context& c, std::size_t fault, Request* r, std::string what) {
  const auto index = static_cast<std::uint32_t>(fault);
  if (r != nullptr) r->fault = static_cast<std::int32_t>(index);
  ++c.world.firings_total;
  if (c.world.firings.size() < kFiringsMax)
    c.world.firings.push_back(
        {index, c.now(), c.event(), r != nullptr ? r->serial : kNoSerial, std::move(what)});
}

std::size_t fault_index(const World& world, const void* fault) {
  const auto& faults = world.config->faults;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const bool same = std::visit(
        [fault](const auto& f) { return static_cast<const void*>(&f) == fault; }, faults[i].what);
    if (same) return i;
  }
  check_failed("fault", "a fault that is not of this run", __FILE__, __LINE__);
}

}  // namespace handoff

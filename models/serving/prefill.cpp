// The prefill node: admission, bootstrap, waiting, chunked and overlapped prefill, inflight
// (sglang disaggregation/prefill.py).
#include <algorithm>
#include <limits>
#include <utility>

#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// Label of the placeholder's single token: its content is the same for every request.
constexpr std::uint64_t kPlaceholderLabel = 0x706C616365ULL;

void remove(std::vector<std::uint32_t>& queue, std::uint32_t slot) { std::erase(queue, slot); }

void view_own_prompt(Deployment& d, Request& r) {
  r.prefill.tokens = r.spec.prompt_tokens;
  r.prefill.tip = r.tip;
  d.trie.acquire(r.prefill.tip);
  r.prefill.path = r.path;
}

void view_placeholder(Deployment& d, Request& r) {
  r.prefill.tokens = 1;
  r.prefill.tip = d.trie.extend(ContentTrie::kRoot, kPlaceholderLabel, 1);
  d.trie.acquire(r.prefill.tip);
  r.prefill.path = ContentPath(d.trie, r.prefill.tip);
}

// Answered before any queue. A tombstone makes sure that metadata which comes later is answered
// too.
void reject(const Context& c, Deployment& d, PrefillNode& n, Request& r, std::int64_t limit) {
  c.note(r, Step::rejected_by_prefill, n.component, limit, r.spec.prompt_tokens);
  record_cause(r, 400, Cause::rejected_prefill);
  advance(c, r, PrefillFact::rejected);
  if (d.decode.empty() || pulls(d)) {
    answer(c, r, 400, Cause::rejected_prefill);
  } else if (d.engine.abort_notice == AbortNotice::tombstone) {
    const auto known = n.destinations.find(r.room);
    if (known == n.destinations.end()) {
      n.tombstones.emplace(r.room, 400);
    } else {
      send_failure_notice(c, d, n, r.room, known->second, &r, 400);
      n.destinations.erase(known);
      n.rooms.clear(r.room);
    }
  }
  on_leg_error(c, r, true);
  retire_if_done(c, r);
}

void release_aux(PrefillNode& n, Request& r) {
  if (!r.prefill.has_aux) return;
  r.prefill.has_aux = false;
  ++n.aux_free;
}

void drop_room(PrefillNode& n, const Request& r) {
  n.rooms.clear(r.room);
  n.destinations.erase(r.room);
}

// --- queues
// ------------------------------------------------------------------------------------------

// A request whose error is pending and that never runs: it has learnt where to, and retires.
void retire_unsent(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  const PrefillActions actions = advance(c, r, PrefillFact::retired_unsent);
  if (actions.has(PrefillAction::notify_failed) && d.engine.abort_notice != AbortNotice::none)
    send_failure_notice(c, d, n, r.room, n.destinations.at(r.room), &r, r.prefill.pending_abort);
  finish_prefill_leg(c, d, n, r, actions);
}

void poll_bootstrap(const Context& c, Deployment& d, PrefillNode& n) {
  const auto queue = std::exchange(n.bootstrap, {});
  for (const std::uint32_t slot : queue) {
    Request& r = c.world.requests[slot];
    const KvPoll status = n.rooms.reduced(r.room);
    if (status == KvPoll::failed) {
      record_cause(r, 500, Cause::prefill_failed);
      finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::failed));
      continue;
    }
    if (status == KvPoll::bootstrapping) {
      n.bootstrap.push_back(slot);
      continue;
    }
    const bool never_runs = r.prefill.pending_abort != 0 &&
                            d.engine.pending_abort == PendingAbort::wait_for_destination;
    if (never_runs) {
      retire_unsent(c, d, n, r);
      continue;
    }
    if (n.aux_free == 0) {
      n.bootstrap.push_back(slot);
      continue;
    }
    advance(c, r, PrefillFact::destination_known);
    --n.aux_free;
    r.prefill.has_aux = true;
    const auto& pages = n.destinations.at(r.room).pages;
    c.note(r, Step::destination_known, n.component,
           pages.empty() ? 0 : static_cast<std::int64_t>(pages[0].size()),
           div_ceil(r.prefill.tokens, d.engine.page_tokens));
    n.waiting.push_back(slot);
  }
}

void poll_waiting(const Context& c, Deployment& d, PrefillNode& n) {
  if (d.decode.empty() || pulls(d)) return;
  const auto queue = std::exchange(n.waiting, {});
  for (const std::uint32_t slot : queue) {
    Request& r = c.world.requests[slot];
    if (n.rooms.reduced(r.room) != KvPoll::failed) {
      n.waiting.push_back(slot);
      continue;
    }
    record_cause(r, 500, Cause::prefill_failed);
    finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::failed));
  }
}

void poll_inflight(const Context& c, Deployment& d, PrefillNode& n) {
  const auto queue = std::exchange(n.inflight, {});
  for (const std::uint32_t slot : queue) {
    Request& r = c.world.requests[slot];
    const KvPoll status = n.rooms.reduced(r.room);
    if (status == KvPoll::success) {
      if (r.prefill.pending_abort != 0 &&
          d.engine.pending_abort_on_success == PendingAbortOnSuccess::abort_wins)
        on_leg_error(c, r, true);
      finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::sent));
    } else if (status == KvPoll::failed) {
      record_cause(r, 500, Cause::prefill_failed);
      finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::failed));
    } else {
      n.inflight.push_back(slot);
    }
  }
}

// --- batches
// -----------------------------------------------------------------------------------------

// Matches the prefix cache and reserves pages for the whole rest of the prompt.
bool reserve(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  PrefillLeg& leg = r.prefill;
  PageLists pages(n.memory.groups.size());
  PrefixCache::Match match;
  if (n.memory.caching) {
    // A bug may take a prefix of equal length for an equal prefix: it looks up somebody else's
    // path.
    const ContentNode tip = d.engine.bugs.cache_ignores_content && n.last_cached_tip.valid()
                                ? n.last_cached_tip
                                : leg.tip;
    const std::int64_t most = std::min(leg.tokens, d.trie.end(tip)) - 1;
    match = n.memory.cache.match(d.trie, tip, most, pages);
    if (match.handle.valid()) n.memory.cache.lock(match.handle);
  }
  std::vector<std::uint32_t> counts = n.memory.pages_for(leg.tokens);
  for (std::size_t g = 0; g < counts.size(); ++g)
    counts[g] -= static_cast<std::uint32_t>(pages[g].size());
  const bool reserved = n.memory.allocate(access(c, d, n.component), actor(r), counts,
                                          d.engine.zero_on_allocate, pages);
  judge_release(c, r, n.component, n.memory.eviction);
  if (!reserved) {
    if (match.handle.valid()) n.memory.cache.unlock(match.handle);
    return false;
  }
  leg.pages = std::move(pages);
  leg.cache_handle = match.handle;
  leg.cached = leg.computed = match.tokens;
  leg.own_from = leg.own_to = 0;
  leg.tail_from = match.tokens;
  r.outcome.cached_tokens = match.tokens;
  d.totals.cached_tokens += match.tokens;
  return true;
}

void add_work(const Context& c, PrefillNode& n, Request& r, std::int64_t tokens) {
  n.batch.push_back({c.slot_of(r), r.serial, tokens, r.prefill.computed});
}

// First in first out; the first request that does not fit ends the batch (sglang PrefillAdder).
void form_batch(const Context& c, Deployment& d, PrefillNode& n) {
  std::int64_t budget = d.engine.chunk_tokens;
  if (n.running_chunk >= 0) {
    Request& r = c.world.requests[static_cast<std::size_t>(n.running_chunk)];
    const std::int64_t tokens = std::min(budget, r.prefill.tokens - r.prefill.computed);
    add_work(c, n, r, tokens);
    budget -= tokens;
  }
  std::size_t taken = 0;
  while (taken < n.waiting.size() && n.running_chunk < 0 && budget > 0 &&
         static_cast<std::int64_t>(n.batch.size()) < d.engine.prefill_requests_max) {
    Request& r = c.world.requests[n.waiting[taken]];
    if (!reserve(c, d, n, r)) break;
    ++taken;
    advance(c, r, PrefillFact::scheduled);
    if (r.prefill.cached > 0) {
      const ReadPlace place{n.component, &n.memory, &r.prefill.path, &r.prefill.pages};
      r.prefill.tainted = judge_read(c, r, place, 0, r.prefill.cached);
    }
    std::int64_t tokens = r.prefill.tokens - r.prefill.computed;
    if (tokens > budget) {
      // A chunk ends on a page boundary, so that its pages can be sent whole.
      tokens = std::max<std::int64_t>(budget / d.engine.page_tokens, 1) * d.engine.page_tokens;
      n.running_chunk = c.slot_of(r);
    }
    tokens = std::min(tokens, r.prefill.tokens - r.prefill.computed);
    add_work(c, n, r, tokens);
    budget -= tokens;
  }
  n.waiting.erase(n.waiting.begin(), n.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
}

void note_pool_use(PrefillNode& n) {
  if (n.memory.groups.empty()) return;
  const PagePool& pool = n.memory.groups[0].pool;
  const std::int64_t cached =
      n.memory.caching ? n.memory.cache.evictable_tokens() / pool.page_tokens() : 0;
  const auto used = static_cast<std::uint32_t>(pool.pages() - pool.free_pages() - cached);
  n.totals.pages_used_max = std::max(n.totals.pages_used_max, used);
}

// --- results
// -----------------------------------------------------------------------------------------

void cache_prefix(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  if (!n.memory.caching) return;
  PrefillLeg& leg = r.prefill;
  const auto inserted = n.memory.cache.insert(d.trie, leg.tip, leg.tokens, leg.pages);
  if (!inserted.handle.valid()) return;
  n.memory.cache.lock(inserted.handle);
  if (leg.cache_handle.valid()) n.memory.cache.unlock(leg.cache_handle);
  leg.cache_handle = inserted.handle;
  leg.own_from = leg.cached;
  leg.own_to = std::max(leg.cached, inserted.already);
  leg.tail_from = inserted.tokens;
  if (!n.last_cached_tip.valid() || n.last_cached_tip != leg.tip) {
    if (n.last_cached_tip.valid()) d.trie.release(n.last_cached_tip);
    n.last_cached_tip = leg.tip;
    d.trie.acquire(leg.tip);
  }
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g) {
    GroupMemory& group = n.memory.groups[g];
    const std::int64_t size = group.pool.page_tokens();
    for (std::int64_t t = leg.own_to; t < leg.tail_from; t += size) {
      const PageIndex page = leg.pages[g][static_cast<std::size_t>(t / size)];
      group.pool.set_owner(page, kNoSerial);
      group.book.adopted(page);
    }
    const auto from = static_cast<std::size_t>(leg.own_to / size);
    const auto end = static_cast<std::size_t>(std::max(leg.own_to, leg.tail_from) / size);
    trace_group(c, PageOp::adopt, d, n.component, r.serial, g,
                std::span<const PageIndex>(leg.pages[g]).subspan(from, end - from));
  }
}

void last_chunk(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  PrefillLeg& leg = r.prefill;
  c.note(r, Step::prefilled, n.component, leg.tokens - leg.cached, leg.cached);
  const bool retire = leg.pending_abort != 0 && d.engine.pending_abort != PendingAbort::ignored;
  if (retire && !d.decode.empty()) {
    c.note(r, Step::result_retired, n.component);
    if (d.engine.abort_notice != AbortNotice::none)
      send_failure_notice(c, d, n, r.room, n.destinations.at(r.room), &r, leg.pending_abort);
    on_leg_error(c, r, true);
    finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::result_retired));
    return;
  }
  if (d.decode.empty()) {
    cache_prefix(c, d, n, r);
    r.outcome.first_token_ns = c.now() + d.engine.control_latency_ns;
    if (leg.pending_abort != 0)
      answer(c, r, leg.pending_abort, Cause::rejected_prefill);
    else
      answer(c, r, 200, Cause::finished);
    finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::no_handoff));
    return;
  }
  if (pulls(d)) {
    if (advance(c, r, PrefillFact::last_chunk_done_held).has(PrefillAction::cache_prefix))
      cache_prefix(c, d, n, r);
    return hold(c, d, n, r);
  }
  const PrefillActions actions = advance(c, r, PrefillFact::last_chunk_done);
  if (actions.has(PrefillAction::cache_prefix)) cache_prefix(c, d, n, r);
  if (actions.has(PrefillAction::send_pages)) post_chunk(c, d, n, r, leg.posted, leg.tokens, true);
  n.inflight.push_back(c.slot_of(r));
  if (d.engine.bugs.free_source_before_sent) release_prefill_pages(c, d, n, r);
}

void chunk_done(const Context& c, Deployment& d, PrefillNode& n, const PrefillNode::Work& work,
                RecordId& record) {
  Request* found = c.request(work.request, work.serial);
  if (found == nullptr || found->prefill.state != PrefillState::running) return;
  Request& r = *found;
  PrefillLeg& leg = r.prefill;
  record = d.log.add({RecordKind::prefill_write, static_cast<std::uint16_t>(n.component),
                      r.spec.tenant, r.serial, c.now(), c.event(), RecordId{}});
  d.log.acquire(record);
  const std::int64_t from = leg.computed;
  leg.computed += work.tokens;
  n.memory.write(access(c, d, n.component), record, leg.path, leg.tainted, leg.pages, from,
                 leg.computed);
  d.log.release(record);
  n.totals.tokens += work.tokens;
  const bool last = leg.computed == leg.tokens;
  if (last && n.running_chunk == static_cast<std::int64_t>(work.request)) n.running_chunk = -1;
  if (leg.abort_requested) {
    if (n.running_chunk == static_cast<std::int64_t>(work.request)) n.running_chunk = -1;
    finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::aborted));
  } else if (!d.decode.empty() && !pulls(d) && n.rooms.reduced(r.room) == KvPoll::failed) {
    if (n.running_chunk == static_cast<std::int64_t>(work.request)) n.running_chunk = -1;
    record_cause(r, 500, Cause::prefill_failed);
    finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::failed));
  } else if (last) {
    last_chunk(c, d, n, r);
  } else if (!d.decode.empty() && !pulls(d)) {
    const std::int64_t end = leg.computed / d.engine.page_tokens * d.engine.page_tokens;
    if (d.engine.overlap_schedule)
      n.deferred.push_back({work.request, work.serial, end});
    else
      post_chunk(c, d, n, r, leg.posted, end, false);
  }
}

}  // namespace

void finish_prefill_leg(const Context& c, Deployment& d, PrefillNode& n, Request& r,
                        PrefillActions actions) {
  if (actions.has(PrefillAction::release_aux)) release_aux(n, r);
  if (actions.has(PrefillAction::release_pages)) {
    if (r.prefill.flowing > 0 && d.engine.abort_release == AbortRelease::when_drained)
      r.prefill.draining = true;
    else
      release_prefill_pages(c, d, n, r);
  }
  if (actions.has(PrefillAction::drop_room)) drop_room(n, r);
  wake_prefill(c, n);
  retire_if_done(c, r);
}

std::int64_t input_limit(const Deployment& d, const NodeMemory& memory) {
  // sglang model worker: max_req_len = min(context_len - 1, max_total_num_tokens - 1), and
  // max_req_input_len = max_req_len - 5; a prompt of that length or more is invalid.
  std::int64_t pool = std::numeric_limits<std::int64_t>::max();
  for (const GroupMemory& group : memory.groups)
    pool = std::min(pool, static_cast<std::int64_t>(group.pool.pages()) * group.pool.page_tokens());
  return std::min(d.config->context_window - 1, pool - 1) - 5;
}

void wake_prefill(const Context& c, PrefillNode& n) {
  if (!n.up || n.stepping || n.schedule_pending) return;
  n.schedule_pending = true;
  c.at(c.now(), EventKind::prefill_schedule, n.component, n.generation);
}

void on_prefill_submit(const Context& c, Request& r) {
  Deployment& d = c.deployment(r);
  PrefillNode& n = d.prefill[r.prefill.node];
  if (!n.up) {
    advance(c, r, PrefillFact::killed);
    answer(c, r, 503, Cause::node_down);
    return retire_if_done(c, r);
  }
  view_own_prompt(d, r);
  const std::int64_t limit = input_limit(d, n.memory);
  if (r.prefill.tokens >= limit) {
    // Decode does not know of it yet, so that there is nothing to keep it for.
    if (d.engine.rejected_prompt == RejectedPrompt::reject || pulls(d))
      return reject(c, d, n, r, limit);
    d.trie.release(r.prefill.tip);
    view_placeholder(d, r);
    r.prefill.pending_abort = 400;
    record_cause(r, 400, Cause::rejected_prefill);
    c.note(r, Step::placeholder_on_prefill, n.component, limit, r.spec.prompt_tokens);
    if (d.engine.pending_abort == PendingAbort::wait_for_destination && !d.decode.empty())
      c.note(r, Step::kept_for_notice, n.component);
  }
  if (d.decode.empty() || pulls(d)) {
    advance(c, r, PrefillFact::submitted_unbound);
    n.waiting.push_back(c.slot_of(r));
    return wake_prefill(c, n);
  }
  const PrefillActions actions = advance(c, r, PrefillFact::submitted);
  n.rooms.update_all(r.room, KvPoll::bootstrapping, true);
  n.bootstrap.push_back(c.slot_of(r));
  if (actions.has(PrefillAction::arm_bootstrap_timer) && d.engine.bootstrap_timeout_ns != kNever)
    c.at(c.now() + d.engine.bootstrap_timeout_ns, EventKind::bootstrap_timer, n.component,
         c.slot_of(r), r.serial);
  wake_prefill(c, n);
}

void on_metadata(const Context& c, Request& r) {
  Deployment& d = c.deployment(r);
  PrefillNode& n = d.prefill[r.prefill.node];
  if (!n.up) return;
  Destination to{c.slot_of(r), r.serial, r.decode.node, r.decode.pages, r.decode.aux_slot};
  const auto tombstone = n.tombstones.find(r.room);
  if (tombstone != n.tombstones.end()) {
    send_failure_notice(c, d, n, r.room, to, &r, tombstone->second);
    n.tombstones.erase(tombstone);
    return;
  }
  n.destinations.insert_or_assign(r.room, std::move(to));
  n.rooms.update_all(r.room, KvPoll::waiting_for_input, true);
  wake_prefill(c, n);
}

void on_bootstrap_timer(const Context& c, Request& r) {
  if (r.prefill.state != PrefillState::bootstrap) return;
  Deployment& d = c.deployment(r);
  PrefillNode& n = d.prefill[r.prefill.node];
  c.note(r, Step::timed_out, n.component);
  record_cause(r, 500, Cause::bootstrap_timeout);
  remove(n.bootstrap, c.slot_of(r));
  on_leg_error(c, r, true);
  finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::timed_out));
}

void on_abort_prefill(const Context& c, std::uint64_t slot, std::uint64_t serial,
                      std::uint64_t room, PrefillNode& n, bool from_decode) {
  if (!n.up) return;
  Request* r = c.request(slot, serial);
  if (r == nullptr) return;
  Deployment& d = c.deployment(*r);
  n.rooms.fail(room, 500);
  PrefillLeg& leg = r->prefill;
  if (leg.state == PrefillState::bootstrap) {
    remove(n.bootstrap, static_cast<std::uint32_t>(slot));
    finish_prefill_leg(c, d, n, *r, advance(c, *r, PrefillFact::aborted));
  } else if (leg.state == PrefillState::waiting) {
    remove(n.waiting, static_cast<std::uint32_t>(slot));
    finish_prefill_leg(c, d, n, *r, advance(c, *r, PrefillFact::aborted));
  } else if (leg.state == PrefillState::running) {
    leg.abort_requested = true;
  } else if (leg.state == PrefillState::held) {
    finish_prefill_leg(c, d, n, *r, advance(c, *r, PrefillFact::aborted));
  }
  wake_prefill(c, n);
  if (leg.state == PrefillState::done) drop_room(n, *r);
  // finish_leg may have recycled the slot.
  r = c.request(slot, serial);
  if (!from_decode || r == nullptr) return;
  if (leg.flowing > 0)
    leg.ack_pending = true;
  else
    c.at(c.now() + d.engine.control_latency_ns, EventKind::abort_ack,
         d.decode[r->decode.node].component, slot, serial);
}

void on_operation_ended(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  PrefillLeg& leg = r.prefill;
  HANDOFF_CHECK(leg.flowing > 0, "a transfer operation ended twice");
  if (--leg.flowing > 0) return;
  if (leg.ack_pending) {
    leg.ack_pending = false;
    c.at(c.now() + d.engine.control_latency_ns, EventKind::abort_ack,
         d.decode[r.decode.node].component, c.slot_of(r), r.serial);
  }
  if (leg.draining) {
    leg.draining = false;
    release_prefill_pages(c, d, n, r);
    wake_prefill(c, n);
  }
  retire_if_done(c, r);
}

void release_prefill_pages(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  PrefillLeg& leg = r.prefill;
  if (leg.pages_released || leg.pages.empty()) return;
  leg.pages_released = true;
  PageLists mine(leg.pages.size());
  for (std::size_t g = 0; g < mine.size(); ++g) {
    const std::int64_t size = n.memory.groups[g].pool.page_tokens();
    for (std::size_t i = 0; i < leg.pages[g].size(); ++i) {
      const std::int64_t t = static_cast<std::int64_t>(i) * size;
      if ((t >= leg.own_from && t < leg.own_to) || t >= leg.tail_from)
        mine[g].push_back(leg.pages[g][i]);
    }
  }
  const std::vector<std::size_t> first(mine.size(), 0);
  const ReleaseReport report = n.memory.release(access(c, d, n.component), actor(r), mine, first);
  if (leg.cache_handle.valid()) n.memory.cache.unlock(leg.cache_handle);
  leg.cache_handle = {};
  judge_release(c, r, n.component, report);
}

void schedule_prefill(const Context& c, Deployment& d, PrefillNode& n) {
  n.schedule_pending = false;
  if (!n.up || n.stepping) return;
  poll_inflight(c, d, n);
  poll_bootstrap(c, d, n);
  poll_waiting(c, d, n);
  n.schedule_pending = false;
  n.batch.clear();
  form_batch(c, d, n);
  note_pool_use(n);
  if (n.batch.empty()) return;
  std::vector<PrefillWork> works;
  works.reserve(n.batch.size());
  for (const PrefillNode::Work& w : n.batch) works.push_back({w.tokens, w.context});
  const TimeNs duration = d.prefill_cost.prefill_ns(works);
  n.stepping = true;
  ++n.totals.steps;
  n.totals.busy_ns += duration;
  c.at(c.now() + duration, EventKind::prefill_step_done, n.component, n.generation);
}

void on_prefill_step_done(const Context& c, Deployment& d, PrefillNode& n) {
  n.stepping = false;
  n.schedule_pending = true;  // the pass below stands for every wake-up until then
  const auto deferred = std::exchange(n.deferred, {});
  for (const PrefillNode::Deferred& chunk : deferred) {
    Request* r = c.request(chunk.request, chunk.serial);
    if (r != nullptr && r->prefill.state == PrefillState::running)
      post_chunk(c, d, n, *r, r->prefill.posted, chunk.end, false);
  }
  const auto batch = std::exchange(n.batch, {});
  RecordId record;
  for (const PrefillNode::Work& work : batch) chunk_done(c, d, n, work, record);
  c.at(c.now(), EventKind::prefill_schedule, n.component, n.generation);
}

}  // namespace handoff

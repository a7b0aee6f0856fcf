// The running batch of a decode node, advanced lazily: the node plans the steps until something can
// change (a request ends, a page may not fit, an attended length stops growing) and wakes then.
// When somebody touches it before, it catches up step by step inside that event.
// Stepping::every_token plans one step at a time and must give the same results.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "models/serving/decode_queues.hpp"
#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// Whether a request at `context` positions needs a new page of a group for its next token.
bool starts_page(const DecodeLeg& leg, std::size_t group, std::int64_t position,
                 std::int64_t size) {
  return position % size == 0 &&
         static_cast<std::int64_t>(leg.pages[group].size()) * size <= position;
}

// New pages of a group that the batch needs within the next `steps` steps.
std::int64_t pages_needed(const Context& c, const DecodeNode& n, std::size_t group,
                          std::int64_t steps) {
  const std::int64_t size = n.memory.groups[group].pool.page_tokens();
  std::int64_t pages = 0;
  for (const std::uint32_t slot : n.running) {
    const DecodeLeg& leg = c.world.requests[slot].decode;
    const auto have = static_cast<std::int64_t>(leg.pages[group].size());
    pages += std::max<std::int64_t>(div_ceil(leg.context + steps, size) - have, 0);
  }
  return pages;
}

bool pages_fit(const Context& c, const DecodeNode& n, std::int64_t steps) {
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g)
    if (pages_needed(c, n, g, steps) > n.memory.groups[g].pool.free_pages()) return false;
  return true;
}

// --- catching up
// -------------------------------------------------------------------------------------

// Pages are taken in the order in which stepping one token at a time would take them.
void take_pages(const Context& c, Deployment& d, DecodeNode& n, std::span<const TimeNs> starts) {
  const auto steps = static_cast<std::int64_t>(starts.size());
  std::vector<std::tuple<std::int64_t, std::size_t, std::size_t>>
      needs;  // step, batch index, group
  for (std::size_t i = 0; i < n.running.size(); ++i) {
    const DecodeLeg& leg = c.world.requests[n.running[i]].decode;
    for (std::size_t g = 0; g < n.memory.groups.size(); ++g) {
      const std::int64_t size = n.memory.groups[g].pool.page_tokens();
      for (std::int64_t s = (size - leg.context % size) % size; s < steps; s += size)
        if (starts_page(leg, g, leg.context + s, size)) needs.emplace_back(s, i, g);
    }
  }
  std::sort(needs.begin(), needs.end());
  for (const auto& [step, index, group] : needs) {
    Request& r = c.world.requests[n.running[index]];
    std::vector<std::uint32_t> counts(n.memory.groups.size(), 0);
    counts[group] = 1;
    MemoryAccess memory = access(c, d, n.component);
    memory.now = starts[static_cast<std::size_t>(step)];
    const bool taken =
        n.memory.allocate(memory, actor(r), counts, d.engine.zero_on_allocate, r.decode.pages);
    HANDOFF_CHECK(taken, "a planned decode step found no page");
  }
}

void write_tokens(const Context& c, Deployment& d, DecodeNode& n, TimeNs began,
                  std::int64_t steps) {
  for (const std::uint32_t slot : n.running) {
    Request& r = c.world.requests[slot];
    DecodeLeg& leg = r.decode;
    if (!leg.decode_record.valid()) {
      leg.decode_record =
          d.log.add({RecordKind::decode_write, static_cast<std::uint16_t>(n.component),
                     r.spec.tenant, r.serial, began, c.event(), RecordId{}});
      d.log.acquire(leg.decode_record);
    }
    n.memory.write(access(c, d, n.component), leg.decode_record, r.path, r.outcome.tainted,
                   leg.pages, leg.context, leg.context + steps);
    leg.context += steps;
    leg.generated += steps;
    r.outcome.output_tokens_done = leg.generated;
  }
}

void note_pages_used(DecodeNode& n) {
  if (n.memory.groups.empty()) return;
  const PagePool& pool = n.memory.groups[0].pool;
  n.totals.pages_used_max = std::max(n.totals.pages_used_max, pool.pages() - pool.free_pages());
}

void catch_up(const Context& c, Deployment& d, DecodeNode& n) {
  if (!n.stepping || n.step_end > c.now()) return;
  std::vector<TimeNs> starts;
  const auto batch = static_cast<std::int64_t>(n.running.size());
  while (n.steps_left > 0 && n.step_end <= c.now()) {
    starts.push_back(n.step_began);
    n.totals.busy_ns += n.step_end - n.step_began;
    --n.steps_left;
    n.context_sum += batch;
    n.attended_sum += n.growing;
    n.step_began = n.step_end;
    if (n.steps_left > 0)
      n.step_end += d.decode_cost.decode_ns(batch, n.context_sum, n.attended_sum);
  }
  take_pages(c, d, n, starts);
  note_pages_used(n);
  const auto steps = static_cast<std::int64_t>(starts.size());
  write_tokens(c, d, n, starts.front(), steps);
  n.totals.steps += static_cast<std::uint64_t>(steps);
  n.totals.tokens += steps * batch;
  if (n.steps_left == 0) n.stepping = false;
}

// --- the pass between two steps
// ------------------------------------------------------------------------

void finish(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  advance(c, r, DecodeFact::finished);
  release_decode_pages(c, d, n, r);
  answer(c, r, 200, Cause::finished);
  retire_if_done(c, r);
}

void drop_backup(Deployment& d, Request& r) {
  for (const auto& rank : r.decode.backup)
    for (const auto& group : rank)
      for (const auto& page : group)
        for (const ContentRun& run : page) {
          d.trie.release(run.tip);
          d.log.release(run.write);
        }
  r.decode.backup.clear();
}

void drop_aborted(const Context& c, Deployment& d, DecodeNode& n) {
  for (auto* queue : {&n.waiting, &n.running, &n.retracted}) {
    const std::vector<std::uint32_t> slots = *queue;
    for (const std::uint32_t slot : slots) {
      Request& r = c.world.requests[slot];
      if (!r.decode.aborted) continue;
      std::erase(*queue, slot);
      const DecodeActions actions = advance(c, r, DecodeFact::aborted);
      if (actions.has(DecodeAction::release_pages)) release_decode_pages(c, d, n, r);
      drop_backup(d, r);
      answer(c, r, r.first_cause_status != 0 ? r.first_cause_status : 499, r.first_cause);
      retire_if_done(c, r);
    }
  }
}

void drop_finished(const Context& c, Deployment& d, DecodeNode& n) {
  const std::vector<std::uint32_t> slots = n.running;
  for (const std::uint32_t slot : slots) {
    Request& r = c.world.requests[slot];
    if (r.decode.generated < r.decode.output) continue;
    std::erase(n.running, slot);
    finish(c, d, n, r);
  }
}

void back_up(const Context& c, Deployment& d, const DecodeNode& n, Request& r) {
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g)
    trace_group(c, PageOp::save, d, n.component, r.serial, g, r.decode.pages[g]);
  const auto ranks = d.config->ranks;
  r.decode.backup.assign(ranks, {});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto& groups = r.decode.backup[rank];
    groups.resize(n.memory.groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const PageIndex page : r.decode.pages[g]) {
        const auto runs = n.memory.groups[g].planes[rank].runs(page);
        groups[g].emplace_back(runs.begin(), runs.end());
        for (const ContentRun& run : runs) {
          d.trie.acquire(run.tip);
          d.log.acquire(run.write);
        }
      }
  }
}

void restore(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g)
    trace_group(c, PageOp::restore, d, n.component, r.serial, g, r.decode.pages[g]);
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank)
    for (std::size_t g = 0; g < n.memory.groups.size(); ++g) {
      ShadowPlane& plane = n.memory.groups[g].planes[rank];
      const auto& pages = r.decode.backup[rank][g];
      for (std::size_t i = 0; i < pages.size(); ++i) {
        plane.clear(r.decode.pages[g][i], d.trie, d.log);
        for (ContentRun run : pages[i]) {
          const RecordId record =
              d.log.add({RecordKind::restore_write, static_cast<std::uint16_t>(n.component),
                         r.spec.tenant, r.serial, c.now(), c.event(), run.write});
          d.log.acquire(record);
          run.write = record;
          plane.write(r.decode.pages[g][i], run, d.trie, d.log);
          d.log.release(record);
        }
      }
    }
  drop_backup(d, r);
}

void retract(const Context& c, Deployment& d, DecodeNode& n, std::size_t index) {
  Request& r = c.world.requests[n.running[index]];
  const std::uint32_t slot = n.running[index];
  n.running.erase(n.running.begin() + static_cast<std::ptrdiff_t>(index));
  c.note(r, Step::retracted, n.component);
  ++r.outcome.retractions;
  ++d.totals.retractions;
  back_up(c, d, n, r);
  advance(c, r, DecodeFact::retracted);
  release_decode_pages(c, d, n, r);
  r.decode.pages.assign(n.memory.groups.size(), {});
  n.retracted.push_back(slot);
}

// Retracted requests come back before anything new is admitted, first in first out.
void resume(const Context& c, Deployment& d, DecodeNode& n) {
  std::size_t taken = 0;
  for (; taken < n.retracted.size(); ++taken) {
    Request& r = c.world.requests[n.retracted[taken]];
    const bool alone = n.running.empty() && n.waiting.empty() && n.transfer.empty();
    // Room for the next token at least: without it the request would be retracted at once, for
    // ever.
    const std::int64_t room =
        alone ? 1 : std::max<std::int64_t>(1, d.engine.reserved_decode_tokens);
    if (r.decode.context + room > n.memory.available_tokens()) break;
    PageLists pages;
    if (!n.memory.allocate(access(c, d, n.component), actor(r),
                           n.memory.pages_for(r.decode.context), d.engine.zero_on_allocate, pages))
      break;
    r.decode.pages = std::move(pages);
    restore(c, d, n, r);
    advance(c, r, DecodeFact::resumed);
    c.note(r, Step::resumed, n.component);
    r.decode.read_checked = false;
    n.waiting.push_back(n.retracted[taken]);
  }
  n.retracted.erase(n.retracted.begin(), n.retracted.begin() + static_cast<std::ptrdiff_t>(taken));
}

void merge(const Context& c, Deployment& d, DecodeNode& n) {
  std::size_t taken = 0;
  const auto most = static_cast<std::size_t>(d.engine.decode_running_max);
  const std::vector<std::uint32_t> waiting = n.waiting;
  for (; taken < waiting.size() && n.running.size() < most; ++taken) {
    Request& r = c.world.requests[waiting[taken]];
    DecodeLeg& leg = r.decode;
    if (leg.generated == 0) {
      // The first token came with the transfer; the client sees it now.
      leg.generated = 1;
      r.outcome.output_tokens_done = 1;
      r.outcome.first_token_ns = c.now() + d.engine.control_latency_ns;
      c.note(r, Step::merged, n.component);
    }
    if (leg.generated >= leg.output) {
      finish(c, d, n, r);
      continue;
    }
    advance(c, r, DecodeFact::merged);
    leg.joined = ++n.joins;
    n.running.push_back(waiting[taken]);
  }
  n.waiting.erase(n.waiting.begin(), n.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
}

// Who gives up its pages first.
std::size_t retraction_victim(const Context& c, const Deployment& d, const DecodeNode& n) {
  const auto key = [&](std::uint32_t slot) {
    const DecodeLeg& leg = c.world.requests[slot].decode;
    const std::int64_t first = d.engine.retract_order == RetractOrder::fewest_output_first
                                   ? leg.generated
                                   : -static_cast<std::int64_t>(leg.joined);
    return std::tuple(first, -leg.tokens, -static_cast<std::int64_t>(leg.joined));
  };
  const auto victim =
      std::min_element(n.running.begin(), n.running.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return static_cast<std::size_t>(victim - n.running.begin());
}

void make_room(const Context& c, Deployment& d, DecodeNode& n) {
  while (!n.running.empty() && !pages_fit(c, n, 1)) {
    if (n.running.size() > 1) {
      retract(c, d, n, retraction_victim(c, d, n));
      continue;
    }
    // Alone and still no page: it can never go on (sglang 14948 aborts it).
    Request& r = c.world.requests[n.running[0]];
    if (!n.transfer.empty() || !n.waiting.empty()) {
      retract(c, d, n, 0);
      continue;
    }
    n.running.clear();
    record_cause(r, 500, Cause::pool_exhausted);
    advance(c, r, DecodeFact::failed);
    release_decode_pages(c, d, n, r);
    answer(c, r, 500, Cause::pool_exhausted);
    retire_if_done(c, r);
  }
}

void check_reads(const Context& c, DecodeNode& n) {
  const bool all = std::exchange(n.recheck, false);
  for (const std::uint32_t slot : n.running) {
    Request& r = c.world.requests[slot];
    if (r.decode.read_checked && !all) continue;
    r.decode.read_checked = true;
    judge_read(c, r, {n.component, &n.memory, &r.path, &r.decode.pages}, 0, r.decode.context);
  }
}

// --- planning
// ----------------------------------------------------------------------------------------

// Whether the head of the prealloc queue may become admissible by the mere passing of steps: the
// running requests' growth counts in its favour (see preallocate). What plain memory forbids, only
// an event changes.
bool admission_may_ripen(const Context& c, const Deployment& d, const DecodeNode& n) {
  if (n.prealloc.empty() || !n.retracted.empty() || n.aux_free.empty()) return false;
  const auto active =
      static_cast<std::int64_t>(n.running.size() + n.transfer.size() + n.waiting.size());
  const std::int64_t needed =
      c.world.requests[n.prealloc[0]].decode.tokens + d.engine.reserved_decode_tokens;
  return needed <= n.memory.available_tokens() - d.engine.reserved_decode_tokens * active;
}

// Steps until something can change.
std::int64_t horizon(const Context& c, const Deployment& d, const DecodeNode& n) {
  if (c.world.config->stepping == Stepping::every_token || admission_may_ripen(c, d, n)) return 1;
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const std::uint32_t slot : n.running) {
    const DecodeLeg& leg = c.world.requests[slot].decode;
    steps = std::min(steps, leg.output - leg.generated);
    const std::int64_t attended = d.decode_cost.attended(leg.context);
    const std::int64_t limit = d.decode_cost.attended(std::numeric_limits<std::int32_t>::max());
    if (attended == leg.context && leg.context < limit)
      steps = std::min(steps, limit - leg.context);
  }
  if (pages_fit(c, n, steps)) return steps;
  std::int64_t low = 1;  // fits: make_room saw to it
  std::int64_t high = steps;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (pages_fit(c, n, middle) ? low : high) = middle;
  }
  return low;
}

void plan(const Context& c, Deployment& d, DecodeNode& n) {
  if (n.running.empty()) return;
  n.steps_left = horizon(c, d, n);
  n.context_sum = n.attended_sum = n.growing = 0;
  for (const std::uint32_t slot : n.running) {
    const std::int64_t context = c.world.requests[slot].decode.context;
    const std::int64_t attended = d.decode_cost.attended(context);
    n.context_sum += context;
    n.attended_sum += attended;
    n.growing += d.decode_cost.attended(context + 1) > attended ? 1 : 0;
  }
  const auto batch = static_cast<std::int64_t>(n.running.size());
  n.stepping = true;
  n.step_began = n.planned_at = c.now();
  TimeNs end = c.now();
  for (std::int64_t s = 0; s < n.steps_left; ++s) {
    end +=
        d.decode_cost.decode_ns(batch, n.context_sum + s * batch, n.attended_sum + s * n.growing);
    if (s == 0) n.step_end = end;
  }
  c.at(end, EventKind::decode_wake, n.component, ++n.wake_generation);
}

void request_pass(const Context& c, DecodeNode& n) {
  if (n.schedule_pending) return;
  n.schedule_pending = true;
  c.at(c.now(), EventKind::decode_schedule, n.component, n.generation);
}

}  // namespace

void catch_up_decode(const Context& c, Deployment& d, DecodeNode& n) { catch_up(c, d, n); }

void touch_decode(const Context& c, Deployment& d, DecodeNode& n) {
  if (!n.up || n.in_pass) return;
  catch_up(c, d, n);
  // At a step's very end: whoever steps every token decides after the messages of this micro-step,
  // and so must the step that began here on its own.
  const bool boundary = n.stepping && n.step_began == c.now() && n.planned_at < c.now();
  if (boundary && c.schedule.delta() == 0) {
    n.stepping = false;
    n.steps_left = 0;
    ++n.wake_generation;
  }
  if (!n.stepping) return request_pass(c, n);
  if (n.steps_left <= 1) return;  // it wakes at the end of this step anyway
  n.steps_left = 1;
  c.at(n.step_end, EventKind::decode_wake, n.component, ++n.wake_generation);
}

void on_decode_wake(const Context& c, Deployment& d, DecodeNode& n) {
  catch_up(c, d, n);
  request_pass(c, n);
}

void schedule_decode(const Context& c, Deployment& d, DecodeNode& n) {
  n.schedule_pending = false;
  if (!n.up || n.stepping) return;
  n.in_pass = true;
  drop_finished(c, d, n);
  drop_aborted(c, d, n);
  resume(c, d, n);
  poll_prealloc(c, n);
  preallocate(c, d, n);
  const auto resources = [&n] {
    return n.memory.available_tokens() + static_cast<std::int64_t>(n.aux_free.size());
  };
  const std::int64_t left = resources();
  poll_transfers(c, d, n);
  // Again when everything that ran had to give way: others wait, and no step will come to merge
  // them.
  do {
    merge(c, d, n);
    make_room(c, d, n);
  } while (n.running.empty() && !n.waiting.empty());
  n.in_pass = false;
  check_reads(c, n);
  note_pages_used(n);
  const bool wanted = !n.prealloc.empty() || !n.retracted.empty();
  const bool freed = wanted && resources() > left;
  plan(c, d, n);
  if (freed) touch_decode(c, d, n);
}

}  // namespace handoff

// Source first (vLLM's NIXL connector): prefill computes at once and holds its pages under a lease,
// decode reads them when it has room, and confirms. The read is one-sided: it asks nobody whether
// the pages are still what they were.
#include "models/serving/handlers.hpp"

namespace handoff {
namespace {

// Whether decode still means to pull: it waits for pages, reads, or has not been told yet.
bool wanted(const Request& r) {
  return !r.answered &&
         (r.decode.state == DecodeState::none || r.decode.state == DecodeState::prealloc ||
          r.decode.state == DecodeState::transfer);
}

void arm_lease(const Context& c, const Deployment& d, const PrefillNode& n, const Request& r) {
  if (d.engine.lease_ns != kNever)
    c.at(c.now() + d.engine.lease_ns, EventKind::lease_timer, n.component, c.slot_of(r), r.serial);
}

std::int64_t first_group_pages(const Request& r) {
  return r.prefill.pages.empty() ? 0 : static_cast<std::int64_t>(r.prefill.pages[0].size());
}

}  // namespace

bool pulls(const Deployment& d) { return d.engine.handoff == HandoffOrder::source_first; }

void hold(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  c.note(r, Step::held, n.component, first_group_pages(r), d.engine.lease_ns);
  r.prefill.generation = n.generation;
  r.prefill.checksum = prefill_checksum(c, d, n, r);
  n.rooms.update_all(r.room, KvPoll::transferring, true);
  arm_lease(c, d, n, r);
  // Prefill answers the router, which then asks decode.
  r.decode.counted = true;
  d.decode[r.decode.node].queued_tokens += r.spec.prompt_tokens + r.spec.output_tokens;
  c.at(c.now() + 2 * d.engine.control_latency_ns, EventKind::decode_submit,
       d.decode[r.decode.node].component, c.slot_of(r), r.serial);
}

void start_pull(const Context& c, Deployment& d, DecodeNode& n, Request& r) {
  PrefillNode& source = d.prefill[r.prefill.node];
  // Another process has other memory: the read itself fails.
  if (!source.up || source.generation != r.prefill.generation) {
    record_cause(r, 500, Cause::node_down);
    n.rooms.fail(r.room, 500);
    return;
  }
  const bool stale = r.prefill.state != PrefillState::held;
  if (stale && d.engine.stale_pull == StalePull::refused) {
    c.note(r, Step::pull_refused, n.component);
    record_cause(r, 500, Cause::lease_expired);
    n.rooms.fail(r.room, 500);
    return;
  }
  c.note(r, stale ? Step::pull_posted_stale : Step::pull_posted, n.component, first_group_pages(r));
  post_pull(c, d, source, r);
}

void on_lease_timer(const Context& c, Request& r) {
  if (r.prefill.state != PrefillState::held) return;
  Deployment& d = c.deployment(r);
  PrefillNode& n = d.prefill[r.prefill.node];
  if (d.engine.lease_renewal && wanted(r) && d.decode[r.decode.node].up)
    return arm_lease(c, d, n, r);
  c.note(r, Step::lease_ended, n.component);
  finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::lease_expired));
}

void on_pull_done(const Context& c, Request& r) {
  if (r.prefill.state != PrefillState::held) return;
  Deployment& d = c.deployment(r);
  PrefillNode& n = d.prefill[r.prefill.node];
  finish_prefill_leg(c, d, n, r, advance(c, r, PrefillFact::pulled));
}

}  // namespace handoff

// The router: admission, choice of the pair, cancellation.
#include <algorithm>

#include "models/serving/handlers.hpp"

namespace handoff {
namespace {

// Round robin and least tokens take the lowest index among equals; random draws by request, so that
// one more node or request does not move the others' draws.
template <class Nodes>
std::int64_t choose(const Nodes& nodes, RoutePolicy policy, std::uint64_t count, Rng rng) {
  std::vector<std::uint32_t> up;
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].up) up.push_back(i);
  if (up.empty()) return -1;
  switch (policy) {
    case RoutePolicy::round_robin:
      return up[count % up.size()];
    case RoutePolicy::random:
      return up[rng.below(up.size())];
    case RoutePolicy::least_tokens:
      return *std::min_element(up.begin(), up.end(), [&](std::uint32_t a, std::uint32_t b) {
        return nodes[a].queued_tokens < nodes[b].queued_tokens;
      });
  }
  return up[0];
}

bool router_admits(const Deployment& d, const Request& r) {
  if (d.engine.router_admission == RouterAdmission::context_only) return true;
  const std::int64_t prefill = input_limit(d, d.prefill[r.prefill.node].memory);
  const std::int64_t limit =
      d.decode.empty() ? prefill
                       : std::min(prefill, input_limit(d, d.decode[r.decode.node].memory));
  return r.spec.prompt_tokens < limit;
}

void refuse(const Context& c, Request& r, std::int32_t status, Cause cause) {
  answer(c, r, status, cause);
  retire_if_done(c, r);
}

}  // namespace

void route(const Context& c, Request& r) {
  Deployment& d = c.deployment(r);
  const std::uint64_t slot = c.slot_of(r);
  if (!d.accepting) return refuse(c, r, 503, Cause::offline);
  // The front end of each engine knows the context window alone.
  if (r.spec.prompt_tokens >= d.config->context_window)
    return refuse(c, r, 400, Cause::rejected_context);
  const std::uint64_t count = d.routed++;
  const std::uint64_t seed = c.world.config->seed;
  const std::int64_t p =
      choose(d.prefill, d.engine.route, count, Rng(seed, "route-prefill", r.serial));
  const std::int64_t q =
      choose(d.decode, d.engine.route, count, Rng(seed, "route-decode", r.serial));
  if (p < 0 || (q < 0 && !d.decode.empty())) return refuse(c, r, 503, Cause::node_down);
  r.prefill.node = static_cast<std::uint32_t>(p);
  r.outcome.prefill_node = static_cast<std::int32_t>(p);
  if (q >= 0) {
    r.decode.node = static_cast<std::uint32_t>(q);
    r.outcome.decode_node = static_cast<std::int32_t>(q);
  }
  if (!router_admits(d, r)) return refuse(c, r, 400, Cause::rejected_router);
  const TimeNs there = c.now() + d.engine.control_latency_ns;
  r.prefill.counted = true;
  d.prefill[r.prefill.node].queued_tokens += r.spec.prompt_tokens;
  c.at(there, EventKind::prefill_submit, d.prefill[r.prefill.node].component, slot, r.serial);
  if (q < 0) return;
  if (pulls(d)) return;  // told once prefill holds the prompt
  r.decode.counted = true;
  d.decode[r.decode.node].queued_tokens += r.spec.prompt_tokens + r.spec.output_tokens;
  c.at(there, EventKind::decode_submit, d.decode[r.decode.node].component, slot, r.serial);
}

void on_leg_error(const Context& c, Request& r, bool prefill_leg) {
  Deployment& d = c.deployment(r);
  if (!d.engine.router_cancels_peer || d.decode.empty()) return;
  const TimeNs there = c.now() + 2 * d.engine.control_latency_ns;
  const std::uint64_t slot = c.slot_of(r);
  if (prefill_leg)
    c.at(there, EventKind::abort_decode, d.decode[r.decode.node].component, slot, r.serial,
         static_cast<std::uint64_t>(r.first_cause_status));
  else
    c.at(there, EventKind::abort_prefill, d.prefill[r.prefill.node].component, slot, r.serial,
         r.room, 0);
}

void on_client_abort(const Context& c, Request& r) {
  if (r.answered) return;
  Deployment& d = c.deployment(r);
  const std::uint64_t slot = c.slot_of(r);
  c.note(r, Step::aborted_by_client, d.router_component);
  const bool routed = r.outcome.prefill_node >= 0;
  answer(c, r, 499, Cause::client_abort);
  if (routed) {
    const TimeNs there = c.now() + d.engine.control_latency_ns;
    c.at(there, EventKind::abort_prefill, d.prefill[r.prefill.node].component, slot, r.serial,
         r.room, 0);
    if (!d.decode.empty())
      c.at(there, EventKind::abort_decode, d.decode[r.decode.node].component, slot, r.serial, 499);
  }
  retire_if_done(c, r);
}

}  // namespace handoff

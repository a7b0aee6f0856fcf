// Timed faults and operations: nodes that die and come back, links that slow down, deployments that
// are taken offline and deployed anew.
#include <fmt/format.h>

#include "models/serving/cluster.hpp"
#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"

namespace handoff {
namespace {

// The legs on a dead node end without a word; their pages die with it.
void kill_prefill_legs(const Context& c, std::uint32_t deployment, std::uint32_t node) {
  for (Request& r : c.world.requests) {
    if (!r.live || r.spec.deployment != deployment || r.prefill.node != node) continue;
    const PrefillState s = r.prefill.state;
    if (s == PrefillState::none) continue;
    r.prefill.draining = false;
    r.prefill.ack_pending = false;
    r.prefill.pages_released = true;
    r.prefill.cache_handle = {};
    if (s == PrefillState::done) continue;
    // Once its Success is out, decode has all it needs: the request does not fail with the node.
    const bool sent = c.deployment(r).prefill[node].rooms.reduced(r.room) == KvPoll::success;
    if (!sent) record_cause(r, 500, Cause::node_down);
    advance(c, r, PrefillFact::killed);
    // Nobody else knows of it.
    const bool alone =
        c.deployment(r).decode.empty() || (pulls(c.deployment(r)) && s != PrefillState::held);
    if (alone) answer(c, r, 500, Cause::node_down);
  }
}

void kill_decode_legs(const Context& c, std::uint32_t deployment, std::uint32_t node,
                      std::int32_t status, Cause cause) {
  for (Request& r : c.world.requests) {
    if (!r.live || r.spec.deployment != deployment || r.decode.node != node) continue;
    const DecodeState s = r.decode.state;
    if (s == DecodeState::none || s == DecodeState::done) continue;
    advance(c, r, DecodeFact::killed);
    r.decode.aux_slot = -1;
    for (const auto& rank : r.decode.backup)
      for (const auto& group : rank)
        for (const auto& page : group)
          for (const ContentRun& run : page) {
            c.deployment(r).trie.release(run.tip);
            c.deployment(r).log.release(run.write);
          }
    r.decode.backup.clear();
    answer(c, r, status, cause);
  }
}

void retire_all(const Context& c, std::uint32_t deployment) {
  for (Request& r : c.world.requests)
    if (r.live && r.spec.deployment == deployment) retire_if_done(c, r);
}

void kill_prefill(const Context& c, std::uint32_t deployment, std::uint32_t node) {
  Deployment& d = c.world.deployments[deployment];
  PrefillNode& n = d.prefill[node];
  n.up = false;
  ++n.generation;
  kill_prefill_legs(c, deployment, node);
  drop_operations(c, deployment, NodeRole::prefill, node);
  n.memory.reset(access(c, d, n.component));
  if (n.last_cached_tip.valid()) d.trie.release(n.last_cached_tip);
  n.last_cached_tip = {};
  n.rooms.reset();
  n.destinations.clear();
  n.tombstones.clear();
  n.bootstrap.clear();
  n.waiting.clear();
  n.inflight.clear();
  n.batch.clear();
  n.deferred.clear();
  n.running_chunk = -1;
  n.stepping = n.schedule_pending = false;
  n.aux_free = 2 * d.engine.prefill_running_max;
  const TimeNs noticed = c.now() + d.engine.heartbeat_interval_ns * d.engine.heartbeat_failures_max;
  for (const DecodeNode& decode : d.decode)
    c.at(noticed, EventKind::peer_lost, decode.component, node);
  retire_all(c, deployment);
}

void kill_decode(const Context& c, std::uint32_t deployment, std::uint32_t node,
                 std::int32_t status, Cause cause) {
  Deployment& d = c.world.deployments[deployment];
  DecodeNode& n = d.decode[node];
  catch_up_decode(c, d, n);
  n.up = false;
  ++n.generation;
  ++n.wake_generation;
  kill_decode_legs(c, deployment, node, status, cause);
  drop_operations(c, deployment, NodeRole::decode, node);
  // Prefill learns of the dead peer from its failing sends, or at its next attempt.
  for (PrefillNode& p : d.prefill) {
    for (const auto& [room, destination] : p.destinations)
      if (destination.decode_node == node) p.rooms.fail(room, 500);
    wake_prefill(c, p);
  }
  n.memory.reset(access(c, d, n.component));
  n.rooms.reset();
  n.requests_by_room.clear();
  n.used_rooms.clear();
  for (auto* queue : {&n.prealloc, &n.transfer, &n.waiting, &n.running, &n.retracted})
    queue->clear();
  n.aux_free.clear();
  for (std::size_t s = n.aux.size(); s-- > 0;) {
    n.aux_free.push_back(static_cast<std::int32_t>(s));
    for (AuxRecord& aux : n.aux[s]) aux = AuxRecord{};
  }
  n.stepping = n.schedule_pending = n.recheck = false;
  n.steps_left = 0;
  retire_all(c, deployment);
}

// Whether a fault that lasts [at, at + for) is at work.
bool covers(TimeNs at, TimeNs length, TimeNs now) {
  return at <= now && (length == kNever || now - at < length);
}

// Another crash keeps the node down.
bool still_down(const Context& c, const NodeCrashFault& fault) {
  for (const Fault& other : c.world.config->faults)
    if (const auto* crash = std::get_if<NodeCrashFault>(&other.what))
      if (crash->deployment == fault.deployment && crash->role == fault.role &&
          crash->node == fault.node && covers(crash->at_ns, crash->for_ns, c.now()))
        return true;
  return false;
}

void crash(const Context& c, const NodeCrashFault& fault, bool begin) {
  Deployment& d = c.world.deployments[fault.deployment];
  if (!begin && still_down(c, fault)) return;
  if (fault.role == NodeRole::prefill) {
    if (begin)
      kill_prefill(c, fault.deployment, fault.node);
    else
      d.prefill[fault.node].up = true;
    return;
  }
  if (begin)
    kill_decode(c, fault.deployment, fault.node, 500, Cause::node_down);
  else
    d.decode[fault.node].up = true;
}

// Several faults of one link: the worst that is at work counts.
void set_link(const Context& c, const LinkFault& fault) {
  World& world = c.world;
  std::int64_t permille = 1000;
  for (const Fault& other : world.config->faults)
    if (const auto* link = std::get_if<LinkFault>(&other.what))
      if (link->link == fault.link && covers(link->at_ns, link->for_ns, c.now()))
        permille = std::min(permille, link->rate_permille);
  world.network.advance(c.now(), world.flows_done);
  world.network.set_link_permille(world.topology.find_link(fault.link), permille, c.now());
  reschedule_network(c);
}

void abort_numbered(const Context& c, const ClientAbortFault& fault) {
  for (Request& r : c.world.requests) {
    if (!r.live || !fault.request.has_value() || r.serial != *fault.request) continue;
    record_firing(c, fault_index(c.world, &fault), &r, "the client aborts");
    return on_client_abort(c, r);
  }
}

void stop_deployment(const Context& c, std::uint32_t deployment) {
  Deployment& d = c.world.deployments[deployment];
  d.accepting = false;
  for (Request& r : c.world.requests)
    if (r.live && r.spec.deployment == deployment) answer(c, r, 503, Cause::offline);
  for (std::uint32_t n = 0; n < d.prefill.size(); ++n) kill_prefill(c, deployment, n);
  for (std::uint32_t n = 0; n < d.decode.size(); ++n)
    kill_decode(c, deployment, n, 503, Cause::offline);
}

}  // namespace

void on_timed_fault(const Context& c, const FaultPlan::TimedFault& timed) {
  const Fault& fault = c.world.config->faults[timed.fault];
  if (const auto* f = std::get_if<NodeCrashFault>(&fault.what)) {
    record_firing(c, timed.fault, nullptr,
                  fmt::format("{}[{}] {}", f->role == NodeRole::prefill ? "prefill" : "decode",
                              f->node, timed.begin ? "dies" : "is back"));
    crash(c, *f, timed.begin);
  } else if (const auto* link = std::get_if<LinkFault>(&fault.what)) {
    record_firing(c, timed.fault, nullptr,
                  timed.begin ? fmt::format("{} at {} permille", link->link, link->rate_permille)
                              : fmt::format("{} as built", link->link));
    set_link(c, *link);
  } else if (const auto* abort = std::get_if<ClientAbortFault>(&fault.what)) {
    abort_numbered(c, *abort);
  }
}

void on_operation(const Context& c, const Operation& operation) {
  Deployment& d = c.world.deployments[operation.deployment];
  switch (operation.kind) {
    case Operation::Kind::take_offline:
      return stop_deployment(c, operation.deployment);
    case Operation::Kind::drain:
      d.accepting = false;
      return;
    case Operation::Kind::redeploy:
      stop_deployment(c, operation.deployment);
      if (operation.engine.has_value()) {
        d.engine = *operation.engine;
        d.engine_name = operation.engine_name;
      }
      build_nodes(c.world, operation.deployment);
      trace_pools(c.world, operation.deployment, c.now(), c.event());
      d.accepting = true;
      return;
  }
}

}  // namespace handoff

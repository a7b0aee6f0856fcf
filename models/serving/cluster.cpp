#include "models/serving/cluster.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

std::string node_prefix(const RunConfig& config, const DeploymentConfig& d) {
  return config.deployments.size() > 1 ? d.name + "/" : std::string();
}

std::int64_t attachment_rate(const RunConfig& config, const NodeGroupConfig& group) {
  if (config.network.node_bytes_per_second > 0) return config.network.node_bytes_per_second;
  return group.hardware.devices * group.hardware.nic_bytes_per_second;
}

// One switch that does not block, or two joined by a link of the given rate (prefill side, decode
// side).
void build_topology(World& world) {
  const RunConfig& config = *world.config;
  Topology& t = world.topology;
  const bool split = config.network.spine_bytes_per_second > 0;
  const VertexId left = t.add_vertex(split ? "spine-prefill" : "spine", VertexKind::network_switch);
  VertexId right = left;
  if (split) {
    right = t.add_vertex("spine-decode", VertexKind::network_switch);
    t.add_duplex(left, right, config.network.spine_bytes_per_second,
                 config.network.link_latency_ns);
  }
  std::vector<std::vector<VertexId>> groups;
  for (std::uint32_t i = 0; i < config.deployments.size(); ++i) {
    const DeploymentConfig& dc = config.deployments[i];
    Deployment& d = world.deployments[i];
    std::vector<VertexId> hosts;
    const auto attach = [&](const std::string& node, const NodeGroupConfig& group, VertexId to) {
      const VertexId v = t.add_vertex(node_prefix(config, dc) + node, VertexKind::host);
      t.add_duplex(v, to, attachment_rate(config, group), config.network.link_latency_ns);
      hosts.push_back(v);
      return v;
    };
    if (dc.decode.nodes == 0) continue;
    for (std::uint32_t n = 0; n < dc.prefill.nodes; ++n)
      d.prefill[n].vertex = attach(fmt::format("prefill[{}]", n), dc.prefill, left);
    for (std::uint32_t n = 0; n < dc.decode.nodes; ++n)
      d.decode[n].vertex = attach(fmt::format("decode[{}]", n), dc.decode, right);
    groups.push_back(std::move(hosts));
  }
  const std::string error = t.freeze(groups);
  HANDOFF_CHECK(error.empty(), error);
  world.network = FlowNetwork(t);
}

// Bytes of one page of a group over all ranks of a node: replicated groups exist once a device.
std::int64_t page_bytes(const GroupSpec& group, const DeploymentConfig& d) {
  const std::int64_t copies = group.replicated ? d.prefill.hardware.devices : 1;
  return group.bytes_per_token * d.engine.page_tokens * copies;
}

}  // namespace

namespace {

// Links are named by the topology, which exists only now.
void check_links(const RunConfig& config, const Topology& topology) {
  for (const Fault& fault : config.faults) {
    const auto* link = std::get_if<LinkFault>(&fault.what);
    if (link == nullptr || topology.find_link(link->link).valid()) continue;
    std::string known;
    for (std::uint32_t i = 0; i < topology.links() && i < 8; ++i)
      known += (i > 0 ? ", " : "") + topology.link_name(LinkId{i});
    throw ConfigError(fault.mark, fmt::format("no link '{}'; the network has {}{}", link->link,
                                              known, topology.links() > 8 ? ", ..." : ""));
  }
}

}  // namespace

void build_nodes(World& world, std::uint32_t deployment) {
  const RunConfig& config = *world.config;
  const DeploymentConfig& dc = config.deployments[deployment];
  Deployment& d = world.deployments[deployment];
  const EnginePolicy& engine = d.engine;
  for (std::uint32_t i = 0; i < dc.prefill.nodes; ++i) {
    PrefillNode& n = d.prefill[i];
    const bool embed = dc.model.role == ModelRole::embed;
    n.memory = NodeMemory::make(dc.model, engine, dc.prefill.kv_pool_tokens, dc.ranks,
                                engine.prefix_cache && !embed, config.seed, n.component);
    n.rooms = RoomBook(dc.ranks);
    n.aux_free = 2 * engine.prefill_running_max;
    n.queues.assign(static_cast<std::size_t>(engine.transfer_queues), {});
    n.totals.pages = n.memory.groups.empty() ? 0 : n.memory.groups[0].pool.pages();
    n.up = true;
  }
  for (std::uint32_t i = 0; i < dc.decode.nodes; ++i) {
    DecodeNode& n = d.decode[i];
    n.memory = NodeMemory::make(dc.model, engine, dc.decode.kv_pool_tokens, dc.ranks, false,
                                config.seed, n.component);
    n.rooms = RoomBook(dc.ranks);
    const auto slots = static_cast<std::int32_t>(2 * engine.decode_running_max);
    n.aux.assign(static_cast<std::size_t>(slots), std::vector<AuxRecord>(dc.ranks));
    n.aux_free.clear();
    for (std::int32_t s = slots - 1; s >= 0; --s) n.aux_free.push_back(s);
    n.totals.pages = n.memory.groups.empty() ? 0 : n.memory.groups[0].pool.pages();
    n.up = true;
  }
  d.page_bytes.clear();
  for (const GroupSpec& group : dc.model.groups) d.page_bytes.push_back(page_bytes(group, dc));
}

Cluster::Cluster(std::shared_ptr<const RunConfig> config) {
  world_.config = std::move(config);
  const RunConfig& run = *world_.config;
  std::uint32_t component = kFirstDeploymentComponent;
  world_.deployments.resize(run.deployments.size());
  for (std::uint32_t i = 0; i < run.deployments.size(); ++i) {
    const DeploymentConfig& dc = run.deployments[i];
    Deployment& d = world_.deployments[i];
    d.config = &dc;
    d.engine = dc.engine;
    d.engine_name = dc.engine_name;
    d.router_component = component++;
    d.prefill_cost = CostModel::roofline(dc.model, dc.prefill.hardware, dc.prefill.efficiency);
    d.prefill.resize(dc.prefill.nodes);
    d.decode.resize(dc.decode.nodes);
    for (std::uint32_t n = 0; n < dc.prefill.nodes; ++n) {
      d.prefill[n].component = component++;
      d.prefill[n].name = fmt::format("{}/prefill[{}]", dc.name, n);
      d.prefill[n].totals.name = d.prefill[n].name;
    }
    if (dc.decode.nodes > 0)
      d.decode_cost = CostModel::roofline(dc.model, dc.decode.hardware, dc.decode.efficiency);
    for (std::uint32_t n = 0; n < dc.decode.nodes; ++n) {
      d.decode[n].component = component++;
      d.decode[n].name = fmt::format("{}/decode[{}]", dc.name, n);
      d.decode[n].totals.name = d.decode[n].name;
    }
    d.totals.name = dc.name;
    d.totals.engine = dc.engine_name;
    build_nodes(world_, i);
  }
  build_topology(world_);
  world_.oracles.findings = FindingLog(run.findings_max);
  world_.transitions.assign(handoff_rows().size(), 0);
  std::vector<WorkloadStream> streams;
  for (std::uint32_t w = 0; w < run.workloads.size(); ++w)
    streams.push_back(WorkloadStream::open(run.workloads[w], w, run.seed, world_.tenants));
  world_.workload = MergedWorkload(std::move(streams));
  world_.plan = expand(run.faults, run.seed, static_cast<std::uint32_t>(run.workloads.size()),
                       world_.tenants);
  world_.companions = OversizeCompanions(
      run.faults, run.seed, static_cast<std::uint32_t>(run.workloads.size()), world_.tenants);
  world_.matcher = NoticeMatcher(run.faults, run.seed);
  check_links(run, world_.topology);
}

namespace {

// The next request of the workload or of the oversize plan, by arrival; the workload first at a
// tie.
std::optional<RequestSpec> pull(World& world) {
  if (!world.next_row.has_value()) world.next_row = world.workload.next();
  const bool injected = world.next_oversize < world.plan.oversize.size();
  const bool take_injected = injected && (!world.next_row.has_value() ||
                                          world.plan.oversize[world.next_oversize].arrival_ns <
                                              world.next_row->arrival_ns);
  if (take_injected) return world.plan.oversize[world.next_oversize++];
  return std::exchange(world.next_row, std::nullopt);
}

void schedule_arrival(const Context& c) {
  c.world.next_arrival = pull(c.world);
  if (c.world.next_arrival.has_value())
    c.at(c.world.next_arrival->arrival_ns, EventKind::arrival, kWorkloadComponent);
}

void admit(const Context& c, RequestSpec spec) {
  const std::uint32_t slot = create_request(c, std::move(spec));
  Request& r = c.world.requests[slot];
  TimeNs patience = r.spec.abort_after_ns;
  const auto drawn = abort_after(c.world.config->faults, r.spec, c.world.config->seed);
  const bool by_fault = drawn.has_value() && drawn->after_ns < patience;
  if (by_fault) patience = drawn->after_ns;
  const RequestSerial serial = r.serial;
  route(c, r);
  if (patience != kNever && c.request(slot, serial) != nullptr)
    c.at(c.now() + patience, EventKind::client_abort, kWorkloadComponent, slot, serial,
         by_fault ? drawn->fault + 1 : 0);
}

void on_arrival(const Context& c) {
  RequestSpec spec = *std::exchange(c.world.next_arrival, std::nullopt);
  schedule_arrival(c);
  const std::vector<RequestSpec> companions =
      spec.injected ? std::vector<RequestSpec>{} : c.world.companions.companions_of(spec);
  admit(c, std::move(spec));
  for (const RequestSpec& companion : companions) admit(c, companion);
}

// The node whose component an event is for.
struct NodePlace {
  Deployment* deployment = nullptr;
  PrefillNode* prefill = nullptr;
  DecodeNode* decode = nullptr;
};

NodePlace place_of(World& world, std::uint32_t component) {
  for (Deployment& d : world.deployments) {
    const std::uint32_t first = d.router_component + 1;
    const auto prefill = static_cast<std::uint32_t>(d.prefill.size());
    const auto all = prefill + static_cast<std::uint32_t>(d.decode.size());
    if (component < first || component >= first + all) continue;
    const std::uint32_t i = component - first;
    if (i < prefill) return {&d, &d.prefill[i], nullptr};
    return {&d, nullptr, &d.decode[i - prefill]};
  }
  return {};
}

// An event that concerns one request; stale when the request has ended.
template <class Handler>
void for_request(const Context& c, const Event& e, Handler handler) {
  if (Request* r = c.request(e.payload[0], e.payload[1])) handler(c, *r);
}

// An event of a node's own process; stale when that process has died. Counter: which one it belongs
// to.
template <class Handler>
void for_prefill(const Context& c, const Event& e, Handler handler) {
  const NodePlace at = place_of(c.world, e.target);
  HANDOFF_CHECK(at.prefill != nullptr, "event for a prefill node that does not exist");
  if (e.payload[0] == at.prefill->generation) handler(c, *at.deployment, *at.prefill);
}

template <class Handler>
void for_decode(const Context& c, const Event& e, std::uint64_t DecodeNode::*counter,
                Handler handler) {
  const NodePlace at = place_of(c.world, e.target);
  HANDOFF_CHECK(at.decode != nullptr, "event for a decode node that does not exist");
  if (counter == nullptr || e.payload[0] == at.decode->*counter)
    handler(c, *at.deployment, *at.decode);
}

void apply_notice(const Context& c, const Event& e) {
  const NodePlace at = place_of(c.world, e.target);
  on_notice(c, *at.deployment, *at.decode, e.payload[0], static_cast<std::uint32_t>(e.payload[1]),
            (e.payload[1] >> 32 & 1) != 0, static_cast<std::int32_t>(e.payload[1] >> 40));
}

}  // namespace

void Cluster::start(Schedule& schedule) {
  const Context c{world_, schedule};
  for (std::uint32_t i = 0; i < world_.deployments.size(); ++i) trace_pools(world_, i, 0, 0);
  for (std::size_t i = 0; i < world_.plan.timed.size(); ++i)
    c.at(world_.plan.timed[i].at, EventKind::fault_begin, kFaultComponent, i);
  for (std::size_t i = 0; i < world_.config->operations.size(); ++i)
    c.at(world_.config->operations[i].at_ns, EventKind::operation, kFaultComponent, i);
  schedule_arrival(c);
}

void Cluster::apply(const Event& event, Schedule& schedule) {
  const Context c{world_, schedule};
  const auto kind = static_cast<EventKind>(event.kind);
  switch (kind) {
    case EventKind::arrival:
      return on_arrival(c);
    case EventKind::fault_begin:
      return on_timed_fault(c, world_.plan.timed[event.payload[0]]);
    case EventKind::operation:
      return on_operation(c, world_.config->operations[event.payload[0]]);
    case EventKind::network_wake:
      if (event.payload[0] == world_.network_generation) on_network_wake(c);
      return;
    case EventKind::data_visible:
      return on_data_visible(c, static_cast<std::uint32_t>(event.payload[0]),
                             static_cast<RequestSerial>(event.payload[1]));
    case EventKind::operation_start:
      return on_operation_start(c, static_cast<std::uint32_t>(event.payload[0]),
                                static_cast<RequestSerial>(event.payload[1]));
    case EventKind::prefill_submit:
      return for_request(c, event, on_prefill_submit);
    case EventKind::decode_submit:
      return for_request(c, event, on_decode_submit);
    case EventKind::metadata:
      return for_request(c, event, on_metadata);
    case EventKind::abort_ack:
      return for_request(c, event, on_abort_ack);
    case EventKind::bootstrap_timer:
      return for_request(c, event, on_bootstrap_timer);
    case EventKind::waiting_timer:
      return for_request(c, event, on_waiting_timer);
    case EventKind::release_timer:
      return for_request(c, event, on_release_timer);
    case EventKind::lease_timer:
      return for_request(c, event, on_lease_timer);
    case EventKind::pull_done:
      return for_request(c, event, on_pull_done);
    case EventKind::client_abort:
      return for_request(c, event, [&event](const Context& context, Request& r) {
        if (event.payload[2] != 0 && !r.answered)
          record_firing(context, event.payload[2] - 1, &r, "the client aborts");
        on_client_abort(context, r);
      });
    case EventKind::abort_decode:
      return for_request(c, event, [&event](const Context& context, Request& r) {
        on_abort_decode(context, r, static_cast<std::int32_t>(event.payload[2]));
      });
    case EventKind::prefill_step_done:
      return for_prefill(c, event, on_prefill_step_done);
    case EventKind::prefill_schedule:
      return for_prefill(c, event, schedule_prefill);
    case EventKind::decode_wake:
      return for_decode(c, event, &DecodeNode::wake_generation, on_decode_wake);
    case EventKind::decode_schedule:
      return for_decode(c, event, &DecodeNode::generation, schedule_decode);
    case EventKind::abort_prefill:
      return on_abort_prefill(c, event.payload[0], event.payload[1], event.payload[2],
                              *place_of(world_, event.target).prefill, event.payload[3] == 1);
    case EventKind::peer_lost:
      return for_decode(c, event, nullptr,
                        [&event](const Context& context, Deployment& d, DecodeNode& n) {
                          on_peer_lost(context, d, n, static_cast<std::uint32_t>(event.payload[0]));
                        });
    case EventKind::notice:
      return apply_notice(c, event);
    case EventKind::count_:
      break;
  }
  HANDOFF_CHECK(false, "unknown event kind: " + to_string(event));
}

void Cluster::finish(Schedule& schedule, StopReason stop) {
  judge_end(Context{world_, schedule}, stop);
}

}  // namespace handoff

// Transfers: chunks of pages queued per destination, carried by the network, and the notices that
// follow. Data and notice are separate: data becomes visible in decode's memory, then prefill
// learns that it has (an RDMA write completes at the sender when the receiver has acknowledged it),
// then a control message tells decode. The pages of an operation are copied at the instant they
// become visible, from what the source pages hold at that instant.
#include <fmt/format.h>

#include <algorithm>

#include "models/oracle/provenance.hpp"
#include "models/serving/handlers.hpp"
#include "models/serving/judge.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

constexpr std::uint64_t kSuccess = 1;

std::uint32_t new_operation(World& world) {
  if (!world.operations_free.empty()) {
    const std::uint32_t slot = world.operations_free.back();
    world.operations_free.pop_back();
    world.operations[slot] = TransferOperation{};
    return slot;
  }
  world.operations.emplace_back();
  return static_cast<std::uint32_t>(world.operations.size() - 1);
}

void free_operation(World& world, std::uint32_t slot) {
  world.operations[slot] = TransferOperation{};
  world.operations_free.push_back(slot);
}

// Prefill slices decode's list with its own counters: where decode's is shorter, prefill's is cut.
TransferOperation::Part slice(const NodeMemory& memory, std::uint32_t group, const Request& r,
                              const Destination& to, std::int64_t from, std::int64_t until) {
  const std::int64_t size = memory.groups[group].pool.page_tokens();
  TransferOperation::Part part;
  part.group = group;
  part.position = from / size * size;
  const auto& source = r.prefill.pages[group];
  const std::vector<PageIndex> none;
  const auto& destination = group < to.pages.size() ? to.pages[group] : none;
  const auto first = static_cast<std::size_t>(from / size);
  const auto last = std::min(static_cast<std::size_t>(div_ceil(until, size)), destination.size());
  for (std::size_t i = first; i < last; ++i) {
    part.source.push_back(source[i]);
    part.destination.push_back(destination[i]);
  }
  part.end = std::min(until, static_cast<std::int64_t>(last) * size);
  return part;
}

void match_notice_faults(const Context& c, TransferOperation& op, const Deployment& d, Request& r) {
  op.faults.assign(d.config->ranks, nullptr);
  if (c.world.config->faults.empty()) return;
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank) {
    const NoticeFacts facts{op.deployment, op.prefill_node,      op.decode_node, rank,
                            r.serial,      r.spec.prompt_tokens, c.now()};
    const NoticeFault* fault = c.world.matcher.match(facts);
    if (fault == nullptr || fault->kind == NoticeFaultKind::stale) continue;
    op.faults[rank] = fault;
    record_firing(c, fault_index(c.world, fault), &r,
                  fmt::format("{} on rank {}", name(fault->kind), rank));
  }
}

const NoticeFault* fault_of(const TransferOperation& op, NoticeFaultKind kind) {
  for (const NoticeFault* fault : op.faults)
    if (fault != nullptr && fault->kind == kind) return fault;
  return nullptr;
}

// --- queues
// ------------------------------------------------------------------------------------------

void start_flow(const Context& c, TransferOperation& op, std::uint32_t slot) {
  World& world = c.world;
  Deployment& d = world.deployments[op.deployment];
  PrefillNode& n = d.prefill[op.prefill_node];
  DecodeNode& to = d.decode[op.decode_node];
  for (const TransferOperation::Part& part : op.parts) {
    n.memory.groups[part.group].book.posted(part.source);
    to.memory.groups[part.group].book.posted(part.destination);
  }
  op.number = ++world.transfers_posted;
  trace_send(c, op);
  op.flowing = true;
  world.network.advance(c.now(), world.flows_done);
  op.flow = world.network.start(world.topology, n.vertex, to.vertex, op.bytes, c.now());
  if (op.flow.value >= world.flow_operation.size()) world.flow_operation.resize(op.flow.value + 1);
  world.flow_operation[op.flow.value] = slot;
  reschedule_network(c);
}

// The operation will not be carried: the request no longer counts it.
void abandon(const Context& c, std::uint32_t slot) {
  TransferOperation& op = c.world.operations[slot];
  Deployment& d = c.world.deployments[op.deployment];
  Request* r = c.request(op.request, op.serial);
  const std::uint32_t node = op.prefill_node;
  free_operation(c.world, slot);
  if (r != nullptr) on_operation_ended(c, d, d.prefill[node], *r);
}

void send_success(const Context& c, std::uint32_t slot);

void start_next(const Context& c, PrefillNode& n, std::uint32_t queue) {
  auto& fifo = n.queues[queue];
  while (!fifo.empty()) {
    const std::uint32_t slot = fifo.front();
    TransferOperation& op = c.world.operations[slot];
    if (op.flowing) return;
    // The worker looks at the room once, when it takes the chunk from its queue.
    if (n.rooms.reduced(op.room) == KvPoll::failed) {
      fifo.pop_front();
      abandon(c, slot);
      continue;
    }
    const NoticeFault* reordered = op.last ? fault_of(op, NoticeFaultKind::reordered) : nullptr;
    if (reordered != nullptr && !op.notices_sent) {
      fifo.pop_front();
      op.held_back = true;
      send_success(c, slot);
      const TimeNs overtaken = c.world.deployments[op.deployment].engine.control_latency_ns;
      c.at(c.now() + overtaken + reordered->by_ns, EventKind::operation_start, kNetworkComponent,
           slot, op.serial);
      continue;
    }
    start_flow(c, op, slot);
    return;
  }
}

// --- notices
// -----------------------------------------------------------------------------------------

// Another room that waits on the same decode node, if there is one.
std::uint64_t other_room(const Context& c, const DecodeNode& n, std::uint64_t room) {
  for (const std::uint32_t slot : n.transfer)
    if (c.world.requests[slot].room != room) return c.world.requests[slot].room;
  return 0;
}

void send_success(const Context& c, std::uint32_t slot) {
  TransferOperation& op = c.world.operations[slot];
  Deployment& d = c.world.deployments[op.deployment];
  const DecodeNode& to = d.decode[op.decode_node];
  op.notices_sent = true;
  Request* r = c.request(op.request, op.serial);
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank) {
    const NoticeFault* fault = op.faults.empty() ? nullptr : op.faults[rank];
    TimeNs when = c.now() + d.engine.control_latency_ns;
    std::uint64_t room = op.room;
    bool delivered = true;
    if (fault != nullptr) {
      if (fault->kind == NoticeFaultKind::lost) delivered = false;
      if (fault->kind == NoticeFaultKind::delayed) when += fault->by_ns;
      if (fault->kind == NoticeFaultKind::misdirected) {
        room = other_room(c, to, op.room);
        delivered = room != 0;
      }
    }
    if (r != nullptr) c.note(*r, Step::success_sent, d.prefill[op.prefill_node].component, rank);
    if (!delivered) continue;
    const std::uint64_t word = rank | kSuccess << 32;
    c.at(when, EventKind::notice, to.component, room, word, op.serial);
    if (fault != nullptr && fault->kind == NoticeFaultKind::duplicate)
      c.at(when + fault->by_ns, EventKind::notice, to.component, room, word, op.serial, 1);
  }
}

// --- landing
// -----------------------------------------------------------------------------------------

// Pages of a part that a `short` fault keeps from being written on this rank.
std::size_t missing_pages(const Deployment& d, const TransferOperation& op,
                          const TransferOperation::Part& part, std::uint32_t rank) {
  const NoticeFault* fault = op.faults.empty() ? nullptr : op.faults[rank];
  if (fault == nullptr || fault->kind != NoticeFaultKind::short_data) return 0;
  const auto& group = fault->select.group;
  if (group.has_value() && *group != d.config->model.groups[part.group].name) return 0;
  return std::min(part.destination.size(), static_cast<std::size_t>(fault->pages));
}

class Landing {
 public:
  Landing(const Context& c, const TransferOperation& op, Deployment& d, const PrefillNode& from,
          DecodeNode& to)
      : c_(c), op_(op), d_(d), from_(from), to_(to) {
    const Request* r = c.request(op.request, op.serial);
    tenant_ = r != nullptr ? r->spec.tenant : 0;
  }
  ~Landing() { drop(); }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  void part(const TransferOperation::Part& part) {
    for (std::uint32_t rank = 0; rank < d_.config->ranks; ++rank) {
      const ShadowPlane& source = from_.memory.groups[part.group].planes[rank];
      ShadowPlane& destination = to_.memory.groups[part.group].planes[rank];
      const std::size_t missing = missing_pages(d_, op_, part, rank);
      if (missing > 0) trace_loss(c_, op_, part.group, rank, static_cast<std::uint32_t>(missing));
      const std::size_t pages = part.destination.size() - missing;
      for (std::size_t i = 0; i < pages; ++i)
        copy(source, part.source[i], destination, part.destination[i]);
      const std::int64_t size = source.page_tokens();
      const std::int64_t end =
          std::min(part.end, part.position + static_cast<std::int64_t>(pages) * size);
      c_.world.oracles.coverage.delivered(op_.serial, rank, part.group,
                                          std::max<std::int64_t>(end - part.position, 0));
    }
  }

 private:
  // Runs copied from one source record share one record here.
  RecordId record_for(RecordId origin) {
    if (record_.valid() && origin == origin_) return record_;
    drop();
    origin_ = origin;
    record_ = d_.log.add({RecordKind::transfer_write, static_cast<std::uint16_t>(to_.component),
                          tenant_, op_.serial, c_.now(), c_.event(), origin});
    d_.log.acquire(record_);
    return record_;
  }

  void drop() {
    if (record_.valid()) d_.log.release(record_);
    record_ = {};
  }

  void copy(const ShadowPlane& source, PageIndex from, ShadowPlane& destination, PageIndex to) {
    const auto runs = source.runs(from);
    // The whole page travels: slots that hold nothing at the source hold nothing here either.
    const bool whole =
        runs.size() == 1 && runs[0].begin == 0 && runs[0].end == source.page_tokens();
    if (!whole) destination.clear(to, d_.trie, d_.log);
    for (const ContentRun& run : runs) {
      ContentRun copied = run;
      copied.write = record_for(run.write);
      copied.source_page = from;
      destination.write(to, copied, d_.trie, d_.log);
    }
  }

  const Context& c_;
  const TransferOperation& op_;
  Deployment& d_;
  const PrefillNode& from_;
  DecodeNode& to_;
  std::uint32_t tenant_ = 0;
  RecordId record_;
  RecordId origin_;
};

void end_books(TransferOperation& op, PrefillNode& from, DecodeNode& to) {
  for (const TransferOperation::Part& part : op.parts) {
    from.memory.groups[part.group].book.ended(part.source);
    to.memory.groups[part.group].book.ended(part.destination);
  }
}

// Somebody else's pages changed under a running request: it must be looked at again.
bool touches_others(const TransferOperation& op, const DecodeNode& to) {
  for (const TransferOperation::Part& part : op.parts)
    for (const PageIndex page : part.destination)
      if (to.memory.groups[part.group].book.owner(page) != op.serial) return true;
  return false;
}

void land(const Context& c, TransferOperation& op, Deployment& d, PrefillNode& from,
          DecodeNode& to) {
  catch_up_decode(c, d, to);
  judge_landing(c, op, to);
  const Request* r = c.request(op.request, op.serial);
  const bool read_already = r != nullptr && r->decode.state != DecodeState::transfer;
  if (read_already || touches_others(op, to)) to.recheck = true;
  Landing landing(c, op, d, from, to);
  for (const TransferOperation::Part& part : op.parts) landing.part(part);
  trace_transfer_end(c, PageOp::land, op);
  if (op.last && op.aux_slot >= 0)
    for (AuxRecord& aux : to.aux[static_cast<std::size_t>(op.aux_slot)]) aux = op.aux;
  if (to.recheck || op.last) touch_decode(c, d, to);
}

}  // namespace

void reschedule_network(const Context& c) {
  const TimeNs next = c.world.flows_done.empty() ? c.world.network.next_completion() : c.now();
  ++c.world.network_generation;
  if (next != kNever)
    c.at(std::max(next, c.now()), EventKind::network_wake, kNetworkComponent,
         c.world.network_generation);
}

std::uint64_t prefill_checksum(const Context& c, const Deployment& d, const PrefillNode& n,
                               const Request& r) {
  if (!d.engine.commit.checksum) return 0;
  std::uint64_t sum = 0;
  for (std::size_t g = 0; g < n.memory.groups.size(); ++g)
    sum = hash_combine(sum, content_digest(c.deployment(r).trie, n.memory.groups[g].planes[0],
                                           r.prefill.pages[g], r.prefill.tokens));
  return sum;
}

void post_chunk(const Context& c, Deployment& d, PrefillNode& n, Request& r, std::int64_t from,
                std::int64_t to, bool last) {
  const auto known = n.destinations.find(r.room);
  if (known == n.destinations.end()) return;  // the room was dropped: nobody waits
  if (!last && to <= from) return;
  const Destination& destination = known->second;
  const std::uint32_t slot = new_operation(c.world);
  TransferOperation& op = c.world.operations[slot];
  op.live = true;
  op.deployment = r.spec.deployment;
  op.prefill_node = r.prefill.node;
  op.decode_node = destination.decode_node;
  op.room = r.room;
  op.request = c.slot_of(r);
  op.serial = r.serial;
  op.last = last;
  op.queue = static_cast<std::uint32_t>(op.decode_node %
                                        static_cast<std::uint64_t>(d.engine.transfer_queues));
  op.parts.push_back(slice(n.memory, 0, r, destination, from, to));
  if (last) {
    // Index lists of the other groups travel whole with the last chunk.
    for (std::uint32_t g = 1; g < n.memory.groups.size(); ++g)
      op.parts.push_back(slice(n.memory, g, r, destination, 0, to));
    op.aux_slot = destination.aux_slot;
    op.aux = {r.room, r.prefill.tokens, prefill_checksum(c, d, n, r), r.serial};
    match_notice_faults(c, op, d, r);
    c.note(r, Step::last_chunk_posted, n.component, div_ceil(to, d.engine.page_tokens));
  }
  for (const TransferOperation::Part& part : op.parts)
    op.bytes += static_cast<std::int64_t>(part.source.size()) * d.page_bytes[part.group];
  r.prefill.posted = to;
  ++r.prefill.flowing;
  n.queues[op.queue].push_back(slot);
  if (n.queues[op.queue].size() == 1) start_next(c, n, op.queue);
}

void post_pull(const Context& c, Deployment& d, PrefillNode& n, Request& r) {
  const std::uint32_t slot = new_operation(c.world);
  TransferOperation& op = c.world.operations[slot];
  op.live = true;
  op.deployment = r.spec.deployment;
  op.prefill_node = r.prefill.node;
  op.decode_node = r.decode.node;
  op.room = r.room;
  op.request = c.slot_of(r);
  op.serial = r.serial;
  op.last = true;
  op.queue = static_cast<std::uint32_t>(op.decode_node %
                                        static_cast<std::uint64_t>(d.engine.transfer_queues));
  const Destination to{op.request, r.serial, r.decode.node, r.decode.pages, r.decode.aux_slot};
  for (std::uint32_t g = 0; g < n.memory.groups.size(); ++g)
    op.parts.push_back(slice(n.memory, g, r, to, 0, r.prefill.tokens));
  op.aux_slot = r.decode.aux_slot;
  // What decode was told when prefill held it, not what the pages hold by now.
  op.aux = {r.room, r.prefill.tokens, r.prefill.checksum, r.serial};
  match_notice_faults(c, op, d, r);
  for (const TransferOperation::Part& part : op.parts)
    op.bytes += static_cast<std::int64_t>(part.source.size()) * d.page_bytes[part.group];
  ++r.prefill.flowing;
  n.queues[op.queue].push_back(slot);
  if (n.queues[op.queue].size() == 1) start_next(c, n, op.queue);
}

void on_operation_start(const Context& c, std::uint32_t operation, RequestSerial serial) {
  TransferOperation& op = c.world.operations[operation];
  if (!op.live || !op.held_back || op.serial != serial) return;  // dropped with its node
  op.held_back = false;
  start_flow(c, op, operation);
}

void on_network_wake(const Context& c) {
  World& world = c.world;
  world.network.advance(c.now(), world.flows_done);
  const auto done = std::exchange(world.flows_done, {});
  for (const FlowId flow : done) {
    const std::uint32_t slot = world.flow_operation[flow.value];
    TransferOperation& op = world.operations[slot];
    Deployment& d = world.deployments[op.deployment];
    PrefillNode& n = d.prefill[op.prefill_node];
    const TimeNs latency = world.topology.latency(n.vertex, d.decode[op.decode_node].vertex);
    TimeNs visible = c.now() + latency;
    op.arrived = true;
    const NoticeFault* early = op.last ? fault_of(op, NoticeFaultKind::early) : nullptr;
    if (early != nullptr) {
      send_success(c, slot);
      visible = c.now() + d.engine.control_latency_ns + early->by_ns;
    }
    c.at(visible, EventKind::data_visible, kNetworkComponent, slot, op.serial);
    auto& fifo = n.queues[op.queue];
    if (!fifo.empty() && fifo.front() == slot) {
      fifo.pop_front();
      start_next(c, n, op.queue);
    }
  }
  reschedule_network(c);
}

void on_data_visible(const Context& c, std::uint32_t operation, RequestSerial serial) {
  TransferOperation& op = c.world.operations[operation];
  if (!op.live || !op.arrived || op.serial != serial) return;  // dropped with its node
  Deployment& d = c.world.deployments[op.deployment];
  PrefillNode& from = d.prefill[op.prefill_node];
  DecodeNode& to = d.decode[op.decode_node];
  land(c, op, d, from, to);
  ++d.totals.transfers;
  d.totals.transfer_bytes += op.bytes;
  end_books(op, from, to);
  if (op.last) {
    if (!op.notices_sent) send_success(c, operation);
    from.rooms.update_all(op.room, KvPoll::success, false);
    wake_prefill(c, from);
  }
  Request* r = c.request(op.request, op.serial);
  if (r != nullptr && pulls(d))
    c.at(c.now() + d.engine.control_latency_ns, EventKind::pull_done, from.component, op.request,
         op.serial);
  free_operation(c.world, operation);
  if (r != nullptr) on_operation_ended(c, d, from, *r);
}

namespace {

void drop_flow(const Context& c, FlowId flow) {
  World& world = c.world;
  const auto finished = std::find(world.flows_done.begin(), world.flows_done.end(), flow);
  if (finished != world.flows_done.end())
    world.flows_done.erase(finished);
  else
    world.network.cancel(flow, c.now());
}

}  // namespace

void drop_operations(const Context& c, std::uint32_t deployment, NodeRole role,
                     std::uint32_t node) {
  World& world = c.world;
  world.network.advance(c.now(), world.flows_done);
  Deployment& d = world.deployments[deployment];
  for (std::uint32_t slot = 0; slot < world.operations.size(); ++slot) {
    TransferOperation& op = world.operations[slot];
    const std::uint32_t mine = role == NodeRole::prefill ? op.prefill_node : op.decode_node;
    if (!op.live || op.deployment != deployment || mine != node) continue;
    PrefillNode& from = d.prefill[op.prefill_node];
    std::erase(from.queues[op.queue], slot);
    if (op.flowing) {
      // A flow that has arrived may have given its id to another one already.
      if (!op.arrived) drop_flow(c, op.flow);
      trace_transfer_end(c, PageOp::drop, op);
      end_books(op, from, d.decode[op.decode_node]);
    }
    if (role == NodeRole::decode) from.rooms.fail(op.room, 500);
    abandon(c, slot);
    wake_prefill(c, from);
  }
  for (PrefillNode& n : d.prefill)
    for (std::uint32_t q = 0; q < n.queues.size(); ++q) start_next(c, n, q);
  reschedule_network(c);
}

void send_failure_notice(const Context& c, Deployment& d, PrefillNode& n, std::uint64_t room,
                         const Destination& to, Request* r, std::int32_t status) {
  const DecodeNode& decode = d.decode[to.decode_node];
  if (r != nullptr) c.note(*r, Step::failure_sent, n.component, status);
  for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank)
    c.at(c.now() + d.engine.control_latency_ns, EventKind::notice, decode.component, room,
         rank | static_cast<std::uint64_t>(status) << 40, to.serial);
}

}  // namespace handoff

// The state of a run: deployments with their nodes, requests in flight, transfers, and what
// observes them. Plain copyable data; the handlers that change it are free functions, one file a
// place of action (router.cpp, prefill.cpp, decode.cpp, transfer.cpp, lifecycle.cpp), called from
// Cluster::apply alone.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/faults/plan.hpp"
#include "models/network/flows.hpp"
#include "models/network/topology.hpp"
#include "models/oracle/oracles.hpp"
#include "models/serving/config.hpp"
#include "models/serving/events.hpp"
#include "models/serving/node_memory.hpp"
#include "models/serving/page_trace.hpp"
#include "models/serving/request.hpp"
#include "sim/engine/simulator.hpp"

namespace handoff {

// Components, the targets and sources of events, are dense: 0 the run itself, 1 the workload, 2 the
// network, 3 faults and operations; then for each deployment its router, prefill nodes, decode
// nodes.
inline constexpr std::uint32_t kWorkloadComponent = 1;
inline constexpr std::uint32_t kNetworkComponent = 2;
inline constexpr std::uint32_t kFaultComponent = 3;
inline constexpr std::uint32_t kFirstDeploymentComponent = 4;

// What prefill knows of a room besides its status.
struct Destination {
  std::uint32_t request = 0;  // slot
  RequestSerial serial = kNoSerial;
  std::uint32_t decode_node = 0;
  PageLists pages;
  std::int32_t aux_slot = -1;
};

struct PrefillNode {
  std::string name;
  std::uint32_t component = 0;
  VertexId vertex;
  bool up = true;
  std::uint64_t generation = 0;  // of the process: events of an earlier one are stale
  NodeMemory memory;
  RoomBook rooms;
  std::map<std::uint64_t, Destination> destinations;
  std::map<std::uint64_t, std::int32_t> tombstones;  // rooms rejected before any queue -> status
  std::int64_t aux_free = 0;
  std::vector<std::uint32_t> bootstrap, waiting, inflight;  // request slots, FIFO
  std::int64_t running_chunk = -1;                          // slot of the chunked request, -1: none
  struct Work {
    std::uint32_t request;
    RequestSerial serial;
    std::int64_t tokens;
    std::int64_t context;
  };
  std::vector<Work> batch;  // of the running step
  // Chunks whose sending waits for the next step to end (overlapped scheduling).
  struct Deferred {
    std::uint32_t request;
    RequestSerial serial;
    std::int64_t end;
  };
  std::vector<Deferred> deferred;
  bool stepping = false;
  bool schedule_pending = false;
  std::vector<std::deque<std::uint32_t>> queues;  // transfer operations, one FIFO a queue
  ContentNode last_cached_tip;                    // for the bug that ignores content
  std::int64_t queued_tokens = 0;                 // for least_tokens routing
  NodeTotals totals;
};

struct DecodeNode {
  std::string name;
  std::uint32_t component = 0;
  VertexId vertex;
  bool up = true;
  std::uint64_t generation = 0;
  NodeMemory memory;
  RoomBook rooms;
  std::map<std::uint64_t, std::uint32_t> requests_by_room;  // current holder of a room number
  std::map<std::uint64_t, std::uint32_t> used_rooms;        // kept only when room numbers are few
  std::vector<std::int32_t> aux_free;
  std::vector<std::vector<AuxRecord>> aux;  // [slot][rank]
  std::vector<std::uint32_t> prealloc, transfer, waiting, running, retracted;
  // Lazy stepping. The step in progress began at step_began and ends at step_end.
  bool stepping = false;
  TimeNs step_began = 0;
  TimeNs step_end = 0;
  TimeNs planned_at = 0;          // last pass that began a step
  std::int64_t steps_left = 0;    // planned, the one in progress included
  std::int64_t context_sum = 0;   // over the batch, at the start of the step in progress
  std::int64_t attended_sum = 0;  // likewise
  std::int64_t growing = 0;       // requests whose attended positions still grow with each step
  std::uint64_t wake_generation = 0;
  bool schedule_pending = false;
  bool in_pass = false;
  bool recheck = false;  // somebody else wrote to a page since the last check
  std::uint64_t joins = 0;
  std::int64_t queued_tokens = 0;
  NodeTotals totals;
};

struct Deployment {
  const DeploymentConfig* config =
      nullptr;  // into Run::config; policy may be replaced by an operation
  EnginePolicy engine;
  std::string engine_name;
  bool accepting = true;
  std::uint32_t router_component = 0;
  ContentTrie trie;
  ProvenanceLog log;
  CostModel prefill_cost, decode_cost;
  std::vector<std::int64_t> page_bytes;  // [group]: bytes of one page over all ranks
  std::vector<PrefillNode> prefill;
  std::vector<DecodeNode> decode;
  std::uint64_t routed = 0;
  DeploymentTotals totals;
};

// One posted piece of a transfer: some pages of some groups of one request.
struct TransferOperation {
  bool live = false;
  bool flowing = false;
  bool arrived = false;    // all bytes carried; becomes visible after the latency
  bool held_back = false;  // reordered: waits for its own notice to pass
  bool notices_sent = false;
  std::uint32_t deployment = 0, prefill_node = 0, decode_node = 0;
  std::uint64_t room = 0;
  std::uint32_t request = 0;
  RequestSerial serial = kNoSerial;
  std::uint32_t queue = 0;
  bool last = false;
  struct Part {
    std::uint32_t group = 0;
    std::int64_t position = 0;  // of the first page
    std::int64_t end = 0;       // first position not covered
    std::vector<PageIndex> source, destination;
  };
  std::vector<Part> parts;
  std::int32_t aux_slot = -1;
  AuxRecord aux;
  std::int64_t bytes = 0;
  FlowId flow;
  std::uint64_t number = 0;  // running number of the posted transfer
  // Faults on the notice of this operation, per rank; nullptr: none.
  std::vector<const NoticeFault*> faults;
};

struct World {
  // Shared and immutable for the run: copies of the world point to one.
  std::shared_ptr<const RunConfig> config;
  std::vector<Deployment> deployments;
  Topology topology;
  FlowNetwork network;
  std::uint64_t network_generation = 0;
  std::vector<TransferOperation> operations;
  std::vector<std::uint32_t> operations_free;
  std::vector<std::uint32_t> flow_operation;  // [flow] -> operation
  std::vector<FlowId> flows_done;             // scratch

  MergedWorkload workload;
  std::optional<RequestSpec> next_arrival;  // scheduled
  std::optional<RequestSpec> next_row;      // head of the merged workload
  std::size_t next_oversize = 0;            // in plan.oversize
  std::vector<Request> requests;
  std::vector<std::uint32_t> requests_free;
  RequestSerial next_serial = 0;
  std::uint64_t completed = 0;
  std::uint64_t outstanding = 0;

  TenantNames tenants;
  FaultPlan plan;
  NoticeMatcher matcher;
  OversizeCompanions companions;
  Oracles oracles;
  std::vector<RequestOutcome> outcomes;  // not yet taken by the runner
  std::vector<FaultFiring> firings;
  std::uint64_t firings_total = 0;
  std::vector<std::uint64_t> transitions;  // [row_number()]: how often it was taken
  PageTrace pages;
  std::uint64_t transfers_posted = 0;
};

// Steps of a request that are kept.
inline constexpr std::ptrdiff_t kJournalMax = 128;

// What every handler gets.
struct Context {
  World& world;
  Schedule& schedule;

  [[nodiscard]] TimeNs now() const { return schedule.now(); }
  [[nodiscard]] std::uint64_t event() const { return schedule.event_number(); }
  void at(TimeNs when, EventKind kind, std::uint32_t target, std::uint64_t a = 0,
          std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0) const {
    schedule.at(when, static_cast<std::uint16_t>(kind), target, {a, b, c, d});
  }
  [[nodiscard]] Deployment& deployment(const Request& r) const {
    return world.deployments[r.spec.deployment];
  }
  // nullptr when the request has ended: a message about it is stale.
  [[nodiscard]] Request* request(std::uint64_t slot, std::uint64_t serial) const {
    Request& r = world.requests[slot];
    return r.live && r.serial == serial ? &r : nullptr;
  }
  [[nodiscard]] std::uint32_t slot_of(const Request& r) const {
    return static_cast<std::uint32_t>(&r - world.requests.data());
  }
  void note(Request& r, Step step, std::uint32_t component, std::int64_t a = 0,
            std::int64_t b = 0) const {
    r.journal.push_back({now(), event(), step, component, a, b});
    if (std::ssize(r.journal) <= kJournalMax) return;
    // A request that goes in circles: what happened first and last is kept.
    const auto middle = r.journal.begin() + kJournalMax / 2;
    if (middle->step == Step::omitted) {
      ++middle->a;
      r.journal.erase(middle + 1);
    } else {
      *middle = {middle->at, middle->event, Step::omitted, middle->component, 2, 0};
      r.journal.erase(middle + 1);
    }
  }
};

}  // namespace handoff

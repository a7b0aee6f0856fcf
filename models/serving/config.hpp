// A run as values: deployments, network, workloads, faults, operations. The scenario loader fills
// these; nothing below models/ knows YAML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/cost/cost.hpp"
#include "models/cost/spec.hpp"
#include "models/faults/fault.hpp"
#include "models/serving/policy.hpp"
#include "models/workload/workload.hpp"
#include "sim/engine/simulator.hpp"

namespace handoff {

struct NodeGroupConfig {
  std::uint32_t nodes = 1;
  HardwareSpec hardware;
  std::int64_t kv_pool_tokens = 0;  // of every group; rounded down to whole pages
  RooflineEfficiency efficiency;
};

// How the ranks of a node are modelled. Collapsed: one rank stands for all (they hold the same),
// which is exact as long as nothing tells ranks apart. Explicit: `ranks` of them.
struct DeploymentConfig {
  std::string name;
  ModelSpec model;
  std::string engine_name;  // preset, for reports
  EnginePolicy engine;
  std::int64_t context_window = 0;
  NodeGroupConfig prefill;
  NodeGroupConfig decode;   // nodes == 0 for an embedding model
  std::uint32_t ranks = 1;  // modelled per node
};

struct NetworkConfig {
  TimeNs link_latency_ns = 2 * kMicrosecond;
  // Rate of a node's attachment to the fabric; 0: devices x nic rate of its hardware.
  std::int64_t node_bytes_per_second = 0;
  // 0: the fabric does not block (each attachment is its own bottleneck).
  std::int64_t spine_bytes_per_second = 0;
};

// Timed operations on a deployment.
struct Operation {
  enum class Kind : std::uint8_t {
    take_offline,  // nothing new is admitted; what runs is aborted
    drain,         // nothing new is admitted; what runs ends
    redeploy,      // comes back, empty memory, with `engine` when given
  } kind = Kind::take_offline;
  std::uint32_t deployment = 0;
  TimeNs at_ns = 0;
  std::optional<EnginePolicy> engine;
  std::string engine_name;
  SourceMark mark;
};

// A remark in the timeline of a report ("the researcher's report arrives"). Has no effect.
struct TimelineNote {
  TimeNs at_ns = 0;
  std::string text;
};

enum class Stepping : std::uint8_t {
  lazy,         // a decode node advances only when something can change
  every_token,  // one event a decode step; must give the same results
};

struct RunConfig {
  std::uint64_t seed = 1;
  std::vector<DeploymentConfig> deployments;
  NetworkConfig network;
  std::vector<WorkloadConfig> workloads;
  std::vector<Fault> faults;
  std::vector<Operation> operations;
  std::vector<TimelineNote> notes;
  Stepping stepping = Stepping::lazy;
  TimeNs terminate_within_ns = 2 * kHour;  // oracle I6: bound from arrival to the terminal state
  std::uint64_t findings_max = 10'000;     // kept in full; beyond, counted
  Limits limits;
};

}  // namespace handoff

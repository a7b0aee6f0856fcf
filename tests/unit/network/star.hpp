// A star: hosts around one switch, each with a link up and a link down of its own rate.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/network/flows.hpp"
#include "models/network/topology.hpp"

namespace handoff {

struct Star {
  explicit Star(std::span<const std::int64_t> bytes_per_second) {
    const VertexId hub = topology.add_vertex("hub", VertexKind::network_switch);
    for (std::size_t i = 0; i < bytes_per_second.size(); ++i) {
      hosts.push_back(topology.add_vertex("h" + std::to_string(i), VertexKind::host));
      up.push_back(topology.add_link(hosts[i], hub, bytes_per_second[i], 1));
      down.push_back(topology.add_link(hub, hosts[i], bytes_per_second[i], 1));
    }
    error = topology.freeze(std::vector<std::vector<VertexId>>{hosts});
    network = FlowNetwork(topology);
  }
  Star(std::initializer_list<std::int64_t> rates)
      : Star(std::span<const std::int64_t>(rates.begin(), rates.size())) {}

  FlowId start(std::size_t from, std::size_t to, std::int64_t bytes, TimeNs now) {
    network.advance(now, done);
    return network.start(topology, hosts[from], hosts[to], bytes, now);
  }
  // Advances from completion to completion, up to `until`; returns (flow, time) pairs.
  std::vector<std::pair<FlowId, TimeNs>> run(TimeNs until = kNever - 1) {
    std::vector<std::pair<FlowId, TimeNs>> ended;
    while (network.next_completion() <= until) {
      const TimeNs now = network.next_completion();
      std::vector<FlowId> batch;
      network.advance(now, batch);
      for (const FlowId flow : batch) ended.emplace_back(flow, now);
    }
    return ended;
  }

  Topology topology;
  std::vector<VertexId> hosts;
  std::vector<LinkId> up, down;
  FlowNetwork network;
  std::vector<FlowId> done;
  std::string error;
};

}  // namespace handoff

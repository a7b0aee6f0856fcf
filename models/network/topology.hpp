// The network graph: nodes, NICs and switches joined by links, each with a rate and a latency.
// Held in a Boost.Graph adjacency list inside the .cpp; what the simulation uses at run time is a dense
// route table, so Topology is a plain copyable value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/id.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

using VertexId = Id<struct VertexTag>;
using LinkId = Id<struct LinkTag>;

enum class VertexKind : std::uint8_t { host, nic, network_switch };

class Topology {
 public:
  VertexId add_vertex(std::string name, VertexKind kind);
  // One direction. bytes_per_second > 0, latency_ns >= 0. The name is what scenarios select links by;
  // `add_duplex` makes two links named "a->b" and "b->a".
  LinkId add_link(VertexId from, VertexId to, std::int64_t bytes_per_second, TimeNs latency_ns);
  void add_duplex(VertexId a, VertexId b, std::int64_t bytes_per_second, TimeNs latency_ns);
  // Computes routes between all hosts: least total latency, then fewest links, then lowest link ids.
  // Returns an error text when two hosts of one group cannot reach each other, else empty. `group` keeps
  // deployments apart: routes are computed only between hosts that share one.
  [[nodiscard]] std::string freeze(std::span<const std::vector<VertexId>> groups);

  [[nodiscard]] std::span<const LinkId> route(VertexId from, VertexId to) const;
  [[nodiscard]] TimeNs latency(VertexId from, VertexId to) const;
  // Lowest rate on the route, bytes per second.
  [[nodiscard]] std::int64_t bottleneck(VertexId from, VertexId to) const;
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] std::int64_t rate(LinkId link) const { return links_[link.value].bytes_per_second; }
  [[nodiscard]] const std::string& link_name(LinkId link) const { return links_[link.value].name; }
  [[nodiscard]] LinkId find_link(std::string_view name) const;  // invalid when absent
  [[nodiscard]] VertexId find_vertex(std::string_view name) const;
  [[nodiscard]] const std::string& vertex_name(VertexId v) const { return vertices_[v.value].name; }
  [[nodiscard]] std::size_t vertices() const { return vertices_.size(); }

 private:
  struct Vertex {
    std::string name;
    VertexKind kind;
  };
  struct Link {
    std::string name;
    VertexId from, to;
    std::int64_t bytes_per_second;
    TimeNs latency_ns;
  };
  struct Route {
    std::uint32_t first = 0, count = 0;  // in route_links_
    TimeNs latency_ns = -1;              // -1: no route
  };
  [[nodiscard]] const Route& find_route(VertexId from, VertexId to) const;

  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<Route> routes_;  // vertices x vertices after freeze()
  std::vector<LinkId> route_links_;
};

}  // namespace handoff

// The network graph: hosts, NICs and switches joined by links, each with a rate and a latency.
// Routes are fixed before the run: what the simulation uses is a dense route table, so Topology is
// a plain copyable value. How bandwidth is shared is not decided here but in flows.hpp.
#pragma once

#include <cstdint>
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
  // Names are unique. Nothing can be added after freeze().
  VertexId add_vertex(std::string name, VertexKind kind);
  // One direction. bytes_per_second > 0, latency_ns >= 0. The name is what scenarios select links
  // by: "a->b", and "a->b#2" for the second link between the same two. `add_duplex` makes "a->b"
  // and "b->a".
  LinkId add_link(VertexId from, VertexId to, std::int64_t bytes_per_second, TimeNs latency_ns);
  void add_duplex(VertexId a, VertexId b, std::int64_t bytes_per_second, TimeNs latency_ns);
  // Computes routes between all hosts: least total latency, then fewest links, then lowest link ids
  // (compared from the source on). Hosts are ends of routes only; they never forward. Returns an
  // error text when two hosts of one group cannot reach each other, else empty. `group` keeps
  // deployments apart: routes are computed only between hosts that share one. Called once.
  [[nodiscard]] std::string freeze(std::span<const std::vector<VertexId>> groups);

  // Two different hosts of one group, after freeze().
  [[nodiscard]] std::span<const LinkId> route(VertexId from, VertexId to) const;
  [[nodiscard]] TimeNs latency(VertexId from, VertexId to) const;
  // Lowest rate on the route, bytes per second.
  [[nodiscard]] std::int64_t bottleneck(VertexId from, VertexId to) const;

  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] std::int64_t rate(LinkId link) const { return link_at(link).bytes_per_second; }
  [[nodiscard]] const std::string& link_name(LinkId link) const { return link_at(link).name; }
  [[nodiscard]] LinkId find_link(std::string_view name) const;  // invalid when absent
  [[nodiscard]] VertexId find_vertex(std::string_view name) const;
  [[nodiscard]] const std::string& vertex_name(VertexId v) const { return vertex_at(v).name; }
  [[nodiscard]] VertexKind vertex_kind(VertexId v) const { return vertex_at(v).kind; }
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
  struct Search;  // shortest paths towards one host

  [[nodiscard]] const Link& link_at(LinkId link) const;
  [[nodiscard]] const Vertex& vertex_at(VertexId v) const;
  [[nodiscard]] const Route& find_route(VertexId from, VertexId to) const;

  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<Route> routes_;  // vertices x vertices after freeze()
  std::vector<LinkId> route_links_;
  bool frozen_ = false;
};

}  // namespace handoff

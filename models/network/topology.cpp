// Routes by Dijkstra's algorithm from each destination over the reversed graph, then a walk from
// each source along links that lie on a shortest path, lowest id first. Distances alone would leave
// ties to the order in which a heap happens to hold equal keys; the walk makes the choice a rule.
#include "models/network/topology.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <compare>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// Ordered by latency, then by number of links. Since each link counts one, no cycle is free, not
// even one of links without latency.
struct Distance {
  TimeNs latency_ns = 0;
  std::int64_t links = 0;
  friend constexpr auto operator<=>(const Distance&, const Distance&) = default;
};

constexpr Distance kUnreachable{kNever, std::numeric_limits<std::int64_t>::max()};

Distance extend(const Distance& path, const Distance& step) {
  if (path == kUnreachable || step == kUnreachable) return kUnreachable;
  HANDOFF_CHECK(path.latency_ns < kNever - step.latency_ns, "route latency overflows");
  return {path.latency_ns + step.latency_ns, path.links + step.links};
}

// Vertices and edges carry only their index; names and rates stay in Topology.
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::size_t>>;

std::string link_base_name(const std::string& from, const std::string& to) {
  return from + "->" + to;
}

}  // namespace

struct Topology::Search {
  explicit Search(const Topology& topology)
      : outgoing(topology.vertices()), graph(topology.vertices()) {
    for (std::uint32_t i = 0; i < topology.links_.size(); ++i) {
      const Link& link = topology.links_[i];
      boost::add_edge(link.to.value, link.from.value, i, graph);
      outgoing[link.from.value].push_back(LinkId{i});
    }
    step.resize(topology.links_.size());
    distance.resize(topology.vertices());
  }

  // Fills `distance`: from every vertex to `to`.
  void towards(const Topology& topology, VertexId to) {
    for (std::size_t i = 0; i < step.size(); ++i) {
      const Link& link = topology.links_[i];
      const bool forwards = link.to != to && topology.vertex_at(link.to).kind == VertexKind::host;
      step[i] = forwards ? kUnreachable : Distance{link.latency_ns, 1};
    }
    boost::dijkstra_shortest_paths(
        graph, boost::vertex(to.value, graph),
        boost::distance_map(boost::make_iterator_property_map(
                                distance.begin(), boost::get(boost::vertex_index, graph)))
            .weight_map(boost::make_iterator_property_map(step.begin(),
                                                          boost::get(boost::edge_index, graph)))
            .distance_compare(std::less<Distance>())
            .distance_combine([](const Distance& a, const Distance& b) { return extend(a, b); })
            .distance_inf(kUnreachable)
            .distance_zero(Distance{}));
  }

  // The next link of the best route from `at`, which is not the destination and can reach it.
  [[nodiscard]] LinkId next(const Topology& topology, VertexId at) const {
    for (const LinkId link : outgoing[at.value])
      if (extend(distance[topology.link_at(link).to.value], step[link.value]) == distance[at.value])
        return link;
    HANDOFF_CHECK(false, "a reachable vertex lies on no shortest path");
    return {};
  }

  std::vector<std::vector<LinkId>> outgoing;  // ascending ids
  Graph graph;                                // reversed
  std::vector<Distance> step;                 // by link
  std::vector<Distance> distance;             // by vertex
};

const Topology::Link& Topology::link_at(LinkId link) const {
  HANDOFF_CHECK(link.value < links_.size(), "no such link");
  return links_[link.value];
}

const Topology::Vertex& Topology::vertex_at(VertexId v) const {
  HANDOFF_CHECK(v.value < vertices_.size(), "no such vertex");
  return vertices_[v.value];
}

VertexId Topology::add_vertex(std::string name, VertexKind kind) {
  HANDOFF_CHECK(!frozen_, "vertex added after freeze");
  HANDOFF_CHECK(!find_vertex(name).valid(), "vertex name is taken: " + name);
  vertices_.push_back({std::move(name), kind});
  return VertexId{static_cast<std::uint32_t>(vertices_.size() - 1)};
}

LinkId Topology::add_link(VertexId from, VertexId to, std::int64_t bytes_per_second,
                          TimeNs latency_ns) {
  HANDOFF_CHECK(!frozen_, "link added after freeze");
  HANDOFF_CHECK(from != to, "a link joins two vertices");
  HANDOFF_CHECK(bytes_per_second > 0, "a link has a rate");
  HANDOFF_CHECK(latency_ns >= 0 && latency_ns < kNever, "a link has a latency");
  const auto parallel = 1 + std::count_if(links_.begin(), links_.end(), [&](const Link& link) {
                          return link.from == from && link.to == to;
                        });
  std::string name = link_base_name(vertex_at(from).name, vertex_at(to).name);
  if (parallel > 1) name += "#" + std::to_string(parallel);
  links_.push_back({std::move(name), from, to, bytes_per_second, latency_ns});
  return LinkId{static_cast<std::uint32_t>(links_.size() - 1)};
}

void Topology::add_duplex(VertexId a, VertexId b, std::int64_t bytes_per_second,
                          TimeNs latency_ns) {
  add_link(a, b, bytes_per_second, latency_ns);
  add_link(b, a, bytes_per_second, latency_ns);
}

std::string Topology::freeze(std::span<const std::vector<VertexId>> groups) {
  HANDOFF_CHECK(!frozen_, "topology frozen twice");
  frozen_ = true;
  routes_.assign(vertices_.size() * vertices_.size(), {});
  Search search(*this);
  for (const std::vector<VertexId>& group : groups) {
    for (const VertexId to : group) {
      HANDOFF_CHECK(vertex_at(to).kind == VertexKind::host, "only hosts are ends of routes");
      search.towards(*this, to);
      for (const VertexId from : group) {
        Route& route = routes_[from.value * vertices_.size() + to.value];
        if (from == to || route.latency_ns >= 0) continue;
        const Distance& distance = search.distance[from.value];
        if (distance == kUnreachable)
          return "host " + vertices_[from.value].name + " cannot reach host " +
                 vertices_[to.value].name;
        route.latency_ns = distance.latency_ns;
        route.first = static_cast<std::uint32_t>(route_links_.size());
        for (VertexId at = from; at != to; at = link_at(route_links_.back()).to)
          route_links_.push_back(search.next(*this, at));
        route.count = static_cast<std::uint32_t>(route_links_.size()) - route.first;
      }
    }
  }
  return {};
}

const Topology::Route& Topology::find_route(VertexId from, VertexId to) const {
  HANDOFF_CHECK(frozen_, "routes exist after freeze only");
  HANDOFF_CHECK(from.value < vertices_.size() && to.value < vertices_.size(), "no such vertex");
  const Route& route = routes_[from.value * vertices_.size() + to.value];
  HANDOFF_CHECK(route.latency_ns >= 0, "no route was computed between these vertices");
  return route;
}

std::span<const LinkId> Topology::route(VertexId from, VertexId to) const {
  const Route& route = find_route(from, to);
  return std::span(route_links_).subspan(route.first, route.count);
}

TimeNs Topology::latency(VertexId from, VertexId to) const {
  return find_route(from, to).latency_ns;
}

std::int64_t Topology::bottleneck(VertexId from, VertexId to) const {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  for (const LinkId link : route(from, to)) lowest = std::min(lowest, rate(link));
  return lowest;
}

LinkId Topology::find_link(std::string_view name) const {
  for (std::uint32_t i = 0; i < links_.size(); ++i)
    if (links_[i].name == name) return LinkId{i};
  return {};
}

VertexId Topology::find_vertex(std::string_view name) const {
  for (std::uint32_t i = 0; i < vertices_.size(); ++i)
    if (vertices_[i].name == name) return VertexId{i};
  return {};
}

}  // namespace handoff

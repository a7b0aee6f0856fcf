#include "models/oracle/happened_before.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <map>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// An edge to each step's cause: a walk along the edges visits what happened before.
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// Steps that a walk from `start` reaches, itself left out.
std::vector<std::size_t> reached(const std::vector<HappenedBefore::Edge>& edges, std::size_t size,
                                 std::size_t start) {
  Graph causes(size);
  for (const HappenedBefore::Edge& e : edges) boost::add_edge(e.to, e.from, causes);
  std::vector<std::size_t> found;
  struct Visitor : boost::default_bfs_visitor {
    explicit Visitor(std::vector<std::size_t>& out) : found(&out) {}
    void discover_vertex(std::size_t v, const Graph&) const { found->push_back(v); }
    std::vector<std::size_t>* found;
  };
  boost::breadth_first_search(causes, start, boost::visitor(Visitor(found)));
  found.erase(found.begin());
  std::sort(found.begin(), found.end());
  return found;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\l";
    else
      out += c;
  }
  return out;
}

}  // namespace

HappenedBefore::HappenedBefore(std::vector<ChainLink> chain) : steps_(std::move(chain)) {
  using Key = std::pair<std::string, RequestSerial>;
  std::map<Key, std::size_t> on_node;             // (node, request) -> its latest step
  std::map<RequestSerial, std::size_t> anywhere;  // request -> its latest step
  std::map<Key, std::size_t> sent;                // (message, request) -> sender
  std::map<std::pair<std::string, std::string>, std::size_t> held;  // (node, object) -> latest
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ChainLink& step = steps_[i];
    HANDOFF_CHECK(i == 0 || steps_[i - 1].at <= step.at, "a chain that goes back in time");
    const Key here{step.node, step.request};
    bool caused = false;
    if (step.request != kNoSerial) {
      if (const auto last = on_node.find(here); last != on_node.end()) {
        connect(last->second, i, Why::request);
        caused = true;
      }
      if (!step.receives.empty())
        if (const auto from = sent.find({step.receives, step.request}); from != sent.end()) {
          connect(from->second, i, Why::message);
          caused = true;
        }
      if (const auto last = anywhere.find(step.request); !caused && last != anywhere.end())
        connect(last->second, i, Why::request);
      on_node[here] = i;
      anywhere[step.request] = i;
      if (!step.sends.empty()) sent[{step.sends, step.request}] = i;
    }
    if (step.object.empty()) continue;
    if (const auto last = held.find({step.node, step.object}); last != held.end())
      connect(last->second, i, Why::object);
    held[{step.node, step.object}] = i;
  }
}

void HappenedBefore::connect(std::size_t from, std::size_t to, Why why) {
  const bool known = std::any_of(edges_.begin(), edges_.end(),
                                 [&](const Edge& e) { return e.from == from && e.to == to; });
  if (!known) edges_.push_back({from, to, why});
}

std::vector<std::size_t> HappenedBefore::causes(std::size_t step) const {
  return reached(edges_, steps_.size(), step);
}

bool HappenedBefore::before(std::size_t a, std::size_t b) const {
  const std::vector<std::size_t> all = causes(b);
  return std::binary_search(all.begin(), all.end(), a);
}

std::string HappenedBefore::dot(const std::string& title,
                                const std::vector<std::string>& labels) const {
  std::string out = fmt::format(
      "digraph finding {{\n  label=\"{}\"; labelloc=t; rankdir=TB;\n"
      "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n",
      escaped(title));
  std::map<std::string, std::vector<std::size_t>> nodes;
  for (std::size_t i = 0; i < steps_.size(); ++i) nodes[steps_[i].node].push_back(i);
  std::size_t cluster = 0;
  for (const auto& [node, steps] : nodes) {
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\"; style=rounded;\n", cluster++,
                       escaped(node.empty() ? "client" : node));
    for (const std::size_t i : steps) {
      const std::string label =
          i < labels.size() ? labels[i] : fmt::format("{}. {}", i + 1, steps_[i].what);
      out += fmt::format("    s{} [label=\"{}\"];\n", i + 1, escaped(label));
    }
    out += "  }\n";
  }
  for (const Edge& e : edges_) {
    const char* style = e.why == Why::message  ? " [style=dashed]"
                        : e.why == Why::object ? " [style=dotted]"
                                               : "";
    out += fmt::format("  s{} -> s{}{};\n", e.from + 1, e.to + 1, style);
  }
  return out + "}\n";
}

}  // namespace handoff

// The happened-before graph behind a finding (Lamport, "Time, Clocks, and the Ordering of Events in
// a Distributed System", 1978): its steps, and why one comes before another. An edge goes from step
// a to step b when
//   - both are about one request on one node, and b is the next such step,
//   - a sends the message that b receives, about the same request,
//   - both have one thing (a page) in hand on one node, and b is the next to have it,
//   - b is the first step of its request on its node, and a the latest of that request elsewhere.
// Not covered: causes that left no step, such as the wait for a full batch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/oracle/finding.hpp"

namespace handoff {

class HappenedBefore {
 public:
  enum class Why : std::uint8_t { request, message, object };
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
    Why why = Why::request;
  };

  // `chain` in time order, equal times in the order of events.
  explicit HappenedBefore(std::vector<ChainLink> chain);

  [[nodiscard]] const std::vector<ChainLink>& steps() const { return steps_; }
  // By (to, from). Each goes forward: the graph has no cycle.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  // All steps that happened before `step` by any path, ascending.
  [[nodiscard]] std::vector<std::size_t> causes(std::size_t step) const;
  // Whether a happened before b. Neither before the other: they are concurrent.
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const;

  // Graphviz. A box a step, a cluster a node; messages dashed, pages dotted. `labels[i]` replaces
  // the text of step i where given.
  [[nodiscard]] std::string dot(const std::string& title,
                                const std::vector<std::string>& labels = {}) const;

 private:
  void connect(std::size_t from, std::size_t to, Why why);

  std::vector<ChainLink> steps_;
  std::vector<Edge> edges_;
};

}  // namespace handoff

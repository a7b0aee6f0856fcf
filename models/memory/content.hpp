// Content identity: what a KV slot holds is named by *what it is*, not by who owns it.
//
// A node of the trie names one exact token prefix: the path from the root to the node. A node
// covers the token positions [begin, end) that follow its parent's. The content of position p of a
// sequence with tip node t is named by (at(t, p), p): two sequences hold the same content at p
// exactly when these are equal. Since a node names its whole prefix, equality at p implies equality
// at every earlier position. So one (tip, position) pair describes a page that spans several nodes.
//
// Nodes come from the block hashes of a trace (equal label below equal parent = equal node), from
// shared prefixes of a synthetic workload, or are unique (a request's own tail, its output, a
// placeholder). One trie serves one deployment: contents of different models are never equal. A
// cache salt is a node of zero tokens below the root.
//
// Nodes are counted: children, requests, cached runs and written pages hold references; a node
// without any is recycled. So memory follows what is held, not the length of the trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/memory/index_table.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/id.hpp"

namespace handoff {

using ContentNode = Id<struct ContentNodeTag>;

class ContentTrie {
 public:
  static constexpr ContentNode kRoot{0};

  ContentTrie();

  // The child of `parent` with this label and length, made if absent. tokens >= 0. A new node has
  // no reference: acquire() it (or make a child) before the next release().
  ContentNode extend(ContentNode parent, std::uint64_t label, std::int64_t tokens);
  // A new child that nothing else will ever equal. tokens >= 0.
  ContentNode extend_unique(ContentNode parent, std::int64_t tokens);

  void acquire(ContentNode node);
  // Requires a reference to drop. Recycles the node, and then its ancestors, when no reference is
  // left.
  void release(ContentNode node);

  [[nodiscard]] ContentNode parent(ContentNode node) const;
  [[nodiscard]] std::int64_t begin(ContentNode node) const;
  [[nodiscard]] std::int64_t end(ContentNode node) const;
  // The node on the path to `tip` that covers `position`. Requires 0 <= position < end(tip).
  [[nodiscard]] ContentNode at(ContentNode tip, std::int64_t position) const;
  // Number of leading positions at which the two sequences hold the same content.
  [[nodiscard]] std::int64_t common_tokens(ContentNode a, ContentNode b) const;
  // Live nodes, without the root.
  [[nodiscard]] std::size_t size() const;

 private:
  // `jump` names an ancestor so that any ancestor is reached in O(log depth) steps (Myers, "An
  // applicative random-access stack", 1983): one word a node, set once. A node outlives its
  // descendants, so it never dangles.
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t jump = 0;
    std::uint32_t depth = 0;
    std::uint32_t references = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t label = 0;
    bool unique = false;
    bool live = false;
  };

  [[nodiscard]] bool live(ContentNode node) const {
    return node.value < nodes_.size() && nodes_[node.value].live;
  }
  std::uint32_t make(std::uint32_t parent, std::uint64_t label, std::int64_t tokens, bool unique);
  void recycle(std::uint32_t index);
  [[nodiscard]] std::uint32_t ancestor_at_depth(std::uint32_t index, std::uint32_t depth) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  IndexTable children_;  // labelled nodes by (parent, label, tokens)
};

// Inline: called for every page.

inline void ContentTrie::acquire(ContentNode node) {
  HANDOFF_CHECK(live(node), "a content node that is not alive was acquired");
  ++nodes_[node.value].references;
}

inline void ContentTrie::release(ContentNode node) {
  HANDOFF_CHECK(live(node) && nodes_[node.value].references > 0,
                "a content node without references was released");
  std::uint32_t index = node.value;
  while (--nodes_[index].references == 0 && index != kRoot.value) {
    const std::uint32_t parent = nodes_[index].parent;
    recycle(index);
    index = parent;
  }
}

inline std::int64_t ContentTrie::begin(ContentNode node) const {
  HANDOFF_CHECK(live(node), "a content node that is not alive was read");
  return nodes_[node.value].begin;
}

inline std::int64_t ContentTrie::end(ContentNode node) const {
  HANDOFF_CHECK(live(node), "a content node that is not alive was read");
  return nodes_[node.value].end;
}

// The node of a prompt: labelled blocks of block_tokens, the last one cut at the prompt's end, then
// what is unique to it. Not acquired.
ContentNode prompt_node(ContentTrie& trie, std::span<const std::uint64_t> blocks,
                        std::int64_t block_tokens, std::int64_t prompt_tokens);

// The path to one tip laid out for look-up by position: nodes in order with the position each ends
// at. Holds no references: the owner keeps the tip alive. Zero-length nodes are left out.
class ContentPath {
 public:
  ContentPath() = default;
  ContentPath(const ContentTrie& trie, ContentNode tip);

  [[nodiscard]] std::int64_t tokens() const { return steps_.empty() ? 0 : steps_.back().end; }
  // Requires 0 <= position < tokens().
  [[nodiscard]] ContentNode at(std::int64_t position) const;

  struct Step {
    ContentNode node;
    std::int64_t end;
  };
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// Inline: called for every page.

inline ContentNode ContentPath::at(std::int64_t position) const {
  HANDOFF_CHECK(position >= 0 && position < tokens(), "a position is not part of the path");
  const auto step = std::upper_bound(steps_.begin(), steps_.end(), position,
                                     [](std::int64_t p, const Step& s) { return p < s.end; });
  return step->node;
}

}  // namespace handoff

// Walking up a path by jumps, and counting who still needs a node. Lookups are pointer chases over
// one vector; nothing here allocates once the trie has had its largest size.
#include "models/memory/content.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {

namespace {

std::uint64_t child_hash(std::uint32_t parent, std::uint64_t label, std::int64_t tokens) {
  return hash_combine(hash_combine(parent, label), static_cast<std::uint64_t>(tokens));
}

}  // namespace

ContentTrie::ContentTrie() {
  nodes_.emplace_back();
  nodes_[kRoot.value].live = true;
}

ContentNode ContentTrie::extend(ContentNode parent, std::uint64_t label, std::int64_t tokens) {
  HANDOFF_CHECK(live(parent) && tokens >= 0, "a content node cannot be extended so");
  const std::uint64_t hash = child_hash(parent.value, label, tokens);
  const std::uint32_t found = children_.find(hash, [&](std::uint32_t index) {
    const Node& n = nodes_[index];
    return n.parent == parent.value && n.label == label && n.end - n.begin == tokens;
  });
  if (found != IndexTable::kNone) return ContentNode(found);
  const std::uint32_t made = make(parent.value, label, tokens, false);
  children_.insert(hash, made);
  return ContentNode(made);
}

ContentNode ContentTrie::extend_unique(ContentNode parent, std::int64_t tokens) {
  HANDOFF_CHECK(live(parent) && tokens >= 0, "a content node cannot be extended so");
  return ContentNode(make(parent.value, 0, tokens, true));
}

std::uint32_t ContentTrie::make(std::uint32_t parent, std::uint64_t label, std::int64_t tokens,
                                bool unique) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Node& up = nodes_[parent];
  const Node& far = nodes_[up.jump];
  const bool equal_jumps = up.depth - far.depth == far.depth - nodes_[far.jump].depth;
  Node& n = nodes_[index];
  n.parent = parent;
  n.jump = equal_jumps ? far.jump : parent;
  n.depth = up.depth + 1;
  n.references = 0;
  n.begin = up.end;
  n.end = up.end + tokens;
  n.label = label;
  n.unique = unique;
  n.live = true;
  ++up.references;
  return index;
}

void ContentTrie::recycle(std::uint32_t index) {
  Node& n = nodes_[index];
  if (!n.unique) children_.erase(child_hash(n.parent, n.label, n.end - n.begin), index);
  n.live = false;
  free_.push_back(index);
}

ContentNode ContentTrie::parent(ContentNode node) const {
  HANDOFF_CHECK(live(node), "a content node that is not alive was read");
  return ContentNode(nodes_[node.value].parent);
}

ContentNode ContentTrie::at(ContentNode tip, std::int64_t position) const {
  HANDOFF_CHECK(live(tip) && position >= 0 && position < nodes_[tip.value].end,
                "a position is not part of the sequence");
  // The first ancestor that begins at or before the position also ends after it: its child on the
  // path begins where it ends. So nodes of zero tokens are never the answer.
  std::uint32_t index = tip.value;
  while (nodes_[index].begin > position) {
    const Node& n = nodes_[index];
    index = nodes_[n.jump].begin > position ? n.jump : n.parent;
  }
  return ContentNode(index);
}

std::uint32_t ContentTrie::ancestor_at_depth(std::uint32_t index, std::uint32_t depth) const {
  while (nodes_[index].depth > depth) {
    const Node& n = nodes_[index];
    index = nodes_[n.jump].depth >= depth ? n.jump : n.parent;
  }
  return index;
}

std::int64_t ContentTrie::common_tokens(ContentNode a, ContentNode b) const {
  HANDOFF_CHECK(live(a) && live(b), "a content node that is not alive was read");
  std::uint32_t x = ancestor_at_depth(a.value, nodes_[b.value].depth);
  std::uint32_t y = ancestor_at_depth(b.value, nodes_[a.value].depth);
  // Equal depths have jumps of equal length. Below the lowest common ancestor nothing is equal,
  // above it everything is.
  while (x != y) {
    const bool apart = nodes_[x].jump != nodes_[y].jump;
    x = apart ? nodes_[x].jump : nodes_[x].parent;
    y = apart ? nodes_[y].jump : nodes_[y].parent;
  }
  return nodes_[x].end;
}

std::size_t ContentTrie::size() const { return nodes_.size() - 1 - free_.size(); }

ContentNode prompt_node(ContentTrie& trie, std::span<const std::uint64_t> blocks,
                        std::int64_t block_tokens, std::int64_t prompt_tokens) {
  ContentNode node = ContentTrie::kRoot;
  std::int64_t left = prompt_tokens;
  for (const std::uint64_t block : blocks) {
    if (left <= 0) break;
    const std::int64_t tokens = std::min(block_tokens, left);
    node = trie.extend(node, block, tokens);
    left -= tokens;
  }
  return left > 0 ? trie.extend_unique(node, left) : node;
}

ContentPath::ContentPath(const ContentTrie& trie, ContentNode tip) {
  for (ContentNode node = tip; node != ContentTrie::kRoot; node = trie.parent(node))
    if (trie.end(node) > trie.begin(node)) steps_.push_back({node, trie.end(node)});
  std::reverse(steps_.begin(), steps_.end());
}

}  // namespace handoff

// The radix tree: walking down by content, splitting, and a heap of the leaves that may go. A step
// down is one table look-up and O(log) jumps in the trie, however long the node or the prompt.
#include "models/memory/prefix_cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {

namespace {

std::uint64_t child_hash(std::uint32_t parent, ContentNode first) {
  return mix64(std::uint64_t{parent} << 32 | first.value);
}

}  // namespace

PrefixCache::PrefixCache(std::vector<std::int32_t> group_page_tokens)
    : nodes_(1), group_page_tokens_(std::move(group_page_tokens)) {
  HANDOFF_CHECK(!group_page_tokens_.empty(), "a prefix cache needs a group");
  for (const std::int32_t page_tokens : group_page_tokens_) {
    HANDOFF_CHECK(page_tokens > 0, "a page of a prefix cache has tokens");
    align_ = std::lcm(align_, std::int64_t{page_tokens});
  }
}

// --- the tree ----------------------------------------------------------------------------------

std::uint32_t PrefixCache::child(std::uint32_t parent, ContentNode first) const {
  return children_.find(child_hash(parent, first), [&](std::uint32_t index) {
    return nodes_[index].parent == parent && nodes_[index].first == first;
  });
}

void PrefixCache::link(std::uint32_t index) {
  const Node& n = nodes_[index];
  children_.insert(child_hash(n.parent, n.first), index);
  ++nodes_[n.parent].children;
}

void PrefixCache::unlink(std::uint32_t index) {
  const Node& n = nodes_[index];
  children_.erase(child_hash(n.parent, n.first), index);
  --nodes_[n.parent].children;
}

std::uint32_t PrefixCache::make_node() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

// Cuts the node at the position, a whole unit inside it. The node keeps its end and so its handles;
// the new one above, returned, has its locks.
std::uint32_t PrefixCache::split(ContentTrie& trie, std::uint32_t lower, std::int64_t position) {
  const std::uint32_t upper = make_node();
  unlink(lower);
  Node& low = nodes_[lower];
  Node& up = nodes_[upper];
  up.parent = low.parent;
  up.locks = low.locks;
  up.touched = low.touched;
  up.begin = low.begin;
  up.end = position;
  up.first = low.first;
  up.tip = trie.at(low.tip, position - 1);
  trie.acquire(up.tip);

  std::vector<PageIndex> kept;
  kept.reserve(low.pages.size());
  auto from = low.pages.begin();
  for (const std::int32_t page_tokens : group_page_tokens_) {
    const auto middle = from + (position - low.begin) / page_tokens;
    const auto to = from + (low.end - low.begin) / page_tokens;
    up.pages.insert(up.pages.end(), from, middle);
    kept.insert(kept.end(), middle, to);
    from = to;
  }
  low.pages = std::move(kept);
  low.parent = upper;
  low.begin = position;
  low.first = trie.at(low.tip, position + align_ - 1);
  link(upper);
  link(lower);
  return upper;
}

// Walks down along the sequence as far as it is cached, at most to `limit` (whole units), touching
// and splitting so that the node found ends exactly there.
PrefixCache::Place PrefixCache::descend(ContentTrie& trie, ContentNode tip, std::int64_t limit) {
  HANDOFF_CHECK(!nodes_.empty(), "a prefix cache without groups was used");
  Place place;
  while (place.tokens < limit) {
    const std::uint32_t index = child(place.node, trie.at(tip, place.tokens + align_ - 1));
    if (index == IndexTable::kNone) break;
    touch(index);
    const Node& n = nodes_[index];
    if (n.end <= limit && trie.at(tip, n.end - 1) == n.tip) {
      place = {index, n.end};
      continue;
    }
    const std::int64_t common = std::min({trie.common_tokens(n.tip, tip), n.end, limit});
    const std::int64_t shared = common / align_ * align_;
    HANDOFF_CHECK(n.begin < shared && shared < n.end,
                  "a cached node does not match as its key says");
    place = {split(trie, index, shared), shared};
    break;
  }
  return place;
}

void PrefixCache::remove_leaf(ContentTrie& trie, std::uint32_t index) {
  unlink(index);
  Node& n = nodes_[index];
  cached_tokens_ -= n.end - n.begin;
  evictable_tokens_ -= n.end - n.begin;
  trie.release(n.tip);
  const std::uint32_t parent = n.parent;
  n = Node{};
  free_.push_back(index);
  refresh_leaf(parent);
}

// --- operations --------------------------------------------------------------------------------

void PrefixCache::copy_pages(const Node& node, std::span<std::vector<PageIndex>> pages) const {
  auto from = node.pages.begin();
  for (std::size_t g = 0; g < group_page_tokens_.size(); ++g) {
    const auto to = from + (node.end - node.begin) / group_page_tokens_[g];
    pages[g].insert(pages[g].end(), from, to);
    from = to;
  }
}

PrefixCache::Match PrefixCache::match(ContentTrie& trie, ContentNode tip, std::int64_t tokens_max,
                                      std::span<std::vector<PageIndex>> pages) {
  HANDOFF_CHECK(pages.size() == group_page_tokens_.size(), "one list of pages a group");
  const std::int64_t limit = std::min(tokens_max, trie.end(tip)) / align_ * align_;
  const Place place = descend(trie, tip, limit);
  if (place.tokens == 0) return {};
  // Up the path, filling each list from its end.
  for (std::size_t g = 0; g < pages.size(); ++g)
    pages[g].resize(pages[g].size() +
                    static_cast<std::size_t>(place.tokens / group_page_tokens_[g]));
  for (std::uint32_t index = place.node; index != kRoot; index = nodes_[index].parent) {
    const Node& n = nodes_[index];
    auto from = n.pages.begin();
    for (std::size_t g = 0; g < pages.size(); ++g) {
      const auto to = from + (n.end - n.begin) / group_page_tokens_[g];
      std::copy(from, to, pages[g].end() - (place.tokens - n.begin) / group_page_tokens_[g]);
      from = to;
    }
  }
  return {place.tokens, Handle(place.node)};
}

PrefixCache::Inserted PrefixCache::insert(ContentTrie& trie, ContentNode tip, std::int64_t tokens,
                                          std::span<const std::vector<PageIndex>> pages) {
  HANDOFF_CHECK(pages.size() == group_page_tokens_.size(), "one list of pages a group");
  HANDOFF_CHECK(tokens <= trie.end(tip), "more tokens to cache than the sequence has");
  const std::int64_t limit = tokens / align_ * align_;
  if (limit <= 0) return {};
  const Place place = descend(trie, tip, limit);
  if (place.tokens == limit) return {Handle(place.node), limit, limit};

  const std::uint32_t index = make_node();
  Node& n = nodes_[index];
  n.parent = place.node;
  n.begin = place.tokens;
  n.end = limit;
  n.first = trie.at(tip, n.begin + align_ - 1);
  n.tip = trie.at(tip, limit - 1);
  trie.acquire(n.tip);
  for (std::size_t g = 0; g < pages.size(); ++g) {
    const std::int64_t page_tokens = group_page_tokens_[g];
    HANDOFF_CHECK(static_cast<std::int64_t>(pages[g].size()) >= limit / page_tokens,
                  "fewer pages than the tokens to cache need");
    n.pages.insert(n.pages.end(), pages[g].begin() + n.begin / page_tokens,
                   pages[g].begin() + limit / page_tokens);
  }
  cached_tokens_ += n.end - n.begin;
  evictable_tokens_ += n.end - n.begin;
  link(index);
  touch(index);
  refresh_leaf(index);
  refresh_leaf(place.node);
  return {Handle(index), limit, place.tokens};
}

void PrefixCache::lock(Handle handle) {
  HANDOFF_CHECK(
      handle.value != kRoot && handle.value < nodes_.size() && nodes_[handle.value].tip.valid(),
      "a handle that names no cached prefix was locked");
  for (std::uint32_t index = handle.value; index != kRoot; index = nodes_[index].parent) {
    Node& n = nodes_[index];
    if (n.locks++ > 0) continue;
    evictable_tokens_ -= n.end - n.begin;
    refresh_leaf(index);
  }
}

void PrefixCache::unlock(Handle handle) {
  HANDOFF_CHECK(handle.value != kRoot && handle.value < nodes_.size(),
                "a handle that names no cached prefix was unlocked");
  for (std::uint32_t index = handle.value; index != kRoot; index = nodes_[index].parent) {
    Node& n = nodes_[index];
    HANDOFF_CHECK(n.locks > 0, "a prefix was unlocked more often than locked");
    if (--n.locks > 0) continue;
    evictable_tokens_ += n.end - n.begin;
    refresh_leaf(index);
  }
}

std::int64_t PrefixCache::evict(ContentTrie& trie, std::int64_t units,
                                std::span<std::vector<PageIndex>> pages) {
  HANDOFF_CHECK(pages.size() == group_page_tokens_.size(), "one list of pages a group");
  std::int64_t evicted = 0;
  while (evicted < units && !leaves_.empty()) {
    const std::uint32_t index = leaves_.front();
    const Node& n = nodes_[index];
    evicted += (n.end - n.begin) / align_;
    copy_pages(n, pages);
    heap_remove(index);
    remove_leaf(trie, index);
  }
  return evicted;
}

void PrefixCache::reset(ContentTrie& trie) {
  for (const Node& n : nodes_)
    if (n.tip.valid()) trie.release(n.tip);
  nodes_.assign(nodes_.empty() ? 0 : 1, Node{});
  free_.clear();
  children_.clear();
  leaves_.clear();
  evictable_tokens_ = 0;
  cached_tokens_ = 0;
}

// --- order of eviction -------------------------------------------------------------------------

void PrefixCache::touch(std::uint32_t index) {
  nodes_[index].touched = ++clock_;
  if (nodes_[index].heap_at != kNotInHeap) heap_settle(nodes_[index].heap_at, index);
}

// Puts the node into the heap or takes it out, as its locks and children say.
void PrefixCache::refresh_leaf(std::uint32_t index) {
  const Node& n = nodes_[index];
  const bool in_heap = n.heap_at != kNotInHeap;
  const bool evictable = index != kRoot && n.locks == 0 && n.children == 0;
  if (evictable == in_heap) return;
  if (evictable) {
    leaves_.push_back(index);
    heap_settle(leaves_.size() - 1, index);
  } else {
    heap_remove(index);
  }
}

void PrefixCache::heap_remove(std::uint32_t index) {
  const std::size_t at = std::exchange(nodes_[index].heap_at, kNotInHeap);
  const std::uint32_t last = leaves_.back();
  leaves_.pop_back();
  if (last != index) heap_settle(at, last);
}

void PrefixCache::heap_place(std::size_t at, std::uint32_t index) {
  leaves_[at] = index;
  nodes_[index].heap_at = static_cast<std::uint32_t>(at);
}

// Moves the node, whose place is `at`, up or down to where it belongs.
void PrefixCache::heap_settle(std::size_t at, std::uint32_t index) {
  const std::uint64_t age = nodes_[index].touched;
  const auto touched = [this](std::size_t i) { return nodes_[leaves_[i]].touched; };
  for (; at > 0 && age < touched((at - 1) / 2); at = (at - 1) / 2)
    heap_place(at, leaves_[(at - 1) / 2]);
  for (std::size_t down = 2 * at + 1; down < leaves_.size(); down = 2 * at + 1) {
    if (down + 1 < leaves_.size() && touched(down + 1) < touched(down)) ++down;
    if (age < touched(down)) break;
    heap_place(at, leaves_[down]);
    at = down;
  }
  heap_place(at, index);
}

}  // namespace handoff

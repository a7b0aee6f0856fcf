// Prefix (radix) cache of one node: which pages hold the KV of which prefix, shared between
// requests. A path-compressed tree over content identity (SGLang's RadixCache with content in the
// place of tokens), in units of `align` tokens (the least common multiple of the groups' page
// sizes); only whole units are cached. Each tree node covers the positions [begin, end) and holds
// the pages of every group for them. Requests lock the path they use; only unlocked leaves are
// evicted, least recently used first. An operation touches the nodes of its path from the root on,
// one after the other, the last one even when only its first part is used, as SGLang does: both
// halves of a node that is split count as touched. So no two leaves are ever equally old.
//
// A handle names the node that ends at a certain position. It stays valid while it is locked,
// whatever other requests split: a split puts a new node above, which inherits the locks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/memory/content.hpp"
#include "models/memory/index_table.hpp"
#include "models/memory/page_pool.hpp"
#include "sim/engine/id.hpp"

namespace handoff {

class PrefixCache {
 public:
  using Handle = Id<struct PrefixCacheNodeTag>;

  PrefixCache() = default;
  // group_page_tokens: page size of each group, in tokens.
  explicit PrefixCache(std::vector<std::int32_t> group_page_tokens);

  [[nodiscard]] std::int64_t align() const { return align_; }

  struct Match {
    std::int64_t tokens = 0;  // multiple of align()
    Handle handle;            // deepest node of the match, invalid when tokens == 0
  };
  // Longest cached prefix of the sequence, at most `tokens_max`. Splits a node where the match ends
  // inside it, so that the handle covers exactly the match. Touches the path (LRU). Appends the
  // pages of each group to pages[group]. pages.size() == groups. The handle is good until the next
  // operation, or as long as it is locked. (The trie changes when a node is split: each part refers
  // to its own content.)
  Match match(ContentTrie& trie, ContentNode tip, std::int64_t tokens_max,
              std::span<std::vector<PageIndex>> pages);

  void lock(Handle handle);    // the node and its ancestors
  void unlock(Handle handle);  // likewise

  struct Inserted {
    Handle handle;  // node that ends at the inserted length; invalid when nothing was cached
    std::int64_t tokens = 0;   // whole units of the sequence that are now cached
    std::int64_t already = 0;  // of these, leading tokens that had been cached before
  };
  // Caches the first `tokens` (floored to align(), at most end(tip)) of the sequence. pages[group]
  // lists the sequence's pages from position 0. For positions already cached the cache keeps its
  // own pages: the caller's pages that differ there stay the caller's, to be freed by it. New
  // positions take over the caller's references.
  Inserted insert(ContentTrie& trie, ContentNode tip, std::int64_t tokens,
                  std::span<const std::vector<PageIndex>> pages);

  // Evicts unlocked leaves until at least `units` alignment units are gone, or none is left.
  // Appends their pages to pages[group]; the caller releases them. Returns the units evicted. A
  // leaf is evicted whole.
  std::int64_t evict(ContentTrie& trie, std::int64_t units,
                     std::span<std::vector<PageIndex>> pages);

  // Tokens in nodes that are not locked: what evict() could give.
  [[nodiscard]] std::int64_t evictable_tokens() const { return evictable_tokens_; }
  [[nodiscard]] std::int64_t cached_tokens() const { return cached_tokens_; }
  // Forgets everything without returning pages: the process died. Outstanding handles become
  // invalid.
  void reset(ContentTrie& trie);

 private:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNotInHeap = ~std::uint32_t{0};

  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t children = 0;
    std::uint32_t locks = 0;
    std::uint32_t heap_at = kNotInHeap;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t touched = 0;
    // Content at the last position of the first unit: tells a node from its siblings. Part of the
    // path to tip, so it is alive as long.
    ContentNode first;
    ContentNode tip;               // content at position end - 1; one reference held
    std::vector<PageIndex> pages;  // of group 0, then of group 1, ...
  };
  struct Place {
    std::uint32_t node = kRoot;
    std::int64_t tokens = 0;
  };

  Place descend(ContentTrie& trie, ContentNode tip, std::int64_t limit);
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, ContentNode first) const;
  void link(std::uint32_t index);
  void unlink(std::uint32_t index);
  std::uint32_t make_node();
  std::uint32_t split(ContentTrie& trie, std::uint32_t lower, std::int64_t position);
  void remove_leaf(ContentTrie& trie, std::uint32_t index);
  void touch(std::uint32_t index);
  void copy_pages(const Node& node, std::span<std::vector<PageIndex>> pages) const;

  // Unlocked leaves, a binary heap with the least recently touched on top.
  void refresh_leaf(std::uint32_t index);
  void heap_remove(std::uint32_t index);
  void heap_place(std::size_t at, std::uint32_t index);
  void heap_settle(std::size_t at, std::uint32_t index);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  IndexTable children_;  // by (parent, first)
  std::vector<std::uint32_t> leaves_;
  std::vector<std::int32_t> group_page_tokens_;
  std::int64_t align_ = 1;
  std::int64_t evictable_tokens_ = 0;
  std::int64_t cached_tokens_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace handoff

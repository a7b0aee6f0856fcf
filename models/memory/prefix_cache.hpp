// Prefix (radix) cache of one node: which pages hold the KV of which prefix, shared between requests.
// A path-compressed tree over content identity, in units of `align` tokens (the least common multiple of
// the groups' page sizes); only whole units are cached. Each tree node covers the positions [begin, end)
// and holds the pages of every group for them. Requests lock the path they use; only unlocked leaves are
// evicted, least recently used first (ties: the one touched by the earlier operation).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/memory/content.hpp"
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
  // Longest cached prefix of the sequence, at most `tokens_max`. Splits a node where the match ends inside
  // it, so that the handle covers exactly the match. Touches the path (LRU). Appends the pages of each
  // group to pages[group]. pages.size() == groups.
  Match match(const ContentTrie& trie, ContentNode tip, std::int64_t tokens_max,
              std::span<std::vector<PageIndex>> pages);

  void lock(Handle handle);    // the node and its ancestors
  void unlock(Handle handle);  // likewise

  struct Inserted {
    Handle handle;             // node that ends at the inserted length; invalid when nothing was cached
    std::int64_t tokens = 0;   // whole units of the sequence that are now cached
    std::int64_t already = 0;  // of these, leading tokens that had been cached before
  };
  // Caches the first `tokens` (floored to align()) of the sequence. pages[group] lists the sequence's pages
  // from position 0. For positions already cached the cache keeps its own pages: the caller's pages that
  // differ there stay the caller's, to be freed by it. New positions take over the caller's references.
  Inserted insert(ContentTrie& trie, ContentNode tip, std::int64_t tokens,
                  std::span<const std::vector<PageIndex>> pages);

  // Evicts unlocked leaves until at least `units` alignment units are gone, or none is left. Appends their
  // pages to pages[group]; the caller releases them. Returns the units evicted. A leaf is evicted whole.
  std::int64_t evict(ContentTrie& trie, std::int64_t units, std::span<std::vector<PageIndex>> pages);

  // Tokens in nodes that are not locked: what evict() could give.
  [[nodiscard]] std::int64_t evictable_tokens() const { return evictable_tokens_; }
  [[nodiscard]] std::int64_t cached_tokens() const { return cached_tokens_; }
  // Forgets everything without returning pages: the process died. Outstanding handles become invalid.
  void reset(ContentTrie& trie);

 private:
  struct Node {
    std::uint32_t parent = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    ContentNode tip;  // content at position end - 1; one reference held
    std::uint32_t locks = 0;
    std::uint64_t touched = 0;
    std::vector<std::vector<PageIndex>> pages;  // per group
    std::vector<std::uint32_t> children;        // in order of creation
    bool live = false;
  };

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  std::vector<std::int32_t> group_page_tokens_;
  std::int64_t align_ = 1;
  std::int64_t evictable_tokens_ = 0;
  std::int64_t cached_tokens_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace handoff

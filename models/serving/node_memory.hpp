// The memory of one node: for each group a page pool, a shadow plane a rank and the oracle's book,
// and the prefix cache over them. Allocation is all-or-nothing over groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/cost/spec.hpp"
#include "models/memory/content.hpp"
#include "models/memory/page_pool.hpp"
#include "models/memory/prefix_cache.hpp"
#include "models/memory/provenance.hpp"
#include "models/memory/shadow.hpp"
#include "models/oracle/books.hpp"
#include "models/serving/policy.hpp"
#include "models/serving/request.hpp"

namespace handoff {

struct Context;
struct Deployment;

struct GroupMemory {
  PagePool pool;
  std::vector<ShadowPlane> planes;  // [rank]
  PageBook book;
};

// What every memory operation needs to know of its surroundings.
struct MemoryAccess {
  ContentTrie& trie;
  ProvenanceLog& log;
  TimeNs now = 0;
  std::uint64_t event = 0;
  std::uint16_t node = 0;  // for records: component
  // Who listens to page events; nullptr: nobody.
  const Context* context = nullptr;
  const Deployment* deployment = nullptr;
};

// Whose operation it is.
struct Actor {
  RequestSerial request = kNoSerial;
  std::uint32_t tenant = 0;
};

struct ReleaseReport {
  std::int64_t in_flight = 0;   // pages that a posted operation still referenced
  std::int64_t not_held = 0;    // pages that nobody held: freed twice
  std::vector<PageSpan> pages;  // concerned
};

struct NodeMemory {
  std::vector<GroupMemory> groups;
  PrefixCache cache;
  bool caching = false;
  ReleaseReport eviction;  // of the last allocate()

  // kv_pool_tokens is rounded down to whole pages. `entity` keys the random free order.
  static NodeMemory make(const ModelSpec& model, const EnginePolicy& engine,
                         std::int64_t kv_pool_tokens, std::uint32_t ranks, bool caching,
                         std::uint64_t seed, std::uint64_t entity);

  // Pages of each group for `tokens` tokens.
  [[nodiscard]] std::vector<std::uint32_t> pages_for(std::int64_t tokens) const;
  // Smallest number of free tokens over groups, cached tokens that could be evicted included.
  [[nodiscard]] std::int64_t available_tokens() const;
  [[nodiscard]] bool fits(std::span<const std::uint32_t> pages) const;

  // Appends counts[group] pages to pages[group], evicting cached prefixes when needed, or does
  // nothing and returns false.
  bool allocate(const MemoryAccess& access, Actor actor, std::span<const std::uint32_t> counts,
                bool zero, PageLists& pages);
  // Releases pages[group][first[group]..]; the lists are left as they are.
  ReleaseReport release(const MemoryAccess& access, Actor actor, const PageLists& pages,
                        std::span<const std::size_t> first);
  // Writes positions [from, to) of the sequence laid out in `pages` on all ranks of all groups.
  void write(const MemoryAccess& access, RecordId record, const ContentPath& path, bool tainted,
             const PageLists& pages, std::int64_t from, std::int64_t to);
  // The process died: everything is free and nothing is remembered as held. Contents stay in the
  // planes of a real device only until the restart, which clears them.
  void reset(const MemoryAccess& access);

 private:
  bool evict(const MemoryAccess& access, std::span<const std::uint32_t> counts);
};

// Adds page to a list of spans, merging with the last one; keeps at most kPageSpansMax.
void add_page(std::vector<PageSpan>& spans, PageIndex page);

}  // namespace handoff

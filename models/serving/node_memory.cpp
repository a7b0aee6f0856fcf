#include "models/serving/node_memory.hpp"

#include <algorithm>
#include <limits>

#include "sim/engine/check.hpp"

#include "models/serving/page_trace.hpp"

namespace handoff {

NodeMemory NodeMemory::make(const ModelSpec& model, const EnginePolicy& engine,
                            std::int64_t kv_pool_tokens, std::uint32_t ranks, bool caching,
                            std::uint64_t seed, std::uint64_t entity) {
  NodeMemory memory;
  const auto page_tokens = static_cast<std::int32_t>(engine.page_tokens);
  const auto pages = static_cast<std::uint32_t>(kv_pool_tokens / engine.page_tokens);
  std::vector<std::int32_t> sizes;
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    GroupMemory group;
    group.pool =
        PagePool(pages, page_tokens, engine.free_order, Rng(seed, "free-order", entity * 64 + g));
    group.planes.assign(ranks, ShadowPlane(pages, page_tokens));
    group.book = PageBook(pages);
    memory.groups.push_back(std::move(group));
    sizes.push_back(page_tokens);
  }
  memory.caching = caching && !sizes.empty();
  if (memory.caching) memory.cache = PrefixCache(std::move(sizes));
  return memory;
}

std::vector<std::uint32_t> NodeMemory::pages_for(std::int64_t tokens) const {
  std::vector<std::uint32_t> counts;
  counts.reserve(groups.size());
  for (const GroupMemory& group : groups) counts.push_back(group.pool.pages_for(tokens));
  return counts;
}

std::int64_t NodeMemory::available_tokens() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const GroupMemory& group : groups)
    least = std::min(least,
                     static_cast<std::int64_t>(group.pool.free_pages()) * group.pool.page_tokens());
  return caching ? least + cache.evictable_tokens() : least;
}

bool NodeMemory::fits(std::span<const std::uint32_t> pages) const {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (pages[g] > groups[g].pool.free_pages()) return false;
  return true;
}

bool NodeMemory::evict(const MemoryAccess& access, std::span<const std::uint32_t> counts) {
  std::int64_t tokens = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PagePool& pool = groups[g].pool;
    if (counts[g] > pool.free_pages())
      tokens = std::max(
          tokens, static_cast<std::int64_t>(counts[g] - pool.free_pages()) * pool.page_tokens());
  }
  if (tokens > cache.evictable_tokens()) return false;
  PageLists evicted(groups.size());
  cache.evict(access.trie, div_ceil(tokens, cache.align()), evicted);
  const std::vector<std::size_t> first(groups.size(), 0);
  eviction = release(access, Actor{}, evicted, first);
  return fits(counts);
}

bool NodeMemory::allocate(const MemoryAccess& access, Actor actor,
                          std::span<const std::uint32_t> counts, bool zero, PageLists& pages) {
  eviction = {};
  if (!fits(counts) && !(caching && evict(access, counts))) return false;
  const RecordId record = access.log.add({RecordKind::allocate, access.node, actor.tenant,
                                          actor.request, access.now, access.event, RecordId{}});
  access.log.acquire(record);
  pages.resize(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    GroupMemory& group = groups[g];
    const std::size_t before = pages[g].size();
    const bool done = group.pool.allocate(counts[g], actor.request, record, access.log, pages[g]);
    HANDOFF_CHECK(done, "an allocation that fits failed");
    const auto fresh = std::span<const PageIndex>(pages[g]).subspan(before);
    group.book.allocated(fresh, actor.request);
    if (access.context != nullptr)
      trace_group(*access.context, PageOp::allocate, *access.deployment, access.node, actor.request,
                  g, fresh, zero);
    if (!zero) continue;
    for (ShadowPlane& plane : group.planes)
      for (const PageIndex page : fresh) plane.clear(page, access.trie, access.log);
  }
  access.log.release(record);
  return true;
}

ReleaseReport NodeMemory::release(const MemoryAccess& access, Actor actor, const PageLists& pages,
                                  std::span<const std::size_t> first) {
  ReleaseReport report;
  const RecordId record = access.log.add({RecordKind::free, access.node, actor.tenant,
                                          actor.request, access.now, access.event, RecordId{}});
  access.log.acquire(record);
  for (std::size_t g = 0; g < pages.size(); ++g) {
    GroupMemory& group = groups[g];
    if (access.context != nullptr)
      trace_group(*access.context, PageOp::free, *access.deployment, access.node, actor.request, g,
                  std::span(pages[g]).subspan(std::min(first[g], pages[g].size())));
    for (std::size_t i = first[g]; i < pages[g].size(); ++i) {
      const PageIndex page = pages[g][i];
      const bool held = group.book.released(page);
      const auto result = group.pool.release(page, record, access.log);
      HANDOFF_CHECK(held == (result != PagePool::Released::not_held),
                    "pool and oracle disagree on a page");
      const bool busy = result == PagePool::Released::freed && group.book.in_flight(page) > 0;
      report.not_held += held ? 0 : 1;
      report.in_flight += busy ? 1 : 0;
      if (!held || busy) add_page(report.pages, page);
    }
  }
  access.log.release(record);
  return report;
}

void NodeMemory::write(const MemoryAccess& access, RecordId record, const ContentPath& path,
                       bool tainted, const PageLists& pages, std::int64_t from, std::int64_t to) {
  if (from >= to) return;
  if (access.context != nullptr)
    for (std::size_t g = 0; g < groups.size(); ++g)
      trace_positions(*access.context, PageOp::write, *access.deployment, access.node,
                      access.log.get(record).request, g, pages[g], from, to);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::int64_t page_tokens = groups[g].pool.page_tokens();
    for (std::int64_t base = from / page_tokens * page_tokens; base < to; base += page_tokens) {
      const std::int64_t begin = std::max(base, from);
      const std::int64_t end = std::min(base + page_tokens, to);
      ContentRun run;
      run.begin = static_cast<std::uint16_t>(begin - base);
      run.end = static_cast<std::uint16_t>(end - base);
      run.tainted = tainted;
      run.tip = path.at(end - 1);
      run.position = begin;
      run.write = record;
      const PageIndex page = pages[g][static_cast<std::size_t>(base / page_tokens)];
      for (ShadowPlane& plane : groups[g].planes) plane.write(page, run, access.trie, access.log);
    }
  }
}

void NodeMemory::reset(const MemoryAccess& access) {
  if (access.context != nullptr) trace_reset(*access.context, *access.deployment, access.node);
  for (GroupMemory& group : groups) {
    group.pool.reset(access.log);
    group.book.reset();
    for (ShadowPlane& plane : group.planes) plane.clear_all(access.trie, access.log);
  }
  if (caching) cache.reset(access.trie);
}

void add_page(std::vector<PageSpan>& spans, PageIndex page) {
  if (!spans.empty() && spans.back().first + spans.back().count == page) {
    ++spans.back().count;
    return;
  }
  if (spans.size() < kPageSpansMax) spans.push_back({page, 1});
}

}  // namespace handoff

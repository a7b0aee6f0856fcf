// Cost of the memory model's hot operations: a page of a pool, a page of shadow memory, a prompt in
// the prefix cache. Items are pages for the first two and prompts for the last.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "models/memory/block_lru.hpp"
#include "models/memory/content.hpp"
#include "models/memory/page_pool.hpp"
#include "models/memory/prefix_cache.hpp"
#include "models/memory/provenance.hpp"
#include "models/memory/shadow.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

constexpr std::uint32_t kPages = 20'000;
constexpr std::int32_t kPageTokens = 64;
constexpr std::int64_t kBlockTokens = 512;

RecordId new_record(ProvenanceLog& log) {
  const RecordId id = log.add(Record{});
  log.acquire(id);
  return id;
}

// Requests of 128 pages come and go while the pool is nearly full.
void pool_allocate_release(benchmark::State& state) {
  constexpr std::uint32_t kRequest = 128;
  ProvenanceLog log;
  PagePool pool(kPages, kPageTokens, static_cast<FreeOrder>(state.range(0)), Rng(1, "bench"));
  std::vector<std::vector<PageIndex>> held(kPages / kRequest);
  Rng rng(2, "bench");
  RequestSerial serial = 0;
  for (auto _ : state) {
    std::vector<PageIndex>& pages = held[rng.below(held.size())];
    const RecordId record = new_record(log);
    for (const PageIndex page : pages) pool.release(page, record, log);
    pages.clear();
    benchmark::DoNotOptimize(pool.allocate(kRequest, serial++, record, log, pages));
    log.release(record);
  }
  state.SetItemsProcessed(state.iterations() * kRequest);
}
BENCHMARK(pool_allocate_release)->DenseRange(0, 3);

ContentNode prompt_of(ContentTrie& trie, std::uint64_t first, std::int64_t blocks) {
  ContentNode node = ContentTrie::kRoot;
  for (std::int64_t i = 0; i < blocks; ++i)
    node = trie.extend(node, first + static_cast<std::uint64_t>(i), kBlockTokens);
  trie.acquire(node);
  return node;
}

// Whole pages over what an earlier request left.
void shadow_write_page(benchmark::State& state) {
  ContentTrie trie;
  ProvenanceLog log;
  ShadowPlane plane(kPages, kPageTokens);
  const std::int64_t blocks = 16;
  const std::int64_t pages = blocks * kBlockTokens / kPageTokens;
  const ContentPath path(trie, prompt_of(trie, 0, blocks));
  PageIndex page = 0;
  for (auto _ : state) {
    const RecordId record = new_record(log);
    for (std::int64_t i = 0; i < pages; ++i) {
      ContentRun run;
      run.end = kPageTokens;
      run.position = i * kPageTokens;
      run.tip = path.at(run.position + kPageTokens - 1);
      run.write = record;
      plane.write(page, run, trie, log);
      page = (page + 7) % kPages;
    }
    log.release(record);
  }
  state.SetItemsProcessed(state.iterations() * pages);
}
BENCHMARK(shadow_write_page);

// Decode, one token after another, over what an earlier request left. Items are tokens.
void shadow_append_over_stale(benchmark::State& state) {
  ContentTrie trie;
  ProvenanceLog log;
  ShadowPlane plane(kPages, kPageTokens);
  const ContentNode tip = prompt_of(trie, 0, 1);
  PageIndex page = 0;
  for (auto _ : state) {
    const RecordId record = new_record(log);
    for (std::uint16_t slot = 0; slot < kPageTokens; ++slot) {
      ContentRun run;
      run.begin = slot;
      run.end = static_cast<std::uint16_t>(slot + 1);
      run.position = slot;
      run.tip = tip;
      run.write = record;
      plane.write(page, run, trie, log);
    }
    log.release(record);
    page = (page + 7) % kPages;
  }
  state.SetItemsProcessed(state.iterations() * kPageTokens);
}
BENCHMARK(shadow_append_over_stale);

// Prompts of 16 blocks that share up to half with others, in a cache of `range` prompts that is
// kept full by eviction: match, lock, insert the rest, unlock.
void cache_match_insert(benchmark::State& state) {
  const std::int64_t blocks = 16;
  const std::int64_t tokens = blocks * kBlockTokens;
  ContentTrie trie;
  PrefixCache cache({kPageTokens});
  Rng rng(3, "bench");
  std::vector<std::vector<PageIndex>> pages(1), evicted(1);
  std::uint64_t unique = 1'000'000;
  for (auto _ : state) {
    const auto shared = rng.between(0, blocks / 2);
    ContentNode node = ContentTrie::kRoot;
    const std::uint64_t family = rng.below(64) * 1000;
    for (std::int64_t i = 0; i < blocks; ++i)
      node = trie.extend(node, i < shared ? family + static_cast<std::uint64_t>(i) : ++unique,
                         kBlockTokens);
    trie.acquire(node);
    pages[0].clear();
    evicted[0].clear();
    const auto match = cache.match(trie, node, tokens - 1, pages);
    if (match.handle.valid()) cache.lock(match.handle);
    pages[0].resize(static_cast<std::size_t>(tokens / kPageTokens));
    const auto inserted = cache.insert(trie, node, tokens, pages);
    cache.lock(inserted.handle);
    if (match.handle.valid()) cache.unlock(match.handle);
    cache.unlock(inserted.handle);
    const std::int64_t excess = cache.cached_tokens() - state.range(0) * tokens;
    if (excess > 0) cache.evict(trie, excess / cache.align(), evicted);
    trie.release(node);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cache_match_insert)->Arg(100)->Arg(10'000);

void block_lru_touch(benchmark::State& state) {
  BlockLru lru(30'000);
  Rng rng(4, "bench");
  for (auto _ : state) benchmark::DoNotOptimize(lru.touch(rng.below(60'000)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(block_lru_touch);

}  // namespace
}  // namespace handoff

BENCHMARK_MAIN();

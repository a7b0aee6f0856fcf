// The page allocator of one (node, group): all-or-nothing allocation, reference counts, and an
// order of reuse that is a policy, because it decides which bug is visible. All ranks of a node
// take the same allocation decisions and so share one pool; their contents differ and live in
// ShadowPlanes.
//
// Pages also remember their last owner and the records of their last allocation and last free.
// Misuse by the simulated system (a double free) is reported to the caller, not a crash: it is a
// finding.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/provenance.hpp"
#include "sim/engine/id.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {

using PageIndex = std::uint32_t;
inline constexpr PageIndex kNoPage = ~PageIndex{0};

enum class FreeOrder : std::uint8_t {
  lifo,    // the page freed last is used first: a stale page is met soon
  fifo,    // the page freed first is used first
  sorted,  // taken in index order; freed pages wait aside and join the list, sorted, when an
           // allocation needs more than it has (SGLang's PagedTokenToKVPoolAllocator with
           // need_sort, as disaggregated nodes use it; there an allocation that fails merges too,
           // here it changes nothing)
  random,  // drawn from the stream given
};

class PagePool {
 public:
  // `log` outlives the pool's use and is passed to each call that changes records; the pool itself
  // is a plain copyable value.
  PagePool() = default;
  // page_tokens > 0. A new pool hands out pages in index order, except in random order.
  PagePool(std::uint32_t pages, std::int32_t page_tokens, FreeOrder order, Rng rng);

  [[nodiscard]] std::uint32_t pages() const { return static_cast<std::uint32_t>(pages_.size()); }
  [[nodiscard]] std::uint32_t free_pages() const { return free_count_; }
  [[nodiscard]] std::int32_t page_tokens() const { return page_tokens_; }
  // ceil(tokens / page_tokens). tokens >= 0.
  [[nodiscard]] std::uint32_t pages_for(std::int64_t tokens) const;

  // Appends `count` pages to `out`, each with one reference held for `owner`, or leaves everything
  // as it is and returns false. `record` is acquired once a page. What the last free of a page left
  // is kept.
  bool allocate(std::uint32_t count, RequestSerial owner, RecordId record, ProvenanceLog& log,
                std::vector<PageIndex>& out);
  // One more reference. Requires refs(page) > 0.
  void share(PageIndex page);

  enum class Released : std::uint8_t { still_held, freed, not_held };
  // Drops one reference. On the last one the page joins the free list and remembers `record`
  // (acquired). not_held: nobody held it (a double free); nothing changes.
  Released release(PageIndex page, RecordId record, ProvenanceLog& log);
  // Ownership passes on without a free (a request's pages adopted by the prefix cache).
  void set_owner(PageIndex page, RequestSerial owner);
  // Every page free in index order, nothing remembered: the memory of a restarted process. The
  // random stream goes on.
  void reset(ProvenanceLog& log);

  [[nodiscard]] std::uint32_t refs(PageIndex page) const { return pages_[page].references; }
  // Current holder, or the last one when the page is free; kNoSerial when never used.
  [[nodiscard]] RequestSerial owner(PageIndex page) const { return pages_[page].owner; }
  // Records of the last allocation and the last free; invalid when there was none.
  [[nodiscard]] RecordId allocated(PageIndex page) const { return pages_[page].allocated; }
  [[nodiscard]] RecordId freed(PageIndex page) const { return pages_[page].freed; }

 private:
  struct Page {
    std::uint32_t references = 0;
    RequestSerial owner = kNoSerial;
    RecordId allocated;
    RecordId freed;
  };

  void free_all();
  void put(PageIndex page);
  void take(std::uint32_t count, std::vector<PageIndex>& out);
  void take_sorted(std::uint32_t count, std::vector<PageIndex>& out);
  void merge_set_aside();

  std::vector<Page> pages_;
  std::uint32_t free_count_ = 0;
  std::int32_t page_tokens_ = 1;
  FreeOrder order_ = FreeOrder::lifo;
  Rng rng_;

  // lifo, random: the first free_count_ entries are free, the last of them is taken next (random:
  // after a swap with the one drawn). fifo: a ring, free_count_ entries from head_ on.
  std::vector<PageIndex> list_;
  std::uint32_t head_ = 0;

  // sorted: one bit a page, so that merging and sorting is an OR over the words with pages set
  // aside.
  std::vector<std::uint64_t> ready_;
  std::vector<std::uint64_t> aside_;
  std::uint32_t ready_count_ = 0;
  std::size_t ready_from_ = 0;  // no bit is set in the words before
  std::size_t aside_from_ = 0;  // bits of aside_ are set in words [aside_from_, aside_to_) only
  std::size_t aside_to_ = 0;
};

}  // namespace handoff

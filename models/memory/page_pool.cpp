// The four orders of reuse over plain vectors of fixed size: a stack, a ring, a swap with the last,
// and two bit sets. None allocates after construction.
#include "models/memory/page_pool.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

PagePool::PagePool(std::uint32_t pages, std::int32_t page_tokens, FreeOrder order, Rng rng)
    : pages_(pages), page_tokens_(page_tokens), order_(order), rng_(rng) {
  HANDOFF_CHECK(pages < kNoPage && page_tokens > 0, "a page pool of impossible shape");
  if (order_ == FreeOrder::sorted) {
    const std::size_t words = (static_cast<std::size_t>(pages) + kWordBits - 1) / kWordBits;
    ready_.resize(words);
    aside_.resize(words);
  } else {
    list_.resize(pages);
  }
  free_all();
}

void PagePool::free_all() {
  free_count_ = pages();
  switch (order_) {
    case FreeOrder::fifo:
    case FreeOrder::random:
      std::iota(list_.begin(), list_.end(), PageIndex{0});
      break;
    case FreeOrder::lifo:
      std::iota(list_.rbegin(), list_.rend(), PageIndex{0});
      break;
    case FreeOrder::sorted:
      std::fill(ready_.begin(), ready_.end(), ~std::uint64_t{0});
      if (pages() % kWordBits != 0) ready_.back() >>= kWordBits - pages() % kWordBits;
      std::fill(aside_.begin(), aside_.end(), std::uint64_t{0});
      break;
  }
  head_ = 0;
  ready_count_ = free_count_;
  ready_from_ = 0;
  aside_from_ = aside_.size();
  aside_to_ = 0;
}

std::uint32_t PagePool::pages_for(std::int64_t tokens) const {
  return static_cast<std::uint32_t>(div_ceil(tokens, page_tokens_));
}

void PagePool::put(PageIndex page) {
  switch (order_) {
    case FreeOrder::lifo:
    case FreeOrder::random:
      list_[free_count_] = page;
      break;
    case FreeOrder::fifo: {
      const std::uint64_t end = std::uint64_t{head_} + free_count_;
      list_[end < pages() ? end : end - pages()] = page;
      break;
    }
    case FreeOrder::sorted: {
      const std::size_t word = page / kWordBits;
      aside_[word] |= std::uint64_t{1} << page % kWordBits;
      aside_from_ = std::min(aside_from_, word);
      aside_to_ = std::max(aside_to_, word + 1);
      break;
    }
  }
  ++free_count_;
}

void PagePool::merge_set_aside() {
  for (std::size_t word = aside_from_; word < aside_to_; ++word)
    ready_[word] |= std::exchange(aside_[word], 0);
  ready_from_ = std::min(ready_from_, aside_from_);
  ready_count_ = free_count_;
  aside_from_ = aside_.size();
  aside_to_ = 0;
}

void PagePool::take_sorted(std::uint32_t count, std::vector<PageIndex>& out) {
  if (count > ready_count_) merge_set_aside();
  for (std::uint32_t left = count; left > 0; ++ready_from_) {
    std::uint64_t& word = ready_[ready_from_];
    for (; word != 0 && left > 0; --left) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
      out.push_back(static_cast<PageIndex>(ready_from_ * kWordBits) + bit);
      word &= word - 1;
    }
    if (word != 0) break;
  }
  ready_count_ -= count;
}

// Requires count <= free_count_.
void PagePool::take(std::uint32_t count, std::vector<PageIndex>& out) {
  switch (order_) {
    case FreeOrder::lifo:
      for (std::uint32_t i = 0; i < count; ++i) out.push_back(list_[free_count_ - 1 - i]);
      break;
    case FreeOrder::random:
      for (std::uint32_t n = free_count_; n > free_count_ - count; --n) {
        std::swap(list_[rng_.below(n)], list_[n - 1]);
        out.push_back(list_[n - 1]);
      }
      break;
    case FreeOrder::fifo:
      for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back(list_[head_]);
        if (++head_ == pages()) head_ = 0;
      }
      break;
    case FreeOrder::sorted:
      take_sorted(count, out);
      break;
  }
  free_count_ -= count;
}

bool PagePool::allocate(std::uint32_t count, RequestSerial owner, RecordId record,
                        ProvenanceLog& log, std::vector<PageIndex>& out) {
  if (count > free_count_) return false;
  if (count == 0) return true;
  const std::size_t first = out.size();
  take(count, out);
  log.acquire(record, count);
  for (std::size_t i = first; i < out.size(); ++i) {
    Page& page = pages_[out[i]];
    HANDOFF_CHECK(page.references == 0, "a page on the free list is held");
    page.references = 1;
    page.owner = owner;
    if (const RecordId old = std::exchange(page.allocated, record); old.valid()) log.release(old);
  }
  return true;
}

void PagePool::share(PageIndex page) {
  HANDOFF_CHECK(page < pages_.size() && pages_[page].references > 0,
                "a page that nobody holds was shared");
  ++pages_[page].references;
}

PagePool::Released PagePool::release(PageIndex page, RecordId record, ProvenanceLog& log) {
  HANDOFF_CHECK(page < pages_.size(), "a page outside the pool was released");
  Page& p = pages_[page];
  if (p.references == 0) return Released::not_held;
  if (--p.references > 0) return Released::still_held;
  log.acquire(record);
  if (const RecordId old = std::exchange(p.freed, record); old.valid()) log.release(old);
  put(page);
  return Released::freed;
}

void PagePool::set_owner(PageIndex page, RequestSerial owner) {
  HANDOFF_CHECK(page < pages_.size(), "a page outside the pool changed its owner");
  pages_[page].owner = owner;
}

void PagePool::reset(ProvenanceLog& log) {
  for (Page& page : pages_) {
    if (page.allocated.valid()) log.release(page.allocated);
    if (page.freed.valid()) log.release(page.freed);
    page = Page{};
  }
  free_all();
}

}  // namespace handoff

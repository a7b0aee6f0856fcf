// The page pool against a plain list of free pages, for every order of reuse.
#include "models/memory/page_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

constexpr std::array kOrders = {FreeOrder::lifo, FreeOrder::fifo, FreeOrder::sorted,
                                FreeOrder::random};

class PagePoolOrder : public testing::Test {
 protected:
  RecordId record() {
    const RecordId id = log_.add(Record{});
    log_.acquire(id);
    return id;
  }
  std::vector<PageIndex> take(PagePool& pool, std::uint32_t count) {
    std::vector<PageIndex> out;
    EXPECT_TRUE(pool.allocate(count, 1, record_, log_, out));
    return out;
  }
  void give(PagePool& pool, const std::vector<PageIndex>& pages) {
    for (const PageIndex page : pages)
      EXPECT_EQ(pool.release(page, record_, log_), PagePool::Released::freed);
  }

  ProvenanceLog log_;
  RecordId record_ = record();
};

using Pages = std::vector<PageIndex>;

TEST_F(PagePoolOrder, lifo_takes_the_page_freed_last) {
  PagePool pool(5, 16, FreeOrder::lifo, Rng());
  EXPECT_EQ(take(pool, 4), (Pages{0, 1, 2, 3}));
  give(pool, {2, 0, 3});
  EXPECT_EQ(take(pool, 4), (Pages{3, 0, 2, 4}));
}

TEST_F(PagePoolOrder, fifo_takes_the_page_freed_first) {
  PagePool pool(5, 16, FreeOrder::fifo, Rng());
  EXPECT_EQ(take(pool, 4), (Pages{0, 1, 2, 3}));
  give(pool, {2, 0, 3});
  EXPECT_EQ(take(pool, 4), (Pages{4, 2, 0, 3}));
}

TEST_F(PagePoolOrder, sorted_sets_freed_pages_aside_until_the_list_is_too_short) {
  PagePool pool(6, 16, FreeOrder::sorted, Rng());
  EXPECT_EQ(take(pool, 3), (Pages{0, 1, 2}));
  give(pool, {1, 0});
  EXPECT_EQ(pool.free_pages(), 5u);
  EXPECT_EQ(take(pool, 1), (Pages{3}));     // of the list 3 4 5
  EXPECT_EQ(take(pool, 2), (Pages{4, 5}));  // exactly what is left
  give(pool, {4, 3});
  EXPECT_EQ(take(pool, 3), (Pages{0, 1, 3}));  // 0 1 3 4, merged and sorted
  give(pool, {0});
  EXPECT_EQ(take(pool, 2), (Pages{0, 4}));  // the list held only 4
}

TEST_F(PagePoolOrder, sorted_merges_pages_from_behind_what_is_left_of_the_list) {
  PagePool pool(200, 16, FreeOrder::sorted, Rng());
  take(pool, 200);
  give(pool, {150, 1, 0});
  EXPECT_EQ(take(pool, 1), (Pages{0}));
  give(pool, {199, 100});
  EXPECT_EQ(take(pool, 4), (Pages{1, 100, 150, 199}));  // 1 and 150 were still in the list
}

TEST_F(PagePoolOrder, random_takes_every_free_page_about_equally_often) {
  constexpr int kDraws = 8000;
  PagePool pool(8, 16, FreeOrder::random, Rng(1, "pool"));
  std::array<int, 8> drawn{};
  for (int i = 0; i < kDraws; ++i) {
    const Pages page = take(pool, 1);
    ++drawn[page.front()];
    give(pool, page);
  }
  // 1000 expected, standard deviation 30; the stream is fixed, so is the outcome.
  for (const int n : drawn) EXPECT_NEAR(n, kDraws / 8, 120);
}

TEST_F(PagePoolOrder, an_allocation_that_does_not_fit_changes_nothing) {
  for (const FreeOrder order : kOrders) {
    PagePool pool(4, 16, order, Rng(1, "pool"));
    give(pool, take(pool, 2));
    PagePool untouched = pool;
    Pages out = {77};
    EXPECT_FALSE(pool.allocate(5, 9, record_, log_, out));
    EXPECT_EQ(out, Pages{77});
    EXPECT_EQ(pool.free_pages(), 4u);
    EXPECT_EQ(take(pool, 4), take(untouched, 4));
  }
}

TEST_F(PagePoolOrder, a_double_free_is_reported_and_changes_nothing) {
  for (const FreeOrder order : kOrders) {
    PagePool pool(3, 16, order, Rng(1, "pool"));
    const PageIndex page = take(pool, 1).front();
    const RecordId first = record();
    EXPECT_EQ(pool.release(page, first, log_), PagePool::Released::freed);
    EXPECT_EQ(pool.release(page, record_, log_), PagePool::Released::not_held);
    EXPECT_EQ(pool.freed(page), first);
    EXPECT_EQ(pool.free_pages(), 3u);
    Pages all = take(pool, 3);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (Pages{0, 1, 2}));
  }
}

TEST_F(PagePoolOrder, a_shared_page_is_freed_by_its_last_holder) {
  PagePool pool(2, 16, FreeOrder::lifo, Rng());
  const PageIndex page = take(pool, 1).front();
  pool.share(page);
  EXPECT_EQ(pool.refs(page), 2u);
  EXPECT_EQ(pool.release(page, record_, log_), PagePool::Released::still_held);
  EXPECT_FALSE(pool.freed(page).valid());
  EXPECT_EQ(pool.free_pages(), 1u);
  EXPECT_EQ(pool.release(page, record_, log_), PagePool::Released::freed);
  EXPECT_EQ(pool.freed(page), record_);
  EXPECT_THROW(pool.share(page), InternalError);
}

TEST_F(PagePoolOrder, the_last_owner_and_both_records_are_remembered) {
  PagePool pool(1, 16, FreeOrder::lifo, Rng());
  EXPECT_EQ(pool.owner(0), kNoSerial);
  EXPECT_FALSE(pool.allocated(0).valid());
  Pages out;
  const RecordId allocation = record();
  ASSERT_TRUE(pool.allocate(1, 41, allocation, log_, out));
  EXPECT_EQ(pool.owner(0), 41u);
  pool.set_owner(0, 42);
  give(pool, out);
  EXPECT_EQ(pool.owner(0), 42u);
  EXPECT_EQ(pool.allocated(0), allocation);
  EXPECT_EQ(pool.freed(0), record_);
  const RecordId again = record();
  ASSERT_TRUE(pool.allocate(1, 43, again, log_, out));
  EXPECT_EQ(pool.allocated(0), again);
  EXPECT_EQ(pool.freed(0), record_);
}

TEST_F(PagePoolOrder, reset_gives_the_pool_of_a_new_process) {
  for (const FreeOrder order : {FreeOrder::lifo, FreeOrder::fifo, FreeOrder::sorted}) {
    PagePool pool(70, 16, order, Rng());
    Pages held = take(pool, 66);
    give(pool, {5, 3, 64});
    pool.share(7);
    pool.reset(log_);
    EXPECT_EQ(log_.size(), 1u);
    EXPECT_EQ(pool.free_pages(), 70u);
    EXPECT_EQ(pool.refs(7), 0u);
    EXPECT_EQ(pool.owner(7), kNoSerial);
    EXPECT_FALSE(pool.allocated(7).valid());
    EXPECT_FALSE(pool.freed(5).valid());
    const Pages all = take(pool, 70);
    for (PageIndex page = 0; page < 70; ++page) ASSERT_EQ(all[page], page);
    pool.reset(log_);
  }
}

TEST_F(PagePoolOrder, a_partial_page_counts_whole) {
  const PagePool pool(4, 16, FreeOrder::lifo, Rng());
  EXPECT_EQ(pool.pages_for(0), 0u);
  EXPECT_EQ(pool.pages_for(1), 1u);
  EXPECT_EQ(pool.pages_for(16), 1u);
  EXPECT_EQ(pool.pages_for(17), 2u);
}

TEST_F(PagePoolOrder, an_empty_pool_gives_nothing_but_nothing) {
  for (const FreeOrder order : kOrders) {
    PagePool pool(0, 16, order, Rng());
    Pages out;
    EXPECT_TRUE(pool.allocate(0, 1, record_, log_, out));
    EXPECT_FALSE(pool.allocate(1, 1, record_, log_, out));
    pool.reset(log_);
  }
}

// The free pages in a list, in the words of FreeOrder.
struct SlowPool {
  SlowPool(std::uint32_t pages, FreeOrder free_order, Rng stream)
      : order(free_order), rng(stream), held(pages), owner(pages, kNoSerial) {
    for (PageIndex page = 0; page < pages; ++page) list.push_back(page);
    if (order == FreeOrder::lifo) std::reverse(list.begin(), list.end());
    allocated.resize(pages);
    freed.resize(pages);
  }

  bool allocate(std::uint32_t count, RequestSerial who, RecordId record, Pages& out) {
    if (count > list.size() + aside.size()) return false;
    if (count > list.size()) {
      list.insert(list.end(), aside.begin(), aside.end());
      aside.clear();
      std::sort(list.begin(), list.end());
    }
    for (; count > 0; --count) {
      const PageIndex page = take();
      held[page] = 1;
      owner[page] = who;
      allocated[page] = record;
      out.push_back(page);
    }
    return true;
  }
  PageIndex take() {
    auto at = list.begin();
    if (order == FreeOrder::lifo) at = list.end() - 1;
    if (order == FreeOrder::random) {
      at = list.begin() + static_cast<std::ptrdiff_t>(rng.below(list.size()));
      std::iter_swap(at, list.end() - 1);
      at = list.end() - 1;
    }
    const PageIndex page = *at;
    list.erase(at);
    return page;
  }
  PagePool::Released release(PageIndex page, RecordId record) {
    if (held[page] == 0) return PagePool::Released::not_held;
    if (--held[page] > 0) return PagePool::Released::still_held;
    freed[page] = record;
    (order == FreeOrder::sorted ? aside : list).push_back(page);
    return PagePool::Released::freed;
  }
  // Records that pages remember, and the one the test holds.
  [[nodiscard]] std::size_t records(RecordId own) const {
    std::set<RecordId> alive = {own};
    for (const RecordId id : allocated)
      if (id.valid()) alive.insert(id);
    for (const RecordId id : freed)
      if (id.valid()) alive.insert(id);
    return alive.size();
  }

  FreeOrder order;
  Rng rng;
  std::vector<std::uint32_t> held;
  std::vector<RequestSerial> owner;
  std::vector<RecordId> allocated, freed;
  Pages list, aside;
};

TEST_F(PagePoolOrder, random_operations_agree_with_a_plain_list) {
  for (const FreeOrder order : kOrders) {
    for (const std::uint32_t pages : {1u, 7u, 64u, 200u}) {
      Rng rng(pages, "pool test", static_cast<std::uint64_t>(order));
      const Rng stream(pages, "free order");
      PagePool pool(pages, 16, order, stream);
      SlowPool slow(pages, order, stream);
      const std::size_t before = log_.size() - 1;
      for (std::uint32_t step = 0; step < 4000; ++step) {
        const RecordId record = this->record();
        const auto page = static_cast<PageIndex>(rng.below(pages));
        const auto what = rng.below(20);
        if (what < 6) {
          const auto count = static_cast<std::uint32_t>(rng.below(pages / 3 + 2));
          Pages got, expected;
          ASSERT_EQ(pool.allocate(count, step, record, log_, got),
                    slow.allocate(count, step, record, expected));
          ASSERT_EQ(got, expected);
        } else if (what < 8 && slow.held[page] > 0) {
          pool.share(page);
          ++slow.held[page];
        } else {
          // Several, so that the pool does not stay full; often not held.
          for (std::uint32_t i = 0; i < pages / 8 + 1; ++i) {
            const auto p = static_cast<PageIndex>(rng.below(pages));
            ASSERT_EQ(pool.release(p, record, log_), slow.release(p, record));
          }
        }
        log_.release(record);
        ASSERT_EQ(pool.free_pages(), slow.list.size() + slow.aside.size());
        ASSERT_EQ(pool.refs(page), slow.held[page]);
        ASSERT_EQ(pool.owner(page), slow.owner[page]);
        ASSERT_EQ(pool.allocated(page), slow.allocated[page]);
        ASSERT_EQ(pool.freed(page), slow.freed[page]);
        ASSERT_EQ(log_.size() - before, slow.records(record_));
      }
      pool.reset(log_);
      ASSERT_EQ(log_.size() - before, 1u);
    }
  }
}

}  // namespace
}  // namespace handoff

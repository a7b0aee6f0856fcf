// The prefix cache against a map with one entry for each cached unit.
#include "models/memory/prefix_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"
#include "tests/unit/memory/spelled.hpp"

namespace handoff {
namespace {

using test::Sequence;
using test::Speller;
using test::Spelling;

using Pages = std::vector<PageIndex>;
using GroupPages = std::vector<Pages>;

// One group, pages of four tokens; sequences of blocks that need not be whole pages.
class PrefixCacheCase : public testing::Test {
 protected:
  ContentNode path(std::vector<std::pair<std::uint64_t, std::int64_t>> blocks) {
    ContentNode node = ContentTrie::kRoot;
    for (const auto& [label, tokens] : blocks) node = trie_.extend(node, label, tokens);
    trie_.acquire(node);
    return node;
  }
  PrefixCache::Inserted insert(ContentNode tip, Pages pages) {
    const GroupPages lists = {std::move(pages)};
    return cache_.insert(trie_, tip, trie_.end(tip), lists);
  }
  // Matched tokens and pages, looked up without a limit of its own.
  std::pair<std::int64_t, Pages> match(ContentNode tip, std::int64_t most = 1000) {
    GroupPages lists(1);
    last_ = cache_.match(trie_, tip, most, lists);
    return {last_.tokens, lists[0]};
  }
  Pages evict(std::int64_t units) {
    GroupPages lists(1);
    cache_.evict(trie_, units, lists);
    return lists[0];
  }

  ContentTrie trie_;
  PrefixCache cache_{{4}};
  PrefixCache::Match last_;
};

using Found = std::pair<std::int64_t, Pages>;

TEST_F(PrefixCacheCase, only_whole_units_are_cached_and_found) {
  const ContentNode a = path({{1, 11}});
  const auto inserted = insert(a, {7, 8, 9});
  EXPECT_EQ(inserted.tokens, 8);
  EXPECT_EQ(inserted.already, 0);
  EXPECT_EQ(match(a), Found(8, {7, 8}));
  EXPECT_EQ(match(a, 7), Found(4, {7}));
  EXPECT_EQ(match(a, 3), Found(0, {}));
  EXPECT_FALSE(last_.handle.valid());
  EXPECT_EQ(match(a, -1), Found(0, {}));
  EXPECT_EQ(cache_.cached_tokens(), 8);
  EXPECT_FALSE(insert(path({{5, 3}}), {1}).handle.valid());
}

TEST_F(PrefixCacheCase, sequences_share_up_to_the_last_unit_of_equal_content) {
  const ContentNode a = path({{1, 6}, {2, 10}});
  const ContentNode b = path({{1, 6}, {3, 10}});  // apart at position 6, inside the second page
  insert(a, {10, 11, 12, 13});
  EXPECT_EQ(match(b), Found(4, {10}));
  const auto inserted = insert(b, {10, 21, 22, 23});
  EXPECT_EQ(inserted.tokens, 16);
  EXPECT_EQ(inserted.already, 4);
  EXPECT_EQ(match(a), Found(16, {10, 11, 12, 13}));
  EXPECT_EQ(match(b), Found(16, {10, 21, 22, 23}));
  EXPECT_EQ(cache_.cached_tokens(), 28);
}

TEST_F(PrefixCacheCase, the_cache_keeps_its_own_pages_where_both_have_some) {
  const ContentNode a = path({{1, 8}});
  const ContentNode longer = path({{1, 8}, {2, 8}});
  insert(a, {1, 2});
  const auto inserted = insert(longer, {91, 92, 3, 4});
  EXPECT_EQ(inserted.already, 8);
  EXPECT_EQ(match(longer), Found(16, {1, 2, 3, 4}));
  const auto again = insert(longer, {5, 6, 7, 8});
  EXPECT_EQ(again.already, 16);
  EXPECT_EQ(again.handle, last_.handle);
  EXPECT_EQ(match(longer), Found(16, {1, 2, 3, 4}));
}

TEST_F(PrefixCacheCase, equal_prompts_under_different_salts_share_nothing) {
  insert(path({{100, 0}, {1, 8}}), {1, 2});
  EXPECT_EQ(match(path({{200, 0}, {1, 8}})), Found(0, {}));
  EXPECT_EQ(match(path({{100, 0}, {1, 8}})), Found(8, {1, 2}));
}

TEST_F(PrefixCacheCase, the_tip_may_reach_beyond_what_is_cached) {
  const ContentNode a = path({{1, 100}});
  const GroupPages lists = {{1, 2, 3}};
  const auto inserted = cache_.insert(trie_, a, 12, lists);
  EXPECT_EQ(inserted.tokens, 12);
  EXPECT_EQ(match(a), Found(12, {1, 2, 3}));
  EXPECT_EQ(evict(1), (Pages{1, 2, 3}));
}

TEST_F(PrefixCacheCase, the_least_recently_used_leaf_goes_first_and_whole) {
  insert(path({{1, 8}}), {1, 2});
  insert(path({{2, 8}}), {3, 4});
  insert(path({{3, 4}}), {5});
  match(path({{1, 8}}));
  EXPECT_EQ(evict(1), (Pages{3, 4}));
  EXPECT_EQ(evict(2), (Pages{5, 1, 2}));
  EXPECT_EQ(evict(1), Pages{});
  EXPECT_EQ(cache_.cached_tokens(), 0);
}

TEST_F(PrefixCacheCase, a_parent_is_evicted_after_its_children) {
  insert(path({{1, 4}, {2, 4}}), {1, 2});
  insert(path({{1, 4}, {3, 4}}), {1, 3});
  insert(path({{4, 4}}), {4});
  EXPECT_EQ(cache_.evictable_tokens(), 16);
  EXPECT_EQ(evict(4), (Pages{2, 3, 1, 4}));
}

TEST_F(PrefixCacheCase, a_locked_path_stays) {
  insert(path({{1, 4}, {2, 4}}), {1, 2});
  const auto kept = insert(path({{1, 4}, {3, 4}}), {1, 3});
  cache_.lock(kept.handle);
  EXPECT_EQ(cache_.evictable_tokens(), 4);
  EXPECT_EQ(evict(10), (Pages{2}));
  EXPECT_EQ(cache_.evictable_tokens(), 0);
  cache_.unlock(kept.handle);
  EXPECT_EQ(cache_.evictable_tokens(), 8);
  EXPECT_THROW(cache_.unlock(kept.handle), InternalError);
}

TEST_F(PrefixCacheCase, a_handle_outlives_the_splits_of_others) {
  const ContentNode a = path({{1, 16}});
  const auto mine = insert(a, {1, 2, 3, 4});
  cache_.lock(mine.handle);
  EXPECT_EQ(match(a, 12), Found(12, {1, 2, 3}));
  const auto second = last_.handle;
  cache_.lock(second);
  EXPECT_EQ(match(a, 4), Found(4, {1}));
  EXPECT_EQ(evict(10), Pages{});
  cache_.unlock(mine.handle);
  EXPECT_EQ(cache_.evictable_tokens(), 4);
  EXPECT_EQ(evict(10), (Pages{4}));
  EXPECT_EQ(match(a), Found(12, {1, 2, 3}));
  EXPECT_EQ(last_.handle, second);
  cache_.unlock(second);
  EXPECT_EQ(evict(10), (Pages{2, 3, 1}));
}

TEST_F(PrefixCacheCase, both_halves_of_a_split_count_as_used) {
  const ContentNode a = path({{1, 8}});
  insert(a, {1, 2});
  insert(path({{2, 4}}), {3});
  match(a, 4);
  EXPECT_EQ(evict(1), (Pages{3}));
}

TEST_F(PrefixCacheCase, reset_forgets_all) {
  const ContentNode a = path({{1, 8}});
  cache_.lock(insert(a, {1, 2}).handle);
  cache_.reset(trie_);
  EXPECT_EQ(cache_.cached_tokens(), 0);
  EXPECT_EQ(cache_.evictable_tokens(), 0);
  EXPECT_EQ(match(a), Found(0, {}));
  insert(a, {5, 6});
  EXPECT_EQ(evict(1), (Pages{5, 6}));
  trie_.release(a);
  EXPECT_EQ(trie_.size(), 0u);
}

TEST_F(PrefixCacheCase, misuse_is_our_error) {
  const ContentNode a = path({{1, 8}});
  EXPECT_THROW(insert(a, {1}), InternalError);
  EXPECT_THROW(cache_.lock(PrefixCache::Handle{}), InternalError);
  GroupPages two(2);
  EXPECT_THROW(cache_.match(trie_, a, 8, two), InternalError);
  const GroupPages lists = {{1, 2, 3}};
  EXPECT_THROW(cache_.insert(trie_, a, 12, lists), InternalError);
  PrefixCache none;
  EXPECT_THROW(none.match(trie_, a, 8, {}), InternalError);
}

TEST(PrefixCache, align_is_the_least_common_multiple_of_the_page_sizes) {
  EXPECT_EQ(PrefixCache({4, 6, 1}).align(), 12);
  EXPECT_EQ(PrefixCache({64}).align(), 64);
  EXPECT_THROW((void)PrefixCache({4, 0}), InternalError);
  EXPECT_THROW((void)PrefixCache(std::vector<std::int32_t>{}), InternalError);
}

// One entry for each cached unit, keyed by all content up to its end. A node of the real tree is a
// stretch of units of which only the last has `ends`.
class SlowCache {
 public:
  // Unit number, and the content at its last position, which names all before.
  using Key = std::pair<std::int64_t, Spelling>;

  SlowCache(std::vector<std::int32_t> sizes, std::int64_t align)
      : sizes_(std::move(sizes)), align_(align) {}

  std::vector<Key> keys(const Spelling& s, std::int64_t tokens) const {
    std::vector<Key> out;
    for (std::int64_t u = 0; (u + 1) * align_ <= tokens; ++u)
      out.emplace_back(u, test::content_at(s, (u + 1) * align_ - 1));
    return out;
  }

  // Units of the sequence that are cached; touches them, and ends a node after the last.
  std::size_t descend(const std::vector<Key>& keys) {
    std::size_t n = 0;
    while (n < keys.size() && units_.count(keys[n]) != 0) ++n;
    std::size_t u = 0;
    while (u < n) {
      ++clock_;
      while (true) {
        units_.at(keys[u]).touched = clock_;
        if (units_.at(keys[u]).ends || u + 1 == n) break;
        ++u;
      }
      ++u;
    }
    if (n == 0) return 0;
    // The rest of a node that is used in part.
    for (Key key = keys[n - 1]; !units_.at(key).ends;) {
      key = only_child(key);
      units_.at(key).touched = clock_;
    }
    units_.at(keys[n - 1]).ends = true;
    return n;
  }

  void add(const std::vector<Key>& keys, std::size_t from, const GroupPages& pages) {
    if (from == keys.size()) return;
    ++clock_;
    for (std::size_t u = from; u < keys.size(); ++u) {
      Unit unit;
      unit.touched = clock_;
      unit.ends = u + 1 == keys.size();
      if (u > 0) unit.parent = keys[u - 1];
      for (std::size_t g = 0; g < sizes_.size(); ++g) {
        const auto per_unit = static_cast<std::size_t>(align_ / sizes_[g]);
        for (std::size_t i = 0; i < per_unit; ++i) unit.pages.push_back(pages[g][u * per_unit + i]);
      }
      units_[keys[u]] = unit;
    }
  }

  void append_pages(const Key& key, GroupPages& out) const {
    auto page = units_.at(key).pages.begin();
    for (std::size_t g = 0; g < sizes_.size(); ++g)
      for (std::int64_t i = 0; i < align_ / sizes_[g]; ++i) out[g].push_back(*page++);
  }

  void lock(Key key, int by) {
    for (bool more = true; more; key = units_.at(key).parent) {
      units_.at(key).locks += by;
      more = key.first > 0;
    }
  }

  std::int64_t evict(std::int64_t wanted, GroupPages& out) {
    std::int64_t gone = 0;
    while (gone < wanted) {
      const Key* oldest = nullptr;
      for (const auto& [key, unit] : units_)
        if (unit.locks == 0 && !has_child(key) &&
            (oldest == nullptr || unit.touched < units_.at(*oldest).touched))
          oldest = &key;
      if (oldest == nullptr) break;
      std::vector<Key> node = {*oldest};
      while (node.back().first > 0 && !units_.at(units_.at(node.back()).parent).ends)
        node.push_back(units_.at(node.back()).parent);
      std::reverse(node.begin(), node.end());
      for (const Key& key : node) {
        append_pages(key, out);
        ++gone;
      }
      for (const Key& key : node) units_.erase(key);
    }
    return gone;
  }

  std::int64_t tokens(bool unlocked_only) const {
    std::int64_t n = 0;
    for (const auto& [key, unit] : units_) n += unlocked_only && unit.locks > 0 ? 0 : align_;
    return n;
  }
  void clear() { units_.clear(); }

 private:
  struct Unit {
    Key parent;
    std::vector<PageIndex> pages;
    std::uint64_t touched = 0;
    int locks = 0;
    bool ends = false;
  };

  bool has_child(const Key& key) const {
    return std::any_of(units_.begin(), units_.end(), [&](const auto& entry) {
      return entry.first.first == key.first + 1 && entry.second.parent == key;
    });
  }
  Key only_child(const Key& key) const {
    for (const auto& [k, unit] : units_)
      if (k.first == key.first + 1 && unit.parent == key) return k;
    ADD_FAILURE() << "a stretch of units breaks off";
    return key;
  }

  std::vector<std::int32_t> sizes_;
  std::int64_t align_;
  std::uint64_t clock_ = 0;
  std::map<Key, Unit> units_;
};

class PrefixCacheProperty : public testing::TestWithParam<std::vector<std::int32_t>> {
 protected:
  struct Lock {
    PrefixCache::Handle handle;
    SlowCache::Key key;
  };

  void do_match(const Sequence& s) {
    const auto most = rng_.between(0, test::length(s.spelling) + cache_.align());
    GroupPages got(sizes_.size()), expected(sizes_.size());
    for (auto* lists : {&got, &expected})
      for (Pages& list : *lists) list.push_back(999);  // what stood there before stays
    const auto match = cache_.match(trie_, s.tip, most, got);
    const auto keys = slow_.keys(s.spelling, std::min(most, test::length(s.spelling)));
    const std::size_t n = slow_.descend(keys);
    for (std::size_t u = 0; u < n; ++u) slow_.append_pages(keys[u], expected);
    ASSERT_EQ(match.tokens, static_cast<std::int64_t>(n) * cache_.align());
    ASSERT_EQ(got, expected);
    ASSERT_EQ(match.handle.valid(), n > 0);
    if (n > 0 && rng_.chance(1, 3)) lock({match.handle, keys[n - 1]});
  }

  void do_insert(const Sequence& s) {
    const auto tokens =
        rng_.chance(1, 2) ? test::length(s.spelling) : rng_.between(0, test::length(s.spelling));
    GroupPages pages(sizes_.size());
    for (std::size_t g = 0; g < sizes_.size(); ++g)
      for (std::int64_t i = 0; i < tokens; i += sizes_[g]) pages[g].push_back(next_page_++);
    const auto inserted = cache_.insert(trie_, s.tip, tokens, pages);
    const auto keys = slow_.keys(s.spelling, tokens);
    const std::size_t n = slow_.descend(keys);
    slow_.add(keys, n, pages);
    ASSERT_EQ(inserted.tokens, static_cast<std::int64_t>(keys.size()) * cache_.align());
    ASSERT_EQ(inserted.already, static_cast<std::int64_t>(n) * cache_.align());
    ASSERT_EQ(inserted.handle.valid(), !keys.empty());
    if (!keys.empty() && rng_.chance(1, 3)) lock({inserted.handle, keys.back()});
  }

  void lock(Lock lock) {
    cache_.lock(lock.handle);
    slow_.lock(lock.key, 1);
    locks_.push_back(std::move(lock));
  }
  void unlock(std::size_t i) {
    cache_.unlock(locks_[i].handle);
    slow_.lock(locks_[i].key, -1);
    locks_.erase(locks_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void do_evict(std::int64_t units) {
    GroupPages got(sizes_.size()), expected(sizes_.size());
    ASSERT_EQ(cache_.evict(trie_, units, got), slow_.evict(units, expected));
    ASSERT_EQ(got, expected);
  }

  void step(Speller& speller) {
    const auto what = rng_.below(20);
    if (sequences_.empty() || what < 4) {
      sequences_.push_back(speller.next(rng_, trie_, sequences_));
    } else if (what < 6 && sequences_.size() > 20) {
      // The cache goes on knowing prefixes that no request knows any more.
      const auto i = static_cast<std::ptrdiff_t>(rng_.below(sequences_.size()));
      trie_.release(sequences_[static_cast<std::size_t>(i)].tip);
      sequences_.erase(sequences_.begin() + i);
    } else if (what < 11) {
      do_match(sequences_[rng_.below(sequences_.size())]);
    } else if (what < 16) {
      do_insert(sequences_[rng_.below(sequences_.size())]);
    } else if (what < 18 && !locks_.empty()) {
      unlock(rng_.below(locks_.size()));
    } else {
      do_evict(rng_.between(0, 6));
    }
  }

  void finish(Speller& speller) {
    while (!locks_.empty()) unlock(locks_.size() - 1);
    ASSERT_EQ(cache_.evictable_tokens(), cache_.cached_tokens());
    if (rng_.chance(1, 2)) {
      do_evict(1'000'000);
    } else {
      cache_.reset(trie_);
      slow_.clear();
    }
    ASSERT_EQ(cache_.cached_tokens(), 0);
    speller.forget(trie_);
    for (const Sequence& s : sequences_) trie_.release(s.tip);
    sequences_.clear();
    ASSERT_EQ(trie_.size(), 0u);
  }

  std::vector<std::int32_t> sizes_ = GetParam();
  ContentTrie trie_;
  PrefixCache cache_{sizes_};
  SlowCache slow_{sizes_, cache_.align()};
  Rng rng_;
  std::vector<Sequence> sequences_;
  std::vector<Lock> locks_;
  PageIndex next_page_ = 0;
};

TEST_P(PrefixCacheProperty, random_operations_agree_with_one_entry_a_unit) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    rng_ = Rng(seed, "prefix cache test", static_cast<std::uint64_t>(cache_.align()));
    Speller speller(2, cache_.align() * 3);
    for (int i = 0; i < 2000; ++i) {
      step(speller);
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << i;
      ASSERT_EQ(cache_.cached_tokens(), slow_.tokens(false)) << "seed " << seed << " step " << i;
      ASSERT_EQ(cache_.evictable_tokens(), slow_.tokens(true)) << "seed " << seed << " step " << i;
    }
    finish(speller);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, PrefixCacheProperty,
                         testing::Values(std::vector<std::int32_t>{1}, std::vector<std::int32_t>{4},
                                         std::vector<std::int32_t>{2, 3},
                                         std::vector<std::int32_t>{4, 1, 2}));

}  // namespace
}  // namespace handoff

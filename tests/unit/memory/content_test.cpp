// The content trie against sequences spelled out.
#include "models/memory/content.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"
#include "tests/unit/memory/spelled.hpp"

namespace handoff {
namespace {

using test::content_at;
using test::length;
using test::Sequence;
using test::Speller;
using test::Spelling;

TEST(ContentTrie, equal_label_and_length_below_equal_parent_is_the_same_node) {
  ContentTrie trie;
  const ContentNode a = trie.extend(ContentTrie::kRoot, 7, 512);
  EXPECT_EQ(trie.extend(ContentTrie::kRoot, 7, 512), a);
  EXPECT_NE(trie.extend(ContentTrie::kRoot, 8, 512), a);
  EXPECT_NE(trie.extend(ContentTrie::kRoot, 7, 511), a);
  EXPECT_NE(trie.extend(a, 7, 512), a);
  EXPECT_NE(trie.extend_unique(ContentTrie::kRoot, 512),
            trie.extend_unique(ContentTrie::kRoot, 512));
  EXPECT_EQ(trie.size(), 6u);
}

TEST(ContentTrie, positions_follow_the_parents) {
  ContentTrie trie;
  const ContentNode a = trie.extend(ContentTrie::kRoot, 1, 10);
  const ContentNode b = trie.extend(a, 2, 5);
  EXPECT_EQ(trie.begin(a), 0);
  EXPECT_EQ(trie.end(a), 10);
  EXPECT_EQ(trie.begin(b), 10);
  EXPECT_EQ(trie.end(b), 15);
  EXPECT_EQ(trie.parent(b), a);
  EXPECT_EQ(trie.parent(a), ContentTrie::kRoot);
  EXPECT_EQ(trie.at(b, 9), a);
  EXPECT_EQ(trie.at(b, 10), b);
  EXPECT_THROW((void)trie.at(b, 15), InternalError);
  EXPECT_THROW((void)trie.at(b, -1), InternalError);
  EXPECT_THROW((void)trie.at(ContentTrie::kRoot, 0), InternalError);
}

TEST(ContentTrie, salts_separate_equal_prompts_and_cover_no_position) {
  ContentTrie trie;
  const ContentNode salt_a = trie.extend(ContentTrie::kRoot, 1, 0);
  const ContentNode salt_b = trie.extend(ContentTrie::kRoot, 2, 0);
  const ContentNode a = trie.extend(salt_a, 9, 64);
  const ContentNode b = trie.extend(salt_b, 9, 64);
  EXPECT_NE(a, b);
  EXPECT_EQ(trie.common_tokens(a, b), 0);
  EXPECT_EQ(trie.common_tokens(a, salt_a), 0);
  EXPECT_EQ(trie.at(a, 0), a);
  // A salt in the middle: what comes before it is shared.
  const ContentNode middle = trie.extend(a, 3, 0);
  const ContentNode below = trie.extend(middle, 9, 8);
  const ContentNode beside = trie.extend(a, 9, 8);
  EXPECT_EQ(trie.common_tokens(below, beside), 64);
  EXPECT_EQ(trie.common_tokens(middle, a), 64);
  EXPECT_EQ(trie.at(below, 63), a);
  EXPECT_EQ(trie.at(middle, 63), a);
  EXPECT_EQ(trie.at(below, 64), below);
}

TEST(ContentTrie, a_node_without_references_is_recycled_with_its_ancestors) {
  ContentTrie trie;
  const ContentNode a = trie.extend(ContentTrie::kRoot, 1, 10);
  const ContentNode b = trie.extend(a, 2, 10);
  const ContentNode c = trie.extend(a, 3, 10);
  trie.acquire(b);
  trie.acquire(c);
  trie.acquire(c);
  trie.release(b);
  EXPECT_EQ(trie.size(), 2u);
  EXPECT_THROW(trie.acquire(b), InternalError);
  trie.release(c);
  EXPECT_EQ(trie.size(), 2u);
  trie.release(c);
  EXPECT_EQ(trie.size(), 0u);
  EXPECT_THROW(trie.release(c), InternalError);
  // The label is free again and names a new node.
  EXPECT_EQ(trie.end(trie.extend(ContentTrie::kRoot, 1, 10)), 10);
  EXPECT_EQ(trie.size(), 1u);
}

TEST(ContentTrie, the_root_is_never_recycled) {
  ContentTrie trie;
  trie.acquire(ContentTrie::kRoot);
  trie.release(ContentTrie::kRoot);
  EXPECT_EQ(trie.end(ContentTrie::kRoot), 0);
  EXPECT_THROW(trie.release(ContentTrie::kRoot), InternalError);
}

TEST(ContentTrie, a_copy_lives_on_its_own) {
  ContentTrie trie;
  const ContentNode a = trie.extend(ContentTrie::kRoot, 1, 10);
  trie.acquire(a);
  ContentTrie copy = trie;
  trie.release(a);
  EXPECT_EQ(trie.size(), 0u);
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy.extend(ContentTrie::kRoot, 1, 10), a);
}

// Nodes that the sequences keep alive: their distinct prefixes.
std::size_t distinct_prefixes(const std::vector<Sequence>& sequences) {
  std::set<Spelling> prefixes;
  for (const Sequence& s : sequences)
    for (std::size_t n = 1; n <= s.spelling.size(); ++n)
      prefixes.insert({s.spelling.begin(), s.spelling.begin() + static_cast<std::ptrdiff_t>(n)});
  return prefixes.size();
}

void expect_same_answers(const ContentTrie& trie, const Sequence& a, const Sequence& b, Rng& rng) {
  ASSERT_EQ(trie.end(a.tip), length(a.spelling));
  ASSERT_EQ(trie.common_tokens(a.tip, b.tip), test::common_tokens(a.spelling, b.spelling));
  const ContentPath path(trie, a.tip);
  ASSERT_EQ(path.tokens(), length(a.spelling));
  for (int i = 0; i < 4 && length(a.spelling) > 0 && length(b.spelling) > 0; ++i) {
    const auto p = rng.between(0, length(a.spelling) - 1);
    const ContentNode node = trie.at(a.tip, p);
    ASSERT_EQ(path.at(p), node);
    ASSERT_LE(trie.begin(node), p);
    ASSERT_GT(trie.end(node), p);
    ASSERT_EQ(trie.end(node), length(content_at(a.spelling, p)));
    const auto q = std::min(p, length(b.spelling) - 1);
    ASSERT_EQ(trie.at(a.tip, q) == trie.at(b.tip, q),
              content_at(a.spelling, q) == content_at(b.spelling, q));
  }
}

TEST(ContentTrie, random_sequences_agree_with_their_spelling_and_leave_nothing) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed, "content test");
    ContentTrie trie;
    Speller speller(3, 9);
    std::vector<Sequence> held;
    for (int step = 0; step < 600; ++step) {
      if (held.empty() || rng.chance(11, 20)) {
        held.push_back(speller.next(rng, trie, held));
      } else {
        const auto i = static_cast<std::ptrdiff_t>(rng.below(held.size()));
        trie.release(held[static_cast<std::size_t>(i)].tip);
        held.erase(held.begin() + i);
      }
      if (held.empty()) continue;
      const Sequence& a = held[rng.below(held.size())];
      expect_same_answers(trie, a, held[rng.below(held.size())], rng);
      if (HasFatalFailure()) return;
    }
    speller.forget(trie);
    ASSERT_EQ(trie.size(), distinct_prefixes(held));
    for (const Sequence& s : held) trie.release(s.tip);
    ASSERT_EQ(trie.size(), 0u) << "seed " << seed;
  }
}

TEST(ContentTrie, deep_paths_agree_with_walking_parent_by_parent) {
  Rng rng(1, "deep content");
  ContentTrie trie;
  std::vector<ContentNode> tips(1, ContentTrie::kRoot);
  for (int i = 0; i < 3000; ++i) {
    // Mostly longer and longer, with branches.
    const ContentNode from = rng.chance(9, 10) ? tips.back() : tips[rng.below(tips.size())];
    tips.push_back(trie.extend(from, rng.below(1000), rng.between(0, 3)));
  }
  const auto walk = [&](ContentNode tip, std::int64_t p) {
    while (!(trie.begin(tip) <= p && p < trie.end(tip))) tip = trie.parent(tip);
    return tip;
  };
  for (int i = 0; i < 2000; ++i) {
    const ContentNode a = tips[rng.below(tips.size())];
    const ContentNode b = tips[rng.below(tips.size())];
    if (trie.end(a) == 0) continue;
    const auto p = rng.between(0, trie.end(a) - 1);
    ASSERT_EQ(trie.at(a, p), walk(a, p));
    const std::int64_t common = trie.common_tokens(a, b);
    ASSERT_EQ(common, trie.common_tokens(b, a));
    if (common > 0) {
      ASSERT_EQ(walk(a, common - 1), walk(b, common - 1));
    }
    if (common < std::min(trie.end(a), trie.end(b))) {
      ASSERT_NE(walk(a, common), walk(b, common));
    }
  }
}

TEST(ContentPath, leaves_out_nodes_of_no_tokens) {
  ContentTrie trie;
  const ContentNode salt = trie.extend(ContentTrie::kRoot, 1, 0);
  const ContentNode a = trie.extend(salt, 2, 4);
  const ContentNode b = trie.extend(trie.extend(a, 3, 0), 4, 2);
  const ContentPath path(trie, b);
  ASSERT_EQ(path.steps().size(), 2u);
  EXPECT_EQ(path.steps()[0].node, a);
  EXPECT_EQ(path.steps()[0].end, 4);
  EXPECT_EQ(path.steps()[1].node, b);
  EXPECT_EQ(path.steps()[1].end, 6);
  EXPECT_EQ(path.tokens(), 6);
  EXPECT_THROW((void)path.at(6), InternalError);
  EXPECT_EQ(ContentPath(trie, ContentTrie::kRoot).tokens(), 0);
}

}  // namespace
}  // namespace handoff

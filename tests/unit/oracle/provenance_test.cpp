// Oracle I1 on hand-made pages: what is right by construction and what is not.
#include "models/oracle/provenance.hpp"

#include <gtest/gtest.h>

#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

constexpr std::int32_t kPage = 16;

class Provenance : public ::testing::Test {
 protected:
  RecordId written_by(RequestSerial request, std::uint32_t tenant = 0) {
    const RecordId id = log.add({RecordKind::prefill_write, 0, tenant, request, 0, 0, RecordId{}});
    log.acquire(id);
    return id;
  }

  ContentNode prompt(ContentNode parent, std::int64_t tokens) {
    const ContentNode node = trie.extend_unique(parent, tokens);
    trie.acquire(node);
    return node;
  }

  // Lays positions [from, to) of `tip`'s sequence into `pages`, as a prefill would.
  void write(const std::vector<PageIndex>& pages, ContentNode tip, std::int64_t from,
             std::int64_t to, RecordId record, bool tainted = false) {
    const ContentPath path(trie, tip);
    for (std::int64_t base = from / kPage * kPage; base < to; base += kPage) {
      const std::int64_t begin = std::max(base, from);
      const std::int64_t end = std::min(base + kPage, to);
      ContentRun run;
      run.begin = static_cast<std::uint16_t>(begin - base);
      run.end = static_cast<std::uint16_t>(end - base);
      run.tainted = tainted;
      run.tip = path.at(end - 1);
      run.position = begin;
      run.write = record;
      plane.write(pages[static_cast<std::size_t>(base / kPage)], run, trie, log);
    }
  }

  ReadVerdict read(const std::vector<PageIndex>& pages, ContentNode tip, RequestSerial reader,
                   std::int64_t from, std::int64_t to) {
    const ContentPath path(trie, tip);
    ReadVerdict verdict;
    check_read(trie, log, plane, {&path, reader, pages, from, to}, verdict);
    return verdict;
  }

  ContentTrie trie;
  ProvenanceLog log;
  ShadowPlane plane{8, kPage};
};

TEST_F(Provenance, OwnContentIsRight) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 40);
  write({3, 1, 6}, mine, 0, 40, written_by(7));
  const ReadVerdict v = read({3, 1, 6}, mine, 7, 0, 40);
  EXPECT_EQ(v.read, 40);
  EXPECT_EQ(v.wrong(), 0);
  EXPECT_TRUE(v.sources.empty());
}

TEST_F(Provenance, AnotherRequestsContentIsForeignAndNamesItsAuthor) {
  const ContentNode other = prompt(ContentTrie::kRoot, 32);
  const ContentNode mine = prompt(ContentTrie::kRoot, 32);
  write({0, 1}, other, 0, 32, written_by(4, 9));
  const ReadVerdict v = read({0, 1}, mine, 5, 0, 32);
  EXPECT_EQ(v.foreign, 32);
  ASSERT_EQ(v.sources.size(), 1u);
  EXPECT_EQ(v.sources.begin()->first, 4u);
  EXPECT_EQ(v.sources.begin()->second.tenant, 9u);
  EXPECT_EQ(v.sources.begin()->second.tokens, 32);
  ASSERT_EQ(v.pages.size(), 1u);
  EXPECT_EQ(v.pages[0].first, 0u);
  EXPECT_EQ(v.pages[0].count, 2u);
}

TEST_F(Provenance, EqualPrefixWrittenByAnotherRequestIsRight) {
  const ContentNode shared = trie.extend(ContentTrie::kRoot, 77, 32);
  const ContentNode theirs = prompt(shared, 16);
  const ContentNode mine = prompt(trie.extend(ContentTrie::kRoot, 77, 32), 16);
  write({0, 1, 2}, theirs, 0, 48, written_by(1));
  const ReadVerdict whole = read({0, 1, 2}, mine, 2, 0, 48);
  EXPECT_EQ(whole.foreign, 16) << "the shared 32 positions are right, the tail is not";
  EXPECT_EQ(read({0, 1, 2}, mine, 2, 0, 32).wrong(), 0);
}

TEST_F(Provenance, SharedPrefixThatEndsInsideAPageIsRightUpToItsEnd) {
  const ContentNode shared = trie.extend(ContentTrie::kRoot, 77, 20);
  const ContentNode theirs = prompt(shared, 28);
  const ContentNode mine = prompt(shared, 28);
  write({0, 1, 2}, theirs, 0, 48, written_by(1));
  EXPECT_EQ(read({0, 1, 2}, mine, 2, 0, 48).foreign, 28);
  EXPECT_EQ(read({0, 1, 2}, mine, 2, 0, 20).wrong(), 0);
  EXPECT_EQ(read({0, 1, 2}, mine, 2, 16, 21).foreign, 1);
}

TEST_F(Provenance, RightContentAtTheWrongPlaceIsMisplaced) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 32);
  write({0, 1}, mine, 0, 32, written_by(3));
  const ReadVerdict v = read({1, 0}, mine, 3, 0, 32);
  EXPECT_EQ(v.misplaced, 32);
  EXPECT_EQ(v.foreign, 0);
}

TEST_F(Provenance, UnwrittenSlotsAreCounted) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 64);
  write({0, 1, 2, 3}, mine, 0, 20, written_by(3));
  const ReadVerdict v = read({0, 1, 2, 3}, mine, 3, 0, 64);
  EXPECT_EQ(v.unwritten, 44);
  EXPECT_EQ(v.wrong(), 44);
}

TEST_F(Provenance, OnePlaceholderTokenOverStaleContentLeavesAllTheRestForeign) {
  const ContentNode stale = prompt(ContentTrie::kRoot, 64);
  write({0, 1, 2, 3}, stale, 0, 64, written_by(1));
  const ContentNode placeholder = trie.extend(ContentTrie::kRoot, 999, 1);
  write({0}, placeholder, 0, 1, written_by(2));
  const ContentNode mine = prompt(ContentTrie::kRoot, 60);
  const ReadVerdict v = read({0, 1, 2, 3}, mine, 2, 0, 60);
  EXPECT_EQ(v.misplaced, 1);
  EXPECT_EQ(v.foreign, 59);
  EXPECT_EQ(v.unwritten, 0);
}

TEST_F(Provenance, ACopyIsAttributedToWhoComputedIt) {
  const ContentNode theirs = prompt(ContentTrie::kRoot, 16);
  const RecordId computed = written_by(11, 3);
  const RecordId copied = log.add({RecordKind::transfer_write, 0, 0, 12, 5, 5, computed});
  log.acquire(copied);
  write({0}, theirs, 0, 16, copied);
  const ContentNode mine = prompt(ContentTrie::kRoot, 16);
  const ReadVerdict v = read({0}, mine, 12, 0, 16);
  EXPECT_EQ(v.foreign, 16) << "request 12 moved it, but request 11 computed it";
  EXPECT_EQ(v.sources.begin()->first, 11u);
  EXPECT_EQ(author(log, copied).tenant, 3u);
}

TEST_F(Provenance, TaintOfRightContentIsSeen) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 32);
  write({0, 1}, mine, 0, 32, written_by(1), true);
  const ReadVerdict v = read({0, 1}, mine, 1, 0, 32);
  EXPECT_EQ(v.wrong(), 0);
  EXPECT_EQ(v.tainted, 32);
}

TEST_F(Provenance, DigestsAgreeWhateverRunsTheContentIsStoredAs) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 64);
  write({0, 1, 2, 3}, mine, 0, 64, written_by(1));
  for (const auto& [from, to] : {std::pair{0, 10}, std::pair{10, 33}, std::pair{33, 64}})
    write({4, 5, 6, 7}, mine, from, to, written_by(1));
  const std::vector<PageIndex> left{0, 1, 2, 3};
  const std::vector<PageIndex> right{4, 5, 6, 7};
  EXPECT_EQ(content_digest(trie, plane, left, 64), content_digest(trie, plane, right, 64));
  const ContentNode other = prompt(ContentTrie::kRoot, 64);
  write({6}, other, 32, 33, written_by(2));
  EXPECT_NE(content_digest(trie, plane, left, 64), content_digest(trie, plane, right, 64));
}

TEST_F(Provenance, DigestTellsAShorterRangeAndAHole) {
  const ContentNode mine = prompt(ContentTrie::kRoot, 32);
  write({0, 1}, mine, 0, 1, written_by(1));
  const std::vector<PageIndex> pages{0, 1};
  EXPECT_NE(content_digest(trie, plane, pages, 1), content_digest(trie, plane, pages, 32));
}

// Random writes of random sequences, read back against a slot-by-slot model.
TEST_F(Provenance, AgreesWithASlotBySlotModel) {
  Rng rng(5, "provenance-property");
  struct Slot {
    ContentNode node;
    std::int64_t position = -1;
    RequestSerial author = kNoSerial;
  };
  std::vector<std::vector<Slot>> model(8, std::vector<Slot>(kPage));
  std::vector<ContentNode> tips;
  for (int i = 0; i < 6; ++i) {
    const ContentNode shared = trie.extend(ContentTrie::kRoot, rng.below(2), 24);
    tips.push_back(prompt(trie.extend(shared, rng.below(3), 17), 60));
  }
  for (int round = 0; round < 3000; ++round) {
    const auto who = static_cast<std::size_t>(rng.below(tips.size()));
    std::vector<PageIndex> pages;
    for (int i = 0; i < 7; ++i) pages.push_back(static_cast<PageIndex>(rng.below(8)));
    const std::int64_t from = rng.between(0, 99);
    const std::int64_t to = rng.between(from + 1, 101);
    const ContentPath path(trie, tips[who]);
    if (rng.chance(1, 2)) {
      write(pages, tips[who], from, to, written_by(static_cast<RequestSerial>(who)));
      for (std::int64_t p = from; p < to; ++p)
        model[pages[static_cast<std::size_t>(p / kPage)]][static_cast<std::size_t>(p % kPage)] = {
            path.at(p), p, static_cast<RequestSerial>(who)};
      continue;
    }
    const ReadVerdict v = read(pages, tips[who], static_cast<RequestSerial>(who), from, to);
    std::int64_t unwritten = 0, foreign = 0, misplaced = 0;
    for (std::int64_t p = from; p < to; ++p) {
      const Slot& s =
          model[pages[static_cast<std::size_t>(p / kPage)]][static_cast<std::size_t>(p % kPage)];
      if (s.position < 0)
        ++unwritten;
      else if (s.node == path.at(p) && s.position == p)
        continue;
      else
        ++(s.author == who ? misplaced : foreign);
    }
    ASSERT_EQ(v.unwritten, unwritten) << "round " << round;
    ASSERT_EQ(v.foreign, foreign) << "round " << round;
    ASSERT_EQ(v.misplaced, misplaced) << "round " << round;
    ASSERT_EQ(v.read, to - from);
  }
}

}  // namespace
}  // namespace handoff

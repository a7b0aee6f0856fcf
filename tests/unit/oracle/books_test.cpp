// The books keep their own count: what they are fed must come out of them.
#include "models/oracle/books.hpp"

#include <gtest/gtest.h>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

TEST(PageBook, CountsHoldersAndReportsADoubleFree) {
  PageBook book(4);
  const std::vector<PageIndex> pages{1, 2};
  book.allocated(pages, 9);
  EXPECT_EQ(book.held_pages(), 2);
  EXPECT_EQ(book.owner(1), 9u);
  EXPECT_TRUE(book.released(1));
  EXPECT_FALSE(book.released(1));
  EXPECT_EQ(book.owner(1), kNoSerial);
  EXPECT_EQ(book.held_by_requests(), std::vector<PageIndex>{2});
}

TEST(PageBook, AdoptedPagesAreNoLeakOfTheirWriter) {
  PageBook book(4);
  const std::vector<PageIndex> pages{0, 3};
  book.allocated(pages, 1);
  book.adopted(3);
  EXPECT_EQ(book.held_by_requests(), std::vector<PageIndex>{0});
}

TEST(PageBook, OperationsInFlightAreCountedAndEndOnce) {
  PageBook book(4);
  const std::vector<PageIndex> pages{2};
  book.posted(pages);
  book.posted(pages);
  EXPECT_EQ(book.in_flight(2), 2u);
  book.ended(pages);
  book.ended(pages);
  EXPECT_EQ(book.in_flight(2), 0u);
  EXPECT_THROW(book.ended(pages), InternalError);
}

TEST(CoverageBook, KeepsPositionsPerRankAndGroupUntilForgotten) {
  CoverageBook book;
  book.delivered(5, 0, 0, 64);
  book.delivered(5, 0, 0, 36);
  book.delivered(5, 1, 0, 64);
  book.delivered(6, 0, 0, 1);
  EXPECT_EQ(book.delivered(5, 0, 0), 100);
  EXPECT_EQ(book.delivered(5, 1, 0), 64);
  EXPECT_EQ(book.delivered(5, 0, 1), 0);
  book.forget(5);
  EXPECT_EQ(book.delivered(5, 0, 0), 0);
  EXPECT_EQ(book.delivered(6, 0, 0), 1);
}

TEST(FindingLog, MergesPerRuleVictimAndNodeAndCountsBeyondItsBound) {
  FindingLog log(2);
  bool fresh = false;
  ASSERT_NE(log.report(Rule::provenance, 1, "d/decode[0]", fresh), nullptr);
  EXPECT_TRUE(fresh);
  EXPECT_EQ(log.report(Rule::provenance, 1, "d/decode[0]", fresh)->id, 1u);
  EXPECT_FALSE(fresh);
  ASSERT_NE(log.report(Rule::coverage, 1, "d/decode[0]", fresh), nullptr);
  EXPECT_EQ(log.report(Rule::coverage, 2, "d/decode[0]", fresh), nullptr) << "beyond the bound";
  EXPECT_TRUE(fresh);
  EXPECT_EQ(log.report(Rule::coverage, 2, "d/decode[0]", fresh), nullptr);
  EXPECT_FALSE(fresh) << "counted once";
  EXPECT_EQ(log.counts()[static_cast<std::size_t>(Rule::coverage)], 2u);
  EXPECT_EQ(log.total(), 3u);
  EXPECT_EQ(log.kept().size(), 2u);
}

}  // namespace
}  // namespace handoff

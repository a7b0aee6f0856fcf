// The two leg machines and the room status book, alone.
#include "models/serving/handoff.hpp"

#include <gtest/gtest.h>

#include <set>

namespace handoff {
namespace {

template <class State, class Fact>
std::set<State> reachable(State start) {
  std::set<State> seen{start};
  for (bool grew = true; grew;) {
    grew = false;
    for (const State s : std::set<State>(seen))
      for (int f = 0; f < static_cast<int>(Fact::count_); ++f) {
        const auto* row = find(s, static_cast<Fact>(f));
        if (row != nullptr) grew = seen.insert(row->next).second || grew;
      }
  }
  return seen;
}

TEST(HandoffTables, EveryStateIsReachableFromNone) {
  EXPECT_EQ((reachable<PrefillState, PrefillFact>(PrefillState::none)).size(),
            static_cast<std::size_t>(PrefillState::count_));
  EXPECT_EQ((reachable<DecodeState, DecodeFact>(DecodeState::none)).size(),
            static_cast<std::size_t>(DecodeState::count_));
}

TEST(HandoffTables, EveryStateCanEndAndSurvivesTheDeathOfItsNode) {
  for (int s = 0; s < static_cast<int>(PrefillState::count_); ++s) {
    const auto state = static_cast<PrefillState>(s);
    if (state == PrefillState::done) continue;
    ASSERT_NE(find(state, PrefillFact::killed), nullptr) << name(state);
    EXPECT_EQ(find(state, PrefillFact::killed)->next, PrefillState::done);
    ASSERT_NE(find(state, PrefillFact::aborted), nullptr) << name(state);
  }
  for (int s = 0; s < static_cast<int>(DecodeState::count_); ++s) {
    const auto state = static_cast<DecodeState>(s);
    if (state == DecodeState::done) continue;
    ASSERT_NE(find(state, DecodeFact::killed), nullptr) << name(state);
    EXPECT_EQ(find(state, DecodeFact::killed)->next, DecodeState::done);
    ASSERT_NE(find(state, DecodeFact::aborted), nullptr) << name(state);
  }
}

// Pages are reserved when a leg enters its first state with pages; whichever row leaves the last
// state with pages must release them (a killed node's pages die with it).
TEST(HandoffTables, NoRowLeavesPagesBehind) {
  const std::set<PrefillState> holds{PrefillState::running, PrefillState::inflight,
                                     PrefillState::held};
  for (const PrefillState s : holds)
    for (int f = 0; f < static_cast<int>(PrefillFact::count_); ++f) {
      const auto* row = find(s, static_cast<PrefillFact>(f));
      if (row == nullptr || holds.contains(row->next) || row->fact == PrefillFact::killed) continue;
      EXPECT_TRUE(row->actions.has(PrefillAction::release_pages))
          << name(s) << " / " << name(row->fact);
    }
  const std::set<DecodeState> keeps{DecodeState::transfer, DecodeState::waiting,
                                    DecodeState::running, DecodeState::draining};
  for (const DecodeState s : keeps)
    for (int f = 0; f < static_cast<int>(DecodeFact::count_); ++f) {
      const auto* row = find(s, static_cast<DecodeFact>(f));
      if (row == nullptr || keeps.contains(row->next) || row->fact == DecodeFact::killed) continue;
      EXPECT_TRUE(row->actions.has(DecodeAction::release_pages))
          << name(s) << " / " << name(row->fact);
    }
}

TEST(HandoffTables, DestinationFirstWaitsForDecodeAndSourceFirstDoesNot) {
  EXPECT_EQ(find(PrefillState::none, PrefillFact::submitted)->next, PrefillState::bootstrap);
  EXPECT_EQ(find(PrefillState::bootstrap, PrefillFact::scheduled), nullptr);
  EXPECT_EQ(find(PrefillState::none, PrefillFact::submitted_unbound)->next, PrefillState::waiting);
  const auto* held = find(PrefillState::running, PrefillFact::last_chunk_done_held);
  ASSERT_NE(held, nullptr);
  EXPECT_FALSE(held->actions.has(PrefillAction::release_pages));
  EXPECT_TRUE(find(PrefillState::held, PrefillFact::lease_expired)
                  ->actions.has(PrefillAction::release_pages));
}

TEST(HandoffTables, ImpossiblePairsAreNotListed) {
  EXPECT_EQ(find(PrefillState::waiting, PrefillFact::sent), nullptr);
  EXPECT_EQ(find(DecodeState::prealloc, DecodeFact::committed), nullptr);
  EXPECT_EQ(find(DecodeState::done, DecodeFact::committed), nullptr);
}

TEST(HandoffTables, PrintThemselves) {
  const std::string text = handoff_tables_markdown();
  EXPECT_NE(text.find("| transfer | committed | waiting | release aux slot, clear room |"),
            std::string::npos);
  EXPECT_NE(handoff_tables_dot().find("\"bootstrap\" -> \"waiting\""), std::string::npos);
}

TEST(RoomBook, KeepsTheMaximumAndFailedOverrides) {
  RoomBook book;
  book.update(9, 0, KvPoll::waiting_for_input, true);
  book.update(9, 0, KvPoll::bootstrapping, true);
  EXPECT_EQ(book.reduced(9), KvPoll::waiting_for_input);
  book.update(9, 0, KvPoll::success, true);
  EXPECT_EQ(book.reduced(9), KvPoll::success);
  book.update(9, 0, KvPoll::failed, true);
  book.update(9, 0, KvPoll::success, true);
  EXPECT_EQ(book.reduced(9), KvPoll::failed);
}

TEST(RoomBook, ReducesToTheMinimumOverRanks) {
  RoomBook book(3);
  book.update_all(1, KvPoll::waiting_for_input, true);
  book.update(1, 0, KvPoll::success, true);
  book.update(1, 2, KvPoll::success, true);
  EXPECT_EQ(book.reduced(1), KvPoll::waiting_for_input);
  book.update(1, 1, KvPoll::success, true);
  EXPECT_EQ(book.reduced(1), KvPoll::success);
}

TEST(RoomBook, ALateFailureForAClearedRoomIsIgnoredButALateSuccessMayMakeItAnew) {
  RoomBook book;
  book.update(5, 0, KvPoll::bootstrapping, true);
  book.clear(5);
  book.update(5, 0, KvPoll::failed, true);
  book.fail(5, 400);
  EXPECT_EQ(book.find(5), nullptr);
  book.update(5, 0, KvPoll::success, false);
  EXPECT_EQ(book.find(5), nullptr);
  book.update(5, 0, KvPoll::success, true);
  book.update(5, 0, KvPoll::bootstrapping, true);
  EXPECT_EQ(book.reduced(5), KvPoll::success) << "the next use of the room meets the old Success";
}

TEST(RoomBook, KeepsTheFirstFailureCode) {
  RoomBook book(2);
  book.update_all(1, KvPoll::bootstrapping, true);
  book.fail(1, 400);
  book.fail(1, 500);
  EXPECT_EQ(book.find(1)->code, 400);
  EXPECT_EQ(book.reduced(1), KvPoll::failed);
}

}  // namespace
}  // namespace handoff

// Which completion notice meets which fault.
#include <gtest/gtest.h>

#include <set>

#include "models/faults/plan.hpp"

namespace handoff {
namespace {

NoticeFault notice(NoticeFaultKind kind = NoticeFaultKind::lost) {
  NoticeFault f;
  f.kind = kind;
  return f;
}

std::vector<Fault> faults_of(const std::vector<NoticeFault>& notices) {
  std::vector<Fault> faults;
  for (const NoticeFault& n : notices) faults.push_back({"", {}, n});
  return faults;
}

const NoticeFault* at(const std::vector<Fault>& faults, std::size_t i) {
  return &std::get<NoticeFault>(faults[i].what);
}

NoticeFacts facts(std::uint64_t request = 5) { return {0, 1, 2, 3, request, 1'000, 10 * kSecond}; }

TEST(NoticeMatcher, AnEmptySelectorTakesEveryNoticeOfItsDeployment) {
  const std::vector<Fault> faults = faults_of({notice()});
  NoticeMatcher matcher(faults, 1);
  EXPECT_EQ(matcher.match(facts()), at(faults, 0));
  NoticeFacts elsewhere = facts();
  elsewhere.deployment = 1;
  EXPECT_EQ(matcher.match(elsewhere), nullptr);
  EXPECT_EQ(NoticeMatcher().match(facts()), nullptr);
}

TEST(NoticeMatcher, EachFieldOfTheSelectorNarrows) {
  const auto matches = [](auto narrow) {
    NoticeFault f = notice();
    narrow(f.select);
    const std::vector<Fault> faults = faults_of({f});
    return NoticeMatcher(faults, 1).match(facts()) != nullptr;
  };
  using Select = NoticeSelector;
  EXPECT_TRUE(matches([](Select& s) { s.prefill_node = 1; }));
  EXPECT_FALSE(matches([](Select& s) { s.prefill_node = 2; }));
  EXPECT_TRUE(matches([](Select& s) { s.decode_node = 2; }));
  EXPECT_FALSE(matches([](Select& s) { s.decode_node = 1; }));
  EXPECT_TRUE(matches([](Select& s) { s.rank = 3; }));
  EXPECT_FALSE(matches([](Select& s) { s.rank = 0; }));
  EXPECT_TRUE(matches([](Select& s) { s.request = 5; }));
  EXPECT_FALSE(matches([](Select& s) { s.request = 0; }));
  EXPECT_TRUE(matches([](Select& s) { s.prompt_tokens_min = 1'000; }));
  EXPECT_FALSE(matches([](Select& s) { s.prompt_tokens_min = 1'001; }));
  EXPECT_TRUE(matches([](Select& s) { s.from_ns = 10 * kSecond; }));
  EXPECT_FALSE(matches([](Select& s) { s.from_ns = 10 * kSecond + 1; }));
  EXPECT_TRUE(matches([](Select& s) { s.for_ns = 10 * kSecond + 1; }));
  EXPECT_FALSE(matches([](Select& s) { s.for_ns = 10 * kSecond; }));
  EXPECT_FALSE(matches([](Select& s) { s.chance_permille = 0; }));
}

TEST(NoticeMatcher, NthCountsMatchesAlone) {
  NoticeFault f = notice();
  f.select.nth = 2;
  f.select.prompt_tokens_min = 500;
  const std::vector<Fault> faults = faults_of({f});
  NoticeMatcher matcher(faults, 1);
  NoticeFacts small = facts();
  small.prompt_tokens = 499;
  EXPECT_EQ(matcher.match(facts()), nullptr);
  EXPECT_EQ(matcher.match(small), nullptr);
  EXPECT_EQ(matcher.match(facts()), at(faults, 0));
  EXPECT_EQ(matcher.match(facts()), nullptr);
}

TEST(NoticeMatcher, TheFirstFaultWinsAndTheOthersCountAllTheSame) {
  NoticeFault second = notice(NoticeFaultKind::delayed);
  NoticeFault third = notice(NoticeFaultKind::duplicate);
  second.select.nth = 2;
  third.select.nth = 3;
  const std::vector<Fault> faults = faults_of({second, third, notice(NoticeFaultKind::early)});
  NoticeMatcher matcher(faults, 1);
  EXPECT_EQ(matcher.match(facts()), at(faults, 2));
  EXPECT_EQ(matcher.match(facts()), at(faults, 0));
  EXPECT_EQ(matcher.match(facts()), at(faults, 1));
}

TEST(NoticeMatcher, StaleFaultsAreAskedForApart) {
  const std::vector<Fault> faults =
      faults_of({notice(NoticeFaultKind::stale), notice(NoticeFaultKind::lost)});
  NoticeMatcher matcher(faults, 1);
  EXPECT_EQ(matcher.match(facts()), at(faults, 1));
  EXPECT_EQ(matcher.match_stale(facts()), at(faults, 0));
}

TEST(NoticeMatcher, ChanceIsDrawnPerFaultRequestAndRank) {
  NoticeFault f = notice();
  f.select.chance_permille = 300;
  const std::vector<Fault> faults = faults_of({f, f});
  std::set<std::uint64_t> forwards;
  std::set<std::uint64_t> backwards;
  int second = 0;
  int differs = 0;
  NoticeMatcher matcher(faults, 1);
  for (std::uint64_t r = 0; r < 2'000; ++r) {
    const NoticeFault* found = matcher.match(facts(r));
    if (found == at(faults, 0)) forwards.insert(r);
    second += found == at(faults, 1) ? 1 : 0;
    NoticeFacts other = facts(r);
    other.rank = 0;
    differs += matcher.match(other) != found ? 1 : 0;
  }
  NoticeMatcher again(faults, 1);
  for (std::uint64_t r = 2'000; r-- > 0;)
    if (again.match(facts(r)) == at(faults, 0)) backwards.insert(r);
  EXPECT_EQ(forwards, backwards);
  EXPECT_NEAR(static_cast<double>(forwards.size()), 600, 90);
  EXPECT_NEAR(second, 420, 80);
  EXPECT_GT(differs, 500);
}

TEST(NoticeMatcher, ACopyCountsOnByItself) {
  NoticeFault f = notice();
  f.select.nth = 2;
  const std::vector<Fault> faults = faults_of({f});
  NoticeMatcher matcher(faults, 1);
  EXPECT_EQ(matcher.match(facts()), nullptr);
  NoticeMatcher copy = matcher;
  EXPECT_EQ(matcher.match(facts()), at(faults, 0));
  EXPECT_EQ(copy.match(facts()), at(faults, 0));
}

TEST(NoticeFaultKind, IsNamedAsInScenarios) {
  EXPECT_STREQ(name(NoticeFaultKind::early), "early");
  EXPECT_STREQ(name(NoticeFaultKind::short_data), "short");
  EXPECT_STREQ(name(NoticeFaultKind::stale), "stale");
}

}  // namespace
}  // namespace handoff

// Faults that are known before the run, companions of ordinary requests, aborts by chance.
#include "models/faults/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

LengthDistribution uniform(std::int64_t low, std::int64_t high) {
  LengthDistribution d;
  d.kind = LengthDistribution::Kind::uniform;
  d.low = low;
  d.high = high;
  return d;
}

OversizePromptFault oversize(std::int64_t count) {
  OversizePromptFault f;
  f.deployment = 1;
  f.count = count;
  f.prompt = uniform(681'281, 1'000'000);
  f.output = uniform(50, 3'000);
  f.from_ns = kHour;
  f.for_ns = kHour;
  return f;
}

OversizePromptFault by_rate(std::int64_t rate_per_10k) {
  OversizePromptFault f = oversize(0);
  f.rate_per_10k = rate_per_10k;
  return f;
}

template <class What>
Fault fault(What what, const char* name = "") {
  return {name, {}, std::move(what)};
}

FaultPlan plan_of(const std::vector<Fault>& faults, std::uint64_t seed = 1) {
  TenantNames tenants;
  return expand(faults, seed, 2, tenants);
}

std::vector<TimeNs> arrivals_of(const std::vector<RequestSpec>& rows) {
  std::vector<TimeNs> times;
  for (const RequestSpec& row : rows) times.push_back(row.arrival_ns);
  return times;
}

std::vector<std::int64_t> prompts_of(const std::vector<RequestSpec>& rows) {
  std::vector<std::int64_t> lengths;
  for (const RequestSpec& row : rows) lengths.push_back(row.prompt_tokens);
  return lengths;
}

RequestSpec ordinary(std::uint64_t row, TimeNs at = kHour, std::uint32_t workload = 0) {
  RequestSpec spec;
  spec.arrival_ns = at;
  spec.prompt_tokens = 100;
  spec.output_tokens = 10;
  spec.deployment = 1;
  spec.workload = workload;
  spec.row = row;
  return spec;
}

TEST(Oversize, ACountIsSpreadOverItsWindow) {
  const FaultPlan plan =
      plan_of({fault(LinkFault{"a->b", 5, kNever, 0}), fault(oversize(154), "long ones")});
  ASSERT_EQ(plan.oversize.size(), 154u);
  EXPECT_TRUE(
      std::is_sorted(plan.oversize.begin(), plan.oversize.end(),
                     [](const auto& a, const auto& b) { return a.arrival_ns < b.arrival_ns; }));
  std::size_t late = 0;
  for (std::size_t k = 0; k < plan.oversize.size(); ++k) {
    const RequestSpec& r = plan.oversize[k];
    EXPECT_GE(r.arrival_ns, kHour);
    EXPECT_LT(r.arrival_ns, 2 * kHour);
    EXPECT_GE(r.prompt_tokens, 681'281);
    EXPECT_LE(r.prompt_tokens, 1'000'000);
    EXPECT_TRUE(r.injected);
    EXPECT_EQ(r.workload, 3u);  // two workloads, then the faults
    EXPECT_EQ(r.deployment, 1u);
    EXPECT_EQ(r.row, k);
    EXPECT_EQ(r.abort_after_ns, kNever);
    late += r.arrival_ns >= kHour + 30 * kMinute ? 1 : 0;
  }
  EXPECT_GT(late, 52u);
  EXPECT_LT(late, 102u);
}

TEST(Oversize, DrawsAreFixed) {
  const FaultPlan plan = plan_of({fault(oversize(3))}, 155);
  EXPECT_EQ(arrivals_of(plan.oversize),
            (std::vector<TimeNs>{4'876'677'974'602, 4'957'456'199'571, 6'609'416'026'157}));
  EXPECT_EQ(prompts_of(plan.oversize), (std::vector<std::int64_t>{997'175, 959'502, 944'829}));
}

TEST(Oversize, AFurtherInstantLeavesTheOthersAlone) {
  OversizePromptFault more = oversize(10);
  more.at_ns = {kHour + 20 * kMinute};
  const std::vector<RequestSpec> before = plan_of({fault(oversize(10))}).oversize;
  std::vector<RequestSpec> after = plan_of({fault(more)}).oversize;
  ASSERT_EQ(after.size(), 11u);
  for (std::size_t k = 0; k < after.size(); ++k) EXPECT_EQ(after[k].row, k);
  const auto added = std::find_if(after.begin(), after.end(), [](const RequestSpec& r) {
    return r.arrival_ns == kHour + 20 * kMinute;
  });
  ASSERT_NE(added, after.end());
  after.erase(added);
  EXPECT_EQ(arrivals_of(after), arrivals_of(before));
  EXPECT_EQ(prompts_of(after), prompts_of(before));
}

TEST(Oversize, LengthsDoNotMoveInstants) {
  OversizePromptFault other = oversize(10);
  other.prompt = uniform(5, 6);
  EXPECT_EQ(arrivals_of(plan_of({fault(other)}).oversize),
            arrivals_of(plan_of({fault(oversize(10))}).oversize));
}

TEST(Oversize, TenantsAreThoseOfTheFaultOrItsName) {
  TenantNames tenants;
  OversizePromptFault shared = oversize(200);
  shared.tenants = {{"acme", 3}, {"birch", 1}};
  const FaultPlan plan =
      expand({fault(shared), fault(oversize(1)), fault(oversize(1), "named")}, 1, 2, tenants);
  ASSERT_EQ(tenants.size(), 4u);
  EXPECT_EQ(tenants.name(2), "oversize_prompt");
  EXPECT_EQ(tenants.name(3), "named");
  const auto acme = std::count_if(plan.oversize.begin(), plan.oversize.end(),
                                  [](const RequestSpec& r) { return r.tenant == 0; });
  EXPECT_GT(acme, 120);
  EXPECT_LT(acme, 180);
}

TEST(Oversize, WithoutAWindowACountIsOurBug) {
  OversizePromptFault f = oversize(1);
  f.for_ns = kNever;
  EXPECT_THROW(plan_of({fault(f)}), InternalError);
  f = oversize(1);
  f.rate_per_10k = 5;
  EXPECT_THROW(plan_of({fault(f)}), InternalError);
}

TEST(Oversize, AnImpossibleLengthIsTheUsersError) {
  OversizePromptFault f = oversize(1);
  f.prompt = {};
  f.prompt.kind = LengthDistribution::Kind::pareto;
  f.prompt.scale = 1000;
  f.prompt.alpha = 2;
  f.prompt.high = 10;
  EXPECT_THROW(plan_of({fault(f, "x")}), TraceError);
}

TEST(Timed, CrashesLinksAndNumberedAbortsComeInOrderWithTheirEnds) {
  ClientAbortFault abort;
  abort.request = 7;
  abort.at_ns = 20;
  ClientAbortFault by_chance;
  by_chance.chance_permille = 500;
  const FaultPlan plan =
      plan_of({fault(NodeCrashFault{0, NodeRole::decode, 1, 10, 10}), fault(abort),
               fault(LinkFault{"a->b", 5, kNever, 0}), fault(by_chance),
               fault(NodeCrashFault{0, NodeRole::prefill, 0, 20, 0})});
  std::string text;
  for (const FaultPlan::TimedFault& t : plan.timed)
    text += std::to_string(t.at) + ":" + std::to_string(t.fault) + (t.begin ? "+ " : "- ");
  EXPECT_EQ(text, "5:2+ 10:0+ 20:0- 20:1+ 20:4+ 20:4- ");
  EXPECT_TRUE(plan.oversize.empty());
}

OversizeCompanions companions(const std::vector<Fault>& faults) {
  TenantNames tenants;
  return OversizeCompanions(faults, 1, 2, tenants);
}

TEST(Companions, TheRateDecidesHowMany) {
  const std::vector<Fault> faults{fault(by_rate(1'000))};
  OversizeCompanions some = companions(faults);
  std::size_t made = 0;
  for (std::uint64_t row = 0; row < 10'000; ++row) {
    const std::vector<RequestSpec> with = some.companions_of(ordinary(row));
    ASSERT_LE(with.size(), 1u);
    if (with.empty()) continue;
    EXPECT_EQ(with[0].arrival_ns, kHour);
    EXPECT_EQ(with[0].workload, 2u);
    EXPECT_EQ(with[0].row, made++);
    EXPECT_TRUE(with[0].injected);
    EXPECT_GE(with[0].prompt_tokens, 681'281);
    // An injected one has no companion of its own.
    EXPECT_TRUE(some.companions_of(with[0]).empty());
  }
  EXPECT_GT(made, 880u);
  EXPECT_LT(made, 1'120u);
}

TEST(Companions, DoNotDependOnTheOrderOfAsking) {
  const std::vector<Fault> faults{fault(by_rate(5'000))};
  OversizeCompanions forwards = companions(faults);
  OversizeCompanions backwards = companions(faults);
  std::vector<std::int64_t> there(400, 0);
  std::vector<std::int64_t> back(400, 0);
  for (std::uint64_t row = 0; row < 400; ++row)
    for (const RequestSpec& r : forwards.companions_of(ordinary(row / 2, kHour, row % 2)))
      there[row] = r.prompt_tokens;
  for (std::uint64_t row = 400; row-- > 0;)
    for (const RequestSpec& r : backwards.companions_of(ordinary(row / 2, kHour, row % 2)))
      back[row] = r.prompt_tokens;
  EXPECT_EQ(there, back);
  EXPECT_GT(std::count(there.begin(), there.end(), 0), 140);
  EXPECT_LT(std::count(there.begin(), there.end(), 0), 260);
}

TEST(Companions, KeepToTheWindowAndTheDeployment) {
  const std::vector<Fault> faults{fault(by_rate(10'000)), fault(oversize(3))};
  OversizeCompanions all = companions(faults);
  EXPECT_EQ(all.companions_of(ordinary(0, kHour)).size(), 1u);
  EXPECT_EQ(all.companions_of(ordinary(0, 2 * kHour - 1)).size(), 1u);
  EXPECT_TRUE(all.companions_of(ordinary(0, kHour - 1)).empty());
  EXPECT_TRUE(all.companions_of(ordinary(0, 2 * kHour)).empty());
  RequestSpec elsewhere = ordinary(0);
  elsewhere.deployment = 0;
  EXPECT_TRUE(all.companions_of(elsewhere).empty());
}

TEST(Companions, ACopyCountsOnByItselfAndRowsFollowThePlan) {
  OversizePromptFault f = by_rate(10'000);
  f.at_ns = {1, 2};
  const std::vector<Fault> faults{fault(f)};
  EXPECT_EQ(plan_of(faults).oversize.size(), 2u);
  OversizeCompanions first = companions(faults);
  EXPECT_EQ(first.companions_of(ordinary(0))[0].row, 2u);
  OversizeCompanions copy = first;
  EXPECT_EQ(first.companions_of(ordinary(1))[0].row, 3u);
  EXPECT_EQ(copy.companions_of(ordinary(1))[0].row, 3u);
  EXPECT_TRUE(OversizeCompanions().companions_of(ordinary(0)).empty());
}

TEST(ClientAbort, ByChanceIsDrawnPerRequest) {
  ClientAbortFault f;
  f.deployment = 1;
  f.chance_permille = 250;
  f.after_ns = 9 * kSecond;
  const std::vector<Fault> faults{fault(f)};
  int aborts = 0;
  for (std::uint64_t row = 0; row < 4'000; ++row) {
    const auto drawn = abort_after(faults, ordinary(row), 1);
    if (!drawn) continue;
    ++aborts;
    EXPECT_EQ(*drawn, (DrawnAbort{9 * kSecond, 0}));
  }
  EXPECT_NEAR(aborts, 1'000, 110);
  RequestSpec elsewhere = ordinary(0);
  elsewhere.deployment = 0;
  for (std::uint64_t row = 0; row < 50; ++row) {
    elsewhere.row = row;
    EXPECT_EQ(abort_after(faults, elsewhere, 1), std::nullopt);
  }
}

TEST(ClientAbort, TheSoonestOfSeveralCountsAndNumberedOnesDoNot) {
  ClientAbortFault late;
  late.deployment = 1;
  late.chance_permille = 1'000;
  late.after_ns = 9;
  ClientAbortFault soon = late;
  soon.after_ns = 4;
  ClientAbortFault numbered;
  numbered.deployment = 1;
  numbered.request = 0;
  numbered.chance_permille = 1'000;
  EXPECT_EQ(abort_after({fault(late), fault(soon), fault(numbered)}, ordinary(0), 1),
            (DrawnAbort{4, 1}));
  EXPECT_EQ(abort_after({fault(numbered)}, ordinary(0), 1), std::nullopt);
}

TEST(Label, IsTheNameOrTheKind) {
  EXPECT_EQ(label(fault(oversize(1), "x")), "x");
  EXPECT_EQ(label(fault(oversize(1))), "oversize_prompt");
  EXPECT_EQ(label(fault(NoticeFault{})), "notice");
  EXPECT_EQ(label(fault(ClientAbortFault{})), "client_abort");
  EXPECT_EQ(label(fault(NodeCrashFault{})), "node_crash");
  EXPECT_EQ(label(fault(LinkFault{})), "link");
}

}  // namespace
}  // namespace handoff

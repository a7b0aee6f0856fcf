// Faulty completion notices: each does its harm under a policy that believes them, and none under
// one that checks. And each oracle is proven by a deliberate bug that it alone finds.
#include <gtest/gtest.h>

#include "tests/unit/serving/fixtures.hpp"

namespace handoff {
namespace {

// Believes whatever a notice says.
EnginePolicy credulous() {
  EnginePolicy e = v0();
  e.commit.room = false;
  e.abort_release = AbortRelease::when_drained;
  return e;
}

EnginePolicy checking() {
  EnginePolicy e = credulous();
  e.commit.room = true;
  e.commit.checksum = true;
  e.late_notice = LateNotice::ignored;
  return e;
}

NoticeFault notice(NoticeFaultKind kind, std::uint64_t victim, TimeNs by = 500 * kMillisecond) {
  NoticeFault f;
  f.kind = kind;
  f.by_ns = by;
  f.select.request = victim;
  return f;
}

// Request 0 leaves its content behind; request 1 is the one whose notice is touched.
RunConfig with_notice(const EnginePolicy& engine, const NoticeFault& fault) {
  // It runs long enough for its late data to land under it.
  RunConfig config =
      small_cluster(engine, {request(0, 6'000, 40), request(5 * kSecond, 5'000, 2'000)});
  config.faults.push_back({"notice", {}, fault});
  return config;
}

void expect_leak(const RunConfig& config, RequestSerial victim) {
  const Observed seen = observe(config);
  EXPECT_EQ(seen.rules(), "I2 I1");
  EXPECT_TRUE(seen.outcomes[victim].tainted);
  EXPECT_EQ(seen.tainted(), 1u);
  EXPECT_GE(seen.result.firings_total, 1u);
  for (const Finding& f : seen.result.findings) EXPECT_EQ(f.victim, victim);
}

TEST(NoticeFaults, Early) {
  expect_leak(with_notice(credulous(), notice(NoticeFaultKind::early, 1)), 1);
  EXPECT_EQ(observe(with_notice(checking(), notice(NoticeFaultKind::early, 1))).findings(), 0u);
}

TEST(NoticeFaults, Reordered) {
  expect_leak(with_notice(credulous(), notice(NoticeFaultKind::reordered, 1)), 1);
  EXPECT_EQ(observe(with_notice(checking(), notice(NoticeFaultKind::reordered, 1))).findings(), 0u);
}

TEST(NoticeFaults, ShortData) {
  NoticeFault fault = notice(NoticeFaultKind::short_data, 1);
  fault.pages = 3;
  expect_leak(with_notice(credulous(), fault), 1);
  const Observed checked = observe(with_notice(checking(), fault));
  EXPECT_EQ(checked.findings(), 0u);
  EXPECT_EQ(checked.outcomes[1].cause, Cause::checksum_mismatch);
}

TEST(NoticeFaults, ShortDataOfOneGroupOnly) {
  NoticeFault fault = notice(NoticeFaultKind::short_data, 1);
  fault.select.group = "indexer";
  const Observed seen = observe(with_notice(credulous(), fault));
  ASSERT_EQ(seen.rules(), "I2 I1");
  EXPECT_EQ(seen.result.findings[0].group, "indexer");
  EXPECT_EQ(seen.result.findings[1].group, "indexer");
}

TEST(NoticeFaults, DelayedWithinTheTimeoutOnlyDelays) {
  const Observed seen =
      observe(with_notice(credulous(), notice(NoticeFaultKind::delayed, 1, 20 * kSecond)));
  EXPECT_EQ(seen.findings(), 0u);
  EXPECT_EQ(seen.outcomes[1].status, 200);
  EXPECT_GT(seen.outcomes[1].end_ns, 25 * kSecond);
}

TEST(NoticeFaults, DelayedBeyondTheTimeoutReachesTheNextUseOfTheRoom) {
  const auto config = [](EnginePolicy engine) {
    engine.room_space = 1;
    engine.waiting_timeout_ns = 2 * kSecond;
    RunConfig c = small_cluster(engine, {request(0, 6'000, 40), request(5 * kSecond, 5'000, 40),
                                         request(14'950 * kMillisecond, 7'000, 2'000)});
    c.network.node_bytes_per_second = 100'000'000;
    c.faults.push_back({"notice", {}, notice(NoticeFaultKind::delayed, 1, 9'800 * kMillisecond)});
    return c;
  };
  const Observed seen = observe(config(credulous()));
  EXPECT_EQ(seen.outcomes[1].cause, Cause::waiting_timeout);
  EXPECT_EQ(seen.rules(), "I2 I1");
  EXPECT_TRUE(seen.outcomes[2].tainted);
  EXPECT_EQ(observe(config(checking())).findings(), 0u);
}

TEST(NoticeFaults, LostEndsInTheTimeoutOrNeverWithoutOne) {
  const Observed bounded = observe(with_notice(credulous(), notice(NoticeFaultKind::lost, 1)));
  EXPECT_EQ(bounded.findings(), 0u);
  EXPECT_EQ(bounded.outcomes[1].cause, Cause::waiting_timeout);
  EnginePolicy patient = credulous();
  patient.waiting_timeout_ns = kNever;
  EXPECT_EQ(observe(with_notice(patient, notice(NoticeFaultKind::lost, 1))).rules(), "I6");
}

TEST(NoticeFaults, MisdirectedCommitsTheOtherRoom) {
  const auto config = [](const EnginePolicy& engine) {
    RunConfig c = small_cluster(engine, {request(0, 7'000, 40), request(10 * kSecond, 500, 40),
                                         request(10 * kSecond, 7'500, 2'000)});
    c.network.node_bytes_per_second = 50'000'000;
    c.faults.push_back({"notice", {}, notice(NoticeFaultKind::misdirected, 1)});
    return c;
  };
  const Observed seen = observe(config(credulous()));
  EXPECT_TRUE(seen.outcomes[2].tainted) << seen.rules();
  EXPECT_EQ(seen.rules(), "I2 I1");
  EXPECT_EQ(seen.outcomes[1].cause, Cause::waiting_timeout) << "its own notice never came";
  EXPECT_EQ(observe(config(checking())).findings(), 0u);
}

TEST(NoticeFaults, DuplicateOutlivesTheRoomAndMeetsItsNextUse) {
  const auto config = [](EnginePolicy engine) {
    engine.room_space = 1;
    RunConfig c = small_cluster(engine, {request(0, 6'000, 40), request(10 * kSecond, 5'000, 40)});
    c.faults.push_back({"notice", {}, notice(NoticeFaultKind::duplicate, 0, 6 * kSecond)});
    return c;
  };
  expect_leak(config(credulous()), 1);
  EnginePolicy forgets = credulous();
  forgets.late_notice = LateNotice::ignored;
  EXPECT_EQ(observe(config(forgets)).findings(), 0u);
}

TEST(NoticeFaults, DuplicateCountsForAnotherRankWhenMessagesAreCounted) {
  const auto config = [](NoticeCount count) {
    EnginePolicy engine = credulous();
    engine.notice_count = count;
    RunConfig c = small_cluster(engine, {request(0, 6'000, 40), request(5 * kSecond, 5'000, 40)});
    c.deployments[0].ranks = 2;
    NoticeFault duplicate = notice(NoticeFaultKind::duplicate, 1, 0);
    duplicate.select.rank = 0;
    NoticeFault delayed = notice(NoticeFaultKind::delayed, 1, 3 * kSecond);
    delayed.select.rank = 1;
    c.faults.push_back({"duplicate", {}, duplicate});
    c.faults.push_back({"delayed", {}, delayed});
    return c;
  };
  // The data of both ranks has landed, so counting wrong only shows in when the request goes on.
  const Observed wrong = observe(config(NoticeCount::messages));
  const Observed right = observe(config(NoticeCount::distinct_ranks));
  EXPECT_LT(wrong.outcomes[1].end_ns + 2 * kSecond, right.outcomes[1].end_ns);
}

TEST(NoticeFaults, StaleNoticeOfTheRoomsPreviousUse) {
  const auto config = [](EnginePolicy engine) {
    engine.room_space = 1;
    RunConfig c = small_cluster(engine, {request(0, 6'000, 40), request(10 * kSecond, 5'000, 40)});
    c.faults.push_back({"notice", {}, notice(NoticeFaultKind::stale, 1, 0)});
    return c;
  };
  expect_leak(config(credulous()), 1);
  EXPECT_EQ(observe(config(checking())).findings(), 0u);
}

// --- deliberate bugs
// ------------------------------------------------------------------------------------

TEST(DeliberateBug, ACacheThatIgnoresContentIsFoundByProvenanceAlone) {
  EnginePolicy engine = checking();
  engine.commit.checksum = false;
  RunConfig config =
      small_cluster(engine, {request(0, 3'000, 40), request(5 * kSecond, 3'000, 40)});
  EXPECT_EQ(observe(config).findings(), 0u);
  config.deployments[0].engine.bugs.cache_ignores_content = true;
  const Observed seen = observe(config);
  EXPECT_EQ(seen.rules(), "I1 I1") << "prefill reads it, and what it sends is read by decode";
  EXPECT_TRUE(seen.outcomes[1].tainted);
}

TEST(DeliberateBug, ACommitThatRunsAheadOfTheDataIsFoundByCoverageAlone) {
  // The batch is full, so the data is there by the time it is read.
  const auto config = [](EnginePolicy engine) {
    engine.decode_running_max = 1;
    RunConfig c = small_cluster(engine, {request(0, 3'000, 1'000), request(kSecond, 6'000, 40)});
    c.faults.push_back({"notice", {}, notice(NoticeFaultKind::early, 1, 100 * kMillisecond)});
    return c;
  };
  EXPECT_EQ(observe(config(credulous())).rules(), "I2");
  EXPECT_EQ(observe(config(checking())).findings(), 0u);
}

TEST(DeliberateBug, ASourceFreedBeforeItWasSentIsFoundByFreeInFlightAlone) {
  EnginePolicy engine = checking();
  engine.prefix_cache = false;
  RunConfig config = small_cluster(engine, {request(0, 3'000, 40)});
  EXPECT_EQ(observe(config).findings(), 0u);
  config.deployments[0].engine.bugs.free_source_before_sent = true;
  EXPECT_EQ(observe(config).rules(), "I4");
}

RunConfig aborted(const EnginePolicy& engine) {
  std::vector<ListedRequest> requests{request(0, 3'000, 40)};
  requests[0].abort_after_ns =
      60 * kMillisecond;  // decode has reserved its pages, prefill still computes
  RunConfig config = small_cluster(engine, requests);
  config.deployments[0].prefill.hardware.flops_16bit /= 10;
  return config;
}

TEST(DeliberateBug, AnAbortThatForgetsItsPagesIsFoundByBalanceAlone) {
  EnginePolicy engine = checking();
  EXPECT_EQ(observe(aborted(engine)).findings(), 0u);
  engine.bugs.abort_forgets_pages = true;
  EXPECT_EQ(observe(aborted(engine)).rules(), "I5");
}

TEST(DeliberateBug, AnAbortThatFreesTwiceIsFoundByBalanceAlone) {
  EnginePolicy engine = checking();
  engine.bugs.abort_frees_twice = true;
  EXPECT_EQ(observe(aborted(engine)).rules(), "I5");
}

TEST(DeliberateBug, ADroppedRequestIsFoundByTerminationAlone) {
  EnginePolicy engine = v2();
  engine.bugs.drop_request_on_failure = true;
  EXPECT_EQ(observe(small_cluster(engine, {request(0, 9'000)})).rules(), "I6");
}

TEST(DeliberateBug, AFailureReportedAsSuccessIsFoundByFirstCauseAlone) {
  EnginePolicy engine = v2();
  engine.bugs.failure_reported_as_success = true;
  EXPECT_EQ(observe(small_cluster(engine, {request(0, 9'000)})).rules(), "I7");
}

TEST(DeliberateBug, RanksThatDecideAloneAreFoundByAgreementAlone) {
  const auto config = [](RankAgreement agreement) {
    EnginePolicy engine = checking();
    engine.rank_agreement = agreement;
    RunConfig c = small_cluster(engine, {request(0, 3'000, 40)});
    c.deployments[0].ranks = 4;
    NoticeFault fault = notice(NoticeFaultKind::short_data, 0);
    fault.select.rank = 0;
    c.faults.push_back({"short", {}, fault});
    return c;
  };
  const Observed alone = observe(config(RankAgreement::none));
  EXPECT_EQ(alone.rules(), "I8");
  EXPECT_EQ(alone.outcomes[0].status, 500);
  const Observed together = observe(config(RankAgreement::all_reduce));
  EXPECT_EQ(together.findings(), 0u);
  EXPECT_EQ(together.outcomes[0].cause, Cause::checksum_mismatch);
}

}  // namespace
}  // namespace handoff

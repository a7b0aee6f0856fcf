// Swarm runs: safe decisions stay safe, unsafe ones are found, and threads change nothing.
#include "sim/search/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "models/serving/run.hpp"
#include "scenarios/scenario.hpp"
#include "sim/search/swarm.hpp"

namespace handoff {
namespace {

const std::string kCatalog = HANDOFF_SOURCE_DIR "/models/catalog";

RunConfig base(const std::vector<std::string>& sets = {}) {
  return load_scenario(HANDOFF_SOURCE_DIR "/scenarios/fuzz/swarm.yaml", sets, kCatalog).run;
}

Campaign campaign(const RunConfig& config, std::uint64_t runs, unsigned jobs = 2,
                  bool stop_at_find = false) {
  CampaignOptions options;
  options.runs = runs;
  options.jobs = jobs;
  options.stop_at_find = stop_at_find;
  return run_campaign(config, options);
}

TEST(Swarm, DrawsWhatAFileCouldSay) {
  const RunConfig config = base();
  std::set<std::string> texts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scenario s;
    s.name = "x";
    s.run = draw_swarm(config, seed);
    const std::string text = lean_text(s, kCatalog);
    EXPECT_NO_THROW((void)parse_scenario(text, "x", kCatalog)) << text;
    texts.insert(text);
    // The decisions are the base's.
    const EnginePolicy& drawn = s.run.deployments[0].engine;
    for (const char* key : {"rejected_prompt", "commit", "abort_release", "late_notice",
                            "rank_agreement", "bugs", "drain_cap"})
      EXPECT_EQ(policy_value(drawn, key), policy_value(config.deployments[0].engine, key)) << key;
  }
  EXPECT_EQ(texts.size(), 200u);
  Scenario a, b;
  a.run = draw_swarm(config, 7);
  b.run = draw_swarm(config, 7);
  EXPECT_EQ(lean_text(a, kCatalog), lean_text(b, kCatalog));
}

TEST(Campaign, SafeDecisionsHaveNoFinding) {
  const Campaign c = campaign(base(), 3'000);
  EXPECT_EQ(c.runs, 3'000u);
  for (const Find& find : c.finds) ADD_FAILURE() << text(find.signature) << ", seed " << find.seed;
  // It reaches what it must, or its silence says little.
  for (const char* probe :
       {"prefix cache hit", "retraction", "explicit ranks", "ended: client abort",
        "ended: node down", "ended: waiting timeout", "ended: checksum mismatch",
        "fault fired: notice early", "fault fired: notice short", "fault fired: notice misdirected",
        "fault fired: oversize_prompt", "fault fired: node_crash", "fault fired: link",
        "fault fired: client_abort", "row decode: transfer, aborted",
        "row decode: retracted, resumed"})
    EXPECT_GT(c.probes.at(probe), 0u) << probe;
}

// Source first: the same, with decode pulling under short leases that it renews.
TEST(Campaign, SafePullsHaveNoFinding) {
  for (const char* engine :
       {"engine={preset: fail-closed, handoff: source_first, lease: 2s}",
        "engine={preset: fail-closed, handoff: source_first, lease: 2s, lease_renewal: false}"}) {
    const Campaign c = campaign(base({engine}), 1'500);
    for (const Find& find : c.finds)
      ADD_FAILURE() << engine << ": " << text(find.signature) << ", seed " << find.seed;
    for (const char* probe :
         {"row prefill: held, pulled", "row prefill: held, aborted", "row prefill: held, killed",
          "row decode: prealloc, timed out", "ended: node down"})
      EXPECT_GT(c.probes.at(probe), 0u) << probe;
  }
}

// What a swarm run gives each client, as text.
std::string outcomes(const RunConfig& config) {
  std::ostringstream out;
  RunObserver observer;
  std::map<RequestSerial, std::string> rows;
  observer.on_outcome = [&](const RequestOutcome& o, const TenantNames&) {
    std::ostringstream row;
    row << o.status << ' ' << name(o.cause) << ' ' << o.first_token_ns << ' ' << o.end_ns << ' '
        << o.output_tokens_done << ' ' << o.cached_tokens << ' ' << o.retractions << ' '
        << o.foreign_tokens << ' ' << o.unwritten_tokens;
    rows[o.serial] = row.str();
  };
  const RunResult result = run(config, observer);
  for (const auto& [serial, row] : rows) out << serial << ' ' << row << '\n';
  for (const Finding& f : result.findings)
    out << code(f.rule) << ' ' << f.victim << ' ' << f.node << ' ' << f.at << '\n';
  return out.str();
}

// A decode node that advances lazily gives what one that steps every token gives.
TEST(Swarm, LazySteppingChangesNothing) {
  for (const char* engine : {"engine=fail-closed", "engine=sglang-v0",
                             "engine={preset: vllm-nixl, lease: 2s, abort_release: at_once}",
                             "engine={preset: fail-closed, control_latency: 0s}"}) {
    const RunConfig config = base({engine});
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      RunConfig lazy = draw_swarm(config, seed);
      RunConfig stepped = lazy;
      lazy.stepping = Stepping::lazy;
      stepped.stepping = Stepping::every_token;
      ASSERT_EQ(outcomes(lazy), outcomes(stepped)) << engine << ", seed " << seed;
    }
  }
}

struct Unsafe {
  const char* set;
  Rule rule;
  std::uint64_t within;
};

TEST(Campaign, EachUnsafeDecisionIsFound) {
  for (const Unsafe& u : std::initializer_list<Unsafe>{
           {"engine.commit={room: false, length: false, checksum: false}", Rule::coverage, 20},
           {"engine.abort_release=at_once", Rule::free_in_flight, 50},
           {"engine.rank_agreement=none", Rule::rank_agreement, 300},
           {"engine.drain_cap=1s", Rule::late_write, 200},
           {"engine={preset: fail-closed, handoff: source_first, lease: 2s, lease_renewal: false, "
            "stale_pull: read_anyway}",
            Rule::free_in_flight, 100},
           {"engine={preset: vllm-nixl, lease: 2s}", Rule::provenance, 50},
           {"engine.bugs.cache_ignores_content=true", Rule::provenance, 20},
           {"engine.bugs.free_source_before_sent=true", Rule::free_in_flight, 20},
           {"engine.bugs.abort_frees_twice=true", Rule::balance, 50},
           {"engine.bugs.abort_forgets_pages=true", Rule::balance, 50},
           {"engine.bugs.failure_reported_as_success=true", Rule::first_cause, 50},
           {"engine.bugs.drop_request_on_failure=true", Rule::termination, 300}}) {
    const Campaign c = campaign(base({u.set}), u.within, 2, true);
    EXPECT_TRUE(std::any_of(c.finds.begin(), c.finds.end(), [&](const Find& f) {
      return f.signature.rule == u.rule;
    })) << u.set;
  }
}

TEST(Campaign, SaysTheSameForAnyNumberOfThreads) {
  const RunConfig config = base({"engine.abort_release=at_once"});
  const Campaign one = campaign(config, 150, 1);
  for (const unsigned jobs : {2U, 5U}) {
    const Campaign many = campaign(config, 150, jobs);
    EXPECT_EQ(many.probes, one.probes);
    EXPECT_EQ(many.events, one.events);
    ASSERT_EQ(many.finds.size(), one.finds.size());
    for (std::size_t i = 0; i < one.finds.size(); ++i) {
      EXPECT_EQ(many.finds[i].signature, one.finds[i].signature);
      EXPECT_EQ(many.finds[i].seed, one.finds[i].seed);
      EXPECT_EQ(many.finds[i].runs, one.finds[i].runs);
    }
  }
  // Stopped at the first find, it counts only the runs up to there.
  const Campaign first = campaign(config, 150, 1, true);
  const Campaign again = campaign(config, 150, 4, true);
  EXPECT_EQ(first.runs, again.runs);
  EXPECT_EQ(first.finds.size(), again.finds.size());
  EXPECT_EQ(first.finds[0].seed, first.runs);
}

TEST(Campaign, StopsWhenToldTo) {
  CampaignOptions options;
  options.runs = 1'000;
  int asked = 0;
  options.go_on = [&] { return ++asked <= 10; };
  EXPECT_EQ(run_campaign(base(), options).runs, 10u);
}

}  // namespace
}  // namespace handoff

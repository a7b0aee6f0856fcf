// A scenario loads to exactly the values that it says, resolves to a text that loads to the same
// digest, and takes values from the command line and from a scenario that it extends.
#include <algorithm>
#include <set>

#include "tests/unit/scenario/scenario_files.hpp"

namespace handoff {
namespace {

class Load : public ScenarioFiles {};

constexpr std::string_view kFull = R"(# every part of the format
handoff: 1
name: full
description: "every part: once"
seed: 18446744073709551615
start: 2026-09-08T12:00:00Z
stepping: every_token
x-lengths: &lengths {uniform: {low: 10, high: 20}}
deployments:
  - name: chat
    model: glm-5.3
    engine:
      preset: sglang-v0
      waiting_timeout: none
      commit: {checksum: true}
      bugs: {abort_frees_twice: true}
    cluster:
      context_window: 1_048_576
      ranks: 2
      prefill:
        nodes: 2
        hardware: 8xh200
        kv_pool_tokens: 681_280
        efficiency: {compute: 60%, prefill_overhead: 4ms}
      decode: {nodes: 3, hardware: 16xh200, kv_pool_tokens: 1_400_000}
  - model: bge-base-en-v1.5
    engine: sglang-v2
    cluster:
      context_window: 512
      prefill: {hardware: 1xh100}
network: {link_latency: 3us, node_rate: 400Gb/s, spine_rate: 3.2Tb/s}
workload:
  - name: users
    deployment: chat
    clip_prompt_tokens: 500_000
    abort_after: 10m
    synthetic:
      arrivals: {gamma: {rate: 90/min, cv: 2.5}}
      prompt: {lognormal: {median: 24_000, sigma: 1.1, low: 200, high: 400_000}}
      output: *lengths
      requests: 1_000
      from: 2026-09-08T12:01:00Z
      for: 1h 30m
      tenants: [{name: acme, weight: 5}, {name: birch}]
      shared_prefix: {chance: 62.5%, prefixes: 3, tokens: 4096}
  - name: bursts
    deployment: chat
    synthetic:
      arrivals: {fixed: {every: 3s}}
      prompt: {mixture: [{weight: 3, of: {fixed: 100}}, {of: {pareto: {scale: 50, alpha: 1.5, high: 9_000}}}]}
      output: {fixed: 7}
      for: 1m
  - deployment: bge-base-en-v1.5
    requests:
      - {at: 5s, prompt_tokens: 300, output_tokens: 0, tenant: echo, abort_after: 1s,
         blocks: [7, 18446744073709551615], block_tokens: 150}
  - name: replayed
    deployment: chat
    trace: traces/t.jsonl.gz
    arrival: spread
    speedup: 1.5
    requests: 12
    from: 1m
faults:
  - name: too long
    oversize_prompt:
      deployment: chat
      rate: 0.05%
      prompt: {fixed: 700_000}
      output: *lengths
      at: [2026-09-08T13:00:00Z, 10s]
  - notice:
      deployment: chat
      kind: short
      pages: 3
      when: {prefill_node: 1, decode_node: 2, rank: 1, group: indexer, request: 9,
             prompt_tokens_min: 4, from: 1s, for: 2s, nth: 2, chance: 50%}
  - client_abort: {deployment: chat, chance: 0.1%, after: 2s}
  - node_crash: {deployment: chat, node: "decode[2]", at: 1m, for: 30s}
  - link: {link: "prefill[0]->spine", at: 1m, rate: 50%}
operations:
  - take_offline: {deployment: chat, at: 1h}
  - redeploy: {deployment: chat, at: 2h, engine: {preset: sglang-v2, page_tokens: 128}}
notes:
  - {at: 2026-09-08T12:30:00Z, text: "a report: arrives"}
terminate_within: 1h
limits: {events: 1_000_000, time: 10d, stall_time: none, micro_steps: 99, findings: 5}
expect:
  requests: ">= 10"
  tainted_responses: 3..5
  status: {200: "> 1", "500": "< 9"}
  findings: {I1: 5, I2: "<= 7"}
  never_tainted_deployments: [bge-base-en-v1.5]
  deployment.chat.tainted_responses: 4
  metrics: {ttft_p99_ms: "<= 5_000"}
)";

TEST_F(Load, DeploymentsHaveTheValuesOfTheFile) {
  const Scenario s = load(kFull);
  EXPECT_EQ(s.name, "full");
  EXPECT_EQ(s.description, "every part: once");
  EXPECT_EQ(s.run.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(s.start_unix_ns, 1'788'868'800 * kSecond);
  EXPECT_EQ(s.run.stepping, Stepping::every_token);
  ASSERT_EQ(s.run.deployments.size(), 2u);
  const DeploymentConfig& d = s.run.deployments[0];
  EXPECT_EQ(d.name, "chat");
  EXPECT_EQ(d.model.name, "glm-5.3");
  EXPECT_EQ(d.model.groups.size(), 2u);
  EXPECT_EQ(d.engine_name, "sglang-v0 (changed: commit, waiting_timeout, bugs)");
  EXPECT_EQ(d.engine.waiting_timeout_ns, kNever);
  EXPECT_EQ(d.engine.rejected_prompt, RejectedPrompt::placeholder) << "from the preset";
  EXPECT_TRUE(d.engine.commit.room) << "from the preset";
  EXPECT_TRUE(d.engine.commit.checksum);
  EXPECT_TRUE(d.engine.bugs.abort_frees_twice);
  EXPECT_EQ(d.context_window, 1'048'576);
  EXPECT_EQ(d.ranks, 2u);
  EXPECT_EQ(d.prefill.nodes, 2u);
  EXPECT_EQ(d.prefill.kv_pool_tokens, 681'280);
  EXPECT_EQ(d.prefill.efficiency.compute_permille, 600);
  EXPECT_EQ(d.prefill.efficiency.memory_permille, RooflineEfficiency{}.memory_permille);
  EXPECT_EQ(d.prefill.efficiency.prefill_overhead_ns, 4 * kMillisecond);
  EXPECT_EQ(d.decode.nodes, 3u);
  EXPECT_EQ(d.decode.hardware.name, "16xh200");
  EXPECT_EQ(d.decode.hardware.devices, 16);
  const DeploymentConfig& e = s.run.deployments[1];
  EXPECT_EQ(e.name, "bge-base-en-v1.5");
  EXPECT_EQ(e.decode.nodes, 0u);
  EXPECT_EQ(e.engine_name, "sglang-v2");
  EXPECT_EQ(s.run.network.link_latency_ns, 3 * kMicrosecond);
  EXPECT_EQ(s.run.network.node_bytes_per_second, 50'000'000'000);
  EXPECT_EQ(s.run.network.spine_bytes_per_second, 400'000'000'000);
}

TEST_F(Load, WorkloadsHaveTheValuesOfTheFile) {
  const Scenario s = load(kFull);
  ASSERT_EQ(s.run.workloads.size(), 4u);
  const WorkloadConfig& users = s.run.workloads[0];
  EXPECT_EQ(users.clip_prompt_tokens, 500'000);
  EXPECT_EQ(users.clip_output_tokens, 0);
  EXPECT_EQ(users.abort_after_ns, 10 * kMinute);
  const auto& a = std::get<SyntheticConfig>(users.source);
  EXPECT_EQ(a.arrivals.kind, ArrivalProcess::Kind::gamma);
  EXPECT_EQ(a.arrivals.rate_per_s, 1.5);
  EXPECT_EQ(a.arrivals.cv, 2.5);
  EXPECT_EQ(a.prompt.kind, LengthDistribution::Kind::lognormal);
  EXPECT_EQ(a.prompt.median, 24'000.0);
  EXPECT_EQ(a.prompt.high, 400'000);
  EXPECT_EQ(a.output.kind, LengthDistribution::Kind::uniform) << "by alias";
  EXPECT_EQ(a.output.high, 20);
  EXPECT_EQ(a.requests_max, 1'000);
  EXPECT_EQ(a.from_ns, kMinute);
  EXPECT_EQ(a.for_ns, 90 * kMinute);
  ASSERT_EQ(a.tenants.size(), 2u);
  EXPECT_EQ(a.tenants[1].name, "birch");
  EXPECT_EQ(a.tenants[1].weight, 1);
  EXPECT_EQ(a.shared_prefix_permille, 625);
  EXPECT_EQ(a.shared_prefix_tokens, 4096);
  const auto& b = std::get<SyntheticConfig>(s.run.workloads[1].source);
  EXPECT_EQ(b.arrivals.kind, ArrivalProcess::Kind::fixed);
  EXPECT_DOUBLE_EQ(b.arrivals.rate_per_s, 1.0 / 3.0);
  ASSERT_EQ(b.prompt.parts.size(), 2u);
  EXPECT_EQ(b.prompt.parts[0].weight, 3);
  EXPECT_EQ(b.prompt.parts[1].of->scale, 50.0);
  const WorkloadConfig& listed = s.run.workloads[2];
  EXPECT_EQ(listed.name, "workload[2]");
  EXPECT_EQ(listed.deployment, 1u);
  const auto& r = std::get<std::vector<ListedRequest>>(listed.source).at(0);
  EXPECT_EQ(r.at_ns, 5 * kSecond);
  EXPECT_EQ(r.tenant, "echo");
  EXPECT_EQ(r.blocks, (std::vector<std::uint64_t>{7, std::numeric_limits<std::uint64_t>::max()}));
  const auto& t = std::get<TraceConfig>(s.run.workloads[3].source);
  EXPECT_EQ(t.path, (folder_ / "traces/t.jsonl.gz").string());
  EXPECT_EQ(t.format, TraceFormat::mooncake);
  EXPECT_EQ(t.arrival, ArrivalMode::spread);
  EXPECT_EQ(t.speedup_permille, 1'500);
  EXPECT_EQ(t.requests_max, 12);
  EXPECT_EQ(t.from_ns, kMinute);
  EXPECT_EQ(t.for_ns, kNever);
}

TEST_F(Load, FaultsAndOperationsHaveTheValuesOfTheFile) {
  const Scenario s = load(kFull);
  ASSERT_EQ(s.run.faults.size(), 5u);
  const auto& o = std::get<OversizePromptFault>(s.run.faults[0].what);
  EXPECT_EQ(s.run.faults[0].name, "too long");
  EXPECT_EQ(o.rate_per_10k, 5);
  EXPECT_EQ(o.at_ns, (std::vector<TimeNs>{kHour, 10 * kSecond}));
  const auto& n = std::get<NoticeFault>(s.run.faults[1].what);
  EXPECT_EQ(s.run.faults[1].name, "notice short");
  EXPECT_EQ(n.kind, NoticeFaultKind::short_data);
  EXPECT_EQ(n.pages, 3);
  EXPECT_EQ(n.select.prefill_node, 1u);
  EXPECT_EQ(n.select.decode_node, 2u);
  EXPECT_EQ(n.select.rank, 1u);
  EXPECT_EQ(n.select.group, "indexer");
  EXPECT_EQ(n.select.request, 9u);
  EXPECT_EQ(n.select.prompt_tokens_min, 4);
  EXPECT_EQ(n.select.from_ns, kSecond);
  EXPECT_EQ(n.select.for_ns, 2 * kSecond);
  EXPECT_EQ(n.select.nth, 2u);
  EXPECT_EQ(n.select.chance_permille, 500);
  const auto& a = std::get<ClientAbortFault>(s.run.faults[2].what);
  EXPECT_EQ(a.chance_permille, 1);
  EXPECT_EQ(a.after_ns, 2 * kSecond);
  const auto& c = std::get<NodeCrashFault>(s.run.faults[3].what);
  EXPECT_EQ(c.role, NodeRole::decode);
  EXPECT_EQ(c.node, 2u);
  const auto& l = std::get<LinkFault>(s.run.faults[4].what);
  EXPECT_EQ(l.link, "prefill[0]->spine");
  EXPECT_EQ(l.rate_permille, 500);
  EXPECT_EQ(l.for_ns, kNever);
  ASSERT_EQ(s.run.operations.size(), 2u);
  EXPECT_EQ(s.run.operations[1].kind, Operation::Kind::redeploy);
  EXPECT_EQ(s.run.operations[1].engine->page_tokens, 128);
  EXPECT_EQ(s.run.operations[1].engine_name, "sglang-v2 (changed: page_tokens)");
  EXPECT_GT(s.run.operations[1].mark.line, s.run.operations[0].mark.line);
  ASSERT_EQ(s.run.notes.size(), 1u);
  EXPECT_EQ(s.run.notes[0].at_ns, 30 * kMinute);
  EXPECT_EQ(s.run.terminate_within_ns, kHour);
  EXPECT_EQ(s.run.limits.events_max, 1'000'000u);
  EXPECT_EQ(s.run.limits.stall_time_max_ns, kNever);
  EXPECT_EQ(s.run.limits.delta_max, 99);
  EXPECT_EQ(s.run.findings_max, 5u);
}

TEST_F(Load, ExpectationsAreBoundsByMetric) {
  const Scenario s = load(kFull);
  std::vector<std::string> said, implied;
  for (const Expectation& e : s.expect.all)
    (e.implied ? implied : said).push_back(e.metric + " " + bound_text(e));
  EXPECT_EQ(said, (std::vector<std::string>{
                      "requests >= 10", "tainted_responses 3..5", "status.200 >= 2",
                      "status.500 <= 8", "findings.I1 5", "findings.I2 <= 7",
                      "deployment.bge-base-en-v1.5.tainted_responses 0",
                      "deployment.chat.tainted_responses 4", "ttft_p99_ms <= 5000"}));
  EXPECT_EQ(implied, (std::vector<std::string>{"findings.I3 0", "findings.I4 0", "findings.I5 0",
                                               "findings.I6 0", "findings.I7 0", "findings.I8 0",
                                               "findings.T1 0"}));
  EXPECT_TRUE(s.expect.findings_given);
  EXPECT_FALSE(load(kSmall).expect.findings_given);
  const Scenario none = load(small_and("expect: {findings: {}}\n"));
  EXPECT_TRUE(none.expect.findings_given);
  EXPECT_EQ(none.expect.all.size(), 9u);
}

TEST_F(Load, TheResolvedTextLoadsToTheSameDigest) {
  for (const std::string_view text : {kFull, kSmall}) {
    const Scenario s = load(text);
    const Scenario again = load(s.resolved);
    EXPECT_EQ(again.resolved, s.resolved);
    EXPECT_EQ(again.digest, s.digest);
  }
}

TEST_F(Load, TheDigestIsThatOfTheMeaning) {
  const Scenario plain = load(kSmall);
  EXPECT_EQ(load(small_with("32_768", "32768   # tokens")).digest, plain.digest);
  EXPECT_EQ(load(small_and("x-note: ignored\nseed: 1\n")).digest, plain.digest)
      << "the default, spelled out";
  EXPECT_NE(load(small_and("seed: 2\n")).digest, plain.digest);
  EXPECT_NE(load(kSmall, {"engine.clip_new_tokens=4097"}).digest, plain.digest);
}

TEST_F(Load, APoolFollowsFromTheHardwareWhenLeftOut) {
  // Llama-3.1-8B on 8 x H200, each: 0.9 x 141 GB less an eighth of 2 x 8,030,261,248 bytes; a token
  // takes 131,072 / 8 bytes.
  const std::int64_t expected = (126'900'000'000 - 2'007'565'312) / 16'384;
  const Scenario s = load(small_with(", kv_pool_tokens: 65_536", ""));
  EXPECT_EQ(s.run.deployments[0].prefill.kv_pool_tokens, expected);
  EXPECT_NE(s.resolved.find("kv_pool_tokens: " + std::to_string(expected)), std::string::npos);
}

TEST_F(Load, ValuesOfTheCommandLineReplaceThoseOfTheFile) {
  const Scenario s = load(kFull, {"seed=7", "deployments[0].cluster.prefill.nodes=5",
                                  "deployments[1].engine.commit.length=false",
                                  "workload[0].synthetic.tenants[1].name=cedar", "faults=[]",
                                  "limits.time=none", "expect.deployment.chat.tainted_responses=6",
                                  "workload[3].trace=other.csv", "network.node_rate=25GB/s"});
  EXPECT_EQ(s.run.seed, 7u);
  EXPECT_EQ(s.run.deployments[0].prefill.nodes, 5u);
  EXPECT_FALSE(s.run.deployments[1].engine.commit.length);
  EXPECT_EQ(s.run.deployments[1].engine_name, "sglang-v2 (changed: commit)");
  EXPECT_EQ(std::get<SyntheticConfig>(s.run.workloads[0].source).tenants[1].name, "cedar");
  EXPECT_TRUE(s.run.faults.empty());
  EXPECT_EQ(s.run.limits.time_max_ns, kNever);
  const auto& trace = std::get<TraceConfig>(s.run.workloads[3].source);
  EXPECT_EQ(trace.path, "other.csv") << "relative to the current directory";
  EXPECT_EQ(trace.format, TraceFormat::azure);
  EXPECT_EQ(s.run.network.node_bytes_per_second, 25'000'000'000);
  const auto six = [](const Expectation& e) {
    return e.metric == "deployment.chat.tainted_responses" && e.low == 6;
  };
  EXPECT_TRUE(std::any_of(s.expect.all.begin(), s.expect.all.end(), six));
}

TEST_F(Load, ErrorsOfTheCommandLineAreShownThere) {
  const auto set = [&](const std::string& text) { return errors(kSmall, {"seed=3", text}); };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(set("seed=abc"), (Lines{"--set:2:6: expected a whole number from 0, found 'abc'"}));
  EXPECT_EQ(set("cluster.prefil.nodes=3"),
            (Lines{"--set:2:1: unknown key 'cluster.prefil'; did you mean 'prefill'?"}));
  EXPECT_EQ(set("workload[1].name=x"), (Lines{"--set:2:1: 'workload' has 1 item, no [1]"}));
  EXPECT_EQ(set("workload[x].name=x"), (Lines{"--set:2:1: expected an index such as [0]"}));
  EXPECT_EQ(set("seed.x=1"), (Lines{"--set:2:1: 'seed' is a value, it has no key 'x'"}));
  EXPECT_EQ(set("cluster[0]=1"), (Lines{"--set:2:1: 'cluster' is a mapping, not a list"}));
  EXPECT_EQ(set("seed"), (Lines{"--set:2:1: expected path=value, found 'seed'"}));
  EXPECT_EQ(set("seed="), (Lines{"--set:2:6: expected a whole number from 0, found nothing"}));
  EXPECT_EQ(set("cluster.prefill={nodes: 1, hardware: 8xh20}"),
            (Lines{"--set:2:38: no hardware '8xh20' in the catalog; did you mean 'h200'?"}));
  EXPECT_EQ(set("cluster={").size(), 1u);
}

TEST_F(Load, AScenarioExtendsAnother) {
  write("base.yaml", kFull);
  const std::string path = write(
      "more.yaml",
      "handoff: 1\nextends: {file: base.yaml, set: [\"deployments[0].engine=sglang-v2\", seed=5]}\n"
      "name: more\nexpect: {tainted_responses: 0}\n");
  const Scenario s = load_scenario(path, {"seed=6"}, kCatalog);
  EXPECT_EQ(s.name, "more");
  EXPECT_EQ(s.run.seed, 6u) << "the command line comes last";
  EXPECT_EQ(s.run.deployments[0].engine_name, "sglang-v2");
  EXPECT_EQ(s.run.workloads.size(), 4u);
  ASSERT_EQ(s.expect.all.size(), 1u) << "a key replaces the whole of what the other has";
  EXPECT_EQ(load(s.resolved).digest, s.digest);
}

TEST_F(Load, ErrorsOfAnExtendedScenarioNameItsFile) {
  const std::string base = write("base.yaml", small_with("nodes: 2", "nodes: two"));
  const std::string bad = write("more.yaml", "handoff: 1\nextends: base.yaml\nname: more\n");
  EXPECT_EQ(errors_of(bad),
            (std::vector<std::string>{base + ":7:20: expected a whole number, found 'two'"}));
  write("base.yaml", kSmall);
  const std::string set =
      write("set.yaml", "handoff: 1\nextends: {file: base.yaml, set: [\"seed=x\"]}\nname: more\n");
  EXPECT_EQ(errors_of(set),
            (std::vector<std::string>{"2:40: expected a whole number from 0, found 'x'"}));
  const std::string twice = write("twice.yaml", "handoff: 1\nextends: more.yaml\n");
  EXPECT_EQ(errors_of(twice),
            (std::vector<std::string>{
                (folder_ / "more.yaml").string() +
                ":2:1: a scenario that extends another cannot itself be extended"}));
  const std::string gone = write("gone.yaml", "handoff: 1\nextends: nowhere.yaml\n");
  EXPECT_EQ(errors_of(gone),
            (std::vector<std::string>{(folder_ / "nowhere.yaml").string() + ":0:0: no such file"}));
}

TEST_F(Load, AResolvedScenarioCanLieInAnotherFolder) {
  const Scenario s = load(kFull);
  std::filesystem::create_directories(folder_ / "out");
  const std::string moved = write("out/resolved.yaml", resolved_for(s, (folder_ / "out").string()));
  const Scenario again = load_scenario(moved, {}, kCatalog);
  EXPECT_EQ(std::filesystem::path(std::get<TraceConfig>(again.run.workloads[3].source).path)
                .lexically_normal(),
            folder_ / "traces/t.jsonl.gz");
}

// Every scenario in the repository: no errors, and its resolved text is the same scenario.
TEST(ShippedScenarios, LoadAndResolveToThemselves) {
  namespace fs = std::filesystem;
  std::set<fs::path> files;
  for (const auto& e : fs::recursive_directory_iterator(HANDOFF_SOURCE_DIR "/scenarios"))
    if (e.path().extension() == ".yaml") files.insert(e.path());
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const Scenario s = load_scenario(file.string(), {}, kCatalog);
    // Beside the original, in a folder that is surely writable: trace paths are rewritten for it.
    const fs::path copy =
        fs::temp_directory_path() / ("handoff-resolved-" + std::to_string(::getpid()) + ".yaml");
    const std::string text = resolved_for(s, copy.parent_path().string());
    std::ofstream(copy, std::ios::binary) << text;
    const Scenario again = load_scenario(copy.string(), {}, kCatalog);
    fs::remove(copy);
    EXPECT_EQ(again.resolved, text);
    EXPECT_EQ(again.run.workloads.size(), s.run.workloads.size());
    EXPECT_EQ(again.expect.all.size(), s.expect.all.size());
  }
}

// The short text of every scenario, without what stands in the catalog or by default, is the same
// scenario.
TEST(ShippedScenarios, AreTheSameInTheirLeanText) {
  namespace fs = std::filesystem;
  std::size_t checked = 0;
  for (const auto& e : fs::recursive_directory_iterator(HANDOFF_SOURCE_DIR "/scenarios")) {
    if (e.path().extension() != ".yaml") continue;
    SCOPED_TRACE(e.path().string());
    const Scenario s = load_scenario(e.path().string(), {}, kCatalog);
    if (std::holds_alternative<TraceConfig>(s.run.workloads[0].source)) continue;
    ++checked;
    const std::string lean = lean_text(s, kCatalog);
    EXPECT_LT(lean.size(), s.resolved.size() / 2);
    EXPECT_EQ(parse_scenario(lean, "lean.yaml", kCatalog).resolved, s.resolved) << lean;
  }
  EXPECT_GT(checked, 30u);
}

}  // namespace
}  // namespace handoff

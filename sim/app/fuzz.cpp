// handoff fuzz: swarm runs around a scenario; each kind of failure once, shrunk.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "models/serving/run.hpp"
#include "reports/files.hpp"
#include "reports/text.hpp"
#include "scenarios/loader/scalars.hpp"
#include "sim/app/execute.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"
#include "sim/app/presets.hpp"
#include "sim/app/written.hpp"
#include "sim/search/campaign.hpp"
#include "sim/search/shrink.hpp"
#include "sim/search/swarm.hpp"

namespace handoff::app {
namespace {

constexpr std::int64_t kRunsMax = 1'000'000'000;

struct Call {
  std::string path;
  std::vector<std::string> sets;
  Scenario base;
  unsigned jobs = 1;
};

std::string replay_line(const Call& call, std::uint64_t seed) {
  std::string line = "handoff fuzz " + shell_quoted(call.path);
  for (const std::string& set : call.sets) line += " --set " + shell_quoted(set);
  return line + fmt::format(" --seed {} --runs 1", seed);
}

// The find's run made small, as a scenario. Empty when interrupted.
std::string shrunk_text(const Call& call, const Find& find) {
  const RunConfig config = draw_swarm(call.base.run, find.seed);
  const RunResult result = run(config);
  const auto finding =
      std::find_if(result.findings.begin(), result.findings.end(),
                   [&](const Finding& f) { return signature_of(f) == find.signature; });
  if (finding == result.findings.end()) return {};
  const Presets presets(config);
  ShrinkOptions options;
  options.jobs = call.jobs;
  options.acceptable = loads;
  options.preset = [&](const DeploymentConfig& d) { return presets.of(d); };
  options.on_stage = [](const std::string&, const WrittenOut&, std::uint64_t) {};
  options.go_on = [] { return !interrupted(); };
  const Shrunk shrunk =
      shrink(config, *finding, result.firings, 2 * result.events + 1'000'000, options);
  if (!shrunk.complete) return {};
  return scenario_text(assemble(shrunk.best), "found: " + text(find.signature),
                       "Seed " + std::to_string(find.seed) + " of " + call.base.name + ", shrunk.");
}

std::string file_name(const Signature& s) {
  return fmt::format("{}_{}{}.yaml", code(s.rule), s.role.empty() ? "client" : s.role,
                     s.foreign ? "_foreign" : "");
}

std::string probes_text(const Campaign& campaign, bool all) {
  std::string out;
  std::string never;
  std::size_t reached = 0;
  for (const auto& [probe, runs] : campaign.probes) {
    reached += runs > 0;
    if (runs == 0) never += "  never      " + probe + "\n";
    if (runs > 0 && all)
      out += fmt::format("  {:<9}  {} ({})\n", runs == campaign.runs ? "always" : "sometimes",
                         probe, grouped(static_cast<std::int64_t>(runs)));
  }
  return fmt::format("{} of {} probes reached\n", reached, campaign.probes.size()) + out + never;
}

int fuzz_command(const Words& words) {
  const Options options(words, {{"set", true, true},
                                {"seed", true},
                                {"runs", true},
                                {"time", true},
                                {"jobs", true},
                                {"out", true},
                                {"stop-at-find", false},
                                {"probes", false},
                                {"quiet", false}});
  Call call;
  call.path = options.plain(1, 1, "a scenario file").front();
  call.sets = options.values("set");
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  call.jobs = static_cast<unsigned>(options.number("jobs", cores, 1, 1'024));
  CampaignOptions search;
  search.first_seed = static_cast<std::uint64_t>(
      options.number("seed", 1, 0, std::numeric_limits<std::int64_t>::max() - kRunsMax));
  search.runs = static_cast<std::uint64_t>(
      options.number("runs", options.has("time") ? kRunsMax : 1'000, 1, kRunsMax));
  search.jobs = call.jobs;
  search.stop_at_find = options.has("stop-at-find");
  TimeNs limit_ns = kNever;
  if (const auto time = options.value("time")) {
    const auto parsed = loader::parse_duration(*time);
    if (!parsed.value) throw UsageError("option '--time': " + parsed.error);
    limit_ns = *parsed.value;
  }
  call.base = load_scenario(call.path, call.sets, catalog_folder());
  if (call.base.run.deployments.size() != 1 || call.base.run.deployments[0].decode.nodes == 0)
    throw UsageError(call.path + ": a swarm is drawn around one deployment that generates");
  std::optional<OutputFolder> folder;
  if (const auto out = options.value("out")) folder.emplace(*out, "fuzz.txt");

  const auto start = std::chrono::steady_clock::now();
  search.go_on = [&] {
    const auto spent = std::chrono::steady_clock::now() - start;
    return !interrupted() &&
           std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count() < limit_ns;
  };
  const bool draws = !options.has("quiet") && ::isatty(STDERR_FILENO) == 1;
  search.on_progress = [&](std::uint64_t runs, std::size_t finds) {
    if (draws) fmt::print(stderr, "\r\x1b[K{} runs, {} finds", runs, finds);
  };
  Campaign campaign;
  try {
    campaign = run_campaign(call.base.run, search);
  } catch (const ConfigError& error) {
    throw scenario_error(call.base, error);
  }
  if (draws) fmt::print(stderr, "\r\x1b[K");

  std::string report = fmt::format(
      "{}, seeds {} to {}: {}, {}\n", plural(static_cast<std::int64_t>(campaign.runs), "run"),
      search.first_seed, search.first_seed + std::max<std::uint64_t>(campaign.runs, 1) - 1,
      plural(static_cast<std::int64_t>(campaign.requests), "request"),
      plural(static_cast<std::int64_t>(campaign.events), "event"));
  if (campaign.finds.empty()) report += "no finding\n";
  for (const Find& find : campaign.finds) {
    report +=
        fmt::format("\n{}: in {}, first after {}\n  {}\n", text(find.signature),
                    plural(static_cast<std::int64_t>(find.runs), "run"),
                    plural(static_cast<std::int64_t>(find.seed - search.first_seed + 1), "run"),
                    replay_line(call, find.seed));
    if (interrupted()) continue;
    const std::string small = shrunk_text(call, find);
    if (small.empty()) continue;
    if (folder)
      folder->write(file_name(find.signature), small);
    else
      report += "\n" + small;
  }
  report += "\n" + probes_text(campaign, options.has("probes"));
  if (interrupted()) {
    print(report);
    return kInterrupted;
  }
  if (folder) {
    folder->write("fuzz.txt", report);
    folder->commit();
  }
  print(report);
  return campaign.finds.empty() ? kClean : kFindings;
}

}  // namespace

const Command kFuzz{
    "fuzz", "looks for failures in random runs around a scenario", "fuzz SCENARIO [OPTION...]",
    R"(Keeps the model, the machines and the engine's decisions of a scenario, and draws everything else
from the seed of each run: cluster, pools, batching, lengths, timeouts, faults, and which of these are
left off. Faults stop after 40 s, and then every request must end. Each kind of failure is told once,
shrunk, with the line that replays it. Last comes what the runs reached, and what never.

  --runs N           how many (default 1000)
  --time T           until so much time has passed, e.g. 10m
  --seed S           of the first run (default 1); the others follow
  --jobs N           runs at a time (default: all cores); changes nothing in the result
  --set PATH=VALUE   changes a value of the scenario first, e.g. engine.abort_release=at_once
  --out DIR          a scenario file for each kind of failure, and fuzz.txt
  --stop-at-find     ends with the first run that finds something
  --probes           tells also what was reached, and how often
  --quiet            no progress

Exit codes: 0 nothing found, 1 something found, 2 bad input, 3 a broken invariant of Handoff itself,
130 interrupted.
)",
    fuzz_command};

}  // namespace handoff::app

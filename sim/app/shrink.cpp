// handoff shrink: the smallest scenario that still shows a finding.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "reports/files.hpp"
#include "reports/text.hpp"
#include "scenarios/loader/scalars.hpp"
#include "sim/app/execute.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"
#include "sim/app/presets.hpp"
#include "sim/app/written.hpp"
#include "sim/search/shrink.hpp"

namespace handoff::app {
namespace {

// The one with the given id; else the first that read other requests' content, else the first.
const Finding& chosen(const std::vector<Finding>& findings, const Words& plain) {
  if (findings.empty()) throw UsageError("the run has no finding: there is nothing to shrink");
  if (plain.size() == 2) {
    const auto id = loader::parse_unsigned(plain[1]);
    if (!id.value || *id.value == 0)
      throw UsageError(fmt::format("expected the id of a finding, found '{}'", plain[1]));
    for (const Finding& f : findings)
      if (f.id == *id.value) return f;
    throw UsageError(fmt::format("no finding {}: the run has {}", plain[1], findings.size()));
  }
  const auto foreign = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& f) { return f.tokens_foreign > 0; });
  return foreign != findings.end() ? *foreign : findings.front();
}

std::string size_text(const WrittenOut& w) {
  return fmt::format("{}, {}, {}", plural(static_cast<std::int64_t>(w.items.size()), "request"),
                     plural(static_cast<std::int64_t>(w.faults.size()), "fault"),
                     plural(static_cast<std::int64_t>(w.rest.deployments.size()), "deployment"));
}

int shrink_command(const Words& words) {
  const Options options(
      words,
      {{"set", true, true}, {"seed", true}, {"out", true}, {"jobs", true}, {"quiet", false}});
  const Words& plain = options.plain(1, 2, "a scenario file");
  std::vector<std::string> sets = options.values("set");
  const std::int64_t seed = options.number("seed", 0, 0, std::numeric_limits<std::int64_t>::max());
  if (options.has("seed")) sets.push_back(fmt::format("seed={}", seed));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto jobs = static_cast<unsigned>(options.number("jobs", cores, 1, 1'024));
  std::optional<OutputFile> file;
  if (const auto out = options.value("out")) file.emplace(*out);

  const Scenario scenario = load_scenario(plain[0], sets, catalog_folder());
  const Executed executed = execute(scenario, {});
  if (executed.interrupted) return kInterrupted;
  const RunResult& result = executed.report.result;
  const Finding finding = chosen(result.findings, plain);
  const Signature signature = signature_of(finding);
  const auto text_of = [&](const WrittenOut& best) {
    return scenario_text(assemble(best), scenario.name + ", shrunk",
                         "The smallest run found that shows " + text(signature) + ".");
  };

  const Presets presets(scenario.run);
  ShrinkOptions search;
  search.jobs = jobs;
  search.acceptable = loads;
  search.preset = [&](const DeploymentConfig& d) { return presets.of(d); };
  search.go_on = [] { return !interrupted(); };
  search.on_stage = [&](const std::string& stage, const WrittenOut& best, std::uint64_t runs) {
    if (!options.has("quiet"))
      fmt::print(stderr, "{:<9} {} ({})\n", stage, size_text(best),
                 plural(static_cast<std::int64_t>(runs), "run"));
    // A search that is killed leaves the best so far.
    if (file && best.items.size() < 100) file->write(text_of(best));
  };
  const Shrunk shrunk =
      shrink(scenario.run, finding, result.firings, 2 * result.events + 1'000'000, search);
  const std::string text = text_of(shrunk.best);
  if (file)
    file->write(text);
  else
    print(text);
  if (!options.has("quiet"))
    fmt::print(stderr, "{}: {} after {}{}\n", handoff::text(signature), size_text(shrunk.best),
               plural(static_cast<std::int64_t>(shrunk.runs), "run"),
               shrunk.complete ? "" : ", interrupted");
  return shrunk.complete ? kClean : kInterrupted;
}

}  // namespace

const Command kShrink{
    "shrink", "makes the smallest scenario that still shows a finding",
    "shrink SCENARIO [FINDING] [OPTION...]",
    R"(Writes every request of a run out, then leaves out and makes smaller whatever can be while the
failure stays the same: its rule, the kind of node, and whether other requests' content is read.
Requests, faults, operations, nodes, settings, lengths, times and pools. Without FINDING (an id of
findings.json) the first read of other requests' content is kept, or the first finding.

The result is a scenario like any other, with `expect`. Shrink it again to go on from there.

  --out FILE         where it goes (default: standard output); the best so far after each stage and
                     when interrupted
  --jobs N           runs at a time (default: all cores); changes nothing in the result
  --set PATH=VALUE   changes a value of the scenario first (repeatable)
  --seed N           the same as --set seed=N
  --quiet            no progress

Exit codes: 0, 2 for bad input (also when there is no finding), 130 interrupted.
)",
    shrink_command};

}  // namespace handoff::app

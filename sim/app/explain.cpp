// handoff explain: the story of a finding, what would have stopped it, and the state at any moment.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

#include "models/serving/cluster.hpp"
#include "models/serving/inspect.hpp"
#include "reports/explain.hpp"
#include "reports/files.hpp"
#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/loader/scalars.hpp"
#include "sim/app/execute.hpp"
#include "sim/app/observe.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

// A scenario file, or the folder that `run --out` wrote.
std::string scenario_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  return (std::filesystem::path(path) / "scenario.resolved.yaml").string();
}

struct Change {
  std::string name;
  RunConfig config;
};

std::string key_of(const RunConfig& run, std::uint32_t deployment, const std::string& key) {
  return run.deployments.size() == 1 ? key : fmt::format("deployments[{}].{}", deployment, key);
}

// Every engine of the catalog, every single decision, and pools of equal size.
std::vector<Change> changes_of(const Scenario& scenario, std::uint32_t deployment) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& key, const std::string& value) -> DeploymentConfig& {
    changes.push_back({key_of(scenario.run, deployment, key) + "=" + value, scenario.run});
    return changes.back().config.deployments[deployment];
  };
  const DeploymentConfig& own = scenario.run.deployments[deployment];
  for (const CatalogEntry& entry : catalog_list(catalog_folder()))
    if (entry.kind == "engine" && entry.name != own.engine_name)
      add("engine", entry.name).engine = load_engine(entry.name, catalog_folder());
  for (const PolicyChange& change : policy_changes(own.engine))
    add("engine." + change.key, change.value).engine = change.policy;
  const std::int64_t prefill = own.prefill.kv_pool_tokens;
  const std::int64_t decode = own.decode.kv_pool_tokens;
  if (own.decode.nodes > 0 && prefill != decode) {
    add("cluster.prefill.kv_pool_tokens", std::to_string(decode)).prefill.kv_pool_tokens = decode;
    add("cluster.decode.kv_pool_tokens", std::to_string(prefill)).decode.kv_pool_tokens = prefill;
  }
  return changes;
}

std::vector<Trial> try_all(std::vector<Change> changes, const Wanted& wanted, unsigned jobs) {
  std::vector<Trial> trials(changes.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < changes.size() && !interrupted(); i = next++)
      trials[i] = {changes[i].name, follow(changes[i].config, wanted).observed};
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return trials;
}

Case case_of(const std::vector<Finding>& findings, RequestSerial victim) {
  for (Case& c : cases_of(findings))
    if (c.victim == victim) return std::move(c);
  Case none;
  none.victim = victim;
  return none;
}

// "event 1234" by digits alone, else a duration or a time of the calendar.
void move_to(Simulator<Cluster>& simulator, const std::string& text, const Scenario& scenario) {
  if (!text.empty() && text.find_first_not_of("0123456789_") == std::string::npos) {
    const auto event = loader::parse_unsigned(text);
    if (!event.value) throw UsageError(fmt::format("option '--at': {}", event.error));
    simulator.run(*event.value);
    return;
  }
  loader::Parsed<TimeNs> time;
  if (loader::looks_like_calendar(text)) {
    if (!scenario.start_unix_ns)
      throw UsageError("option '--at': a calendar time needs 'start:' in the scenario");
    time = loader::parse_calendar(text);
    if (time.value) *time.value -= *scenario.start_unix_ns;
  } else {
    time = loader::parse_duration(text);
  }
  if (!time.value)
    throw UsageError(fmt::format(
        "option '--at': expected an event number, a time such as 271.5s or one of the calendar: {}",
        time.error));
  simulator.run_to(*time.value);
}

std::string state_text(const World& world, const Options& options) {
  std::string out;
  if (const auto node = options.value("node")) {
    const auto text = node_text(world, *node);
    if (!text)
      throw UsageError(fmt::format("option '--node': no node '{}'{}", *node,
                                   loader::hint(*node, node_names(world))));
    out += *text;
  }
  if (options.has("request")) {
    const auto serial = static_cast<RequestSerial>(options.number("request", 0, 0, kNoSerial - 1));
    out +=
        request_text(world, serial).value_or(fmt::format("request {} is not in flight\n", serial));
  }
  if (const auto page = options.value("page")) {
    // NODE:GROUP:PAGE
    const std::size_t second = page->rfind(':');
    const std::size_t first = second == std::string::npos || second == 0
                                  ? std::string::npos
                                  : page->rfind(':', second - 1);
    std::optional<std::string> text;
    if (first != std::string::npos) {
      const auto index = loader::parse_unsigned(page->substr(second + 1));
      if (index.value && *index.value < kNoPage)
        text = page_text(world, page->substr(0, first), page->substr(first + 1, second - first - 1),
                         static_cast<PageIndex>(*index.value));
    }
    if (!text)
      throw UsageError(fmt::format(
          "option '--page': expected NODE:GROUP:PAGE such as decode[0]:mla:64, found '{}'", *page));
    out += *text;
  }
  return out.empty() ? overview_text(world) : out;
}

int show_state(const Scenario& scenario, const Options& options) {
  Simulator<Cluster> simulator(Cluster(std::make_shared<const RunConfig>(scenario.run)),
                               scenario.run.limits);
  move_to(simulator, *options.value("at"), scenario);
  print(fmt::format("after event {}, at {}\n", simulator.event_number(),
                    moment_text(simulator.now(), scenario.start_unix_ns)) +
        state_text(simulator.world().world(), options));
  return kClean;
}

int explain_case(const Scenario& scenario, const Options& options, std::uint32_t finding) {
  Wanted wanted;
  wanted.finding = finding;
  if (options.has("request"))
    wanted.request = static_cast<RequestSerial>(options.number("request", 0, 0, kNoSerial - 1));
  const Followed base = follow(scenario.run, wanted);
  if (interrupted()) return kInterrupted;
  if (!base.found || base.observed.findings.empty())
    throw UsageError(
        base.observed.findings.empty()
            ? std::string("the run has no finding: there is nothing to explain")
            : fmt::format("no finding {}: the run has {}", finding, base.observed.findings.size()));
  Explanation explanation;
  explanation.scenario = &scenario;
  explanation.story = case_of(base.observed.findings, base.victim);
  if (explanation.story.findings.empty())
    throw UsageError(fmt::format("no finding is about request {}", base.victim));
  explanation.base = base.observed;
  explanation.tenants = base.tenants;
  const std::uint32_t deployment = explanation.story.findings.front()->deployment;
  explanation.engine = &scenario.run.deployments[deployment].engine;
  if (options.one_of("tries", {"all", "none"}) == "all") {
    // A finding about no request, or one that only the end shows, is known when the run has ended.
    wanted.request = base.victim;
    wanted.at_least_ns = base.left_ns;
    wanted.to_the_end = base.at_the_end || base.victim == kNoSerial;
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const auto jobs = static_cast<unsigned>(options.number("jobs", cores, 1, 1'024));
    explanation.trials = try_all(changes_of(scenario, deployment), wanted, jobs);
    if (interrupted()) return kInterrupted;
  }
  if (const auto path = options.value("dot")) OutputFile(*path).write(explanation_dot(explanation));
  print(explanation_text(explanation,
                         style_for(options.one_of("color", {"auto", "always", "never"}))));
  return kClean;
}

int explain_command(const Words& words) {
  const Options options(words, {{"set", true, true},
                                {"seed", true},
                                {"request", true},
                                {"tries", true},
                                {"jobs", true},
                                {"dot", true},
                                {"at", true},
                                {"node", true},
                                {"page", true},
                                {"color", true}});
  const Words& plain = options.plain(1, 2, "a scenario file or a folder of 'run --out'");
  std::vector<std::string> sets = options.values("set");
  const std::int64_t seed = options.number("seed", 0, 0, std::numeric_limits<std::int64_t>::max());
  if (options.has("seed")) sets.push_back(fmt::format("seed={}", seed));
  const Scenario scenario = load_scenario(scenario_of(plain[0]), sets, catalog_folder());
  try {
    if (options.has("at")) return show_state(scenario, options);
    for (const char* option : {"node", "page"})
      if (options.has(option))
        throw UsageError(fmt::format("option '--{}' goes with '--at'", option));
    std::uint32_t finding = 1;
    if (plain.size() == 2) {
      const auto id = loader::parse_unsigned(plain[1]);
      if (!id.value || *id.value == 0 || *id.value > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(fmt::format("expected the id of a finding, found '{}'", plain[1]));
      finding = static_cast<std::uint32_t>(*id.value);
    }
    return explain_case(scenario, options, finding);
  } catch (const ConfigError& error) {
    throw scenario_error(scenario, error);
  }
}

}  // namespace

const Command kExplain{
    "explain", "tells how a finding came to be and what would have stopped it",
    "explain SCENARIO [FINDING] [OPTION...]",
    R"(Follows the victim of a finding (the first one, or that with the given id; see findings.json): each
step with its causes, the decisions on the way, and what one change would have done. Every engine of
the catalog, every single decision and pools of equal size are tried, each in a run of its own that
is left when the request's fate is known. SCENARIO may be a folder of 'run --out'.

  --request N          the case of this request
  --tries all|none     whether changes are tried
  --jobs N             runs at a time (default: all cores)
  --dot FILE           the steps and their order as a graph, for Graphviz (dot -Tsvg FILE)
  --set PATH=VALUE     changes a value of the scenario first (repeatable)
  --seed N             the same as --set seed=N
  --color auto|always|never

Time travel: the state after an event or at a time, instead.

  --at EVENT|TIME      e.g. 34000, 271.5s, 2026-09-08T12:04:31Z
  --node NODE          one node with the owners of its pages, e.g. decode[0]
  --request N          one request: both legs, its pages, its steps so far
  --page NODE:GROUP:PAGE   what a page holds, e.g. decode[0]:mla:64

Exit codes: 0, or 2 for bad input (also when there is no such finding).
)",
    explain_command};

}  // namespace handoff::app

// handoff run: one scenario, told in full.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "reports/files.hpp"
#include "reports/json.hpp"
#include "reports/page_log.hpp"
#include "reports/rows.hpp"
#include "reports/summary.hpp"
#include "sim/app/execute.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"
#include "sim/app/progress.hpp"
#include "sim/engine/check.hpp"

namespace handoff::app {
namespace {

// requests.csv is written while the run goes on, the others when it has ended.
class RunFolder {
 public:
  RunFolder(const std::string& path, const Scenario& scenario)
      : folder_(path, "report.json"), requests_(folder_.open("requests.csv")) {
    for (const DeploymentConfig& d : scenario.run.deployments) deployments_.push_back(d.name);
    requests_.write(request_head());
  }

  void add(const RequestOutcome& outcome, const TenantNames& tenants) {
    requests_.write(order_.push(outcome.serial, request_row(outcome, deployments_, tenants)));
  }

  void finish(const RunReport& report, const Verdict& verdict, const std::string& path) {
    requests_.write(order_.rest());
    std::string tainted = tainted_head();
    for (const RequestOutcome& o : report.wrong)
      tainted +=
          tainted_row(o, deployments_, report.result.tenants, report.scenario->start_unix_ns);
    folder_.write("tainted_responses.csv", tainted);
    folder_.write("report.json", report_json(report, verdict));
    folder_.write("findings.json", findings_json(report));
    folder_.write("scenario.resolved.yaml", resolved_for(*report.scenario, path));
    folder_.commit();
  }

 private:
  OutputFolder folder_;
  OutputFolder::Stream& requests_;
  std::vector<std::string> deployments_;
  SerialOrder order_;
};

class PageLogFile {
 public:
  explicit PageLogFile(const std::string& path) : file_(path) { file_.append(page_log_head()); }
  void add(const PageEvent& event) { file_.append(page_log_line(event)); }
  void finish() { file_.commit(); }

 private:
  OutputStream file_;
};

void print_cost(std::chrono::steady_clock::time_point start, std::uint64_t events) {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(stderr, "{:.2f} s of wall time, {:.0f} MB at most, {:.2f} million events a second\n",
             wall.count(), static_cast<double>(usage.ru_maxrss) / 1000,
             static_cast<double>(events) / 1e6 / std::max(wall.count(), 1e-9));
}

int run_command(const Words& words) {
  const Options options(words, {{"set", true, true},
                                {"seed", true},
                                {"format", true},
                                {"out", true},
                                {"page-log", true},
                                {"findings", true},
                                {"color", true},
                                {"quiet", false},
                                {"exit-zero", false}});
  const std::string path = options.plain(1, 1, "a scenario file").front();
  const std::string format = options.one_of("format", {"text", "json"});
  const Style style = style_for(options.one_of("color", {"auto", "always", "never"}));
  const auto cases = static_cast<std::size_t>(options.number("findings", 1, 0, 1'000'000));
  std::vector<std::string> sets = options.values("set");
  const std::int64_t seed = options.number("seed", 0, 0, std::numeric_limits<std::int64_t>::max());
  if (options.has("seed")) sets.push_back(fmt::format("seed={}", seed));

  const auto start = std::chrono::steady_clock::now();
  const Scenario scenario = load_scenario(path, sets, catalog_folder());
  std::optional<RunFolder> folder;
  if (const auto out = options.value("out")) folder.emplace(*out, scenario);
  Progress progress(scenario.run, options.has("quiet"));
  RunObserver observer;
  observer.on_progress = [&](TimeNs now, std::uint64_t events, std::uint64_t completed,
                             std::uint64_t findings) {
    progress.show(now, events, completed, findings);
    return true;
  };
  if (folder)
    observer.on_outcome = [&](const RequestOutcome& o, const TenantNames& tenants) {
      folder->add(o, tenants);
    };
  // Written as it comes, beside its place, and moved there when the run has ended.
  std::optional<PageLogFile> log;
  if (const auto path_of_log = options.value("page-log")) {
    log.emplace(*path_of_log);
    observer.on_page_event = [&](const PageEvent& event) { log->add(event); };
  }
  Executed executed;
  try {
    executed = execute(scenario, observer);
  } catch (const InternalError&) {
    progress.clear();
    std::string line = "handoff run " + shell_quoted(path);
    for (const std::string& set : sets) line += " --set " + shell_quoted(set);
    fmt::print(stderr, "handoff: to replay it: {}\n", line);
    throw;
  }
  progress.clear();
  if (executed.interrupted) {
    fmt::print(stderr, "handoff: interrupted, nothing written\n");
    return kInterrupted;
  }
  if (log) log->finish();
  if (folder) folder->finish(executed.report, executed.verdict, *options.value("out"));
  print(format == "json" ? whole_json(executed.report, executed.verdict)
                         : summary_text(executed.report, executed.verdict, {style, cases}));
  if (!options.has("quiet")) print_cost(start, executed.report.result.events);
  return executed.verdict.passed() || options.has("exit-zero") ? kClean : kFindings;
}

}  // namespace

const Command kRun{
    "run", "runs a scenario and tells what happened", "run SCENARIO [OPTION...]",
    R"(Runs a scenario, prints what happened and judges it by what the scenario expects.

  --set PATH=VALUE     changes a value, e.g. engine=sglang-v2, workload[0].trace=real.jsonl.gz
                       (repeatable; VALUE is YAML)
  --seed N             the same as --set seed=N
  --format text|json   what goes to standard output
  --out DIR            writes report.json, findings.json, requests.csv, tainted_responses.csv and
                       scenario.resolved.yaml, all or none; replaces only an earlier run's folder
  --page-log FILE      writes what happens to every page, for 'handoff audit' (JSON lines; long)
  --findings N         cases of each kind told in full (default 1)
  --color auto|always|never
  --quiet              no progress, and nothing of time and memory spent
  --exit-zero          exit code 0 also when the run is not as expected

Exit codes: 0 as expected, 1 a finding that nobody expected or an expectation missed, 2 bad input,
3 a broken invariant of Handoff itself, 130 interrupted.
)",
    run_command};

}  // namespace handoff::app

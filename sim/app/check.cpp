// handoff check: a suite of scenarios and their fixes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "reports/files.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"
#include "sim/app/suite.hpp"

namespace handoff::app {
namespace {

constexpr unsigned kJobsMax = 1024;

const char* word_of(SuiteOutcome outcome) {
  switch (outcome) {
    case SuiteOutcome::passed:
      return "ok    ";
    case SuiteOutcome::failed:
      return "FAILED";
    case SuiteOutcome::bad_input:
      return "ERROR ";
    case SuiteOutcome::broken:
      return "BROKEN";
    case SuiteOutcome::interrupted:
      return "      ";
  }
  return "";
}

int exit_code_of(SuiteOutcome outcome) {
  switch (outcome) {
    case SuiteOutcome::passed:
      return kClean;
    case SuiteOutcome::failed:
      return kFindings;
    case SuiteOutcome::bad_input:
      return kBadInput;
    case SuiteOutcome::broken:
      return kBroken;
    case SuiteOutcome::interrupted:
      return kInterrupted;
  }
  return kBroken;
}

std::string report(const SuiteResult& r, const Style& style) {
  const std::string word = word_of(r.outcome);
  std::string text = fmt::format(
      "{}  {}", r.outcome == SuiteOutcome::passed ? style.good(word) : style.bad(word), title(r));
  if (r.errors.empty())
    text += fmt::format(": {}, {}", plural(static_cast<std::int64_t>(r.requests), "request"),
                        plural(static_cast<std::int64_t>(r.findings_total), "finding"));
  if (r.seeds > 1) text += fmt::format(" over {} seeds", r.seeds);
  text += "\n";
  for (const SuiteCase& c : r.cases) {
    if (c.met) continue;
    const std::string place =
        c.mark.line > 0 ? fmt::format("{}:{}:{}: ", r.path, c.mark.line, c.mark.column) : "";
    text += "        " + place + c.missed + "\n";
  }
  for (const std::string& line : r.errors) text += "        " + line + "\n";
  return text;
}

// "2/5" of --shard.
std::pair<std::size_t, std::size_t> shard(const Options& options) {
  const std::string text = options.value("shard").value_or("1/1");
  const std::size_t slash = text.find('/');
  std::size_t part = 0;
  std::size_t parts = 0;
  const auto read = [](std::string_view digits, std::size_t& out) {
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  };
  const std::string_view view = text;
  const bool good = slash != std::string::npos && read(view.substr(0, slash), part) &&
                    read(view.substr(slash + 1), parts) && part >= 1 && part <= parts;
  if (!good)
    throw UsageError(
        fmt::format("option '--shard': expected K/N with 1 <= K <= N, found '{}'", text));
  return {part, parts};
}

int check_command(const Words& words) {
  const Options options(words, {{"set", true, true},
                                {"jobs", true},
                                {"shard", true},
                                {"junit", true},
                                {"sarif", true},
                                {"markdown", true},
                                {"color", true},
                                {"quiet", false}});
  const Style style = style_for(options.one_of("color", {"auto", "always", "never"}));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto jobs = static_cast<unsigned>(options.number("jobs", cores, 1, kJobsMax));
  const auto [part, parts] = shard(options);
  const std::vector<std::string> files = shard_of(
      scenario_files(options.plain(1, 1'000'000, "a scenario file or folder")), part, parts);
  // Found out before the work, not after it.
  std::vector<std::pair<OutputFile, std::string (*)(const std::vector<SuiteResult>&)>> reports;
  for (const auto& [option, make] :
       {std::pair{"junit", &junit_xml}, std::pair{"sarif", &sarif_json},
        std::pair{"markdown", &suite_markdown}})
    if (const auto path = options.value(option)) reports.emplace_back(OutputFile(*path), make);

  std::vector<SuiteResult> results;
  std::uint64_t passed = 0;
  int status = kClean;
  run_suite(files, options.values("set"), jobs, [&](SuiteResult result) {
    if (result.outcome == SuiteOutcome::interrupted) return;
    const bool good = result.outcome == SuiteOutcome::passed;
    passed += good;
    status = std::max(status, exit_code_of(result.outcome));
    if (!good || !options.has("quiet")) print(report(result, style));
    results.push_back(std::move(result));
  });
  if (interrupted()) return kInterrupted;
  for (auto& [file, make] : reports) file.write(make(results));
  print(fmt::format("{} passed, {} failed\n", passed, results.size() - passed));
  return status;
}

}  // namespace

const Command kCheck{
    "check", "runs a suite of scenarios and judges each", "check PATH... [OPTION...]",
    R"(Runs every scenario of the files and folders given and judges it by its `expect:`. A scenario with
`fixed:` is run with each of its fixes as well, and nothing may be wrong then. One whose `expect:` has
`seeds: N` is run with N seeds, its own and those that follow.

  --jobs N           scenarios at a time (default: all cores); changes nothing in what is printed
  --set PATH=VALUE   changes a value of each first (repeatable)
  --shard K/N        every N-th file from the K-th: N machines together run all
  --junit FILE       JUnit XML, a case an expectation
  --sarif FILE       SARIF 2.1.0, unexpected findings at the line of the scenario that caused them
  --markdown FILE    a summary for a pull request
  --color auto|always|never
  --quiet            prints only what failed, and the count

Exit codes: the highest of 0 as expected, 1 not as expected, 2 bad input, 3 a broken invariant of
Handoff itself; 130 interrupted.
)",
    check_command};

}  // namespace handoff::app

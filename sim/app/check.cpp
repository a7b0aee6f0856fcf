// handoff check: a suite of scenarios and their fixes.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "sim/app/options.hpp"
#include "sim/app/output.hpp"
#include "sim/app/suite.hpp"

namespace handoff::app {
namespace {

constexpr unsigned kJobsMax = 1024;

std::string report(const SuiteResult& result, const Style& style) {
  const bool passed = result.outcome == Outcome::passed;
  const char* word = result.outcome == Outcome::passed      ? "ok    "
                     : result.outcome == Outcome::failed    ? "FAILED"
                     : result.outcome == Outcome::bad_input ? "ERROR "
                                                            : "BROKEN";
  std::string text =
      fmt::format("{}  {}", passed ? style.good(word) : style.bad(word), result.path);
  if (!result.arm.empty()) text += fmt::format(" [{}]", result.arm);
  if (!result.counts.empty()) text += fmt::format(": {}", result.counts);
  text += "\n";
  for (const std::string& line : result.details) text += "        " + line + "\n";
  return text;
}

int check_command(const Words& words) {
  const Options options(words,
                        {{"set", true, true}, {"jobs", true}, {"color", true}, {"quiet", false}});
  const Style style = style_for(options.one_of("color", {"auto", "always", "never"}));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto jobs = static_cast<unsigned>(options.number("jobs", cores, 1, kJobsMax));
  const std::vector<std::string> files =
      scenario_files(options.plain(1, 1'000'000, "a scenario file or folder"));

  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  int status = kClean;
  run_suite(files, options.values("set"), jobs, [&](const SuiteResult& result) {
    if (result.outcome == Outcome::interrupted) return;
    ++(result.outcome == Outcome::passed ? passed : failed);
    const int code = result.outcome == Outcome::passed      ? kClean
                     : result.outcome == Outcome::failed    ? kFindings
                     : result.outcome == Outcome::bad_input ? kBadInput
                                                            : kBroken;
    status = std::max(status, code);
    if (result.outcome != Outcome::passed || !options.has("quiet")) print(report(result, style));
  });
  if (interrupted()) return kInterrupted;
  print(fmt::format("{} passed, {} failed\n", passed, failed));
  return status;
}

}  // namespace

const Command kCheck{
    "check", "runs a suite of scenarios and judges each", "check PATH... [OPTION...]",
    R"(Runs every scenario of the files and folders given and judges it by its `expect:`. A scenario with
`fixed:` is run with each of its fixes as well, and nothing may be wrong then.

  --jobs N           scenarios at a time (default: all cores); changes nothing in what is printed
  --set PATH=VALUE   changes a value of each first (repeatable)
  --color auto|always|never
  --quiet            prints only what failed, and the count

Exit codes: the highest of 0 as expected, 1 not as expected, 2 bad input, 3 a broken invariant of
Handoff itself; 130 interrupted.
)",
    check_command};

}  // namespace handoff::app

#include "reports/verdict.hpp"

#include <fmt/format.h>

#include "reports/text.hpp"

namespace handoff {

Verdict judge(const RunReport& report) {
  Verdict verdict;
  const Expectations& expected = report.scenario->expect;
  for (const Expectation& e : expected.all) {
    Check check{e, metric_value(report, e.metric), false, true};
    const bool within = check.found && *check.found >= e.low && *check.found <= e.high;
    check.met = e.mode == Expectation::Mode::never ? check.found && !within : within;
    check.judged = e.mode != Expectation::Mode::sometimes || expected.seeds == 1;
    verdict.missed += check.judged && !check.met;
    if (!e.implied || !check.met) verdict.checks.push_back(std::move(check));
  }
  if (!expected.findings_given)
    for (const std::uint64_t count : report.result.findings_by_rule)
      verdict.unexpected_findings += count;
  return verdict;
}

std::string text(const Check& check) {
  return fmt::format("{}: expected {}, found {}", check.expected.metric, bound_text(check.expected),
                     check.found ? std::to_string(*check.found) : "nothing to measure");
}

}  // namespace handoff

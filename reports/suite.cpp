#include "reports/suite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.hpp"

namespace handoff {
namespace {

bool same(const Expectation& a, const Expectation& b) {
  return a.metric == b.metric && a.mode == b.mode;
}

// The expectation that limits findings of a rule; nullptr: none does.
const Expectation* limit_of(const Scenario& scenario, Rule rule) {
  const std::string metric = std::string("findings.") + code(rule);
  for (const Expectation& e : scenario.expect.all)
    if (e.metric == metric && e.mode == Expectation::Mode::always) return &e;
  return nullptr;
}

}  // namespace

SuiteJudge::SuiteJudge(const Scenario& scenario, std::string path, std::string arm)
    : scenario_(scenario) {
  result_.path = std::move(path);
  result_.arm = std::move(arm);
  result_.name = scenario.name;
  result_.seeds = 0;
  for (const Expectation& e : scenario.expect.all) tallies_.push_back({e, false, {}});
}

void SuiteJudge::add(const RunReport& report, const Verdict& verdict, std::uint64_t seed) {
  ++result_.seeds;
  result_.requests += report.result.requests;
  result_.tainted += report.all.tainted;
  for (const std::uint64_t count : report.result.findings_by_rule) result_.findings_total += count;
  for (Tally& tally : tallies_) {
    const auto check =
        std::find_if(verdict.checks.begin(), verdict.checks.end(),
                     [&](const Check& c) { return same(c.expected, tally.expected); });
    // An implied one is listed only where it is missed.
    const bool met = check == verdict.checks.end() || check->met;
    tally.met_once = tally.met_once || met;
    if (!met && tally.missed.empty())
      tally.missed =
          text(*check) + (scenario_.expect.seeds > 1 ? fmt::format(" (seed {})", seed) : "");
  }
  if (verdict.unexpected_findings > 0 && unexpected_.empty())
    unexpected_ =
        fmt::format("{}, and the scenario expects none",
                    plural(static_cast<std::int64_t>(verdict.unexpected_findings), "finding"));
  note_findings(report, seed);
}

void SuiteJudge::note_findings(const RunReport& report, std::uint64_t seed) {
  for (const Finding& f : report.result.findings) {
    const Expectation* limit = limit_of(scenario_, f.rule);
    const auto count =
        static_cast<std::int64_t>(report.result.findings_by_rule[static_cast<std::size_t>(f.rule)]);
    const bool expected = limit != nullptr ? count <= limit->high : scenario_.expect.findings_given;
    if (expected) continue;
    ++result_.findings_unexpected;
    if (result_.findings.size() >= kSuiteFindingsMax) continue;
    SourceMark mark{1, 1};
    if (limit != nullptr && limit->mark.line > 0) mark = limit->mark;
    if (f.fault >= 0) {
      const SourceMark fault = scenario_.run.faults.at(static_cast<std::size_t>(f.fault)).mark;
      if (fault.line > 0) mark = fault;
    }
    result_.findings.push_back({f.rule, f.message, f.node, seed, mark});
  }
}

SuiteResult SuiteJudge::take() {
  bool implied = false;
  for (const Tally& tally : tallies_) {
    const bool sometimes = tally.expected.mode == Expectation::Mode::sometimes;
    const bool met = sometimes ? tally.met_once : tally.missed.empty();
    // All that is implied is one case, as long as it holds.
    if (tally.expected.implied && met) {
      implied = true;
      continue;
    }
    result_.cases.push_back({tally.expected.metric, bound_text(tally.expected), met,
                             met ? std::string() : tally.missed, tally.expected.mark});
  }
  if (implied) result_.cases.push_back({"whatever is not listed", "0", true, {}, {}});
  if (!scenario_.expect.findings_given)
    result_.cases.push_back({"findings", "none", unexpected_.empty(), unexpected_, {}});
  const bool passed = std::all_of(result_.cases.begin(), result_.cases.end(),
                                  [](const SuiteCase& c) { return c.met; });
  result_.outcome = passed ? SuiteOutcome::passed : SuiteOutcome::failed;
  return std::move(result_);
}

std::string title(const SuiteResult& result) {
  return result.arm.empty() ? result.path : fmt::format("{} [{}]", result.path, result.arm);
}

std::string suite_markdown(const std::vector<SuiteResult>& results) {
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  const auto at_line = [](SourceMark mark) {
    return mark.line > 0 ? fmt::format("line {}: ", mark.line) : std::string();
  };
  std::size_t failed = 0;
  for (const SuiteResult& r : results) failed += r.outcome != SuiteOutcome::passed;
  std::string out =
      fmt::format("## Handoff: {} passed, {} failed\n", results.size() - failed, failed);
  for (const SuiteResult& r : results) {
    if (r.outcome == SuiteOutcome::passed) continue;
    out += fmt::format("\n### {}\n\n", title(r));
    for (const SuiteCase& c : r.cases)
      if (!c.met) out += fmt::format("- {}{}\n", at_line(c.mark), escaped(c.missed));
    for (const SuiteFinding& f : r.findings)
      out += fmt::format("- {}{} {}\n", at_line(f.mark), code(f.rule), escaped(f.message));
    if (!r.errors.empty()) {
      out += "```text\n";
      for (const std::string& line : r.errors) out += line + "\n";
      out += "```\n";
    }
  }
  out += "\n| scenario | result | requests | findings | tainted |\n|---|---|---:|---:|---:|\n";
  for (const SuiteResult& r : results)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", escaped(title(r)),
                       r.outcome == SuiteOutcome::passed ? "ok" : "**failed**", r.requests,
                       r.findings_total, r.tainted);
  return out;
}

}  // namespace handoff

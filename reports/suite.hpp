// The results of a suite of scenarios, and the forms in which CI systems and reviewers read them.
// All are functions of the results alone: no wall time, no host name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/oracle/finding.hpp"
#include "reports/verdict.hpp"

namespace handoff {

enum class SuiteOutcome : std::uint8_t { passed, failed, bad_input, broken, interrupted };

// One expectation over all seeds of a scenario, or "no unexpected findings".
struct SuiteCase {
  std::string name;   // "tainted_responses", "findings"
  std::string bound;  // ">= 1"
  bool met = true;
  std::string missed;  // one line, when not met: what was found and under which seed
  SourceMark mark;     // of the expectation
};

// A finding that the scenario does not expect.
struct SuiteFinding {
  Rule rule = Rule::provenance;
  std::string message;
  std::string node;
  std::uint64_t seed = 0;
  // Of what caused it: the fault that touched the victim, else the expectation that it breaks, else
  // the scenario's first line.
  SourceMark mark;
};
inline constexpr std::size_t kSuiteFindingsMax = 100;  // kept for each scenario

struct SuiteResult {
  std::string path;
  std::string arm;  // of its fixes; empty: the scenario itself
  std::string name;
  SuiteOutcome outcome = SuiteOutcome::passed;
  std::vector<SuiteCase> cases;
  std::vector<SuiteFinding> findings;
  std::uint64_t findings_unexpected = 0;  // beyond the kept ones too
  std::vector<std::string> errors;        // bad input and broken invariants, a line each
  SourceMark error_mark;                  // of the first one, when known
  std::uint64_t seeds = 1;
  std::uint64_t requests = 0;  // over all seeds
  std::uint64_t findings_total = 0;
  std::uint64_t tainted = 0;
};

// The runs of one scenario, one a seed, made into one result.
class SuiteJudge {
 public:
  SuiteJudge(const Scenario& scenario, std::string path, std::string arm);
  void add(const RunReport& report, const Verdict& verdict, std::uint64_t seed);
  SuiteResult take();

 private:
  struct Tally {
    Expectation expected;
    bool met_once = false;
    std::string missed;  // of the first seed that did
  };
  void note_findings(const RunReport& report, std::uint64_t seed);

  const Scenario& scenario_;
  SuiteResult result_;
  std::vector<Tally> tallies_;
  std::string unexpected_;  // first seed with findings that nobody expected
};

// "path" or "path [fixed: name]".
std::string title(const SuiteResult& result);

// JUnit XML as Jenkins, GitLab and GitHub's actions read it: a testsuite a scenario (and arm), a
// testcase an expectation. A missed one is a failure, bad input an error.
std::string junit_xml(const std::vector<SuiteResult>& results);
// SARIF 2.1.0: a result for each unexpected finding and missed expectation, at its line of the
// scenario. Paths stay as they were given, so give them relative to the repository's root.
std::string sarif_json(const std::vector<SuiteResult>& results);
// A table for a pull request: what failed and why first, then all.
std::string suite_markdown(const std::vector<SuiteResult>& results);

}  // namespace handoff

// Judges a run by what its scenario expects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/metrics.hpp"

namespace handoff {

struct Check {
  Expectation expected;
  std::optional<std::int64_t> found;  // nothing: the run gave no value, which never meets it
  bool met = false;
  // false: "sometimes" over several seeds, of which this run is one. Only `check` can tell.
  bool judged = true;
};

struct Verdict {
  // Implied ones only where they are not met.
  std::vector<Check> checks;
  std::uint64_t missed = 0;
  // The scenario says nothing of findings, and there are some.
  std::uint64_t unexpected_findings = 0;
  [[nodiscard]] bool passed() const { return missed == 0 && unexpected_findings == 0; }
};

Verdict judge(const RunReport& report);

// "tainted_responses: expected 5, found 4".
std::string text(const Check& check);

}  // namespace handoff

// The summary of a run for a person at a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "reports/text.hpp"
#include "reports/verdict.hpp"

namespace handoff {

struct SummaryOptions {
  Style style;
  // Cases told in full for each kind (set of rules that found it).
  std::size_t cases = 1;
};

std::string summary_text(const RunReport& report, const Verdict& verdict,
                         const SummaryOptions& options);

}  // namespace handoff

// The rules of the house that no compiler checks. Each takes the whole tree and gives every
// violation. They look at text, not at types: simple enough to trust, and a rule that is wrong
// about a line is a reason to write that line more plainly.
#pragma once

#include <vector>

#include "tests/tidy/source.hpp"

namespace handoff::tidy {

using Violations = std::vector<Violation>;

// Clocks, environment, threads, library randomness and libm results in sim/engine and models.
Violations banned_names(const std::vector<Source>& tree);
// Iteration over std::unordered_* containers in sim/engine and models, as far as names show it.
Violations unordered_iteration(const std::vector<Source>& tree);
// Two random draws in one expression: their order is the compiler's choice.
Violations unordered_draws(const std::vector<Source>& tree);
// Lengths of files and lines, tabs, trailing blanks, the last newline.
Violations shape(const std::vector<Source>& tree);
// What a header and a source file begin with.
Violations openings(const std::vector<Source>& tree);
// Notes to oneself.
Violations leftover_words(const std::vector<Source>& tree);
// A scenario without `expect:` checks nothing.
Violations scenarios_without_expectation(const std::vector<Source>& tree);
// Which folder may include which (sim/README.md), and where third-party headers may stand.
Violations include_direction(const std::vector<Source>& tree);
Violations third_party_includes(const std::vector<Source>& tree);

}  // namespace handoff::tidy

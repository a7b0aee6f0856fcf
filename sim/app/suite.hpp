// Runs many scenarios, each with its fixed arms, on several threads. The results and their order do
// not depend on how many.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/app/command.hpp"

namespace handoff::app {

enum class Outcome { passed, failed, bad_input, broken, interrupted };

struct SuiteResult {
  std::string path;
  std::string arm;  // empty: the scenario itself
  Outcome outcome = Outcome::passed;
  std::vector<std::string> details;  // what was missed, or the error; one line each
  std::string counts;                // "897 requests, 15 findings"
};

// Files as they are; folders for all *.yaml below them. Sorted, each once. Throws UsageError for
// what is neither, and for a folder without any.
std::vector<std::string> scenario_files(const Words& paths);

// `on_result` is called for each in order, from one thread.
void run_suite(const std::vector<std::string>& files, const std::vector<std::string>& sets,
               unsigned jobs, const std::function<void(const SuiteResult&)>& on_result);

}  // namespace handoff::app

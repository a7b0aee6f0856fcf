// Runs many scenarios, each with its fixed arms and seeds, on several threads. The results and
// their order do not depend on how many.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/suite.hpp"
#include "sim/app/command.hpp"

namespace handoff::app {

// Files as they are; folders for all *.yaml below them; a '*' in the last part of a path stands for
// any characters. Sorted, each once. Throws UsageError for what is neither, and for a folder or
// pattern without any.
std::vector<std::string> scenario_files(const Words& paths);

// Part `part` (from 1) of `parts`: every parts-th file, so that neighbours, which cost alike, are
// spread.
std::vector<std::string> shard_of(const std::vector<std::string>& files, std::size_t part,
                                  std::size_t parts);

// `on_result` is called for each in order, from one thread. Ends early when interrupted.
void run_suite(const std::vector<std::string>& files, const std::vector<std::string>& sets,
               unsigned jobs, const std::function<void(SuiteResult)>& on_result);

}  // namespace handoff::app

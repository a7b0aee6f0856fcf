// handoff validate: scenario files without running them.
#include <fmt/format.h>

#include "sim/app/execute.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

// Also builds the run, which is what finds a link that does not exist or an absent trace.
void build(const Scenario& scenario) {
  try {
    const Cluster cluster(std::make_shared<const RunConfig>(scenario.run));
  } catch (const ConfigError& error) {
    throw scenario_error(scenario, error);
  }
}

int validate_command(const Words& words) {
  const Options options(words, {{"set", true, true}, {"resolved", false}});
  const Words& paths = options.plain(1, 1'000'000, "a scenario file");
  int status = kClean;
  for (const std::string& path : paths) {
    try {
      const Scenario scenario = load_scenario(path, options.values("set"), catalog_folder());
      build(scenario);
      for (std::size_t arm = 0; arm < scenario.fixed.size(); ++arm)
        build(load_fixed_arm(path, options.values("set"), arm, catalog_folder()));
      print(options.has("resolved") ? scenario.resolved : fmt::format("{}: valid\n", path));
    } catch (const ScenarioError& error) {
      fmt::print(stderr, "{}", error.what());
      status = kBadInput;
    } catch (const TraceError& error) {
      fmt::print(stderr, "{}\n", error.what());
      status = kBadInput;
    }
  }
  return status;
}

}  // namespace

const Command kValidate{
    "validate", "checks scenario files without running them", "validate SCENARIO... [OPTION...]",
    R"(Reads scenario files, and opens the traces they name, without running them.

  --set PATH=VALUE   changes a value first (repeatable)
  --resolved         prints the whole scenario as the program sees it: defaults and catalog
                     entries filled in

Exit codes: 0 all valid, 2 not.
)",
    validate_command};

}  // namespace handoff::app

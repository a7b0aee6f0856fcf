#include "sim/app/written.hpp"

#include "sim/app/execute.hpp"

namespace handoff::app {
namespace {

Scenario scenario_with(const RunConfig& run, const std::string& name) {
  Scenario scenario;
  scenario.name = name;
  scenario.run = run;
  return scenario;
}

}  // namespace

bool loads(const RunConfig& run) {
  try {
    const std::string text = lean_text(scenario_with(run, "x"), catalog_folder());
    (void)parse_scenario(text, "x", catalog_folder());
    return true;
  } catch (const ScenarioError&) {
    return false;
  }
}

std::string scenario_text(const RunConfig& run, const std::string& name,
                          const std::string& description) {
  Scenario scenario = scenario_with(run, name);
  scenario.description = description;
  // The numbers of the file, which may differ in what the loader rounds.
  const Scenario loaded =
      parse_scenario(lean_text(scenario, catalog_folder()), name, catalog_folder());
  const Executed executed = execute(loaded, {});
  const RunReport& report = executed.report;
  const auto expect = [&](const std::string& metric, std::int64_t value) {
    scenario.expect.all.push_back({metric, value, value, false, {}, Expectation::Mode::always});
  };
  scenario.expect.findings_given = true;
  for (const char* metric : {"tainted_responses", "corrupt_responses", "unfinished"})
    if (const auto value = metric_value(report, metric); value && *value > 0)
      expect(metric, *value);
  for (int i = 0; i < kRules; ++i)
    if (const auto count = report.result.findings_by_rule[static_cast<std::size_t>(i)]; count > 0)
      expect(std::string("findings.") + code(static_cast<Rule>(i)),
             static_cast<std::int64_t>(count));
  return lean_text(scenario, catalog_folder());
}

}  // namespace handoff::app

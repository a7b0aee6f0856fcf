#include "sim/app/execute.hpp"

#include <cstdlib>

#include "models/serving/run.hpp"
#include "sim/app/command.hpp"

namespace handoff::app {

std::string catalog_folder() {
  const char* named = std::getenv("HANDOFF_CATALOG");
  return named != nullptr && *named != '\0' ? named : HANDOFF_CATALOG_DIR;
}

ScenarioError scenario_error(const Scenario& scenario, const ConfigError& error) {
  const SourceMark mark = error.mark();
  return ScenarioError(
      {{scenario.path, mark.line, mark.column, Severity::error, error.what(), {}}});
}

Executed execute(const Scenario& scenario, RunObserver observer) {
  OutcomeCollector collector(scenario.run.deployments.size());
  Executed executed;
  RunObserver collecting;
  collecting.on_outcome = [&](const RequestOutcome& o, const TenantNames& tenants) {
    collector.add(o);
    if (observer.on_outcome) observer.on_outcome(o, tenants);
  };
  collecting.on_page_event = observer.on_page_event;
  collecting.on_progress = [&](TimeNs now, std::uint64_t events, std::uint64_t completed,
                               std::uint64_t findings) {
    const bool goes_on =
        !observer.on_progress || observer.on_progress(now, events, completed, findings);
    executed.interrupted = interrupted() || !goes_on;
    return !executed.interrupted;
  };
  try {
    RunResult result = run(scenario.run, collecting);
    executed.report = collector.finish(scenario, std::move(result));
  } catch (const ConfigError& error) {
    throw scenario_error(scenario, error);
  }
  executed.verdict = judge(executed.report);
  return executed;
}

}  // namespace handoff::app

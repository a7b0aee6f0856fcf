// handoff schema: the JSON schema of scenario files.
#include <fmt/format.h>

#include "reports/page_log.hpp"
#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/scenario.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

int schema_command(const Words& words) {
  const Options options(words, {});
  const Words& plain = options.plain(0, 1, "'scenario' or 'page-log'");
  const std::string of = plain.empty() ? "scenario" : plain.front();
  if (of != "scenario" && of != "page-log")
    throw UsageError(fmt::format("expected 'scenario' or 'page-log', found '{}'{}", of,
                                 loader::hint(of, {"scenario", "page-log"})));
  print(of == "scenario" ? scenario_schema() : page_log_schema());
  return kClean;
}

}  // namespace

const Command kSchema{
    "schema", "prints the JSON schema of scenario files", "schema",
    R"(Prints the JSON schema (draft 07) of scenario files, made from the table that reads them. With
yaml-language-server an editor completes and checks keys:

  handoff schema > handoff.schema.json
  # yaml-language-server: $schema=handoff.schema.json      (first line of a scenario)
)",
    schema_command};

}  // namespace handoff::app

// handoff schema: the JSON schema of scenario files.
#include "scenarios/scenario.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

int schema_command(const Words& words) {
  const Options options(words, {});
  options.plain(0, 0, "");
  print(scenario_schema());
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

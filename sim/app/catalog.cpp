// handoff catalog: what scenarios can name.
#include <fmt/format.h>

#include "reports/text.hpp"
#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/scenario.hpp"
#include "sim/app/execute.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

int list(const Options& options) {
  options.plain(1, 1, "'list'");
  Table table("lll", {"kind", "name", "what"});
  for (const CatalogEntry& entry : catalog_list(catalog_folder()))
    table.add({entry.kind, entry.name, entry.description});
  print(table.text(style_for("auto"), 0));
  return kClean;
}

int catalog_command(const Words& words) {
  const Options options(words, {});
  const std::string what = options.plain(1, 2, "'list' or 'show NAME'").front();
  if (what == "list") return list(options);
  if (what != "show")
    throw UsageError(fmt::format("expected 'list' or 'show NAME', found '{}'{}", what,
                                 loader::hint(what, {"list", "show"})));
  print(catalog_show(options.plain(2, 2, "the name of an entry").back(), catalog_folder()));
  return kClean;
}

}  // namespace

const Command kCatalog{
    "catalog", "lists or shows models, hardware and engines", "catalog list | catalog show NAME",
    R"(Lists what scenarios can name, or shows all values of one entry with their sources.
The entries are the files of models/catalog, or of the folder that HANDOFF_CATALOG names.
)",
    catalog_command};

}  // namespace handoff::app

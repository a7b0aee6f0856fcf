// handoff version.
#include "reports/version.hpp"

#include <fmt/format.h>

#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

int version_command(const Words& words) {
  const Options options(words, {});
  options.plain(0, 0, "");
  print(fmt::format("handoff {}\n", version()));
  return kClean;
}

}  // namespace

const Command kVersion{"version", "prints the version", "version", "", version_command};

}  // namespace handoff::app

// The state of all oracles of a run, as one copyable value.
#pragma once

#include "models/oracle/books.hpp"

namespace handoff {

struct Oracles {
  FindingLog findings;
  CoverageBook coverage;
};

}  // namespace handoff

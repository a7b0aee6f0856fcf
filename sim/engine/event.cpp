#include "sim/engine/event.hpp"

#include <fmt/format.h>

namespace handoff {

std::string to_string(const Event& e) {
  return fmt::format("at={}ns delta={} phase={} target={} source={} seq={} kind={} [{} {} {} {}]",
                     e.at, e.delta, e.phase, e.target, e.source, e.sequence, e.kind, e.payload[0],
                     e.payload[1], e.payload[2], e.payload[3]);
}

}  // namespace handoff

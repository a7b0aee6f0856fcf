// What makes two failures the same: the rule, the kind of node, and whether another request's
// content was involved. Times, pages and request numbers are accidents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/oracle/finding.hpp"
#include "models/serving/config.hpp"

namespace handoff {

struct Signature {
  Rule rule = Rule::provenance;
  std::string role;      // "prefill", "decode", "router"; empty: the client
  bool foreign = false;  // content of other requests was read

  friend bool operator==(const Signature&, const Signature&) = default;
};

Signature signature_of(const Finding& finding);
std::string text(const Signature& signature);  // "I1 on decode, other requests' content"

// The first finding with the signature, or nothing within `events_max` events. The run is left as
// soon as it is there. A configuration that cannot be run (ConfigError, TraceError) has none;
// InternalError passes through.
std::optional<Finding> find_signature(const RunConfig& config, const Signature& signature,
                                      std::uint64_t events_max);

}  // namespace handoff

// Findings as people look at them: all that befell one request is one case, told once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/oracle/finding.hpp"

namespace handoff {

struct Case {
  RequestSerial victim = kNoSerial;      // kNoSerial: a finding about no request
  std::vector<const Finding*> findings;  // in order of detection
  std::vector<ChainLink> chain;          // of all of them, each step once
  std::string signature;                 // its rules, "I1 I2 I7": cases alike have the same
};

// In order of their first finding. The findings outlive the cases.
std::vector<Case> cases_of(const std::vector<Finding>& findings);

// The first `per_signature` cases of each signature, in order.
std::vector<const Case*> first_of_each(const std::vector<Case>& cases, std::size_t per_signature);

}  // namespace handoff

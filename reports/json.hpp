// A run as JSON. Integers only (ns, tokens, bytes, counts); 64-bit digests as hexadecimal text.
// Keys stand in a fixed order, so that equal runs give equal bytes. Nothing in it tells where the
// scenario file lies or on which machine the run was made.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "reports/verdict.hpp"

namespace handoff {

inline constexpr int kReportFormat = 1;  // raised when a key changes its meaning or goes

// All of the report but the findings, which are counted in it.
std::string report_json(const RunReport& report, const Verdict& verdict);
// {"findings": [...]} with their sources, pages and chains.
std::string findings_json(const RunReport& report);
// Likewise, of findings that index these names.
std::string findings_json(const std::vector<Finding>& findings,
                          const std::vector<std::string>& deployments,
                          const std::vector<std::string>& tenants);
// Both in one document.
std::string whole_json(const RunReport& report, const Verdict& verdict);

// Two spaces a level; what holds nothing nested stands on one line. Ends with a newline.
std::string pretty_json(const boost::json::value& value);

}  // namespace handoff

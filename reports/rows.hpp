// Requests as CSV (RFC 4180 quoting, LF): one line a request, empty where there is no value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/serving/outcome.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {

std::string request_head();
// `deployments` are names by index.
std::string request_row(const RequestOutcome& outcome, const std::vector<std::string>& deployments,
                        const TenantNames& tenants);

// Rows that come in order of termination, given on in order of serial. It holds those that wait for
// an earlier one.
class SerialOrder {
 public:
  // The text of all rows that are next in order; often none.
  std::string push(RequestSerial serial, std::string row);
  // What waits still: behind requests that never ended.
  std::string rest();

 private:
  RequestSerial next_ = 0;
  std::map<RequestSerial, std::string> waiting_;
};

// The list a log reviewer works through: when, how long, read from whom.
std::string tainted_head();
std::string tainted_row(const RequestOutcome& outcome, const std::vector<std::string>& deployments,
                        const std::vector<std::string>& tenants,
                        std::optional<std::int64_t> start_unix_ns);

// A field in quotes when it needs them.
std::string csv_field(const std::string& text);

}  // namespace handoff

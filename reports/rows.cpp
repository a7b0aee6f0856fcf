#include "reports/rows.hpp"

#include <fmt/format.h>

namespace handoff {
namespace {

std::string time_field(TimeNs at) { return at == kNever ? std::string() : std::to_string(at); }
std::string node_field(std::int32_t node) {
  return node < 0 ? std::string() : std::to_string(node);
}

std::string source_fields(const RequestOutcome& o, const std::string* tenant) {
  if (tenant == nullptr) return ",";
  return fmt::format("{},{}", o.main_source, csv_field(*tenant));
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string request_head() {
  return "request,deployment,workload,row,tenant,injected,arrival_ns,first_token_ns,end_ns,"
         "prompt_tokens,output_tokens,output_tokens_done,cached_tokens,prefill_node,decode_node,"
         "status,cause,first_cause,retractions,tainted,corrupt,foreign_tokens,unwritten_tokens,"
         "source_requests,source_tenants,main_source,main_source_tenant\n";
}

std::string SerialOrder::push(RequestSerial serial, std::string row) {
  if (serial != next_) {
    waiting_.emplace(serial, std::move(row));
    return {};
  }
  ++next_;
  for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; ++next_) {
    row += at->second;
    at = waiting_.erase(at);
  }
  return row;
}

std::string SerialOrder::rest() {
  std::string rows;
  for (const auto& [serial, row] : waiting_) rows += row;
  waiting_.clear();
  return rows;
}

std::string request_row(const RequestOutcome& o, const std::vector<std::string>& deployments,
                        const TenantNames& tenants) {
  // An injected request stands in no workload.
  const bool sourced = o.main_source != kNoSerial;
  const std::string workload = o.injected ? "" : std::to_string(o.workload);
  return fmt::format(
      "{},{},{},{},{},{:d},{},{},{},{},{},{},{},{},{},{},{},{},{},{:d},{:d},{},{},{},{},{}\n",
      o.serial, csv_field(deployments.at(o.deployment)), workload,
      o.injected ? "" : std::to_string(o.row), csv_field(tenants.name(o.tenant)), o.injected,
      o.arrival_ns, time_field(o.first_token_ns), o.end_ns, o.prompt_tokens, o.output_tokens,
      o.output_tokens_done, o.cached_tokens, node_field(o.prefill_node), node_field(o.decode_node),
      o.status, name(o.cause), name(o.first_cause), o.retractions, o.tainted, o.corrupt,
      o.foreign_tokens, o.unwritten_tokens, o.source_requests, o.source_tenants,
      source_fields(o, sourced ? &tenants.name(o.main_source_tenant) : nullptr));
}

std::string tainted_head() {
  return "answered,arrival_ns,end_ns,request,deployment,tenant,status,prompt_tokens,"
         "output_tokens_done,tainted,corrupt,foreign_tokens,unwritten_tokens,source_requests,"
         "source_tenants,main_source,main_source_tenant\n";
}

std::string tainted_row(const RequestOutcome& o, const std::vector<std::string>& deployments,
                        const std::vector<std::string>& tenants,
                        std::optional<std::int64_t> start_unix_ns) {
  const bool sourced = o.main_source != kNoSerial;
  return fmt::format("{},{},{},{},{},{},{},{},{},{:d},{:d},{},{},{},{},{}\n",
                     start_unix_ns ? calendar_text(*start_unix_ns + o.end_ns) : "", o.arrival_ns,
                     o.end_ns, o.serial, csv_field(deployments.at(o.deployment)),
                     csv_field(tenants.at(o.tenant)), o.status, o.prompt_tokens,
                     o.output_tokens_done, o.tainted, o.corrupt, o.foreign_tokens,
                     o.unwritten_tokens, o.source_requests, o.source_tenants,
                     source_fields(o, sourced ? &tenants.at(o.main_source_tenant) : nullptr));
}

}  // namespace handoff

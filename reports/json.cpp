#include "reports/json.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "reports/timeline.hpp"
#include "reports/version.hpp"

namespace handoff {
namespace {

namespace json = boost::json;

// Two spaces a level; an array or object without nested ones stands on one line.
bool is_flat(const json::value& value) {
  const auto plain = [](const json::value& v) { return !v.is_structured(); };
  if (const json::array* array = value.if_array())
    return std::all_of(array->begin(), array->end(), plain);
  if (const json::object* object = value.if_object())
    return std::all_of(object->begin(), object->end(),
                       [&](const json::key_value_pair& pair) { return plain(pair.value()); });
  return true;
}

void print(std::string& out, const json::value& value, int depth);

void print_item(std::string& out, bool flat, bool first, int depth) {
  if (!first) out += flat ? ", " : ",";
  if (!flat) out += "\n" + std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

void print(std::string& out, const json::value& value, int depth) {
  if (!value.is_structured()) {
    out += json::serialize(value);
    return;
  }
  const bool flat = is_flat(value);
  bool first = true;
  if (const json::array* array = value.if_array()) {
    out += '[';
    for (const json::value& item : *array) {
      print_item(out, flat, first, depth + 1);
      print(out, item, depth + 1);
      first = false;
    }
    if (!flat) print_item(out, false, true, depth);
    out += ']';
    return;
  }
  out += '{';
  for (const json::key_value_pair& pair : value.get_object()) {
    print_item(out, flat, first, depth + 1);
    out += json::serialize(json::string(pair.key())) + ": ";
    print(out, pair.value(), depth + 1);
    first = false;
  }
  if (!flat) print_item(out, false, true, depth);
  out += '}';
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

json::value time_or_null(TimeNs at) { return at == kNever ? json::value() : json::value(at); }
json::value request_or_null(RequestSerial serial) {
  return serial == kNoSerial ? json::value() : json::value(serial);
}

json::object json_of(const Distribution& d) {
  if (d.count == 0) return {{"samples", 0}};
  return {{"samples", d.count}, {"mean", d.mean}, {"p50", d.p50},
          {"p90", d.p90},       {"p99", d.p99},   {"max", d.max}};
}

json::object json_of(const OutcomeMetrics& m) {
  json::object status;
  for (const auto& [code, count] : m.status) status[std::to_string(code)] = count;
  return {{"requests", m.requests},
          {"status", status},
          {"tainted_responses", m.tainted},
          {"corrupt_responses", m.corrupt},
          {"foreign_tokens", m.foreign_tokens},
          {"unwritten_tokens", m.unwritten_tokens},
          {"ttft_ns", json_of(m.ttft)},
          {"tpot_ns", json_of(m.tpot)},
          {"e2e_ns", json_of(m.e2e)}};
}

json::object json_of(const NodeTotals& n) {
  return {{"name", n.name},
          {"steps", n.steps},
          {"busy_ns", n.busy_ns},
          {"tokens_computed", n.tokens},
          {"pages", n.pages},
          {"pages_used_max", n.pages_used_max},
          {"pages_held_waiting_ns", n.pages_held_waiting_ns}};
}

json::array deployments_of(const RunReport& report) {
  json::array out;
  for (std::size_t i = 0; i < report.deployments.size(); ++i) {
    const DeploymentTotals& d = report.result.deployments[i];
    json::object o{{"name", d.name}, {"engine", d.engine}};
    for (const json::key_value_pair& pair : json_of(report.deployments[i]))
      o[pair.key()] = pair.value();
    o["prompt_tokens"] = d.prompt_tokens;
    o["cached_tokens"] = d.cached_tokens;
    o["output_tokens"] = d.output_tokens;
    o["transfers"] = d.transfers;
    o["transfer_bytes"] = d.transfer_bytes;
    o["retractions"] = d.retractions;
    json::array nodes;
    for (const NodeTotals& n : d.nodes) nodes.emplace_back(json_of(n));
    o["nodes"] = std::move(nodes);
    out.emplace_back(std::move(o));
  }
  return out;
}

json::array workloads_of(const RunReport& report) {
  json::array out;
  for (std::size_t i = 0; i < report.result.workloads.size(); ++i) {
    const WorkloadCounters& w = report.result.workloads[i];
    out.emplace_back(json::object{{"name", report.scenario->run.workloads[i].name},
                                  {"rows_read", w.rows_read},
                                  {"rows_skipped", w.rows_skipped},
                                  {"rows_dropped", w.rows_dropped},
                                  {"prompts_clipped", w.prompts_clipped},
                                  {"outputs_clipped", w.outputs_clipped},
                                  {"requests", w.requests},
                                  {"first_arrival_ns", time_or_null(w.first_arrival_ns)},
                                  {"last_arrival_ns", w.last_arrival_ns}});
  }
  return out;
}

json::array faults_of(const RunReport& report) {
  json::array out;
  for (const FaultCount& f : fault_counts(report))
    out.emplace_back(
        json::object{{"name", f.name},
                     {"fired", f.fired},
                     {"first_ns", time_or_null(f.first_ns)},
                     {"last_ns", f.fired == 0 ? json::value() : json::value(f.last_ns)}});
  return out;
}

json::array timeline_json(const RunReport& report) {
  json::array out;
  for (const TimelineEntry& e : timeline_of(report)) {
    json::object o{{"at_ns", e.at}, {"text", e.what}};
    if (report.scenario->start_unix_ns)
      o["at"] = calendar_text(*report.scenario->start_unix_ns + e.at);
    out.emplace_back(std::move(o));
  }
  return out;
}

json::array links_of(const RunReport& report) {
  json::array out;
  for (const LinkTotals& l : report.result.links)
    out.emplace_back(json::object{
        {"name", l.name}, {"bytes", l.bytes}, {"bytes_per_second", l.bytes_per_second}});
  return out;
}

json::object verdict_of(const Verdict& verdict) {
  json::array checks;
  for (const Check& c : verdict.checks)
    checks.emplace_back(json::object{{"metric", c.expected.metric},
                                     {"expected", bound_text(c.expected)},
                                     {"found", c.found ? json::value(*c.found) : json::value()},
                                     {"met", c.met}});
  return {{"passed", verdict.passed()},
          {"missed", verdict.missed},
          {"unexpected_findings", verdict.unexpected_findings},
          {"checks", checks}};
}

json::array wrong_of(const RunReport& report) {
  const RunResult& result = report.result;
  json::array out;
  for (const RequestOutcome& o : report.wrong) {
    json::object row{{"request", o.serial},
                     {"deployment", result.deployments[o.deployment].name},
                     {"tenant", result.tenants[o.tenant]},
                     {"arrival_ns", o.arrival_ns},
                     {"end_ns", o.end_ns},
                     {"status", o.status},
                     {"prompt_tokens", o.prompt_tokens},
                     {"output_tokens_done", o.output_tokens_done},
                     {"tainted", o.tainted},
                     {"foreign_tokens", o.foreign_tokens},
                     {"unwritten_tokens", o.unwritten_tokens},
                     {"source_requests", o.source_requests},
                     {"source_tenants", o.source_tenants},
                     {"main_source", request_or_null(o.main_source)}};
    row["main_source_tenant"] = o.main_source == kNoSerial
                                    ? json::value()
                                    : json::value(result.tenants[o.main_source_tenant]);
    out.emplace_back(std::move(row));
  }
  return out;
}

json::object report_of(const RunReport& report, const Verdict& verdict) {
  const Scenario& s = *report.scenario;
  const RunResult& r = report.result;
  json::object findings;
  for (int i = 0; i < kRules; ++i)
    findings[code(static_cast<Rule>(i))] = r.findings_by_rule[static_cast<std::size_t>(i)];
  json::object metrics;
  for (const NamedMetric& m : all_metrics(report))
    metrics[m.name] = m.value ? json::value(*m.value) : json::value();
  return {{"handoff", json::object{{"version", version()}, {"format", kReportFormat}}},
          {"scenario",
           json::object{{"name", s.name},
                        {"description", s.description},
                        {"digest", hex(s.digest)},
                        {"seed", s.run.seed},
                        {"start", s.start_unix_ns ? json::value(calendar_text(*s.start_unix_ns))
                                                  : json::value()}}},
          {"run", json::object{{"digest", hex(r.digest)},
                               {"stop", name(r.stop)},
                               {"events", r.events},
                               {"end_ns", r.end_ns},
                               {"requests", r.requests},
                               {"unfinished", r.unfinished}}},
          {"verdict", verdict_of(verdict)},
          {"totals", json_of(report.all)},
          {"deployments", deployments_of(report)},
          {"workloads", workloads_of(report)},
          {"faults", faults_of(report)},
          {"timeline", timeline_json(report)},
          {"links", links_of(report)},
          {"tainted_responses", wrong_of(report)},
          {"findings_by_rule", findings},
          {"metrics", metrics}};
}

// What the indexes of a finding stand for.
struct Names {
  std::vector<std::string> deployments;
  std::vector<std::string> tenants;
};

Names names_of(const RunReport& report) {
  Names names;
  for (const DeploymentTotals& d : report.result.deployments) names.deployments.push_back(d.name);
  names.tenants = report.result.tenants;
  return names;
}

json::object json_of(const Names& names, const Finding& f) {
  json::array sources;
  for (const FindingSource& s : f.sources)
    sources.emplace_back(json::object{
        {"request", s.request}, {"tenant", names.tenants.at(s.tenant)}, {"tokens", s.tokens}});
  json::array pages;
  for (const PageSpan& p : f.pages)
    pages.emplace_back(json::object{{"first", p.first}, {"count", p.count}});
  json::array chain;
  for (const ChainLink& link : f.chain) {
    json::object step{{"at_ns", link.at},
                      {"event", link.event},
                      {"node", link.node.empty() ? "client" : link.node},
                      {"request", request_or_null(link.request)},
                      {"what", link.what}};
    if (!link.decision.empty()) step["decision"] = link.decision;
    chain.emplace_back(std::move(step));
  }
  json::object o{{"id", f.id},
                 {"rule", code(f.rule)},
                 {"title", title(f.rule)},
                 {"message", f.message},
                 {"at_ns", f.at},
                 {"event", f.event},
                 {"deployment", names.deployments.at(f.deployment)},
                 {"node", f.node},
                 {"group", f.group},
                 {"rank", f.rank},
                 {"request", request_or_null(f.victim)}};
  o["fault"] = f.fault < 0 ? json::value() : json::value(f.fault);
  o["tokens_read"] = f.tokens_read;
  o["tokens_foreign"] = f.tokens_foreign;
  o["tokens_unwritten"] = f.tokens_unwritten;
  o["tokens_misplaced"] = f.tokens_misplaced;
  o["sources_total"] = f.sources_total;
  o["sources"] = std::move(sources);
  o["pages"] = std::move(pages);
  o["chain"] = std::move(chain);
  return o;
}

json::array findings_of(const std::vector<Finding>& findings, const Names& names) {
  json::array out;
  for (const Finding& f : findings) out.emplace_back(json_of(names, f));
  return out;
}

json::array findings_of(const RunReport& report) {
  return findings_of(report.result.findings, names_of(report));
}

}  // namespace

std::string pretty_json(const json::value& value) {
  std::string out;
  print(out, value, 0);
  return out + "\n";
}

std::string report_json(const RunReport& report, const Verdict& verdict) {
  return pretty_json(report_of(report, verdict));
}

std::string findings_json(const RunReport& report) {
  return pretty_json(json::object{{"findings", findings_of(report)}});
}

std::string findings_json(const std::vector<Finding>& findings,
                          const std::vector<std::string>& deployments,
                          const std::vector<std::string>& tenants) {
  return pretty_json(json::object{{"findings", findings_of(findings, {deployments, tenants})}});
}

std::string whole_json(const RunReport& report, const Verdict& verdict) {
  json::object whole = report_of(report, verdict);
  whole["findings"] = findings_of(report);
  return pretty_json(whole);
}

}  // namespace handoff

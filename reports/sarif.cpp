// SARIF 2.1.0 (OASIS standard, docs.oasis-open.org/sarif/sarif/v2.1.0): what code scanning shows
// beside the lines of a scenario.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "reports/json.hpp"
#include "reports/suite.hpp"
#include "reports/version.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {
namespace {

namespace json = boost::json;

constexpr const char* kMissedRule = "expectation";
constexpr const char* kInputRule = "input";
constexpr const char* kInternalRule = "internal";

json::object rule(const std::string& id, const std::string& text) {
  return {{"id", id}, {"shortDescription", json::object{{"text", text}}}};
}

json::array rules() {
  json::array out;
  for (int i = 0; i < kRules; ++i)
    out.emplace_back(rule(code(static_cast<Rule>(i)), title(static_cast<Rule>(i))));
  out.emplace_back(rule(kMissedRule, "a scenario did not do what it is expected to"));
  out.emplace_back(rule(kInputRule, "a scenario or trace that cannot be read"));
  out.emplace_back(rule(kInternalRule, "a broken invariant of Handoff itself"));
  return out;
}

// Reserved characters of a URI's path, percent-encoded.
std::string uri(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

json::object result(const SuiteResult& r, const std::string& rule_id, const std::string& message,
                    SourceMark mark) {
  const json::object region{{"startLine", std::max(mark.line, 1)},
                            {"startColumn", std::max(mark.column, 1)}};
  const json::object place{{"artifactLocation", json::object{{"uri", uri(r.path)}}},
                           {"region", region}};
  // The same trouble in the next run of CI is the same alert, though lines may have moved.
  const std::uint64_t print = hash_text(rule_id + "\n" + title(r) + "\n" + message);
  return {{"ruleId", rule_id},
          {"level", "error"},
          {"message", json::object{{"text", message}}},
          {"locations", json::array{json::object{{"physicalLocation", place}}}},
          {"partialFingerprints", json::object{{"handoff/v1", fmt::format("{:016x}", print)}}}};
}

void append(json::array& out, const SuiteResult& r) {
  const std::string arm = r.arm.empty() ? "" : fmt::format(" [{}]", r.arm);
  if (r.outcome == SuiteOutcome::bad_input || r.outcome == SuiteOutcome::broken) {
    std::string text;
    for (const std::string& line : r.errors) text += (text.empty() ? "" : "\n") + line;
    const bool input = r.outcome == SuiteOutcome::bad_input;
    out.emplace_back(result(r, input ? kInputRule : kInternalRule, text + arm, r.error_mark));
    return;
  }
  for (const SuiteFinding& f : r.findings)
    out.emplace_back(
        result(r, code(f.rule), fmt::format("{}: {}{}", f.node, f.message, arm), f.mark));
  for (const SuiteCase& c : r.cases)
    if (!c.met) out.emplace_back(result(r, kMissedRule, c.missed + arm, c.mark));
}

}  // namespace

std::string sarif_json(const std::vector<SuiteResult>& results) {
  json::array found;
  for (const SuiteResult& r : results) append(found, r);
  const json::object driver{{"name", "Handoff"}, {"version", version()}, {"rules", rules()}};
  const json::object one_run{{"tool", json::object{{"driver", driver}}},
                             {"columnKind", "unicodeCodePoints"},
                             {"results", found}};
  return pretty_json(json::object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                  {"version", "2.1.0"},
                                  {"runs", json::array{one_run}}});
}

}  // namespace handoff

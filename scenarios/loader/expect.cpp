#include "scenarios/loader/expect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/oracle/finding.hpp"

namespace handoff::loader {
namespace {

using Mode = Expectation::Mode;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr const char* kBoundExpected = "a number, '>= 1', '<= 9' or '2..4'";
constexpr const char* kNeverTainted = "never_tainted_deployments";
constexpr const char* kSeeds = "seeds";
constexpr const char* kEventually = "eventually_within";
constexpr const char* kSometimes = "sometimes";
constexpr const char* kNeverKey = "never";
constexpr std::int64_t kSeedsMax = 100'000;

std::vector<std::string> rule_codes() {
  std::vector<std::string> codes;
  for (int i = 0; i < kRules; ++i) codes.emplace_back(code(static_cast<Rule>(i)));
  return codes;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& m : kMetrics) names.emplace_back(m.name);
  return names;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<std::int64_t> natural(std::string_view text) {
  const Parsed<std::int64_t> parsed = parse_integer(trimmed(text));
  return parsed.value && *parsed.value >= 0 ? parsed.value : std::nullopt;
}

// Fills low and high. False when the text is no bound.
bool parse_bound(std::string_view text, Expectation& out) {
  text = trimmed(text);
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) {
    const auto low = natural(text.substr(0, dots)), high = natural(text.substr(dots + 2));
    if (!low || !high || *low > *high) return false;
    out.low = *low, out.high = *high;
    return true;
  }
  const bool at_least = starts_with(text, ">"), at_most = starts_with(text, "<");
  const bool equal = starts_with(text.substr(std::min<std::size_t>(1, text.size())), "=");
  if (at_least || at_most) text.remove_prefix(equal ? 2 : 1);
  const auto value = natural(text);
  if (!value || *value == kNoLimit || (at_most && !equal && *value == 0)) return false;
  out.low = at_most ? 0 : at_least && !equal ? *value + 1 : *value;
  out.high = at_least ? kNoLimit : at_most && !equal ? *value - 1 : *value;
  return true;
}

// Why `name` is no metric; empty when it is one. `name` without its deployment.
std::string metric_error(const std::string& name, bool of_deployment) {
  const std::size_t dot = name.find('.');
  const std::string family = name.substr(0, dot) + ".*";
  for (const Metric& m : kMetrics) {
    if (of_deployment && !m.of_deployment) continue;
    if (name == m.name) return {};
    if (dot == std::string::npos || family != m.name) continue;
    const std::string member = name.substr(dot + 1);
    if (family == "findings.*") {
      const std::vector<std::string> codes = rule_codes();
      if (std::find(codes.begin(), codes.end(), member) != codes.end()) return {};
      return fmt::format("no rule '{}'; known: {}", member, joined(codes));
    }
    if (member.size() == 3 && member.find_first_not_of("0123456789") == std::string::npos)
      return {};
    return fmt::format("'{}' is no HTTP status", member);
  }
  return fmt::format("no metric '{}'{}", name, hint(name, metric_names()));
}

class ExpectReader {
 public:
  ExpectReader(ReadContext& context, Expectations& out) : context_(context), out_(out) {}

  void read(const Node& node, const std::string& prefix, Mode mode = Mode::always) {
    for (const Entry& e : node.entries) {
      if (starts_with(e.key, "x-")) continue;
      if (prefix.empty() && mode == Mode::always && special(e)) continue;
      const bool top_metrics = prefix.empty() && e.key == "metrics";
      const std::string name = top_metrics      ? std::string()
                               : prefix.empty() ? e.key
                                                : prefix + "." + e.key;
      if (e.value->kind == Node::Kind::mapping) {
        if (name == "findings" && mode == Mode::always) {
          per_rule_ = out_.findings_given = true;
          findings_mark_ = source_mark(e.mark);
        }
        read(*e.value, name, mode);
      } else {
        add(name, e, mode);
      }
    }
  }

  // A list of rules is a whole one: what it does not name must not be found.
  void finish() {
    if (!per_rule_) return;
    for (const std::string& rule : rule_codes())
      if (!has("findings." + rule))
        out_.all.push_back({"findings." + rule, 0, 0, true, findings_mark_});
  }

 private:
  [[nodiscard]] bool has(const std::string& metric, Mode mode = Mode::always) const {
    return std::any_of(out_.all.begin(), out_.all.end(),
                       [&](const Expectation& e) { return e.metric == metric && e.mode == mode; });
  }

  // Keys that are no metric. False: it is one.
  bool special(const Entry& e) {
    if (e.key == kNeverTainted)
      never_tainted(*e.value);
    else if (e.key == kSeeds)
      Integer{1, kSeedsMax}.read(context_, *e.value, out_.seeds);
    else if (e.key == kEventually)
      eventually(e);
    else if (e.key == kSometimes || e.key == kNeverKey)
      modal(e, e.key == kNeverKey ? Mode::never : Mode::sometimes);
    else
      return false;
    return true;
  }

  void modal(const Entry& e, Mode mode) {
    if (is_mapping(context_, *e.value)) read(*e.value, {}, mode);
  }

  // Every request has its terminal state this long after it arrived.
  void eventually(const Entry& e) {
    TimeNs within = 0;
    Duration{.low = kMillisecond}.read(context_, *e.value, within);
    if (within == 0) return;
    const auto bound = "<= " + std::to_string(within / kMillisecond);
    add("terminal_max_ms", {e.key, e.mark, plain(bound)}, Mode::always);
    add("unfinished", {e.key, e.mark, plain("0")}, Mode::always);
  }

  // The error of a name, with its deployment looked up.
  [[nodiscard]] std::string name_error(const std::string& name) const {
    constexpr std::string_view kPrefix = "deployment.";
    if (!starts_with(name, kPrefix)) return metric_error(name, false);
    if (context_.deployments_broken) return {};
    for (const std::string& d : context_.deployments) {
      const std::string prefix = std::string(kPrefix) + d + ".";
      if (starts_with(name, prefix)) return metric_error(name.substr(prefix.size()), true);
    }
    return fmt::format("'{}' starts with no deployment's name; known: {}",
                       name.substr(kPrefix.size()), joined(context_.deployments));
  }

  void add(const std::string& name, const Entry& e, Mode mode) {
    const std::string problem = name_error(name);
    if (!problem.empty()) return context_.diagnostics.error(e.mark, problem);
    if (has(name, mode))
      return context_.diagnostics.error(e.mark, fmt::format("'{}' is expected twice", name));
    if (mode == Mode::always && starts_with(name, "findings")) out_.findings_given = true;
    if (mode == Mode::always && starts_with(name, "findings.")) per_rule_ = true;
    const std::string* text = any_text(context_, *e.value, kBoundExpected);
    if (text == nullptr) return;
    Expectation expectation;
    expectation.metric = name;
    expectation.mark = source_mark(e.mark);
    expectation.mode = mode;
    const bool number_in_quotes = e.value->quoted && natural(*text).has_value();
    if (number_in_quotes || !parse_bound(*text, expectation))
      return context_.error(*e.value,
                            fmt::format("expected {}, found {}'{}'", kBoundExpected,
                                        number_in_quotes ? "the quoted text " : "", *text));
    out_.all.push_back(std::move(expectation));
  }

  void never_tainted(const Node& list) {
    std::vector<std::string> names;
    List<Text>{}.read(context_, list, names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::vector<std::string>& known = context_.deployments;
      const Node& item = *list.items[i];
      if (std::find(known.begin(), known.end(), names[i]) == known.end()) {
        if (!context_.deployments_broken && !names[i].empty())
          context_.error(item,
                         fmt::format("no deployment '{}'{}", names[i], hint(names[i], known)));
        continue;
      }
      add("deployment." + names[i] + ".tainted_responses", {{}, item.mark, plain("0")},
          Mode::always);
    }
  }

  ReadContext& context_;
  Expectations& out_;
  bool per_rule_ = false;
  SourceMark findings_mark_;
};

}  // namespace

void Expect::read(ReadContext& context, const Node& node, Expectations& out) const {
  if (!is_mapping(context, node)) return;
  ExpectReader reader(context, out);
  reader.read(node, {});
  reader.finish();
}

namespace {

// The expectations of one mode, rules gathered under `findings`.
std::vector<Entry> entries_of(const Expectations& value, Expectation::Mode mode) {
  constexpr std::string_view kFindings = "findings.";
  std::vector<Entry> entries;
  std::vector<Entry> rules;
  bool per_rule = false;
  for (Expectation e : value.all) {
    if (e.mode != mode) continue;
    const bool rule = starts_with(e.metric, kFindings);
    per_rule = per_rule || rule;
    if (e.implied) continue;
    e.mode = Expectation::Mode::always;
    const std::string text = bound_text(e);
    const bool operators = text.find_first_of("<>") != std::string::npos;
    (rule ? rules : entries)
        .push_back(entry(rule ? e.metric.substr(kFindings.size()) : e.metric,
                         operators ? quoted(text) : plain(text)));
  }
  if (per_rule) entries.push_back(entry("findings", mapping(std::move(rules))));
  return entries;
}

}  // namespace

NodePtr Expect::write(const Surroundings&, Expectations& value) const {
  std::vector<Entry> entries = entries_of(value, Mode::always);
  if (value.seeds != 1) entries.push_back(entry(kSeeds, plain(std::to_string(value.seeds))));
  for (const auto& [key, mode] :
       {std::pair{kSometimes, Mode::sometimes}, std::pair{kNeverKey, Mode::never}})
    if (std::vector<Entry> of_mode = entries_of(value, mode); !of_mode.empty())
      entries.push_back(entry(key, mapping(std::move(of_mode))));
  return mapping(std::move(entries));
}

NodePtr Expect::schema_of(Definitions& definitions) {
  const NodePtr bound = definitions.reference("bound", [] {
    return mapping(
        {entry("type", sequence({quoted("integer"), quoted("string")})),
         entry("minimum", plain("0")),
         entry("pattern",
               quoted("^ *([0-9][0-9_]* *\\.\\. *[0-9][0-9_]*|([<>]=?)? *[0-9][0-9_]*) *$"))});
  });
  const auto nested = [&](const std::string& pattern) {
    return mapping({entry(
        "anyOf",
        sequence({bound, mapping({entry("type", quoted("object")),
                                  entry("patternProperties", mapping({entry(pattern, bound),
                                                                      entry("^x-", mapping({}))})),
                                  entry("additionalProperties", plain("false"))})}))});
  };
  std::vector<Entry> properties;
  for (const Metric& m : kMetrics) {
    const std::string name = m.name;
    if (name == "findings" || name.back() == '*') continue;
    properties.push_back(entry(
        name, mapping({entry("description", quoted(m.doc)), entry("allOf", sequence({bound}))})));
  }
  const NodePtr object = type_schema("object");
  properties.push_back(entry("findings", nested("^(I[1-8]|T1)$")));
  properties.push_back(entry("status", nested("^[0-9]{3}$")));
  properties.push_back(entry(kSeeds, Integer{1, kSeedsMax}.schema<std::int64_t>(definitions)));
  properties.push_back(entry(kEventually, Duration{}.schema<TimeNs>(definitions)));
  properties.push_back(entry(kSometimes, object));
  properties.push_back(entry(kNeverKey, object));
  properties.push_back(entry("deployment", object));
  properties.push_back(entry("metrics", object));
  properties.push_back(
      entry(kNeverTainted, mapping({entry("type", quoted("array")),
                                    entry("items", Text{}.schema<std::string>(definitions))})));
  return mapping(
      {entry("type", quoted("object")), entry("properties", mapping(std::move(properties))),
       entry(
           "patternProperties",
           mapping({entry("^x-", mapping({})),
                    entry("^(findings\\.(I[1-8]|T1)|status\\.[0-9]{3}|deployment\\..+)$", bound)})),
       entry("additionalProperties", plain("false"))});
}

}  // namespace handoff::loader

namespace handoff {

std::string bound_text(const Expectation& e) {
  if (e.mode != Expectation::Mode::always) {
    Expectation plain = e;
    plain.mode = Expectation::Mode::always;
    return (e.mode == Expectation::Mode::never ? "never " : "sometimes ") + bound_text(plain);
  }
  if (e.low == e.high) return std::to_string(e.low);
  if (e.high == loader::kNoLimit) return fmt::format(">= {}", e.low);
  if (e.low == 0) return fmt::format("<= {}", e.high);
  return fmt::format("{}..{}", e.low, e.high);
}

}  // namespace handoff

#include "reports/metrics.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

constexpr std::string_view kDeploymentPrefix = "deployment.";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::int64_t rounded(TimeNs ns, TimeNs unit) { return (ns + unit / 2) / unit; }

std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// What a metric is asked of: the whole run or one deployment.
struct Scope {
  const RunReport& report;
  const OutcomeMetrics& outcomes;
  std::optional<std::size_t> deployment;

  template <class Member>
  [[nodiscard]] std::int64_t total(Member DeploymentTotals::*member) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < report.result.deployments.size(); ++i)
      if (!deployment || *deployment == i)
        sum += static_cast<std::int64_t>(report.result.deployments[i].*member);
    return sum;
  }
  template <class Member>
  [[nodiscard]] std::int64_t rows(Member WorkloadCounters::*member) const {
    std::int64_t sum = 0;
    for (const WorkloadCounters& w : report.result.workloads)
      sum += static_cast<std::int64_t>(w.*member);
    return sum;
  }
};

std::optional<std::int64_t> findings_value(const Scope& scope, std::optional<Rule> rule) {
  const RunResult& result = scope.report.result;
  std::uint64_t total = 0;
  for (int i = 0; i < kRules; ++i)
    if (!rule || static_cast<int>(*rule) == i)
      total += result.findings_by_rule[static_cast<std::size_t>(i)];
  if (!scope.deployment) return to_signed(total);
  std::uint64_t kept = 0;
  std::uint64_t of_deployment = 0;
  for (const Finding& f : result.findings) {
    if (rule && f.rule != *rule) continue;
    ++kept;
    of_deployment += f.deployment == *scope.deployment;
  }
  if (kept < total) return std::nullopt;
  return to_signed(of_deployment);
}

std::optional<Rule> rule_named(std::string_view text) {
  for (int i = 0; i < kRules; ++i)
    if (text == code(static_cast<Rule>(i))) return static_cast<Rule>(i);
  return std::nullopt;
}

// "ttft_p50_ms" and the like.
std::optional<std::int64_t> time_value(const OutcomeMetrics& outcomes, std::string_view name) {
  const std::string_view what = name.substr(0, name.find('_'));
  const Distribution& d = what == "ttft"   ? outcomes.ttft
                          : what == "tpot" ? outcomes.tpot
                                           : outcomes.e2e;
  HANDOFF_CHECK(what == "ttft" || what == "tpot" || what == "e2e",
                "no metric '" + std::string(name) + "'");
  if (d.count == 0) return std::nullopt;
  const std::string_view rest = name.substr(what.size() + 1);
  const std::string_view which = rest.substr(0, rest.find('_'));
  const TimeNs unit = rest.substr(which.size()) == "_us" ? kMicrosecond : kMillisecond;
  if (which == "mean") return rounded(d.mean, unit);
  if (which == "p50") return rounded(d.p50, unit);
  if (which == "p90") return rounded(d.p90, unit);
  if (which == "max") return rounded(d.max, unit);
  HANDOFF_CHECK(which == "p99", "no metric '" + std::string(name) + "'");
  return rounded(d.p99, unit);
}

using Getter = std::optional<std::int64_t> (*)(const Scope&);
struct PlainMetric {
  std::string_view name;
  Getter get;
};

constexpr PlainMetric kPlain[] = {
    {"requests",
     [](const Scope& s) -> std::optional<std::int64_t> { return to_signed(s.outcomes.requests); }},
    {"unfinished",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return to_signed(s.report.result.unfinished);
     }},
    {"tainted_responses",
     [](const Scope& s) -> std::optional<std::int64_t> { return to_signed(s.outcomes.tainted); }},
    {"corrupt_responses",
     [](const Scope& s) -> std::optional<std::int64_t> { return to_signed(s.outcomes.corrupt); }},
    {"foreign_tokens",
     [](const Scope& s) -> std::optional<std::int64_t> { return s.outcomes.foreign_tokens; }},
    {"unwritten_tokens",
     [](const Scope& s) -> std::optional<std::int64_t> { return s.outcomes.unwritten_tokens; }},
    {"terminal_max_ms",
     [](const Scope& s) -> std::optional<std::int64_t> {
       if (s.outcomes.requests == 0) return std::nullopt;
       return rounded(s.outcomes.terminal_max_ns, kMillisecond);
     }},
    {"findings",
     [](const Scope& s) -> std::optional<std::int64_t> { return findings_value(s, std::nullopt); }},
    {"faults_fired",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return to_signed(s.report.result.firings_total);
     }},
    {"retractions",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::retractions);
     }},
    {"transfers",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::transfers);
     }},
    {"transfer_bytes",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::transfer_bytes);
     }},
    {"prompt_tokens",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::prompt_tokens);
     }},
    {"cached_tokens",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::cached_tokens);
     }},
    {"output_tokens",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.total(&DeploymentTotals::output_tokens);
     }},
    {"rows_read",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.rows(&WorkloadCounters::rows_read);
     }},
    {"rows_dropped",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.rows(&WorkloadCounters::rows_dropped);
     }},
    {"prompts_clipped",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.rows(&WorkloadCounters::prompts_clipped);
     }},
    {"outputs_clipped",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.rows(&WorkloadCounters::outputs_clipped);
     }},
    {"events",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return to_signed(s.report.result.events);
     }},
    {"drained",
     [](const Scope& s) -> std::optional<std::int64_t> {
       return s.report.result.stop == StopReason::drained ? 1 : 0;
     }},
};

std::optional<std::int64_t> scoped_value(const Scope& scope, std::string_view name) {
  for (const PlainMetric& metric : kPlain)
    if (metric.name == name) return metric.get(scope);
  const std::size_t dot = name.find('.');
  const std::string_view family = name.substr(0, dot);
  if (dot == std::string_view::npos) return time_value(scope.outcomes, name);
  const std::string_view member = name.substr(dot + 1);
  if (family == "findings") {
    const std::optional<Rule> rule = rule_named(member);
    HANDOFF_CHECK(rule.has_value(), "no rule '" + std::string(member) + "'");
    return findings_value(scope, rule);
  }
  HANDOFF_CHECK(family == "status", "no metric '" + std::string(name) + "'");
  const auto found = scope.outcomes.status.find(std::stoi(std::string(member)));
  return found == scope.outcomes.status.end() ? 0 : to_signed(found->second);
}

void append(std::vector<NamedMetric>& out, const RunReport& report, const std::string& prefix,
            const OutcomeMetrics& outcomes) {
  const auto add = [&](const std::string& name) {
    out.push_back({prefix + name, metric_value(report, prefix + name)});
  };
  for (const Metric& m : kMetrics) {
    const std::string_view name = m.name;
    if (!prefix.empty() && !m.of_deployment) continue;
    if (name == "status.*")
      for (const auto& [status, count] : outcomes.status) add("status." + std::to_string(status));
    else if (name == "findings.*")
      for (int i = 0; i < kRules; ++i) add(std::string("findings.") + code(static_cast<Rule>(i)));
    else
      add(m.name);
  }
}

}  // namespace

Distribution distribution_of(std::vector<TimeNs> samples) {
  Distribution d;
  if (samples.empty()) return d;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<std::int64_t>(samples.size());
  Int128 sum = 0;
  for (const TimeNs sample : samples) sum += sample;
  const auto rank = [&](std::int64_t percent) {
    return samples[static_cast<std::size_t>(std::max<std::int64_t>(div_ceil(n * percent, 100), 1) -
                                            1)];
  };
  d.count = samples.size();
  d.mean = static_cast<TimeNs>((sum + n / 2) / n);
  d.p50 = rank(50);
  d.p90 = rank(90);
  d.p99 = rank(99);
  d.max = samples.back();
  return d;
}

void OutcomeCollector::add(Samples& s, const RequestOutcome& o) {
  OutcomeMetrics& m = s.metrics;
  ++m.requests;
  ++m.status[o.status];
  m.tainted += o.tainted;
  m.corrupt += o.corrupt;
  m.foreign_tokens += o.foreign_tokens;
  m.unwritten_tokens += o.unwritten_tokens;
  m.terminal_max_ns = std::max(m.terminal_max_ns, o.end_ns - o.arrival_ns);
  if (o.status != 200) return;
  s.e2e.push_back(o.end_ns - o.arrival_ns);
  if (o.first_token_ns == kNever) return;
  s.ttft.push_back(o.first_token_ns - o.arrival_ns);
  if (o.output_tokens_done > 1)
    s.tpot.push_back((o.end_ns - o.first_token_ns) / (o.output_tokens_done - 1));
}

void OutcomeCollector::add(const RequestOutcome& outcome) {
  add(all_, outcome);
  add(deployments_.at(outcome.deployment), outcome);
  if (outcome.tainted || outcome.corrupt) wrong_.push_back(outcome);
}

OutcomeMetrics OutcomeCollector::finish(const Samples& samples) {
  OutcomeMetrics metrics = samples.metrics;
  metrics.ttft = distribution_of(samples.ttft);
  metrics.tpot = distribution_of(samples.tpot);
  metrics.e2e = distribution_of(samples.e2e);
  return metrics;
}

RunReport OutcomeCollector::finish(const Scenario& scenario, RunResult result) {
  RunReport report;
  report.scenario = &scenario;
  report.result = std::move(result);
  report.all = finish(all_);
  for (const Samples& samples : deployments_) report.deployments.push_back(finish(samples));
  report.wrong = std::move(wrong_);
  std::sort(report.wrong.begin(), report.wrong.end(),
            [](const RequestOutcome& a, const RequestOutcome& b) { return a.serial < b.serial; });
  return report;
}

std::optional<std::int64_t> metric_value(const RunReport& report, std::string_view name) {
  if (starts_with(name, kDeploymentPrefix)) {
    const std::string_view rest = name.substr(kDeploymentPrefix.size());
    for (std::size_t i = 0; i < report.result.deployments.size(); ++i) {
      const std::string prefix = report.result.deployments[i].name + ".";
      if (!starts_with(rest, prefix)) continue;
      const std::string_view metric = rest.substr(prefix.size());
      const bool known = std::any_of(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) {
        const std::string_view own = m.name;
        return own == metric ||
               (own.back() == '*' && starts_with(metric, own.substr(0, own.size() - 1)));
      });
      if (known) return scoped_value({report, report.deployments[i], i}, metric);
    }
    HANDOFF_CHECK(false, "no deployment in '" + std::string(name) + "'");
  }
  return scoped_value({report, report.all, std::nullopt}, name);
}

std::vector<NamedMetric> all_metrics(const RunReport& report) {
  std::vector<NamedMetric> out;
  append(out, report, {}, report.all);
  if (report.deployments.size() > 1)
    for (std::size_t i = 0; i < report.deployments.size(); ++i)
      append(out, report, "deployment." + report.result.deployments[i].name + ".",
             report.deployments[i]);
  return out;
}

}  // namespace handoff

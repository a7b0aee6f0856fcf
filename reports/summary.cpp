#include "reports/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "reports/cases.hpp"
#include "reports/timeline.hpp"

namespace handoff {
namespace {

constexpr std::size_t kRowsMax = 12;  // of lists that files hold whole

std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

class Summary : private Lines {
 public:
  Summary(const RunReport& report, const Verdict& verdict, const SummaryOptions& options)
      : report_(report),
        result_(report.result),
        scenario_(*report.scenario),
        verdict_(verdict),
        style_(options.style),
        cases_max_(options.cases) {}

  std::string text() {
    head();
    timeline();
    requests();
    times();
    nodes();
    workloads();
    faults();
    isolation();
    findings();
    expectations();
    return take();
  }

 private:
  void heading(std::string_view text) { line("\n{}", style_.bold(text)); }
  void table(const Table& t) { add(t.text(style_, 2)); }
  [[nodiscard]] std::string moment(TimeNs at) const {
    return moment_text(at, scenario_.start_unix_ns);
  }

  void head() {
    line("{}", style_.bold(scenario_.name));
    line("seed {}, {} simulated{}, {}, {}", scenario_.run.seed, duration_text(result_.end_ns),
         scenario_.start_unix_ns ? " from " + calendar_text(*scenario_.start_unix_ns) : "",
         plural(to_signed(result_.events), "event"), ending());
    line("digest {:016x} (scenario {:016x})", result_.digest, scenario_.digest);
  }

  [[nodiscard]] std::string ending() const {
    if (result_.stop == StopReason::drained && result_.unfinished == 0) return "nothing left to do";
    std::string text = fmt::format("stopped: {}", name(result_.stop));
    if (result_.unfinished > 0)
      text += fmt::format(" with {} unfinished", plural(to_signed(result_.unfinished), "request"));
    return text;
  }

  void timeline() {
    const std::vector<TimelineEntry> entries = timeline_of(report_);
    if (entries.empty()) return;
    heading("Timeline");
    for (const TimelineEntry& e : entries) line("  {}  {}", moment(e.at), e.what);
  }

  void requests() {
    heading("Requests");
    std::set<std::int32_t> statuses;
    for (const auto& [status, count] : report_.all.status) statuses.insert(status);
    std::vector<std::string> head{"deployment", "engine", "requests"};
    for (const std::int32_t status : statuses) head.push_back(fmt::format("HTTP {}", status));
    for (const char* column :
         {"prompt tokens", "cached", "output tokens", "retractions", "tainted"})
      head.emplace_back(column);
    const std::string sides = "ll" + std::string(head.size() - 2, 'r');
    Table t(sides, std::move(head));
    for (std::size_t i = 0; i < report_.deployments.size(); ++i) {
      const OutcomeMetrics& m = report_.deployments[i];
      const DeploymentTotals& d = result_.deployments[i];
      std::vector<std::string> row{d.name, d.engine, grouped(to_signed(m.requests))};
      for (const std::int32_t status : statuses) {
        const auto found = m.status.find(status);
        row.push_back(found == m.status.end() ? "-" : grouped(to_signed(found->second)));
      }
      row.push_back(grouped(d.prompt_tokens));
      row.push_back(percent_text(d.cached_tokens, d.prompt_tokens));
      row.push_back(grouped(d.output_tokens));
      row.push_back(grouped(to_signed(d.retractions)));
      row.push_back(grouped(to_signed(m.tainted)));
      t.add(std::move(row));
    }
    table(t);
  }

  static void add_times(Table& t, const std::string& deployment, const char* what,
                        const Distribution& d) {
    if (d.count == 0) return;
    t.add({deployment, what, grouped(to_signed(d.count)), duration_text(d.mean),
           duration_text(d.p50), duration_text(d.p90), duration_text(d.p99), duration_text(d.max)});
  }

  void times() {
    Table t("llrrrrrr",
            {"deployment", "of HTTP 200", "samples", "mean", "p50", "p90", "p99", "max"});
    for (std::size_t i = 0; i < report_.deployments.size(); ++i) {
      const std::string& name = result_.deployments[i].name;
      add_times(t, name, "TTFT", report_.deployments[i].ttft);
      add_times(t, name, "TPOT", report_.deployments[i].tpot);
      add_times(t, name, "end to end", report_.deployments[i].e2e);
    }
    if (t.empty()) return;
    heading("Times");
    table(t);
  }

  void nodes() {
    heading("Nodes");
    Table t("lrrrrr", {"node", "steps", "busy", "tokens computed", "pages used, peak", "pages"});
    for (const DeploymentTotals& d : result_.deployments)
      for (const NodeTotals& n : d.nodes)
        t.add({n.name, grouped(to_signed(n.steps)), percent_text(n.busy_ns, result_.end_ns),
               grouped(n.tokens), n.pages == 0 ? "-" : percent_text(n.pages_used_max, n.pages),
               grouped(n.pages)});
    table(t);
    for (const DeploymentTotals& d : result_.deployments)
      if (d.transfers > 0)
        line("  {}: {} from prefill to decode, {}", d.name,
             plural(to_signed(d.transfers), "transfer"), bytes_text(d.transfer_bytes));
  }

  void workloads() {
    heading("Workload");
    for (std::size_t i = 0; i < result_.workloads.size(); ++i) {
      const WorkloadCounters& w = result_.workloads[i];
      std::string text = fmt::format("{}: {} of {}", scenario_.run.workloads[i].name,
                                     plural(to_signed(w.requests), "request"),
                                     plural(to_signed(w.rows_read), "row"));
      const auto also = [&](std::uint64_t count, const char* what) {
        if (count > 0) text += fmt::format(", {} {}", grouped(to_signed(count)), what);
      };
      also(w.rows_skipped, "rows outside the window");
      also(w.rows_dropped, "rows dropped for want of tokens");
      also(w.prompts_clipped, "prompts clipped");
      also(w.outputs_clipped, "outputs clipped");
      line("  {}", text);
    }
  }

  void faults() {
    if (scenario_.run.faults.empty()) return;
    heading("Faults");
    for (const FaultCount& f : fault_counts(report_)) {
      if (f.fired == 0)
        line("  {}: {}", f.name, style_.bad("never fired"));
      else if (f.fired == 1)
        line("  {}: fired once, {}", f.name, moment(f.first_ns));
      else
        line("  {}: fired {} times, {} to {}", f.name, grouped(to_signed(f.fired)),
             moment(f.first_ns), moment(f.last_ns));
    }
    if (result_.firings_total > result_.firings.size())
      line("  (counted over the first {} firings of {})",
           grouped(to_signed(result_.firings.size())), grouped(to_signed(result_.firings_total)));
  }

  void isolation() {
    heading("Isolation");
    const OutcomeMetrics& m = report_.all;
    if (report_.wrong.empty()) {
      line("  {}", style_.good("no response was fed by content that is not its own"));
      return;
    }
    line("  {}", style_.bad(fmt::format("{} fed by other requests' memory, {} by wrong content of "
                                        "nobody else",
                                        plural(to_signed(m.tainted), "response"),
                                        grouped(to_signed(m.corrupt)))));
    Table t("lllrrrrrl", {"answered", "request", "tenant", "HTTP", "prompt", "foreign", "unwritten",
                          "output", "read mostly from"});
    for (std::size_t i = 0; i < std::min(report_.wrong.size(), kRowsMax); ++i)
      t.add(wrong_row(report_.wrong[i]));
    table(t);
    if (report_.wrong.size() > kRowsMax)
      line("  and {} more: all are in tainted_responses.csv of --out DIR",
           grouped(to_signed(report_.wrong.size() - kRowsMax)));
  }

  [[nodiscard]] std::vector<std::string> wrong_row(const RequestOutcome& o) const {
    std::string from = "-";
    if (o.main_source != kNoSerial) {
      from = fmt::format("request {} of {}", o.main_source, result_.tenants[o.main_source_tenant]);
      if (o.source_requests > 1) from += fmt::format(" (and {} more)", o.source_requests - 1);
    }
    return {moment(o.end_ns),
            std::to_string(o.serial),
            result_.tenants[o.tenant],
            std::to_string(o.status),
            grouped(o.prompt_tokens),
            grouped(o.foreign_tokens),
            grouped(o.unwritten_tokens),
            grouped(o.output_tokens_done),
            from};
  }

  void findings() {
    std::uint64_t total = 0;
    for (const std::uint64_t count : result_.findings_by_rule) total += count;
    heading("Findings");
    if (total == 0) {
      line("  {}", style_.good("none"));
      return;
    }
    for (int i = 0; i < kRules; ++i) {
      const std::uint64_t count = result_.findings_by_rule[static_cast<std::size_t>(i)];
      const Rule rule = static_cast<Rule>(i);
      if (count > 0) line("  {} {}: {}", code(rule), title(rule), grouped(to_signed(count)));
    }
    const std::vector<Case> cases = cases_of(result_.findings);
    const std::vector<const Case*> shown = first_of_each(cases, cases_max_);
    for (const Case* c : shown) tell(*c);
    if (cases.size() > shown.size())
      line("\n  {} more{}: --findings N tells N of each kind, --out DIR writes all",
           grouped(to_signed(cases.size() - shown.size())),
           shown.empty()       ? ""
           : shown.size() == 1 ? " like this one"
                               : " like these");
    if (total > result_.findings.size())
      line("  ({} findings beyond limits.findings are counted, not kept)",
           grouped(to_signed(total - result_.findings.size())));
  }

  void tell(const Case& c) {
    add("\n");
    for (const Finding* f : c.findings)
      line("  {}  {}  {}{}", style_.bad(code(f->rule)), f->node.empty() ? "client" : f->node,
           f->message, short_pages(*f));
    std::size_t width = 0;
    for (const ChainLink& link : c.chain) width = std::max(width, place(link).size());
    for (const ChainLink& link : c.chain) {
      const bool other = link.request != c.victim;
      const std::string who =
          link.request == kNoSerial ? "" : fmt::format("request {}: ", link.request);
      const std::string text = fmt::format("{}{}", who, link.what);
      line("    {}  {:<{}}  {}", moment(link.at), place(link), width,
           other ? style_.dim(text) : text);
    }
  }
  // Where a few ranges tell all.
  static std::string short_pages(const Finding& f) {
    constexpr std::size_t kFew = 4;
    return f.pages.empty() || f.pages.size() > kFew ? "" : " (" + pages_text(f) + ")";
  }
  static std::string place(const ChainLink& link) {
    return link.node.empty() ? "client" : link.node;
  }

  void expectations() {
    heading("Expectations");
    for (const Check& check : verdict_.checks) {
      if (!check.judged)
        line("  over all seeds  {}: {} ({})", check.expected.metric,
             check.found ? std::to_string(*check.found) : "nothing to measure",
             bound_text(check.expected));
      else if (check.met)
        line("  {}      {}: {}", style_.good("ok"), check.expected.metric,
             expected_and_found(check));
      else
        line("  {}  {}", style_.bad("MISSED"), handoff::text(check));
    }
    if (verdict_.unexpected_findings > 0)
      line("  {}  {}, and the scenario expects none", style_.bad("MISSED"),
           plural(to_signed(verdict_.unexpected_findings), "finding"));
    else if (scenario_.expect.all.empty() && !scenario_.expect.findings_given)
      line("  the scenario has none; no finding is what it gets");
    line("{}", verdict_.passed() ? style_.good("as expected") : style_.bad("NOT as expected"));
  }

  static std::string expected_and_found(const Check& check) {
    const std::string bound = bound_text(check.expected);
    const std::string found = std::to_string(*check.found);
    return bound == found ? found : fmt::format("{} ({})", found, bound);
  }

  const RunReport& report_;
  const RunResult& result_;
  const Scenario& scenario_;
  const Verdict& verdict_;
  Style style_;
  std::size_t cases_max_;
};

}  // namespace

std::string summary_text(const RunReport& report, const Verdict& verdict,
                         const SummaryOptions& options) {
  return Summary(report, verdict, options).text();
}

}  // namespace handoff

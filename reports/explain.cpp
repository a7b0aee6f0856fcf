#include "reports/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "models/oracle/happened_before.hpp"

namespace handoff {
namespace {

bool is_timeout(Cause cause) {
  return cause == Cause::bootstrap_timeout || cause == Cause::waiting_timeout;
}

std::string answer_of(const Observed& o) {
  if (!o.outcome) return "no answer";
  const RequestOutcome& r = *o.outcome;
  std::string text =
      fmt::format("HTTP {} after {}", r.status, duration_text(r.end_ns - r.arrival_ns));
  if (r.status != 200) text += fmt::format(" ({})", name(r.cause));
  return text;
}

std::set<Rule> rules_about(const Observed& o, RequestSerial victim) {
  std::set<Rule> rules;
  for (const Finding& f : o.findings)
    if (f.victim == victim) rules.insert(f.rule);
  return rules;
}

std::string codes(const std::set<Rule>& rules) {
  std::string text;
  for (const Rule rule : rules) text += (text.empty() ? "" : ", ") + std::string(code(rule));
  return text;
}

void add_reason(std::string& reasons, const std::string& reason) {
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

// "12:03:15.566" is enough where all steps fall on one day; the whole moment elsewhere.
class Teller : private Lines {
 public:
  Teller(const Explanation& e, const Style& style) : e_(e), style_(style), graph_(e.story.chain) {}

  std::string text() {
    head();
    steps();
    decisions();
    trials();
    return take();
  }

 private:
  void head() {
    const Case& c = e_.story;
    if (c.victim == kNoSerial)
      line("{}", style_.bold("A finding about no single request"));
    else
      line("{}",
           style_.bold(fmt::format("Request {}{}: {}", c.victim, tenant(), answer_of(e_.base))));
    for (const Finding* f : c.findings)
      line("  {}  finding {}  {}  {}", style_.bad(code(f->rule)), f->id,
           f->node.empty() ? "client" : f->node,
           f->pages.empty() ? f->message : fmt::format("{} ({})", f->message, pages_text(*f)));
  }

  [[nodiscard]] std::string tenant() const {
    if (!e_.base.outcome) return {};
    return " of " + e_.tenants.at(e_.base.outcome->tenant);
  }

  void steps() {
    line("\n{}", style_.bold("How it came to be"));
    std::size_t width = 0;
    for (const ChainLink& link : graph_.steps()) width = std::max(width, place(link).size());
    for (std::size_t i = 0; i < graph_.steps().size(); ++i) {
      const ChainLink& link = graph_.steps()[i];
      const std::string who =
          link.request == kNoSerial ? "" : fmt::format("request {}: ", link.request);
      line("  {:>2}. {}  {:<{}}  {}{}{}", i + 1, moment_text(link.at, e_.scenario->start_unix_ns),
           place(link), width, who, link.what, style_.dim(causes_text(i)));
    }
  }

  static std::string place(const ChainLink& link) {
    return link.node.empty() ? "client" : link.node;
  }

  // What it follows other than the step before it in the list.
  [[nodiscard]] std::string causes_text(std::size_t step) const {
    std::string text;
    for (const HappenedBefore::Edge& e : graph_.edges()) {
      if (e.to != step) continue;
      const char* why = e.why == HappenedBefore::Why::message  ? "message of "
                        : e.why == HappenedBefore::Why::object ? "same page as "
                                                               : "";
      if (e.why == HappenedBefore::Why::request && e.from + 1 == step) continue;
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", why, e.from + 1);
    }
    return text.empty() ? text : "  [after " + text + "]";
  }

  void decisions() {
    std::vector<std::pair<std::string, std::vector<std::size_t>>> keys;
    for (std::size_t i = 0; i < graph_.steps().size(); ++i) {
      const std::string& all = graph_.steps()[i].decision;
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find(", ", at), all.size());
        const std::string key = all.substr(at, end - at);
        const auto found =
            std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.first == key; });
        (found == keys.end() ? keys.emplace_back(key, std::vector<std::size_t>{}) : *found)
            .second.push_back(i + 1);
        at = end + 2;
      }
    }
    if (keys.empty()) return;
    line("\n{}", style_.bold("Decisions on the way"));
    for (const auto& [key, where] : keys)
      line("  {}: {}  {}", key, policy_value(*e_.engine, key),
           style_.dim(fmt::format("[step {}]", fmt::join(where, ", "))));
  }

  void trials() {
    if (e_.trials.empty()) return;
    line("\n{}", style_.bold(fmt::format("What one change would have done ({} tried, each a run)",
                                         e_.trials.size())));
    std::string idle;
    std::size_t width = 0;
    for (const Trial& t : e_.trials) {
      const Judgement judged = judge_trial(e_.story, e_.base, t);
      if (judged.effect != Effect::none) width = std::max(width, t.change.size());
    }
    for (const Effect effect : {Effect::stops, Effect::partly}) {
      for (const Trial& t : e_.trials) {
        const Judgement judged = judge_trial(e_.story, e_.base, t);
        if (judged.effect != effect) continue;
        if (effect == Effect::stops)
          line("  {}        {:<{}}  {}", style_.good("stops it"), t.change, width, judged.answer);
        else
          line("  {}  {:<{}}  {}, but {}", "not wholly    ", t.change, width, judged.answer,
               judged.but);
      }
    }
    for (const Trial& t : e_.trials)
      if (judge_trial(e_.story, e_.base, t).effect == Effect::none)
        idle += (idle.empty() ? "" : ", ") + t.change;
    if (!idle.empty()) line("  without effect: {}", idle);
  }

  const Explanation& e_;
  const Style& style_;
  HappenedBefore graph_;
};

}  // namespace

Judgement judge_trial(const Case& story, const Observed& base, const Trial& trial) {
  const Observed& o = trial.observed;
  Judgement judged;
  judged.answer = answer_of(o);
  const std::set<Rule> before = rules_about(base, story.victim);
  const std::set<Rule> after = rules_about(o, story.victim);
  const bool was_tainted = base.outcome && base.outcome->tainted;
  const bool tainted = o.outcome && o.outcome->tainted;
  const bool same = std::includes(after.begin(), after.end(), before.begin(), before.end());
  if (was_tainted ? tainted : same) return judged;

  if (o.outcome && o.outcome->corrupt)
    add_reason(judged.but, fmt::format("{} of its positions hold nothing or the wrong content",
                                       grouped(o.outcome->unwritten_tokens)));
  if (tainted) add_reason(judged.but, "it reads other requests' content now");
  if (!o.outcome) add_reason(judged.but, "the client waits for ever");
  if (o.outcome && is_timeout(o.outcome->cause) &&
      !(base.outcome && is_timeout(base.outcome->cause)))
    add_reason(judged.but, "only a timeout ends it, and its pages are held meanwhile");
  if (!after.empty()) add_reason(judged.but, "findings remain: " + codes(after));
  std::set<Rule> fresh;
  for (int i = 0; i < kRules; ++i)
    if (o.by_rule[static_cast<std::size_t>(i)] > 0 &&
        base.by_rule[static_cast<std::size_t>(i)] == 0)
      fresh.insert(static_cast<Rule>(i));
  if (!fresh.empty()) add_reason(judged.but, "others have new findings: " + codes(fresh));
  std::set<Rule> moved;
  for (const Finding& f : o.findings)
    if (before.count(f.rule) > 0 && f.victim != story.victim) {
      const bool known =
          std::any_of(base.findings.begin(), base.findings.end(),
                      [&](const Finding& b) { return b.rule == f.rule && b.victim == f.victim; });
      if (!known) moved.insert(f.rule);
    }
  if (!moved.empty()) add_reason(judged.but, "it befalls another request: " + codes(moved));
  judged.effect = judged.but.empty() ? Effect::stops : Effect::partly;
  return judged;
}

std::string explanation_text(const Explanation& explanation, const Style& style) {
  return Teller(explanation, style).text();
}

std::string explanation_dot(const Explanation& e) {
  const HappenedBefore graph(e.story.chain);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < graph.steps().size(); ++i) {
    const ChainLink& link = graph.steps()[i];
    std::string label =
        fmt::format("{}. {}\n", i + 1, moment_text(link.at, e.scenario->start_unix_ns));
    if (link.request != kNoSerial) label += fmt::format("request {}: ", link.request);
    label += link.what + "\n";
    if (!link.decision.empty()) label += "decided by " + link.decision + "\n";
    labels.push_back(std::move(label));
  }
  return graph.dot(e.scenario->name, labels);
}

}  // namespace handoff

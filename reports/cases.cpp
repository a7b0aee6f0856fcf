#include "reports/cases.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace handoff {
namespace {

void merge_chain(Case& c) {
  std::set<std::tuple<std::uint64_t, std::string, RequestSerial, std::string>> seen;
  for (const Finding* f : c.findings)
    for (const ChainLink& link : f->chain)
      if (seen.insert({link.event, link.node, link.request, link.what}).second)
        c.chain.push_back(link);
  std::stable_sort(c.chain.begin(), c.chain.end(),
                   [](const ChainLink& a, const ChainLink& b) { return a.event < b.event; });
}

std::string signature_of(const Case& c) {
  std::set<Rule> rules;
  for (const Finding* f : c.findings) rules.insert(f->rule);
  std::string text;
  for (const Rule rule : rules) text += (text.empty() ? "" : " ") + std::string(code(rule));
  return text;
}

}  // namespace

std::vector<Case> cases_of(const std::vector<Finding>& findings) {
  std::vector<Case> cases;
  std::map<RequestSerial, std::size_t> by_victim;
  for (const Finding& f : findings) {
    const auto [at, added] = by_victim.try_emplace(f.victim, cases.size());
    if (added || f.victim == kNoSerial) {
      at->second = cases.size();
      cases.emplace_back().victim = f.victim;
    }
    cases[at->second].findings.push_back(&f);
  }
  for (Case& c : cases) {
    merge_chain(c);
    c.signature = signature_of(c);
  }
  return cases;
}

std::vector<const Case*> first_of_each(const std::vector<Case>& cases, std::size_t per_signature) {
  std::map<std::string, std::size_t> shown;
  std::vector<const Case*> out;
  for (const Case& c : cases)
    if (shown[c.signature]++ < per_signature) out.push_back(&c);
  return out;
}

}  // namespace handoff

#include "models/faults/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "models/workload/synthetic.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/hash.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

constexpr std::uint64_t kTenThousand = 10'000;
constexpr std::uint64_t kThousand = 1'000;

bool is_within(TimeNs at, TimeNs from_ns, TimeNs for_ns) {
  return at >= from_ns && at - from_ns < for_ns;
}

void check(const Fault& fault, const OversizePromptFault& oversize) {
  const std::string who = label(fault);
  HANDOFF_CHECK((oversize.count > 0) + (oversize.rate_per_10k > 0) <= 1,
                who + ": both a count and a rate");
  HANDOFF_CHECK(oversize.count >= 0 && oversize.rate_per_10k >= 0,
                who + ": a negative count or rate");
  HANDOFF_CHECK(
      oversize.count == 0 || (oversize.for_ns > 0 && oversize.for_ns < kNever - oversize.from_ns),
      who + ": a count without a window");
  HANDOFF_CHECK(problem_of(oversize.prompt).empty(),
                who + ": prompt: " + problem_of(oversize.prompt));
  HANDOFF_CHECK(problem_of(oversize.output).empty(),
                who + ": output: " + problem_of(oversize.output));
}

std::vector<std::uint32_t> tenant_indices(const Fault& fault, const OversizePromptFault& oversize,
                                          TenantNames& tenants) {
  if (oversize.tenants.empty()) return {tenants.index(label(fault))};
  std::vector<std::uint32_t> indices;
  for (const TenantShare& share : oversize.tenants) indices.push_back(tenants.index(share.name));
  return indices;
}

// Streams that one injected request, or all of one plan, are drawn from.
struct OversizeStreams {
  OversizeStreams(std::uint64_t seed, std::uint64_t entity)
      : prompt(seed, "oversize-prompt", entity),
        output(seed, "oversize-output", entity),
        tenant(seed, "oversize-tenant", entity) {}
  Rng prompt, output, tenant;
};

RequestSpec draw_oversize(const OversizePromptFault& fault,
                          const std::vector<std::uint32_t>& tenants, OversizeStreams& streams) {
  RequestSpec spec;
  spec.prompt_tokens = draw_length(fault.prompt, streams.prompt);
  HANDOFF_CHECK(spec.prompt_tokens > 0, "an oversize prompt of no tokens");
  spec.output_tokens = draw_length(fault.output, streams.output);
  spec.tenant = tenants[fault.tenants.empty() ? 0 : draw_share(fault.tenants, streams.tenant)];
  spec.deployment = fault.deployment;
  spec.injected = true;
  return spec;
}

void expand_oversize(const Fault& fault, std::uint32_t index, std::uint64_t seed,
                     std::uint32_t workloads, TenantNames& tenants, std::vector<RequestSpec>& out) {
  const auto& oversize = std::get<OversizePromptFault>(fault.what);
  check(fault, oversize);
  const std::vector<std::uint32_t> names = tenant_indices(fault, oversize, tenants);
  std::vector<TimeNs> instants;
  Rng rng(seed, "oversize", index);
  for (std::int64_t k = 0; k < oversize.count; ++k)
    instants.push_back(oversize.from_ns + rng.between(0, oversize.for_ns - 1));
  std::sort(instants.begin(), instants.end());
  // Lengths are drawn in this order, so that a further instant does not change those of the others.
  instants.insert(instants.end(), oversize.at_ns.begin(), oversize.at_ns.end());
  OversizeStreams streams(seed, index);
  std::vector<RequestSpec> specs;
  for (const TimeNs at : instants) {
    specs.push_back(draw_oversize(oversize, names, streams));
    specs.back().arrival_ns = at;
    specs.back().workload = workloads + index;
  }
  std::stable_sort(specs.begin(), specs.end(), [](const RequestSpec& a, const RequestSpec& b) {
    return a.arrival_ns < b.arrival_ns;
  });
  for (RequestSpec& spec : specs) {
    spec.row = static_cast<std::uint64_t>(&spec - specs.data());
    out.push_back(std::move(spec));
  }
}

void add_timed(std::uint32_t index, TimeNs at_ns, TimeNs for_ns,
               std::vector<FaultPlan::TimedFault>& out) {
  out.push_back({at_ns, index, true});
  if (for_ns < kNever - at_ns) out.push_back({at_ns + for_ns, index, false});
}

bool accepts(const NoticeFault& fault, const NoticeFacts& facts) {
  const NoticeSelector& select = fault.select;
  return fault.deployment == facts.deployment &&
         select.prefill_node.value_or(facts.prefill_node) == facts.prefill_node &&
         select.decode_node.value_or(facts.decode_node) == facts.decode_node &&
         select.rank.value_or(facts.rank) == facts.rank &&
         select.request.value_or(facts.request) == facts.request &&
         facts.prompt_tokens >= select.prompt_tokens_min &&
         is_within(facts.now, select.from_ns, select.for_ns);
}

}  // namespace

FaultPlan expand(const std::vector<Fault>& faults, std::uint64_t seed, std::uint32_t workloads,
                 TenantNames& tenants) {
  FaultPlan plan;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    const auto& what = faults[i].what;
    if (std::holds_alternative<OversizePromptFault>(what))
      expand_oversize(faults[i], i, seed, workloads, tenants, plan.oversize);
    else if (const auto* crash = std::get_if<NodeCrashFault>(&what))
      add_timed(i, crash->at_ns, crash->for_ns, plan.timed);
    else if (const auto* link = std::get_if<LinkFault>(&what))
      add_timed(i, link->at_ns, link->for_ns, plan.timed);
    else if (const auto* abort = std::get_if<ClientAbortFault>(&what);
             abort != nullptr && abort->request)
      add_timed(i, abort->at_ns, kNever, plan.timed);
  }
  // Stable: faults and rows were added in order, a begin before its end.
  std::stable_sort(
      plan.oversize.begin(), plan.oversize.end(),
      [](const RequestSpec& a, const RequestSpec& b) { return a.arrival_ns < b.arrival_ns; });
  std::stable_sort(
      plan.timed.begin(), plan.timed.end(),
      [](const FaultPlan::TimedFault& a, const FaultPlan::TimedFault& b) { return a.at < b.at; });
  return plan;
}

OversizeCompanions::OversizeCompanions(const std::vector<Fault>& faults, std::uint64_t seed,
                                       std::uint32_t workloads, TenantNames& tenants)
    : seed_(seed), workloads_(workloads) {
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    const auto* oversize = std::get_if<OversizePromptFault>(&faults[i].what);
    if (oversize == nullptr || oversize->rate_per_10k == 0) continue;
    check(faults[i], *oversize);
    sites_.push_back(
        {oversize, i, tenant_indices(faults[i], *oversize, tenants), oversize->at_ns.size()});
  }
}

std::vector<RequestSpec> OversizeCompanions::companions_of(const RequestSpec& spec) {
  std::vector<RequestSpec> out;
  if (spec.injected) return out;
  for (Site& site : sites_) {
    if (site.fault->deployment != spec.deployment) continue;
    if (!is_within(spec.arrival_ns, site.fault->from_ns, site.fault->for_ns)) continue;
    const std::uint64_t entity = hash_combine(hash_combine(site.index, spec.workload), spec.row);
    Rng rng(seed_, "oversize-companion", entity);
    if (!rng.chance(static_cast<std::uint64_t>(site.fault->rate_per_10k), kTenThousand)) continue;
    out.push_back(companion(site, spec));
  }
  return out;
}

RequestSpec OversizeCompanions::companion(Site& site, const RequestSpec& spec) const {
  OversizeStreams streams(seed_, hash_combine(hash_combine(site.index, spec.workload), spec.row));
  RequestSpec made = draw_oversize(*site.fault, site.tenants, streams);
  made.arrival_ns = spec.arrival_ns;
  made.workload = workloads_ + site.index;
  made.row = site.next_row++;
  return made;
}

std::optional<DrawnAbort> abort_after(const std::vector<Fault>& faults, const RequestSpec& spec,
                                      std::uint64_t seed) {
  std::optional<DrawnAbort> soonest;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    const auto* abort = std::get_if<ClientAbortFault>(&faults[i].what);
    if (abort == nullptr || abort->request.has_value() || abort->deployment != spec.deployment)
      continue;
    Rng rng(seed, "client-abort", hash_combine(hash_combine(i, spec.workload), spec.row));
    if (!rng.chance(static_cast<std::uint64_t>(abort->chance_permille), kThousand)) continue;
    if (!soonest || abort->after_ns < soonest->after_ns) soonest = DrawnAbort{abort->after_ns, i};
  }
  return soonest;
}

NoticeMatcher::NoticeMatcher(const std::vector<Fault>& faults, std::uint64_t seed) : seed_(seed) {
  for (std::uint32_t i = 0; i < faults.size(); ++i)
    if (const auto* notice = std::get_if<NoticeFault>(&faults[i].what))
      (notice->kind == NoticeFaultKind::stale ? stale_sites_ : sites_).push_back({notice, i, 0});
}

const NoticeFault* NoticeMatcher::match(const NoticeFacts& facts) {
  return first_that_fires(sites_, facts);
}

const NoticeFault* NoticeMatcher::match_stale(const NoticeFacts& facts) {
  return first_that_fires(stale_sites_, facts);
}

const NoticeFault* NoticeMatcher::first_that_fires(std::vector<Site>& sites,
                                                   const NoticeFacts& facts) const {
  const NoticeFault* winner = nullptr;
  for (Site& site : sites) {
    if (!accepts(*site.fault, facts)) continue;
    ++site.matches;
    if (winner != nullptr) continue;
    const NoticeSelector& select = site.fault->select;
    if (select.nth != 0 && select.nth != site.matches) continue;
    Rng rng(seed_, "notice-fault",
            hash_combine(hash_combine(site.index, facts.request), facts.rank));
    if (rng.chance(static_cast<std::uint64_t>(select.chance_permille), kThousand))
      winner = site.fault;
  }
  return winner;
}

}  // namespace handoff

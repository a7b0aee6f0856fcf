#include "sim/search/written_out.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/faults/plan.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// Requests of a run in the order in which it numbers them (Cluster does the same while it runs).
class Arrivals {
 public:
  explicit Arrivals(const RunConfig& config) : config_(config) {
    const auto count = static_cast<std::uint32_t>(config.workloads.size());
    std::vector<WorkloadStream> streams;
    for (std::uint32_t w = 0; w < count; ++w)
      streams.push_back(WorkloadStream::open(config.workloads[w], w, config.seed, tenants_));
    merged_ = MergedWorkload(std::move(streams));
    plan_ = expand(config.faults, config.seed, count, tenants_);
    companions_ = OversizeCompanions(config.faults, config.seed, count, tenants_);
  }

  std::vector<RequestSpec> until(TimeNs until_ns) {
    std::vector<RequestSpec> all;
    while (std::optional<RequestSpec> spec = pull()) {
      if (spec->arrival_ns > until_ns) break;
      const std::vector<RequestSpec> companions =
          spec->injected ? std::vector<RequestSpec>{} : companions_.companions_of(*spec);
      all.push_back(std::move(*spec));
      all.insert(all.end(), companions.begin(), companions.end());
    }
    return all;
  }

  [[nodiscard]] const TenantNames& tenants() const { return tenants_; }
  [[nodiscard]] const FaultPlan& plan() const { return plan_; }

 private:
  std::optional<RequestSpec> pull() {
    if (!row_) row_ = merged_.next();
    const bool injected = next_ < plan_.oversize.size();
    if (injected && (!row_ || plan_.oversize[next_].arrival_ns < row_->arrival_ns))
      return plan_.oversize[next_++];
    return std::exchange(row_, std::nullopt);
  }

  const RunConfig& config_;
  TenantNames tenants_;
  MergedWorkload merged_;
  FaultPlan plan_;
  OversizeCompanions companions_;
  std::optional<RequestSpec> row_;
  std::size_t next_ = 0;
};

// When the client of a request gives up, by the workload or by any fault.
TimeNs patience(const RunConfig& config, const RequestSpec& spec, RequestSerial serial) {
  TimeNs after = spec.abort_after_ns;
  if (const auto drawn = abort_after(config.faults, spec, config.seed))
    after = std::min(after, drawn->after_ns);
  for (const Fault& fault : config.faults) {
    const auto* abort = std::get_if<ClientAbortFault>(&fault.what);
    if (abort != nullptr && abort->request == serial && abort->at_ns > spec.arrival_ns)
      after = std::min(after, abort->at_ns - spec.arrival_ns);
  }
  return after;
}

// Notice faults tied to the requests they met, each once; others as they are.
std::vector<WrittenOut::FaultItem> tied_faults(const RunConfig& config, std::size_t items,
                                               const std::vector<FaultFiring>& firings) {
  std::vector<WrittenOut::FaultItem> faults;
  for (std::uint32_t i = 0; i < config.faults.size(); ++i) {
    const Fault& fault = config.faults[i];
    if (std::holds_alternative<OversizePromptFault>(fault.what) ||
        std::holds_alternative<ClientAbortFault>(fault.what))
      continue;  // in the requests already
    const auto* notice = std::get_if<NoticeFault>(&fault.what);
    if (notice == nullptr) {
      faults.push_back({fault, std::nullopt});
      continue;
    }
    std::vector<RequestSerial> met;
    for (const FaultFiring& firing : firings)
      if (firing.fault == i && firing.request < items &&
          std::find(met.begin(), met.end(), firing.request) == met.end())
        met.push_back(firing.request);
    for (const RequestSerial serial : met) {
      WrittenOut::FaultItem tied{fault, serial};
      NoticeSelector& select = std::get<NoticeFault>(tied.fault.what).select;
      NoticeSelector plain;
      plain.rank = select.rank;
      plain.group = select.group;
      select = plain;
      faults.push_back(std::move(tied));
    }
  }
  return faults;
}

}  // namespace

WrittenOut write_out(const RunConfig& config, TimeNs until_ns,
                     const std::vector<FaultFiring>& firings) {
  Arrivals arrivals(config);
  WrittenOut written;
  written.rest = config;
  written.rest.workloads.clear();
  written.rest.faults.clear();
  RequestSerial serial = 0;
  for (const RequestSpec& spec : arrivals.until(until_ns)) {
    WrittenOut::Item item;
    item.deployment = spec.deployment;
    item.request = {spec.arrival_ns,
                    spec.prompt_tokens,
                    spec.output_tokens,
                    arrivals.tenants().name(spec.tenant),
                    patience(config, spec, serial++),
                    spec.blocks,
                    spec.block_tokens};
    written.items.push_back(std::move(item));
  }
  written.faults = tied_faults(config, written.items.size(), firings);
  return written;
}

RunConfig assemble(const WrittenOut& written) {
  RunConfig config = written.rest;
  // Workloads in order of deployment, so requests of one instant are numbered by deployment.
  std::vector<std::size_t> order(written.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const WrittenOut::Item& x = written.items[a];
    const WrittenOut::Item& y = written.items[b];
    return x.request.at_ns != y.request.at_ns ? x.request.at_ns < y.request.at_ns
                                              : x.deployment < y.deployment;
  });
  std::vector<RequestSerial> serials(written.items.size());
  std::map<std::uint32_t, std::vector<ListedRequest>> lists;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const WrittenOut::Item& item = written.items[order[i]];
    serials[order[i]] = static_cast<RequestSerial>(i);
    lists[item.deployment].push_back(item.request);
  }
  for (auto& [deployment, list] : lists) {
    WorkloadConfig workload;
    workload.name = lists.size() == 1 ? "requests" : written.rest.deployments[deployment].name;
    workload.deployment = deployment;
    workload.source = std::move(list);
    config.workloads.push_back(std::move(workload));
  }
  for (const WrittenOut::FaultItem& item : written.faults) {
    config.faults.push_back(item.fault);
    if (!item.item) continue;
    auto* notice = std::get_if<NoticeFault>(&config.faults.back().what);
    HANDOFF_CHECK(notice != nullptr, "only notice faults are tied to a request");
    notice->select.request = serials[*item.item];
  }
  return config;
}

WrittenOut with_items(const WrittenOut& written, const std::vector<std::size_t>& items) {
  WrittenOut out;
  out.rest = written.rest;
  for (const std::size_t i : items) out.items.push_back(written.items[i]);
  for (WrittenOut::FaultItem fault : written.faults) {
    if (fault.item) {
      const auto at = std::lower_bound(items.begin(), items.end(), *fault.item);
      if (at == items.end() || *at != *fault.item) continue;
      fault.item = static_cast<std::size_t>(at - items.begin());
    }
    out.faults.push_back(std::move(fault));
  }
  return out;
}

WrittenOut with_faults(const WrittenOut& written, const std::vector<std::size_t>& faults) {
  WrittenOut out = written;
  out.faults.clear();
  for (const std::size_t i : faults) out.faults.push_back(written.faults[i]);
  return out;
}

}  // namespace handoff

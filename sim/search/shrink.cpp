#include "sim/search/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "sim/engine/check.hpp"
#include "sim/search/reduce.hpp"

namespace handoff {
namespace {

constexpr int kRoundsMax = 6;

class Shrinker {
 public:
  Shrinker(WrittenOut start, Signature signature, std::uint64_t events_max,
           const ShrinkOptions& options)
      : best_(std::move(start)),
        signature_(std::move(signature)),
        events_max_(events_max),
        options_(options) {}

  Shrunk run(const Finding& finding) {
    HANDOFF_CHECK(shows(best_), "the run with its requests written out does not show the failure");
    // Reuse at once needs fewer requests than reuse after the whole pool was used.
    for (std::size_t d = 0; d < best_.rest.deployments.size(); ++d)
      take([d](WrittenOut& w) { w.rest.deployments[d].engine.free_order = FreeOrder::lifo; });
    if (stage("settings") && guess(finding) && stage("guess")) rounds();
    return {std::move(best_), runs_.load(), complete_};
  }

 private:
  using Edit = std::function<void(WrittenOut&)>;

  [[nodiscard]] bool shows(const WrittenOut& candidate) {
    if (runs_ > 0 && !options_.go_on()) return false;
    ++runs_;
    return find_signature(assemble(candidate), signature_, events_max_).has_value();
  }

  [[nodiscard]] bool acceptable(const WrittenOut& candidate) const {
    return options_.acceptable(assemble(candidate));
  }

  // Takes the edit when the failure stays. False: nothing changed.
  bool take(const Edit& edit) {
    WrittenOut candidate = best_;
    edit(candidate);
    if (!acceptable(candidate) || !shows(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool stage(const std::string& name) {
    options_.on_stage(name, best_, runs_.load());
    complete_ = options_.go_on();
    return complete_;
  }

  // What a person would try first: the victim with those it read from, then the last few requests.
  bool guess(const Finding& finding) {
    std::vector<std::vector<std::size_t>> subsets;
    std::set<std::size_t> named;
    if (finding.victim < best_.items.size()) named.insert(finding.victim);
    for (const ChainLink& link : finding.chain)
      if (link.request < best_.items.size()) named.insert(link.request);
    if (!named.empty()) subsets.emplace_back(named.begin(), named.end());
    for (std::size_t last = 4; last < best_.items.size(); last *= 4) {
      std::set<std::size_t> some = named;
      for (std::size_t i = best_.items.size() - last; i < best_.items.size(); ++i) some.insert(i);
      subsets.emplace_back(some.begin(), some.end());
    }
    const auto passing = first_passing(subsets.size(), options_.jobs, [&](std::size_t i) {
      return shows(with_items(best_, subsets[i]));
    });
    if (passing) best_ = with_items(best_, subsets[*passing]);
    return true;
  }

  void rounds() {
    std::string before;
    for (int round = 0; round < kRoundsMax && before != mark(); ++round) {
      before = mark();
      requests();
      if (!stage("requests")) return;
      faults();
      if (!stage("faults")) return;
      cluster();
      if (!stage("cluster")) return;
      lengths();
      if (!stage("lengths")) return;
    }
    labels();
    stage("labels");
  }

  // Equal marks: a round has changed nothing.
  [[nodiscard]] std::string mark() const {
    std::string text = fmt::format("{} {} {} {}", best_.items.size(), best_.faults.size(),
                                   best_.rest.operations.size(), best_.rest.deployments.size());
    for (const WrittenOut::Item& i : best_.items)
      text +=
          fmt::format(" {}/{}/{}/{}/{}", i.request.at_ns, i.request.prompt_tokens,
                      i.request.output_tokens, i.request.abort_after_ns, i.request.blocks.size());
    for (const DeploymentConfig& d : best_.rest.deployments)
      text += fmt::format(" {}+{} {}+{} {}", d.prefill.nodes, d.decode.nodes,
                          d.prefill.kv_pool_tokens, d.decode.kv_pool_tokens, d.ranks);
    return text;
  }

  void requests() {
    const WrittenOut start = best_;
    const auto kept = ddmin(
        start.items.size(), options_.jobs,
        [&](const std::vector<std::size_t>& some) { return shows(with_items(start, some)); },
        options_.go_on);
    best_ = with_items(start, kept);
  }

  void faults() {
    if (!best_.faults.empty()) {
      if (take([](WrittenOut& w) { w.faults.clear(); })) return;
      const WrittenOut start = best_;
      const auto kept = ddmin(
          start.faults.size(), options_.jobs,
          [&](const std::vector<std::size_t>& some) { return shows(with_faults(start, some)); },
          options_.go_on);
      best_ = with_faults(start, kept);
    }
    take([](WrittenOut& w) { w.rest.notes.clear(); });
    for (std::size_t i = best_.rest.operations.size(); i-- > 0;)
      take([i](WrittenOut& w) {
        w.rest.operations.erase(w.rest.operations.begin() + static_cast<std::ptrdiff_t>(i));
      });
  }

  void cluster() {
    drop_deployments();
    take([](WrittenOut& w) { w.rest.seed = RunConfig{}.seed; });
    take([](WrittenOut& w) { w.rest.network = {}; });
    take([](WrittenOut& w) { w.rest.limits = {}; });
    take([](WrittenOut& w) { w.rest.terminate_within_ns = RunConfig{}.terminate_within_ns; });
    for (std::size_t d = 0; d < best_.rest.deployments.size(); ++d) {
      const auto of = [d](WrittenOut& w) -> DeploymentConfig& { return w.rest.deployments[d]; };
      number(
          of, [](DeploymentConfig & c) -> auto& { return c.ranks; }, 1);
      number(
          of, [](DeploymentConfig & c) -> auto& { return c.prefill.nodes; }, 1);
      if (of(best_).decode.nodes > 0)
        number(
            of, [](DeploymentConfig & c) -> auto& { return c.decode.nodes; }, 1);
      take([&](WrittenOut& w) { of(w).prefill.efficiency = {}; });
      take([&](WrittenOut& w) { of(w).decode.efficiency = {}; });
      decisions(d);
    }
  }

  void drop_deployments() {
    for (std::size_t d = best_.rest.deployments.size();
         d-- > 0 && best_.rest.deployments.size() > 1;)
      take([d](WrittenOut& w) {
        const auto index = static_cast<std::uint32_t>(d);
        std::erase_if(w.rest.operations, [&](const Operation& o) { return o.deployment == index; });
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < w.items.size(); ++i)
          if (w.items[i].deployment != index) kept.push_back(i);
        w = with_items(w, kept);
        w.rest.deployments.erase(w.rest.deployments.begin() + static_cast<std::ptrdiff_t>(d));
        for (WrittenOut::Item& item : w.items) item.deployment -= item.deployment > index;
        for (Operation& o : w.rest.operations) o.deployment -= o.deployment > index;
        for (WrittenOut::FaultItem& f : w.faults) renumber(f.fault, index);
      });
  }

  static void renumber(Fault& fault, std::uint32_t gone) {
    std::visit(
        [&](auto& what) {
          if constexpr (requires { what.deployment; }) what.deployment -= what.deployment > gone;
        },
        fault.what);
  }

  // Each decision that differs from the preset's put back, where the failure stays.
  void decisions(std::size_t d) {
    const EnginePolicy* preset = options_.preset(best_.rest.deployments[d]);
    if (preset == nullptr) return;
    take([&](WrittenOut& w) { w.rest.deployments[d].engine = *preset; });
    take([&](WrittenOut& w) { w.rest.deployments[d].engine.bugs = preset->bugs; });
    take([&](WrittenOut& w) { w.rest.deployments[d].engine.commit = preset->commit; });
    take([&](WrittenOut& w) { w.rest.deployments[d].engine.free_order = preset->free_order; });
  }

  template <class Of, class Get>
  void number(Of of, Get get, std::int64_t low) {
    using Value = std::remove_reference_t<decltype(get(of(best_)))>;
    const auto value = static_cast<std::int64_t>(get(of(best_)));
    if (value <= low) return;
    const std::int64_t least = minimise(low, value, [&](std::int64_t v) {
      WrittenOut candidate = best_;
      get(of(candidate)) = static_cast<Value>(v);
      return acceptable(candidate) && shows(candidate);
    });
    if (least != value) get(of(best_)) = static_cast<Value>(least);
  }

  void lengths() {
    for (std::size_t i = 0; i < best_.items.size(); ++i) {
      const auto of = [i](WrittenOut& w) -> ListedRequest& { return w.items[i].request; };
      take([&](WrittenOut& w) { of(w).blocks.clear(), of(w).block_tokens = 0; });
      take([&](WrittenOut& w) { of(w).tenant.clear(); });
      take([&](WrittenOut& w) { of(w).abort_after_ns = kNever; });
      number(
          of, [](ListedRequest & r) -> auto& { return r.prompt_tokens; }, 1);
      number(
          of, [](ListedRequest & r) -> auto& { return r.output_tokens; }, 1);
    }
    times();
    for (std::size_t d = 0; d < best_.rest.deployments.size(); ++d) {
      const auto of = [d](WrittenOut& w) -> DeploymentConfig& { return w.rest.deployments[d]; };
      number(
          of, [](DeploymentConfig & c) -> auto& { return c.prefill.kv_pool_tokens; }, 1);
      if (of(best_).decode.nodes > 0)
        number(
            of, [](DeploymentConfig & c) -> auto& { return c.decode.kv_pool_tokens; }, 1);
    }
  }

  // Everything as early as it can be, in whole milliseconds where that does.
  void times() {
    if (best_.items.empty()) return;
    TimeNs first = kNever;
    for (const WrittenOut::Item& item : best_.items) first = std::min(first, item.request.at_ns);
    take([&](WrittenOut& w) {
      for (WrittenOut::Item& item : w.items) item.request.at_ns -= first;
      for (WrittenOut::FaultItem& f : w.faults) earlier(f.fault, first);
      for (Operation& o : w.rest.operations) o.at_ns = std::max<TimeNs>(0, o.at_ns - first);
    });
    for (std::size_t i = 0; i < best_.items.size(); ++i) {
      rounded_time(
          i, [](ListedRequest & r) -> auto& { return r.at_ns; }, 0);
      if (best_.items[i].request.abort_after_ns != kNever)
        rounded_time(
            i, [](ListedRequest & r) -> auto& { return r.abort_after_ns; }, 1);
    }
  }

  static void earlier(Fault& fault, TimeNs by) {
    const auto move = [by](TimeNs& at) { at = std::max<TimeNs>(0, at - by); };
    if (auto* crash = std::get_if<NodeCrashFault>(&fault.what)) move(crash->at_ns);
    if (auto* link = std::get_if<LinkFault>(&fault.what)) move(link->at_ns);
  }

  // The smallest number of the coarsest unit that does.
  template <class Get>
  void rounded_time(std::size_t i, Get get, std::int64_t low) {
    for (const TimeNs unit : {kSecond, kMillisecond, kMicrosecond}) {
      const TimeNs now = get(best_.items[i].request);
      const std::int64_t high = div_ceil(now, unit);
      const auto with = [&](std::int64_t count) {
        WrittenOut candidate = best_;
        get(candidate.items[i].request) = count * unit;
        return candidate;
      };
      const auto good = [&](std::int64_t count) {
        const WrittenOut candidate = with(count);
        return acceptable(candidate) && shows(candidate);
      };
      if (high <= low || !good(high)) continue;
      best_ = with(minimise(low, high, good));
      return;
    }
  }

  // Labels of blocks numbered anew, from 1.
  void labels() {
    take([](WrittenOut& w) {
      std::map<std::uint64_t, std::uint64_t> names;
      for (WrittenOut::Item& item : w.items)
        for (std::uint64_t& label : item.request.blocks)
          label = names.try_emplace(label, names.size() + 1).first->second;
    });
  }

  WrittenOut best_;
  Signature signature_;
  std::uint64_t events_max_;
  const ShrinkOptions& options_;
  std::atomic<std::uint64_t> runs_{0};
  bool complete_ = true;
};

}  // namespace

Shrunk shrink(const RunConfig& config, const Finding& finding,
              const std::vector<FaultFiring>& firings, std::uint64_t events_max,
              const ShrinkOptions& options) {
  // What arrives after the failure cannot have caused it.
  return Shrinker(write_out(config, finding.at, firings), signature_of(finding), events_max,
                  options)
      .run(finding);
}

}  // namespace handoff

#include "sim/search/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "models/serving/handoff.hpp"
#include "models/serving/run.hpp"
#include "sim/engine/check.hpp"
#include "sim/search/swarm.hpp"

namespace handoff {
namespace {

constexpr std::uint64_t kProgressEvery = 64;
// A run that goes on for longer than this has gone astray; oracle I6 then says so.
constexpr std::uint64_t kEventsMax = 3'000'000;

// Names of all probes, in a fixed order.
class Probes {
 public:
  Probes() {
    for (const std::string& row : handoff_rows()) add("row " + row);
    first_cause_ = names_.size();
    for (int c = 0; c <= static_cast<int>(Cause::lease_expired); ++c)
      add(std::string("ended: ") + name(static_cast<Cause>(c)));
    for (const char* other :
         {"prefix cache hit", "retraction", "explicit ranks", "all pages of a decode node in use",
          "all pages of a prefill node in use", "two nodes of a kind"})
      other_.push_back(add(other));
    for (const char* fault : {"oversize_prompt", "client_abort", "node_crash", "link"})
      faults_.push_back(add(std::string("fault fired: ") + fault));
    for (int k = 0; k <= static_cast<int>(NoticeFaultKind::stale); ++k)
      notices_.push_back(
          add(std::string("fault fired: notice ") + name(static_cast<NoticeFaultKind>(k))));
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] std::vector<bool> reached(const RunConfig& config, const RunResult& result,
                                          const std::set<Cause>& causes) const {
    std::vector<bool> hit(names_.size());
    for (std::size_t row = 0; row < result.transitions.size(); ++row)
      hit[row] = result.transitions[row] > 0;
    for (const Cause cause : causes) hit[first_cause_ + static_cast<std::size_t>(cause)] = true;
    const DeploymentTotals& d = result.deployments[0];
    const auto full = [&](const char* role) {
      return std::any_of(d.nodes.begin(), d.nodes.end(), [&](const NodeTotals& n) {
        return n.name.find(role) != std::string::npos && n.pages_used_max == n.pages;
      });
    };
    const bool facts[] = {
        d.cached_tokens > 0,
        d.retractions > 0,
        config.deployments[0].ranks > 1,
        full("decode"),
        full("prefill"),
        config.deployments[0].prefill.nodes > 1 || config.deployments[0].decode.nodes > 1};
    for (std::size_t i = 0; i < other_.size(); ++i) hit[other_[i]] = facts[i];
    for (const FaultFiring& firing : result.firings)
      hit[probe_of(config.faults[firing.fault])] = true;
    return hit;
  }

 private:
  std::size_t add(std::string probe) {
    names_.push_back(std::move(probe));
    return names_.size() - 1;
  }
  [[nodiscard]] std::size_t probe_of(const Fault& fault) const {
    if (const auto* notice = std::get_if<NoticeFault>(&fault.what))
      return notices_[static_cast<std::size_t>(notice->kind)];
    if (std::holds_alternative<OversizePromptFault>(fault.what)) return faults_[0];
    if (std::holds_alternative<ClientAbortFault>(fault.what)) return faults_[1];
    return std::holds_alternative<NodeCrashFault>(fault.what) ? faults_[2] : faults_[3];
  }

  std::vector<std::string> names_;
  std::size_t first_cause_ = 0;
  std::vector<std::size_t> other_, faults_, notices_;
};

struct OneRun {
  std::vector<Signature> signatures;
  std::vector<bool> probes;
  std::uint64_t requests = 0;
  std::uint64_t events = 0;
};

OneRun run_one(const RunConfig& base, std::uint64_t seed, const Probes& probes) {
  RunConfig config = draw_swarm(base, seed);
  config.limits.events_max = std::min(config.limits.events_max, kEventsMax);
  std::set<Cause> causes;
  RunObserver observer;
  observer.on_outcome = [&](const RequestOutcome& o, const TenantNames&) {
    causes.insert(o.cause);
  };
  const RunResult result = run(config, observer);
  OneRun one;
  for (const Finding& f : result.findings) {
    const Signature signature = signature_of(f);
    if (std::find(one.signatures.begin(), one.signatures.end(), signature) == one.signatures.end())
      one.signatures.push_back(signature);
  }
  one.probes = probes.reached(config, result, causes);
  one.requests = result.requests;
  one.events = result.events;
  return one;
}

// Runs finish in any order and are merged in order of seed, so that the sum does not depend on
// threads: what is merged is always a whole prefix of the seeds.
class Merger {
 public:
  Merger(const CampaignOptions& options, const Probes& probes)
      : options_(options), probes_(probes), counts_(probes.names().size()) {}

  void add(std::uint64_t index, OneRun one) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(one));
    for (auto at = waiting_.begin(); at != waiting_.end() && at->first == campaign_.runs && !full_;
         at = waiting_.erase(at))
      merge(at->second);
  }
  void fail(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    if (!failure_ || index < failed_at_) {
      failed_at_ = index;
      failure_ = std::current_exception();
    }
  }
  [[nodiscard]] bool full() const { return full_; }

  Campaign take() {
    if (failure_ && failed_at_ == campaign_.runs) std::rethrow_exception(failure_);
    for (std::size_t i = 0; i < counts_.size(); ++i)
      campaign_.probes[probes_.names()[i]] = counts_[i];
    return std::move(campaign_);
  }

 private:
  void merge(const OneRun& one) {
    const std::uint64_t seed = options_.first_seed + campaign_.runs;
    ++campaign_.runs;
    campaign_.requests += one.requests;
    campaign_.events += one.events;
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += one.probes[i];
    for (const Signature& signature : one.signatures) {
      const auto known = std::find_if(campaign_.finds.begin(), campaign_.finds.end(),
                                      [&](const Find& f) { return f.signature == signature; });
      if (known == campaign_.finds.end())
        campaign_.finds.push_back({signature, seed, 1});
      else
        ++known->runs;
    }
    if (options_.stop_at_find && !campaign_.finds.empty()) full_ = true;
    if (options_.on_progress && campaign_.runs % kProgressEvery == 0)
      options_.on_progress(campaign_.runs, campaign_.finds.size());
  }

  const CampaignOptions& options_;
  const Probes& probes_;
  std::vector<std::uint64_t> counts_;
  std::mutex mutex_;
  std::map<std::uint64_t, OneRun> waiting_;
  std::atomic<bool> full_{false};
  std::exception_ptr failure_;
  std::uint64_t failed_at_ = 0;
  Campaign campaign_;
};

}  // namespace

Campaign run_campaign(const RunConfig& base, const CampaignOptions& options) {
  const Probes probes;
  Merger merger(options, probes);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    while (!merger.full() && !failed && (!options.go_on || options.go_on())) {
      const std::uint64_t index = next++;
      if (index >= options.runs) return;
      const std::uint64_t seed = options.first_seed + index;
      try {
        merger.add(index, run_one(base, seed, probes));
      } catch (const InternalError& error) {
        try {
          throw InternalError(fmt::format("swarm run with seed {}: {}", seed, error.what()));
        } catch (...) {
          merger.fail(index);
        }
        failed = true;
      } catch (...) {
        merger.fail(index);
        failed = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return merger.take();
}

}  // namespace handoff

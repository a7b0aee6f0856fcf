#include "sim/app/observe.hpp"

#include <memory>

#include "models/serving/cluster.hpp"
#include "sim/app/command.hpp"

namespace handoff::app {
namespace {

constexpr std::uint64_t kSliceEvents = 4'096;

class Follower {
 public:
  Follower(const RunConfig& config, const Wanted& wanted)
      : simulator_(Cluster(std::make_shared<const RunConfig>(config)), config.limits),
        wanted_(wanted) {}

  Followed run() {
    StopReason stop = StopReason::reached;
    while (stop == StopReason::reached && !interrupted()) {
      stop = simulator_.run(simulator_.event_number() + kSliceEvents);
      take();
      if (stop == StopReason::reached && settled()) break;
    }
    if (stop != StopReason::reached) {
      const bool before = out_.found;
      simulator_.finish(stop);
      take();
      out_.at_the_end = out_.found && !before;
    }
    const World& world = simulator_.world().world();
    out_.observed.findings = world.oracles.findings.kept();
    out_.observed.by_rule = world.oracles.findings.counts();
    out_.left_ns = simulator_.now();
    for (std::uint32_t i = 0; i < world.tenants.size(); ++i)
      out_.tenants.push_back(world.tenants.name(i));
    return std::move(out_);
  }

 private:
  // Ends of requests are kept only until the victim is known.
  void take() {
    if (!out_.found) look();
    for (RequestOutcome& o : simulator_.world().take_outcomes()) {
      if (out_.found && o.serial == out_.victim)
        out_.observed.outcome = std::move(o);
      else if (!out_.found && !wanted_.request)
        recent_.push_back(std::move(o));
    }
    // A victim may be found out after its end (its answer is the finding).
    if (out_.found && !out_.observed.outcome)
      for (const RequestOutcome& o : recent_)
        if (o.serial == out_.victim) out_.observed.outcome = o;
    if (out_.found || recent_.size() > kRecentMax) recent_.clear();
  }

  void look() {
    if (wanted_.request) {
      out_.victim = *wanted_.request;
      out_.found = true;
      return;
    }
    for (const Finding& f : simulator_.world().world().oracles.findings.kept()) {
      if (f.id != wanted_.finding) continue;
      out_.victim = f.victim;
      out_.found = true;
      return;
    }
  }

  [[nodiscard]] bool settled() const {
    if (wanted_.to_the_end || !out_.found || simulator_.now() < wanted_.at_least_ns) return false;
    return out_.victim == kNoSerial || out_.observed.outcome.has_value();
  }

  static constexpr std::size_t kRecentMax = 100'000;

  Simulator<Cluster> simulator_;
  Wanted wanted_;
  Followed out_;
  std::vector<RequestOutcome> recent_;
};

}  // namespace

Followed follow(const RunConfig& config, const Wanted& wanted) {
  return Follower(config, wanted).run();
}

}  // namespace handoff::app

#include "models/serving/run.hpp"

#include <algorithm>
#include <memory>

#include "models/serving/cluster.hpp"

namespace handoff {
namespace {

constexpr std::uint64_t kSliceEvents = 1u << 16;

void digest_outcome(Digest& digest, const RequestOutcome& o) {
  digest.add(o.serial);
  digest.add(static_cast<std::uint64_t>(o.first_token_ns));
  digest.add(static_cast<std::uint64_t>(o.end_ns));
  digest.add(static_cast<std::uint64_t>(o.status));
  digest.add(static_cast<std::uint64_t>(o.output_tokens_done));
  digest.add(static_cast<std::uint64_t>(o.cached_tokens));
  digest.add(static_cast<std::uint64_t>(o.foreign_tokens));
  digest.add(static_cast<std::uint64_t>(o.unwritten_tokens));
  digest.add(static_cast<std::uint64_t>(o.tainted) << 1 | static_cast<std::uint64_t>(o.corrupt));
}

void collect(const World& world, RunResult& result) {
  result.requests = world.next_serial;
  result.unfinished = world.outstanding;
  for (const Deployment& d : world.deployments) {
    DeploymentTotals totals = d.totals;
    for (const PrefillNode& n : d.prefill) totals.nodes.push_back(n.totals);
    for (const DecodeNode& n : d.decode) totals.nodes.push_back(n.totals);
    result.deployments.push_back(std::move(totals));
  }
  for (std::uint32_t i = 0; i < world.topology.links(); ++i)
    result.links.push_back({world.topology.link_name(LinkId{i}), world.network.carried(LinkId{i}),
                            world.topology.rate(LinkId{i})});
  for (const WorkloadStream& stream : world.workload.streams())
    result.workloads.push_back(stream.counters());
  result.findings = world.oracles.findings.kept();
  result.findings_by_rule = world.oracles.findings.counts();
  result.firings = world.firings;
  result.firings_total = world.firings_total;
  result.transitions = world.transitions;
  for (std::uint32_t i = 0; i < world.tenants.size(); ++i)
    result.tenants.push_back(world.tenants.name(i));
}

}  // namespace

RunResult run(const RunConfig& config, const RunObserver& observer) {
  Simulator<Cluster> simulator(Cluster(std::make_shared<const RunConfig>(config)), config.limits);
  if (observer.on_page_event) simulator.world().listen_to_pages();
  RunResult result;
  Digest outcomes;
  TimeNs last_end = 0;
  const auto drain = [&] {
    for (const PageEvent& event : simulator.world().take_page_events())
      observer.on_page_event(event);
    for (const RequestOutcome& o : simulator.world().take_outcomes()) {
      digest_outcome(outcomes, o);
      last_end = std::max(last_end, o.end_ns);
      if (observer.on_outcome) observer.on_outcome(o, simulator.world().world().tenants);
    }
  };
  for (;;) {
    result.stop = simulator.run(simulator.event_number() + kSliceEvents);
    drain();
    if (result.stop != StopReason::reached) break;
    const Cluster& cluster = simulator.world();
    if (observer.on_progress &&
        !observer.on_progress(simulator.now(), simulator.event_number(), cluster.completed(),
                              cluster.world().oracles.findings.total()))
      break;
  }
  simulator.finish(result.stop);
  drain();
  result.events = simulator.event_number();
  // A drained run ends with its last answer; what comes after are timers that find nothing to do.
  const bool over = result.stop == StopReason::drained && simulator.world().outstanding() == 0;
  result.end_ns = over ? last_end : simulator.now();
  outcomes.add(simulator.digest());
  result.digest = outcomes.value();
  collect(simulator.world().world(), result);
  return result;
}

}  // namespace handoff

#include "sim/search/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "models/serving/cluster.hpp"

namespace handoff {
namespace {

constexpr std::uint64_t kSliceEvents = 512;

std::string role_of(const std::string& node) {
  const std::size_t slash = node.rfind('/');
  if (slash == std::string::npos) return {};
  return node.substr(slash + 1, node.find('[', slash) - slash - 1);
}

const Finding* matching(const Cluster& cluster, const Signature& signature, std::size_t& looked) {
  const std::vector<Finding>& kept = cluster.world().oracles.findings.kept();
  // A finding may grow after it was reported, so that the last one is looked at again.
  for (std::size_t i = looked; i < kept.size(); ++i)
    if (signature_of(kept[i]) == signature) return &kept[i];
  looked = kept.empty() ? 0 : kept.size() - 1;
  return nullptr;
}

}  // namespace

Signature signature_of(const Finding& finding) {
  return {finding.rule, role_of(finding.node), finding.tokens_foreign > 0};
}

std::string text(const Signature& s) {
  return fmt::format("{} on {}{}", code(s.rule), s.role.empty() ? "the client" : s.role,
                     s.foreign ? ", content of other requests" : "");
}

std::optional<Finding> find_signature(const RunConfig& config, const Signature& signature,
                                      std::uint64_t events_max) {
  try {
    Limits limits = config.limits;
    limits.events_max = std::min(limits.events_max, events_max);
    Simulator<Cluster> simulator(Cluster(std::make_shared<const RunConfig>(config)), limits);
    std::size_t looked = 0;
    for (;;) {
      const StopReason stop = simulator.run(simulator.event_number() + kSliceEvents);
      (void)simulator.world().take_outcomes();
      // What a run that was cut short leaves behind proves nothing.
      if (stop == StopReason::event_limit && config.limits.events_max != limits.events_max)
        return std::nullopt;
      if (stop != StopReason::reached) simulator.finish(stop);
      if (const Finding* found = matching(simulator.world(), signature, looked)) return *found;
      if (stop != StopReason::reached) return std::nullopt;
    }
  } catch (const ConfigError&) {
    return std::nullopt;
  } catch (const TraceError&) {
    return std::nullopt;
  }
}

}  // namespace handoff

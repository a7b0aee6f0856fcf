// The world of the simulator: all deployments of a run, and the one place where events change them.
#pragma once

#include "models/serving/world.hpp"

namespace handoff {

// A value of the configuration that the scenario file cannot be checked for without building the
// run (a link that does not exist). what() says which, what was expected and the nearest name.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(SourceMark mark, const std::string& what) : std::runtime_error(what), mark_(mark) {}
  [[nodiscard]] SourceMark mark() const { return mark_; }

 private:
  SourceMark mark_;
};

class Cluster {
 public:
  // Throws ConfigError and TraceError.
  explicit Cluster(std::shared_ptr<const RunConfig> config);

  void start(Schedule& schedule);
  void apply(const Event& event, Schedule& schedule);
  static std::uint16_t phase_of(std::uint16_t kind) {
    return static_cast<std::uint16_t>(handoff::phase_of(static_cast<EventKind>(kind)));
  }
  [[nodiscard]] std::uint64_t completed() const { return world_.completed; }
  [[nodiscard]] std::uint64_t outstanding() const { return world_.outstanding; }

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] std::vector<RequestOutcome> take_outcomes() {
    return std::exchange(world_.outcomes, {});
  }
  // Before the run: page events are collected from now on, to be taken by take_page_events().
  void listen_to_pages() { world_.pages.listen(); }
  [[nodiscard]] std::vector<PageEvent> take_page_events() { return world_.pages.take(); }
  // The end-of-run oracles. `schedule` gives the time.
  void finish(Schedule& schedule, StopReason stop);

 private:
  World world_;
};

// Builds (or builds anew, with empty memory) the nodes of a deployment under its present policy.
void build_nodes(World& world, std::uint32_t deployment);

}  // namespace handoff

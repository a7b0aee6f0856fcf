#include "sim/search/swarm.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

// How long the longest run of drawn lengths and drawn timeouts can take, with room to spare.
// Pushed, all that waits times out together; pulled, a prompt may wait for the timeout of each
// before it.
constexpr TimeNs kTerminateWithin = 20 * kMinute;
constexpr TimeNs kTerminateWithinPulled = 6 * kHour;

class Draw {
 public:
  Draw(const RunConfig& base, std::uint64_t seed)
      : config_(base), rng_(seed, "swarm"), seed_(seed) {
    HANDOFF_CHECK(base.deployments.size() == 1 && base.deployments[0].decode.nodes > 0,
                  "a swarm is drawn around one deployment that generates");
  }

  RunConfig run() {
    config_.seed = seed_;
    config_.operations.clear();
    config_.notes.clear();
    config_.terminate_within_ns =
        config_.deployments[0].engine.handoff == HandoffOrder::source_first ? kTerminateWithinPulled
                                                                            : kTerminateWithin;
    cluster();
    engine();
    workload();
    faults();
    return std::move(config_);
  }

 private:
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& values) {
    return values[rng_.below(N)];
  }
  bool on(std::uint64_t of_ten) { return rng_.chance(of_ten, 10); }
  // Each octave as likely as the next.
  std::int64_t scale(std::int64_t low, std::int64_t high) {
    std::int64_t octaves = 0;
    while ((low << (octaves + 1)) <= high) ++octaves;
    const std::int64_t bottom = low << rng_.between(0, octaves);
    return rng_.between(bottom, std::min(2 * bottom, high));
  }
  DeploymentConfig& d() { return config_.deployments[0]; }

  void cluster() {
    d().prefill.nodes = static_cast<std::uint32_t>(rng_.between(1, 3));
    d().decode.nodes = static_cast<std::uint32_t>(rng_.between(1, 3));
    d().ranks = one_of(std::array<std::uint32_t, 5>{1, 1, 1, 2, 4});
    d().engine.page_tokens = one_of(std::array<std::int64_t, 3>{16, 64, 64});
    d().context_window = rng_.between(2'000, 20'000);
    // Tight enough for pressure, and in any relation to the window and to each other.
    d().prefill.kv_pool_tokens = scale(1'000, 60'000);
    d().decode.kv_pool_tokens = scale(1'000, 60'000);
    config_.network.node_bytes_per_second =
        one_of(std::array<std::int64_t, 4>{0, 50'000'000, 500'000'000, 5'000'000'000});
    config_.network.spine_bytes_per_second = on(3) ? 200'000'000 : 0;
    config_.network.link_latency_ns =
        one_of(std::array<TimeNs, 3>{2 * kMicrosecond, 100 * kMicrosecond, 5 * kMillisecond});
  }

  void engine() {
    EnginePolicy& e = d().engine;
    e.free_order =
        one_of(std::array{FreeOrder::lifo, FreeOrder::fifo, FreeOrder::sorted, FreeOrder::random});
    e.prefix_cache = on(7);
    e.overlap_schedule = on(7);
    e.chunk_tokens = one_of(std::array<std::int64_t, 4>{256, 1'024, 4'096, 8'192});
    e.prefill_requests_max = one_of(std::array<std::int64_t, 3>{1, 4, 256});
    e.prefill_running_max = one_of(std::array<std::int64_t, 3>{2, 16, 512});
    e.decode_running_max = one_of(std::array<std::int64_t, 4>{1, 4, 32, 256});
    e.reserved_decode_tokens = one_of(std::array<std::int64_t, 3>{0, 64, 512});
    e.clip_new_tokens = one_of(std::array<std::int64_t, 3>{16, 512, 4'096});
    e.retract_order =
        one_of(std::array{RetractOrder::fewest_output_first, RetractOrder::latest_arrival_first});
    e.transfer_queues = rng_.between(1, 4);
    e.route = one_of(
        std::array{RoutePolicy::round_robin, RoutePolicy::random, RoutePolicy::least_tokens});
    e.bootstrap_timeout_ns =
        one_of(std::array<TimeNs, 3>{5 * kSecond, 30 * kSecond, 300 * kSecond});
    e.waiting_timeout_ns = one_of(std::array<TimeNs, 3>{5 * kSecond, 30 * kSecond, 300 * kSecond});
    e.heartbeat_interval_ns = one_of(std::array<TimeNs, 2>{kSecond, 5 * kSecond});
  }

  LengthDistribution lengths(std::int64_t low, std::int64_t high) {
    LengthDistribution length;
    if (on(5)) {
      length.kind = LengthDistribution::Kind::uniform;
      length.low = low;
      length.high = rng_.between(low, high);
    } else {
      length.kind = LengthDistribution::Kind::lognormal;
      length.median = static_cast<double>(std::max<std::int64_t>(low, high / 8));
      length.sigma = 1.0;
      length.low = low;
      length.high = high;
    }
    return length;
  }

  void workload() {
    SyntheticConfig s;
    s.arrivals.kind = on(7) ? ArrivalProcess::Kind::poisson : ArrivalProcess::Kind::gamma;
    s.arrivals.cv = 3.0;
    s.arrivals.rate_per_s = static_cast<double>(scale(1, 32));
    s.requests_max = rng_.between(5, 60);
    s.for_ns = kFaultsEnd;
    const std::int64_t limit =
        std::min({d().context_window - 1, d().prefill.kv_pool_tokens, d().decode.kv_pool_tokens});
    s.prompt = lengths(1, std::max<std::int64_t>(limit, 2));
    s.output = lengths(1, scale(8, 600));
    if (on(6)) {
      s.shared_prefix_permille = rng_.between(100, 1000);
      s.shared_prefixes = rng_.between(1, 3);
      s.shared_prefix_tokens = scale(16, 4'096);
    }
    const std::int64_t tenants = rng_.between(0, 3);
    for (std::int64_t i = 0; i < tenants; ++i)
      s.tenants.push_back({std::string(1, char('a' + i)), 1});
    WorkloadConfig w;
    w.name = "swarm";
    w.source = std::move(s);
    if (on(2)) w.abort_after_ns = scale(50, 20'000) * kMillisecond;
    config_.workloads = {std::move(w)};
  }

  void faults() {
    config_.faults.clear();
    const std::int64_t budget = rng_.between(0, 5);
    // A kind that is off stays off for the whole run.
    std::array<bool, 5> off{};
    for (bool& kind : off) kind = on(3);
    for (std::int64_t i = 0; i < budget; ++i) {
      const std::size_t kind = rng_.below(off.size());
      if (off[kind]) continue;
      Fault fault;
      if (kind == 0) fault.what = oversize();
      if (kind == 1) fault.what = notice();
      if (kind == 2) fault.what = abort();
      if (kind == 3) fault.what = crash();
      if (kind == 4) fault.what = link();
      config_.faults.push_back(std::move(fault));
    }
  }

  OversizePromptFault oversize() {
    OversizePromptFault f;
    f.count = rng_.between(1, 4);
    const std::int64_t smaller = std::min(d().prefill.kv_pool_tokens, d().decode.kv_pool_tokens);
    f.prompt.kind = LengthDistribution::Kind::uniform;
    f.prompt.low = std::max<std::int64_t>(1, smaller - rng_.between(0, 200));
    f.prompt.high = std::max(f.prompt.low + 1, d().context_window + rng_.between(-100, 2'000));
    f.output.kind = LengthDistribution::Kind::fixed;
    f.output.value = rng_.between(1, 60);
    f.from_ns = 0;
    f.for_ns = kFaultsEnd;
    return f;
  }

  NoticeFault notice() {
    NoticeFault f;
    f.kind = one_of(std::array{NoticeFaultKind::early, NoticeFaultKind::duplicate,
                               NoticeFaultKind::lost, NoticeFaultKind::delayed,
                               NoticeFaultKind::reordered, NoticeFaultKind::misdirected,
                               NoticeFaultKind::short_data, NoticeFaultKind::stale});
    f.by_ns = scale(1, 4'000) * kMillisecond;
    f.pages = rng_.between(1, 4);
    f.select.for_ns = kFaultsEnd;
    if (on(5))
      f.select.nth = static_cast<std::uint64_t>(rng_.between(1, 20));
    else
      f.select.chance_permille = rng_.between(20, 500);
    if (d().ranks > 1 && on(5)) f.select.rank = static_cast<std::uint32_t>(rng_.below(d().ranks));
    return f;
  }

  ClientAbortFault abort() {
    ClientAbortFault f;
    f.chance_permille = rng_.between(20, 500);
    f.after_ns = scale(1, 10'000) * kMillisecond;
    return f;
  }

  NodeCrashFault crash() {
    NodeCrashFault f;
    f.role = on(5) ? NodeRole::prefill : NodeRole::decode;
    const std::uint32_t nodes = f.role == NodeRole::prefill ? d().prefill.nodes : d().decode.nodes;
    f.node = static_cast<std::uint32_t>(rng_.below(nodes));
    f.at_ns = rng_.between(1, kFaultsEnd / kMillisecond) * kMillisecond;
    f.for_ns = scale(100, 30'000) * kMillisecond;
    return f;
  }

  LinkFault link() {
    LinkFault f;
    const bool prefill = on(5);
    const std::uint64_t node = rng_.below(prefill ? d().prefill.nodes : d().decode.nodes);
    const bool split = config_.network.spine_bytes_per_second > 0;
    f.link = prefill ? "prefill[" + std::to_string(node) + "]->spine" + (split ? "-prefill" : "")
                     : std::string("spine") + (split ? "-decode" : "") + "->decode[" +
                           std::to_string(node) + "]";
    f.at_ns = rng_.between(1, kFaultsEnd / kMillisecond) * kMillisecond;
    f.for_ns = scale(100, 20'000) * kMillisecond;
    f.rate_permille = on(5) ? 0 : rng_.between(1, 500);
    return f;
  }

  RunConfig config_;
  Rng rng_;
  std::uint64_t seed_;
};

}  // namespace

RunConfig draw_swarm(const RunConfig& base, std::uint64_t seed) { return Draw(base, seed).run(); }

}  // namespace handoff

// Concurrent flows over shared links: max-min fair rates (progressive filling, Bertsekas and Gallager,
// "Data Networks", 1992, section 6.5.2) in integer arithmetic, divided anew whenever a flow starts or ends
// or a link changes. N equal flows over one link take N times as long as one.
//
// The caller owns time: it calls advance(now) before any change, asks next_completion(), and schedules a
// wake-up for it. Rates are fixed-point bytes per second, remaining work is exact in __int128, so no flow
// finishes more than one nanosecond away from the exact fluid solution for its piecewise rates.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/topology.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

using FlowId = Id<struct FlowTag>;  // dense, recycled after the flow has ended

class FlowNetwork {
 public:
  FlowNetwork() = default;
  explicit FlowNetwork(const Topology& topology);

  // Starts a flow along topology.route(from, to). bytes >= 0 (0 completes at `now`). from != to.
  // Requires advance(now) to have been called for this instant.
  FlowId start(const Topology& topology, VertexId from, VertexId to, std::int64_t bytes, TimeNs now);
  // Ends a flow before its time. Returns the bytes that had been carried (floor).
  std::int64_t cancel(FlowId flow, TimeNs now);
  // rate_permille: 0 (down) .. 1000 (as built) .. ; applies from `now`.
  void set_link_permille(LinkId link, std::int64_t rate_permille, TimeNs now);

  // Moves all flows to `now` (not before the last call) and appends to `done`, in order of flow start, those
  // that have carried all their bytes; they end.
  void advance(TimeNs now, std::vector<FlowId>& done);
  // Earliest time at which a flow completes if nothing changes; kNever when none will.
  [[nodiscard]] TimeNs next_completion() const;
  [[nodiscard]] std::size_t active() const { return order_.size(); }
  // Present rate of a flow, bytes per second (floor).
  [[nodiscard]] std::int64_t rate(FlowId flow) const;
  // Bytes carried so far over a link since the start (floor), for utilisation reports.
  [[nodiscard]] std::int64_t carried(LinkId link) const;

 private:
  struct Flow {
    std::vector<LinkId> links;
    Int128 remaining = 0;    // bytes x kScale x ns per s
    std::int64_t total = 0;  // bytes
    std::int64_t rate = 0;   // bytes per second x kScale
    bool live = false;
  };
  void share();  // recomputes all rates

  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<FlowId> order_;  // active flows by start
  std::vector<std::int64_t> capacity_;  // per link, bytes per second x kScale, with faults applied
  std::vector<std::int64_t> built_;     // per link, bytes per second
  std::vector<Int128> carried_;
  TimeNs now_ = 0;
};

}  // namespace handoff

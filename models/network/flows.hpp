// Concurrent flows over shared links: max-min fair rates (progressive filling, Bertsekas and
// Gallager, "Data Networks", 1992, section 6.5.2) in integer arithmetic, divided anew whenever a
// flow starts or ends or a link changes. N equal flows over one link take N times as long as one.
// No packets, no windows, no latency: what a transport adds to fluid sharing is not modelled here.
//
// The caller owns time: it calls advance(now) before any change, asks next_completion(), and
// schedules a wake-up for it. Rates are fixed point, 2^-32 bytes per second, rounded down; what is
// left of a flow is kept exactly. So a flow ends at most one nanosecond after the fluid solution
// for the same piecewise rates, and the rounding of a rate r (bytes per second) delays it by a
// share of 1 / (r x 2^32) of the time it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/topology.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// Dense. An id is used again only at a later instant than the one its flow ended at, so that ids in
// a `done` list are unambiguous while the caller works through that instant.
using FlowId = Id<struct FlowTag>;

class FlowNetwork {
 public:
  // Rates relative to the built one are limited to this many thousandths.
  static constexpr std::int64_t kPermilleMax = 1'000'000;

  FlowNetwork() = default;
  explicit FlowNetwork(const Topology& topology);

  // Starts a flow along topology.route(from, to). bytes >= 0 (0 completes at `now`, whatever the
  // links). from != to. Requires advance(now) to have been called for this instant.
  FlowId start(const Topology& topology, VertexId from, VertexId to, std::int64_t bytes,
               TimeNs now);
  // Ends an active flow before its time. Returns the bytes that had been carried (floor). Requires
  // advance(now) as above.
  std::int64_t cancel(FlowId flow, TimeNs now);
  // rate_permille: 0 (down: flows over it wait) .. 1000 (as built) .. kPermilleMax; applies from
  // `now`. Requires advance(now) as above.
  void set_link_permille(LinkId link, std::int64_t rate_permille, TimeNs now);

  // Moves all flows to `now` (not before the last call) and appends to `done` those that have
  // carried all their bytes, in order of completion, then of start; they end. Completions before
  // `now` are found too, and rates are divided anew at each.
  void advance(TimeNs now, std::vector<FlowId>& done);
  // Earliest time at which a flow completes if nothing changes; kNever when none will.
  [[nodiscard]] TimeNs next_completion() const { return next_; }
  [[nodiscard]] std::size_t active() const { return order_.size(); }
  // Present rate of an active flow, bytes per second (floor).
  [[nodiscard]] std::int64_t rate(FlowId flow) const;
  // Bytes carried so far over a link since the start (floor), for utilisation reports.
  [[nodiscard]] std::int64_t carried(LinkId link) const;

 private:
  struct Flow {
    std::vector<LinkId> links;  // empty when there is nothing to carry
    Int128 remaining = 0;       // bytes x kScale x ns per s, as of since_ns
    Int128 rate = 0;            // bytes per second x kScale
    std::int64_t total = 0;     // bytes
    TimeNs since_ns = 0;        // when the rate last changed
    TimeNs done_ns = kNever;    // when it completes at this rate
    std::uint64_t mark = 0;     // last sharing that took it in
    bool fixed = false;         // its rate is settled, within one sharing
    bool live = false;
  };
  struct Link {
    Int128 built = 0;     // bytes per second x kScale
    Int128 capacity = 0;  // same, with faults applied
    Int128 carried = 0;   // by what ended or changed its rate: bytes x kScale x ns per s
    std::vector<FlowId> flows;
    std::uint64_t mark = 0;
    Int128 left = 0;        // capacity not yet given away, within one sharing
    std::int64_t open = 0;  // flows without a settled rate, within one sharing
  };
  struct Share {
    Int128 rate = 0;
    LinkId link;
  };

  [[nodiscard]] const Flow& flow_at(FlowId flow) const;
  [[nodiscard]] Int128 moved(const Flow& flow) const;
  FlowId new_flow();
  void move_to(TimeNs now);
  void settle(Flow& flow);
  void end(FlowId flow);
  void complete_due(std::vector<FlowId>& done);
  void change_around(std::vector<LinkId>& touched);
  void collect(std::vector<LinkId>& links);
  void fill(const std::vector<LinkId>& links);
  void fix_rate(FlowId flow, Int128 rate);
  void find_next();

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<FlowId> order_;    // active flows by start
  std::vector<FlowId> free_;     // ids to use again
  std::vector<FlowId> retired_;  // ended at now_
  std::vector<LinkId> touched_;  // scratch
  std::vector<FlowId> members_;  // scratch: flows of the sharing under way
  std::vector<Share> heap_;      // scratch
  std::uint64_t mark_ = 0;
  TimeNs now_ = 0;
  TimeNs next_ = kNever;
};

}  // namespace handoff

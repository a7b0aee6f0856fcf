// Progressive filling, restricted to what a change can reach: the flows that share links, directly
// or through others, with the link or flow that changed. Everything else keeps its rates, and a
// flow is touched only when its own rate changes. So the cost of an event follows the size of that
// neighbourhood, not of the network.
#include "models/network/flows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

// 2^32: with 63 bits of bytes and 30 of nanoseconds per second, amounts stay below 2^125.
constexpr Int128 kScale = Int128{1} << 32;
constexpr Int128 kByte = kScale * kSecond;  // one byte in units of Flow::remaining

constexpr Int128 kRateMax = std::numeric_limits<std::int64_t>::max();

Int128 div_ceil_wide(Int128 a, Int128 b) { return a / b + (a % b != 0); }

// `from` plus the time `amount` takes at `rate`, rounded up; kNever when there is no such instant.
TimeNs completion(TimeNs from, Int128 amount, Int128 rate) {
  if (amount == 0) return from;
  if (rate == 0) return kNever;
  const Int128 needed = div_ceil_wide(amount, rate);
  return needed < Int128{kNever - from} ? from + static_cast<TimeNs>(needed) : kNever;
}

}  // namespace

FlowNetwork::FlowNetwork(const Topology& topology) : links_(topology.links()) {
  for (std::uint32_t i = 0; i < links_.size(); ++i)
    links_[i].built = links_[i].capacity = topology.rate(LinkId{i}) * kScale;
}

const FlowNetwork::Flow& FlowNetwork::flow_at(FlowId flow) const {
  HANDOFF_CHECK(flow.value < flows_.size() && flows_[flow.value].live, "flow is not active");
  return flows_[flow.value];
}

FlowId FlowNetwork::new_flow() {
  if (free_.empty()) {
    flows_.emplace_back();
    return FlowId{static_cast<std::uint32_t>(flows_.size() - 1)};
  }
  const FlowId flow = free_.back();
  free_.pop_back();
  return flow;
}

FlowId FlowNetwork::start(const Topology& topology, VertexId from, VertexId to, std::int64_t bytes,
                          TimeNs now) {
  HANDOFF_CHECK(now == now_, "advance() must come first");
  HANDOFF_CHECK(from != to, "a flow has two ends");
  HANDOFF_CHECK(bytes >= 0, "a flow carries bytes");
  const FlowId id = new_flow();
  Flow& flow = flows_[id.value];
  flow.links.clear();
  flow.total = bytes;
  flow.remaining = bytes * kByte;
  flow.rate = 0;
  flow.since_ns = now;
  flow.done_ns = completion(now, flow.remaining, 0);
  flow.live = true;
  order_.push_back(id);
  const auto route = topology.route(from, to);
  if (bytes > 0) flow.links.assign(route.begin(), route.end());
  for (const LinkId link : flow.links) links_[link.value].flows.push_back(id);
  touched_.assign(flow.links.begin(), flow.links.end());
  change_around(touched_);
  return id;
}

std::int64_t FlowNetwork::cancel(FlowId id, TimeNs now) {
  HANDOFF_CHECK(now == now_, "advance() must come first");
  const Flow& flow = flow_at(id);
  const Int128 left = flow.remaining - moved(flow);
  const auto carried_bytes = static_cast<std::int64_t>((flow.total * kByte - left) / kByte);
  end(id);
  change_around(touched_);
  return carried_bytes;
}

void FlowNetwork::set_link_permille(LinkId id, std::int64_t rate_permille, TimeNs now) {
  HANDOFF_CHECK(now == now_, "advance() must come first");
  HANDOFF_CHECK(id.value < links_.size(), "no such link");
  HANDOFF_CHECK(rate_permille >= 0 && rate_permille <= kPermilleMax, "link rate out of range");
  Link& link = links_[id.value];
  const Int128 capacity = link.built * rate_permille / 1000;
  HANDOFF_CHECK(capacity / kScale <= kRateMax, "link rate out of range");
  if (capacity == link.capacity) return;
  link.capacity = capacity;
  touched_.assign(1, id);
  change_around(touched_);
}

void FlowNetwork::advance(TimeNs now, std::vector<FlowId>& done) {
  HANDOFF_CHECK(now >= now_, "time does not run backwards");
  while (next_ <= now) {
    move_to(next_);
    complete_due(done);
  }
  move_to(now);
}

void FlowNetwork::move_to(TimeNs now) {
  if (now == now_) return;
  free_.insert(free_.end(), retired_.begin(), retired_.end());
  retired_.clear();
  now_ = now;
}

std::int64_t FlowNetwork::rate(FlowId flow) const {
  return static_cast<std::int64_t>(flow_at(flow).rate / kScale);
}

std::int64_t FlowNetwork::carried(LinkId id) const {
  HANDOFF_CHECK(id.value < links_.size(), "no such link");
  const Link& link = links_[id.value];
  Int128 sum = link.carried;
  for (const FlowId flow : link.flows) sum += moved(flows_[flow.value]);
  return static_cast<std::int64_t>(sum / kByte);
}

// What a flow has carried since its rate last changed. In the last, started nanosecond it carries
// no more than what is left.
Int128 FlowNetwork::moved(const Flow& flow) const {
  if (now_ >= flow.done_ns) return flow.remaining;
  return flow.rate * (now_ - flow.since_ns);
}

void FlowNetwork::settle(Flow& flow) {
  const Int128 amount = moved(flow);
  flow.remaining -= amount;
  flow.since_ns = now_;
  for (const LinkId link : flow.links) links_[link.value].carried += amount;
}

// Takes a flow out and leaves its links in touched_.
void FlowNetwork::end(FlowId id) {
  Flow& flow = flows_[id.value];
  settle(flow);
  for (const LinkId link : flow.links) std::erase(links_[link.value].flows, id);
  touched_.assign(flow.links.begin(), flow.links.end());
  flow.links.clear();
  flow.live = false;
  order_.erase(std::find(order_.begin(), order_.end(), id));
  retired_.push_back(id);
}

// Ends all flows that complete at now_, then divides once.
void FlowNetwork::complete_due(std::vector<FlowId>& done) {
  const std::size_t first = done.size();
  for (const FlowId flow : order_)
    if (flows_[flow.value].done_ns <= now_) done.push_back(flow);
  std::vector<LinkId> freed;
  for (std::size_t i = first; i < done.size(); ++i) {
    end(done[i]);
    freed.insert(freed.end(), touched_.begin(), touched_.end());
  }
  change_around(freed);
}

// Divides anew the capacity that a change of the given links can move, and finds the next
// completion.
void FlowNetwork::change_around(std::vector<LinkId>& touched) {
  collect(touched);
  fill(touched);
  find_next();
}

// Extends `links` to all that flows tie to them, without repetition, and puts those flows into
// members_.
void FlowNetwork::collect(std::vector<LinkId>& links) {
  ++mark_;
  members_.clear();
  std::size_t kept = 0;
  for (const LinkId link : links)
    if (std::exchange(links_[link.value].mark, mark_) != mark_) links[kept++] = link;
  links.resize(kept);
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (const FlowId id : links_[links[i].value].flows) {
      Flow& flow = flows_[id.value];
      if (std::exchange(flow.mark, mark_) == mark_) continue;
      flow.fixed = false;
      members_.push_back(id);
      for (const LinkId link : flow.links)
        if (std::exchange(links_[link.value].mark, mark_) != mark_) links.push_back(link);
    }
  }
}

// The link that offers each of its open flows least settles them all; repeat. The heap may hold
// shares that have grown since (they never shrink: a settled flow takes no more than an equal
// part), so the least is computed again before it is believed. Equal shares go by link id.
void FlowNetwork::fill(const std::vector<LinkId>& links) {
  const auto later = [](const Share& a, const Share& b) {
    return a.rate != b.rate ? a.rate > b.rate : a.link > b.link;
  };
  heap_.clear();
  for (const LinkId id : links) {
    Link& link = links_[id.value];
    link.left = link.capacity;
    link.open = static_cast<std::int64_t>(link.flows.size());
    if (link.open > 0) heap_.push_back({link.left / link.open, id});
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
  std::size_t open = members_.size();
  while (open > 0) {
    HANDOFF_CHECK(!heap_.empty(), "an open flow crosses no link");
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Share share = heap_.back();
    heap_.pop_back();
    const Link& link = links_[share.link.value];
    if (link.open == 0) continue;
    const Int128 rate = link.left / link.open;
    if (rate > share.rate) {
      heap_.push_back({rate, share.link});
      std::push_heap(heap_.begin(), heap_.end(), later);
      continue;
    }
    for (const FlowId flow : link.flows) {
      if (flows_[flow.value].fixed) continue;
      fix_rate(flow, rate);
      --open;
    }
  }
}

void FlowNetwork::fix_rate(FlowId id, Int128 rate) {
  Flow& flow = flows_[id.value];
  flow.fixed = true;
  for (const LinkId link : flow.links) {
    links_[link.value].left -= rate;
    --links_[link.value].open;
  }
  if (rate == flow.rate) return;
  settle(flow);
  flow.rate = rate;
  flow.done_ns = completion(now_, flow.remaining, rate);
}

void FlowNetwork::find_next() {
  next_ = kNever;
  for (const FlowId flow : order_) next_ = std::min(next_, flows_[flow.value].done_ns);
}

}  // namespace handoff

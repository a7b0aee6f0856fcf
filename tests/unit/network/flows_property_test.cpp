// Random networks and random operations against a slow model in exact rationals: same completions
// in the same order, each within one nanosecond for each change of its rate; shares that are
// max-min fair; and incremental sharing equal, bit for bit, to a division of everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <vector>

#include "models/network/flows.hpp"
#include "sim/engine/rng.hpp"
#include "tests/unit/network/star.hpp"

namespace handoff {
namespace {

using Rational = boost::multiprecision::cpp_rational;

// The textbook algorithm, over everything, each time.
class ExactNetwork {
 public:
  struct Flow {
    std::vector<std::uint32_t> links;
    Rational remaining;
    Rational rate = 0;
    int changes = 0;
  };

  explicit ExactNetwork(const Topology& t) {
    for (std::uint32_t i = 0; i < t.links(); ++i)
      capacity.emplace_back(t.rate(LinkId{i})), built.push_back(capacity.back());
  }

  void share() {
    std::vector<Rational> left = capacity;
    std::map<int, Rational> rates;
    while (rates.size() < flows.size()) {
      std::vector<int> open(left.size(), 0);
      for (const auto& [key, flow] : flows)
        if (rates.count(key) == 0)
          for (const std::uint32_t link : flow.links) ++open[link];
      std::size_t tightest = left.size();
      for (std::size_t i = 0; i < left.size(); ++i)
        if (open[i] > 0 &&
            (tightest == left.size() || left[i] / open[i] < left[tightest] / open[tightest]))
          tightest = i;
      const Rational rate = left[tightest] / open[tightest];
      for (const auto& [key, flow] : flows) {
        if (rates.count(key) != 0 || std::count(flow.links.begin(), flow.links.end(),
                                                static_cast<std::uint32_t>(tightest)) == 0)
          continue;
        rates[key] = rate;
        for (const std::uint32_t link : flow.links) left[link] -= rate;
      }
    }
    for (auto& [key, flow] : flows) {
      if (flow.rate != rates[key]) ++flow.changes;
      flow.rate = rates[key];
    }
  }

  // Moves to `to` seconds, ending what completes before or then: (key, time, changes of its rate).
  struct End {
    int key;
    Rational at;
    int changes;
  };
  std::vector<End> advance(const Rational& to) {
    std::vector<End> ended;
    for (;;) {
      Rational next = to;
      bool completes = false;
      for (const auto& [key, flow] : flows) {
        if (flow.rate == 0) continue;
        const Rational at = now + flow.remaining / flow.rate;
        if (at <= next) next = at, completes = true;
      }
      for (auto& [key, flow] : flows) flow.remaining -= flow.rate * (next - now);
      now = next;
      if (!completes) return ended;
      for (auto it = flows.begin(); it != flows.end();) {
        if (it->second.remaining == 0) {
          ended.push_back({it->first, now, it->second.changes});
          it = flows.erase(it);
        } else {
          ++it;
        }
      }
      share();
    }
  }

  std::vector<Rational> capacity, built;
  std::map<int, Flow> flows;  // by order of start
  Rational now = 0;
};

Rational seconds(TimeNs t) { return Rational(t) / kSecond; }

class Random : public ::testing::TestWithParam<std::uint64_t> {};

// Every change of a rate rounds at most one nanosecond of the completion before it, and a
// completion that is a nanosecond late hands its rate on a nanosecond late: so the allowance is one
// for each change seen.
TEST_P(Random, completions_agree_with_exact_rationals_within_a_nanosecond_for_each_change_of_rate) {
  Rng rng(GetParam(), "flows");
  std::vector<std::int64_t> rates;
  for (int i = 0; i < 4; ++i) rates.push_back(rng.between(500'000, 3'000'000));
  Star star(rates);
  ExactNetwork exact(star.topology);
  std::map<int, TimeNs> measured;
  std::vector<ExactNetwork::End> expected;
  std::map<std::uint32_t, int> key_of;
  int next_key = 0;
  TimeNs now = 0;
  const auto move = [&](TimeNs to) {
    for (const auto& [flow, at] : star.run(to)) measured[key_of.at(flow.value)] = at;
    std::vector<FlowId> none;
    star.network.advance(to, none);
    ASSERT_TRUE(none.empty());
    for (const ExactNetwork::End& end : exact.advance(seconds(to))) expected.push_back(end);
  };
  for (int op = 0; op < 40; ++op) {
    now += rng.between(1, 300'000'000);
    move(now);
    if (rng.chance(1, 5)) {
      const auto link = static_cast<std::uint32_t>(rng.below(star.topology.links()));
      const auto permille = static_cast<std::int64_t>(rng.below(4)) * 400;
      star.network.set_link_permille(LinkId{link}, permille, now);
      exact.capacity[link] = exact.built[link] * permille / 1000;
    } else {
      const auto from = static_cast<std::size_t>(rng.below(4));
      const auto to = (from + 1 + static_cast<std::size_t>(rng.below(3))) % 4;
      const std::int64_t bytes = rng.between(1, 1'000'000);
      const FlowId flow =
          star.network.start(star.topology, star.hosts[from], star.hosts[to], bytes, now);
      key_of[flow.value] = next_key;
      ExactNetwork::Flow& twin = exact.flows[next_key++];
      for (const LinkId link : star.topology.route(star.hosts[from], star.hosts[to]))
        twin.links.push_back(link.value);
      twin.remaining = bytes;
    }
    exact.share();
  }
  for (std::uint32_t link = 0; link < star.topology.links(); ++link) {
    star.network.set_link_permille(LinkId{link}, 1000, now);
    exact.capacity[link] = exact.built[link];
  }
  exact.share();
  move(now + 600 * kSecond);
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(next_key));
  ASSERT_EQ(measured.size(), static_cast<std::size_t>(next_key));
  for (const ExactNetwork::End& end : expected) {
    const Rational error = seconds(measured[end.key]) - end.at;
    EXPECT_LE(abs(error), seconds(1 + end.changes)) << "flow " << end.key << " error " << error;
  }
}

TEST_P(Random, shares_are_max_min_fair_and_equal_to_those_of_a_network_built_at_once) {
  Rng rng(GetParam(), "shares");
  std::vector<std::int64_t> rates;
  for (int i = 0; i < 12; ++i) rates.push_back(rng.between(1'000'000, 9'000'000'000));
  Star star(rates);
  struct Open {
    FlowId id;
    std::size_t from, to;
  };
  std::vector<Open> open;
  for (int op = 0; op < 200; ++op) {
    if (open.size() > 60 || (!open.empty() && rng.chance(1, 3))) {
      const auto i = static_cast<std::ptrdiff_t>(rng.below(open.size()));
      star.network.cancel(open[static_cast<std::size_t>(i)].id, 0);
      open.erase(open.begin() + i);
    } else {
      const auto from = static_cast<std::size_t>(rng.below(12));
      const auto to = (from + 1 + static_cast<std::size_t>(rng.below(11))) % 12;
      open.push_back({star.start(from, to, kSecond, 0), from, to});
    }
  }
  Star whole(rates);
  std::vector<FlowId> twins;
  for (const Open& o : open) twins.push_back(whole.start(o.from, o.to, kSecond, 0));
  std::vector<std::int64_t> used(star.topology.links(), 0), greatest(star.topology.links(), 0);
  const auto route = [&](const Open& o) {
    return star.topology.route(star.hosts[o.from], star.hosts[o.to]);
  };
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::int64_t rate = star.network.rate(open[i].id);
    EXPECT_EQ(rate, whole.network.rate(twins[i]));
    for (const LinkId link : route(open[i])) {
      used[link.value] += rate;
      greatest[link.value] = std::max(greatest[link.value], rate);
    }
  }
  // Max-min: each flow crosses a full link on which no flow is faster.
  for (const Open& o : open) {
    bool has_bottleneck = false;
    for (const LinkId link : route(o)) {
      const std::int64_t capacity = star.topology.rate(link);
      EXPECT_LE(used[link.value], capacity);
      const auto slack = static_cast<std::int64_t>(open.size());  // each rate is shown rounded down
      has_bottleneck |= used[link.value] + slack >= capacity &&
                        greatest[link.value] <= star.network.rate(o.id) + 1;
    }
    EXPECT_TRUE(has_bottleneck);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace handoff

// Routes: choice, ties, hosts that must not forward, groups, and misuse.
#include "models/network/topology.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

std::vector<std::string> route_names(const Topology& t, VertexId from, VertexId to) {
  std::vector<std::string> names;
  for (const LinkId link : t.route(from, to)) names.push_back(t.link_name(link));
  return names;
}

using Names = std::vector<std::string>;
using Groups = std::vector<std::vector<VertexId>>;

class TwoHosts : public ::testing::Test {
 protected:
  std::string freeze() { return t.freeze(Groups{{a, b}}); }

  Topology t;
  VertexId a = t.add_vertex("a", VertexKind::host);
  VertexId b = t.add_vertex("b", VertexKind::host);
  VertexId s = t.add_vertex("s", VertexKind::network_switch);
  VertexId u = t.add_vertex("u", VertexKind::network_switch);
};

TEST_F(TwoHosts, least_latency_wins_over_fewer_links) {
  t.add_duplex(a, b, kGigabyte, 100);
  t.add_duplex(a, s, 4 * kGigabyte, 30);
  t.add_duplex(s, b, 2 * kGigabyte, 40);
  ASSERT_EQ(freeze(), "");
  EXPECT_EQ(route_names(t, a, b), (Names{"a->s", "s->b"}));
  EXPECT_EQ(route_names(t, b, a), (Names{"b->s", "s->a"}));
  EXPECT_EQ(t.latency(a, b), 70);
  EXPECT_EQ(t.bottleneck(a, b), 2 * kGigabyte);
}

TEST_F(TwoHosts, equal_latency_goes_to_fewer_links) {
  t.add_duplex(a, s, kGigabyte, 30);
  t.add_duplex(s, b, kGigabyte, 40);
  t.add_duplex(a, b, kGigabyte, 70);
  ASSERT_EQ(freeze(), "");
  EXPECT_EQ(route_names(t, a, b), (Names{"a->b"}));
}

TEST_F(TwoHosts, equal_latency_and_length_go_to_the_lowest_link_ids) {
  t.add_link(u, b, kGigabyte, 5);
  t.add_link(s, b, kGigabyte, 5);
  t.add_link(a, s, kGigabyte, 5);
  t.add_link(a, u, kGigabyte, 5);
  t.add_link(b, a, kGigabyte, 5);
  ASSERT_EQ(freeze(), "");
  // Compared from the source on: a->s is the lower id there, though u->b is the lowest of all.
  EXPECT_EQ(route_names(t, a, b), (Names{"a->s", "s->b"}));
}

TEST_F(TwoHosts, parallel_links_have_names_of_their_own_and_the_first_is_taken) {
  const LinkId first = t.add_link(a, b, kGigabyte, 5);
  const LinkId second = t.add_link(a, b, 9 * kGigabyte, 5);
  t.add_link(b, a, kGigabyte, 5);
  ASSERT_EQ(freeze(), "");
  EXPECT_EQ(t.find_link("a->b"), first);
  EXPECT_EQ(t.find_link("a->b#2"), second);
  EXPECT_FALSE(t.find_link("a->b#3").valid());
  ASSERT_EQ(t.route(a, b).size(), 1u);
  EXPECT_EQ(t.route(a, b)[0], first);
}

TEST_F(TwoHosts, links_without_latency_make_no_cycles) {
  t.add_duplex(a, s, kGigabyte, 0);
  t.add_duplex(s, u, kGigabyte, 0);
  t.add_duplex(u, b, kGigabyte, 0);
  ASSERT_EQ(freeze(), "");
  EXPECT_EQ(route_names(t, a, b), (Names{"a->s", "s->u", "u->b"}));
  EXPECT_EQ(t.latency(a, b), 0);
}

TEST_F(TwoHosts, a_host_does_not_forward) {
  const VertexId between = t.add_vertex("between", VertexKind::host);
  t.add_duplex(a, between, kGigabyte, 1);
  t.add_duplex(between, b, kGigabyte, 1);
  t.add_duplex(a, s, kGigabyte, 50);
  t.add_duplex(s, b, kGigabyte, 50);
  ASSERT_EQ(t.freeze(Groups{{a, b, between}}), "");
  EXPECT_EQ(t.latency(a, b), 100);
  EXPECT_EQ(t.latency(a, between), 1);
}

TEST_F(TwoHosts, a_nic_does_forward) {
  const VertexId nic = t.add_vertex("nic", VertexKind::nic);
  t.add_duplex(a, nic, kGigabyte, 1);
  t.add_duplex(nic, b, kGigabyte, 1);
  ASSERT_EQ(freeze(), "");
  EXPECT_EQ(route_names(t, b, a), (Names{"b->nic", "nic->a"}));
}

TEST_F(TwoHosts, an_unreachable_host_is_named) {
  t.add_duplex(a, s, kGigabyte, 1);
  t.add_link(s, b, kGigabyte, 1);  // no way back
  EXPECT_EQ(freeze(), "host b cannot reach host a");
}

TEST(Topology, hosts_of_different_groups_need_not_reach_each_other_and_have_no_route) {
  Topology t;
  std::vector<std::vector<VertexId>> groups(2);
  for (std::uint32_t g = 0; g < 2; ++g) {
    const VertexId s = t.add_vertex("s" + std::to_string(g), VertexKind::network_switch);
    for (std::uint32_t h = 0; h < 2; ++h) {
      groups[g].push_back(t.add_vertex("h" + std::to_string(2 * g + h), VertexKind::host));
      t.add_duplex(groups[g].back(), s, kGigabyte, 7);
    }
  }
  ASSERT_EQ(t.freeze(groups), "");
  EXPECT_EQ(t.latency(groups[1][0], groups[1][1]), 14);
  EXPECT_THROW((void)t.route(groups[0][0], groups[1][0]), InternalError);
}

TEST(Topology, a_copy_answers_like_the_original) {
  Topology t;
  const VertexId a = t.add_vertex("a", VertexKind::host);
  const VertexId b = t.add_vertex("b", VertexKind::host);
  t.add_duplex(a, b, kGigabyte, 3);
  ASSERT_EQ(t.freeze(Groups{{a, b}}), "");
  const Topology copy = t;
  t = Topology();
  EXPECT_EQ(route_names(copy, a, b), (Names{"a->b"}));
  EXPECT_EQ(copy.find_vertex("b"), b);
  EXPECT_EQ(copy.vertex_name(a), "a");
  EXPECT_EQ(copy.vertex_kind(a), VertexKind::host);
  EXPECT_FALSE(copy.find_vertex("c").valid());
}

TEST(Topology, misuse_is_a_broken_invariant_of_ours) {
  Topology t;
  const VertexId a = t.add_vertex("a", VertexKind::host);
  const VertexId b = t.add_vertex("b", VertexKind::host);
  const VertexId s = t.add_vertex("s", VertexKind::network_switch);
  EXPECT_THROW(t.add_vertex("a", VertexKind::nic), InternalError);
  EXPECT_THROW(t.add_link(a, a, kGigabyte, 1), InternalError);
  EXPECT_THROW(t.add_link(a, b, 0, 1), InternalError);
  EXPECT_THROW(t.add_link(a, b, kGigabyte, -1), InternalError);
  EXPECT_THROW(t.add_link(a, VertexId{}, kGigabyte, 1), InternalError);
  EXPECT_THROW((void)t.route(a, b), InternalError);
  t.add_duplex(a, s, kGigabyte, 1);
  t.add_duplex(s, b, kGigabyte, 1);
  ASSERT_EQ(t.freeze(Groups{{a, b}}), "");
  EXPECT_THROW((void)t.route(a, s), InternalError);
  EXPECT_THROW((void)t.route(a, a), InternalError);
  EXPECT_THROW(t.add_vertex("late", VertexKind::host), InternalError);
  EXPECT_THROW(t.add_link(b, a, kGigabyte, 1), InternalError);
  EXPECT_THROW((void)t.freeze(Groups{{a, b}}), InternalError);
}

TEST(Topology, a_large_cluster_routes_every_pair_over_its_own_two_links) {
  Topology t;
  const VertexId s = t.add_vertex("s", VertexKind::network_switch);
  std::vector<VertexId> hosts;
  for (int i = 0; i < 100; ++i) {
    hosts.push_back(t.add_vertex("h" + std::to_string(i), VertexKind::host));
    t.add_duplex(hosts.back(), s, kGigabyte * (1 + i), 2);
  }
  ASSERT_EQ(t.freeze(Groups{hosts}), "");
  for (const VertexId from : hosts)
    for (const VertexId to : hosts) {
      if (from == to) continue;
      const auto route = t.route(from, to);
      ASSERT_EQ(route.size(), 2u);
      EXPECT_EQ(t.link_name(route[0]), t.vertex_name(from) + "->s");
      EXPECT_EQ(t.link_name(route[1]), "s->" + t.vertex_name(to));
    }
}

}  // namespace
}  // namespace handoff

// The graph behind a finding: which steps cause which.
#include "models/oracle/happened_before.hpp"

#include <gtest/gtest.h>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

ChainLink step(TimeNs at, const char* node, RequestSerial request, const char* what) {
  ChainLink link;
  link.at = at;
  link.event = static_cast<std::uint64_t>(at);
  link.node = node;
  link.request = request;
  link.what = what;
  return link;
}

// A writes a page on d and frees it; B arrives, is given the page, prefill tells d Success, d
// reads.
std::vector<ChainLink> leak() {
  std::vector<ChainLink> chain{
      step(1, "d", 0, "wrote"),    step(2, "d", 0, "freed"), step(3, "router", 1, "arrived"),
      step(4, "p", 1, "queued"),   step(5, "d", 1, "given"), step(6, "p", 1, "sent"),
      step(7, "d", 1, "received"), step(8, "d", 1, "read"),  step(9, "d", 2, "elsewhere")};
  for (const std::size_t i : {0, 1, 4, 7}) chain[i].object = "page 3";
  chain[5].sends = chain[6].receives = "Success";
  return chain;
}

bool has(const HappenedBefore& graph, std::size_t from, std::size_t to, HappenedBefore::Why why) {
  for (const HappenedBefore::Edge& e : graph.edges())
    if (e.from == from && e.to == to) return e.why == why;
  return false;
}

TEST(HappenedBefore, ConnectsRequestsMessagesAndPages) {
  using Why = HappenedBefore::Why;
  const HappenedBefore graph(leak());
  EXPECT_TRUE(has(graph, 0, 1, Why::request));  // one request on one node
  EXPECT_TRUE(has(graph, 1, 4, Why::object));   // the page changes hands
  EXPECT_TRUE(has(graph, 2, 3, Why::request));  // the first step on a node follows the latest
  EXPECT_TRUE(has(graph, 3, 5, Why::request));
  EXPECT_TRUE(has(graph, 5, 6, Why::message));
  EXPECT_TRUE(has(graph, 4, 6, Why::request));
  EXPECT_EQ(graph.edges().size(), 9u);
}

TEST(HappenedBefore, TellsCausesFromWhatRanBeside) {
  const HappenedBefore graph(leak());
  EXPECT_EQ(graph.causes(7), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(graph.before(0, 7));
  EXPECT_FALSE(graph.before(7, 0));
  EXPECT_FALSE(graph.before(1, 5));  // the free and the sending are concurrent
  EXPECT_FALSE(graph.before(5, 1));
  EXPECT_TRUE(graph.causes(8).empty());  // another request's step on the same node
}

TEST(HappenedBefore, AMessageOfAnotherRequestIsNoCause) {
  std::vector<ChainLink> chain{step(1, "p", 0, "sent"), step(2, "d", 1, "received")};
  chain[0].sends = chain[1].receives = "Success";
  EXPECT_TRUE(HappenedBefore(chain).edges().empty());
}

TEST(HappenedBefore, RefusesAChainThatGoesBack) {
  EXPECT_THROW(HappenedBefore({step(2, "p", 0, "b"), step(1, "p", 0, "a")}), InternalError);
}

TEST(HappenedBefore, DrawsItself) {
  std::vector<ChainLink> chain{step(1, "p", 0, "says \"x\""), step(2, "d", 0, "hears")};
  chain[0].sends = chain[1].receives = "Success";
  EXPECT_EQ(HappenedBefore(chain).dot("a title"),
            "digraph finding {\n"
            "  label=\"a title\"; labelloc=t; rankdir=TB;\n"
            "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
            "  subgraph cluster_0 {\n"
            "    label=\"d\"; style=rounded;\n"
            "    s2 [label=\"2. hears\"];\n"
            "  }\n"
            "  subgraph cluster_1 {\n"
            "    label=\"p\"; style=rounded;\n"
            "    s1 [label=\"1. says \\\"x\\\"\"];\n"
            "  }\n"
            "  s1 -> s2 [style=dashed];\n"
            "}\n");
}

}  // namespace
}  // namespace handoff

// `explain` on real scenarios: the true chain, proven changes, and the state at a moment.
#include <algorithm>

#include "tests/program/program.hpp"

namespace handoff {
namespace {

class Explain : public Program {
 protected:
  // Lines that start with `head`, without it and without blanks around.
  static std::vector<std::string> lines(const std::string& text, const std::string& head) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (line.compare(0, head.size(), head) == 0) {
        const std::size_t from = line.find_first_not_of(' ', head.size());
        found.push_back(from == std::string::npos ? "" : line.substr(from));
      }
      at = end + 1;
    }
    return found;
  }
  static bool any_starts(const std::vector<std::string>& lines, const std::string& start) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.compare(0, start.size(), start) == 0;
    });
  }
};

// The incident: each rung of the ladder is proven to stop it, and the first fix not wholly.
TEST_F(Explain, TheIncidentAndItsLadder) {
  const Said said = handoff("explain " + scenario_path("incidents/glm53_thirteen_days.yaml") +
                            " --dot chain.dot --jobs 2");
  ASSERT_EQ(said.status, 0) << said.err;
  std::size_t at = 0;
  for (const char* step :
       {"computed this KV in prefill", "its KV arrived in page", "released page",
        "arrived:", "prompt replaced by a one-token placeholder", "decode reserved",
        "was given page", "prefill reported Success", "decode received Success",
        "decode took \"transfer complete\"", "read content of other requests"}) {
    at = said.out.find(step, at);
    ASSERT_NE(at, std::string::npos) << step << "\n" << said.out;
  }
  const std::vector<std::string> stops = lines(said.out, "  stops it");
  for (const char* change :
       {"deployments[0].engine=sglang-v2", "deployments[0].engine=sglang-v3",
        "deployments[0].engine=sglang-v0-length", "deployments[0].engine=sglang-v0-checksum",
        "deployments[0].engine=sglang-v0-router", "deployments[0].engine.commit.length=true",
        "deployments[0].cluster.prefill.kv_pool_tokens=1400000"})
    EXPECT_TRUE(any_starts(stops, change)) << change << "\n" << said.out;
  const std::vector<std::string> partly = lines(said.out, "  not wholly");
  EXPECT_TRUE(any_starts(partly, "deployments[0].engine=sglang-v1 ")) << said.out;
  EXPECT_NE(said.out.find("only a timeout ends it"), std::string::npos);
  // Zeroed pages hold nobody's content, but the answer is made of nothing.
  EXPECT_TRUE(any_starts(partly, "deployments[0].engine=sglang-v0-zero ")) << said.out;
  EXPECT_NE(said.out.find("rejected_prompt: placeholder  [step "), std::string::npos);
  EXPECT_NE(read("chain.dot").find("digraph finding {"), std::string::npos);
}

TEST_F(Explain, SaysTheSameForAnyNumberOfThreads) {
  (void)write("leak.yaml", kLeak);
  const Said one = handoff("explain leak.yaml --jobs 1");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(handoff("explain leak.yaml --jobs 5").out, one.out);
}

// A finding that only the end of the run shows.
TEST_F(Explain, PagesThatAreNeverFreed) {
  const Said said = handoff("explain " + scenario_path("negative/I5_leak.yaml"));
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(any_starts(lines(said.out, "  stops it"), "engine.bugs.abort_forgets_pages=false"))
      << said.out;
}

TEST_F(Explain, AnyFindingOrRequestOfARunFolder) {
  (void)write("leak.yaml", kLeak);
  (void)handoff("run leak.yaml --out run");
  const Said by_id = handoff("explain run 3 --tries none");
  EXPECT_EQ(by_id.status, 0) << by_id.err;
  EXPECT_EQ(by_id.out, handoff("explain leak.yaml --request 1 --tries none").out);
  EXPECT_EQ(by_id.out.find("tried"), std::string::npos);
  const Said none = handoff("explain leak.yaml 9");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no finding 9: the run has 3"), std::string::npos) << none.err;
  EXPECT_NE(handoff("explain leak.yaml --request 0").err.find("no finding is about request 0"),
            std::string::npos);
  (void)write("quiet.yaml", kQuiet);
  const Said quiet = handoff("explain quiet.yaml");
  EXPECT_EQ(quiet.status, 2);
  EXPECT_NE(quiet.err.find("the run has no finding"), std::string::npos);
}

TEST_F(Explain, TheStateAtAMoment) {
  (void)write("leak.yaml", kLeak);
  const Said early = handoff("explain leak.yaml --at 1ms");
  EXPECT_EQ(early.status, 0) << early.err;
  EXPECT_NE(early.out.find("1 request arrived, 0 ended, 1 in flight"), std::string::npos)
      << early.out;
  const Said freed = handoff("explain leak.yaml --at 29s --node decode[0] --page decode[0]:kv:0");
  EXPECT_NE(freed.out.find("free, last of request 0"), std::string::npos) << freed.out << freed.err;
  EXPECT_NE(freed.out.find("of request 0 (transfer_write, event "), std::string::npos)
      << freed.out << freed.err;
  const Said request = handoff("explain leak.yaml --at 30001ms --request 1");
  EXPECT_NE(request.out.find("1 token in its own view"), std::string::npos) << request.out;
  EXPECT_NE(handoff("explain leak.yaml --at 0").out.find("after event 0,"), std::string::npos);
  struct Case {
    const char* words;
    const char* message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"--at soon", "expected an event number, a time"},
           {"--at 2026-01-01T00:00:00Z", "a calendar time needs 'start:'"},
           {"--at 1s --node decode[7]", "no node 'decode[7]'"},
           {"--at 1s --page decode[0]:kv", "expected NODE:GROUP:PAGE"},
           {"--at 1s --page decode[0]:kv:99999999", "expected NODE:GROUP:PAGE"},
           {"--node decode[0]", "option '--node' goes with '--at'"}}) {
    const Said said = handoff(std::string("explain leak.yaml ") + c.words);
    EXPECT_EQ(said.status, 2) << c.words;
    EXPECT_NE(said.err.find(c.message), std::string::npos) << c.words << "\n" << said.err;
  }
}

}  // namespace
}  // namespace handoff

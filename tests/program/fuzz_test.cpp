// `fuzz` as its users meet it.
#include <algorithm>

#include "tests/program/program.hpp"

namespace handoff {
namespace {

class Fuzz : public Program {
 protected:
  const std::string base_ = scenario_path("fuzz/swarm.yaml");
};

TEST_F(Fuzz, NothingIsFoundWithSafeDecisions) {
  const Said said = handoff("fuzz " + base_ + " --runs 200");
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_EQ(said.out.compare(0, 26, "200 runs, seeds 1 to 200: "), 0) << said.out;
  EXPECT_NE(said.out.find("\nno finding\n"), std::string::npos);
  EXPECT_NE(said.out.find("  never      "), std::string::npos);
  EXPECT_EQ(said.out, handoff("fuzz " + base_ + " --runs 200 --jobs 1").out);
}

TEST_F(Fuzz, EachKindIsToldOnceWithItsReplayLineAndShrunk) {
  const std::string words = "fuzz " + base_ + " --set engine.abort_release=at_once --runs 40";
  const Said said = handoff(words);
  EXPECT_EQ(said.status, 1) << said.err;
  const std::size_t at = said.out.find("\n  handoff fuzz ");
  ASSERT_NE(at, std::string::npos) << said.out;
  const std::size_t line = at + 3 + std::string("handoff ").size();
  const Said replayed = handoff(said.out.substr(line, said.out.find('\n', line) - line));
  EXPECT_EQ(replayed.status, 1) << replayed.out << replayed.err;

  EXPECT_EQ(handoff(words + " --out found").status, 1);
  EXPECT_EQ(handoff("check found --quiet").status, 0) << handoff("check found").out;
  EXPECT_FALSE(read("found/I4_decode.yaml").empty());
  EXPECT_FALSE(read("found/fuzz.txt").empty());
}

TEST_F(Fuzz, BadWordsAreRefused) {
  (void)write("platform.yaml", "");
  struct Case {
    std::string words;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {base_ + " --runs 0", "expected a whole number from 1"},
           {base_ + " --time soon", "option '--time': expected a duration"},
           {scenario_path("incidents/glm53_thirteen_days.yaml"), "one deployment that generates"},
           {"absent.yaml", "no such file"}}) {
    const Said said = handoff("fuzz " + c.words);
    EXPECT_EQ(said.status, 2) << c.words;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err.find(c.message), std::string::npos) << said.err;
  }
}

}  // namespace
}  // namespace handoff

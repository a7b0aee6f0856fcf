// `shrink`: from a day of traffic to a file that fits on a page.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/program/program.hpp"

namespace handoff {
namespace {

class Shrink : public Program {};

TEST_F(Shrink, TheResultIsAScenarioThatChecks) {
  const std::string incident = scenario_path("incidents/glm53_oversize.yaml");
  const Said said = handoff("shrink " + incident + " --out small.yaml --jobs 1");
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "");
  const std::string text = read("small.yaml");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 30);
  const Said checked = handoff("check small.yaml");
  EXPECT_EQ(checked.status, 0) << checked.out;
  // The same bytes from two threads, and on standard output.
  EXPECT_EQ(handoff("shrink " + incident + " --jobs 2 --quiet").out, text);
  // Small already: shrinking again changes nothing but the name.
  const Said again = handoff("shrink small.yaml --quiet");
  EXPECT_EQ(std::count(again.out.begin(), again.out.end(), '\n'),
            std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Shrink, AnyFindingCanBeKept) {
  (void)write("leak.yaml", kLeak);
  EXPECT_NE(handoff("shrink leak.yaml 3 --quiet").out.find("I7 on router"), std::string::npos);
  const Said none = handoff("shrink leak.yaml 9");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no finding 9: the run has 3"), std::string::npos) << none.err;
  (void)write("quiet.yaml", kQuiet);
  const Said quiet = handoff("shrink quiet.yaml --out x.yaml");
  EXPECT_EQ(quiet.status, 2);
  EXPECT_NE(quiet.err.find("the run has no finding"), std::string::npos);
  EXPECT_EQ(names(), (std::vector<std::string>{"leak.yaml", "quiet.yaml"}));
}

// Killed in the middle, the best so far is there and checks.
TEST_F(Shrink, AnInterruptLeavesTheBestSoFar) {
  const std::string out = (folder_ / "work/small.yaml").string();
  const std::string path = scenario_path("incidents/glm53_oversize.yaml");
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(HANDOFF_PROGRAM, "handoff", "shrink", path.c_str(), "--out", out.c_str(), "--quiet",
            nullptr);
    ::_exit(99);
  }
  int status = 0;
  while (names().empty()) {
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended before it began";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, SIGINT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0);
  const Said checked = handoff("check small.yaml");
  EXPECT_EQ(checked.status, 0) << checked.out << read("small.yaml");
  EXPECT_EQ(names(), std::vector<std::string>{"small.yaml"});
}

}  // namespace
}  // namespace handoff

// What a run prints and writes.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/program/program.hpp"

namespace handoff {
namespace {

namespace json = boost::json;

class Output : public Program {};

TEST_F(Output, AnUnexpectedFindingIsExitCodeOne) {
  (void)write("leak.yaml", kLeak);
  const Said said = handoff("run leak.yaml");
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_NE(said.out.find("1 response fed by other requests' memory"), std::string::npos);
  EXPECT_NE(said.out.find("NOT as expected"), std::string::npos);
  EXPECT_EQ(handoff("run leak.yaml --exit-zero").status, 0);
  (void)write(
      "expected.yaml",
      std::string(kLeak) + "expect: {tainted_responses: 1, findings: {I1: 1, I2: 1, I7: 1}}\n");
  EXPECT_EQ(handoff("run expected.yaml").status, 0);
  (void)write("missed.yaml", std::string(kLeak) + "expect: {findings: {I1: 1, I2: 1}}\n");
  const Said missed = handoff("run missed.yaml");
  EXPECT_EQ(missed.status, 1);
  EXPECT_NE(missed.out.find("MISSED  findings.I7: expected 0, found 1"), std::string::npos)
      << missed.out;
}

// The chain names both requests and every step from the write to the read.
TEST_F(Output, TheSummaryTellsTheChain) {
  (void)write("leak.yaml", kLeak);
  const std::string out = handoff("run leak.yaml --quiet").out;
  std::size_t at = 0;
  for (const char* step :
       {"request 0: computed this KV in prefill", "request 0: its KV arrived in page",
        "request 0: released page", "request 1: prefill found 20000 tokens over its limit",
        "request 1: decode reserved 313 pages", "request 1: prefill reported Success",
        "request 1: decode took \"transfer complete\" at its word",
        "request 1: read content of other requests", "request 1: the client has HTTP 200"}) {
    at = out.find(step, at);
    EXPECT_NE(at, std::string::npos) << step << "\n" << out;
    if (at == std::string::npos) return;
  }
}

// The sample in the README is what the program prints; "…" stands for lines left out.
TEST_F(Output, TheReadmeShowsTheRealThing) {
  std::ifstream file(HANDOFF_SOURCE_DIR "/README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  const std::string text = readme.str();
  const std::string start = "```text\n";
  const std::size_t from = text.find(start, text.find("<!-- sample")) + start.size();
  const std::string sample = text.substr(from, text.find("```", from) - from);
  const std::string out =
      handoff("run " + scenario_path("incidents/glm53_oversize.yaml") + " --quiet").out;
  std::size_t at = 0;
  std::size_t shown = 0;
  std::stringstream lines(sample);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line == "…") continue;
    ++shown;
    const std::size_t found = out.find(line + "\n", at);
    ASSERT_NE(found, std::string::npos) << line;
    at = found + line.size();
  }
  EXPECT_GT(shown, 20u);
}

// The reported race of sglang 35049, to the page and the millisecond.
TEST_F(Output, TheGoldenRace) {
  const std::string path = scenario_path("incidents/sglang_35049.yaml");
  const json::object report =
      json::parse(handoff("run " + path + " --format json").out).as_object();
  const auto ms = [](const json::value& ns) { return ns.to_number<std::int64_t>() / 1'000'000; };
  const auto at = [&](const json::value& finding, const char* what) {
    for (const json::value& step : finding.at("chain").as_array())
      if (step.at("what").as_string().find(what) != json::string::npos) return ms(step.at("at_ns"));
    return std::int64_t{-1};
  };
  const json::array& findings = report.at("findings").as_array();
  ASSERT_EQ(findings.size(), 2u);
  const json::value& freed = findings[0];
  EXPECT_EQ(freed.at("rule").as_string(), "I4");
  EXPECT_EQ(json::serialize(freed.at("pages")), R"([{"first":14,"count":31}])");
  EXPECT_EQ(at(freed, "posted its last chunk"), 878'800);
  EXPECT_EQ(ms(freed.at("at_ns")), 881'280);
  const json::value& late = findings[1];
  EXPECT_EQ(late.at("rule").as_string(), "I3");
  EXPECT_EQ(json::serialize(late.at("pages")), R"([{"first":14,"count":19}])");
  EXPECT_EQ(late.at("request").to_number<int>(), 3);                      // B
  EXPECT_EQ(late.at("sources").at(0).at("request").to_number<int>(), 2);  // A
  EXPECT_EQ(at(late, "decode reserved 32 pages"), 881'310);
  EXPECT_EQ(ms(late.at("at_ns")), 884'800);
  EXPECT_NE(late.at("message").as_string().find("request 3 has held for 3.490 s"),
            json::string::npos);
  // B's pages, and A's before.
  EXPECT_NE(handoff("explain " + path + " --at 881.4s --request 3").out.find(" 1..32\n"),
            std::string::npos);
  EXPECT_NE(handoff("explain " + path + " --at 880s --request 2").out.find(" 14..44\n"),
            std::string::npos);
}

TEST_F(Output, JsonIsOneDocumentAndSaysTheSame) {
  (void)write("leak.yaml", kLeak);
  const Said said = handoff("run leak.yaml --format json");
  EXPECT_EQ(said.status, 1);
  const json::object report = json::parse(said.out).as_object();
  EXPECT_EQ(report.at("totals").at("tainted_responses").to_number<int>(), 1);
  EXPECT_EQ(report.at("metrics").at("findings.I1").to_number<int>(), 1);
  EXPECT_EQ(report.at("metrics").at("status.200").to_number<int>(), 2);
  EXPECT_FALSE(report.at("verdict").at("passed").as_bool());
  const json::array& findings = report.at("findings").as_array();
  ASSERT_EQ(findings.size(), 3u);
  for (const json::value& f : findings) {
    EXPECT_EQ(f.at("request").to_number<int>(), 1);
    EXPECT_FALSE(f.at("chain").as_array().empty());
  }
  const auto provenance = std::find_if(findings.begin(), findings.end(), [](const json::value& f) {
    return f.at("rule").as_string() == "I1";
  });
  ASSERT_NE(provenance, findings.end());
  EXPECT_EQ(provenance->at("sources").at(0).at("request").to_number<int>(), 0);
  EXPECT_EQ(provenance->at("sources").at(0).at("tokens").to_number<int>(),
            provenance->at("tokens_foreign").to_number<int>());
}

TEST_F(Output, TheFolderHoldsTheWholeRun) {
  const std::string path = write("in/leak.yaml", kLeak);
  const Said said = handoff("run in/leak.yaml --out result/run --quiet");
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_EQ(names(), (std::vector<std::string>{"in", "result"}));
  const json::value report = json::parse(read("result/run/report.json"));
  EXPECT_EQ(report.at("run").at("requests").to_number<int>(), 2);
  EXPECT_EQ(json::parse(read("result/run/findings.json")).at("findings").as_array().size(), 3u);
  const std::string requests = read("result/run/requests.csv");
  EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), 3);
  EXPECT_NE(requests.find("\n0,llama-3.1-8b,0,0,both,0,0,"), std::string::npos) << requests;
  const std::string tainted = read("result/run/tainted_responses.csv");
  EXPECT_EQ(std::count(tainted.begin(), tainted.end(), '\n'), 2);
  // The resolved scenario is the same run.
  const Said again = handoff("run result/run/scenario.resolved.yaml --format json");
  const Said first = handoff("run in/leak.yaml --format json");
  EXPECT_EQ(again.out, first.out);
}

TEST_F(Output, TheSameRunWritesTheSameBytes) {
  (void)write("leak.yaml", kLeak);
  (void)handoff("run leak.yaml --out a");
  (void)handoff("run leak.yaml --out b --format json");
  for (const char* file : {"report.json", "findings.json", "requests.csv", "tainted_responses.csv",
                           "scenario.resolved.yaml"}) {
    EXPECT_FALSE(read(std::string("a/") + file).empty()) << file;
    EXPECT_EQ(read(std::string("a/") + file), read(std::string("b/") + file)) << file;
  }
}

TEST_F(Output, AFolderThatIsNotOursIsRefusedBeforeTheRun) {
  (void)write("q.yaml", kQuiet);
  (void)write("mine/notes.txt", "keep");
  const Said said = handoff("run q.yaml --out mine");
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find("mine: is there and holds files"), std::string::npos) << said.err;
  EXPECT_EQ(read("mine/notes.txt"), "keep");
  EXPECT_EQ(names(), (std::vector<std::string>{"mine", "q.yaml"}));
}

TEST_F(Output, AFullDiskIsAnError) {
  (void)write("q.yaml", kQuiet);
  const Said said = handoff("run q.yaml >/dev/full");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("standard output: cannot be written: No space left"), std::string::npos)
      << said.err;
}

TEST_F(Output, AReaderThatLeavesIsNoCrash) {
  (void)write("q.yaml", kQuiet);
  // Long enough for the pipe to be closed before all is written.
  const Said said = handoff("run q.yaml --color always | (exec <&-); exit ${PIPESTATUS:-0}");
  EXPECT_EQ(said.err.find("cannot be written"), std::string::npos) << said.err;
  EXPECT_EQ(said.err.find("broken invariant"), std::string::npos) << said.err;
}

// Interrupted in the middle: exit code 130, and no trace of the folder.
TEST_F(Output, AnInterruptedRunLeavesNothing) {
  const std::string out = (folder_ / "work/out").string();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    const std::string path = scenario_path("incidents/glm53_thirteen_days.yaml");
    ::execl(HANDOFF_PROGRAM, "handoff", "run", path.c_str(), "--out", out.c_str(), nullptr);
    ::_exit(99);
  }
  // Once its draft is there the run goes on for many seconds.
  int status = 0;
  while (names().empty()) {
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended before it began";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(child, SIGINT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(names().empty());
}

TEST_F(Output, ColoursOnlyForATerminalOrOnDemand) {
  (void)write("q.yaml", kQuiet);
  EXPECT_EQ(handoff("run q.yaml").out.find('\x1b'), std::string::npos);
  EXPECT_NE(handoff("run q.yaml --color always").out.find('\x1b'), std::string::npos);
}

TEST_F(Output, ATraceIsDescribed) {
  const Said said = handoff("trace info " + scenario_path("data/mooncake_sample.jsonl.gz"));
  EXPECT_EQ(said.status, 0);
  EXPECT_NE(said.out.find("mooncake_sample.jsonl.gz: mooncake"), std::string::npos);
  EXPECT_NE(said.out.find("rows      200"), std::string::npos);
}

}  // namespace
}  // namespace handoff

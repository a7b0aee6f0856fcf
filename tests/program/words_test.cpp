// Commands and options: what is understood, what is refused, and with which exit code.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/program/program.hpp"

namespace handoff {

namespace fs = std::filesystem;

const char* const kQuiet = R"(handoff: 1
name: quiet
model: llama-3.1-8b
engine: sglang-v2
cluster:
  context_window: 32_768
  prefill: {nodes: 1, hardware: 8xh200, kv_pool_tokens: 65_536}
  decode: {nodes: 1, hardware: 8xh200, kv_pool_tokens: 131_072}
workload:
  - requests: [{at: 0s, prompt_tokens: 1000}, {at: 1s, prompt_tokens: 2000}]
)";

const char* const kLeak = R"(handoff: 1
name: leak
model: llama-3.1-8b
engine: {preset: sglang-v0, free_order: lifo}
cluster:
  context_window: 65_536
  prefill: {nodes: 1, hardware: 1xh100, kv_pool_tokens: 16_384}
  decode: {nodes: 1, hardware: 1xh100, kv_pool_tokens: 131_072}
workload:
  - name: both
    requests:
      - {at: 0s, prompt_tokens: 12_000, output_tokens: 4}
      - {at: 30s, prompt_tokens: 20_000, output_tokens: 4}
)";

std::string scenario_path(const std::string& name) {
  return std::string(HANDOFF_SOURCE_DIR "/scenarios/") + name;
}

void Program::SetUp() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ = fs::temp_directory_path() / ("handoff-program-" + std::to_string(::getpid()) + "-" +
                                         test->test_suite_name() + "." + test->name());
  fs::create_directories(folder_ / "work");
}

void Program::TearDown() { fs::remove_all(folder_); }

Said Program::handoff(const std::string& shell, const std::string& environment) const {
  const std::string out = (folder_ / "stdout").string();
  const std::string err = (folder_ / "stderr").string();
  const std::string line = "cd '" + (folder_ / "work").string() + "' && exec >'" + out + "' 2>'" +
                           err + "' </dev/null; " + environment + " '" HANDOFF_PROGRAM "' " + shell;
  const int status = std::system(line.c_str());
  const auto content = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out),
          content(err)};
}

std::string Program::write(const std::string& name, const std::string& text) const {
  const fs::path path = folder_ / "work" / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string Program::read(const std::string& name) const {
  std::ifstream in(folder_ / "work" / name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> Program::names() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "work"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

class Words : public Program {};

TEST_F(Words, HelpGoesToStandardOutput) {
  for (const char* words : {"help", "--help", "-h"}) {
    const Said said = handoff(words);
    EXPECT_EQ(said.status, 0);
    EXPECT_NE(said.out.find("handoff run "), std::string::npos);
    EXPECT_EQ(said.err, "");
  }
  EXPECT_EQ(handoff("help run").out, handoff("run --help").out);
  EXPECT_NE(handoff("help run").out.find("--exit-zero"), std::string::npos);
  EXPECT_EQ(handoff("version").out, handoff("--version").out);
}

struct Refused {
  const char* words;
  const char* message;  // start of standard error
};

TEST_F(Words, NothingIsGuessed) {
  (void)write("q.yaml", kQuiet);
  const std::vector<Refused> cases{
      {"", "handoff: simulates"},
      {"runn q.yaml", "handoff: unknown command 'runn'; did you mean 'run'?\n"},
      {"run q.yaml --sede 3", "handoff: run: unknown option '--sede'; did you mean '--seed'?\n"},
      {"run q.yaml --se 3", "handoff: run: unknown option '--se'"},
      {"run q.yaml -q", "handoff: run: unknown option '-q'"},
      {"run", "handoff: run: a scenario file is missing\nusage: handoff run SCENARIO"},
      {"run q.yaml r.yaml", "handoff: run: unexpected word 'r.yaml'"},
      {"run q.yaml --seed", "handoff: run: option '--seed' needs a value\n"},
      {"run q.yaml --seed -1",
       "handoff: run: option '--seed': expected a whole number from 0 to 9223372036854775807, "
       "found '-1'"},
      {"run q.yaml --seed 3x", "handoff: run: option '--seed': expected a whole number"},
      {"run q.yaml --seed 99999999999999999999", "handoff: run: option '--seed': expected"},
      {"run q.yaml --seed 1 --seed 2", "handoff: run: option '--seed' is given twice\n"},
      {"run q.yaml --quiet=yes", "handoff: run: option '--quiet' takes no value\n"},
      {"run q.yaml --format xml",
       "handoff: run: option '--format': expected text or json, found 'xml'"},
      {"run q.yaml --findings -1", "handoff: run: option '--findings': expected a whole number"},
      {"run q.yaml --set", "handoff: run: option '--set' needs a value\n"},
      {"check", "handoff: check: a scenario file or folder is missing"},
      {"check nowhere", "handoff: check: nowhere: no such file or folder\n"},
      {"check q.yaml --jobs 0", "handoff: check: option '--jobs': expected a whole number from 1"},
      {"catalog", "handoff: catalog: 'list' or 'show NAME' is missing"},
      {"catalog lst", "handoff: catalog: expected 'list' or 'show NAME', found 'lst'; did you"},
      {"catalog show", "handoff: catalog: the name of an entry is missing"},
      {"trace inf q.yaml", "handoff: trace: expected 'info FILE', found 'inf'; did you mean"},
      {"trace info", "handoff: trace: a trace file is missing"},
      {"schema extra", "handoff: schema: expected 'scenario' or 'page-log', found 'extra'"},
      {"schema scenario extra", "handoff: schema: unexpected word 'extra'"},
      {"help nothing", "handoff: unknown command 'nothing'"},
  };
  for (const Refused& c : cases) {
    const Said said = handoff(c.words);
    EXPECT_EQ(said.status, 2) << c.words;
    EXPECT_EQ(said.out, "") << c.words;
    EXPECT_EQ(said.err.substr(0, std::string(c.message).size()), c.message) << c.words;
  }
}

TEST_F(Words, OptionsAndPlainWordsMix) {
  (void)write("q.yaml", kQuiet);
  (void)write("--odd.yaml", kQuiet);
  const Said plain = handoff("run q.yaml --seed 7 --quiet");
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(handoff("run --quiet --seed=7 q.yaml").out, plain.out);
  EXPECT_EQ(handoff("run q.yaml --set seed=7 --quiet").out, plain.out);
  EXPECT_EQ(handoff("run --seed 7 --quiet -- --odd.yaml").out, plain.out);
  EXPECT_NE(handoff("run q.yaml --seed 8 --quiet").out, plain.out);
}

TEST_F(Words, TheCatalogCanLieElsewhere) {
  const Said list = handoff("catalog list");
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.out.find("sglang-v0"), std::string::npos);
  for (const char* name : {"h200", "glm-5.3", "sglang-v0"})
    EXPECT_EQ(handoff(std::string("catalog show ") + name).status, 0) << name;
  EXPECT_NE(handoff("catalog show glm-5.3").out.find("parameters_total: 743"), std::string::npos);
  const Said unknown = handoff("catalog show h2000");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'h200'?"), std::string::npos) << unknown.err;
  (void)write("q.yaml", kQuiet);
  const Said elsewhere = handoff("run q.yaml", "HANDOFF_CATALOG=nowhere");
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_NE(elsewhere.err.find("no model 'llama-3.1-8b': 'nowhere/llm' holds none"),
            std::string::npos)
      << elsewhere.err;
}

}  // namespace
}  // namespace handoff

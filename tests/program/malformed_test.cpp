// Bad scenarios and traces through the whole program: one clear error with its place, exit code 2,
// nothing on standard output, nothing written. Run it under the asan preset too.
#include "tests/program/program.hpp"

namespace handoff {
namespace {

class BadInput : public Program {
 protected:
  // kQuiet with the first `from` replaced.
  static std::string with(const std::string& from, const std::string& to) {
    std::string text = kQuiet;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  static std::string with_trace(const std::string& file) {
    return with("requests: [{at: 0s, prompt_tokens: 1000}, {at: 1s, prompt_tokens: 2000}]",
                "{trace: " + file + ", format: mooncake}");
  }
  void refused(const std::string& words, const std::string& message) {
    const std::vector<std::string> before = names();
    for (const std::string& command : {"run " + words + " --out out", "check " + words}) {
      const Said said = handoff(command);
      EXPECT_EQ(said.status, 2) << command << "\n" << said.out << said.err;
      const bool run = command[0] == 'r';
      const std::string told = said.out + said.err;
      EXPECT_NE(told.find(message), std::string::npos) << command << "\n" << told;
      if (run) {
        EXPECT_EQ(said.out, "") << command;
      }
    }
    EXPECT_EQ(names(), before) << words;
  }
};

const std::string kRow =
    R"({"timestamp": 1000, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]})";

TEST_F(BadInput, Scenarios) {
  struct Case {
    std::string text;
    const char* message;
  };
  const std::vector<Case> cases{
      {with("engine:", "engin:"), "s.yaml:4:1: error: unknown key 'engin'; did you mean 'engine'?"},
      {with("nodes: 1", "nodes: -1"), "s.yaml:7:20: error: expected 1 to 1024, found '-1'"},
      {with("at: 0s", "at: 0"), "s.yaml:10:21: error: expected a duration such as 30s, found '0'"},
      {with("at: 0s", "at: 3GB"), "unknown unit"},
      {std::string(kQuiet) + "seed: 1\nseed: 2\n", "s.yaml:12:1: error: duplicate key 'seed'"},
      {std::string(kQuiet) + "limits: {events: 1e400}\n", "s.yaml:11:18: error: expected a whole"},
      {std::string(kQuiet) + "seed: \"a\n", "s.yaml:"},
      {std::string(kQuiet) + "a: [1, 2\n", "s.yaml:"},
      {"", "s.yaml:1:1: error: the file is empty"},
      {std::string("handoff: 1\nname: a\0b\n", 21), "s.yaml:2:"},
      {"just words", "s.yaml:1:1: error:"},
      {with("llama-3.1-8b", "llama"), "no model 'llama' in the catalog"},
      {with("131_072", "32"), "s.yaml:8:56: error: a pool of 32 tokens holds no page of 64"},
  };
  for (const Case& c : cases) {
    (void)write("s.yaml", c.text);
    refused("s.yaml", c.message);
  }
}

TEST_F(BadInput, ValuesThatOnlyTheBuiltRunCanCheck) {
  (void)write("s.yaml", std::string(kQuiet) +
                            "faults:\n  - link: {name: \"prefill[9]->spine\", at: 1s, for: 1s}\n");
  refused("s.yaml", "s.yaml:12:");
}

TEST_F(BadInput, Traces) {
  struct Case {
    std::string text;
    const char* message;
  };
  const std::vector<Case> cases{
      {"", "t.jsonl: the file is empty"},
      {kRow + "\n{\"timestamp\": 2000, \"input_length\": }\n", "t.jsonl:2:"},
      {kRow + "\r\n{\"timestamp\": 2000}", "t.jsonl:2:"},
      {kRow + "\n" + std::string(kRow).replace(14, 4, "0999") + "\n", "t.jsonl:2:"},
      {kRow + "\n" + std::string(kRow).replace(14, 4, " 999") + "\n", "t.jsonl:2:"},
      {std::string(kRow).replace(14, 4, "1e400"), "t.jsonl:1:"},
      {kRow + "\n" + std::string(3, '\0') + "\n", "t.jsonl:2:"},
      {std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10), "t.jsonl:"},
      {std::string(kRow).replace(kRow.find("600"), 3, "-60"), "t.jsonl:1:"},
      {"TIMESTAMP,ContextTokens,GeneratedTokens\n", "t.jsonl:1:"},
  };
  (void)write("s.yaml", with_trace("t.jsonl"));
  for (const Case& c : cases) {
    (void)write("t.jsonl", c.text);
    refused("s.yaml", c.message);
  }
}

TEST_F(BadInput, FilesThatAreNone) {
  refused("absent.yaml", "absent.yaml");
  (void)write("s.yaml", with_trace("absent.jsonl"));
  refused("s.yaml", "absent.jsonl: cannot open: No such file or directory");
  (void)write("folder/x", "");
  (void)write("s.yaml", with_trace("folder"));
  refused("s.yaml", "folder");
}

TEST_F(BadInput, SeveralErrorsAreToldAtOnce) {
  (void)write("s.yaml", with("engine:", "engin:") + "sed: 1\n");
  const Said said = handoff("validate s.yaml");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("s.yaml:4:1:"), std::string::npos);
  EXPECT_NE(said.err.find("s.yaml:11:1:"), std::string::npos);
}

}  // namespace
}  // namespace handoff

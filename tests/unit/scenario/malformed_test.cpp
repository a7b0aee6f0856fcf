// Bad scenarios: one clear error each, at its very place; several at once; never a crash.
#include <algorithm>

#include "tests/unit/scenario/scenario_files.hpp"

namespace handoff {
namespace {

class Malformed : public ScenarioFiles {};

struct Case {
  const char* what;
  std::string text;
  const char* error;  // "line:column: message"
};

// The lines of kSmall: 1 handoff, 2 name, 3 model, 4 engine, 5 cluster, 6 context_window, 7
// prefill, 8 decode, 9 workload, 10 requests; what small_and() adds starts on line 11.
class MalformedCases : public Malformed {
 protected:
  void each(const std::vector<Case>& cases) {
    for (const Case& c : cases)
      EXPECT_EQ(errors(c.text), std::vector<std::string>{c.error}) << c.what;
  }
};

TEST_F(MalformedCases, Keys) {
  each({
      {"unknown", small_with("engine:", "engin:"),
       "4:1: unknown key 'engin'; did you mean 'engine'?"},
      {"unknown below", small_with("nodes: 2", "node: 2"),
       "7:13: unknown key 'cluster.prefill.node'; did you mean 'nodes'?"},
      {"unknown, far from any", small_with("prefill: {", "prefill: {zzzz: 1, "),
       "7:13: unknown key 'cluster.prefill.zzzz'; known: nodes, hardware, kv_pool_tokens, "
       "efficiency"},
      {"duplicate", small_and("seed: 1\nseed: 2\n"),
       "12:1: duplicate key 'seed', first on line 11"},
      {"missing at the top", small_with("name: small\n", ""), "1:1: missing key 'name'"},
      {"missing below",
       small_with("hardware: 8xh200, kv_pool_tokens: 65_536", "kv_pool_tokens: 65_536"),
       "7:12: missing key 'cluster.prefill.hardware'"},
      {"missing in a list", small_with("at: 0s, ", ""),
       "10:16: missing key 'workload[0].requests[0].at'"},
      {"no alternative", small_and("faults:\n  - name: x\n"),
       "12:5: missing key in 'faults[0]': one of oversize_prompt, notice, client_abort, "
       "node_crash, link"},
      {"two alternatives",
       small_with("requests:",
                  "trace: a.csv\n    synthetic: {arrivals: {poisson: {rate: 1/s}}, "
                  "prompt: {fixed: 1}, output: {fixed: 1}, for: 1s}\n    x-requests:"),
       "10:5: 'trace' beside 'synthetic': only one of them can be"},
      {"out of place", small_and("    speedup: 2\n"),
       "11:5: 'speedup' goes with 'trace', which is not here"},
      {"merge", "x-a: &a {name: x}\n<<: *a\n" + std::string(kSmall),
       "2:1: merge keys ('<<') are not supported; repeat the keys, or name an alias for each"},
      {"a mapping for a key", small_and("? {a: b}\n: c\n"), "11:3: a mapping cannot be a key"},
  });
}

TEST_F(MalformedCases, Values) {
  each({
      {"octal", small_and("seed: 010\n"),
       "11:7: expected a whole number from 0, found '010': a leading zero (octal is not read)"},
      {"hexadecimal", small_and("seed: 0x10\n"),
       "11:7: expected a whole number from 0, found '0x10'"},
      {"negative", small_with("nodes: 2", "nodes: -2"), "7:20: expected 1 to 1024, found '-2'"},
      {"zero", small_with("nodes: 2", "nodes: 0"), "7:20: expected 1 to 1024, found '0'"},
      {"quoted number", small_with("nodes: 2", "nodes: \"2\""),
       "7:20: expected a whole number, found the quoted text '2'; remove the quotes"},
      {"no value", small_and("seed:\n"), "11:1: expected a whole number from 0, found nothing"},
      {"null", small_and("seed: null\n"), "11:1: expected a whole number from 0, found nothing"},
      {"a list for a number", small_and("seed: [1]\n"),
       "11:7: expected a whole number from 0, found a list"},
      {"a mapping for a list", small_and("faults: {}\n"), "11:9: expected a list, found a mapping"},
      {"a value for a mapping", small_and("network: fast\n"),
       "11:10: expected a mapping, found a value 'fast'"},
      {"an empty list",
       small_and("x-w: 0\n")
           .replace(std::string(kSmall).find("workload:"), 9, "workload: []\nx-v:"),
       "9:11: expected at least 1 item"},
      {"no unit", small_with("at: 0s", "at: 0"),
       "10:21: expected a duration such as 30s, found '0': no unit (d h m s ms us ns)"},
      {"wrong unit", small_and("terminate_within: 3GB\n"),
       "11:19: expected a duration such as 30s, found '3GB': unknown unit (d h m s ms us ns)"},
      {"rate without time", small_and("network: {node_rate: 400Gb}\n"),
       "11:22: expected a rate such as 400Gb/s, found '400Gb': unknown unit (or 'hardware')"},
      {"huge", small_and("limits: {events: 99999999999999999999}\n"),
       "11:18: expected a whole number, found '99999999999999999999': too large"},
      {"yes", small_with("engine: sglang-v2", "engine: {preset: sglang-v2, overlap_schedule: yes}"),
       "4:47: expected true or false, found 'yes'"},
      {"enumeration", small_and("stepping: lasy\n"),
       "11:11: expected one of lazy, every_token, found 'lasy'; did you mean 'lazy'?"},
      {"version", small_with("handoff: 1", "handoff: 2"), "1:10: expected 1 to 1, found '2'"},
      {"no such model", small_with("llama-3.1-8b", "llama-3.1-8"),
       "3:8: no model 'llama-3.1-8' in the catalog; did you mean 'llama-3.1-8b'?"},
      {"no such engine", small_with("engine: sglang-v2", "engine: {preset: sglang-v9}"),
       "4:18: no engine 'sglang-v9' in the catalog; did you mean 'sglang-v0'?"},
      {"calendar without start", small_with("at: 0s", "at: 2026-01-01T00:00:00Z"),
       "10:21: a calendar time needs 'start:' at the top of the scenario"},
      {"before the start",
       "start: 2026-01-02T00:00:00Z\n" + small_with("at: 0s", "at: 2026-01-01T00:00:00Z"),
       "11:21: '2026-01-01T00:00:00Z' lies before the start, 2026-01-02T00:00:00Z"},
      {"no such day",
       "start: 2026-02-30T00:00:00Z\n" + small_with("at: 0s", "at: 2026-01-01T00:00:00Z"),
       "1:8: expected a UTC time such as 2026-09-08T14:00:00Z, found '2026-02-30T00:00:00Z': no "
       "such time between 1970 and 2199"},
      {"unknown trace format",
       small_with("requests: [{at: 0s, prompt_tokens: 100}]", "trace: log.txt"),
       "10:12: the file's name does not tell its format; add 'format: mooncake' or 'format: "
       "azure'"},
      {"a node", small_and("faults: [{node_crash: {node: prefill, at: 1s}}]\n"),
       "11:30: expected a node such as prefill[0] or decode[1], found 'prefill'"},
  });
}

TEST_F(MalformedCases, NumbersThatOtherReadersTake) {
  const auto sigma = [](const char* value) {
    return small_with(
        "requests: [{at: 0s, prompt_tokens: 100}]",
        std::string(
            "synthetic: {arrivals: {poisson: {rate: 1/s}}, for: 1s, output: {fixed: 1}, prompt: "
            "{lognormal: {median: 9, sigma: ") +
            value + "}}}");
  };
  each({
      {"overflow", sigma("1e400"), "10:119: expected a decimal number, found '1e400'"},
      {"exponent", sigma("1e-1"), "10:119: expected a decimal number, found '1e-1'"},
      {"not a number", sigma(".nan"), "10:119: expected a decimal number, found '.nan'"},
      {"infinity", sigma(".inf"), "10:119: expected a decimal number, found '.inf'"},
      {"above the bound", sigma("99"), "10:119: expected 0 to 8, found '99'"},
  });
}

TEST_F(MalformedCases, Texts) {
  const auto nested = [](int depth) {
    return small_and("x-deep: " + std::string(static_cast<std::size_t>(depth), '[') +
                     std::string(static_cast<std::size_t>(depth), ']') + "\n");
  };
  each({
      {"empty", "", "1:1: the file is empty"},
      {"only a comment", "# nothing\n", "1:1: the file is empty"},
      {"a list", "- 1\n", "1:1: expected a mapping, found a list"},
      {"two documents", small_and("---\n" + std::string(kSmall)),
       "11:1: a second document starts here; a file holds one"},
      {"NUL", small_and(std::string("x-a: a\0b\n", 9)), "11:7: a NUL byte"},
      {"not UTF-8", small_and("x-a: \xC3\x28\n"), "11:6: byte 0xC3 is not UTF-8"},
      {"control character", small_and("x-a: \x01\n"), "11:6: control character 0x01"},
      {"a tag", small_and("x-a: !!str 1\n"),
       "11:6: the tag 'tag:yaml.org,2002:str' has no meaning here"},
      {"deep", nested(101), "11:108: nested deeper than 100 levels"},
      {"very deep", nested(20'000), "11:108: nested deeper than 100 levels"},
      {"unknown alias", small_and("x-a: *nobody\n"),
       "11:6: YAML: the referenced anchor is not defined"},
      {"unclosed bracket", small_and("x-a: [1,\n"),
       "12:1: YAML: end of sequence flow not found (opened on line 11)"},
  });
}

TEST_F(MalformedCases, ValuesThatDoNotFitTogether) {
  const auto fault = [](const char* text) {
    return small_and(std::string("faults:\n  - ") + text + "\n");
  };
  const auto operations = [](const char* text) {
    return small_and(std::string("operations:\n") + text);
  };
  const auto lengths = [&](const char* text) {
    return fault((std::string("oversize_prompt: {count: 1, for: 1s, output: {fixed: 1}, prompt: ") +
                  text + "}")
                     .c_str());
  };
  each({
      {"a latency without measure",
       small_with("engine: sglang-v2", "engine: {preset: sglang-v2, control_latency: 2h}"),
       "4:46: expected 0s to 1h, found '2h'"},
      {"nodes in all", small_with("nodes: 2", "nodes: 1024"),
       "6:3: 1025 nodes so far: a scenario has at most 1024 in all"},
      {"window above the model's", small_with("32_768", "200_000"),
       "6:19: 200000 is above the context of llama-3.1-8b, 131072"},
      {"no decode",
       small_with("  decode: {nodes: 1, hardware: 8xh200, kv_pool_tokens: 131_072}\n", ""),
       "6:3: missing key 'decode': llama-3.1-8b generates"},
      {"pool below a page", small_with("65_536", "63"),
       "7:57: a pool of 63 tokens holds no page of 64"},
      {"endless",
       small_with(
           "requests: [{at: 0s, prompt_tokens: 100}]",
           "synthetic: {arrivals: {poisson: {rate: 1/s}}, prompt: {fixed: 1}, output: {fixed: 1}}"),
       "10:16: endless: give 'requests' or 'for'"},
      {"no output", small_with("prompt_tokens: 100", "prompt_tokens: 100, output_tokens: 0"),
       "10:60: expected at least 1 token"},
      {"low above high", lengths("{uniform: {low: 9, high: 8}}"),
       "12:86: low (9) is above high (8)"},
      {"count and rate",
       fault("oversize_prompt: {count: 1, rate: 1%, for: 1s, prompt: {fixed: 9}, output: {fixed: "
             "1}}"),
       "12:39: 'rate' beside 'count': only one of them can be"},
      {"count over no time",
       fault("oversize_prompt: {count: 1, prompt: {fixed: 9}, output: {fixed: 1}}"),
       "12:30: a count is spread over 'for', which is missing"},
      {"neither count nor rate", fault("oversize_prompt: {prompt: {fixed: 9}, output: {fixed: 1}}"),
       "12:22: missing key: one of count, rate, at"},
      {"no such node", fault("node_crash: {node: \"prefill[2]\", at: 1s}"),
       "12:24: no prefill node 2: there are 2"},
      {"no such rank", fault("notice: {kind: lost, when: {rank: 1}}"),
       "12:39: no rank 1: there is 1"},
      {"no such group", fault("notice: {kind: short, when: {group: kw}}"),
       "12:41: llama-3.1-8b has no group 'kw'; did you mean 'kv'?"},
      {"group of another kind", fault("notice: {kind: lost, when: {group: kv}}"),
       "12:40: 'group' has no meaning for kind lost"},
      {"time of a lost notice", fault("notice: {kind: lost, by: 1s}"),
       "12:30: 'by' has no meaning for kind lost"},
      {"pages of a late notice", fault("notice: {kind: delayed, by: 1s, pages: 2}"),
       "12:44: 'pages' has no meaning for kind delayed"},
      {"early by nothing", fault("notice: {kind: early}"),
       "12:13: missing key 'by': how much early"},
      {"abort of both sorts", fault("client_abort: {request: 1, at: 1s, chance: 1%, after: 1s}"),
       "12:19: exactly one of: request with at, chance with after"},
      {"abort without a time", fault("client_abort: {request: 1}"),
       "12:19: missing key 'at': when request 1 aborts"},
      {"twice offline", operations("  - take_offline: {at: 1s}\n  - take_offline: {at: 2s}\n"),
       "13:19: llama-3.1-8b takes nothing new since the operation before"},
      {"operations out of order", operations("  - drain: {at: 2s}\n  - redeploy: {at: 1s}\n"),
       "13:20: 1s is not after the operation before it on llama-3.1-8b, 2s"},
      {"after the end", small_and("limits: {time: 1m}\nnotes: [{at: 2m, text: late}]\n"),
       "12:14: 2m is after limits.time, 1m"},
      {"two workloads of a name",
       small_with("  - requests:",
                  "  - name: a\n    requests: [{at: 0s}]\n  - name: a\n    requests:"),
       "12:11: two workloads named 'a'"},
      {"unknown metric", small_and("expect: {tainted_response: 0}\n"),
       "11:10: no metric 'tainted_response'; did you mean 'tainted_responses'?"},
      {"unknown rule", small_and("expect: {findings: {I9: 0}}\n"),
       "11:21: no rule 'I9'; known: I1, I2, I3, I4, I5, I6, I7, I8, T1"},
      {"unknown status", small_and("expect: {status: {ok: 1}}\n"), "11:19: 'ok' is no HTTP status"},
      {"no bound", small_and("expect: {requests: many}\n"),
       "11:20: expected a number, '>= 1', '<= 9' or '2..4', found 'many'"},
      {"quoted bound", small_and("expect: {requests: \"5\"}\n"),
       "11:20: expected a number, '>= 1', '<= 9' or '2..4', found the quoted text '5'"},
      {"unknown deployment", small_and("expect: {deployment.x.requests: 1}\n"),
       "11:10: 'x.requests' starts with no deployment's name; known: llama-3.1-8b"},
      {"unknown deployment of a workload", small_and("    deployment: lama\n"),
       "11:17: no deployment 'lama'; known: llama-3.1-8b"},
  });
}

TEST_F(Malformed, ManyErrorsAreToldAtOnceInOrder) {
  const std::string text = small_with("nodes: 2", "nodes: two") + "sed: 1\nstepping: fast\n";
  EXPECT_EQ(errors(text),
            (std::vector<std::string>{"7:20: expected a whole number, found 'two'",
                                      "11:1: unknown key 'sed'; did you mean 'seed'?",
                                      "12:11: expected one of lazy, every_token, found 'fast'"}));
}

TEST_F(Malformed, AtMostTwentyErrorsAreKeptAndTheOthersCounted) {
  std::string text(kSmall);
  for (int i = 0; i < 25; ++i) text += "bad" + std::to_string(i) + ": 1\n";
  try {
    load(text);
    FAIL();
  } catch (const ScenarioError& e) {
    EXPECT_EQ(e.diagnostics().size(), kDiagnosticsMax);
    EXPECT_EQ(e.omitted(), 5u);
    EXPECT_NE(std::string(e.what()).find("5 more errors"), std::string::npos);
  }
}

TEST_F(Malformed, AnErrorOfASharedValueIsToldOnce) {
  const std::string text = small_with("{nodes: 2, hardware: 8xh200, kv_pool_tokens: 65_536}",
                                      "&p {nodes: x, hardware: 8xh200}");
  const std::string shared =
      with(text, "{nodes: 1, hardware: 8xh200, kv_pool_tokens: 131_072}", "*p");
  EXPECT_EQ(errors(shared), std::vector<std::string>{"7:23: expected a whole number, found 'x'"});
}

TEST_F(Malformed, FilesThatAreNone) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(errors_of((folder_ / "absent.yaml").string()), Lines{"0:0: no such file"});
  EXPECT_EQ(errors_of(folder_.string()), Lines{"0:0: a folder, not a file"});
  EXPECT_EQ(errors_of(write("large.yaml", std::string((16U << 20U) + 1, '#'))),
            Lines{"0:0: larger than 16 MiB"});
}

TEST_F(Malformed, AliasesThatMultiplyAreStopped) {
  std::string text = "x-a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "x-a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) text += ", " + before;
    text += "]\n";
  }
  const auto found = errors(text + std::string(kSmall));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("aliases multiply to more than 1000000 nodes"), std::string::npos)
      << found[0];
}

TEST_F(Malformed, ADiagnosticShowsTheLineAndACaret) {
  const Diagnostic d{"a.yaml", 3, 7, Severity::error, "what is wrong", "\tk\xC3\xA4: x  # y"};
  EXPECT_EQ(render(d), "a.yaml:3:7: error: what is wrong\n  \tk\xC3\xA4: x  # y\n  \t    ^\n");
  EXPECT_EQ(render({"a.yaml", 0, 0, Severity::warning, "odd", ""}), "a.yaml: warning: odd\n");
}

// Whatever is cut or changed: the scenario loads or there are errors, each at a place within the
// text.
TEST_F(Malformed, DamagedTextsGiveErrorsNotCrashes) {
  std::string good = small_and(
      "start: 2026-01-01T00:00:00Z\nfaults: [{notice: {kind: lost, when: {nth: 1}}}]\nexpect: "
      "{status: {\"200\": \">= 1\"}}\n"
      "x-a: &a [1, 'q', \"d\\n\"]\nx-b: *a\nx-c: |\n  block\n  text\n");
  const auto check = [&](const std::string& text) {
    try {
      load(text);
    } catch (const ScenarioError& e) {
      EXPECT_FALSE(e.diagnostics().empty());
      const auto lines = std::count(text.begin(), text.end(), '\n') + 2;
      for (const Diagnostic& d : e.diagnostics()) {
        EXPECT_GE(d.line, 1) << d.message;
        EXPECT_LE(d.line, lines) << d.message;
      }
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) check(good.substr(0, i));
  constexpr std::string_view kBytes = "{}[]:,-#&*!|>'\"%@`?0x\n\t~";
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string changed = good;
    changed[i] = kBytes[(i * 7 + i / 5) % kBytes.size()];
    check(changed);
    check(good.substr(0, i) + good.substr(std::min(good.size(), i + 5)));
  }
}

}  // namespace
}  // namespace handoff

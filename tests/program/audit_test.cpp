// `audit` on the log of a run and on damaged ones.
#include <boost/json.hpp>

#include "tests/program/program.hpp"

namespace handoff {
namespace {

class AuditLog : public Program {};

TEST_F(AuditLog, TheLogOfARunHasItsFindings) {
  (void)write("leak.yaml", kLeak);
  const Said ran = handoff("run leak.yaml --page-log pages.jsonl --quiet");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(ran.out, handoff("run leak.yaml --quiet").out);
  const Said said = handoff("audit pages.jsonl");
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_NE(said.out.find("2 requests, 1 response fed by other requests' memory"),
            std::string::npos)
      << said.out;
  for (const char* rule : {"\nI1 ", "\nI2 ", "\nI7 "})
    EXPECT_NE(said.out.find(rule), std::string::npos) << said.out;
  const auto findings =
      boost::json::parse(handoff("audit pages.jsonl --format json").out).at("findings").as_array();
  ASSERT_EQ(findings.size(), 3u);
  (void)write("quiet.yaml", kQuiet);
  (void)handoff("run quiet.yaml --page-log quiet.jsonl");
  const Said quiet = handoff("audit quiet.jsonl");
  EXPECT_EQ(quiet.status, 0);
  EXPECT_NE(quiet.out.find("no finding"), std::string::npos);
  const Said late = handoff("audit quiet.jsonl --terminate-within 1ms");
  EXPECT_NE(late.out.find("I6 "), std::string::npos) << late.out;
}

// The example of the repository: a request's prompt is sent short, and another's KV is read.
TEST_F(AuditLog, TheExampleShowsALeak) {
  const Said said = handoff("audit " + scenario_path("data/page_log_sample.jsonl"));
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_NE(said.out.find("2 requests, 1 response fed by other requests' memory"),
            std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("of request 0 (both)"), std::string::npos) << said.out;
}

TEST_F(AuditLog, TheHelpIsTheFormat) {
  const Said said = handoff("help audit");
  for (const char* op : {"  pool ", "  alloc ", "  send ", "  land ", "  commit ", "  end "})
    EXPECT_NE(said.out.find(op), std::string::npos) << op;
  EXPECT_NE(said.out.find("node, group, request, pages, to, to_pages, position, tokens, id"),
            std::string::npos)
      << said.out;
}

TEST_F(AuditLog, AMalformedLogIsToldByFileAndLine) {
  const std::string head = "{\"handoff_page_log\": 1}\n";
  const std::string pool =
      R"({"t": 0, "op": "pool", "node": "d", "group": "kv", "tokens": 16, "count": 8})"
      "\n";
  struct Case {
    std::string text;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {"", "log:1: expected {\"handoff_page_log\": 1}"},
           {"{}\n", "log:1: expected {\"handoff_page_log\": 1}"},
           {"{\"handoff_page_log\": 2}\n", "log:1: expected"},
           {head + "{\"t\": 0", "log:2: expected one JSON object a line"},
           {head + "\n", "log:2: expected one JSON object a line"},
           {head + "{\"t\": 0}\n", "log:2: missing key 'op', a text"},
           {head + R"({"t": 0, "op": "aloc"})", "log:2: no op 'aloc'; did you mean 'alloc'?"},
           {head + R"({"t": 0, "op": "reset"})", "log:2: missing key 'node': 'reset' needs node"},
           {head + R"({"t": -1, "op": "reset", "node": "d"})", "log:2: 't': expected a whole"},
           {head + R"({"t": 1.5, "op": "reset", "node": "d"})", "log:2: 't': expected a whole"},
           {head + R"({"t": 0, "op": "reset", "nodes": "d"})",
            "log:2: unknown key 'nodes' of 'reset'; did you mean 'node'?"},
           {head + R"({"t": 0, "op": "reset", "node": 3})", "log:2: 'node': expected a text"},
           {head + R"({"t": 0, "op": "reset", "node": "d"})", "log:2: no pool of node 'd'"},
           {head + pool + R"({"t": 0, "op": "free", "node": "d", "group": "kv", "pages": [3]})",
            "log:3: 'pages': expected [[first, count], ...]"},
           {head + pool +
                R"({"t": 0, "op": "free", "node": "d", "group": "kv", "pages": [[7, 9]]})",
            "log:3: pages 7+9 lie beyond a pool of 8"},
           {head + pool + std::string("\0\0\n", 3), "log:3: expected one JSON object a line"}}) {
    (void)write("log", c.text);
    const Said said = handoff("audit log");
    EXPECT_EQ(said.status, 2) << c.text;
    EXPECT_EQ(said.out, "") << c.text;
    EXPECT_EQ(said.err.compare(0, std::string(c.message).size(), c.message), 0) << c.text << "\n"
                                                                                << said.err;
  }
  EXPECT_EQ(handoff("audit absent").status, 2);
  EXPECT_EQ(handoff("audit .").status, 2);
}

}  // namespace
}  // namespace handoff

// `check` and `validate`: many scenarios, one verdict.
#include "tests/program/program.hpp"

namespace handoff {
namespace {

class Suite : public Program {
 protected:
  void write_all() const {
    (void)write("s/a_quiet.yaml", std::string(kQuiet) + "expect: {status: {\"200\": 2}}\n");
    (void)write("s/deep/b_leak.yaml",
                std::string(kLeak) +
                    "expect: {tainted_responses: 1, findings: {I1: 1, I2: 1, I7: 1}}\n"
                    "fixed:\n"
                    "  - {name: length, set: [engine.commit.length=true, "
                    "engine.pending_abort_on_success=abort_wins]}\n"
                    "  - set: [cluster.prefill.kv_pool_tokens=131_072]\n");
    (void)write("s/notes.txt", "not a scenario");
  }
};

TEST_F(Suite, RunsEveryScenarioAndEachOfItsFixes) {
  write_all();
  const Said said = handoff("check s");
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_EQ(said.out,
            "ok      s/a_quiet.yaml: 2 requests, 0 findings\n"
            "ok      s/deep/b_leak.yaml: 2 requests, 3 findings\n"
            "ok      s/deep/b_leak.yaml [fixed: length]: 2 requests, 0 findings\n"
            "ok      s/deep/b_leak.yaml [fixed: cluster.prefill.kv_pool_tokens=131_072]: "
            "2 requests, 0 findings\n"
            "4 passed, 0 failed\n");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(handoff("check s --quiet").out, "4 passed, 0 failed\n");
}

TEST_F(Suite, SaysTheSameForAnyNumberOfThreads) {
  write_all();
  (void)write("s/c_bad.yaml", "handoff: 1\n");
  (void)write("s/d_missed.yaml", std::string(kQuiet) + "expect: {status: {\"200\": 3}}\n");
  const Said one = handoff("check s --jobs 1");
  EXPECT_EQ(one.status, 2);
  EXPECT_NE(one.out.find("4 passed, 2 failed\n"), std::string::npos) << one.out;
  for (const char* jobs : {"2", "7"}) {
    const Said many = handoff(std::string("check s --jobs ") + jobs);
    EXPECT_EQ(many.out, one.out);
    EXPECT_EQ(many.status, one.status);
  }
}

TEST_F(Suite, AMissedExpectationIsShownAtItsPlace) {
  (void)write("missed.yaml", std::string(kQuiet) + "expect: {status: {\"200\": 3}}\n");
  const Said said = handoff("check missed.yaml");
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out,
            "FAILED  missed.yaml: 2 requests, 0 findings\n"
            "        missed.yaml:11:19: status.200: expected 3, found 2\n"
            "0 passed, 1 failed\n");
}

// A fix that mends nothing fails.
TEST_F(Suite, AFixMustMend) {
  (void)write("s.yaml", std::string(kLeak) +
                            "expect: {tainted_responses: 1, findings: {I1: 1, I2: 1, I7: 1}}\n"
                            "fixed: [{set: [seed=2]}]\n");
  const Said said = handoff("check s.yaml");
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.out.find("FAILED  s.yaml [fixed: seed=2]: 2 requests, 3 findings\n"),
            std::string::npos)
      << said.out;
}

TEST_F(Suite, AFolderWithoutScenariosIsAnError) {
  (void)write("empty/notes.txt", "");
  EXPECT_EQ(handoff("check empty").status, 2);
}

TEST_F(Suite, ValidateReadsWithoutRunning) {
  write_all();
  const Said said = handoff("validate s/a_quiet.yaml s/deep/b_leak.yaml");
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.out, "s/a_quiet.yaml: valid\ns/deep/b_leak.yaml: valid\n");
  (void)write("bad.yaml", std::string(kQuiet) + "fixed: [{set: [nothing.such=1]}]\n");
  const Said bad = handoff("validate bad.yaml s/a_quiet.yaml");
  EXPECT_EQ(bad.status, 2);
  EXPECT_EQ(bad.out, "s/a_quiet.yaml: valid\n");
  EXPECT_NE(bad.err.find("bad.yaml:11:16: error: unknown key 'nothing'"), std::string::npos)
      << bad.err;
  const Said resolved = handoff("validate s/a_quiet.yaml --resolved");
  EXPECT_NE(resolved.out.find("free_order: "), std::string::npos);
}

}  // namespace
}  // namespace handoff

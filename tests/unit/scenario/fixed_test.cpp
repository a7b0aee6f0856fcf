// Fixed arms: changes with which a scenario has nothing wrong, and what is expected of them.
#include <algorithm>

#include "tests/unit/scenario/scenario_files.hpp"

namespace handoff {
namespace {

class Fixed : public ScenarioFiles {
 protected:
  static const Expectation* find(const Scenario& s, const std::string& metric) {
    for (const Expectation& e : s.expect.all)
      if (e.metric == metric) return &e;
    return nullptr;
  }
};

TEST_F(Fixed, AnArmChangesValuesAndExpectsNothingWrong) {
  const std::string path = write("s.yaml", small_and(R"(expect: {tainted_responses: 5}
fixed:
  - set: [engine.commit.checksum=true, "seed=9"]
  - {name: all nodes, set: ["cluster.prefill.nodes=3"], expect: {status: {"200": 1}}}
)"));
  const Scenario broken = load_scenario(path, {}, kCatalog);
  ASSERT_EQ(broken.fixed.size(), 2u);
  EXPECT_EQ(broken.fixed[1].name, "all nodes");
  EXPECT_EQ(broken.fixed[0].mark.line, 13);

  const Scenario first = load_fixed_arm(path, {}, 0, kCatalog);
  EXPECT_TRUE(first.run.deployments[0].engine.commit.checksum);
  EXPECT_EQ(first.run.seed, 9u);
  EXPECT_TRUE(first.expect.findings_given);
  for (const char* metric :
       {"findings.I1", "findings.T1", "tainted_responses", "corrupt_responses", "unfinished"}) {
    ASSERT_NE(find(first, metric), nullptr) << metric;
    EXPECT_EQ(find(first, metric)->high, 0) << metric;
  }

  const Scenario second = load_fixed_arm(path, {}, 1, kCatalog);
  EXPECT_EQ(second.run.deployments[0].prefill.nodes, 3u);
  EXPECT_FALSE(second.run.deployments[0].engine.commit.checksum);
  ASSERT_NE(find(second, "status.200"), nullptr);
  EXPECT_EQ(find(second, "status.200")->low, 1);
  EXPECT_NE(first.digest, second.digest);
  EXPECT_NE(first.digest, broken.digest);
}

TEST_F(Fixed, ValuesOfTheCommandLineComeBeforeThoseOfTheArm) {
  const std::string path = write("s.yaml", small_and("fixed: [{set: [\"seed=9\"]}]\n"));
  const Scenario s = load_fixed_arm(path, {"seed=3", "cluster.prefill.nodes=4"}, 0, kCatalog);
  EXPECT_EQ(s.run.seed, 9u);
  EXPECT_EQ(s.run.deployments[0].prefill.nodes, 4u);
}

TEST_F(Fixed, AnErrorOfAnArmStandsInTheFile) {
  const std::string path =
      write("s.yaml", small_and("fixed:\n  - set: [\"seed=1\", \"cluster.nodess=3\"]\n"));
  EXPECT_NO_THROW(load_scenario(path, {}, kCatalog));
  try {
    load_fixed_arm(path, {}, 0, kCatalog);
    FAIL() << "no error";
  } catch (const ScenarioError& e) {
    ASSERT_EQ(e.diagnostics().size(), 1u);
    EXPECT_EQ(e.diagnostics()[0].line, 12);
    EXPECT_EQ(e.diagnostics()[0].column, 22);
    EXPECT_NE(e.diagnostics()[0].message.find("cluster.nodess"), std::string::npos);
  }
}

TEST_F(Fixed, AnArmWithoutChangesIsRefused) {
  EXPECT_EQ(errors(small_and("fixed: [{name: nothing}]\n")),
            std::vector<std::string>{"11:9: missing key 'fixed[0].set'"});
  EXPECT_EQ(errors(small_and("fixed: [{set: []}]\n")),
            std::vector<std::string>{"11:15: expected at least 1 item"});
}

TEST_F(Fixed, AScenarioThatExtendsDoesNotInheritThem) {
  write("base.yaml", small_and("fixed: [{set: [\"seed=9\"]}]\n"));
  const Scenario s = load("extends: base.yaml\nname: other\n");
  EXPECT_TRUE(s.fixed.empty());
}

}  // namespace
}  // namespace handoff

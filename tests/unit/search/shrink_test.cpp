// Failures keep their signature while everything around them goes.
#include "sim/search/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/serving/run.hpp"
#include "tests/unit/search/options.hpp"

namespace handoff {
namespace {

Finding found(const RunResult& result, Rule rule) {
  for (const Finding& f : result.findings)
    if (f.rule == rule) return f;
  ADD_FAILURE() << "no finding of " << code(rule);
  return {};
}

TEST(Shrink, KeepsTheSignatureOfEachDeliberateBug) {
  struct Case {
    const char* file;
    Rule rule;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"negative/I1_provenance.yaml", Rule::provenance},
                                   {"negative/I3_late_write.yaml", Rule::late_write},
                                   {"negative/I4_free_in_flight.yaml", Rule::free_in_flight},
                                   {"negative/I5_leak.yaml", Rule::balance},
                                   {"negative/I6_termination.yaml", Rule::termination},
                                   {"negative/I8_rank_agreement.yaml", Rule::rank_agreement},
                                   {"faults/notice_misdirected.yaml", Rule::provenance},
                                   {"faults/notice_lost.yaml", Rule::termination}}) {
    SCOPED_TRACE(c.file);
    const Scenario s =
        load_scenario(std::string(HANDOFF_SOURCE_DIR "/scenarios/") + c.file, {}, kCatalog);
    const RunResult result = run(s.run);
    const Finding finding = found(result, c.rule);
    const Shrunk shrunk = shrink(s.run, finding, result.firings, 1'000'000, shrink_options(1));
    EXPECT_TRUE(shrunk.complete);
    EXPECT_LE(shrunk.best.items.size(), result.requests);
    const RunConfig smallest = assemble(shrunk.best);
    EXPECT_TRUE(find_signature(smallest, signature_of(finding), 1'000'000).has_value());
    // And as a file.
    const Scenario file = parse_scenario(lean_text_of(smallest), "x", kCatalog);
    EXPECT_TRUE(find_signature(file.run, signature_of(finding), 1'000'000).has_value());
  }
}

TEST(Shrink, TheIncidentNeedsThreeRequestsForAnyNumberOfThreads) {
  const Scenario s =
      load_scenario(HANDOFF_SOURCE_DIR "/scenarios/incidents/glm53_oversize.yaml", {}, kCatalog);
  const RunResult result = run(s.run);
  const Finding finding = found(result, Rule::provenance);
  const Shrunk one = shrink(s.run, finding, result.firings, 1'000'000, shrink_options(1));
  EXPECT_LE(one.best.items.size(), 3u);
  EXPECT_EQ(one.best.rest.deployments[0].prefill.nodes, 1u);
  EXPECT_EQ(one.best.rest.deployments[0].decode.nodes, 1u);
  const Shrunk many = shrink(s.run, finding, result.firings, 1'000'000, shrink_options(3));
  EXPECT_EQ(lean_text_of(assemble(many.best)), lean_text_of(assemble(one.best)));
}

TEST(Shrink, StopsWhereItStandsWhenToldTo) {
  const Scenario s =
      load_scenario(HANDOFF_SOURCE_DIR "/scenarios/incidents/glm53_oversize.yaml", {}, kCatalog);
  const RunResult result = run(s.run);
  const Finding finding = found(result, Rule::provenance);
  ShrinkOptions o = shrink_options(1);
  int asked = 0;
  o.go_on = [&] { return ++asked < 10; };
  const Shrunk shrunk = shrink(s.run, finding, result.firings, 1'000'000, o);
  EXPECT_FALSE(shrunk.complete);
  EXPECT_TRUE(find_signature(assemble(shrunk.best), signature_of(finding), 1'000'000).has_value());
}

TEST(Signature, TellsRoleAndContent) {
  Finding f;
  f.rule = Rule::provenance;
  f.node = "glm-5.3/decode[12]";
  f.tokens_foreign = 3;
  EXPECT_EQ(text(signature_of(f)), "I1 on decode, content of other requests");
  f.node = "a/b/router";
  f.tokens_foreign = 0;
  EXPECT_EQ(text(signature_of(f)), "I1 on router");
  f.node.clear();
  EXPECT_EQ(text(signature_of(f)), "I1 on the client");
}

}  // namespace
}  // namespace handoff

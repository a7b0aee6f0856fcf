// Findings gathered into cases.
#include "reports/cases.hpp"

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

ChainLink link(std::uint64_t event, RequestSerial request, const std::string& what) {
  return {static_cast<TimeNs>(event), event, "node", request, what, {}, {}, {}, {}};
}

TEST(Cases, GatherTheFindingsOfARequestAndTellEachStepOnce) {
  std::vector<Finding> findings{finding(Rule::coverage, 7), finding(Rule::coverage, 8),
                                finding(Rule::provenance, 7)};
  findings[0].chain = {link(1, 7, "arrived"), link(5, 7, "committed")};
  findings[2].chain = {link(0, 3, "wrote"), link(1, 7, "arrived"), link(5, 7, "committed"),
                       link(6, 7, "read")};
  const std::vector<Case> cases = cases_of(findings);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].victim, 7u);
  EXPECT_EQ(cases[0].signature, "I1 I2");
  EXPECT_EQ(cases[1].signature, "I2");
  std::vector<std::string> told;
  for (const ChainLink& l : cases[0].chain) told.push_back(l.what);
  EXPECT_EQ(told, (std::vector<std::string>{"wrote", "arrived", "committed", "read"}));
}

TEST(Cases, FindingsAboutNoRequestStayApart) {
  const std::vector<Finding> findings{finding(Rule::balance, kNoSerial),
                                      finding(Rule::balance, kNoSerial)};
  EXPECT_EQ(cases_of(findings).size(), 2u);
}

TEST(Cases, TheFirstOfEachKindAreChosen) {
  const std::vector<Finding> findings{finding(Rule::coverage, 1), finding(Rule::coverage, 2),
                                      finding(Rule::balance, 3), finding(Rule::coverage, 4)};
  const std::vector<Case> cases = cases_of(findings);
  const auto chosen = [&](std::size_t n) {
    std::vector<RequestSerial> victims;
    for (const Case* c : first_of_each(cases, n)) victims.push_back(c->victim);
    return victims;
  };
  EXPECT_EQ(chosen(1), (std::vector<RequestSerial>{1, 3}));
  EXPECT_EQ(chosen(2), (std::vector<RequestSerial>{1, 2, 3}));
  EXPECT_TRUE(chosen(0).empty());
}

}  // namespace
}  // namespace handoff

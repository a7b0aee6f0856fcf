// The rules against made-up files: what each one finds, where, and what it must let pass.
#include "tests/tidy/rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace handoff::tidy {
namespace {

// "path:line" of each violation, blank-separated.
std::string places(const Violations& violations) {
  std::string out;
  for (const Violation& v : violations) out += v.path + ":" + std::to_string(v.line) + " ";
  return out;
}

TEST(CodeOnly, blanks_comments_and_literals_and_keeps_lines_and_length) {
  const std::string text =
      "int a = 1'000; // std::rand\n"
      "auto b = \"std::rand \\\" \" + 'x'; /* std::rand\n"
      " */ int c = 0xAB'CD; auto d = R\"x(std::rand)\" )x\"; f();\n";
  const std::string code = code_only(text);
  EXPECT_EQ(code.size(), text.size());
  EXPECT_EQ(code.find("std::rand"), std::string::npos);
  EXPECT_NE(code.find("int a = 1'000;"), std::string::npos);
  EXPECT_NE(code.find("0xAB'CD;"), std::string::npos);
  EXPECT_NE(code.find("; f();\n"), std::string::npos);
  EXPECT_EQ(line_at(code, code.find("int c")), 3);
}

TEST(FindWord, does_not_match_parts_of_identifiers) {
  EXPECT_EQ(find_word("strand srand_x xsrand srand", "srand"), 22u);
  EXPECT_EQ(find_word("std::logic_error", "std::log"), std::string::npos);
}

TEST(BannedNames, finds_clocks_randomness_and_libm_only_where_results_come_from) {
  const std::string text =
      "// std::rand in a comment is fine\n"
      "auto t = std::chrono::steady_clock::now();\n"
      "int r = std::rand();\n"
      "double x = std::log(2.0);\n"
      "std::logic_error ok(\"getenv\");\n"
      "double root = std::sqrt(2.0);\n";
  EXPECT_EQ(places(banned_names({{"models/cost/a.cpp", text}})),
            "models/cost/a.cpp:3 models/cost/a.cpp:2 models/cost/a.cpp:4 ");
  EXPECT_EQ(places(banned_names({{"sim/app/a.cpp", text}})), "");
  EXPECT_EQ(places(banned_names({{"tests/unit/a.cpp", text}})), "");
}

TEST(UnorderedIteration, finds_loops_and_iterators_and_lets_look_ups_pass) {
  const Source header{"models/memory/a.hpp", "std::unordered_map<int, std::vector<int>> by_id_;\n"};
  const Source loops{"models/memory/a.cpp",
                     "for (const auto& [k, v] : by_id_) use(k);\n"
                     "for (auto& x : thing.by_id_) use(x);\n"
                     "auto it = by_id_.begin();\n"};
  const Source look_ups{"models/memory/b.cpp",
                        "auto it = by_id_.find(3);\n"
                        "if (it != by_id_.end()) by_id_.erase(it);\n"
                        "f(by_id_);\n"
                        "for (int x : sorted(by_id_)) use(x);\n"
                        "for (int x : by_id_other) use(x);\n"};
  EXPECT_EQ(places(unordered_iteration({header, loops})),
            "models/memory/a.cpp:1 models/memory/a.cpp:2 models/memory/a.cpp:3 ");
  EXPECT_EQ(places(unordered_iteration({header, look_ups})), "");
}

TEST(UnorderedDraws, finds_two_draws_only_where_their_order_is_open) {
  const std::string bad =
      "f(rng.below(3), rng.next());\n"
      "x = a.unit() +\n"
      "    b.unit();\n";
  const std::string good =
      "auto x = rng.below(3);\n"
      "auto y = rng.next();\n"
      "if (rng.chance(1, 2) && rng.chance(1, 3)) z();\n"
      "auto w = yes ? rng.next() : rng.below(4);\n"
      "Pair p{rng.next()};\n";
  EXPECT_EQ(places(unordered_draws({{"models/workload/a.cpp", bad}})),
            "models/workload/a.cpp:1 models/workload/a.cpp:3 ");
  EXPECT_EQ(places(unordered_draws({{"models/workload/a.cpp", good}})), "");
}

TEST(Shape, finds_long_lines_long_files_tabs_and_trailing_blanks) {
  const std::string wide(111, 'x');
  const std::string fits(110, 'x');
  EXPECT_EQ(places(shape({{"sim/a.cpp", fits + "\n" + wide + "\n"}})), "sim/a.cpp:2 ");
  EXPECT_EQ(places(shape({{"a.md", wide + "\n"}})), "");
  std::string umlauts;
  for (int i = 0; i < 110; ++i) umlauts += "\xC3\xBC";
  EXPECT_EQ(places(shape({{"sim/a.cpp", umlauts + "\n"}})), "");
  std::string longest;
  for (int i = 0; i < 600; ++i) longest += "x\n";
  EXPECT_EQ(places(shape({{"sim/a.cpp", longest}})), "");
  EXPECT_EQ(places(shape({{"sim/a.cpp", longest + "x\n"}})), "sim/a.cpp:601 ");
  EXPECT_EQ(places(shape({{"sim/a.cpp", "a\tb\nc \nd"}})), "sim/a.cpp:3 sim/a.cpp:1 sim/a.cpp:2 ");
}

TEST(Openings, want_a_purpose_a_guard_and_the_own_header_first) {
  const Source header{"sim/a.hpp", "// Purpose.\n#pragma once\n"};
  EXPECT_EQ(places(openings({header, {"sim/a.cpp", "#include \"sim/a.hpp\"\n"}})), "");
  EXPECT_EQ(places(openings({header, {"sim/a.cpp", "#include <map>\n#include \"sim/a.hpp\"\n"}})),
            "sim/a.cpp:1 ");
  EXPECT_EQ(places(openings({{"sim/b.cpp", "#include <map>\n"}})), "sim/b.cpp:1 ");
  EXPECT_EQ(places(openings({{"sim/b.cpp", "// Purpose.\n#include <map>\n"}})), "");
  EXPECT_EQ(places(openings({{"sim/a.hpp", "int x;\n"}})), "sim/a.hpp:1 sim/a.hpp:1 ");
}

TEST(LeftoverWords, are_found_in_every_kind_of_file) {
  const std::string word =
      "TO"
      "DO";
  EXPECT_EQ(places(leftover_words({{"README.md", "fine\n" + word + ": later\n"}})), "README.md:2 ");
  EXPECT_EQ(places(leftover_words({{"README.md", "MAS" + word + "N\n"}})), "");
}

TEST(Scenarios, must_expect_something_at_the_top_level) {
  EXPECT_EQ(
      places(scenarios_without_expectation({{"scenarios/x/a.yaml", "handoff: 1\n  expect: 1\n"}})),
      "scenarios/x/a.yaml:1 ");
  EXPECT_EQ(
      places(scenarios_without_expectation({{"scenarios/x/a.yaml", "handoff: 1\nexpect:\n"}})), "");
  EXPECT_EQ(places(scenarios_without_expectation({{"models/catalog/a.yaml", "x: 1\n"}})), "");
}

TEST(IncludeDirection, arrows_run_one_way) {
  const std::vector<Source> files = {{"sim/engine/a.hpp", ""},    {"models/memory/a.hpp", ""},
                                     {"models/faults/a.hpp", ""}, {"models/serving/a.hpp", ""},
                                     {"scenarios/a.hpp", ""},     {"reports/a.hpp", ""}};
  const auto includes = [&](const std::string& from, const std::string& to) {
    std::vector<Source> tree = files;
    tree.push_back({from, "#include <vector>\n#include \"" + to + "\"\n"});
    return places(include_direction(tree));
  };
  EXPECT_EQ(includes("models/memory/b.cpp", "sim/engine/a.hpp"), "");
  EXPECT_EQ(includes("models/serving/b.cpp", "models/faults/a.hpp"), "");
  EXPECT_EQ(includes("sim/app/b.cpp", "reports/a.hpp"), "");
  EXPECT_EQ(includes("sim/engine/b.cpp", "models/memory/a.hpp"), "sim/engine/b.cpp:2 ");
  EXPECT_EQ(includes("models/oracle/b.cpp", "models/faults/a.hpp"), "models/oracle/b.cpp:2 ");
  EXPECT_EQ(includes("models/memory/b.cpp", "models/serving/a.hpp"), "models/memory/b.cpp:2 ");
  EXPECT_EQ(includes("models/serving/b.cpp", "scenarios/a.hpp"), "models/serving/b.cpp:2 ");
  EXPECT_EQ(includes("models/memory/b.cpp", "a.hpp"), "models/memory/b.cpp:2 ");
  EXPECT_EQ(includes("elsewhere/b.cpp", "sim/engine/a.hpp"), "elsewhere/b.cpp:1 ");
}

TEST(ThirdParty, stays_in_its_place_and_out_of_public_headers) {
  EXPECT_EQ(places(third_party_includes({{"models/cost/a.cpp", "#include <yaml-cpp/yaml.h>\n"}})),
            "models/cost/a.cpp:1 ");
  EXPECT_EQ(places(third_party_includes({{"scenarios/a.cpp", "#include <yaml-cpp/yaml.h>\n"}})),
            "");
  EXPECT_EQ(places(third_party_includes(
                {{"models/network/flows.cpp", "#include <boost/graph/adjacency_list.hpp>\n"}})),
            "models/network/flows.cpp:1 ");
  // Private headers may use zlib; a public one may not, not even through a private one.
  const Source private_header{"models/workload/gz.hpp", "#include <zlib.h>\n"};
  const Source user{"models/serving/a.cpp", "#include \"models/workload/w.hpp\"\n"};
  EXPECT_EQ(places(third_party_includes({private_header, user, {"models/workload/w.hpp", ""}})),
            "");
  EXPECT_EQ(places(third_party_includes(
                {private_header,
                 user,
                 {"models/workload/w.hpp", "#include \"models/workload/gz.hpp\"\n"}})),
            "models/workload/gz.hpp:1 ");
}

}  // namespace
}  // namespace handoff::tidy

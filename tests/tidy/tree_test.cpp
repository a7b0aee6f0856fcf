// The rules over the tree as it is. A failure names file and line.
#include <gtest/gtest.h>

#include "tests/tidy/rules.hpp"

namespace handoff::tidy {
namespace {

const std::vector<Source>& tree() {
  static const std::vector<Source> kTree = load_tree(HANDOFF_SOURCE_DIR);
  return kTree;
}

void expect_none(const Violations& violations) {
  for (const Violation& v : violations)
    ADD_FAILURE() << v.path << ":" << v.line << ": " << v.message;
}

TEST(Tree, is_found) {
  int engine = 0;
  for (const Source& source : tree()) engine += in_folder(source, "sim/engine");
  EXPECT_GT(engine, 10) << "rules over no files would pass for nothing";
}
TEST(Tree, takes_nothing_from_clock_environment_or_library_randomness) {
  expect_none(banned_names(tree()));
}
TEST(Tree, iterates_over_no_unordered_container) { expect_none(unordered_iteration(tree())); }
TEST(Tree, draws_once_an_expression) { expect_none(unordered_draws(tree())); }
TEST(Tree, has_short_lines_and_files) { expect_none(shape(tree())); }
TEST(Tree, opens_every_file_with_its_purpose) { expect_none(openings(tree())); }
TEST(Tree, has_no_leftover_words) { expect_none(leftover_words(tree())); }
TEST(Tree, has_an_expectation_in_every_scenario) {
  expect_none(scenarios_without_expectation(tree()));
}
TEST(Tree, includes_in_one_direction) { expect_none(include_direction(tree())); }
TEST(Tree, keeps_third_parties_in_their_place) { expect_none(third_party_includes(tree())); }

}  // namespace
}  // namespace handoff::tidy

// Transition tables: look-up, printing, and refusal of ambiguous tables.
#include "sim/engine/transition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace handoff {
namespace {

enum class Door { open, closed, locked, count_ };
enum class Push { pull, push, turn_key, count_ };
enum class Deed { creak, click, count_ };

constexpr const char* name(Door d) {
  switch (d) {
    case Door::open:
      return "open";
    case Door::closed:
      return "closed";
    case Door::locked:
      return "locked";
    case Door::count_:
      break;
  }
  return "?";
}
constexpr const char* name(Push p) {
  switch (p) {
    case Push::pull:
      return "pull";
    case Push::push:
      return "push";
    case Push::turn_key:
      return "turn key";
    case Push::count_:
      break;
  }
  return "?";
}
constexpr const char* name(Deed d) {
  switch (d) {
    case Deed::creak:
      return "creak";
    case Deed::click:
      return "click";
    case Deed::count_:
      break;
  }
  return "?";
}

using DoorRow = Row<Door, Push, Deed>;
using Deeds = ActionSet<Deed>;

template <std::size_t N>
using DoorTable = TransitionTable<Door, Push, Deed, N>;

constexpr DoorTable<4> kDoor{
    "door", std::array<DoorRow, 4>{{
                {Door::open, Push::push, Door::closed, Deeds(Deed::creak, Deed::click)},
                {Door::closed, Push::pull, Door::open, Deeds(Deed::creak)},
                {Door::closed, Push::turn_key, Door::locked, Deeds(Deed::click)},
                {Door::locked, Push::turn_key, Door::closed, Deeds()},
            }}};

TEST(TransitionTable, finds_each_listed_pair_and_no_other) {
  int found = 0;
  for (std::size_t s = 0; s < DoorTable<4>::kStates; ++s)
    for (std::size_t f = 0; f < DoorTable<4>::kFacts; ++f) {
      const DoorRow* row = kDoor.find(static_cast<Door>(s), static_cast<Push>(f));
      if (row == nullptr) continue;
      ++found;
      EXPECT_EQ(static_cast<std::size_t>(row->state), s);
      EXPECT_EQ(static_cast<std::size_t>(row->fact), f);
    }
  EXPECT_EQ(found, 4);
  EXPECT_EQ(kDoor.find(Door::open, Push::push)->next, Door::closed);
  EXPECT_EQ(kDoor.find(Door::open, Push::turn_key), nullptr);
}

TEST(TransitionTable, rows_carry_exactly_their_actions) {
  const DoorRow* both = kDoor.find(Door::open, Push::push);
  EXPECT_TRUE(both->actions.has(Deed::creak) && both->actions.has(Deed::click));
  const DoorRow* one = kDoor.find(Door::closed, Push::turn_key);
  EXPECT_FALSE(one->actions.has(Deed::creak));
  EXPECT_TRUE(one->actions.has(Deed::click));
  EXPECT_EQ(kDoor.find(Door::locked, Push::turn_key)->actions.bits, 0u);
}

TEST(TransitionTable, can_be_looked_up_at_compile_time) {
  static_assert(kDoor.find(Door::closed, Push::pull)->next == Door::open);
  static_assert(kDoor.find(Door::locked, Push::pull) == nullptr);
}

TEST(TransitionTable, prints_markdown) {
  EXPECT_EQ(kDoor.markdown(),
            "| state | fact | next | actions |\n"
            "|---|---|---|---|\n"
            "| open | push | closed | creak, click |\n"
            "| closed | pull | open | creak |\n"
            "| closed | turn key | locked | click |\n"
            "| locked | turn key | closed | - |\n");
}

TEST(TransitionTable, prints_dot) {
  EXPECT_EQ(kDoor.dot(),
            "digraph \"door\" {\n"
            "  rankdir=LR;\n"
            "  node [shape=box];\n"
            "  \"open\" -> \"closed\" [label=\"push\\n/ creak, click\"];\n"
            "  \"closed\" -> \"open\" [label=\"pull\\n/ creak\"];\n"
            "  \"closed\" -> \"locked\" [label=\"turn key\\n/ click\"];\n"
            "  \"locked\" -> \"closed\" [label=\"turn key\"];\n"
            "}\n");
}

TEST(TransitionTable, a_pair_listed_twice_is_refused) {
  const std::array<DoorRow, 2> twice = {{
      {Door::open, Push::push, Door::closed, Deeds()},
      {Door::open, Push::push, Door::locked, Deeds()},
  }};
  EXPECT_THROW(DoorTable<2>("twice", twice), InternalError);
}

// The same refusal at compile time: a constant expression that builds the table must not exist.
template <Push second>
constexpr std::size_t build() {
  const DoorTable<2> table("two rows", std::array<DoorRow, 2>{{
                                           {Door::open, Push::push, Door::closed, Deeds()},
                                           {Door::open, second, Door::locked, Deeds()},
                                       }});
  return table.rows().size();
}
template <Push second>
concept Compiles = requires {
  typename std::integral_constant<std::size_t, build<second>()>;
};

TEST(TransitionTable, a_pair_listed_twice_does_not_compile_in_a_constexpr_table) {
  static_assert(Compiles<Push::pull>);
  static_assert(!Compiles<Push::push>);
}

}  // namespace
}  // namespace handoff

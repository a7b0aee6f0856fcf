// Transition tables: state x fact -> next state and actions. All protocol state changes go through
// one. A pair that is not listed is never a silent `else`: the caller gets no row and reports it.
// A table prints itself as Markdown and as Graphviz DOT, so the documentation cannot drift.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/engine/check.hpp"

namespace handoff {

// A set of actions, one bit each, in the order of the Action enumeration.
template <class Action>
struct ActionSet {
  std::uint32_t bits = 0;

  constexpr ActionSet() = default;
  template <class... A>
  constexpr explicit ActionSet(A... actions)
      : bits((0u | ... | (1u << static_cast<unsigned>(actions)))) {}
  [[nodiscard]] constexpr bool has(Action a) const {
    return (bits >> static_cast<unsigned>(a) & 1u) != 0;
  }
};

template <class State, class Fact, class Action>
struct Row {
  State state;
  Fact fact;
  State next;
  ActionSet<Action> actions;
};

// State, Fact and Action are enumerations that end in `count_`; name(x) gives the printed word of
// each.
template <class State, class Fact, class Action, std::size_t N>
class TransitionTable {
 public:
  using RowType = Row<State, Fact, Action>;
  static constexpr std::size_t kStates = static_cast<std::size_t>(State::count_);
  static constexpr std::size_t kFacts = static_cast<std::size_t>(Fact::count_);

  // A pair that is listed twice does not compile in a constexpr table, and is an InternalError
  // otherwise.
  constexpr TransitionTable(std::string_view title, const std::array<RowType, N>& rows)
      : title_(title), rows_(rows) {
    for (auto& line : index_) line.fill(-1);
    for (std::size_t i = 0; i < N; ++i) {
      auto& cell =
          index_[static_cast<std::size_t>(rows[i].state)][static_cast<std::size_t>(rows[i].fact)];
      HANDOFF_CHECK(cell == -1, "a (state, fact) pair is listed twice");
      cell = static_cast<std::int16_t>(i);
    }
  }

  // nullptr when the pair is not listed.
  [[nodiscard]] constexpr const RowType* find(State state, Fact fact) const {
    const std::int16_t i = index_[static_cast<std::size_t>(state)][static_cast<std::size_t>(fact)];
    return i < 0 ? nullptr : &rows_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr const std::array<RowType, N>& rows() const { return rows_; }
  [[nodiscard]] constexpr std::string_view title() const { return title_; }

  [[nodiscard]] std::string markdown() const {
    std::string out = "| state | fact | next | actions |\n|---|---|---|---|\n";
    for (const RowType& r : rows_) {
      out += "| ";
      out += name(r.state);
      out += " | ";
      out += name(r.fact);
      out += " | ";
      out += name(r.next);
      out += " | ";
      out += action_names(r.actions, "-");
      out += " |\n";
    }
    return out;
  }

  [[nodiscard]] std::string dot() const {
    std::string out = "digraph \"";
    out += title_;
    out += "\" {\n  rankdir=LR;\n  node [shape=box];\n";
    for (const RowType& r : rows_) {
      out += "  \"";
      out += name(r.state);
      out += "\" -> \"";
      out += name(r.next);
      out += "\" [label=\"";
      out += name(r.fact);
      const std::string actions = action_names(r.actions, "");
      if (!actions.empty()) out += "\\n/ " + actions;
      out += "\"];\n";
    }
    return out + "}\n";
  }

 private:
  static std::string action_names(ActionSet<Action> set, std::string_view none) {
    std::string out;
    for (unsigned a = 0; a < static_cast<unsigned>(Action::count_); ++a) {
      if (!set.has(static_cast<Action>(a))) continue;
      if (!out.empty()) out += ", ";
      out += name(static_cast<Action>(a));
    }
    return out.empty() ? std::string(none) : out;
  }

  std::string_view title_;
  std::array<RowType, N> rows_;
  std::array<std::array<std::int16_t, kFacts>, kStates> index_{};
};

}  // namespace handoff

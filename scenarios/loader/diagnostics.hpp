// Collects what is wrong with the input, so that one run tells all of it. Not for our own bugs
// (HANDOFF_CHECK) and not for the simulated system's (findings).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/loader/node.hpp"
#include "scenarios/scenario.hpp"

namespace handoff::loader {

class Diagnostics {
 public:
  // A text that marks point into.
  std::uint32_t add_source(std::string name, std::string_view text);
  std::uint32_t add_source(std::string name, std::vector<std::string> lines);

  [[nodiscard]] const std::string& source_name(std::uint32_t source) const {
    return sources_[source].name;
  }

  void error(Mark mark, std::string message);
  [[nodiscard]] std::size_t count() const { return found_.size(); }
  // Throws ScenarioError when there is any error, sorted by source, line, column.
  void throw_if_any() const;

 private:
  struct Source {
    std::string name;
    std::vector<std::string> lines;
  };
  struct Found {
    Mark mark;
    std::string message;
  };
  std::vector<Source> sources_;
  std::vector<Found> found_;
};

// The candidate of least edit distance (adjacent swaps count one), when it is near enough to be a
// slip of the pen: at most a third of the word, at least two. Empty otherwise. Ties: the first.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// "; did you mean 'x'?", or the list of what there is, or nothing when there is nothing.
std::string hint(std::string_view word, const std::vector<std::string>& candidates);
std::string joined(const std::vector<std::string>& words);

}  // namespace handoff::loader

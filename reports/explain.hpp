// The story of one case: its steps with their causes and decisions, and what changed when one
// decision was taken otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/serving/outcome.hpp"
#include "reports/cases.hpp"
#include "reports/text.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {

// How the case stands in one run.
struct Observed {
  std::optional<RequestOutcome> outcome;  // of the victim; nothing: it has none
  std::vector<Finding> findings;          // all up to where the run was left
  std::array<std::uint64_t, kRules> by_rule{};
};

// The run with one change.
struct Trial {
  std::string change;  // as --set takes it: "engine.commit.length=true"
  Observed observed;
};

enum class Effect : std::uint8_t {
  stops,   // nothing is wrong with the victim any more, and nothing new is wrong
  partly,  // it reads nobody else's content, but something is still or newly wrong
  none,
};

struct Judgement {
  Effect effect = Effect::none;
  std::string answer;  // what the victim's client gets: "HTTP 500 after 0.9 s (prefill failed)"
  std::string but;     // partly: why not wholly
};

// `story`: the case in the run as it is; its victim is the one that is followed.
Judgement judge_trial(const Case& story, const Observed& base, const Trial& trial);

struct Explanation {
  const Scenario* scenario = nullptr;
  const EnginePolicy* engine = nullptr;  // of the victim's deployment
  Case story;
  Observed base;
  std::vector<Trial> trials;
  std::vector<std::string> tenants;
};

std::string explanation_text(const Explanation& explanation, const Style& style);
// The steps and their order for Graphviz.
std::string explanation_dot(const Explanation& explanation);

}  // namespace handoff

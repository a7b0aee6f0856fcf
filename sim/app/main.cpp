// The program: finds the command, runs it, and turns what it throws into messages and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>

#include "models/workload/workload.hpp"
#include "reports/files.hpp"
#include "reports/page_log.hpp"
#include "reports/version.hpp"
#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/scenario.hpp"
#include "sim/app/command.hpp"
#include "sim/app/output.hpp"
#include "sim/engine/check.hpp"

namespace handoff::app {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

// The first signal asks, a second one ends the program as usual.
void on_signal(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

constexpr const Command* kCommands[] = {&kRun,     &kCheck, &kExplain,  &kShrink,
                                        &kFuzz,    &kAudit, &kValidate, &kSchema,
                                        &kCatalog, &kTrace, &kVersion};

std::string overview() {
  std::string text =
      "handoff: simulates disaggregated LLM serving and flags every read of another request's "
      "KV\n\n";
  for (const Command* command : kCommands)
    text += fmt::format("  handoff {:<9} {}\n", command->name, command->summary);
  return text + "\n'handoff help COMMAND' tells more.\n";
}

const Command* find(const std::string& name) {
  for (const Command* command : kCommands)
    if (name == command->name) return command;
  return nullptr;
}

const Command& command_named(const std::string& name) {
  if (const Command* command = find(name)) return *command;
  std::vector<std::string> names{"help"};
  for (const Command* command : kCommands) names.emplace_back(command->name);
  throw UsageError(fmt::format("unknown command '{}'{}", name, loader::hint(name, names)));
}

int help(const Words& words) {
  if (words.empty()) {
    print(overview());
    return kClean;
  }
  const Command& command = command_named(words[0]);
  print(fmt::format("usage: handoff {}\n{}{}{}{}", command.usage, *command.help != '\0' ? "\n" : "",
                    command.help, command.made_help != nullptr ? command.made_help() : "",
                    command.help_end));
  return kClean;
}

bool asks_for_help(const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end,
                     [](const std::string& w) { return w == "--help" || w == "-h"; });
}

int dispatch(const std::string& name, const Words& words) {
  if (name == "help" || name == "--help" || name == "-h") return help(words);
  if (name == "--version") return kVersion.run(words);
  const Command& command = command_named(name);
  if (asks_for_help(words)) return help({name});
  try {
    return command.run(words);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}\nusage: handoff {}", name, error.what(), command.usage));
  }
}

int fail(int code, std::string message) {
  if (!message.empty() && message.back() == '\n') message.pop_back();
  fmt::print(stderr, "{}\n", message);
  return code;
}

int guarded(int count, char** words) {
  if (count < 2) {
    fmt::print(stderr, "{}", overview());
    return kBadInput;
  }
  try {
    return dispatch(words[1], Words(words + 2, words + count));
  } catch (const UsageError& error) {
    return fail(kBadInput, fmt::format("handoff: {}", error.what()));
  } catch (const ScenarioError& error) {
    return fail(kBadInput, error.what());
  } catch (const TraceError& error) {
    return fail(kBadInput, error.what());
  } catch (const PageLogError& error) {
    return fail(kBadInput, error.what());
  } catch (const OutputError& error) {
    return fail(kBadInput, fmt::format("handoff: {}", error.what()));
  } catch (const ReaderGone&) {
    return kReaderGone;
  } catch (const std::exception& error) {
    return fail(kBroken, fmt::format("handoff: broken invariant of Handoff {} itself, please "
                                     "report it: {}",
                                     version(), error.what()));
  }
}

}  // namespace

bool interrupted() { return stop_asked != 0; }

}  // namespace handoff::app

int main(int count, char** words) {
  std::signal(SIGINT, handoff::app::on_signal);
  std::signal(SIGTERM, handoff::app::on_signal);
  // A reader that has gone (| head) is an error of a write, not a death without a word.
  std::signal(SIGPIPE, SIG_IGN);
  return handoff::app::guarded(count, words);
}

// A subcommand of the program: one file each, listed in main.cpp.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace handoff::app {

using Words = std::vector<std::string>;

struct Command {
  const char* name;
  const char* summary;  // one line for the list of commands
  const char* usage;    // the words after "handoff"
  const char* help;     // text below the usage: what it does, its options, its exit codes
  int (*run)(const Words& words);
  // More help that is made, and what follows it.
  std::string (*made_help)() = nullptr;
  const char* help_end = "";
};

extern const Command kRun;
extern const Command kCheck;
extern const Command kExplain;
extern const Command kAudit;
extern const Command kShrink;
extern const Command kFuzz;
extern const Command kValidate;
extern const Command kSchema;
extern const Command kCatalog;
extern const Command kTrace;
extern const Command kVersion;

// Words that no command understands. what() is the whole message.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Set by SIGINT and SIGTERM; long work looks at it and stops.
bool interrupted();

enum ExitCode : int {
  kClean = 0,
  kFindings = 1,
  kBadInput = 2,
  kBroken = 3,  // an invariant of ours
  kInterrupted = 130,
  kReaderGone = 141,  // as a shell reports SIGPIPE
};

}  // namespace handoff::app

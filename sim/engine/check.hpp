// Checks of our own invariants. They are never compiled out: a simulator that goes on after its own
// state is wrong reports findings about a system that does not exist. A failed check throws, and
// the program ends with exit code 3 and the line that replays the run.
#pragma once

#include <stdexcept>
#include <string>

namespace handoff {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Not std::source_location: clang 14 has none. The build maps file names to the repository's root,
// so that the message is the same on every machine.
[[noreturn]] void check_failed(const char* condition, const std::string& message, const char* file,
                               int line);

}  // namespace handoff

// `message` is evaluated only when the check fails.
#define HANDOFF_CHECK(condition, message)                               \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::handoff::check_failed(#condition, message, __FILE__, __LINE__); \
  } while (false)

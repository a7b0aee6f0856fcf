// Checks of our own invariants. They are never compiled out: a simulator that goes on after its own
// state is wrong reports findings about a system that does not exist. A failed check throws, and the
// program ends with exit code 3 and the line that replays the run.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace handoff {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const std::string& message,
                               std::source_location where = std::source_location::current());

}  // namespace handoff

#define HANDOFF_CHECK(condition, message)                                  \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::handoff::check_failed(#condition, message);                        \
  } while (false)

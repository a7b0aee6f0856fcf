#include "sim/engine/check.hpp"

#include <fmt/format.h>

namespace handoff {

void check_failed(const char* condition, const std::string& message, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: broken invariant of the simulator: {} ({})", file, line,
                                  message, condition));
}

}  // namespace handoff

#include "sim/engine/check.hpp"

#include <fmt/format.h>

namespace handoff {

void check_failed(const char* condition, const std::string& message, std::source_location where) {
  throw InternalError(fmt::format("{}:{}: broken invariant of the simulator: {} ({})",
                                  where.file_name(), where.line(), message, condition));
}

}  // namespace handoff

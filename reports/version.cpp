#include "reports/version.hpp"

namespace handoff {

const char* version() { return HANDOFF_VERSION; }

}  // namespace handoff

// The version of Handoff, from the build.
#pragma once

namespace handoff {

const char* version();

}  // namespace handoff

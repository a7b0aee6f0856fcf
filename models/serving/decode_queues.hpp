// The decode node's queues, as its scheduling pass polls them.
#pragma once

#include "models/serving/world.hpp"

namespace handoff {

void preallocate(const Context& c, Deployment& d, DecodeNode& n);
void poll_prealloc(const Context& c, DecodeNode& n);
void poll_transfers(const Context& c, Deployment& d, DecodeNode& n);

}  // namespace handoff

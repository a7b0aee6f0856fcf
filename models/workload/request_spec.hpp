// One request as the workload describes it, whatever file or generator it came from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/time.hpp"

namespace handoff {

struct RequestSpec {
  TimeNs arrival_ns = 0;           // since the start of the run
  std::int64_t prompt_tokens = 0;  // >= 1
  std::int64_t output_tokens = 0;  // >= 1 for generation; 0 for embeddings
  std::uint32_t tenant = 0;        // index into the run's tenant names
  std::uint32_t deployment = 0;    // index of the deployment asked
  std::uint32_t workload = 0;      // index of the workload (or fault) it comes from
  std::uint64_t row = 0;           // running number within that workload, from 0
  // Content: the prompt starts with these labelled blocks (equal labels after equal blocks mean
  // equal tokens), each of block_tokens, the last one cut at prompt_tokens; what blocks do not
  // cover is unique.
  std::vector<std::uint64_t> blocks;
  std::int64_t block_tokens = 0;  // 0 when there are no blocks
  // The client gives up this long after arrival; kNever: it waits.
  TimeNs abort_after_ns = kNever;
  bool injected = false;  // by a fault, not by the workload proper
};

}  // namespace handoff

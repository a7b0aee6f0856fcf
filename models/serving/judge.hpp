// Where the oracles are asked: each function observes one kind of moment, compares what the
// oracles' books and the shadow memory say, and reports a finding with its causal chain. Nothing
// here changes the simulated system; taint is noted on the request, and no policy reads it.
#pragma once

#include "models/serving/world.hpp"

namespace handoff {

// "glm-5.3/decode[0]"; "client" for components that are no node or router.
std::string component_name(const World& world, std::uint32_t component);

// Where a read happens and whose memory it is.
struct ReadPlace {
  std::uint32_t component = 0;
  const NodeMemory* memory = nullptr;
  const ContentPath* path = nullptr;  // what the positions must hold
  const PageLists* pages = nullptr;
};

// I1. A computation of `r` reads positions [from, to) on every group and rank (of a window group
// only the last window of them). Returns whether what it computes from now on is tainted.
bool judge_read(const Context& c, Request& r, const ReadPlace& place, std::int64_t from,
                std::int64_t to);

// I2. Decode takes the transfer of `r` for complete.
void judge_commit(const Context& c, Request& r, const DecodeNode& node);

// I3. Data of `op` lands now. Called before the pages are written.
void judge_landing(const Context& c, const TransferOperation& op, const DecodeNode& node);

// I4 and I5 (double free). Pages of `r` have been released.
void judge_release(const Context& c, Request& r, std::uint32_t component,
                   const ReleaseReport& report);

// I8. What each rank decides about the transfer of `r`: the decisions must be equal.
enum class RankDecision : std::uint8_t { wait, commit, abort };
void judge_ranks(const Context& c, Request& r, const DecodeNode& node,
                 std::span<const RankDecision> decisions);

// I6 (bound) and I7. The client of `r` has its answer.
void judge_answer(const Context& c, Request& r);

// T1. A fact met a state that lists no row for it.
void judge_unlisted(const Context& c, Request& r, std::uint32_t component, const std::string& what);

// I5 (balance) and I6 at the end of the run.
void judge_end(const Context& c, StopReason stop);

}  // namespace handoff

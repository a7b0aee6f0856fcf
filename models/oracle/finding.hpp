// A finding: one broken invariant of the simulated system, with who, where, when, and how it came
// to be. Not for bad input (an error to the user) and not for our own bugs (a failed check).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/provenance.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// protocol.md section 2.3 names I1 to I8.
enum class Rule : std::uint8_t {
  provenance,      // I1: a request read content that is not its own
  coverage,        // I2: committed although a group's pages were not all written and visible
  late_write,      // I3: a write landed on a page whose owner had changed since it was posted
  free_in_flight,  // I4: a page was freed while a posted operation referenced it
  balance,         // I5: a page or slot freed twice, or never
  termination,     // I6: a request without a terminal state within the bound
  first_cause,     // I7: the client was told success although the first terminal cause was an error
  rank_agreement,  // I8: ranks of one node decided differently
  transition,      // T1: a (state, fact) pair that no protocol table lists
};
inline constexpr int kRules = 9;
const char* code(Rule rule);   // "I1" .. "I8", "T1"
const char* title(Rule rule);  // a few words

// One step of how a finding came to be, in time order.
struct ChainLink {
  TimeNs at = 0;
  std::uint64_t event = 0;  // number of the event in the run
  std::string node;         // "glm-5.3/decode[0]"; empty for the client
  RequestSerial request = kNoSerial;
  std::string what;  // "wrote", "freed", ...: a sentence without its subject
  // Keys of the engine's policy that this step followed ("rejected_prompt", "commit"); empty: none.
  std::string decision;
  // What orders it with steps elsewhere: a message that this step sends or receives, and a thing
  // (a page) that one step after the other had in hand on this node. Empty: none.
  std::string sends;
  std::string receives;
  std::string object;
};

// Content of one other request that the victim read.
struct FindingSource {
  RequestSerial request = kNoSerial;
  std::uint32_t tenant = 0;
  std::int64_t tokens = 0;
};

struct PageSpan {  // pages [first, first + count) of one pool
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct Finding {
  std::uint32_t id = 0;  // 1-based, in order of detection
  Rule rule = Rule::provenance;
  TimeNs at = 0;
  std::uint64_t event = 0;
  std::uint32_t deployment = 0;
  std::string node;
  std::string group;  // memory group, when one is concerned
  std::uint32_t rank = 0;
  RequestSerial victim = kNoSerial;
  std::string message;  // one sentence
  // provenance, coverage: token positions of all groups together
  std::int64_t tokens_read = 0;        // positions looked at
  std::int64_t tokens_foreign = 0;     // content of other requests
  std::int64_t tokens_unwritten = 0;   // never written, or zeroed
  std::int64_t tokens_misplaced = 0;   // the victim's own or a placeholder's, at the wrong place
  std::vector<FindingSource> sources;  // most tokens first, at most kSourcesMax
  std::uint32_t sources_total = 0;     // distinct requests, beyond the kept ones too
  std::vector<PageSpan> pages;         // concerned, at most kPageSpansMax
  std::vector<ChainLink> chain;
  std::int32_t fault = -1;  // index of the fault whose firing touched the victim, -1: none
};
inline constexpr std::size_t kSourcesMax = 16;
inline constexpr std::size_t kPageSpansMax = 16;

}  // namespace handoff

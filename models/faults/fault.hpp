// Faults are values of the scenario. Each names a real mechanism. They are expanded before the run
// into timed injections where that is possible (plan.hpp), and otherwise matched against the
// notices of the run by a selector; every firing is an event or is recorded with its event number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/workload/workload.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

enum class NodeRole : std::uint8_t { prefill, decode };

// Where in the scenario file a value stands, for messages about it. Lines and columns from 1; 0:
// unknown.
struct SourceMark {
  int line = 0;
  int column = 0;
};

// Prompts longer than anything the workload holds, among ordinary traffic. What becomes of them is
// up to the limits of the nodes.
struct OversizePromptFault {
  std::uint32_t deployment = 0;
  // Exactly one of the two: that many prompts spread, seeded, over [from, from + for), or that
  // share of the deployment's ordinary requests (per 10,000) gets an oversize companion at the same
  // instant.
  std::int64_t count = 0;
  std::int64_t rate_per_10k = 0;
  LengthDistribution prompt;
  LengthDistribution output;
  TimeNs from_ns = 0;
  TimeNs for_ns = kNever;
  std::vector<TenantShare> tenants;
  // Further instants at which one such prompt arrives, beside `count`.
  std::vector<TimeNs> at_ns;
};

enum class NoticeFaultKind : std::uint8_t {
  early,        // sent `by_ns` before the data is visible
  duplicate,    // sent again `by_ns` later
  lost,         // never delivered
  delayed,      // delivered `by_ns` later
  reordered,    // overtakes the data it follows: the last chunk is held back `by_ns` behind its
                // notice
  misdirected,  // delivered to another room that waits on the same node
  short_data,  // the last `pages` pages of the data are not written, and the notice says nothing of
               // it
  stale,       // the notice of the room's previous use comes again when the room is used anew
};
const char* name(NoticeFaultKind kind);  // as scenario files spell it

// Which completion notices (and the transfers behind them) a fault applies to. Unset: any.
struct NoticeSelector {
  std::optional<std::uint32_t> prefill_node;  // index
  std::optional<std::uint32_t> decode_node;
  std::optional<std::uint32_t> rank;
  std::optional<std::string> group;      // short_data only
  std::optional<std::uint64_t> request;  // running number of the request
  std::int64_t prompt_tokens_min = 0;
  TimeNs from_ns = 0;
  TimeNs for_ns = kNever;
  std::uint64_t nth = 0;                // only the nth match, from 1; 0: every match
  std::int64_t chance_permille = 1000;  // drawn per match
};

struct NoticeFault {
  std::uint32_t deployment = 0;
  NoticeFaultKind kind = NoticeFaultKind::lost;
  NoticeSelector select;
  TimeNs by_ns = 0;
  std::int64_t pages = 1;  // short_data
};

struct ClientAbortFault {
  std::uint32_t deployment = 0;
  // One request by number at a time, or a share of all requests a given time after arrival.
  std::optional<std::uint64_t> request;
  std::int64_t chance_permille = 0;
  TimeNs at_ns = 0;     // with `request`
  TimeNs after_ns = 0;  // with `chance`: this long after arrival
};

struct NodeCrashFault {
  std::uint32_t deployment = 0;
  NodeRole role = NodeRole::prefill;
  std::uint32_t node = 0;
  TimeNs at_ns = 0;
  TimeNs for_ns = kNever;  // restart after; kNever: stays down
};

struct LinkFault {
  std::string link;  // name in the topology, "a->b"
  TimeNs at_ns = 0;
  TimeNs for_ns = kNever;
  std::int64_t rate_permille = 0;  // 0: down
};

struct Fault {
  std::string name;  // as reported; the kind when not given
  SourceMark mark;
  std::variant<OversizePromptFault, NoticeFault, ClientAbortFault, NodeCrashFault, LinkFault> what;
};

// The fault's name or, without one, its kind as scenario files spell it.
std::string label(const Fault& fault);

}  // namespace handoff

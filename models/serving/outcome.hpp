// What is known of a request once it has reached its terminal state, and of a run once it has
// ended.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/memory/provenance.hpp"
#include "models/oracle/finding.hpp"
#include "models/oracle/page_event.hpp"
#include "models/workload/workload.hpp"
#include "sim/engine/simulator.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// First terminal cause of a request.
enum class Cause : std::uint8_t {
  finished,          // all output tokens
  rejected_router,   // longer than the router admits
  rejected_context,  // longer than the context window
  rejected_prefill,  // longer than a prefill node's limit
  rejected_decode,   // longer than a decode node's limit
  prefill_failed,    // decode was told that prefill failed
  bootstrap_timeout,
  waiting_timeout,
  length_mismatch,
  checksum_mismatch,
  room_mismatch,
  rank_mismatch,
  node_down,
  client_abort,
  offline,         // deployment offline
  pool_exhausted,  // decode could not make room for a single request
  lease_expired,   // decode came for pages that prefill no longer holds for it
};
const char* name(Cause cause);

struct RequestOutcome {
  RequestSerial serial = 0;
  std::uint32_t deployment = 0;
  std::uint32_t workload = 0;
  std::uint64_t row = 0;
  std::uint32_t tenant = 0;
  bool injected = false;
  TimeNs arrival_ns = 0;
  TimeNs first_token_ns = kNever;  // absolute: the client has the first token; kNever: none came
  TimeNs end_ns = 0;               // absolute
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;       // asked for
  std::int64_t output_tokens_done = 0;  // received
  std::int64_t cached_tokens = 0;       // prompt tokens served by the prefix cache
  std::int32_t prefill_node = -1;
  std::int32_t decode_node = -1;
  std::int32_t status = 0;              // HTTP: 200, 400, 499 (client gone), 500, 503
  Cause cause = Cause::finished;        // what ended it where it was answered
  Cause first_cause = Cause::finished;  // first error anywhere; finished: none
  std::uint32_t retractions = 0;
  // Taint. A response is tainted when content of another request fed it, directly or through a
  // computation that was itself tainted; corrupt when wrong content fed it, but nobody else's.
  bool tainted = false;
  bool corrupt = false;
  std::int64_t foreign_tokens = 0;    // distinct prompt positions, largest over groups and ranks
  std::int64_t unwritten_tokens = 0;  // likewise
  std::uint32_t source_requests = 0;
  std::uint32_t source_tenants = 0;
  RequestSerial main_source = kNoSerial;  // the request most of it came from
  std::uint32_t main_source_tenant = 0;
};

struct NodeTotals {
  std::string name;
  std::uint64_t steps = 0;
  TimeNs busy_ns = 0;
  std::int64_t tokens = 0;           // computed
  std::uint32_t pages = 0;           // of the first group
  std::uint32_t pages_used_max = 0;  // held by requests at once, first group
  std::int64_t pages_held_waiting_ns =
      0;  // decode: page x ns held by requests whose transfer had not ended
};

struct DeploymentTotals {
  std::string name;
  std::string engine;
  std::uint64_t requests = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t output_tokens = 0;
  std::uint64_t transfers = 0;
  std::int64_t transfer_bytes = 0;
  std::uint64_t retractions = 0;
  std::vector<NodeTotals> nodes;
};

struct FaultFiring {
  std::uint32_t fault = 0;  // index in the scenario's list
  TimeNs at = 0;
  std::uint64_t event = 0;
  RequestSerial request = kNoSerial;
  std::string what;
};

struct LinkTotals {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t bytes_per_second = 0;
};

struct RunResult {
  StopReason stop = StopReason::drained;
  std::uint64_t events = 0;
  TimeNs end_ns = 0;
  std::uint64_t digest = 0;  // of all events and all outcomes
  std::uint64_t requests = 0;
  std::uint64_t unfinished = 0;
  std::vector<DeploymentTotals> deployments;
  std::vector<LinkTotals> links;
  std::vector<WorkloadCounters> workloads;
  std::vector<Finding> findings;                         // kept ones, in order of detection
  std::array<std::uint64_t, kRules> findings_by_rule{};  // all
  std::vector<FaultFiring> firings;                      // the first kFiringsMax
  std::uint64_t firings_total = 0;
  std::vector<std::string> tenants;
  // How often each row of the handoff's tables was taken, in the order of handoff_rows().
  std::vector<std::uint64_t> transitions;
};
inline constexpr std::size_t kFiringsMax = 100'000;

// Called as the run goes on. None may change the result.
struct RunObserver {
  // In order of termination. The names are those that the outcome indexes.
  std::function<void(const RequestOutcome&, const TenantNames&)> on_outcome;
  // In order. Set, it makes a run slower; it changes nothing else.
  std::function<void(const PageEvent&)> on_page_event;
  std::function<bool(TimeNs now, std::uint64_t events, std::uint64_t completed,
                     std::uint64_t findings)>
      on_progress;  // every 2^16 events; false stops the run (StopReason::reached)
};

}  // namespace handoff

// What the faults of a scenario do, as far as it can be known before or beside the run: requests
// that are injected, instants at which something breaks, and the choice of requests and notices
// that a fault meets. Doing it is up to the serving model.
//
// Every choice is drawn from a stream of its own, keyed by the fault's index and by what it is
// about, so that a fault neither moves the workload nor another fault. All faults are taken as
// checked by the scenario loader; one that makes no sense is an InternalError here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/faults/fault.hpp"
#include "models/workload/request_spec.hpp"
#include "models/workload/workload.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

struct FaultPlan {
  struct TimedFault {
    TimeNs at = 0;
    std::uint32_t fault = 0;  // index
    bool begin = true;        // or its end: a node is back, a link as built
  };

  // Sorted by arrival, then fault, then row. RequestSpec::workload is the number of workloads plus
  // the fault's index; rows count from 0 in order of arrival.
  std::vector<RequestSpec> oversize;
  // Crashes, links and aborts of numbered requests. Sorted by time, then fault, begin before end.
  std::vector<TimedFault> timed;
};

// `workloads`: number of workloads of the run. Tenants of injected requests are those of the fault
// or, without any, one named as the fault. Throws TraceError when a length cannot be drawn.
FaultPlan expand(const std::vector<Fault>& faults, std::uint64_t seed, std::uint32_t workloads,
                 TenantNames& tenants);

// Oversize prompts by rate: the stream of ordinary requests is not known before the run, so each is
// asked about as it arrives. Whether it gets a companion, and what that one is, depends on the
// request's (workload, row) alone, not on the order of asking. A copyable value; the faults must
// outlive it.
class OversizeCompanions {
 public:
  OversizeCompanions() = default;
  OversizeCompanions(const std::vector<Fault>& faults, std::uint64_t seed, std::uint32_t workloads,
                     TenantNames& tenants);

  // Requests that arrive with this one, in order of their faults; none with an injected one. Their
  // rows count on, in order of calls, from those that the plan gave the fault. Throws TraceError
  // when a length cannot be drawn.
  std::vector<RequestSpec> companions_of(const RequestSpec& spec);

 private:
  struct Site {
    const OversizePromptFault* fault = nullptr;
    std::uint32_t index = 0;
    std::vector<std::uint32_t> tenants;
    std::uint64_t next_row = 0;
  };

  [[nodiscard]] RequestSpec companion(Site& site, const RequestSpec& spec) const;

  std::uint64_t seed_ = 0;
  std::uint32_t workloads_ = 0;
  std::vector<Site> sites_;
};

// When the client of this request gives up because of a fault by chance, counted from its arrival,
// and which fault; the soonest when several say so, the first of equals. Keyed by (workload, row):
// running numbers shift when another fault injects requests, so they have no say. Aborts of
// numbered requests are in FaultPlan.
struct DrawnAbort {
  TimeNs after_ns = 0;
  std::uint32_t fault = 0;  // index

  friend bool operator==(const DrawnAbort&, const DrawnAbort&) = default;
};
std::optional<DrawnAbort> abort_after(const std::vector<Fault>& faults, const RequestSpec& spec,
                                      std::uint64_t seed);

// One completion notice that is about to be sent.
struct NoticeFacts {
  std::uint32_t deployment = 0;
  std::uint32_t prefill_node = 0;
  std::uint32_t decode_node = 0;
  std::uint32_t rank = 0;
  std::uint64_t request = 0;  // running number
  std::int64_t prompt_tokens = 0;
  TimeNs now = 0;
};

// Decides which notice meets which fault. A notice matches a fault when the fault's selector
// accepts its facts. Each fault counts its own matches, in order of calls and whatever other faults
// do: `nth` picks one of them. `chance` is then drawn for that (fault, request, rank), so a notice
// that is sent again for them meets the same luck. Of the faults that still stand the first of the
// scenario wins; one notice meets at most one fault.
//
// A copyable value: a copy counts on by itself. The faults must outlive it and stay where they are:
// results point into them.
class NoticeMatcher {
 public:
  NoticeMatcher() = default;
  NoticeMatcher(const std::vector<Fault>& faults, std::uint64_t seed);

  // For the notice behind a transfer: every kind but stale. Null: nothing happens to it.
  const NoticeFault* match(const NoticeFacts& facts);
  // For a room that is used anew: stale faults alone, `facts` of the request that uses it now.
  const NoticeFault* match_stale(const NoticeFacts& facts);

 private:
  struct Site {
    const NoticeFault* fault = nullptr;
    std::uint32_t index = 0;
    std::uint64_t matches = 0;
  };

  const NoticeFault* first_that_fires(std::vector<Site>& sites, const NoticeFacts& facts) const;

  std::uint64_t seed_ = 0;
  std::vector<Site> sites_;
  std::vector<Site> stale_sites_;
};

}  // namespace handoff

// A run with every request written out one by one, so that single ones can be left out or changed:
// traces, generators and injected prompts become lists, and what faults draw by chance becomes
// faults of named requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/serving/config.hpp"
#include "models/serving/outcome.hpp"

namespace handoff {

struct WrittenOut {
  struct Item {
    ListedRequest request;
    std::uint32_t deployment = 0;
  };
  RunConfig rest;           // without workloads; faults are those of `faults`
  std::vector<Item> items;  // by arrival
  struct FaultItem {
    Fault fault;
    std::optional<std::size_t> item;  // the request it is about, an index of `items`
  };
  std::vector<FaultItem> faults;
};

// All requests that arrive up to `until_ns`. `firings`: of the run, by which faults that choose
// notices by chance or count are tied to the requests they met. Throws TraceError.
WrittenOut write_out(const RunConfig& config, TimeNs until_ns,
                     const std::vector<FaultFiring>& firings);

// As a configuration: one workload a deployment, requests numbered anew. Faults about requests that
// are not among `items` are left out.
RunConfig assemble(const WrittenOut& written);

// With these items only (ascending indexes).
WrittenOut with_items(const WrittenOut& written, const std::vector<std::size_t>& items);
// With these faults only.
WrittenOut with_faults(const WrittenOut& written, const std::vector<std::size_t>& faults);

}  // namespace handoff

// Many swarm runs: what they found, each kind once, and what they reached.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/serving/config.hpp"
#include "sim/search/signature.hpp"

namespace handoff {

struct Find {
  Signature signature;
  std::uint64_t seed = 0;  // the first that showed it
  std::uint64_t runs = 0;  // how many did
};

struct CampaignOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 0;
  unsigned jobs = 1;  // changes nothing in the result
  // Stop at the first seed that finds something.
  bool stop_at_find = false;
  // False ends the campaign before the next run. Called from several threads.
  std::function<bool()> go_on;
  // (runs done, kinds found), now and then, from one thread at a time.
  std::function<void(std::uint64_t, std::size_t)> on_progress;
};

struct Campaign {
  std::uint64_t runs = 0;  // seeds first_seed .. first_seed + runs - 1, all of them run
  std::uint64_t requests = 0;
  std::uint64_t events = 0;
  std::vector<Find> finds;  // by seed
  // Probe -> runs that reached it: rows of the handoff's tables, causes of an end, kinds of faults
  // that fired, and what else matters. 0: never.
  std::map<std::string, std::uint64_t> probes;
};

// Throws InternalError, with the seed in its message.
Campaign run_campaign(const RunConfig& base, const CampaignOptions& options);

}  // namespace handoff

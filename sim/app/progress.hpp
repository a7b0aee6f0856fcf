// How far a run is, on one line of a terminal, drawn over again. Silent when stderr is none.
#pragma once

#include <chrono>
#include <cstdint>

#include "models/serving/config.hpp"
#include "models/serving/outcome.hpp"

namespace handoff::app {

class Progress {
 public:
  // `quiet`: never draws.
  Progress(const RunConfig& config, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(TimeNs now, std::uint64_t events, std::uint64_t completed, std::uint64_t findings);
  void clear();

 private:
  bool draws_;
  bool drawn_ = false;
  TimeNs horizon_ns_;  // when the last workload ends, as far as it is known; kNever: it is not
  std::chrono::steady_clock::time_point last_;
};

}  // namespace handoff::app

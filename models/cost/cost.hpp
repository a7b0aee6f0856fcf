// Step times, integer nanoseconds: a roofline whose coefficients are folded once, so that a step
// costs a handful of integer multiplications. CostModel is a value with alternatives, not a base
// class: a table of measured times can take the same interface. Communication between the devices
// of a node and the queueing of kernels have no term of their own; they are part of the
// efficiencies and of the overheads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/cost/spec.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// One request's share of a prefill step: `tokens` new ones after `context` that are cached already.
struct PrefillWork {
  std::int64_t tokens = 0;
  std::int64_t context = 0;
};

// Fractions of the datasheet peaks that real kernels reach, in thousandths, and fixed costs per
// step.
struct RooflineEfficiency {
  std::int64_t compute_permille = 550;
  std::int64_t memory_permille = 800;
  std::int64_t attention_permille = 400;
  TimeNs prefill_overhead_ns = 5 * kMillisecond;
  TimeNs decode_overhead_ns = 3 * kMillisecond;
};

class CostModel {
 public:
  CostModel() = default;
  // Needs positive rates, efficiencies and devices, and a model with layers, heads and parameters
  // (checked).
  static CostModel roofline(const ModelSpec& model, const HardwareSpec& hardware,
                            const RooflineEfficiency& efficiency);

  // Time of one prefill step over a batch; > 0. Each count below 2^29.
  [[nodiscard]] TimeNs prefill_ns(std::span<const PrefillWork> batch) const;
  // Time of one decode step: `batch` >= 1 requests with `context_tokens` positions held between
  // them, of which `attended_tokens` are attended (equal for dense models; min(context, top_k)
  // summed for DSA). > 0. Windows are limited by the sum: min(context_tokens, batch x window),
  // exact when all requests are at the window or above it (or all below), else more than the sum of
  // the single minima.
  [[nodiscard]] TimeNs decode_ns(std::int64_t batch, std::int64_t context_tokens,
                                 std::int64_t attended_tokens) const;
  // min(context, top_k) for DSA, context otherwise.
  [[nodiscard]] std::int64_t attended(std::int64_t context) const;

 private:
  // Coefficients are in 2^-24 ns: a femtosecond has 17 of them, and 2^60 (the most) are 69 seconds.
  struct Coefficient {
    std::int64_t pair = 0;  // a (query, key) pair scored: compute
    std::int64_t read = 0;  // a position read: memory
  };
  struct Window {
    std::int64_t tokens = 0;
    Coefficient cost;
  };
  // Of a step, in the same unit.
  struct Load {
    Int128 compute = 0;
    Int128 memory = 0;  // without weights
  };

  [[nodiscard]] std::int64_t weights(std::int64_t tokens) const;
  [[nodiscard]] TimeNs time_of(const Load& load, std::int64_t tokens) const;
  [[nodiscard]] Load load_of(const PrefillWork& request) const;
  void fold_weights(const ModelSpec& model, const HardwareSpec& hardware,
                    std::int64_t memory_permille);
  void fold_groups(const ModelSpec& model, const HardwareSpec& hardware,
                   const RooflineEfficiency& efficiency);

  std::int64_t token_ = 0;  // a token through the dense layers and its experts: compute
  Coefficient full_, index_;
  std::vector<Window> windows_;
  // Weights read in a step, by its number of tokens; the last entry stands for all above.
  std::vector<std::int64_t> weights_ = {0};
  TimeNs prefill_overhead_ns_ = 0;
  TimeNs decode_overhead_ns_ = 0;
  std::int64_t sparse_top_k_ = 0;
  bool causal_ = true;
};

}  // namespace handoff

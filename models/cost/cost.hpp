// Step times, integer nanoseconds. First a roofline whose coefficients are folded at construction; a table
// of measured times takes the same interface (CostModel is a value with alternatives, not a base class).
#pragma once

#include <cstdint>
#include <span>

#include "models/cost/spec.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

// One request's share of a prefill step: `tokens` new ones after `context` that are cached already.
struct PrefillWork {
  std::int64_t tokens = 0;
  std::int64_t context = 0;
};

// Fractions of the datasheet peaks that real kernels reach, in thousandths, and fixed costs per step.
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
  static CostModel roofline(const ModelSpec& model, const HardwareSpec& hardware,
                            const RooflineEfficiency& efficiency);

  // Time of one prefill step over a batch; > 0.
  [[nodiscard]] TimeNs prefill_ns(std::span<const PrefillWork> batch) const;
  // Time of one decode step: `batch` requests with `context_tokens` positions held between them, of which
  // `attended_tokens` are attended (equal for dense models; min(context, top_k) summed for DSA). > 0.
  [[nodiscard]] TimeNs decode_ns(std::int64_t batch, std::int64_t context_tokens,
                                 std::int64_t attended_tokens) const;
  // min(context, top_k) for DSA, context otherwise.
  [[nodiscard]] std::int64_t attended(std::int64_t context) const;

 private:
  // Fixed point: picoseconds.
  std::int64_t prefill_fixed_ps_ = 0;       // a step: overhead
  std::int64_t weights_ps_ = 0;             // a step: reading all weights once
  std::int64_t prefill_token_ps_ = 0;       // a token: dense layers
  std::int64_t prefill_pair_fs_ = 0;        // a (query, attended key) pair, femtoseconds
  std::int64_t prefill_index_pair_fs_ = 0;  // a (query, scored key) pair of the indexer, femtoseconds
  std::int64_t decode_fixed_ps_ = 0;
  std::int64_t decode_token_ps_ = 0;        // a request in the batch: compute
  std::int64_t decode_weights_base_ps_ = 0;   // weights read whatever the batch
  std::int64_t decode_weights_expert_ps_ = 0;  // all routed experts once; scaled by the share touched
  std::int64_t decode_attended_fs_ = 0;     // an attended position: KV read
  std::int64_t decode_context_fs_ = 0;      // a held position: indexer keys read
  std::int64_t sparse_top_k_ = 0;
  std::int64_t experts_ = 0;
  std::int64_t experts_active_ = 0;
};

}  // namespace handoff

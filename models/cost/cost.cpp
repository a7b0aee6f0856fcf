// A roofline (Williams, Waterman, Patterson, "Roofline", CACM 2009): a step takes the longer of its
// arithmetic and its memory traffic, plus a fixed overhead. With n tokens in the step, D devices in
// the node, all of whose arithmetic and bandwidth serve it together:
//
//   compute = n x 2 x active parameters / (D x peak of the weights' format)
//           + pairs x layers x 2 x heads x (d_qk + d_v) / (D x 16-bit peak)
//           + scored x indexer layers x 2 x index heads x index dim / (D x 8-bit peak)
//   memory  = weights of what every token needs + share of experts touched x all routed experts
//           + positions read x bytes of their groups
//
// (2: a multiply and an add each; d_qk for Q K^T and d_v for P V.)
//
// A token's key pairs are the positions before it and itself (Kaplan et al. 2020 and Chowdhery et
// al. 2022, appendix B, count the same two products); DSA attends top_k of them at most and scores
// all (DeepSeek-V3.2 report, section 2.1), a window its last positions. Attention runs in 16 bits
// and the indexer in 8, as the production kernels do (FlashMLA, FlashAttention-3; DeepGEMM
// fp8_mqa_logits).
//
// Left out, all small or part of the efficiencies: norms, activations, writes of new KV, the input
// embedding (a lookup), the indexer's top-k, and that only a prompt's last token needs the output
// projection.
#include "models/cost/cost.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

constexpr int kFractionBits = 24;
// Coefficients and counts are below 2^60, so a request's few products stay below 2^123. A step ends
// below 2^86 of these units, 2^62 ns.
constexpr std::int64_t kFactorMax = std::int64_t{1} << 60;
constexpr Int128 kSumMax = Int128{1} << (62 + kFractionBits);
constexpr std::int64_t kTokensMax = std::int64_t{1} << 29;

// Time of `amount` units at `rate` units per second of which `permille` thousandths are reached,
// rounded up, so that what has a cost never costs nothing.
std::int64_t fold(Int128 amount, Int128 rate, std::int64_t permille) {
  HANDOFF_CHECK(amount >= 0 && rate > 0 && permille > 0, "a rate or an efficiency is not positive");
  HANDOFF_CHECK(amount < kFactorMax, "more work per unit than can be folded");
  const Int128 units =
      ((amount * kSecond << kFractionBits) * 1000 + rate * permille - 1) / (rate * permille);
  HANDOFF_CHECK(units < kFactorMax, "the hardware is too slow to be simulated");
  return static_cast<std::int64_t>(units);
}

// Sum over i in [0, tokens) of min(context + i + 1, most). Below 2^60 for counts below 2^29.
std::int64_t causal_pairs(std::int64_t context, std::int64_t tokens, std::int64_t most) {
  const std::int64_t growing = std::clamp<std::int64_t>(most - context, 0, tokens);
  return growing * context + growing * (growing + 1) / 2 + (tokens - growing) * most;
}

// Hopper and Ampere have no 4-bit arithmetic: 4-bit weights are widened and multiplied in 16 bits.
std::int64_t weight_flops(const ModelSpec& model, const HardwareSpec& hardware) {
  return model.weight_bits == 8 ? hardware.flops_8bit : hardware.flops_16bit;
}

}  // namespace

CostModel CostModel::roofline(const ModelSpec& model, const HardwareSpec& hardware,
                              const RooflineEfficiency& efficiency) {
  HANDOFF_CHECK(hardware.devices > 0, "a node has devices");
  HANDOFF_CHECK(model.layers > 0 && model.query_heads > 0, "a model has layers and heads");
  HANDOFF_CHECK(model.parameters_active > 0 && model.parameters_total >= model.parameters_active,
                "a model has parameters");
  HANDOFF_CHECK(model.experts_active >= 0 && model.experts >= model.experts_active,
                "experts do not add up");
  HANDOFF_CHECK(efficiency.prefill_overhead_ns >= 0 && efficiency.decode_overhead_ns >= 0,
                "an overhead is negative");
  CostModel m;
  m.prefill_overhead_ns_ = efficiency.prefill_overhead_ns;
  m.decode_overhead_ns_ = efficiency.decode_overhead_ns;
  m.sparse_top_k_ = model.sparse_top_k;
  m.causal_ = model.role == ModelRole::generate;
  m.token_ =
      fold(2 * Int128{model.parameters_active},
           Int128{hardware.devices} * weight_flops(model, hardware), efficiency.compute_permille);
  m.fold_weights(model, hardware, efficiency.memory_permille);
  m.fold_groups(model, hardware, efficiency);
  return m;
}

// Of E routed experts a token takes k, so with all routed parameters X and the rest B
//   total = B + X,  active = B + X k / E,  hence  X = (total - active) E / (E - k).
// A step of n tokens touches 1 - (1 - k/E)^n of the experts of a layer if tokens choose
// independently and evenly; real routing is skewed and touches fewer. The share is stepped in
// integers (units of 2^-40), up to where what is left weighs nothing.
void CostModel::fold_weights(const ModelSpec& model, const HardwareSpec& hardware,
                             std::int64_t memory_permille) {
  const Int128 rate = Int128{hardware.devices} * hardware.memory_bytes_per_second;
  const auto read = [&](Int128 parameters) {
    return fold(parameters * model.weight_bits / 8, rate, memory_permille);
  };
  const std::int64_t idle = model.experts - model.experts_active;
  const Int128 routed =
      idle > 0 ? Int128{model.parameters_total - model.parameters_active} * model.experts / idle
               : 0;
  const Int128 base = idle > 0 ? Int128{model.parameters_total} - routed : model.parameters_active;
  HANDOFF_CHECK(base >= 0, "active parameters are fewer than the active experts'");
  const std::int64_t always = read(base);
  const std::int64_t all = read(routed);
  weights_.assign(1, always);
  if (routed == 0) return;
  constexpr std::int64_t kOne = std::int64_t{1} << 40;
  for (std::int64_t missed = kOne; missed > 0;) {
    missed = mul_div(missed, idle, model.experts);
    weights_.push_back(always + all - mul_div(all, missed, kOne));
  }
}

// A layer's attention is in one group, and layers of full and window groups hold the same bytes per
// token, so a group's share of the bytes is its share of the layers. Groups split over ranks are
// split by KV head, so no further than into kv_heads parts; replicated ones are read whole by every
// rank.
void CostModel::fold_groups(const ModelSpec& model, const HardwareSpec& hardware,
                            const RooflineEfficiency& efficiency) {
  const Int128 flops_16bit = Int128{hardware.devices} * hardware.flops_16bit;
  const Int128 layer_pair = Int128{2} * model.query_heads * (model.head_dim_qk + model.head_dim_v);
  const auto pair = [&](Int128 share, Int128 of) {
    return fold(layer_pair * model.layers * share / of, flops_16bit, efficiency.attention_permille);
  };
  Int128 attention_bytes = 0;
  for (const GroupSpec& group : model.groups)
    if (group.kind != GroupKind::indexer) attention_bytes += group.bytes_per_token;
  if (attention_bytes == 0) full_.pair = pair(1, 1);
  for (const GroupSpec& group : model.groups) {
    HANDOFF_CHECK(group.bytes_per_token > 0, "a group has bytes");
    HANDOFF_CHECK(group.replicated || model.kv_heads > 0, "a group that is split has heads");
    const std::int64_t parts = group.replicated ? 1 : std::min(hardware.devices, model.kv_heads);
    Coefficient cost;
    cost.read = fold(group.bytes_per_token, Int128{parts} * hardware.memory_bytes_per_second,
                     efficiency.memory_permille);
    if (group.kind != GroupKind::indexer) cost.pair = pair(group.bytes_per_token, attention_bytes);
    switch (group.kind) {
      case GroupKind::full:
        full_.pair += cost.pair;
        full_.read += cost.read;
        break;
      case GroupKind::window:
        HANDOFF_CHECK(group.window_tokens > 0 && group.window_tokens < kTokensMax,
                      "a window has a size");
        windows_.push_back({group.window_tokens, cost});
        break;
      case GroupKind::indexer:
        index_.read += cost.read;
        break;
    }
  }
  const Int128 scored =
      Int128{2} * model.indexer_heads * model.indexer_head_dim * model.indexer_layers;
  index_.pair =
      fold(scored, Int128{hardware.devices} * hardware.flops_8bit, efficiency.attention_permille);
}

std::int64_t CostModel::weights(std::int64_t tokens) const {
  const auto last = static_cast<std::int64_t>(weights_.size()) - 1;
  return weights_[static_cast<std::size_t>(std::min(tokens, last))];
}

TimeNs CostModel::time_of(const Load& load, std::int64_t tokens) const {
  const Int128 longer = std::max(load.compute, load.memory + weights(tokens));
  HANDOFF_CHECK(longer < kSumMax, "a step takes longer than can be simulated");
  return std::max<TimeNs>(1, static_cast<TimeNs>(longer >> kFractionBits));
}

// The positions read are those that some token of the chunk attends: of n tokens after c, no more
// than c + n, n x top_k for DSA (their choices may all differ), n + window - 1 for a window.
CostModel::Load CostModel::load_of(const PrefillWork& request) const {
  const auto& [tokens, context] = request;
  HANDOFF_CHECK(tokens >= 0 && context >= 0 && tokens < kTokensMax && context < kTokensMax,
                "prefill work out of range");
  if (tokens == 0) return {};
  const std::int64_t end = context + tokens;
  const std::int64_t most = sparse_top_k_ > 0 ? sparse_top_k_ : end;
  const std::int64_t attended_pairs = causal_ ? causal_pairs(context, tokens, most) : tokens * end;
  Load load;
  load.compute = Int128{tokens} * token_ + Int128{attended_pairs} * full_.pair +
                 Int128{causal_pairs(context, tokens, end)} * index_.pair;
  load.memory =
      std::min(Int128{end}, Int128{tokens} * most) * full_.read + Int128{end} * index_.read;
  for (const Window& window : windows_) {
    load.compute += Int128{causal_pairs(context, tokens, window.tokens)} * window.cost.pair;
    load.memory += Int128{std::min(end, tokens + window.tokens - 1)} * window.cost.read;
  }
  return load;
}

TimeNs CostModel::prefill_ns(std::span<const PrefillWork> batch) const {
  Load sum;
  std::int64_t tokens = 0;
  for (const PrefillWork& request : batch) {
    const Load load = load_of(request);
    sum.compute += load.compute;
    sum.memory += load.memory;
    tokens += request.tokens;
    HANDOFF_CHECK(sum.compute < kSumMax && sum.memory < kSumMax, "prefill batch out of range");
  }
  return time_of(sum, tokens) + prefill_overhead_ns_;
}

TimeNs CostModel::decode_ns(std::int64_t batch, std::int64_t context_tokens,
                            std::int64_t attended_tokens) const {
  HANDOFF_CHECK(batch > 0 && batch < kTokensMax && context_tokens >= 0 && attended_tokens >= 0 &&
                    (context_tokens | attended_tokens) < kFactorMax,
                "decode work out of range");
  Load load;
  load.compute = Int128{batch} * token_ + Int128{attended_tokens} * full_.pair +
                 Int128{context_tokens} * index_.pair;
  load.memory = Int128{attended_tokens} * full_.read + Int128{context_tokens} * index_.read;
  for (const Window& window : windows_) {
    const std::int64_t seen = std::min(context_tokens, batch * window.tokens);
    load.compute += Int128{seen} * window.cost.pair;
    load.memory += Int128{seen} * window.cost.read;
  }
  return time_of(load, batch) + decode_overhead_ns_;
}

std::int64_t CostModel::attended(std::int64_t context) const {
  return sparse_top_k_ > 0 ? std::min(context, sparse_top_k_) : context;
}

}  // namespace handoff

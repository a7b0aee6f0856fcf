// What the catalog says of a model and of a machine. Every number in models/catalog carries its
// source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace handoff {

// How a decode step reads a group.
enum class GroupKind : std::uint8_t {
  full,    // every position of the context
  window,  // the last `window_tokens` positions
  indexer  // every position, to choose which `full` positions are attended (DSA)
};

// One kind of per-token memory with its own pages: full attention, MLA latent, indexer keys, a
// window.
struct GroupSpec {
  std::string name;
  GroupKind kind = GroupKind::full;
  std::int64_t bytes_per_token = 0;  // all layers, one copy
  // true: each tensor-parallel rank holds a whole copy (MLA, indexer); false: split over ranks
  // (GQA).
  bool replicated = false;
  std::int64_t window_tokens = 0;  // kind == window
};

enum class ModelRole : std::uint8_t { generate, embed };

struct ModelSpec {
  std::string name;
  ModelRole role = ModelRole::generate;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  // Dimensions that a score multiplies and that a value has, per head, as prefill computes them.
  // MLA has two forms: dense prefill expands the latent (DeepSeek-V3: 192, 128), sparse prefill
  // works on latent + rope (576, 512). Decode always does the latter, and waits for memory, not
  // arithmetic.
  std::int64_t head_dim_qk = 0;
  std::int64_t head_dim_v = 0;
  std::int64_t parameters_total = 0;
  std::int64_t parameters_active = 0;  // per token
  std::int64_t weight_bits = 16;       // bits a parameter is stored and computed in
  std::int64_t context_max = 0;
  std::int64_t sparse_top_k = 0;      // DSA: attended positions per query; 0 = dense
  std::int64_t indexer_heads = 0;     // DSA
  std::int64_t indexer_head_dim = 0;  // DSA
  std::int64_t indexer_layers = 0;    // DSA: layers that compute index scores
  std::int64_t experts = 0;           // routed experts in all, 0 = dense model
  std::int64_t experts_active = 0;    // routed experts a token uses
  std::vector<GroupSpec> groups;      // at least one for role generate
};

struct HardwareSpec {
  std::string name;
  std::string device;
  std::int64_t devices = 1;                  // per node: also the tensor-parallel width
  std::int64_t memory_bytes = 0;             // per device
  std::int64_t memory_bytes_per_second = 0;  // per device
  std::int64_t flops_16bit = 0;              // per device, dense
  std::int64_t flops_8bit = 0;               // per device, dense
  std::int64_t link_bytes_per_second = 0;    // per device, within the node
  std::int64_t nic_bytes_per_second = 0;     // per device, to other nodes
};

}  // namespace handoff

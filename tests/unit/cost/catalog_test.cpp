// The shipped catalog: complete, consistent within itself, and counted right where counting is
// possible.
#include <gtest/gtest.h>

#include <numeric>

#include "models/cost/cost.hpp"
#include "tests/unit/cost/catalog_reader.hpp"

namespace handoff {
namespace {

using Names = std::vector<std::string>;

TEST(Catalog, holds_the_models_and_machines_that_scenarios_name) {
  EXPECT_EQ(catalog_names("llm"),
            (Names{"bge-base-en-v1.5", "deepseek-v3", "deepseek-v3.2", "glm-5", "glm-5.2",
                   "glm-5.3", "gpt-oss-120b", "llama-3.1-70b", "llama-3.1-8b", "qwen3-235b-a22b"}));
  EXPECT_EQ(catalog_names("hardware"), (Names{"a100", "h100", "h200"}));
}

TEST(Catalog, each_file_is_named_as_it_says_and_gives_a_cost_model_on_each_machine) {
  for (const std::string& machine : catalog_names("hardware")) {
    const HardwareSpec h = catalog_hardware("8x" + machine);
    EXPECT_EQ(h.name, machine);
    EXPECT_EQ(h.devices, 8);
    for (const std::string& name : catalog_names("llm")) {
      const ModelSpec m = catalog_model(name);
      EXPECT_EQ(m.name, name);
      EXPECT_EQ(m.role == ModelRole::generate, !m.groups.empty());
      const CostModel cost = CostModel::roofline(m, h, {});
      const PrefillWork whole{m.context_max, 0};
      EXPECT_GT(cost.prefill_ns({&whole, 1}), cost.decode_ns(1, 1, 1)) << name;
    }
  }
}

// All latent and indexer layouts, and all head layouts, are the same for each layer.
TEST(Catalog, bytes_per_token_are_layers_times_bytes_of_a_layer) {
  for (const std::string& name : catalog_names("llm")) {
    const ModelSpec m = catalog_model(name);
    std::int64_t layers = 0;
    for (const GroupSpec& g : m.groups) {
      const std::int64_t heads = 2 * m.kv_heads * m.head_dim_qk * 2;  // K and V in 16 bits
      const std::int64_t latent = g.bytes_per_token % 656 == 0 ? 656 : 1152;
      const std::int64_t a_layer = g.kind == GroupKind::indexer ? 132
                                   : g.replicated               ? latent
                                                                : heads;
      EXPECT_EQ(g.bytes_per_token % a_layer, 0) << name << " " << g.name;
      const std::int64_t count = g.bytes_per_token / a_layer;
      if (g.kind != GroupKind::indexer) layers += count;
      EXPECT_TRUE(g.kind != GroupKind::indexer || count == m.layers) << name;
    }
    EXPECT_EQ(layers, m.groups.empty() ? 0 : m.layers) << name;
  }
}

TEST(Catalog, sparse_models_have_an_indexer_and_others_do_not) {
  for (const std::string& name : catalog_names("llm")) {
    const ModelSpec m = catalog_model(name);
    const bool has_indexer = std::any_of(m.groups.begin(), m.groups.end(), [](const GroupSpec& g) {
      return g.kind == GroupKind::indexer;
    });
    EXPECT_EQ(m.sparse_top_k > 0, has_indexer) << name;
    EXPECT_EQ(m.indexer_layers > 0, has_indexer) << name;
    EXPECT_EQ(m.indexer_heads > 0, has_indexer) << name;
    EXPECT_LE(m.indexer_layers, m.layers) << name;
  }
}

// Routed experts follow from the totals (cost.cpp, fold_weights); the config gives them directly as
// MoE layers x experts x 3 x hidden x width. The input embedding, left out of what is active, is
// the difference.
TEST(Catalog, routed_parameters_follow_from_the_totals) {
  struct Case {
    const char* name;
    std::int64_t moe_layers, width;
  };
  for (const auto& [name, moe_layers, width] :
       {Case{"deepseek-v3", 58, 2048}, Case{"deepseek-v3.2", 58, 2048}, Case{"glm-5", 75, 2048},
        Case{"glm-5.2", 75, 2048}, Case{"glm-5.3", 75, 2048}, Case{"qwen3-235b-a22b", 94, 1536},
        Case{"gpt-oss-120b", 36, 2880}}) {
    const ModelSpec m = catalog_model(name);
    const double configured = 3.0 * static_cast<double>(moe_layers * m.experts * m.hidden * width);
    const double derived = static_cast<double>(m.parameters_total - m.parameters_active) *
                           static_cast<double>(m.experts) /
                           static_cast<double>(m.experts - m.experts_active);
    EXPECT_NEAR(derived / configured, 1.0, 0.006) << name;
  }
}

TEST(Catalog, dense_parameters_are_those_of_the_configuration) {
  struct Case {
    const char* name;
    std::int64_t mlp;
  };
  for (const auto& [name, mlp] : {Case{"llama-3.1-8b", 14336}, Case{"llama-3.1-70b", 28672}}) {
    const ModelSpec m = catalog_model(name);
    const std::int64_t attention = 2 * m.hidden * m.head_dim_qk * (m.query_heads + m.kv_heads);
    const std::int64_t a_layer = attention + 3 * m.hidden * mlp + 2 * m.hidden;
    const std::int64_t embedding = 128'256 * m.hidden;
    EXPECT_EQ(m.parameters_total, m.layers * a_layer + 2 * embedding + m.hidden) << name;
    EXPECT_EQ(m.parameters_active, m.parameters_total - embedding) << name;
  }
}

}  // namespace
}  // namespace handoff

// The roofline by hand on a machine of round numbers, its limits, and that more work never takes
// less time.
#include "models/cost/cost.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"
#include "tests/unit/cost/catalog_reader.hpp"

namespace handoff {
namespace {

constexpr RooflineEfficiency kPerfect{1000, 1000, 1000, 0, 0};

// 1 TB/s and 1 TFLOP/s a device (2 in 8 bits), and nothing else.
HardwareSpec machine(std::int64_t devices) {
  HardwareSpec h;
  h.devices = devices;
  h.memory_bytes_per_second = 1'000'000'000'000;
  h.flops_16bit = 1'000'000'000'000;
  h.flops_8bit = 2'000'000'000'000;
  return h;
}

// 1,000,000 parameters of 16 bits; 10 layers of 5 heads of 20 dimensions; 400 bytes of KV a token.
ModelSpec model() {
  ModelSpec m;
  m.layers = 10;
  m.query_heads = 5;
  m.kv_heads = 5;
  m.head_dim_qk = m.head_dim_v = 20;
  m.parameters_total = m.parameters_active = 1'000'000;
  m.groups.push_back({"kv", GroupKind::full, 400, false, 0});
  return m;
}

TimeNs prefill(const CostModel& cost, std::vector<PrefillWork> batch) {
  return cost.prefill_ns(batch);
}

TEST(Cost, decode_of_a_dense_model_by_hand) {
  // Weights 2 MB and 1000 positions x 400 B at 1 TB/s: 2000 + 400 ns. Arithmetic: 2 MFLOP, 2000 ns,
  // and 1000 x 10 layers x 2 x 5 heads x 40 = 4 MFLOP, 4000 ns.
  const CostModel cost = CostModel::roofline(model(), machine(1), kPerfect);
  EXPECT_EQ(cost.decode_ns(1, 1000, 1000), 6000);
  // Memory is the longer without context: 2000 ns each, and equal.
  EXPECT_EQ(cost.decode_ns(1, 0, 0), 2000);
  EXPECT_EQ(cost.decode_ns(4, 0, 0), 8000);
}

TEST(Cost, memory_bounds_a_step_whose_arithmetic_is_fast) {
  HardwareSpec h = machine(1);
  h.flops_16bit *= 1000;
  const CostModel cost = CostModel::roofline(model(), h, kPerfect);
  EXPECT_EQ(cost.decode_ns(1, 1000, 1000), 2400);
  EXPECT_EQ(cost.decode_ns(8, 1'000'000, 1'000'000), 402'000);
}

TEST(Cost, prefill_of_a_chunk_counts_the_pairs_before_and_within_it) {
  // 10 tokens after 100: 10 x 100 + (1 + .. + 10) = 1055 pairs of 4000 FLOP; 10 x 2 MFLOP.
  const CostModel cost = CostModel::roofline(model(), machine(1), kPerfect);
  EXPECT_EQ(prefill(cost, {{10, 100}}), 20'000 + 4220);
  // Two requests add up; one without tokens adds nothing.
  EXPECT_EQ(prefill(cost, {{10, 100}, {1, 0}, {0, 5000}}), 22'000 + 4224);
}

TEST(Cost, prefill_in_chunks_takes_the_arithmetic_of_the_whole) {
  const CostModel cost = CostModel::roofline(model(), machine(1), kPerfect);
  const TimeNs whole = prefill(cost, {{1000, 0}});
  TimeNs chunks = 0;
  for (std::int64_t at = 0; at < 1000; at += 250) chunks += prefill(cost, {{250, at}});
  EXPECT_NEAR(static_cast<double>(chunks), static_cast<double>(whole), 4);
}

TEST(Cost, prefill_of_one_token_is_a_decode_step) {
  for (const char* name : {"llama-3.1-8b", "gpt-oss-120b", "glm-5.2", "deepseek-v3"}) {
    const CostModel cost =
        CostModel::roofline(catalog_model(name), catalog_hardware("8xh200"), kPerfect);
    for (const std::int64_t context : {0, 1, 127, 128, 2047, 2048, 100'000})
      EXPECT_EQ(prefill(cost, {{1, context}}),
                cost.decode_ns(1, context + 1, cost.attended(context + 1)))
          << name << " " << context;
  }
}

TEST(Cost, efficiencies_and_overheads_apply_where_they_should) {
  RooflineEfficiency e{500, 250, 800, 11, 13};
  const CostModel cost = CostModel::roofline(model(), machine(1), e);
  EXPECT_EQ(cost.decode_ns(1, 0, 0), 8000 + 13);                     // memory at a quarter
  EXPECT_EQ(cost.decode_ns(1, 10'000, 10'000), 4000 + 50'000 + 13);  // arithmetic: 1/2, 4/5
  EXPECT_EQ(prefill(cost, {{10, 100}}), 40'000 + 5275 + 11);
}

TEST(Cost, devices_share_weights_and_split_groups_but_each_reads_replicated_ones) {
  HardwareSpec h = machine(4);
  h.flops_16bit *= 1000;
  ModelSpec m = model();
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 1000, 1000), 500 + 100);
  m.groups[0].replicated = true;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 1000, 1000), 500 + 400);
  // Two KV heads cannot be split over four devices: two hold each.
  m.groups[0].replicated = false;
  m.kv_heads = 2;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 1000, 1000), 500 + 200);
}

TEST(Cost, weights_of_8_bits_are_half_the_bytes_at_twice_the_peak_and_4_bits_compute_in_16) {
  ModelSpec m = model();
  m.weight_bits = 8;
  EXPECT_EQ(CostModel::roofline(m, machine(1), kPerfect).decode_ns(8, 0, 0), 8000);
  m.weight_bits = 4;
  EXPECT_EQ(CostModel::roofline(m, machine(1), kPerfect).decode_ns(8, 0, 0), 16'000);
  HardwareSpec h = machine(1);
  h.flops_16bit *= 1000;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 0, 0), 500);
}

// 4 experts, 1 active: B + X = 1,000,000 and B + X/4 = 400,000, so X = 800,000 and B = 200,000.
TEST(Cost, a_step_reads_the_experts_that_its_tokens_are_expected_to_touch) {
  ModelSpec m = model();
  m.experts = 4;
  m.experts_active = 1;
  m.parameters_active = 400'000;
  HardwareSpec h = machine(1);
  h.flops_16bit *= 1'000'000;
  const CostModel cost = CostModel::roofline(m, h, kPerfect);
  EXPECT_EQ(cost.decode_ns(1, 0, 0), 400 + 400);  // a quarter of 1,600,000 bytes
  EXPECT_EQ(cost.decode_ns(2, 0, 0), 400 + 700);  // 7/16
  EXPECT_EQ(cost.decode_ns(3, 0, 0), 400 + 925);  // 37/64
  EXPECT_NEAR(static_cast<double>(cost.decode_ns(10'000, 0, 0)), 400 + 1600, 1);
  EXPECT_EQ(prefill(cost, {{1, 0}}), cost.decode_ns(1, 1, 1));  // prefill touches by tokens too
  m.experts_active = 4;
  m.parameters_active = m.parameters_total;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 0, 0), 2000);
}

TEST(Cost, sparse_attention_caps_the_pairs_and_scores_all) {
  ModelSpec m = model();
  m.sparse_top_k = 50;
  m.indexer_heads = 2;
  m.indexer_head_dim = 25;
  m.indexer_layers = 4;  // 400 FLOP a pair, in 8 bits: 0.2 ns
  m.groups.push_back({"index", GroupKind::indexer, 10, true, 0});
  const CostModel cost = CostModel::roofline(m, machine(1), kPerfect);
  EXPECT_EQ(cost.attended(49), 49);
  EXPECT_EQ(cost.attended(51), 50);
  EXPECT_EQ(cost.decode_ns(1, 1000, 50), 2000 + 200 + 200);
  // 20 tokens after 40: ten see 41 .. 50 keys, ten see 50: 955 pairs; scored: 800 + 210 = 1010.
  EXPECT_EQ(prefill(cost, {{20, 40}}), 40'000 + 3820 + 202);
  HardwareSpec h = machine(1);
  h.flops_16bit = h.flops_8bit = 1'000'000 * h.flops_16bit;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(1, 1000, 50), 2000 + 20 + 10);
}

TEST(Cost, windows_read_and_score_no_more_than_their_size) {
  ModelSpec m = model();
  m.groups.push_back({"window", GroupKind::window, 400, false, 8});  // half the layers
  HardwareSpec h = machine(1);
  const CostModel cost = CostModel::roofline(m, h, kPerfect);
  // Each half: 2000 FLOP a pair. 100 positions in full, 8 in the window.
  EXPECT_EQ(cost.decode_ns(1, 100, 100), 2000 + 200 + 16);
  EXPECT_EQ(cost.decode_ns(1, 4, 4), 2000 + 8 + 8);
  // 10 tokens after 4: 5 + 6 + 7 + 8 x 7 = 74 pairs in the window, 95 in full.
  EXPECT_EQ(prefill(cost, {{10, 4}}), 20'000 + 190 + 148);
  h.flops_16bit *= 1'000'000;
  EXPECT_EQ(CostModel::roofline(m, h, kPerfect).decode_ns(2, 200, 200), 2000 + 80 + 6);
}

TEST(Cost, an_embedding_model_attends_both_ways_and_keeps_nothing) {
  ModelSpec m = model();
  m.role = ModelRole::embed;
  m.groups.clear();
  const CostModel cost = CostModel::roofline(m, machine(1), kPerfect);
  EXPECT_EQ(prefill(cost, {{100, 0}}), 200'000 + 40'000);
  EXPECT_EQ(cost.attended(100), 100);
}

TEST(Cost, more_work_never_takes_less_time) {
  for (const std::string& name : catalog_names("llm")) {
    const CostModel cost = CostModel::roofline(catalog_model(name), catalog_hardware("8xh200"), {});
    Rng rng(1, name);
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t batch = rng.between(1, 1 << rng.between(1, 12));
      const std::int64_t context = rng.between(0, std::int64_t{1} << rng.between(1, 28));
      const std::int64_t attended = rng.between(0, context);
      const std::int64_t more = rng.between(1, std::int64_t{1} << rng.between(1, 16));
      const TimeNs base = cost.decode_ns(batch, context, attended);
      EXPECT_GT(base, 0);
      EXPECT_LE(base, cost.decode_ns(batch + more, context, attended));
      EXPECT_LE(base, cost.decode_ns(batch, context + more, attended));
      EXPECT_LE(base, cost.decode_ns(batch, context, attended + more));
      const std::int64_t tokens = rng.between(0, 1 << rng.between(1, 20));
      const TimeNs chunk = prefill(cost, {{tokens, context}});
      EXPECT_GT(chunk, 0);
      EXPECT_LE(chunk, prefill(cost, {{tokens + more, context}}));
      EXPECT_LE(chunk, prefill(cost, {{tokens, context + more}}));
      EXPECT_LE(chunk, prefill(cost, {{tokens, context}, {more, attended}}));
    }
  }
}

TEST(Cost, the_largest_steps_do_not_overflow) {
  constexpr std::int64_t kMillion = 1 << 20;
  for (const std::string& name : catalog_names("llm")) {
    const CostModel cost = CostModel::roofline(catalog_model(name), catalog_hardware("a100"), {});
    const std::vector<PrefillWork> batch(256, {kMillion, kMillion});
    const TimeNs one = prefill(cost, {batch[0]}) - 5 * kMillisecond;
    const TimeNs all = prefill(cost, batch) - 5 * kMillisecond;
    EXPECT_NEAR(static_cast<double>(all), 256.0 * static_cast<double>(one),
                1e-6 * static_cast<double>(all))
        << name;
    EXPECT_GT(cost.decode_ns(256, 256 * kMillion, 256 * kMillion), cost.decode_ns(256, 0, 0))
        << name;
  }
}

TEST(Cost, misuse_is_a_broken_invariant_of_ours) {
  EXPECT_THROW(CostModel::roofline(model(), machine(0), kPerfect), InternalError);
  EXPECT_THROW(CostModel::roofline(model(), HardwareSpec{}, kPerfect), InternalError);
  EXPECT_THROW(CostModel::roofline(ModelSpec{}, machine(1), kPerfect), InternalError);
  EXPECT_THROW(CostModel::roofline(model(), machine(1), {0, 1, 1, 0, 0}), InternalError);
  EXPECT_THROW(CostModel::roofline(model(), machine(1), {1, 1, 1, -1, 0}), InternalError);
  HardwareSpec still = machine(1);
  still.memory_bytes_per_second = 1;
  ModelSpec huge = model();
  huge.parameters_total = huge.parameters_active = 1'000'000'000'000;
  EXPECT_THROW(CostModel::roofline(huge, still, kPerfect), InternalError);
  const CostModel cost = CostModel::roofline(model(), machine(1), kPerfect);
  EXPECT_THROW((void)cost.decode_ns(0, 1, 1), InternalError);
  EXPECT_THROW((void)cost.decode_ns(1, -1, 0), InternalError);
  EXPECT_THROW((void)prefill(cost, {{-1, 0}}), InternalError);
  EXPECT_THROW((void)prefill(cost, {{1, std::int64_t{1} << 40}}), InternalError);
}

}  // namespace
}  // namespace handoff

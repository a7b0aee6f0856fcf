// Generated workloads: exact draws, independence of the streams, moments, bounds.
#include <algorithm>
#include <cmath>
#include <map>

#include "models/workload/synthetic.hpp"
#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

using Kind = LengthDistribution::Kind;

LengthDistribution fixed(std::int64_t value) {
  LengthDistribution d;
  d.value = value;
  return d;
}

LengthDistribution uniform(std::int64_t low, std::int64_t high) {
  LengthDistribution d;
  d.kind = Kind::uniform;
  d.low = low;
  d.high = high;
  return d;
}

LengthDistribution lognormal(double median, double sigma, std::int64_t low = 1,
                             std::int64_t high = 0) {
  LengthDistribution d;
  d.kind = Kind::lognormal;
  d.median = median;
  d.sigma = sigma;
  d.low = low;
  d.high = high;
  return d;
}

LengthDistribution pareto(double scale, double alpha, std::int64_t high = 0) {
  LengthDistribution d;
  d.kind = Kind::pareto;
  d.scale = scale;
  d.alpha = alpha;
  d.high = high;
  return d;
}

WorkloadConfig synthetic(std::int64_t requests = 1000) {
  SyntheticConfig s;
  s.arrivals.rate_per_s = 2.0;
  s.prompt = lognormal(16'000, 1.2, 100, 600'000);
  s.output = uniform(4, 8'000);
  s.requests_max = requests;
  s.tenants = {{"acme", 4}, {"birch", 3}, {"cobalt", 2}, {"delta", 1}};
  s.shared_prefix_permille = 500;
  s.shared_prefixes = 4;
  s.shared_prefix_tokens = 6144;
  WorkloadConfig config;
  config.name = "w";
  config.source = s;
  return config;
}

SyntheticConfig& source_of(WorkloadConfig& config) {
  return std::get<SyntheticConfig>(config.source);
}

std::vector<std::int64_t> draws(const LengthDistribution& d, int count, std::uint64_t seed = 1) {
  Rng rng(seed, "test");
  std::vector<std::int64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(draw_length(d, rng));
  return values;
}

double mean_of(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (const std::int64_t v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

std::string error_of(const WorkloadConfig& config) {
  try {
    rows_of(config);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Synthetic, DrawsAreFixed) {
  // Arrival, prompt, output, tenant, deployment, workload, row, block tokens, patience, blocks.
  EXPECT_EQ(text_of(rows_of(synthetic(3), 155)),
            "945637582 8703 3095 0 0 0 0 0 9223372036854775807 \n"
            "1147102014 6088 588 2 0 0 1 6144 9223372036854775807 2674615290100170431,\n"
            "1861559185 654 4762 2 0 0 2 6144 9223372036854775807 14228642821261716346,\n");
}

TEST(Synthetic, ChangingOneDistributionDoesNotMoveTheOthers) {
  const std::vector<RequestSpec> before = rows_of(synthetic());
  WorkloadConfig changed = synthetic();
  source_of(changed).prompt = fixed(7'000);
  const std::vector<RequestSpec> prompts = rows_of(changed);
  changed = synthetic();
  source_of(changed).arrivals.rate_per_s = 4.0;
  const std::vector<RequestSpec> rates = rows_of(changed);
  changed = synthetic();
  source_of(changed).tenants.pop_back();
  source_of(changed).shared_prefix_permille = 1000;
  const std::vector<RequestSpec> tenants = rows_of(changed);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(prompts[i].arrival_ns, before[i].arrival_ns);
    EXPECT_EQ(prompts[i].output_tokens, before[i].output_tokens);
    EXPECT_EQ(prompts[i].tenant, before[i].tenant);
    EXPECT_EQ(rates[i].prompt_tokens, before[i].prompt_tokens);
    EXPECT_EQ(tenants[i].arrival_ns, before[i].arrival_ns);
    EXPECT_EQ(tenants[i].prompt_tokens, before[i].prompt_tokens);
    if (before[i].tenant == tenants[i].tenant && !before[i].blocks.empty()) {
      EXPECT_EQ(tenants[i].blocks, before[i].blocks);
    }
  }
}

TEST(Synthetic, SeedAndWorkloadIndexGiveOtherRows) {
  EXPECT_NE(text_of(rows_of(synthetic(10), 1)), text_of(rows_of(synthetic(10), 2)));
  EXPECT_NE(arrivals_of(rows_of(synthetic(10), 1, 0)), arrivals_of(rows_of(synthetic(10), 1, 1)));
}

TEST(Synthetic, PoissonArrivalsHaveTheirRateAndSpread) {
  WorkloadConfig config = synthetic(20'000);
  const std::vector<TimeNs> at = arrivals_of(rows_of(config));
  double sum = 0;
  double squares = 0;
  TimeNs last = 0;
  for (const TimeNs t : at) {
    const double gap = static_cast<double>(t - last) / 1e9;
    sum += gap;
    squares += gap * gap;
    last = t;
  }
  const double mean = sum / 20'000;
  EXPECT_NEAR(mean, 0.5, 0.015);
  EXPECT_NEAR(std::sqrt(squares / 20'000 - mean * mean) / mean, 1.0, 0.04);
}

TEST(Synthetic, GammaArrivalsHaveTheirVariation) {
  for (const double cv : {0.4, 3.0}) {
    WorkloadConfig config = synthetic(20'000);
    source_of(config).arrivals = {ArrivalProcess::Kind::gamma, 2.0, cv};
    const std::vector<TimeNs> at = arrivals_of(rows_of(config));
    double sum = 0;
    double squares = 0;
    TimeNs last = 0;
    for (const TimeNs t : at) {
      const double gap = static_cast<double>(t - last) / 1e9;
      sum += gap;
      squares += gap * gap;
      last = t;
    }
    const double mean = sum / 20'000;
    EXPECT_NEAR(mean, 0.5, 0.5 * 4 * cv / std::sqrt(20'000.0)) << cv;
    EXPECT_NEAR(std::sqrt(squares / 20'000 - mean * mean) / mean, cv, 0.1 * cv) << cv;
  }
}

TEST(Synthetic, FixedArrivalsDoNotDrift) {
  WorkloadConfig config = synthetic(30'001);
  source_of(config).arrivals = {ArrivalProcess::Kind::fixed, 3.0, 1.0};
  source_of(config).from_ns = kSecond;
  source_of(config).prompt = source_of(config).output = fixed(1);
  source_of(config).shared_prefix_permille = 0;
  WorkloadStream stream = open(config);
  EXPECT_EQ(stream.next()->arrival_ns, kSecond);
  EXPECT_EQ(stream.next()->arrival_ns, kSecond + 333'333'333);
  EXPECT_EQ(drain(stream).back().arrival_ns, 10'001 * kSecond);
}

TEST(Synthetic, AWindowBoundsTheStream) {
  WorkloadConfig config = synthetic(0);
  source_of(config).from_ns = 100 * kSecond;
  source_of(config).for_ns = 50 * kSecond;
  WorkloadStream stream = open(config);
  const std::vector<RequestSpec> rows = drain(stream);
  EXPECT_GT(rows.size(), 60u);
  EXPECT_LT(rows.size(), 140u);
  EXPECT_GE(rows.front().arrival_ns, 100 * kSecond);
  EXPECT_LT(rows.back().arrival_ns, 150 * kSecond);
  EXPECT_EQ(stream.counters().rows_read, rows.size());
  EXPECT_EQ(stream.counters().rows_skipped, 0u);
}

TEST(Synthetic, AnArrivalRateNextToNothingEndsTheStreamInsteadOfOverflowing) {
  WorkloadConfig config = synthetic(10);
  source_of(config).arrivals.rate_per_s = 1e-300;
  EXPECT_TRUE(rows_of(config).empty());
}

TEST(Synthetic, TenantsComeByWeight) {
  std::map<std::uint32_t, int> counts;
  for (const RequestSpec& r : rows_of(synthetic(10'000))) ++counts[r.tenant];
  EXPECT_NEAR(counts[0], 4000, 200);
  EXPECT_NEAR(counts[1], 3000, 190);
  EXPECT_NEAR(counts[2], 2000, 160);
  EXPECT_NEAR(counts[3], 1000, 120);
}

TEST(Synthetic, WithoutTenantsTheWorkloadIsOne) {
  WorkloadConfig config = synthetic(3);
  source_of(config).tenants.clear();
  TenantNames tenants;
  WorkloadStream stream = WorkloadStream::open(config, 0, 1, tenants);
  EXPECT_EQ(tenants.name(stream.next()->tenant), "w");
  EXPECT_EQ(tenants.size(), 1u);
}

TEST(Synthetic, SharedPrefixesArePerTenantAndOneBlock) {
  std::map<std::uint64_t, std::uint32_t> owner;
  std::map<std::uint32_t, std::size_t> labels;
  std::size_t with = 0;
  const std::vector<RequestSpec> rows = rows_of(synthetic(10'000));
  for (const RequestSpec& r : rows) {
    if (r.blocks.empty()) {
      EXPECT_EQ(r.block_tokens, 0);
      continue;
    }
    ++with;
    ASSERT_EQ(r.blocks.size(), 1u);
    EXPECT_EQ(r.block_tokens, 6144);
    const auto [at, fresh] = owner.emplace(r.blocks[0], r.tenant);
    EXPECT_EQ(at->second, r.tenant);
    labels[r.tenant] += fresh ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(with), 5000, 200);
  for (const auto& [tenant, count] : labels) EXPECT_EQ(count, 4u) << tenant;
  EXPECT_NE(rows_of(synthetic(200), 1, 1)[0].blocks, rows[0].blocks);
}

TEST(Lengths, FollowTheirDistribution) {
  EXPECT_EQ(draws(fixed(17), 3), (std::vector<std::int64_t>{17, 17, 17}));
  std::vector<std::int64_t> u = draws(uniform(3, 5), 3000);
  EXPECT_EQ(*std::min_element(u.begin(), u.end()), 3);
  EXPECT_EQ(*std::max_element(u.begin(), u.end()), 5);
  EXPECT_NEAR(mean_of(u), 4.0, 0.06);
  std::vector<std::int64_t> l = draws(lognormal(16'000, 0.5), 20'000);
  // e^(mu + sigma^2 / 2) with e^mu the median.
  EXPECT_NEAR(mean_of(l), 16'000 * std::exp(0.125), 300);
  std::nth_element(l.begin(), l.begin() + 10'000, l.end());
  EXPECT_NEAR(static_cast<double>(l[10'000]), 16'000, 250);
  std::vector<std::int64_t> p = draws(pareto(1000, 3.0), 20'000);
  EXPECT_GE(*std::min_element(p.begin(), p.end()), 1000);
  // scale x alpha / (alpha - 1)
  EXPECT_NEAR(mean_of(p), 1500, 25);
}

TEST(Lengths, OutsideTheBoundsAreDrawnAgain) {
  for (const std::int64_t v : draws(lognormal(1000, 1.5, 900, 1100), 2000)) {
    EXPECT_GE(v, 900);
    EXPECT_LE(v, 1100);
  }
  for (const std::int64_t v : draws(pareto(681'281, 6, 1'000'000), 2000)) {
    EXPECT_GE(v, 681'281);
    EXPECT_LE(v, 1'000'000);
  }
  for (const std::int64_t v : draws(pareto(1, 0.01), 200)) EXPECT_LE(v, kTokensMax);
  for (const std::int64_t v : draws(lognormal(5, 400.0), 200)) EXPECT_LE(v, kTokensMax);
}

TEST(Lengths, AMixtureDrawsItsPartsByWeight) {
  LengthDistribution inner;
  inner.kind = Kind::mixture;
  inner.parts = {{1, std::make_shared<const LengthDistribution>(fixed(1))},
                 {1, std::make_shared<const LengthDistribution>(fixed(2))}};
  LengthDistribution d;
  d.kind = Kind::mixture;
  d.parts = {{1, std::make_shared<const LengthDistribution>(inner)},
             {3, std::make_shared<const LengthDistribution>(fixed(3))}};
  std::map<std::int64_t, int> counts;
  for (const std::int64_t v : draws(d, 8000)) ++counts[v];
  EXPECT_NEAR(counts[1], 1000, 120);
  EXPECT_NEAR(counts[2], 1000, 120);
  EXPECT_NEAR(counts[3], 6000, 160);
  EXPECT_EQ(counts.size(), 3u);
}

TEST(Lengths, WhatMakesNoSenseIsSaid) {
  EXPECT_EQ(problem_of(fixed(-1)), "the length -1 is not in 0 to 1099511627776");
  EXPECT_EQ(problem_of(uniform(1, 0)), "a uniform length needs an upper bound");
  EXPECT_EQ(problem_of(uniform(9, 8)),
            "the bounds 9 to 8 are not ordered within 0 to 1099511627776");
  EXPECT_EQ(problem_of(lognormal(0, 1)),
            "a lognormal length needs a median above 0 and a sigma of 0 or more");
  EXPECT_EQ(problem_of(lognormal(NAN, 1)),
            "a lognormal length needs a median above 0 and a sigma of 0 or more");
  EXPECT_EQ(problem_of(pareto(1, 0)), "a Pareto length needs a scale and an alpha above 0");
  LengthDistribution mixture;
  mixture.kind = Kind::mixture;
  EXPECT_EQ(problem_of(mixture), "a mixture needs parts");
  mixture.parts = {{0, std::make_shared<const LengthDistribution>(fixed(1))}};
  EXPECT_EQ(problem_of(mixture), "the weight 0 is not in 1 to 1000000000");
  mixture.parts = {{1, std::make_shared<const LengthDistribution>(fixed(-5))}};
  EXPECT_EQ(problem_of(mixture), "the length -5 is not in 0 to 1099511627776");
  EXPECT_EQ(problem_of(lognormal(16'000, 1.2, 100, 600'000)), "");
}

TEST(Synthetic, WhatMakesNoSenseIsRefusedBeforeItRuns) {
  WorkloadConfig config = synthetic(0);
  EXPECT_EQ(error_of(config), "workload 'w': one of `requests` and `for` must end it");
  config = synthetic();
  source_of(config).arrivals.rate_per_s = 0;
  EXPECT_EQ(error_of(config), "workload 'w': the rate of arrivals must be above 0");
  config = synthetic();
  source_of(config).tenants[1].weight = 0;
  EXPECT_EQ(error_of(config), "workload 'w': tenant birch: the weight 0 is not in 1 to 1000000000");
  config = synthetic();
  source_of(config).shared_prefix_tokens = 0;
  EXPECT_EQ(error_of(config),
            "workload 'w': a shared prefix needs at least one prefix of at least one token");
  config = synthetic();
  source_of(config).output = uniform(2, 1);
  EXPECT_EQ(error_of(config),
            "workload 'w': output: the bounds 2 to 1 are not ordered within 0 to 1099511627776");
}

TEST(Synthetic, BoundsThatNoDrawMeetsEndInAnErrorNotInALoop) {
  WorkloadConfig config = synthetic();
  source_of(config).prompt = pareto(1000, 2.0, 900);
  EXPECT_EQ(error_of(config),
            "workload 'w': prompt: 10000 draws in a row fell outside 1 to 900 tokens");
}

}  // namespace
}  // namespace handoff

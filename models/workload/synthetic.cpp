#include "models/workload/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/engine/check.hpp"
#include "sim/engine/exact_math.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {
namespace {

constexpr double kExponentMax = 700.0;  // what exact_exp() takes

bool is_positive(double x) { return std::isfinite(x) && x > 0.0; }

std::int64_t upper_bound(const LengthDistribution& lengths) {
  return lengths.high == 0 ? kTokensMax : lengths.high;
}

// median x e^(sigma z); infinite where that leaves the range.
double draw_lognormal(const LengthDistribution& lengths, Rng& rng) {
  const double exponent = lengths.sigma * rng.normal();
  if (exponent < -kExponentMax) return 0.0;
  return exponent > kExponentMax ? HUGE_VAL : lengths.median * exact_exp(exponent);
}

// scale x u^(-1 / alpha), by inversion.
double draw_pareto(const LengthDistribution& lengths, Rng& rng) {
  const double exponent = -exact_log(rng.unit()) / lengths.alpha;
  return exponent > kExponentMax ? HUGE_VAL : lengths.scale * exact_exp(exponent);
}

std::int64_t draw_bounded(const LengthDistribution& lengths, Rng& rng) {
  const bool lognormal = lengths.kind == LengthDistribution::Kind::lognormal;
  const auto low = static_cast<double>(lengths.low);
  const auto high = static_cast<double>(upper_bound(lengths));
  for (int i = 0; i < kRedrawsMax; ++i) {
    const double drawn = lognormal ? draw_lognormal(lengths, rng) : draw_pareto(lengths, rng);
    const double whole = std::floor(drawn + 0.5);
    if (whole >= low && whole <= high) return static_cast<std::int64_t>(whole);
  }
  throw TraceError(fmt::format("{} draws in a row fell outside {} to {} tokens", kRedrawsMax,
                               lengths.low, upper_bound(lengths)));
}

const LengthDistribution& draw_part(const LengthDistribution& lengths, Rng& rng) {
  std::int64_t total = 0;
  for (const LengthDistribution::Part& part : lengths.parts) total += part.weight;
  std::int64_t left = rng.between(0, total - 1);
  for (const LengthDistribution::Part& part : lengths.parts) {
    left -= part.weight;
    if (left < 0) return *part.of;
  }
  HANDOFF_CHECK(false, "a draw beyond the sum of the weights");
}

// Weights are small numbers that people write; the bound keeps their sums far from overflow.
constexpr std::int64_t kWeightMax = 1'000'000'000;
bool is_weight(std::int64_t weight) { return weight > 0 && weight <= kWeightMax; }

std::string problem_of_parts(const LengthDistribution& lengths) {
  if (lengths.parts.empty()) return "a mixture needs parts";
  for (const LengthDistribution::Part& part : lengths.parts) {
    if (!is_weight(part.weight))
      return fmt::format("the weight {} is not in 1 to {}", part.weight, kWeightMax);
    if (part.of == nullptr) return "a part of a mixture has no distribution";
    if (std::string problem = problem_of(*part.of); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace

std::string problem_of(const LengthDistribution& lengths) {
  using Kind = LengthDistribution::Kind;
  if (lengths.kind == Kind::mixture) return problem_of_parts(lengths);
  if (lengths.kind == Kind::fixed)
    return lengths.value >= 0 && lengths.value <= kTokensMax
               ? ""
               : fmt::format("the length {} is not in 0 to {}", lengths.value, kTokensMax);
  if (lengths.kind == Kind::uniform && lengths.high == 0)
    return "a uniform length needs an upper bound";
  if (lengths.low < 0 || lengths.low > upper_bound(lengths) || upper_bound(lengths) > kTokensMax)
    return fmt::format("the bounds {} to {} are not ordered within 0 to {}", lengths.low,
                       upper_bound(lengths), kTokensMax);
  if (lengths.kind == Kind::lognormal &&
      !(is_positive(lengths.median) && std::isfinite(lengths.sigma) && lengths.sigma >= 0.0))
    return "a lognormal length needs a median above 0 and a sigma of 0 or more";
  if (lengths.kind == Kind::pareto && !(is_positive(lengths.scale) && is_positive(lengths.alpha)))
    return "a Pareto length needs a scale and an alpha above 0";
  return {};
}

std::int64_t draw_length(const LengthDistribution& lengths, Rng& rng) {
  switch (lengths.kind) {
    case LengthDistribution::Kind::fixed:
      return lengths.value;
    case LengthDistribution::Kind::uniform:
      return rng.between(lengths.low, lengths.high);
    case LengthDistribution::Kind::lognormal:
    case LengthDistribution::Kind::pareto:
      return draw_bounded(lengths, rng);
    case LengthDistribution::Kind::mixture:
      return draw_length(draw_part(lengths, rng), rng);
  }
  HANDOFF_CHECK(false, "unknown kind of distribution");
}

std::size_t draw_share(const std::vector<TenantShare>& shares, Rng& rng) {
  std::int64_t total = 0;
  for (const TenantShare& share : shares) total += share.weight;
  std::int64_t left = rng.between(0, total - 1);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    left -= shares[i].weight;
    if (left < 0) return i;
  }
  HANDOFF_CHECK(false, "a draw beyond the sum of the weights");
}

SyntheticSource::SyntheticSource(const WorkloadConfig& config, std::uint32_t workload,
                                 TenantNames& tenants)
    : name_(config.name), config_(std::get<SyntheticConfig>(config.source)), workload_(workload) {
  check();
  if (config_.tenants.empty()) config_.tenants.push_back({config.name, 1});
  for (const TenantShare& share : config_.tenants)
    tenant_names_.push_back(tenants.index(share.name));
}

void SyntheticSource::check() const {
  if (!is_positive(config_.arrivals.rate_per_s)) fail("the rate of arrivals must be above 0");
  if (config_.arrivals.kind == ArrivalProcess::Kind::gamma && !is_positive(config_.arrivals.cv))
    fail("the coefficient of variation of the gaps must be above 0");
  if (const std::string problem = problem_of(config_.prompt); !problem.empty())
    fail("prompt: " + problem);
  if (const std::string problem = problem_of(config_.output); !problem.empty())
    fail("output: " + problem);
  if (config_.requests_max < 0) fail("the number of requests is negative");
  if (config_.requests_max == 0 && config_.for_ns == kNever)
    fail("one of `requests` and `for` must end it");
  if (config_.from_ns < 0 || config_.for_ns < 0) fail("a negative time");
  for (const TenantShare& share : config_.tenants)
    if (!is_weight(share.weight))
      fail(fmt::format("tenant {}: the weight {} is not in 1 to {}", share.name, share.weight,
                       kWeightMax));
  if (config_.shared_prefix_permille < 0 || config_.shared_prefix_permille > 1000)
    fail("the chance of a shared prefix is not in 0 to 1000 permille");
  if (config_.shared_prefix_permille > 0 &&
      (config_.shared_prefixes < 1 || config_.shared_prefix_tokens < 1))
    fail("a shared prefix needs at least one prefix of at least one token");
}

void SyntheticSource::fail(const std::string& what) const {
  throw TraceError(fmt::format("workload '{}': {}", name_, what));
}

TimeNs SyntheticSource::arrival(std::uint64_t row, TimeNs last_ns, Rng& rng) const {
  const double mean_ns = static_cast<double>(kSecond) / config_.arrivals.rate_per_s;
  double gap_ns = 0.0;
  TimeNs start_ns = last_ns;
  switch (config_.arrivals.kind) {
    case ArrivalProcess::Kind::fixed:
      // From the start, not from the last one: rounding must not add up.
      gap_ns = mean_ns * static_cast<double>(row);
      start_ns = config_.from_ns;
      break;
    case ArrivalProcess::Kind::poisson:
      gap_ns = rng.exponential(mean_ns);
      break;
    case ArrivalProcess::Kind::gamma: {
      // Mean = shape x scale, variation = 1 / sqrt(shape).
      const double variance = config_.arrivals.cv * config_.arrivals.cv;
      gap_ns = rng.gamma(1.0 / variance, mean_ns * variance);
      break;
    }
  }
  constexpr double kTooFar = 0x1p62;
  if (!(gap_ns < kTooFar)) return kNever;
  const auto gap = static_cast<TimeNs>(std::floor(gap_ns + 0.5));
  return gap > kNever - 1 - start_ns ? kNever : start_ns + gap;
}

std::size_t SyntheticSource::draw_tenant(Rng& rng) const {
  return draw_share(config_.tenants, rng);
}

void SyntheticSource::add_prefix(RequestSpec& spec, std::size_t tenant, Rng& rng) const {
  if (config_.shared_prefix_permille == 0) return;
  // Both are drawn for each request: a higher chance must not change which prefix the others have.
  const bool shared = rng.chance(static_cast<std::uint64_t>(config_.shared_prefix_permille), 1000);
  const std::uint64_t prefix = rng.below(static_cast<std::uint64_t>(config_.shared_prefixes));
  if (!shared) return;
  Digest label;
  label.add("shared-prefix");
  label.add(workload_);
  label.add(tenant);
  label.add(prefix);
  spec.blocks = {label.value()};
  spec.block_tokens = config_.shared_prefix_tokens;
}

std::int64_t SyntheticSource::draw(const char* what, const LengthDistribution& lengths,
                                   Rng& rng) const {
  try {
    return draw_length(lengths, rng);
  } catch (const TraceError& error) {
    fail(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace handoff

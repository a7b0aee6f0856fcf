// The generator behind a synthetic workload: what does not change while it runs, and how a value is
// drawn. The streams of random numbers belong to the cursor (WorkloadStream), so that a copy goes
// on by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {

// Draws whose result the bounds reject, in a row, before the distribution is called impossible.
inline constexpr int kRedrawsMax = 10'000;

// What is wrong with a distribution, for people; empty: nothing.
std::string problem_of(const LengthDistribution& lengths);
// One length in [low, high]. Requires problem_of() to be empty. Throws TraceError when kRedrawsMax
// draws in a row fall outside.
std::int64_t draw_length(const LengthDistribution& lengths, Rng& rng);

// Index of a share, drawn by weight. Requires at least one share and positive weights.
std::size_t draw_share(const std::vector<TenantShare>& shares, Rng& rng);

class SyntheticSource {
 public:
  // Throws TraceError when the description makes no sense or does not end.
  SyntheticSource(const WorkloadConfig& config, std::uint32_t workload, TenantNames& tenants);

  // Time of arrival number `row`, the one before it at `last_ns`; kNever when it is out of range.
  TimeNs arrival(std::uint64_t row, TimeNs last_ns, Rng& rng) const;
  // Requires an index from draw_tenant().
  [[nodiscard]] std::uint32_t tenant_name(std::size_t tenant) const {
    return tenant_names_[tenant];
  }
  std::size_t draw_tenant(Rng& rng) const;
  // Sets blocks and block_tokens when the prompt starts with a shared prefix.
  void add_prefix(RequestSpec& spec, std::size_t tenant, Rng& rng) const;
  [[nodiscard]] std::int64_t draw_prompt(Rng& rng) const {
    return draw("prompt", config_.prompt, rng);
  }
  [[nodiscard]] std::int64_t draw_output(Rng& rng) const {
    return draw("output", config_.output, rng);
  }
  [[nodiscard]] const SyntheticConfig& config() const { return config_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void check() const;
  std::int64_t draw(const char* what, const LengthDistribution& lengths, Rng& rng) const;

  std::string name_;
  SyntheticConfig config_;
  std::uint32_t workload_;
  std::vector<std::uint32_t> tenant_names_;
};

}  // namespace handoff

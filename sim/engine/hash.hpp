// 64-bit mixing and chained digests over explicit words (never over struct bytes: padding).
#pragma once

#include <cstdint>
#include <string_view>

namespace handoff {

// Finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t word) {
  return mix64(seed ^ mix64(word));
}

// A running digest: order matters, each word counts.
class Digest {
 public:
  constexpr void add(std::uint64_t word) { state_ = hash_combine(state_, word); }
  constexpr void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }
  friend constexpr bool operator==(const Digest&, const Digest&) = default;

 private:
  std::uint64_t state_ = 0x48414E444F46463FULL;
};

constexpr std::uint64_t hash_text(std::string_view text) {
  Digest d;
  d.add(text);
  return d.value();
}

}  // namespace handoff

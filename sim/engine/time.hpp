// Simulated time: signed 64-bit nanoseconds since the start of the run (292 years of range).
// Integer throughout, so that a result never depends on rounding modes or on the compiler.
#pragma once

#include <cstdint>
#include <limits>

namespace handoff {

using TimeNs = std::int64_t;

inline constexpr TimeNs kMicrosecond = 1'000;
inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;
inline constexpr TimeNs kMinute = 60 * kSecond;
inline constexpr TimeNs kHour = 60 * kMinute;
inline constexpr TimeNs kDay = 24 * kHour;
inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

__extension__ typedef __int128 Int128;

// a * b / c without overflow of the product, rounded towards zero. Requires c > 0.
constexpr std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<Int128>(a) * b / c);
}

// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t div_ceil(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace handoff

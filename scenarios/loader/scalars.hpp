// Scalars of scenario files: decimal numbers and numbers with units, read exactly or not at all,
// and written so that they read back to the same value. Pure functions of text; errors are
// sentences without a place.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "sim/engine/time.hpp"

namespace handoff::loader {

template <class T>
struct Parsed {
  std::optional<T> value;
  std::string error;  // set when value is not: "expected ..., found ..."
};

// Sums of three such times still fit TimeNs.
inline constexpr TimeNs kTimeMax = 36'500 * kDay;

// "1_048_576", "-3". Underscores stand between digits. No leading zeros, hexadecimal, exponents.
Parsed<std::int64_t> parse_integer(std::string_view text);
Parsed<std::uint64_t> parse_unsigned(std::string_view text);
// "0.5", "24_000": no exponent, so neither NaN nor infinity.
Parsed<double> parse_number(std::string_view text);
// "1.5" as 1500 for scale 1000. An error when the scale cannot hold it exactly.
Parsed<std::int64_t> parse_scaled(std::string_view text, std::int64_t scale);
// "2.5%" as 25 for scale 1000, 250 for 10,000.
Parsed<std::int64_t> parse_share(std::string_view text, std::int64_t scale);
// "30s", "1.5ms", "12d 3h", "1h30m": d h m s ms us ns, each at most once, largest first; whole
// nanoseconds.
Parsed<TimeNs> parse_duration(std::string_view text);
// "2026-09-08T14:00:00Z", with up to nine decimals, 1970 to 2199, as ns since 1970.
Parsed<std::int64_t> parse_calendar(std::string_view text);
// True when the text starts like a date, so that an error can speak of dates.
bool looks_like_calendar(std::string_view text);
// "64KiB", "141GB", "512B".
Parsed<std::int64_t> parse_bytes(std::string_view text);
// "400Gb/s" and "400Gbit/s" are bits, "50GB/s" and "47GiB/s" bytes. In bytes per second.
Parsed<std::int64_t> parse_byte_rate(std::string_view text);
// "2/s", "90/min", "40/h", "1000/d". Per second.
Parsed<double> parse_event_rate(std::string_view text);

std::string format_number(double value);
std::string format_scaled(std::int64_t value, std::int64_t scale);
std::string format_share(std::int64_t value, std::int64_t scale);
std::string format_duration(TimeNs value);
std::string format_bytes(std::int64_t value);
std::string format_byte_rate(std::int64_t value);

}  // namespace handoff::loader

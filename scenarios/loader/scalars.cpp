#include "scenarios/loader/scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "scenarios/scenario.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace loader {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class T>
Parsed<T> failed(const char* expected, std::string_view text, std::string_view remark = {}) {
  return {std::nullopt, fmt::format("expected {}, found '{}'{}{}", expected, text,
                                    remark.empty() ? "" : ": ", remark)};
}

// A decimal number: digits / 10^decimals. At most 18 digits, so that a product with any unit fits
// Int128.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

constexpr int kDigitsMax = 18;

// Takes a decimal off the front of `text`. On failure `text` is left and `error` says why.
std::optional<Decimal> take_decimal(std::string_view& text, std::string& error) {
  Decimal d;
  std::string_view rest = text;
  int count = 0;
  bool point = false;
  char before = 0;
  for (; !rest.empty(); before = rest[0], rest.remove_prefix(1)) {
    const char c = rest[0];
    if (is_digit(c)) {
      if (++count > kDigitsMax) return error = "too many digits", std::nullopt;
      d.digits = d.digits * 10 + (c - '0');
      if (point) ++d.decimals;
    } else if (c == '_') {
      if (!is_digit(before) || rest.size() < 2 || !is_digit(rest[1]))
        return error = "'_' stands between digits", std::nullopt;
    } else if (c == '.' && !point) {
      if (!is_digit(before) || rest.size() < 2 || !is_digit(rest[1]))
        return error = "a decimal point stands between digits", std::nullopt;
      point = true;
    } else {
      break;
    }
  }
  if (count == 0)
    return error = !text.empty() && text[0] == '-' ? "negative" : "not a number", std::nullopt;
  if (text.size() > 1 && text[0] == '0' && (is_digit(text[1]) || text[1] == '_'))
    return error = "a leading zero (octal is not read)", std::nullopt;
  if (text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
    return error = "not decimal", std::nullopt;
  text = rest;
  return d;
}

constexpr std::int64_t power_of_ten(int exponent) {
  std::int64_t p = 1;
  for (int i = 0; i < exponent; ++i) p *= 10;
  return p;
}

// d * factor / divisor as a whole number, exactly.
std::optional<std::int64_t> exact(const Decimal& d, std::int64_t factor, std::int64_t divisor,
                                  std::string& error) {
  const Int128 product = static_cast<Int128>(d.digits) * factor;
  const Int128 by = static_cast<Int128>(power_of_ten(d.decimals)) * divisor;
  if (product % by != 0) return error = "finer than can be held", std::nullopt;
  const Int128 value = product / by;
  if (value > std::numeric_limits<std::int64_t>::max()) return error = "too large", std::nullopt;
  return static_cast<std::int64_t>(value);
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
  std::int64_t divisor = 1;
};

constexpr std::array kDurationUnits{
    Unit{"d", kDay},          Unit{"h", kHour},         Unit{"m", kMinute}, Unit{"s", kSecond},
    Unit{"ms", kMillisecond}, Unit{"us", kMicrosecond}, Unit{"ns", 1}};
constexpr std::array kByteUnits{Unit{"TiB", std::int64_t{1} << 40},
                                Unit{"GiB", std::int64_t{1} << 30},
                                Unit{"MiB", std::int64_t{1} << 20},
                                Unit{"KiB", std::int64_t{1} << 10},
                                Unit{"TB", 1'000'000'000'000},
                                Unit{"GB", 1'000'000'000},
                                Unit{"MB", 1'000'000},
                                Unit{"KB", 1'000},
                                Unit{"kB", 1'000},
                                Unit{"B", 1}};
constexpr std::array kBitUnits{Unit{"Tb", 1'000'000'000'000, 8},   Unit{"Gb", 1'000'000'000, 8},
                               Unit{"Mb", 1'000'000, 8},           Unit{"kb", 1'000, 8},
                               Unit{"Tbit", 1'000'000'000'000, 8}, Unit{"Gbit", 1'000'000'000, 8},
                               Unit{"Mbit", 1'000'000, 8},         Unit{"kbit", 1'000, 8}};

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

std::string_view trimmed_front(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::string_view take_letters(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() &&
         ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z')))
    ++n;
  const std::string_view word = text.substr(0, n);
  text.remove_prefix(n);
  return word;
}

// "<decimal><unit><tail>", the unit from either list.
template <std::size_t N, std::size_t M>
Parsed<std::int64_t> parse_with_unit(std::string_view text, const std::array<Unit, N>& units,
                                     const std::array<Unit, M>& more, std::string_view tail,
                                     const char* expected) {
  std::string error;
  std::string_view rest = text;
  const auto number = take_decimal(rest, error);
  if (!number) return failed<std::int64_t>(expected, text, error);
  rest = trimmed_front(rest);
  const std::string_view name = take_letters(rest);
  const Unit* unit = find_unit(units, name);
  if (unit == nullptr) unit = find_unit(more, name);
  if (name.empty() && rest.empty()) return failed<std::int64_t>(expected, text, "no unit");
  if (unit == nullptr || rest != tail) return failed<std::int64_t>(expected, text, "unknown unit");
  const auto value = exact(*number, unit->factor, unit->divisor, error);
  if (!value) return failed<std::int64_t>(expected, text, error);
  return {value, {}};
}

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back. After H. Hinnant,
// "chrono-Compatible Low-Level Date Algorithms" (days_from_civil, civil_from_days), for years from
// 1970.
constexpr std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct Date {
  std::int64_t year, month, day;
};

constexpr Date civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = days / 146'097;
  const std::int64_t of_era = days - era * 146'097;
  const std::int64_t year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::int64_t shifted = (5 * of_year + 2) / 153;
  const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, of_year - (153 * shifted + 2) / 5 + 1};
}

// Exactly `width` digits off the front, then `after` when it is not 0.
std::optional<std::int64_t> take_field(std::string_view& text, std::size_t width, char after) {
  if (text.size() < width + (after != 0 ? 1 : 0)) return std::nullopt;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  if (after != 0 && text[width] != after) return std::nullopt;
  text.remove_prefix(width + (after != 0 ? 1 : 0));
  return value;
}

template <class T>
Parsed<T> parse_whole(std::string_view text, const char* expected) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative) digits.remove_prefix(1);
  std::string plain;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_' && i > 0 && i + 1 < digits.size() && is_digit(digits[i - 1]) &&
        is_digit(digits[i + 1]))
      continue;
    if (!is_digit(digits[i])) return failed<T>(expected, text);
    plain += digits[i];
  }
  if (plain.empty()) return failed<T>(expected, text);
  if (plain.size() > 1 && plain[0] == '0')
    return failed<T>(expected, text, "a leading zero (octal is not read)");
  if (negative && std::is_unsigned_v<T>) return failed<T>(expected, text, "negative");
  if (negative) plain.insert(0, "-");
  T value{};
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (result.ec != std::errc{}) return failed<T>(expected, text, "too large");
  return {value, {}};
}

}  // namespace

Parsed<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text, "a whole number");
}

Parsed<std::uint64_t> parse_unsigned(std::string_view text) {
  return parse_whole<std::uint64_t>(text, "a whole number from 0");
}

Parsed<double> parse_number(std::string_view text) {
  constexpr const char* kExpected = "a decimal number";
  constexpr std::size_t kLengthMax = 64;
  std::string plain;
  bool point = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool between =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (c == '_' && between && !point) continue;
    if (c == '.' && between && !point)
      point = true;
    else if (!is_digit(c))
      return failed<double>(kExpected, text, c == '-' && i == 0 ? "negative" : "");
    plain += c;
  }
  if (plain.empty() || plain.size() > kLengthMax) return failed<double>(kExpected, text);
  if (plain.size() > 1 && plain[0] == '0' && plain[1] != '.')
    return failed<double>(kExpected, text, "a leading zero (octal is not read)");
  double value = 0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (result.ec != std::errc{}) return failed<double>(kExpected, text, "out of range");
  return {value, {}};
}

Parsed<std::int64_t> parse_scaled(std::string_view text, std::int64_t scale) {
  constexpr const char* kExpected = "a decimal number";
  std::string error;
  std::string_view rest = text;
  const auto number = take_decimal(rest, error);
  if (!number) return failed<std::int64_t>(kExpected, text, error);
  if (!rest.empty()) return failed<std::int64_t>(kExpected, text);
  const auto value = exact(*number, scale, 1, error);
  if (!value) return failed<std::int64_t>(kExpected, text, error);
  return {value, {}};
}

Parsed<std::int64_t> parse_share(std::string_view text, std::int64_t scale) {
  constexpr const char* kExpected = "a percentage such as 25%";
  HANDOFF_CHECK(scale % 100 == 0, "shares are read as percentages");
  std::string error;
  std::string_view rest = text;
  const auto number = take_decimal(rest, error);
  if (!number) return failed<std::int64_t>(kExpected, text, error);
  rest = trimmed_front(rest);
  if (rest != "%")
    return failed<std::int64_t>(kExpected, text, rest.empty() ? "no unit" : "unknown unit");
  const auto value = exact(*number, scale / 100, 1, error);
  if (!value)
    return failed<std::int64_t>(kExpected, text,
                                fmt::format("{}, the step is {}", error, format_share(1, scale)));
  return {value, {}};
}

Parsed<TimeNs> parse_duration(std::string_view text) {
  constexpr const char* kExpected = "a duration such as 30s";
  std::string error;
  TimeNs total = 0;
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  std::string_view rest = text;
  do {
    const auto number = take_decimal(rest, error);
    if (!number) return failed<TimeNs>(kExpected, text, error);
    rest = trimmed_front(rest);
    const std::string_view name = take_letters(rest);
    const Unit* unit = find_unit(kDurationUnits, name);
    if (name.empty() && rest.empty())
      return failed<TimeNs>(kExpected, text, "no unit (d h m s ms us ns)");
    if (unit == nullptr) return failed<TimeNs>(kExpected, text, "unknown unit (d h m s ms us ns)");
    if (unit->factor >= before)
      return failed<TimeNs>(kExpected, text, "units go from large to small");
    before = unit->factor;
    const auto value = exact(*number, unit->factor, 1, error);
    if (!value) return failed<TimeNs>(kExpected, text, error);
    if (*value > kTimeMax - total)
      return failed<TimeNs>(kExpected, text, "longer than 36,500 days");
    total += *value;
    rest = trimmed_front(rest);
  } while (!rest.empty());
  return {total, {}};
}

bool looks_like_calendar(std::string_view text) {
  return text.size() >= 5 && text[4] == '-' &&
         std::all_of(text.begin(), text.begin() + 4, is_digit);
}

Parsed<std::int64_t> parse_calendar(std::string_view text) {
  constexpr const char* kExpected = "a UTC time such as 2026-09-08T14:00:00Z";
  std::string_view rest = text;
  const auto year = take_field(rest, 4, '-'), month = take_field(rest, 2, '-'),
             day = take_field(rest, 2, 'T');
  const auto hour = take_field(rest, 2, ':'), minute = take_field(rest, 2, ':'),
             second = take_field(rest, 2, 0);
  if (!year || !month || !day || !hour || !minute || !second)
    return failed<std::int64_t>(kExpected, text);
  std::int64_t fraction = 0;
  if (!rest.empty() && rest[0] == '.') {
    std::int64_t unit = kSecond;
    for (rest.remove_prefix(1); !rest.empty() && is_digit(rest[0]) && unit > 1;
         rest.remove_prefix(1)) {
      unit /= 10;
      fraction += (rest[0] - '0') * unit;
    }
    if (unit == kSecond) return failed<std::int64_t>(kExpected, text);
  }
  if (rest != "Z") return failed<std::int64_t>(kExpected, text);
  const bool in_range = *year >= 1970 && *year < 2200 && *month >= 1 && *month <= 12 &&
                        *hour < 24 && *minute < 60 && *second < 60;
  const std::int64_t days = in_range ? days_from_civil(*year, *month, *day) : 0;
  // A day that does not exist comes back as another.
  if (!in_range || civil_from_days(days).day != *day || civil_from_days(days).month != *month)
    return failed<std::int64_t>(kExpected, text, "no such time between 1970 and 2199");
  return {days * kDay + *hour * kHour + *minute * kMinute + *second * kSecond + fraction, {}};
}

Parsed<std::int64_t> parse_bytes(std::string_view text) {
  return parse_with_unit(text, kByteUnits, std::array<Unit, 0>{}, "", "a size such as 64KiB");
}

Parsed<std::int64_t> parse_byte_rate(std::string_view text) {
  return parse_with_unit(text, kByteUnits, kBitUnits, "/s", "a rate such as 400Gb/s");
}

Parsed<double> parse_event_rate(std::string_view text) {
  constexpr const char* kExpected = "a rate such as 2/s";
  const std::size_t slash = text.find('/');
  const Parsed<double> number = parse_number(text.substr(0, slash));
  if (!number.value) return failed<double>(kExpected, text);
  if (slash == std::string_view::npos)
    return failed<double>(kExpected, text, "no unit (/s /min /h /d)");
  const std::string_view unit = text.substr(slash + 1);
  double seconds = 0;
  if (unit == "s")
    seconds = 1;
  else if (unit == "min")
    seconds = 60;
  else if (unit == "h")
    seconds = 3'600;
  else if (unit == "d")
    seconds = 86'400;
  else
    return failed<double>(kExpected, text, "unknown unit (/s /min /h /d)");
  return {*number.value / seconds, {}};
}

std::string format_number(double value) {
  std::array<char, 512> text{};  // the longest double takes 310 + 17 characters without an exponent
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  HANDOFF_CHECK(end.ec == std::errc{}, "a number too long to write");
  return {text.data(), end.ptr};
}

std::string format_scaled(std::int64_t value, std::int64_t scale) {
  std::string text = std::to_string(value / scale);
  if (value % scale == 0) return text;
  std::string fraction;
  for (std::int64_t rest = value % scale; rest != 0; rest = rest * 10 % scale)
    fraction += static_cast<char>('0' + rest * 10 / scale);
  return text + "." + fraction;
}

std::string format_share(std::int64_t value, std::int64_t scale) {
  return format_scaled(value, scale / 100) + "%";
}

std::string format_duration(TimeNs value) {
  if (value == 0) return "0s";
  std::string text;
  for (const Unit& unit : kDurationUnits) {
    if (value < unit.factor) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", value / unit.factor, unit.name);
    value %= unit.factor;
  }
  return text;
}

// The shortest of the exact ways to write it: 4800GB, not 4687500000KiB.
std::string format_bytes(std::int64_t value) {
  std::string best = fmt::format("{}B", value);
  for (const Unit& unit : kByteUnits) {
    if (value == 0 || value % unit.factor != 0) continue;
    std::string text = fmt::format("{}{}", value / unit.factor, unit.name);
    if (text.size() < best.size()) best = std::move(text);
  }
  return best;
}

std::string format_byte_rate(std::int64_t value) { return format_bytes(value) + "/s"; }

}  // namespace loader

std::string calendar_text(std::int64_t unix_ns) {
  HANDOFF_CHECK(unix_ns >= 0, "calendar times start in 1970");
  const loader::Date date = loader::civil_from_days(unix_ns / kDay);
  const std::int64_t of_day = unix_ns % kDay;
  std::string fraction;
  for (std::int64_t rest = of_day % kSecond; rest != 0; rest = rest * 10 % kSecond)
    fraction += static_cast<char>('0' + rest * 10 / kSecond);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}Z", date.year, date.month, date.day,
                     of_day / kHour, of_day / kMinute % 60, of_day / kSecond % 60,
                     fraction.empty() ? "" : ".", fraction);
}

}  // namespace handoff

#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "scenarios/scenario.hpp"

namespace handoff {
namespace {

// value / unit with three significant digits, from integers alone.
std::string three_digits(std::int64_t value, std::int64_t unit) {
  for (int decimals = 2; decimals >= 0; --decimals) {
    const std::int64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    const auto scaled =
        static_cast<std::int64_t>((static_cast<Int128>(value) * scale + unit / 2) / unit);
    if (scaled >= 1000 && decimals > 0) continue;
    if (decimals == 0) return grouped(scaled);
    return fmt::format("{}.{:0{}}", scaled / scale, scaled % scale, decimals);
  }
  return {};
}

struct Unit {
  std::int64_t size;
  const char* name;
};

std::string painted(bool colour, const char* code, std::string_view text) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string duration_text(TimeNs ns) {
  if (ns == kNever) return "never";
  if (ns == 0) return "0 s";
  if (ns < 0) return "-" + duration_text(-ns);
  if (ns >= kDay) return fmt::format("{}d {:02}h", ns / kDay, ns % kDay / kHour);
  if (ns >= kHour) return fmt::format("{}h {:02}m", ns / kHour, ns % kHour / kMinute);
  if (ns >= 10 * kMinute) return fmt::format("{}m {:02}s", ns / kMinute, ns % kMinute / kSecond);
  constexpr std::array<Unit, 4> kUnits{
      {{kSecond, "s"}, {kMillisecond, "ms"}, {kMicrosecond, "us"}, {1, "ns"}}};
  for (const Unit& unit : kUnits)
    if (ns >= unit.size) return fmt::format("{} {}", three_digits(ns, unit.size), unit.name);
  return {};
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<Unit, 5> kUnits{{{1'000'000'000'000'000, "PB"},
                                        {1'000'000'000'000, "TB"},
                                        {1'000'000'000, "GB"},
                                        {1'000'000, "MB"},
                                        {1'000, "kB"}}};
  for (const Unit& unit : kUnits)
    if (bytes >= unit.size) return fmt::format("{} {}", three_digits(bytes, unit.size), unit.name);
  return fmt::format("{} B", bytes);
}

std::string percent_text(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "-";
  const auto tenths =
      static_cast<std::int64_t>((static_cast<Int128>(part) * 1000 + whole / 2) / whole);
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string moment_text(TimeNs at, std::optional<std::int64_t> start_unix_ns) {
  if (at == kNever) return "never";
  if (!start_unix_ns) return fmt::format("{}.{:03} s", at / kSecond, at % kSecond / kMillisecond);
  const std::int64_t unix_ns = *start_unix_ns + at;
  const std::int64_t fraction = (unix_ns % kSecond + kSecond) % kSecond;
  std::string text = calendar_text(unix_ns - fraction);  // "2026-09-08T14:00:00Z"
  text.pop_back();
  text[text.find('T')] = ' ';
  return fmt::format("{}.{:03}", text, fraction / kMillisecond);
}

std::string pages_text(const Finding& finding) {
  std::vector<std::string> spans;
  std::uint64_t count = 0;
  for (const PageSpan& span : finding.pages) {
    count += span.count;
    spans.push_back(span.count == 1
                        ? std::to_string(span.first)
                        : fmt::format("{}..{}", span.first, span.first + span.count - 1));
  }
  if (spans.empty()) return {};
  return fmt::format("page{} {}{}", count == 1 ? "" : "s", fmt::join(spans, ", "),
                     spans.size() == kPageSpansMax ? " and more" : "");
}

std::string Style::bold(std::string_view text) const { return painted(colour, "1", text); }
std::string Style::good(std::string_view text) const { return painted(colour, "32", text); }
std::string Style::bad(std::string_view text) const { return painted(colour, "1;31", text); }
std::string Style::dim(std::string_view text) const { return painted(colour, "2", text); }

std::string Table::text(const Style& style, std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      if (i > 0) line += "  ";
      const std::string padding(widths[i] - rows_[r][i].size(), ' ');
      line += sides_.at(i) == 'l' ? rows_[r][i] + padding : padding + rows_[r][i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (r == 0 ? style.bold(line) : line) + "\n";
  }
  return out;
}

}  // namespace handoff

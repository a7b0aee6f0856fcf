// Azure's public traces: CSV with the columns TIMESTAMP (UTC wall clock, up to nine decimals),
// ContextTokens and GeneratedTokens, found by name; other columns are passed over
// (Azure/AzurePublicDataset, AzureLLMInferenceDataset2023.md). Times become nanoseconds since the
// first row: exact civil-date arithmetic, since common parsers take six decimals and the files have
// seven.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "models/workload/trace_rows.hpp"

namespace handoff {
namespace {

enum Column : std::size_t { kTimestamp, kContextTokens, kGeneratedTokens, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"TIMESTAMP", "ContextTokens",
                                                           "GeneratedTokens"};

struct Cell {
  std::string_view text;
  std::size_t column = 0;  // in the line, from 1
};

void split(std::string_view line, std::vector<Cell>& cells) {
  cells.clear();
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = std::min(line.find(',', begin), line.size());
    cells.push_back({line.substr(begin, comma - begin), begin + 1});
    if (comma == line.size()) return;
    begin = comma + 1;
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes exactly `digits` digits from the front of `text`.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Seconds since 1970 and nanoseconds of that second.
struct Instant {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
};

std::optional<std::int64_t> take_date(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()};
}

std::optional<std::int64_t> take_seconds_of_day(std::string_view& text) {
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59 || !take(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *second > 59) return std::nullopt;
  return (std::int64_t{*hour} * 60 + *minute) * 60 + *second;
}

// "2023-11-16 18:15:46.6805900", with 'T' for the blank and a UTC mark at the end where a writer
// puts them.
std::optional<Instant> parse_instant(std::string_view text) {
  const auto days = take_date(text);
  if (!days || !take(text, " T")) return std::nullopt;
  const auto seconds = take_seconds_of_day(text);
  if (!seconds) return std::nullopt;
  std::int64_t nanoseconds = 0;
  if (take(text, ".")) {
    constexpr std::size_t kDigitsMax = 9;
    std::size_t digits = 0;
    for (; digits < text.size() && is_digit(text[digits]); ++digits) {
      if (digits == kDigitsMax) return std::nullopt;
      nanoseconds = nanoseconds * 10 + (text[digits] - '0');
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    for (; digits < kDigitsMax; ++digits) nanoseconds *= 10;
  }
  if (!text.empty() && text != "Z" && text != "+00:00") return std::nullopt;
  return Instant{*days * 86'400 + *seconds, nanoseconds};
}

class AzureReader final : public TraceReader {
 public:
  explicit AzureReader(const std::string& path) : TraceReader(path) {
    const auto header = text_.row();
    if (!header.has_value())
      text_.fail(1, "no header, expected TIMESTAMP,ContextTokens,GeneratedTokens");
    split(*header, cells_);
    columns_ = cells_.size();
    for (std::size_t c = 0; c < kColumns; ++c) place_[c] = find_column(kNames[c]);
  }

 private:
  std::size_t find_column(std::string_view name) const {
    const auto is_it = [&](const Cell& cell) { return cell.text == name; };
    const auto found = std::find_if(cells_.begin(), cells_.end(), is_it);
    if (found == cells_.end()) fail_without_column(name);
    if (const auto again = std::find_if(found + 1, cells_.end(), is_it); again != cells_.end())
      text_.fail(again->column, fmt::format("the column {} is given twice", name));
    return static_cast<std::size_t>(found - cells_.begin());
  }

  [[noreturn]] void fail_without_column(std::string_view name) const {
    // Names of other traces' headers are short: only the look-alike part of a huge line is
    // compared.
    constexpr std::size_t kComparedBytes = 64;
    const auto distance = [&](const Cell& cell) {
      return edit_distance(name, cell.text.substr(0, kComparedBytes));
    };
    const Cell* nearest = &cells_.front();
    for (const Cell& cell : cells_)
      if (distance(cell) < distance(*nearest)) nearest = &cell;
    text_.fail(nearest->column, fmt::format("the header has no column {}; the nearest is {}", name,
                                            quoted(nearest->text)));
  }

  Parsed parse(std::string_view line) override {
    split(line, cells_);
    if (cells_.size() != columns_)
      text_.fail(cells_[std::min(cells_.size() - 1, columns_)].column,
                 fmt::format("{} fields, expected {} as in the header", cells_.size(), columns_));
    Parsed parsed;
    parsed.row.at_ns = time(cells_[place_[kTimestamp]]);
    parsed.row.prompt_tokens = tokens(kContextTokens);
    parsed.row.output_tokens = tokens(kGeneratedTokens);
    parsed.time_column = cells_[place_[kTimestamp]].column;
    return parsed;
  }

  TimeNs time(const Cell& cell) {
    const auto instant = parse_instant(cell.text);
    if (!instant.has_value())
      text_.fail(
          cell.column,
          fmt::format(
              "TIMESTAMP is {}, expected a UTC time such as 2023-11-16 18:15:46.6805900 with up to "
              "nine decimals",
              quoted(cell.text)));
    if (!start_.has_value()) start_ = *instant;
    const std::int64_t seconds = instant->seconds - start_->seconds;
    if (seconds > kTraceTimeMax / kSecond - 1 || seconds < -(kTraceTimeMax / kSecond - 1))
      text_.fail(cell.column, fmt::format("TIMESTAMP is {}, a hundred years from the first row",
                                          quoted(cell.text)));
    return seconds * kSecond + instant->nanoseconds - start_->nanoseconds;
  }

  std::int64_t tokens(Column column) const {
    const Cell& cell = cells_[place_[column]];
    const bool whole =
        !cell.text.empty() && std::all_of(cell.text.begin(), cell.text.end(), is_digit);
    if (!whole)
      text_.fail(cell.column, fmt::format("{} is {}, expected a whole number of tokens, 0 or more",
                                          kNames[column], quoted(cell.text)));
    const auto value = scaled_decimal(cell.text, 0, kTokensMax);
    if (!value.has_value())
      text_.fail(cell.column, fmt::format("{} is {}, more than {} tokens", kNames[column],
                                          quoted(cell.text), kTokensMax));
    return *value;
  }

  std::vector<Cell> cells_;
  std::array<std::size_t, kColumns> place_{};
  std::size_t columns_ = 0;
  std::optional<Instant> start_;
};

}  // namespace

std::unique_ptr<TraceReader> open_azure(const std::string& path) {
  return std::make_unique<AzureReader>(path);
}

}  // namespace handoff

// Numbers, times and tables for people. Never for files that programs read.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/oracle/finding.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

std::string grouped(std::int64_t value);  // "1,234,567"
// Three digits and a unit: "12.3 ms", "4.07 s", "13d 12h". Never for comparison.
std::string duration_text(TimeNs ns);
std::string bytes_text(std::int64_t bytes);                       // "1.23 GB", powers of ten
std::string percent_text(std::int64_t part, std::int64_t whole);  // "12.3 %"; "-" of nothing
std::string plural(std::int64_t count, std::string_view noun);    // "1 page", "2 pages"

// A moment of the run: the calendar's when the run has a start ("2026-09-08 12:04:31.221"), else
// the time since its beginning ("271.221 s").
std::string moment_text(TimeNs at, std::optional<std::int64_t> start_unix_ns);

// The pages of a finding: "pages 14..32", "page 3 and 5..7, more"; empty when it has none.
std::string pages_text(const Finding& finding);

// Terminal colours, or none.
struct Style {
  bool colour = false;
  [[nodiscard]] std::string bold(std::string_view text) const;
  [[nodiscard]] std::string good(std::string_view text) const;
  [[nodiscard]] std::string bad(std::string_view text) const;
  [[nodiscard]] std::string dim(std::string_view text) const;
};

// Columns as wide as their widest cell, two spaces apart. `sides` has a letter a column: 'l' flush
// left, 'r' flush right. No cell may hold escape sequences.
class Table {
 public:
  Table(std::string sides, std::vector<std::string> head) : sides_(std::move(sides)) {
    add(std::move(head));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.size() < 2; }
  // Each row on a line, after `indent` spaces; the head in bold.
  [[nodiscard]] std::string text(const Style& style, std::size_t indent) const;

 private:
  std::string sides_;
  std::vector<std::vector<std::string>> rows_;
};

// Text made line by line.
class Lines {
 public:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
    text_ += '\n';
  }
  void add(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace handoff

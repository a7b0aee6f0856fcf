// The lines of a trace file, plain or gzip, with bounded memory and exact places for errors. Knows
// nothing of what the lines mean.
//
// Gzip is told by its magic bytes, never by the file's name, and inflated here rather than with
// gzread(): that one takes a file that is cut off for one that ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace handoff {

// A longer line is not a trace, or not one of ours.
inline constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

class TraceText {
 public:
  // Throws TraceError: absent, unreadable, a directory, empty.
  explicit TraceText(std::string path);
  ~TraceText();
  TraceText(TraceText&&) noexcept;
  TraceText& operator=(TraceText&&) noexcept;

  // The next line that is not blank, without its LF or CRLF and without a byte order mark; valid
  // until the next call. Blank lines may only end the file. Throws TraceError on these, on NUL
  // bytes, on a line above kLineBytesMax and on damaged gzip data.
  std::optional<std::string_view> row();
  // Of the line that row() gave last, from 1.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Throws TraceError for the line that row() gave last; columns in bytes from 1.
  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    fail_at(line_number_, column, what);
  }

 private:
  class Input;

  std::optional<std::string_view> line();
  [[noreturn]] void fail_at(std::uint64_t line, std::size_t column, const std::string& what) const;

  std::string path_;
  std::unique_ptr<Input> input_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not given out yet
  bool ended_ = false;     // nothing more to read
  std::uint64_t line_number_ = 0;
};

// Bytes of a file in quotes for a message: shortened, and printable ASCII alone.
std::string quoted(std::string_view text);

// Number of edits between two texts, letters compared without case; for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

// A decimal number, as JSON writes them, times 10^digits, cut towards zero. Empty when the result
// is above `most`. Requires the JSON grammar and no sign.
std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits, std::int64_t most);

}  // namespace handoff

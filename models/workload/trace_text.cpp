#include "models/workload/trace_text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "models/workload/workload.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/time.hpp"

namespace handoff {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

// The bytes of the file, inflated where they are gzip. What is wrong with them is thrown as plain
// text, only after every sound byte before it was given.
class TraceText::Input {
 public:
  explicit Input(const std::string& path) : compressed_(kReadBytes) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw std::runtime_error("is a directory, not a trace");
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_) throw std::runtime_error("cannot open: " + std::generic_category().message(errno));
    refill();
    if (held_ == 0) throw std::runtime_error("the file is empty");
    gzip_ = held_ >= 2 && byte(0) == 0x1F && byte(1) == 0x8B;
    constexpr int kGzipWrapper = 16;
    if (gzip_)
      HANDOFF_CHECK(inflateInit2(&inflate_, MAX_WBITS + kGzipWrapper) == Z_OK,
                    "zlib is not usable");
  }
  ~Input() {
    if (gzip_) inflateEnd(&inflate_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Up to `size` bytes; 0 at the end.
  std::size_t read(char* to, std::size_t size) {
    if (gzip_) return read_gzip(to, size);
    if (used_ == held_) refill();
    const std::size_t n = std::min(size, held_ - used_);
    std::copy_n(compressed_.data() + used_, n, to);
    used_ += n;
    return n;
  }

 private:
  [[nodiscard]] unsigned char byte(std::size_t i) const {
    return static_cast<unsigned char>(compressed_[i]);
  }

  void refill() {
    errno = 0;
    file_.read(compressed_.data(), static_cast<std::streamsize>(compressed_.size()));
    if (file_.bad())
      throw std::runtime_error("cannot read: " + std::generic_category().message(errno));
    held_ = static_cast<std::size_t>(file_.gcount());
    used_ = 0;
  }

  std::size_t read_gzip(char* to, std::size_t size) {
    std::size_t made = 0;
    while (made == 0) {
      if (used_ == held_) refill();
      if (held_ == 0) {
        if (between_members_) return 0;
        throw std::runtime_error("the gzip data ends early: the file is cut off");
      }
      // A file may be several members, one behind the other, as rotated logs are.
      if (std::exchange(between_members_, false)) inflateReset(&inflate_);
      inflate_.next_in = reinterpret_cast<Bytef*>(compressed_.data() + used_);
      inflate_.avail_in = static_cast<uInt>(held_ - used_);
      inflate_.next_out = reinterpret_cast<Bytef*>(to);
      inflate_.avail_out = static_cast<uInt>(size);
      const int status = inflate(&inflate_, Z_NO_FLUSH);
      used_ = held_ - inflate_.avail_in;
      made = size - inflate_.avail_out;
      if (status == Z_STREAM_END)
        between_members_ = true;
      else if (status != Z_OK && status != Z_BUF_ERROR && made == 0)
        throw_corrupt(status);
    }
    return made;
  }

  [[noreturn]] void throw_corrupt(int status) const {
    const char* reason = inflate_.msg != nullptr ? inflate_.msg : zError(status);
    throw std::runtime_error(fmt::format("corrupt gzip data ({})", reason));
  }

  std::ifstream file_;
  std::vector<char> compressed_;  // or plain, as the file has them
  std::size_t used_ = 0;
  std::size_t held_ = 0;
  bool gzip_ = false;
  bool between_members_ = false;
  z_stream inflate_{};
};

TraceText::TraceText(std::string path) : path_(std::move(path)) {
  try {
    input_ = std::make_unique<Input>(path_);
  } catch (const std::runtime_error& error) {
    throw TraceError(path_ + ": " + error.what());
  }
}

TraceText::~TraceText() = default;
TraceText::TraceText(TraceText&&) noexcept = default;
TraceText& TraceText::operator=(TraceText&&) noexcept = default;

std::optional<std::string_view> TraceText::line() {
  std::size_t searched = begin_;
  std::size_t end = 0;
  for (;;) {
    end = buffer_.find('\n', searched);
    if (end != std::string::npos || ended_) break;
    searched = buffer_.size() - begin_;
    if (searched > kLineBytesMax) break;
    buffer_.erase(0, begin_);
    begin_ = 0;
    buffer_.resize(searched + kReadBytes);
    std::size_t got = 0;
    try {
      got = input_->read(buffer_.data() + searched, kReadBytes);
    } catch (const std::runtime_error& error) {
      buffer_.resize(searched);
      fail_at(line_number_ + 1, 1, error.what());
    }
    buffer_.resize(searched + got);
    ended_ = got == 0;
  }
  const bool last = end == std::string::npos;
  if (last) end = buffer_.size();
  if (end - begin_ > kLineBytesMax)
    fail_at(line_number_ + 1, kLineBytesMax + 1,
            fmt::format("the line is longer than {} bytes", kLineBytesMax));
  if (last && begin_ == end) return std::nullopt;
  std::string_view text(buffer_.data() + begin_, end - begin_);
  begin_ = last ? end : end + 1;
  ++line_number_;
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    fail(nul + 1, "a NUL byte: not a text file, or one that was not written to its end");
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> TraceText::row() {
  std::optional<std::string_view> text = line();
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line_number_ == 1 && text.has_value() &&
      text->substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text->remove_prefix(kByteOrderMark.size());
  if (!text.has_value() || !is_blank(*text)) return text;
  const std::uint64_t blank = line_number_;
  while (text.has_value() && is_blank(*text)) text = line();
  if (text.has_value()) fail_at(blank, 1, "a blank line before the end of the file");
  return std::nullopt;
}

void TraceText::fail_at(std::uint64_t line, std::size_t column, const std::string& what) const {
  throw TraceError(fmt::format("{}:{}:{}: {}", path_, line, column, what));
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + (text.size() > kShown ? "...'" : "'");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = std::exchange(row[j], std::min({replace, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits, std::int64_t most) {
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, exponent_at);
  const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
  std::int64_t exponent = 0;
  if (exponent_at < text.size()) {
    const std::string_view written = text.substr(exponent_at + 1);
    // Beyond the length of any line, so that only its sign matters.
    constexpr std::int64_t kExponentMax = 1'000'000'000;
    for (const char c : written)
      if (c >= '0' && c <= '9') exponent = std::min(kExponentMax, exponent * 10 + (c - '0'));
    if (written.front() == '-') exponent = -exponent;
  }
  // Digits that stand before the decimal point of the result.
  std::int64_t whole = static_cast<std::int64_t>(dot) + exponent + digits;
  Int128 value = 0;
  for (const char c : mantissa) {
    if (c == '.') continue;
    if (whole <= 0) break;
    value = value * 10 + (c - '0');
    if (value > most) return std::nullopt;
    --whole;
  }
  for (; whole > 0 && value > 0; --whole)
    if ((value *= 10) > most) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace handoff

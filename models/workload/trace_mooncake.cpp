// Mooncake's JSONL: one object a line with `timestamp` (ms since the start of the trace),
// `input_length`, `output_length` (tokens) and `hash_ids`, one per block of the prompt, the last
// block cut at its end (kvcache-ai/Mooncake, FAST25-release/traces). Other keys are passed over.
//
// A handler on the parser rather than a document: it sees where each value stands, the digits of a
// time as they are written, and block hashes above 2^53, and builds nothing that is thrown away.
#include <fmt/format.h>

#include <array>
#include <boost/json/basic_parser_impl.hpp>

#include "models/workload/trace_rows.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

namespace json = boost::json;
using JsonError = json::error_code;
using JsonText = json::string_view;

enum Field : std::size_t { kTimestamp, kInputLength, kOutputLength, kHashIds, kFields };
constexpr std::array<const char*, kFields> kNames = {"timestamp", "input_length", "output_length",
                                                     "hash_ids"};
constexpr std::array<const char*, kFields> kExpected = {
    "a number of milliseconds, 0 or more", "a whole number of tokens, 0 or more",
    "a whole number of tokens, 0 or more", "a list of block hashes, whole numbers of 64 bits"};

struct Number {
  bool integer = false;
  bool negative = false;
  std::uint64_t magnitude = 0;
  std::string_view text;
};

class RowHandler {
 public:
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);

  void start(std::string_view line) {
    line_ = line;
    row_ = TraceRow{};
    depth_ = 0;
    field_ = kFields;
    in_blocks_ = false;
    column_.fill(0);
    key_.clear();
    number_ = nullptr;
    message_.clear();
  }

  bool on_document_begin(JsonError&) { return true; }
  bool on_document_end(JsonError&) { return true; }
  bool on_object_begin(JsonError& ec) {
    if (depth_ == 1 && field_ != kFields) return mistyped("an object", ec);
    if (in_blocks_) return mistyped("an object", ec);
    ++depth_;
    return true;
  }
  bool on_object_end(std::size_t, JsonError&) {
    --depth_;
    return true;
  }
  bool on_array_begin(JsonError& ec) {
    if (depth_ == 0) return fail(1, "expected an object, found a list", ec);
    if (in_blocks_ || (depth_ == 1 && field_ != kFields && field_ != kHashIds))
      return mistyped("a list", ec);
    in_blocks_ = depth_ == 1 && field_ == kHashIds;
    ++depth_;
    return true;
  }
  bool on_array_end(std::size_t, JsonError&) {
    in_blocks_ = false;
    --depth_;
    return true;
  }
  bool on_key_part(JsonText part, std::size_t, JsonError&) {
    if (depth_ == 1) key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(JsonText part, std::size_t, JsonError& ec) {
    if (depth_ != 1) return true;
    key_.append(part.data(), part.size());
    field_ = kFields;
    for (std::size_t f = 0; f < kFields; ++f)
      if (key_ == kNames[f]) field_ = f;
    key_.clear();
    if (field_ == kFields) return true;
    const std::size_t column =
        column_of(part.data()) - std::string_view(kNames[field_]).size() + part.size();
    if (column_[field_] != 0)
      return fail(column, fmt::format("'{}' is given twice", kNames[field_]), ec);
    column_[field_] = column;
    return true;
  }
  bool on_string_part(JsonText, std::size_t, JsonError&) { return true; }
  bool on_string(JsonText, std::size_t, JsonError& ec) { return scalar("a text", ec); }
  bool on_number_part(JsonText part, JsonError&) {
    if (number_ == nullptr) number_ = part.data();
    return true;
  }
  bool on_int64(std::int64_t value, JsonText part, JsonError& ec) {
    const auto bits = static_cast<std::uint64_t>(value);
    return number({true, value < 0, value < 0 ? 0 - bits : bits, number_text(part)}, ec);
  }
  bool on_uint64(std::uint64_t value, JsonText part, JsonError& ec) {
    return number({true, false, value, number_text(part)}, ec);
  }
  bool on_double(double, JsonText part, JsonError& ec) {
    const std::string_view text = number_text(part);
    return number({false, text.front() == '-', 0, text}, ec);
  }
  bool on_bool(bool, JsonError& ec) { return scalar("true or false", ec); }
  bool on_null(JsonError& ec) { return scalar("null", ec); }
  bool on_comment_part(JsonText, JsonError&) { return true; }
  bool on_comment(JsonText, JsonError&) { return true; }

  [[nodiscard]] TraceRow& row() { return row_; }
  // Of the key, from 1; 0: the line has no such key.
  [[nodiscard]] std::size_t column(Field field) const { return column_[field]; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] std::size_t message_column() const { return message_column_; }

 private:
  [[nodiscard]] std::size_t column_of(const char* at) const {
    return static_cast<std::size_t>(at - line_.data()) + 1;
  }
  bool fail(std::size_t column, std::string what, JsonError& ec) {
    message_column_ = column;
    message_ = std::move(what);
    ec = json::error::syntax;  // any: only stops the parser
    return false;
  }
  bool mistyped(std::string_view found, JsonError& ec) {
    return fail(column_[field_],
                fmt::format("'{}' is {}{}, expected {}", kNames[field_],
                            in_blocks_ ? "a list with " : "", found, kExpected[field_]),
                ec);
  }
  bool scalar(std::string_view found, JsonError& ec) {
    if (depth_ == 0) return fail(1, fmt::format("expected an object, found {}", found), ec);
    return wanted() ? mistyped(found, ec) : true;
  }
  // Whether the value that the parser is at belongs to one of our keys.
  [[nodiscard]] bool wanted() const { return in_blocks_ || (depth_ == 1 && field_ != kFields); }

  std::string_view number_text(JsonText part) {
    const char* begin = number_ == nullptr ? part.data() : number_;
    number_ = nullptr;
    return {begin, static_cast<std::size_t>(part.data() + part.size() - begin)};
  }
  bool bad_number(const Number& n, JsonError& ec) {
    return fail(
        column_of(n.text.data()),
        fmt::format("'{}' is {}, expected {}", kNames[field_], quoted(n.text), kExpected[field_]),
        ec);
  }
  bool number(const Number& n, JsonError& ec) {
    if (depth_ == 0) return fail(1, "expected an object, found a number", ec);
    if (!wanted()) return true;
    if (n.negative) return bad_number(n, ec);
    if (field_ == kTimestamp) return timestamp(n, ec);
    if (!n.integer || (field_ == kHashIds && !in_blocks_)) return bad_number(n, ec);
    if (in_blocks_) {
      row_.blocks.push_back(n.magnitude);
      return true;
    }
    if (n.magnitude > static_cast<std::uint64_t>(kTokensMax))
      return fail(column_of(n.text.data()),
                  fmt::format("'{}' is {}, more than {} tokens", kNames[field_], quoted(n.text),
                              kTokensMax),
                  ec);
    (field_ == kInputLength ? row_.prompt_tokens : row_.output_tokens) =
        static_cast<std::int64_t>(n.magnitude);
    return true;
  }
  bool timestamp(const Number& n, JsonError& ec) {
    constexpr int kMillisecondDigits = 6;
    const auto ns = scaled_decimal(n.text, kMillisecondDigits, kTraceTimeMax);
    if (!ns.has_value())
      return fail(column_of(n.text.data()),
                  fmt::format("'timestamp' is {} ms, more than a hundred years", quoted(n.text)),
                  ec);
    row_.at_ns = *ns;
    return true;
  }

  std::string_view line_;
  TraceRow row_;
  int depth_ = 0;
  std::size_t field_ =
      kFields;  // of the top-level key that the parser is at; kFields: none of ours
  bool in_blocks_ = false;
  std::array<std::size_t, kFields> column_{};
  std::string key_;
  const char* number_ = nullptr;  // where the number that the parser is at begins
  std::string message_;
  std::size_t message_column_ = 0;
};

// What the blocks of a prompt seem to be long, for the message that they are not as long as
// expected.
std::string likely_block_tokens(std::int64_t prompt_tokens, std::int64_t blocks) {
  for (std::int64_t size = 1; size <= kTokensMax; size *= 2)
    if (div_ceil(prompt_tokens, size) == blocks)
      return fmt::format(
          "blocks of {} tokens would fit{}", size,
          size == 16 ? " (as in Qwen-Bailian traces, whose timestamps are seconds)" : "");
  return fmt::format("blocks of about {} tokens would fit", div_ceil(prompt_tokens, blocks));
}

class MooncakeReader final : public TraceReader {
 public:
  MooncakeReader(const std::string& path, std::int64_t block_tokens)
      : TraceReader(path), block_tokens_(block_tokens), parser_(options()) {
    HANDOFF_CHECK(block_tokens > 0, "a block holds at least one token");
  }

 private:
  static json::parse_options options() {
    json::parse_options options;
    options.allow_invalid_utf8 = true;  // only in keys and texts that are passed over
    return options;
  }

  Parsed parse(std::string_view line) override {
    parser_.reset();
    RowHandler& handler = parser_.handler();
    handler.start(line);
    JsonError ec;
    const std::size_t used = parser_.write_some(false, line.data(), line.size(), ec);
    if (!handler.message().empty()) text_.fail(handler.message_column(), handler.message());
    if (ec)
      text_.fail(std::min(used + 1, line.size() + 1), fmt::format("not JSON: {}", ec.message()));
    if (const std::size_t rest = line.find_first_not_of(" \t\r", used);
        rest != std::string_view::npos)
      text_.fail(rest + 1, fmt::format("expected one object a line, found {} behind it",
                                       quoted(line.substr(rest))));
    for (std::size_t f = 0; f < kFields; ++f)
      if (handler.column(static_cast<Field>(f)) == 0)
        text_.fail(1, fmt::format("'{}' is missing, expected {}", kNames[f], kExpected[f]));
    check_blocks(handler);
    return {std::move(handler.row()), handler.column(kTimestamp)};
  }

  // The one guard against a trace of another dialect: read with the wrong block size it would
  // replay, and all its hit rates would be wrong.
  void check_blocks(RowHandler& handler) const {
    const std::int64_t prompt = handler.row().prompt_tokens;
    const auto blocks = static_cast<std::int64_t>(handler.row().blocks.size());
    const std::int64_t expected = div_ceil(prompt, block_tokens_);
    if (blocks == expected) return;
    std::string what =
        fmt::format("'hash_ids' has {} blocks, expected {} for {} tokens in blocks of {}", blocks,
                    expected, prompt, block_tokens_);
    if (blocks > 0 && prompt > 0) what += "; " + likely_block_tokens(prompt, blocks);
    text_.fail(handler.column(kHashIds), what);
  }

  std::int64_t block_tokens_;
  json::basic_parser<RowHandler> parser_;
};

}  // namespace

std::unique_ptr<TraceReader> open_mooncake(const std::string& path, std::int64_t block_tokens) {
  return std::make_unique<MooncakeReader>(path, block_tokens);
}

}  // namespace handoff

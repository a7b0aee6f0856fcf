#include "scenarios/loader/kinds.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace handoff::loader {
namespace {

constexpr const char* kIntegerPattern = "[0-9]+(_[0-9]+)*";

// Expands to the word's value when the node holds it.
std::optional<std::int64_t> word_value(const Node& node, const Word& word) {
  if (word.text == nullptr || node.kind != Node::Kind::scalar || node.text != word.text)
    return std::nullopt;
  return word.value;
}

std::string or_word(const Word& word) {
  return word.text == nullptr ? std::string() : fmt::format(" (or '{}')", word.text);
}

}  // namespace

const std::string* any_text(ReadContext& context, const Node& node, const char* what) {
  if (node.kind == Node::Kind::scalar) return &node.text;
  context.error(node, fmt::format("expected {}, found {}", what, node.kind_name()));
  return nullptr;
}

const std::string* bare_text(ReadContext& context, const Node& node, const char* what) {
  const std::string* text = any_text(context, node, what);
  if (text == nullptr || !node.quoted) return text;
  context.error(
      node, fmt::format("expected {}, found the quoted text '{}'; remove the quotes", what, *text));
  return nullptr;
}

bool is_mapping(ReadContext& context, const Node& node) {
  if (node.kind == Node::Kind::mapping) return true;
  context.error(
      node, fmt::format("expected a mapping, found {}{}", node.kind_name(),
                        node.kind == Node::Kind::scalar ? fmt::format(" '{}'", node.text) : ""));
  return false;
}

bool is_sequence(ReadContext& context, const Node& node) {
  if (node.kind == Node::Kind::sequence) return true;
  context.error(
      node, fmt::format("expected a list, found {}{}", node.kind_name(),
                        node.kind == Node::Kind::scalar ? fmt::format(" '{}'", node.text) : ""));
  return false;
}

bool length_fits(ReadContext& context, const Node& node, std::size_t low) {
  if (node.items.size() >= low) return true;
  context.error(node, fmt::format("expected at least {} item{}", low, low == 1 ? "" : "s"));
  return false;
}

std::string format_integer(std::int64_t value) { return std::to_string(value); }

std::optional<std::int64_t> in_range(ReadContext& context, const Node& node,
                                     const Parsed<std::int64_t>& parsed, Range range,
                                     std::string (*format)(std::int64_t)) {
  if (!parsed.value) {
    context.error(node, parsed.error);
    return std::nullopt;
  }
  if (*parsed.value >= range.low && *parsed.value <= range.high) return parsed.value;
  const bool open = range.high == std::numeric_limits<std::int64_t>::max();
  context.error(node,
                open ? fmt::format("expected at least {}, found '{}'", format(range.low), node.text)
                     : fmt::format("expected {} to {}, found '{}'", format(range.low),
                                   format(range.high), node.text));
  return std::nullopt;
}

NodePtr type_schema(const char* type) { return mapping({entry("type", quoted(type))}); }

NodePtr pattern_schema(const std::string& pattern, const Word& word) {
  const std::string words = word.text == nullptr ? "" : fmt::format("|{}", word.text);
  return mapping({entry("type", quoted("string")),
                  entry("pattern", quoted(fmt::format("^({}{})$", pattern, words)))});
}

std::optional<std::int64_t> Integer::read_value(ReadContext& context, const Node& node,
                                                std::uint64_t type_max) const {
  if (const auto value = word_value(node, word)) return value;
  const std::string* text = bare_text(context, node, "a whole number");
  if (text == nullptr) return std::nullopt;
  Parsed<std::int64_t> parsed = parse_integer(*text);
  if (!parsed.value) parsed.error += or_word(word);
  const std::int64_t top =
      type_max < static_cast<std::uint64_t>(high) ? static_cast<std::int64_t>(type_max) : high;
  return in_range(context, node, parsed, {low, top}, format_integer);
}

NodePtr Integer::schema_of() const {
  std::vector<Entry> out{entry("type", sequence({quoted("integer"), quoted("string")}))};
  out.push_back(entry(
      "pattern", quoted(fmt::format("^({}{})$", kIntegerPattern,
                                    word.text == nullptr ? "" : fmt::format("|{}", word.text)))));
  out.push_back(entry("minimum", plain(std::to_string(low))));
  if (high != std::numeric_limits<std::int64_t>::max())
    out.push_back(entry("maximum", plain(std::to_string(high))));
  return mapping(std::move(out));
}

void Unsigned64::read(ReadContext& context, const Node& node, std::uint64_t& out) const {
  const std::string* text = bare_text(context, node, "a whole number from 0");
  if (text == nullptr) return;
  const Parsed<std::uint64_t> parsed = parse_unsigned(*text);
  if (parsed.value)
    out = *parsed.value;
  else
    context.error(node, parsed.error);
}

void Duration::read(ReadContext& context, const Node& node, TimeNs& out) const {
  const std::string* text = any_text(context, node, "a duration such as 30s");
  if (text == nullptr) return;
  if (none && *text == "none") {
    out = kNever;
    return;
  }
  if (calendar && looks_like_calendar(*text)) {
    const Parsed<std::int64_t> instant = parse_calendar(*text);
    if (!instant.value) return context.error(node, instant.error);
    if (context.start_broken) return;
    if (!context.start_unix_ns)
      return context.error(node, "a calendar time needs 'start:' at the top of the scenario");
    if (*instant.value < *context.start_unix_ns)
      return context.error(node, fmt::format("'{}' lies before the start, {}", *text,
                                             calendar_text(*context.start_unix_ns)));
    if (*instant.value - *context.start_unix_ns > kTimeMax)
      return context.error(node,
                           fmt::format("'{}' lies more than 36,500 days after the start", *text));
    out = *instant.value - *context.start_unix_ns;
    return;
  }
  Parsed<TimeNs> parsed = parse_duration(*text);
  if (!parsed.value && none) parsed.error += " (or 'none')";
  if (const auto value = in_range(context, node, parsed, {low, high}, format_duration))
    out = *value;
}

NodePtr Duration::write(const Surroundings& around, TimeNs& value) const {
  if (value == kNever) {
    HANDOFF_CHECK(none, "a time without end where none may be");
    return plain("none");
  }
  if (calendar && around.start_unix_ns) return plain(calendar_text(*around.start_unix_ns + value));
  return plain(format_duration(value));
}

NodePtr Duration::schema_of(Definitions& definitions) const {
  const auto make = [&] {
    std::string pattern = "([0-9][0-9_]*(\\.[0-9]+)? ?(d|h|m|s|ms|us|ns) *)+";
    if (calendar) pattern += "|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]{1,9})?Z";
    return pattern_schema(pattern, none ? Word{"none", 0} : Word{});
  };
  if (calendar) return definitions.reference("instant", make);
  return definitions.reference(none ? "duration_or_none" : "duration", make);
}

void Calendar::read(ReadContext& context, const Node& node,
                    std::optional<std::int64_t>& out) const {
  const std::string* text = any_text(context, node, "a UTC time such as 2026-09-08T14:00:00Z");
  if (text == nullptr) return;
  const Parsed<std::int64_t> parsed = parse_calendar(*text);
  if (parsed.value)
    out = parsed.value;
  else
    context.error(node, parsed.error);
}

NodePtr Calendar::write(const Surroundings&, std::optional<std::int64_t>& value) const {
  return plain(calendar_text(*value));
}

void Quantity::read(ReadContext& context, const Node& node, std::int64_t& out) const {
  if (const auto value = word_value(node, word)) {
    out = *value;
    return;
  }
  const std::string* text = bare_text(context, node, "a number with a unit");
  if (text == nullptr) return;
  const bool digits = text->find_first_not_of("0123456789_") == std::string::npos;
  Parsed<std::int64_t> parsed = bare && digits ? parse_integer(*text) : parse(*text);
  if (!parsed.value) parsed.error += or_word(word);
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // a petabyte, per second or not
  const Range range{low, kMost};
  if (const auto value = in_range(context, node, parsed, range, format)) out = *value;
}

NodePtr Quantity::write(const Surroundings&, std::int64_t& value) const {
  if (word.text != nullptr && value == word.value) return plain(word.text);
  return plain(format(value));
}

NodePtr Quantity::schema_of() const {
  if (!bare) return pattern_schema(pattern, word);
  return mapping({entry("type", sequence({quoted("integer"), quoted("string")})),
                  entry("pattern", quoted(fmt::format("^({}|{})$", kIntegerPattern, pattern))),
                  entry("minimum", plain(std::to_string(low)))});
}

void Share::read(ReadContext& context, const Node& node, std::int64_t& out) const {
  if (const auto value = word_value(node, word)) {
    out = *value;
    return;
  }
  const std::string* text = bare_text(context, node, "a percentage such as 25%");
  if (text == nullptr) return;
  Parsed<std::int64_t> parsed = parse_share(*text, scale);
  if (!parsed.value) parsed.error += or_word(word);
  const auto format = scale == 1000 ? +[](std::int64_t v) { return format_share(v, 1000); }
                                    : +[](std::int64_t v) { return format_share(v, 10'000); };
  if (const auto value = in_range(context, node, parsed, {low, high}, format)) out = *value;
}

NodePtr Share::write(const Surroundings&, std::int64_t& value) const {
  if (word.text != nullptr && value == word.value) return plain(word.text);
  return plain(format_share(value, scale));
}

void Factor::read(ReadContext& context, const Node& node, std::int64_t& out) const {
  const std::string* text = bare_text(context, node, "a decimal number");
  if (text == nullptr) return;
  const Parsed<std::int64_t> parsed = parse_scaled(*text, scale);
  const auto format = +[](std::int64_t v) { return format_scaled(v, 1000); };
  HANDOFF_CHECK(scale == 1000, "factors are held in thousandths");
  if (const auto value = in_range(context, node, parsed, {low, high}, format)) out = *value;
}

void Number::read(ReadContext& context, const Node& node, double& out) const {
  const std::string* text = bare_text(context, node, "a decimal number");
  if (text == nullptr) return;
  const Parsed<double> parsed = parse_number(*text);
  if (!parsed.value) return context.error(node, parsed.error);
  if (*parsed.value < low || *parsed.value > high)
    return context.error(node, fmt::format("expected {} to {}, found '{}'", format_number(low),
                                           format_number(high), *text));
  out = *parsed.value;
}

void EventRate::read(ReadContext& context, const Node& node, double& out) const {
  // Gaps of one nanosecond to 36,500 days: what TimeNs and the bound on times can hold.
  constexpr double kLow = 1.0 / 3'153'600'000.0;
  constexpr double kHigh = 1e9;
  const std::string* text = bare_text(context, node, "a rate such as 2/s");
  if (text == nullptr) return;
  const Parsed<double> parsed = parse_event_rate(*text);
  if (!parsed.value) return context.error(node, parsed.error);
  if (*parsed.value < kLow || *parsed.value > kHigh)
    return context.error(
        node, fmt::format("expected one in 36,500 days to 1000000000/s, found '{}'", *text));
  out = *parsed.value;
}

void Boolean::read(ReadContext& context, const Node& node, bool& out) const {
  const std::string* text = bare_text(context, node, "true or false");
  if (text == nullptr) return;
  if (*text == "true" || *text == "false")
    out = *text == "true";
  else
    context.error(node, fmt::format("expected true or false, found '{}'", *text));
}

void Text::read(ReadContext& context, const Node& node, std::string& out) const {
  const std::string* text = any_text(context, node, "a text");
  if (text == nullptr) return;
  if (text->empty()) return context.error(node, "expected a text, found an empty one");
  out = *text;
}

void FilePath::read(ReadContext& context, const Node& node, std::string& out) const {
  const std::string* text = any_text(context, node, "the path of a file");
  if (text == nullptr) return;
  if (text->empty()) return context.error(node, "expected the path of a file, found an empty text");
  // The name of the "--set" source has no folder: its paths stay as they are.
  const std::filesystem::path source = context.diagnostics.source_name(node.mark.source);
  out = source.has_parent_path() ? (source.parent_path() / *text).string() : *text;
}

NodePtr FilePath::write(const Surroundings& around, std::string& value) const {
  namespace fs = std::filesystem;
  const fs::path path(value);
  if (around.folder.empty()) return quoted(value);
  // As the file had it, when it came from there: a resolved scenario must not depend on where it
  // was loaded.
  const std::string prefix = (fs::path(around.folder) / "").string();
  if (value.rfind(prefix, 0) == 0) return quoted(value.substr(prefix.size()));
  if (path.is_absolute()) return quoted(value);
  return quoted(fs::absolute(path).lexically_relative(fs::absolute(around.folder)).string());
}

std::optional<std::size_t> read_choice(ReadContext& context, const Node& node,
                                       const std::vector<std::string>& names) {
  const std::string what = "one of " + joined(names);
  const std::string* text = any_text(context, node, what.c_str());
  if (text == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == *text) return i;
  const std::string near = nearest(*text, names);
  context.error(node, fmt::format("expected {}, found '{}'{}", what, *text,
                                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  return std::nullopt;
}

NodePtr choice_schema(const std::vector<std::string>& names) {
  std::vector<NodePtr> values;
  for (const std::string& name : names) values.push_back(quoted(name));
  return mapping({entry("enum", sequence(std::move(values)))});
}

}  // namespace handoff::loader

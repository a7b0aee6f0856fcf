#include "sim/app/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <set>

#include "scenarios/loader/diagnostics.hpp"

namespace handoff::app {
namespace {

namespace po = boost::program_options;

// Without guessing ("--se" for "--seed"), and no short options.
constexpr int kStyle = po::command_line_style::allow_long |
                       po::command_line_style::long_allow_adjacent |
                       po::command_line_style::long_allow_next;

std::vector<std::string> names_of(const std::vector<OptionSpec>& specs) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : specs) names.push_back(std::string("--") + spec.name);
  return names;
}

po::options_description description_of(const std::vector<OptionSpec>& specs) {
  po::options_description description;
  for (const OptionSpec& spec : specs) {
    if (spec.takes_value)
      description.add_options()(spec.name, po::value<std::vector<std::string>>());
    else
      description.add_options()(spec.name, "");
  }
  return description;
}

// The message for words that the parser refuses: its own speak of canonical options.
[[noreturn]] void refuse(const po::error& error, const std::vector<OptionSpec>& specs) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string name = unknown->get_option_name();
    throw UsageError(
        fmt::format("unknown option '{}'{}", name, loader::hint(name, names_of(specs))));
  }
  if (const auto* syntax = dynamic_cast<const po::invalid_command_line_syntax*>(&error)) {
    const std::string name = syntax->get_option_name();
    if (syntax->kind() == po::invalid_syntax::missing_parameter)
      throw UsageError(fmt::format("option '{}' needs a value", name));
    if (syntax->kind() == po::invalid_syntax::extra_parameter)
      throw UsageError(fmt::format("option '{}' takes no value", name));
    if (syntax->kind() == po::invalid_syntax::empty_adjacent_parameter)
      throw UsageError(fmt::format("option '{}' needs a value after '='", name));
  }
  throw UsageError(error.what());
}

}  // namespace

Options::Options(const Words& words, const std::vector<OptionSpec>& specs) {
  const po::options_description description = description_of(specs);
  po::positional_options_description positional;
  positional.add("", -1);
  // A lone "-x" is no option of ours and no plain word either.
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i)
    if (words[i].size() > 1 && words[i][0] == '-' && words[i][1] != '-' &&
        (i == 0 || words[i - 1].compare(0, 2, "--") != 0))
      throw UsageError(fmt::format("unknown option '{}'{}", words[i],
                                   loader::hint("-" + words[i], names_of(specs))));
  try {
    const po::parsed_options parsed =
        po::command_line_parser(words).options(description).style(kStyle).run();
    for (const po::option& option : parsed.options) {
      if (option.string_key.empty()) {
        plain_.insert(plain_.end(), option.value.begin(), option.value.end());
        continue;
      }
      const auto spec = std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& s) {
        return option.string_key == s.name;
      });
      if (spec != specs.end() && !spec->repeats && has(spec->name))
        throw UsageError(fmt::format("option '--{}' is given twice", spec->name));
      given_.push_back({option.string_key, option.value.empty() ? "" : option.value.front()});
    }
  } catch (const po::error& error) {
    refuse(error, specs);
  }
}

bool Options::has(const std::string& name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const Given& g) { return g.name == name; });
}

std::optional<std::string> Options::value(const std::string& name) const {
  for (const Given& g : given_)
    if (g.name == name) return g.value;
  return std::nullopt;
}

std::vector<std::string> Options::values(const std::string& name) const {
  std::vector<std::string> values;
  for (const Given& g : given_)
    if (g.name == name) values.push_back(g.value);
  return values;
}

std::int64_t Options::number(const std::string& name, std::int64_t preset, std::int64_t low,
                             std::int64_t high) const {
  const std::optional<std::string> text = value(name);
  if (!text) return preset;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number < low || number > high)
    throw UsageError(fmt::format("option '--{}': expected a whole number from {} to {}, found '{}'",
                                 name, low, high, *text));
  return number;
}

std::string Options::one_of(const std::string& name, const std::vector<std::string>& words) const {
  const std::optional<std::string> text = value(name);
  if (!text) return words.front();
  if (std::find(words.begin(), words.end(), *text) == words.end())
    throw UsageError(fmt::format("option '--{}': expected {}, found '{}'{}", name,
                                 fmt::join(words, " or "), *text, loader::hint(*text, words)));
  return *text;
}

const Words& Options::plain(std::size_t low, std::size_t high, const char* what) const {
  if (plain_.size() < low) throw UsageError(fmt::format("{} is missing", what));
  if (plain_.size() > high)
    throw UsageError(high == 0 ? fmt::format("unexpected word '{}'", plain_[0])
                               : fmt::format("unexpected word '{}' after {}", plain_[high], what));
  return plain_;
}

}  // namespace handoff::app

#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace handoff::tidy {
namespace {

constexpr std::size_t kFileLinesMax = 600;
constexpr std::size_t kLineColumnsMax = 110;

struct Ban {
  std::string_view word;
  std::string_view instead;
};

constexpr std::string_view kUseRng = "a named stream of sim/engine/rng.hpp";
constexpr std::string_view kUseNow = "simulated time (Schedule::now)";
constexpr std::string_view kUseMath =
    "sim/engine/exact_math.hpp: libm differs in the last bit between releases";
constexpr std::string_view kUseOne =
    "one thread: concurrency belongs to the program, over whole runs";

constexpr Ban kBans[] = {
    {"rand", kUseRng},
    {"srand", kUseRng},
    {"random_device", kUseRng},
    {"mt19937", kUseRng},
    {"mt19937_64", kUseRng},
    {"default_random_engine", kUseRng},
    {"std::shuffle", kUseRng},
    {"std::sample", kUseRng},
    {"uniform_int_distribution", kUseRng},
    {"uniform_real_distribution", kUseRng},
    {"std::bernoulli_distribution", kUseRng},
    {"std::binomial_distribution", kUseRng},
    {"std::discrete_distribution", kUseRng},
    {"std::exponential_distribution", kUseRng},
    {"std::gamma_distribution", kUseRng},
    {"std::geometric_distribution", kUseRng},
    {"std::lognormal_distribution", kUseRng},
    {"std::normal_distribution", kUseRng},
    {"std::poisson_distribution", kUseRng},
    {"std::weibull_distribution", kUseRng},
    {"system_clock", kUseNow},
    {"steady_clock", kUseNow},
    {"high_resolution_clock", kUseNow},
    {"std::time", kUseNow},
    {"::time(", kUseNow},
    {"time(nullptr)", kUseNow},
    {"time(0)", kUseNow},
    {"clock_gettime", kUseNow},
    {"gettimeofday", kUseNow},
    {"std::clock", kUseNow},
    {"getenv", "a value of the scenario: a result must not depend on the environment"},
    {"setlocale", "nothing: a result must not depend on the locale"},
    {"std::locale", "nothing: a result must not depend on the locale"},
    {"std::thread", kUseOne},
    {"std::jthread", kUseOne},
    {"std::async", kUseOne},
    {"uintptr_t", "an id: addresses differ from run to run"},
    {"std::log", kUseMath},
    {"std::log2", kUseMath},
    {"std::log10", kUseMath},
    {"std::log1p", kUseMath},
    {"std::exp", kUseMath},
    {"std::exp2", kUseMath},
    {"std::expm1", kUseMath},
    {"std::pow", kUseMath},
    {"std::sin", kUseMath},
    {"std::cos", kUseMath},
    {"std::tan", kUseMath},
    {"std::atan", kUseMath},
    {"std::atan2", kUseMath},
    {"std::tanh", kUseMath},
    {"std::cbrt", kUseMath},
    {"std::hypot", kUseMath},
    {"std::erf", kUseMath},
    {"std::tgamma", kUseMath},
    {"std::lgamma", kUseMath},
};

constexpr std::string_view kDraws[] = {".next()", ".below(",       ".between(", ".chance(",
                                       ".unit()", ".exponential(", ".normal()", ".gamma("};

// Where simulated results come from.
bool is_simulated(const Source& source) {
  return is_cpp(source) && (in_folder(source, "sim/engine") || in_folder(source, "models"));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

// Names of variables and members that `code` declares as std::unordered_map<...> or the like.
void collect_unordered_names(const std::string& code, std::set<std::string>& names) {
  constexpr std::string_view kType = "std::unordered_";
  for (std::size_t i = code.find(kType); i != std::string::npos; i = code.find(kType, i + 1)) {
    std::size_t end = code.find('<', i);
    if (end == std::string::npos) return;
    int depth = 0;
    do {
      depth += code[end] == '<' ? 1 : code[end] == '>' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < code.size());
    while (end < code.size() && (code[end] == ' ' || code[end] == '\n' || code[end] == '&')) ++end;
    std::size_t last = end;
    while (last < code.size() && is_word_character(code[last])) ++last;
    if (last > end) names.insert(code.substr(end, last - end));
  }
}

// Whether a range-for or an iterator goes over `name` at offset `at`.
bool iterates(std::string_view code, std::size_t at, std::size_t size) {
  const std::string_view after = code.substr(at + size);
  for (const std::string_view call : {".begin()", ".cbegin()"})
    if (after.substr(0, call.size()) == call) return true;
  if (after.substr(0, 1) != ")") return false;
  // The range may be a member of something: a.b[i].name
  std::size_t start = at;
  const std::string_view kPath = ".[]->";
  while (start > 0 && (is_word_character(code[start - 1]) ||
                       kPath.find(code[start - 1]) != std::string_view::npos))
    --start;
  while (start > 0 && code[start - 1] == ' ') --start;
  return start > 1 && code[start - 1] == ':' && code[start - 2] != ':';
}

// Splits where C++ fixes the order of evaluation: statements, braces, and, or, the conditional
// operator.
bool ends_expression(std::string_view code, std::size_t i) {
  const char c = code[i];
  if (c == ';' || c == '{' || c == '}' || c == '?') return true;
  if (c == ':') return code.substr(i + 1, 1) != ":" && (i == 0 || code[i - 1] != ':');
  return code.substr(i, 2) == "&&" || code.substr(i, 2) == "||";
}

std::size_t columns_of(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not a continuation byte of UTF-8
  }));
}

}  // namespace

Violations banned_names(const std::vector<Source>& tree) {
  Violations out;
  for (const Source& source : tree) {
    if (!is_simulated(source)) continue;
    const std::string code = code_only(source.text);
    for (const Ban& ban : kBans)
      for (std::size_t i = find_word(code, ban.word); i != std::string::npos;
           i = find_word(code, ban.word, i + 1))
        out.push_back({source.path, line_at(code, i),
                       std::string(ban.word) + " is banned here; use " + std::string(ban.instead)});
  }
  return out;
}

Violations unordered_iteration(const std::vector<Source>& tree) {
  std::map<std::string, std::set<std::string>> names_by_folder;
  for (const Source& source : tree)
    if (is_simulated(source))
      collect_unordered_names(code_only(source.text), names_by_folder[folder_of(source.path)]);
  Violations out;
  for (const Source& source : tree) {
    if (!is_simulated(source)) continue;
    const std::string code = code_only(source.text);
    for (const std::string& name : names_by_folder[folder_of(source.path)])
      for (std::size_t i = find_word(code, name); i != std::string::npos;
           i = find_word(code, name, i + 1))
        if (iterates(code, i, name.size()))
          out.push_back(
              {source.path, line_at(code, i),
               "iterates over the unordered container " + name +
                   ", whose order differs between libraries; keep a sorted or dense one"});
  }
  return out;
}

Violations unordered_draws(const std::vector<Source>& tree) {
  Violations out;
  for (const Source& source : tree) {
    if (!is_simulated(source)) continue;
    const std::string code = code_only(source.text);
    int draws = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (ends_expression(code, i)) draws = 0;
      if (code[i] != '.') continue;
      for (const std::string_view draw : kDraws)
        if (code.compare(i, draw.size(), draw) == 0 && ++draws == 2)
          out.push_back(
              {source.path, line_at(code, i),
               "two draws in one expression: their order is the compiler's; use two statements"});
    }
  }
  return out;
}

Violations shape(const std::vector<Source>& tree) {
  Violations out;
  for (const Source& source : tree) {
    const std::vector<std::string_view> lines = lines_of(source.text);
    const bool prose = has_suffix(source.path, ".md");
    if (!prose && lines.size() > kFileLinesMax)
      out.push_back({source.path, static_cast<int>(lines.size()),
                     "more than " + std::to_string(kFileLinesMax) + " lines: split it by purpose"});
    if (!source.text.empty() && source.text.back() != '\n')
      out.push_back({source.path, static_cast<int>(lines.size()), "no newline at the end"});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto add = [&](const std::string& message) {
        out.push_back({source.path, static_cast<int>(i + 1), message});
      };
      const bool wide = columns_of(lines[i]) > kLineColumnsMax;
      // A table row or a link cannot be broken, nor can an address or a quotation in a catalog
      // file.
      if (wide && !prose && !has_suffix(source.path, ".yaml"))
        add("more than " + std::to_string(kLineColumnsMax) + " columns");
      if (lines[i].find('\t') != std::string_view::npos) add("a tab");
      if (!lines[i].empty() && (lines[i].back() == ' ' || lines[i].back() == '\r'))
        add("blanks at the end of the line");
    }
  }
  return out;
}

Violations openings(const std::vector<Source>& tree) {
  Violations out;
  std::set<std::string> paths;
  for (const Source& source : tree) paths.insert(source.path);
  for (const Source& source : tree) {
    if (!is_cpp(source)) continue;
    const bool comment = source.text.compare(0, 3, "// ") == 0;
    if (is_header(source)) {
      if (!comment)
        out.push_back({source.path, 1, "a header starts with a comment on its purpose"});
      if (source.text.find("\n#pragma once\n") == std::string::npos)
        out.push_back({source.path, 1, "no #pragma once"});
      continue;
    }
    const std::string own = source.path.substr(0, source.path.find_last_of('.')) + ".hpp";
    const bool has_own = paths.count(own) != 0;
    if (!comment && !has_own)
      out.push_back(
          {source.path, 1, "a file without its own header starts with a comment on its purpose"});
    if (!has_own) continue;
    const std::size_t first = source.text.find("#include");
    const std::string expected = "#include \"" + own + "\"";
    if (first == std::string::npos || source.text.compare(first, expected.size(), expected) != 0)
      out.push_back({source.path, line_at(source.text, std::min(first, source.text.size())),
                     "the first include must be the file's own header, " + own});
  }
  return out;
}

Violations leftover_words(const std::vector<Source>& tree) {
  // Written in pieces, so that this file does not contain them.
  const std::array<std::string, 4> words = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "X"
      "XX",
      "HA"
      "CK"};
  Violations out;
  for (const Source& source : tree)
    for (const std::string& word : words)
      for (std::size_t i = find_word(source.text, word); i != std::string::npos;
           i = find_word(source.text, word, i + 1))
        out.push_back({source.path, line_at(source.text, i), word + ": finish it or file it"});
  return out;
}

Violations scenarios_without_expectation(const std::vector<Source>& tree) {
  Violations out;
  for (const Source& source : tree) {
    if (!in_folder(source, "scenarios") || !has_suffix(source.path, ".yaml")) continue;
    const std::vector<std::string_view> lines = lines_of(source.text);
    const bool expects = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
      return line.substr(0, 7) == "expect:";
    });
    if (!expects) out.push_back({source.path, 1, "a scenario without `expect:` checks nothing"});
  }
  return out;
}

}  // namespace handoff::tidy

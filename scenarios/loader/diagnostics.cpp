#include "scenarios/loader/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace handoff {
namespace {

std::string render_all(const std::vector<Diagnostic>& diagnostics, std::size_t omitted) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += render(d);
  if (omitted > 0) text += fmt::format("{} more error{}\n", omitted, omitted == 1 ? "" : "s");
  return text;
}

// Blank where the caret must not stand, as wide as the text above it: tabs stay, a UTF-8 character
// is one.
std::string caret_indent(std::string_view line, int column) {
  std::string indent;
  const std::size_t end = std::min(line.size(), static_cast<std::size_t>(column - 1));
  for (const char c : line.substr(0, end)) {
    if (c == '\t')
      indent += '\t';
    else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)
      indent += ' ';
  }
  return indent;
}

}  // namespace

std::string render(const Diagnostic& d) {
  std::string text = d.file;
  if (d.line > 0) text += fmt::format(":{}", d.line);
  if (d.line > 0 && d.column > 0) text += fmt::format(":{}", d.column);
  text += fmt::format(": {}: {}\n", d.severity == Severity::error ? "error" : "warning", d.message);
  if (!d.source_line.empty()) {
    text += fmt::format("  {}\n", d.source_line);
    if (d.column > 0) text += fmt::format("  {}^\n", caret_indent(d.source_line, d.column));
  }
  return text;
}

ScenarioError::ScenarioError(std::vector<Diagnostic> diagnostics, std::size_t omitted)
    : std::runtime_error(render_all(diagnostics, omitted)),
      diagnostics_(std::move(diagnostics)),
      omitted_(omitted) {}

namespace loader {
namespace {

// Longer source lines are cut around nothing: a caret at column 10,000 helps nobody.
constexpr std::size_t kSourceLineMax = 400;

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Optimal string alignment: insert, delete, replace, swap of neighbours, each one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::uint32_t Diagnostics::add_source(std::string name, std::string_view text) {
  return add_source(std::move(name), split_lines(text));
}

std::uint32_t Diagnostics::add_source(std::string name, std::vector<std::string> lines) {
  sources_.push_back({std::move(name), std::move(lines)});
  return static_cast<std::uint32_t>(sources_.size() - 1);
}

void Diagnostics::error(Mark mark, std::string message) {
  found_.push_back({mark, std::move(message)});
}

void Diagnostics::throw_if_any() const {
  if (found_.empty()) return;
  std::vector<Found> sorted = found_;
  const auto place = [](const Found& f) {
    return std::tuple(f.mark.source, f.mark.line, f.mark.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Found& a, const Found& b) { return place(a) < place(b); });
  // An alias is read where it is used as well: the same error is told once.
  const auto same = [&](const Found& a, const Found& b) {
    return place(a) == place(b) && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  std::vector<Diagnostic> kept;
  for (const Found& f : sorted) {
    if (kept.size() == kDiagnosticsMax) break;
    const Source& source = sources_[f.mark.source];
    Diagnostic d{source.name, f.mark.line, f.mark.column, Severity::error, f.message, {}};
    const auto line = static_cast<std::size_t>(f.mark.line);
    if (line >= 1 && line <= source.lines.size() && source.lines[line - 1].size() <= kSourceLineMax)
      d.source_line = source.lines[line - 1];
    kept.push_back(std::move(d));
  }
  const std::size_t omitted = sorted.size() - kept.size();
  throw ScenarioError(std::move(kept), omitted);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Beyond this a slip of the pen is not what happened, and the table would be large.
  constexpr std::size_t kWordMax = 64;
  if (word.size() > kWordMax) return {};
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best || distance >= candidate.size()) continue;
    best = distance;
    found = candidate;
  }
  return found;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  if (candidates.empty()) return {};
  constexpr std::size_t kListedMax = 30;
  if (candidates.size() <= kListedMax) return "; known: " + joined(candidates);
  const std::vector<std::string> some(candidates.begin(), candidates.begin() + kListedMax);
  return fmt::format("; known: {}, ...", joined(some));
}

}  // namespace loader
}  // namespace handoff

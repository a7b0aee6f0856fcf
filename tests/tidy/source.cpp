#include "tests/tidy/source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace handoff::tidy {
namespace {

namespace fs = std::filesystem;

// Folders and suffixes of files that people write. Traces and golden data are left alone.
constexpr std::array<std::string_view, 8> kFolders = {".ci",     "cmake",     "kernels", "models",
                                                      "reports", "scenarios", "sim",     "tests"};
constexpr std::array<std::string_view, 11> kSuffixes = {
    ".cpp", ".hpp", ".cu", ".cuh", ".cmake", ".txt", ".md", ".yaml", ".sh", ".in", "/run"};
constexpr std::array<std::string_view, 6> kTopFiles = {
    ".clang-format", ".clang-tidy", "CMakeLists.txt", "CMakePresets.json", "README.md", "handoff"};

Source load(const fs::path& root, const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {fs::relative(path, root).generic_string(),
          std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())};
}

// Offset one past the literal that starts at `quote`.
std::size_t end_of_literal(std::string_view text, std::size_t quote) {
  std::size_t i = quote + 1;
  while (i < text.size() && text[i] != text[quote] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// The same for R"delimiter(...)delimiter".
std::size_t end_of_raw_literal(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

}  // namespace

std::vector<Source> load_tree(const std::string& root) {
  std::vector<Source> sources;
  for (const std::string_view name : kTopFiles)
    if (fs::exists(fs::path(root) / name)) sources.push_back(load(root, fs::path(root) / name));
  for (const std::string_view folder : kFolders) {
    if (!fs::exists(fs::path(root) / folder)) continue;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(root) / folder)) {
      const std::string path = entry.path().generic_string();
      const bool written = std::any_of(kSuffixes.begin(), kSuffixes.end(),
                                       [&](std::string_view s) { return has_suffix(path, s); });
      if (entry.is_regular_file() && written) sources.push_back(load(root, entry.path()));
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

bool in_folder(const Source& source, std::string_view folder) {
  return source.path.size() > folder.size() && source.path.compare(0, folder.size(), folder) == 0 &&
         source.path[folder.size()] == '/';
}

bool has_suffix(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix;
}

bool is_header(const Source& source) {
  return has_suffix(source.path, ".hpp") || has_suffix(source.path, ".cuh");
}

bool is_cpp(const Source& source) {
  return is_header(source) || has_suffix(source.path, ".cpp") || has_suffix(source.path, ".cu");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string code_only(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
      blank(i, end);
    } else if (text[i] == '"') {
      const bool raw = i > 0 && text[i - 1] == 'R';
      end = raw ? end_of_raw_literal(text, i) : end_of_literal(text, i);
      blank(i + 1, end - 1);
    } else if (text[i] == '\'' && (i == 0 || !is_word_character(text[i - 1]))) {
      // Not a digit separator: those follow a digit.
      end = end_of_literal(text, i);
      blank(i + 1, end - 1);
    }
    i = end;
  }
  return code;
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t i = text.find(word, from); i != std::string_view::npos;
       i = text.find(word, i + 1)) {
    const bool starts =
        i == 0 || !is_word_character(word.front()) || !is_word_character(text[i - 1]);
    const std::size_t end = i + word.size();
    const bool ends =
        end == text.size() || !is_word_character(word.back()) || !is_word_character(text[end]);
    if (starts && ends) return i;
  }
  return std::string_view::npos;
}

int line_at(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

}  // namespace handoff::tidy

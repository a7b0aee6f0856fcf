// The repository's text files, as the rules of tests/tidy look at them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace handoff::tidy {

struct Source {
  std::string path;  // from the repository's root, with '/'
  std::string text;
};

struct Violation {
  std::string path;
  int line = 0;  // from 1
  std::string message;
};

// Every file of the tree that people write, sorted by path: not build/, not .git/, not data.
// Throws std::runtime_error when a file cannot be read.
std::vector<Source> load_tree(const std::string& root);

bool in_folder(const Source& source, std::string_view folder);
bool has_suffix(std::string_view path, std::string_view suffix);
bool is_header(const Source& source);
// A C++ source or header.
bool is_cpp(const Source& source);

std::vector<std::string_view> lines_of(std::string_view text);
// C++ text of equal length and equal lines in which comments and the insides of literals are
// blanks.
std::string code_only(std::string_view text);
bool is_word_character(char c);
// Where `word` stands in `text` from `from` on, not as a part of a longer identifier; npos when
// nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);
int line_at(std::string_view text, std::size_t offset);

}  // namespace handoff::tidy

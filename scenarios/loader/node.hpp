// YAML text as a tree of our own, with a place for every node. Kept from the parser: whether a
// scalar was quoted, duplicate keys (as errors) and marks, which yaml-cpp's own Node loses or
// hides.
//
// The same tree is what the writers build: resolved scenarios (YAML) and the schema (JSON).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace handoff::loader {

// line, column from 1 (column in bytes); 0: unknown. source: index given by
// Diagnostics::add_source.
struct Mark {
  std::uint32_t source = 0;
  int line = 0;
  int column = 0;
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Entry {
  std::string key;
  Mark mark;  // of the key
  NodePtr value;
};

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, mapping } kind = Kind::null;
  bool quoted = false;  // scalar: written in quotes (YAML), or a string (JSON)
  Mark mark;
  std::string text;            // scalar
  std::vector<NodePtr> items;  // sequence
  std::vector<Entry> entries;  // mapping, in the order of the text
  std::uint64_t weight = 1;    // nodes below and itself, aliases counted each time

  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] const char* kind_name() const;  // "nothing", "a value", "a list", "a mapping"
};

NodePtr plain(std::string text);   // a word or number that needs no quotes
NodePtr quoted(std::string text);  // free text
NodePtr sequence(std::vector<NodePtr> items);
NodePtr mapping(std::vector<Entry> entries);
Entry entry(std::string key, NodePtr value);

class Diagnostics;

// Parses one document. Errors go to `diagnostics`; nullptr then. `first` is where the text starts
// in the source (a value of --set starts after its path). Nothing of a text with an error is used.
NodePtr parse_yaml(std::string_view text, std::uint32_t source, Diagnostics& diagnostics,
                   Mark first = {0, 1, 1});

// Block style, short mappings and lists in flow style. Equal trees give equal text.
std::string yaml_text(const Node& node);
// Indented by two; a plain scalar is copied (it must be a JSON number or word), a quoted one is a
// string.
std::string json_text(const Node& node);

}  // namespace handoff::loader

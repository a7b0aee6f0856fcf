#include "scenarios/loader/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace handoff::loader {
namespace {

constexpr std::size_t kFlowMax = 96;  // longest mapping or list in flow style, in bytes

// A JSON string is a YAML double-quoted scalar as well.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

bool is_word(std::string_view key) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !key.empty() && letter(key[0]) && key[0] != '-' && key[0] != '.' &&
         std::all_of(key.begin(), key.end(), [&](char c) { return letter(c) || digit(c); });
}

std::string key_text(const std::string& key) { return is_word(key) ? key : in_quotes(key); }

std::string scalar_text(const Node& node) {
  if (node.kind == Node::Kind::null) return "null";
  return node.quoted ? in_quotes(node.text) : node.text;
}

bool is_leaf(const Node& node) {
  return node.kind == Node::Kind::scalar || node.kind == Node::Kind::null ||
         (node.items.empty() && node.entries.empty());
}

std::string leaf_text(const Node& node) {
  if (node.kind == Node::Kind::sequence) return "[]";
  if (node.kind == Node::Kind::mapping) return "{}";
  return scalar_text(node);
}

// One level at most of nesting, and short.
std::optional<std::string> flow_text(const Node& node) {
  if (is_leaf(node)) return leaf_text(node);
  std::string out;
  const auto add = [&](const std::string& prefix, const Node& child) {
    if (!is_leaf(child)) return false;
    out += (out.empty() ? "" : ", ") + prefix + leaf_text(child);
    return out.size() <= kFlowMax;
  };
  for (const NodePtr& item : node.items)
    if (!add("", *item)) return std::nullopt;
  for (const Entry& e : node.entries)
    if (!add(key_text(e.key) + ": ", *e.value)) return std::nullopt;
  return node.kind == Node::Kind::sequence ? "[" + out + "]" : "{" + out + "}";
}

// Writes `node` where the cursor stands after "key:" or "-"; `indent` is that of its own lines.
void write_yaml(const Node& node, std::size_t indent, bool after_dash, bool top, std::string& out) {
  const std::optional<std::string> flow = top ? std::nullopt : flow_text(node);
  if (flow.has_value()) {
    out += (top ? "" : " ") + *flow + "\n";
    return;
  }
  bool first = true;
  const auto start_line = [&] {
    if (after_dash && first)
      out += ' ';
    else
      out.append(indent, ' ');
    first = false;
  };
  if (!after_dash && !top) out += '\n';
  for (const NodePtr& item : node.items) {
    start_line();
    out += '-';
    write_yaml(*item, indent + 2, true, false, out);
  }
  for (const Entry& e : node.entries) {
    start_line();
    out += key_text(e.key) + ':';
    write_yaml(*e.value, indent + 2, false, false, out);
  }
}

void write_json(const Node& node, std::size_t indent, std::string& out) {
  if (is_leaf(node)) {
    out += leaf_text(node);
    return;
  }
  const bool list = node.kind == Node::Kind::sequence;
  const std::size_t count = list ? node.items.size() : node.entries.size();
  out += list ? "[\n" : "{\n";
  for (std::size_t i = 0; i < count; ++i) {
    out.append(indent + 2, ' ');
    if (!list) out += in_quotes(node.entries[i].key) + ": ";
    write_json(list ? *node.items[i] : *node.entries[i].value, indent + 2, out);
    out += i + 1 < count ? ",\n" : "\n";
  }
  out.append(indent, ' ');
  out += list ? ']' : '}';
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  for (const Entry& e : entries)
    if (e.key == key) return &e;
  return nullptr;
}

const char* Node::kind_name() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return "a value";
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      return "a mapping";
  }
  return "?";
}

NodePtr plain(std::string text) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::scalar;
  node->text = std::move(text);
  return node;
}

NodePtr quoted(std::string text) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::scalar;
  node->quoted = true;
  node->text = std::move(text);
  return node;
}

NodePtr sequence(std::vector<NodePtr> items) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::sequence;
  node->items = std::move(items);
  return node;
}

NodePtr mapping(std::vector<Entry> entries) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::mapping;
  node->entries = std::move(entries);
  return node;
}

Entry entry(std::string key, NodePtr value) { return {std::move(key), {}, std::move(value)}; }

std::string yaml_text(const Node& node) {
  std::string out;
  write_yaml(node, 0, false, true, out);
  return out;
}

std::string json_text(const Node& node) {
  std::string out;
  write_json(node, 0, out);
  return out + "\n";
}

}  // namespace handoff::loader

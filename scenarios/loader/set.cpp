// Values of the command line: "a.b[0].c=value". They change the tree before it is read, so that
// they obey the same rules as the file and their errors point at them.
#include <fmt/format.h>

#include "scenarios/loader/load.hpp"
#include "scenarios/loader/scalars.hpp"

namespace handoff::loader {
namespace {

// "[12]..." -> 12, and the text after the bracket.
std::optional<std::size_t> take_index(std::string_view& path) {
  const std::size_t end = path.find(']');
  if (path.empty() || path[0] != '[' || end == std::string_view::npos) return std::nullopt;
  const Parsed<std::int64_t> index = parse_integer(path.substr(1, end - 1));
  if (!index.value || *index.value < 0) return std::nullopt;
  path.remove_prefix(end + 1);
  return static_cast<std::size_t>(*index.value);
}

bool ends_key(std::string_view path, std::size_t at) {
  return at == path.size() || path[at] == '.' || path[at] == '[';
}

// The longest existing key that `path` starts with: keys may have dots
// ("deployment.glm-5.3.requests").
const Entry* longest_key(const Node& node, std::string_view path) {
  const Entry* best = nullptr;
  for (const Entry& e : node.entries)
    if (path.substr(0, e.key.size()) == e.key && ends_key(path, e.key.size()) &&
        (best == nullptr || e.key.size() > best->key.size()))
      best = &e;
  return best;
}

void drop_dot(std::string_view& path) {
  if (!path.empty() && path[0] == '.') path.remove_prefix(1);
}

class Setter {
 public:
  Setter(Mark mark, NodePtr value, Diagnostics& diagnostics)
      : mark_(mark), value_(std::move(value)), diagnostics_(diagnostics) {}

  // `node` with the value at `path`, sharing what does not change. nullptr after an error.
  NodePtr put(const NodePtr& node, std::string_view path, const std::string& done) {
    if (path.empty()) return value_;
    if (path[0] == '[') return put_item(node, path, done);
    const bool named = node->kind == Node::Kind::scalar && is_reference(done);
    if (node->kind != Node::Kind::mapping && node->kind != Node::Kind::null && !named)
      return fail(fmt::format("'{}' is {}, it has no key '{}'", done, node->kind_name(), path));
    auto copy = std::make_shared<Node>(*node);
    copy->kind = Node::Kind::mapping;
    // `engine: NAME` is short for `engine: {preset: NAME}`.
    if (named) copy->entries.push_back({"preset", node->mark, node});
    const Entry* found = longest_key(*copy, path);
    const std::string key =
        found != nullptr ? found->key : std::string(path.substr(0, path.find_first_of(".[")));
    if (key.empty()) return fail("the path has an empty key");
    std::string_view rest = path.substr(key.size());
    drop_dot(rest);
    const std::string here = done.empty() ? key : done + "." + key;
    auto nothing = std::make_shared<Node>();
    nothing->mark = mark_;
    NodePtr child = put(found != nullptr ? found->value : nothing, rest, here);
    if (child == nullptr) return nullptr;
    for (Entry& e : copy->entries) {
      if (e.key != key) continue;
      e = {key, mark_, std::move(child)};
      return copy;
    }
    copy->entries.push_back({key, mark_, std::move(child)});
    return copy;
  }

 private:
  NodePtr put_item(const NodePtr& node, std::string_view path, const std::string& done) {
    const auto index = take_index(path);
    if (!index) return fail("expected an index such as [0]");
    if (node->kind != Node::Kind::sequence)
      return fail(fmt::format("'{}' is {}, not a list", done, node->kind_name()));
    if (*index >= node->items.size())
      return fail(fmt::format("'{}' has {} item{}, no [{}]", done, node->items.size(),
                              node->items.size() == 1 ? "" : "s", *index));
    drop_dot(path);
    auto copy = std::make_shared<Node>(*node);
    NodePtr child = put(node->items[*index], path, fmt::format("{}[{}]", done, *index));
    if (child == nullptr) return nullptr;
    copy->items[*index] = std::move(child);
    return copy;
  }

  static bool is_reference(const std::string& path) {
    const std::string key = path.substr(path.rfind('.') + 1);
    return key == "engine" || key == "model" || key == "hardware";
  }

  NodePtr fail(const std::string& message) {
    diagnostics_.error(mark_, message);
    return nullptr;
  }

  Mark mark_;
  NodePtr value_;
  Diagnostics& diagnostics_;
};

}  // namespace

NodePtr apply_set(const NodePtr& root, std::string_view text, Mark mark, Diagnostics& diagnostics) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    diagnostics.error(mark, fmt::format("expected path=value, found '{}'", text));
    return root;
  }
  if (text.find('\n') != std::string_view::npos) {
    diagnostics.error(mark, "path=value stands on one line");
    return root;
  }
  const Mark first{mark.source, mark.line, mark.column + static_cast<int>(equals) + 1};
  const NodePtr value = parse_yaml(text.substr(equals + 1), mark.source, diagnostics, first);
  if (value == nullptr) return root;
  NodePtr changed = Setter(mark, value, diagnostics).put(root, text.substr(0, equals), {});
  return changed == nullptr ? root : changed;
}

Mark locate(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty()) {
    if (path[0] == '[') {
      const auto index = take_index(path);
      if (!index || *index >= node->items.size()) break;
      node = node->items[*index].get();
    } else {
      const Entry* e = longest_key(*node, path);
      if (e == nullptr) break;
      path.remove_prefix(e->key.size());
      node = e->value.get();
    }
    drop_dot(path);
  }
  return node->mark;
}

}  // namespace handoff::loader

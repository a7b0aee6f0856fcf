// The one place that touches yaml-cpp. Its event interface is used, not its Node: events carry the
// mark of every node, show duplicate keys, and tell quoted scalars from plain ones.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/loader/node.hpp"

namespace handoff::loader {
namespace {

// Aliases of aliases multiply; no honest file comes near.
constexpr std::uint64_t kNodesMax = 1'000'000;
// Below yaml-cpp's own bound, so that the recursion that frees a tree stays shallow as well.
constexpr std::size_t kDepthMax = 100;

// Ends the parse after an error that makes the rest meaningless.
struct Stop {};

class Builder : public YAML::EventHandler {
 public:
  Builder(std::uint32_t source, Mark first, Diagnostics& diagnostics)
      : source_(source), first_(first), diagnostics_(diagnostics) {}

  NodePtr take() { return std::move(root_); }

  [[nodiscard]] Mark mark(const YAML::Mark& m) const {
    if (m.is_null()) return {source_, 0, 0};
    return {source_, first_.line + m.line, m.line == 0 ? first_.column + m.column : m.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& m) override {
    if (seen_document_) fail(mark(m), "a second document starts here; a file holds one");
    seen_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
    auto node = std::make_shared<Node>();
    node->mark = mark(m);
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& m, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark(m), "an alias inside the very node that it names");
    place(found->second, mark(m));
  }

  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(m, tag);
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::scalar;
    node->mark = mark(m);
    node->text = value;
    node->quoted = tag == "!";
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(m, tag, anchor, Node::Kind::sequence);
  }
  void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(m, tag, anchor, Node::Kind::mapping);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  // yaml-cpp marks an absent value where the next thing stands; the key is what the user looks for.
  static NodePtr nothing_at(Mark key) {
    auto nothing = std::make_shared<Node>();
    nothing->mark = key;
    return nothing;
  }

 private:
  struct Open {
    std::shared_ptr<Node> node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    Entry next;
  };

  [[noreturn]] void fail(Mark at, const std::string& message) {
    diagnostics_.error(at, message);
    throw Stop{};
  }

  void check_tag(const YAML::Mark& m, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(mark(m), fmt::format("the tag '{}' has no meaning here", tag));
  }

  void open(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    check_tag(m, tag);
    if (open_.size() >= kDepthMax)
      fail(mark(m), fmt::format("nested deeper than {} levels", kDepthMax));
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->mark = mark(m);
    open_.push_back({std::move(node), anchor, false, {}});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(std::shared_ptr<Node> node, YAML::anchor_t anchor) {
    const Mark at = node->mark;
    NodePtr finished = std::move(node);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = finished;
    place(finished, at);
  }

  void place(const NodePtr& node, Mark at) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    Open& parent = open_.back();
    parent.node->weight += node->weight;
    if (parent.node->weight > kNodesMax)
      fail(at, fmt::format("aliases multiply to more than {} nodes", kNodesMax));
    if (parent.node->kind == Node::Kind::sequence) {
      parent.node->items.push_back(node);
    } else if (!parent.has_key) {
      start_entry(parent, *node, at);
    } else {
      parent.has_key = false;
      parent.next.value = node->kind == Node::Kind::null ? nothing_at(parent.next.mark) : node;
      parent.node->entries.push_back(std::move(parent.next));
      parent.next = {};
    }
  }

  void start_entry(Open& parent, const Node& key, Mark at) {
    if (key.kind != Node::Kind::scalar)
      fail(at, fmt::format("{} cannot be a key", key.kind_name()));
    if (key.text == "<<" && !key.quoted)
      fail(at, "merge keys ('<<') are not supported; repeat the keys, or name an alias for each");
    if (const Entry* first = parent.node->find(key.text))
      diagnostics_.error(
          at, fmt::format("duplicate key '{}', first on line {}", key.text, first->mark.line));
    parent.next = {key.text, at, nullptr};
    parent.has_key = true;
  }

  std::uint32_t source_;
  Mark first_;
  Diagnostics& diagnostics_;
  bool seen_document_ = false;
  NodePtr root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, NodePtr> anchors_;
};

// Length of the UTF-8 sequence at the start of `text`, 0 when it is none (RFC 3629, table 3-7 of
// Unicode).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const unsigned second_low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned second_high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < second_low || byte(1) > second_high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  return length;
}

// yaml-cpp replaces what it cannot read and stops at a NUL as at an end: both would hide a damaged
// file.
bool check_bytes(std::string_view text, std::uint32_t source, Mark first,
                 Diagnostics& diagnostics) {
  Mark at{source, first.line, first.column};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const char c = text[i];
    const bool control =
        static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    if (length == 0 || control || c == 0x7F) {
      diagnostics.error(
          at, length == 0 ? fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(c))
              : c == '\0'
                  ? std::string("a NUL byte")
                  : fmt::format("control character 0x{:02X}", static_cast<unsigned char>(c)));
      return false;
    }
    at.column = c == '\n' ? 1 : at.column + static_cast<int>(length);
    if (c == '\n') ++at.line;
    i += length;
  }
  return true;
}

// "unclosed '[' " errors of yaml-cpp name the token after; say where the innermost bracket was
// opened.
std::string where_opened(std::string_view text, const std::string& message) {
  if (message.find("flow") == std::string::npos) return {};
  std::vector<int> lines;
  int line = 1;
  char quote = 0;
  bool comment = false;
  for (const char c : text) {
    if (c == '\n') ++line, comment = false;
    if (comment) continue;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '[' || c == '{') {
      lines.push_back(line);
    } else if ((c == ']' || c == '}') && !lines.empty()) {
      lines.pop_back();
    }
  }
  return lines.empty() ? std::string() : fmt::format(" (opened on line {})", lines.back());
}

}  // namespace

NodePtr parse_yaml(std::string_view text, std::uint32_t source, Diagnostics& diagnostics,
                   Mark first) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  if (!check_bytes(text, source, first, diagnostics)) return nullptr;
  const std::size_t errors = diagnostics.count();
  Builder builder(source, first, diagnostics);
  std::istringstream in{std::string(text)};
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return nullptr;
  } catch (const YAML::Exception& e) {
    diagnostics.error(builder.mark(e.mark), "YAML: " + e.msg + where_opened(text, e.msg));
    return nullptr;
  }
  if (diagnostics.count() > errors) return nullptr;
  NodePtr root = builder.take();
  if (root != nullptr) return root;
  return Builder::nothing_at({source, first.line, first.column});
}

}  // namespace handoff::loader

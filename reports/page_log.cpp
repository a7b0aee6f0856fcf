#include "reports/page_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "reports/json.hpp"
#include "scenarios/loader/diagnostics.hpp"

namespace handoff {
namespace {

namespace json = boost::json;

constexpr std::size_t kLineMax = 64U << 20U;

// Keys of a line besides t, op and event.
enum Key : unsigned {
  kDeployment = 1U << 0U,
  kNode = 1U << 1U,
  kGroup = 1U << 2U,
  kRequest = 1U << 3U,
  kPages = 1U << 4U,
  kTo = 1U << 5U,
  kToPages = 1U << 6U,
  kPosition = 1U << 7U,
  kTokens = 1U << 8U,
  kId = 1U << 9U,
  kCount = 1U << 10U,
  kRanks = 1U << 11U,
  kRank = 1U << 12U,
  kStatus = 1U << 13U,
  kZeroed = 1U << 14U,
  kTenant = 1U << 15U,
  kBlocks = 1U << 16U,
  kBlockTokens = 1U << 17U,
};
constexpr std::array kKeys{"deployment", "node",     "group",  "request", "pages",  "to",
                           "to_pages",   "position", "tokens", "id",      "count",  "ranks",
                           "rank",       "status",   "zeroed", "tenant",  "blocks", "block_tokens"};

struct OpKeys {
  PageOp op;
  unsigned needed;
  unsigned allowed;  // besides
  const char* doc;
};
constexpr std::array kOpKeys{
    OpKeys{PageOp::pool, kNode | kGroup | kTokens | kCount, kDeployment | kRanks,
           "a pool of `count` pages of `tokens` tokens, empty; again: it was built anew"},
    OpKeys{PageOp::prompt, kRequest | kTokens, kDeployment | kTenant | kBlocks | kBlockTokens,
           "a request arrives; `blocks` label its first tokens, block_tokens each, as in a trace"},
    OpKeys{PageOp::allocate, kNode | kGroup | kRequest | kPages, kDeployment | kZeroed,
           "pages are given to a request"},
    OpKeys{PageOp::free, kNode | kGroup | kPages, kDeployment | kRequest,
           "pages are given up by a request or, without one, by the prefix cache"},
    OpKeys{PageOp::adopt, kNode | kGroup | kRequest | kPages, kDeployment,
           "pages of a request pass to the prefix cache"},
    OpKeys{PageOp::write, kNode | kGroup | kRequest | kPages | kPosition | kTokens, kDeployment,
           "KV of the request's positions is computed into its pages"},
    OpKeys{PageOp::read, kNode | kGroup | kRequest | kPages | kPosition | kTokens, kDeployment,
           "the request reads these positions"},
    OpKeys{PageOp::save, kNode | kGroup | kRequest | kPages, kDeployment,
           "pages are copied to host memory"},
    OpKeys{PageOp::restore, kNode | kGroup | kRequest | kPages, kDeployment,
           "and back, into these pages"},
    OpKeys{PageOp::send,
           kNode | kGroup | kRequest | kPages | kTo | kToPages | kPosition | kTokens | kId,
           kDeployment, "a transfer to node `to` is posted; one line a group, with one id"},
    OpKeys{PageOp::lose, kGroup | kId | kRank | kCount, kDeployment | kNode | kRequest,
           "the last `count` pages of a group do not get there on a rank"},
    OpKeys{PageOp::land, kId, kDeployment | kNode | kRequest, "its data is in the pages"},
    OpKeys{PageOp::drop, kId, kDeployment | kNode | kRequest, "it ends without"},
    OpKeys{PageOp::commit, kNode | kRequest, kDeployment | kTokens,
           "decode takes the whole prompt's KV for complete"},
    OpKeys{PageOp::reset, kNode, kDeployment, "the node's process died"},
    OpKeys{PageOp::error, kRequest | kStatus, kDeployment, "the first error of a request (HTTP)"},
    OpKeys{PageOp::end, kRequest | kStatus, kDeployment, "the client has its answer (HTTP)"},
};

const OpKeys& keys_of(PageOp op) {
  return *std::find_if(kOpKeys.begin(), kOpKeys.end(),
                       [&](const OpKeys& keys) { return keys.op == op; });
}

json::array spans_of(const std::vector<PageSpan>& spans) {
  json::array out;
  for (const PageSpan& span : spans) out.push_back(json::array{span.first, span.count});
  return out;
}

std::string key_list(unsigned keys) {
  std::string text;
  for (std::size_t i = 0; i < kKeys.size(); ++i)
    if ((keys >> i & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(kKeys[i]);
  return text;
}

// Reads one line's object into an event. Problems are thrown as sentences without a place.
class LineReader {
 public:
  explicit LineReader(const json::object& line) : line_(line) {}

  PageEvent read() {
    PageEvent e;
    e.op = op();
    e.at = number("t", 0, kNever - 1);
    if (line_.contains("event"))
      e.event = static_cast<std::uint64_t>(number("event", 0, kNever - 1));
    const OpKeys& keys = keys_of(e.op);
    for (const json::key_value_pair& pair : line_) check_key(pair.key(), keys);
    for (std::size_t i = 0; i < kKeys.size(); ++i)
      if ((keys.needed >> i & 1U) != 0 && !line_.contains(kKeys[i]))
        throw PageLogError(fmt::format("missing key '{}': '{}' needs {}", kKeys[i], name(e.op),
                                       key_list(keys.needed)));
    fill(e);
    return e;
  }

 private:
  PageOp op() const {
    const json::value* op = line_.if_contains("op");
    if (op == nullptr || !op->is_string()) throw PageLogError("missing key 'op', a text");
    const std::string text(op->get_string());
    for (std::size_t i = 0; i < kPageOps.size(); ++i)
      if (text == kPageOps[i]) return static_cast<PageOp>(i);
    throw PageLogError(fmt::format(
        "no op '{}'{}", text,
        loader::hint(text, std::vector<std::string>(kPageOps.begin(), kPageOps.end()))));
  }

  static void check_key(std::string_view key, const OpKeys& keys) {
    if (key == "t" || key == "op" || key == "event") return;
    const unsigned all = keys.needed | keys.allowed;
    for (std::size_t i = 0; i < kKeys.size(); ++i)
      if (key == kKeys[i] && (all >> i & 1U) != 0) return;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kKeys.size(); ++i)
      if ((all >> i & 1U) != 0) known.emplace_back(kKeys[i]);
    throw PageLogError(
        fmt::format("unknown key '{}' of '{}'{}", key, name(keys.op), loader::hint(key, known)));
  }

  [[nodiscard]] std::int64_t number(const char* key, std::int64_t low, std::int64_t high) const {
    const json::value* value = line_.if_contains(key);
    boost::system::error_code error;
    const std::int64_t number = value != nullptr && value->is_number() && !value->is_double()
                                    ? value->to_number<std::int64_t>(error)
                                    : low - 1;
    if (value == nullptr || error || number < low || number > high)
      throw PageLogError(
          fmt::format("'{}': expected a whole number from {} to {}", key, low, high));
    return number;
  }

  void take(const char* key, std::string& out) const {
    const json::value* value = line_.if_contains(key);
    if (value == nullptr) return;
    if (!value->is_string()) throw PageLogError(fmt::format("'{}': expected a text", key));
    out = std::string(value->get_string());
  }

  template <class T>
  void take(const char* key, T& out, std::int64_t low, std::int64_t high) const {
    if (line_.contains(key)) out = static_cast<T>(number(key, low, high));
  }

  void take(const char* key, std::vector<PageSpan>& out) const {
    const json::value* value = line_.if_contains(key);
    if (value == nullptr) return;
    const auto fail = [&] {
      throw PageLogError(fmt::format("'{}': expected [[first, count], ...]", key));
    };
    if (!value->is_array()) fail();
    for (const json::value& span : value->get_array()) {
      const json::array* pair = span.if_array();
      if (pair == nullptr || pair->size() != 2) fail();
      std::uint32_t ends[2] = {};
      for (std::size_t i = 0; i < 2; ++i) {
        boost::system::error_code error;
        if (!(*pair)[i].is_number() || (*pair)[i].is_double()) fail();
        ends[i] = (*pair)[i].to_number<std::uint32_t>(error);
        if (error) fail();
      }
      out.push_back({ends[0], ends[1]});
    }
  }

  void fill(PageEvent& e) const {
    constexpr std::int64_t kMany = std::int64_t{1} << 40;
    take("deployment", e.deployment);
    take("node", e.node);
    take("group", e.group);
    take("request", e.request, 0, kNoSerial - 1);
    take("pages", e.pages);
    take("to", e.to_node);
    take("to_pages", e.to_pages);
    take("position", e.position, 0, kMany);
    take("tokens", e.tokens, 0, kMany);
    take("id", e.id, 0, kNever - 1);
    take("count", e.count, 0, std::numeric_limits<std::uint32_t>::max());
    take("ranks", e.ranks, 1, 1'024);
    take("rank", e.rank, 0, 1'023);
    take("status", e.status, 0, 999);
    take("tenant", e.tenant);
    take("block_tokens", e.block_tokens, 1, kMany);
    if (const json::value* zeroed = line_.if_contains("zeroed")) {
      if (!zeroed->is_bool()) throw PageLogError("'zeroed': expected true or false");
      e.zeroed = zeroed->get_bool();
    }
    if (const json::value* blocks = line_.if_contains("blocks")) {
      if (!blocks->is_array()) throw PageLogError("'blocks': expected a list of numbers");
      for (const json::value& block : blocks->get_array()) {
        boost::system::error_code error;
        if (!block.is_number() || block.is_double())
          throw PageLogError("'blocks': expected a list of whole numbers");
        e.blocks.push_back(block.to_number<std::uint64_t>(error));
        if (error) throw PageLogError("'blocks': expected a list of whole numbers");
      }
    }
  }

  const json::object& line_;
};

}  // namespace

std::string page_log_head() { return "{\"handoff_page_log\": 1}\n"; }

std::string page_log_line(const PageEvent& e) {
  const OpKeys& keys = keys_of(e.op);
  const unsigned all = keys.needed | keys.allowed;
  const auto has = [&](unsigned key) { return (all & key) != 0; };
  json::object o{{"t", e.at}, {"event", e.event}, {"op", name(e.op)}};
  if (has(kDeployment) && !e.deployment.empty()) o["deployment"] = e.deployment;
  if (has(kNode) && !e.node.empty()) o["node"] = e.node;
  if (has(kGroup)) o["group"] = e.group;
  if (has(kRequest) && e.request != kNoSerial) o["request"] = e.request;
  if (has(kPosition)) o["position"] = e.position;
  if (has(kTokens)) o["tokens"] = e.tokens;
  if (has(kPages)) o["pages"] = spans_of(e.pages);
  if (has(kTo)) o["to"] = e.to_node;
  if (has(kToPages)) o["to_pages"] = spans_of(e.to_pages);
  if (has(kId)) o["id"] = e.id;
  if (has(kCount)) o["count"] = e.count;
  if (has(kRanks)) o["ranks"] = e.ranks;
  if (has(kRank)) o["rank"] = e.rank;
  if (has(kStatus)) o["status"] = e.status;
  if (has(kZeroed) && e.zeroed) o["zeroed"] = true;
  if (has(kTenant) && !e.tenant.empty()) o["tenant"] = e.tenant;
  if (has(kBlocks) && !e.blocks.empty()) {
    json::array blocks;
    for (const std::uint64_t block : e.blocks) blocks.emplace_back(block);
    o["blocks"] = std::move(blocks);
    o["block_tokens"] = e.block_tokens;
  }
  return json::serialize(o) + "\n";
}

struct PageLogReader::Input {
  std::string path;
  std::ifstream file;
  std::string line;
  std::uint64_t number = 0;

  // The next line as an object; nothing at the end.
  std::optional<json::object> object() {
    line.clear();
    if (!std::getline(file, line)) {
      if (file.bad()) throw PageLogError(path + ": cannot be read");
      return std::nullopt;
    }
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > kLineMax)
      throw PageLogError(fmt::format("{}:{}: line too long", path, number));
    boost::system::error_code error;
    json::value value = json::parse(line, error);
    if (error || !value.is_object())
      throw PageLogError(fmt::format("{}:{}: expected one JSON object a line", path, number));
    return std::move(value.get_object());
  }
};

PageLogReader::PageLogReader(const std::string& path) : input_(std::make_unique<Input>()) {
  input_->path = path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw PageLogError(path + ": a folder, not a file");
  input_->file.open(path, std::ios::binary);
  if (!input_->file) throw PageLogError(path + ": cannot open");
  const std::optional<json::object> head = input_->object();
  const json::value* version = head ? head->if_contains("handoff_page_log") : nullptr;
  if (version == nullptr || !version->is_int64() || version->get_int64() != 1)
    throw PageLogError(fmt::format("{}:1: expected {{\"handoff_page_log\": 1}}", path));
}

PageLogReader::~PageLogReader() = default;

std::string PageLogReader::place() const {
  return fmt::format("{}:{}", input_->path, input_->number);
}

bool PageLogReader::next(PageEvent& event) {
  const std::optional<json::object> line = input_->object();
  if (!line) return false;
  try {
    event = LineReader(*line).read();
  } catch (const PageLogError& error) {
    throw PageLogError(fmt::format("{}: {}", place(), error.what()));
  }
  return true;
}

std::string page_log_schema() {
  const auto whole = [](std::int64_t low) {
    return json::object{{"type", "integer"}, {"minimum", low}};
  };
  const json::object text{{"type", "string"}};
  const json::object span{{"type", "array"}, {"items", whole(0)}, {"minItems", 2}, {"maxItems", 2}};
  const json::object spans{{"type", "array"}, {"items", span}};
  const auto value_of = [&](std::string_view key) -> json::object {
    if (key == "pages" || key == "to_pages") return spans;
    if (key == "blocks") return {{"type", "array"}, {"items", whole(0)}};
    if (key == "zeroed") return {{"type", "boolean"}};
    if (key == "deployment" || key == "node" || key == "group" || key == "to" || key == "tenant")
      return text;
    return whole(key == "ranks" || key == "block_tokens" ? 1 : 0);
  };
  json::array ops;
  for (const OpKeys& keys : kOpKeys) {
    json::object properties{
        {"t", whole(0)}, {"op", json::object{{"const", name(keys.op)}}}, {"event", whole(0)}};
    json::array needed{"t", "op"};
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (((keys.needed | keys.allowed) >> i & 1U) == 0) continue;
      properties[kKeys[i]] = value_of(kKeys[i]);
      if ((keys.needed >> i & 1U) != 0) needed.emplace_back(kKeys[i]);
    }
    ops.emplace_back(json::object{{"description", keys.doc},
                                  {"type", "object"},
                                  {"properties", properties},
                                  {"required", needed},
                                  {"additionalProperties", false}});
  }
  return pretty_json(json::object{{"$schema", "http://json-schema.org/draft-07/schema#"},
                                  {"title", "Handoff page log, a line after the first"},
                                  {"oneOf", ops}});
}

std::string page_log_help() {
  std::string out;
  for (const OpKeys& keys : kOpKeys)
    out +=
        fmt::format("  {:<8} {}\n           {}\n", name(keys.op), keys.doc, key_list(keys.needed));
  return out;
}

}  // namespace handoff

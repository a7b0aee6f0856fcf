// Kinds that only one table uses.
#include <fmt/format.h>

#include "scenarios/loader/tables_faults.hpp"

namespace handoff::loader {
namespace {

constexpr double kNsPerSecond = 1e9;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

// The rate is a double. Up to this gap rounding its inverse gives back the very nanosecond: the two
// divisions are off by at most 2^-52 of it, under half a nanosecond.
void Every::read(ReadContext& context, const Node& node, double& out) const {
  constexpr TimeNs kGapMax = 14 * kDay;
  TimeNs gap = 0;
  Duration{.low = 1}.read(context, node, gap);
  if (gap > kGapMax)
    return context.error(
        node, fmt::format("expected at most {}, found '{}'", format_duration(kGapMax), node.text));
  if (gap > 0) out = kNsPerSecond / static_cast<double>(gap);
}

NodePtr Every::write(const Surroundings&, double& value) const {
  return plain(format_duration(static_cast<TimeNs>(kNsPerSecond / value + 0.5)));
}

void NodeReference::read(ReadContext& context, const Node& node, NodeView& out) const {
  constexpr const char* kExpected = "a node such as prefill[0] or decode[1]";
  const std::string* text = any_text(context, node, kExpected);
  if (text == nullptr) return;
  const std::size_t bracket = text->find('[');
  const std::string role = text->substr(0, bracket);
  if ((role == "prefill" || role == "decode") && bracket != std::string::npos &&
      text->back() == ']') {
    const Parsed<std::int64_t> index =
        parse_integer(std::string_view(*text).substr(bracket + 1, text->size() - bracket - 2));
    if (index.value && *index.value >= 0 &&
        *index.value <= std::numeric_limits<std::int32_t>::max()) {
      out.role = role == "prefill" ? NodeRole::prefill : NodeRole::decode;
      out.node = static_cast<std::uint32_t>(*index.value);
      return;
    }
  }
  context.error(node, fmt::format("expected {}, found '{}'", kExpected, *text));
}

NodePtr NodeReference::write(const Surroundings&, NodeView& value) const {
  return quoted(
      fmt::format("{}[{}]", value.role == NodeRole::prefill ? "prefill" : "decode", value.node));
}

void detect_format(ReadContext& context, const Node& path_node, TraceConfig& trace) {
  std::string_view path = path_node.text;
  if (ends_with(path, ".gz")) path.remove_suffix(3);
  if (ends_with(path, ".jsonl"))
    trace.format = TraceFormat::mooncake;
  else if (ends_with(path, ".csv"))
    trace.format = TraceFormat::azure;
  else if (path_node.kind == Node::Kind::scalar)
    context.error(
        path_node,
        "the file's name does not tell its format; add 'format: mooncake' or 'format: azure'");
}

}  // namespace handoff::loader

// What no key can tell alone: names, indexes, and values that must fit together. Each error stands
// at the key that is to be changed. Also fills what follows from other keys: names and derived
// pools.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scenarios/loader/load.hpp"
#include "scenarios/loader/tables_scenario.hpp"

namespace handoff::loader {
namespace {

// Memory of the simulator: a page of a pool takes tens of bytes, in each rank.
constexpr std::int64_t kPagesMax = std::int64_t{1} << 24;

class Validator {
 public:
  Validator(const Node& root, Scenario& scenario, Diagnostics& diagnostics)
      : root_(root), run_(scenario.run), diagnostics_(diagnostics) {}

  void all() {
    for (std::size_t i = 0; i < run_.deployments.size(); ++i) deployment(i);
    nodes();
    for (std::size_t i = 0; i < run_.workloads.size(); ++i) workload(i);
    for (std::size_t i = 0; i < run_.faults.size(); ++i) fault(i);
    operations();
    for (std::size_t i = 0; i < run_.notes.size(); ++i)
      within(run_.notes[i].at_ns, fmt::format("notes[{}].at", i));
  }

 private:
  void error(const std::string& path, const std::string& message) {
    diagnostics_.error(locate(root_, path), message);
  }

  [[nodiscard]] std::string deployment_path(std::size_t i, const char* key) const {
    return root_.find("model") != nullptr ? key : fmt::format("deployments[{}].{}", i, key);
  }

  void within(TimeNs at, const std::string& path) {
    const TimeNs last = run_.limits.time_max_ns;
    if (at != kNever && at > last)
      error(path,
            fmt::format("{} is after limits.time, {}", format_duration(at), format_duration(last)));
  }

  void nodes() {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < run_.deployments.size(); ++i) {
      const DeploymentConfig& d = run_.deployments[i];
      all += static_cast<std::int64_t>(d.prefill.nodes) + d.decode.nodes;
      if (all <= kServingNodesMax) continue;
      error(deployment_path(i, "cluster"),
            fmt::format("{} nodes so far: a scenario has at most {} in all", all, kServingNodesMax));
      return;
    }
  }

  void deployment(std::size_t i) {
    DeploymentConfig& d = run_.deployments[i];
    for (std::size_t j = 0; j < i; ++j)
      if (run_.deployments[j].name == d.name)
        error(deployment_path(i, "name"), fmt::format("two deployments named '{}'", d.name));
    if (d.context_window > d.model.context_max)
      error(deployment_path(i, "cluster.context_window"),
            fmt::format("{} is above the context of {}, {}", d.context_window, d.model.name,
                        d.model.context_max));
    const bool embed = d.model.role == ModelRole::embed;
    if (!embed && d.decode.nodes == 0)
      error(deployment_path(i, "cluster"),
            fmt::format("missing key 'decode': {} generates", d.model.name));
    if (embed && d.decode.nodes > 0)
      error(deployment_path(i, "cluster.decode"),
            fmt::format("{} is an embedding model: it has no decode nodes", d.model.name));
    node_group(d, d.prefill, deployment_path(i, "cluster.prefill"));
    if (d.decode.nodes > 0) node_group(d, d.decode, deployment_path(i, "cluster.decode"));
  }

  void node_group(const DeploymentConfig& d, NodeGroupConfig& group, const std::string& path) {
    if (d.model.groups.empty()) return;  // keeps no memory
    if (group.kv_pool_tokens == 0) {
      group.kv_pool_tokens = derived_pool_tokens(d.model, group.hardware);
      if (group.kv_pool_tokens <= 0) {
        group.kv_pool_tokens = 0;
        return error(
            path,
            fmt::format("the weights of {} do not fit {}: nothing is left for 'kv_pool_tokens'",
                        d.model.name, group.hardware.name));
      }
    }
    pool(group.kv_pool_tokens, d.engine.page_tokens, path + ".kv_pool_tokens");
  }

  void pool(std::int64_t tokens, std::int64_t page_tokens, const std::string& path) {
    if (tokens < page_tokens)
      error(path, fmt::format("a pool of {} tokens holds no page of {}", tokens, page_tokens));
    if (tokens / page_tokens > kPagesMax)
      error(path, fmt::format("a pool of {} pages; at most {}", tokens / page_tokens, kPagesMax));
  }

  void workload(std::size_t i) {
    WorkloadConfig& w = run_.workloads[i];
    const std::string path = fmt::format("workload[{}]", i);
    if (w.name.empty()) w.name = path;
    for (std::size_t j = 0; j < i; ++j)
      if (run_.workloads[j].name == w.name)
        error(path + ".name", fmt::format("two workloads named '{}'", w.name));
    const ModelSpec& model = run_.deployments[w.deployment].model;
    const bool embed = model.role == ModelRole::embed;
    if (auto* s = std::get_if<SyntheticConfig>(&w.source))
      synthetic(*s, embed, path + ".synthetic");
    if (auto* listed = std::get_if<std::vector<ListedRequest>>(&w.source))
      for (std::size_t r = 0; r < listed->size(); ++r)
        listed_request((*listed)[r], embed, fmt::format("{}.requests[{}]", path, r));
    if (std::holds_alternative<TraceConfig>(w.source) && embed)
      error(path + ".trace",
            fmt::format("traces hold generated tokens; {} is an embedding model", model.name));
  }

  void synthetic(const SyntheticConfig& s, bool embed, const std::string& path) {
    if (s.requests_max == 0 && s.for_ns == kNever) error(path, "endless: give 'requests' or 'for'");
    within(s.from_ns, path + ".from");
    lengths(s.prompt, 1, path + ".prompt");
    output(s.output, embed, path + ".output");
    tenants(s.tenants, path + ".tenants");
  }

  void output(const LengthDistribution& d, bool embed, const std::string& path) {
    const bool none = d.kind == LengthDistribution::Kind::fixed && d.value == 0;
    if (embed && !none) error(path, "an embedding model writes no tokens: output: {fixed: 0}");
    if (!embed) lengths(d, 1, path);
  }

  void tenants(const std::vector<TenantShare>& list, const std::string& path) {
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (list[i].name == list[j].name)
          error(fmt::format("{}[{}].name", path, i),
                fmt::format("two tenants named '{}'", list[i].name));
  }

  // Every draw can succeed and gives at least `least`.
  void lengths(const LengthDistribution& d, std::int64_t least, const std::string& path) {
    using Kind = LengthDistribution::Kind;
    switch (d.kind) {
      case Kind::fixed:
        if (d.value < least)
          error(path + ".fixed",
                fmt::format("expected at least {} token{}", least, least == 1 ? "" : "s"));
        return;
      case Kind::uniform:
        return bounds(d, least, path + ".uniform");
      case Kind::lognormal: {
        bounds(d, least, path + ".lognormal");
        const bool inside = d.median >= static_cast<double>(d.low) &&
                            (d.high == 0 || d.median <= static_cast<double>(d.high));
        // Else draws are thrown away more often than not, some nearly for ever.
        if (!inside) error(path + ".lognormal.median", "the median lies outside [low, high]");
        return;
      }
      case Kind::pareto:
        bounds(d, least, path + ".pareto");
        if (d.high != 0 && d.scale >= static_cast<double>(d.high))
          error(path + ".pareto.scale", "the smallest value lies above 'high'");
        if (d.scale * 2 < static_cast<double>(d.low))
          error(path + ".pareto.scale", "the smallest value lies far below 'low'");
        return;
      case Kind::mixture:
        for (std::size_t i = 0; i < d.parts.size(); ++i)
          lengths(*d.parts[i].of, least, fmt::format("{}.mixture[{}].of", path, i));
        return;
    }
  }

  void bounds(const LengthDistribution& d, std::int64_t least, const std::string& path) {
    if (d.low < least)
      error(path + ".low",
            fmt::format("expected at least {} token{}", least, least == 1 ? "" : "s"));
    if (d.high != 0 && d.low > d.high)
      error(path + ".low", fmt::format("low ({}) is above high ({})", d.low, d.high));
  }

  void listed_request(const ListedRequest& r, bool embed, const std::string& path) {
    within(r.at_ns, path + ".at");
    if (embed && r.output_tokens != 0)
      error(path + ".output_tokens", "an embedding model writes no tokens: output_tokens: 0");
    if (!embed && r.output_tokens == 0) error(path + ".output_tokens", "expected at least 1 token");
    if (r.blocks.empty() != (r.block_tokens == 0))
      error(path, "'blocks' and 'block_tokens' go together");
    if (r.block_tokens > 0 &&
        static_cast<std::int64_t>(r.blocks.size()) > div_ceil(r.prompt_tokens, r.block_tokens))
      error(path + ".blocks", fmt::format("{} blocks of {} tokens, but the prompt has {}",
                                          r.blocks.size(), r.block_tokens, r.prompt_tokens));
  }

  void fault(std::size_t i) {
    Fault& f = run_.faults[i];
    const std::string path = fmt::format("faults[{}]", i);
    if (auto* o = std::get_if<OversizePromptFault>(&f.what))
      oversize(f, *o, path + ".oversize_prompt");
    if (auto* n = std::get_if<NoticeFault>(&f.what)) notice(f, *n, path + ".notice");
    if (auto* a = std::get_if<ClientAbortFault>(&f.what))
      client_abort(f, *a, path + ".client_abort");
    if (auto* c = std::get_if<NodeCrashFault>(&f.what)) node_crash(f, *c, path + ".node_crash");
    if (auto* l = std::get_if<LinkFault>(&f.what)) {
      name(f, "link");
      within(l->at_ns, path + ".link.at");
    }
  }

  static void name(Fault& f, const std::string& kind) {
    if (f.name.empty()) f.name = kind;
  }

  void oversize(Fault& f, const OversizePromptFault& o, const std::string& path) {
    name(f, "oversize_prompt");
    if (o.count > 0 && o.rate_per_10k > 0)
      error(path + ".rate", "'rate' beside 'count': only one of them can be");
    if (o.count == 0 && o.rate_per_10k == 0 && o.at_ns.empty())
      error(path, "missing key: one of count, rate, at");
    if (o.count > 0 && o.for_ns == kNever)
      error(path + ".count", "a count is spread over 'for', which is missing");
    lengths(o.prompt, 1, path + ".prompt");
    output(o.output, run_.deployments[o.deployment].model.role == ModelRole::embed,
           path + ".output");
    tenants(o.tenants, path + ".tenants");
    within(o.from_ns, path + ".from");
    for (std::size_t k = 0; k < o.at_ns.size(); ++k)
      within(o.at_ns[k], fmt::format("{}.at[{}]", path, k));
  }

  void index(const std::optional<std::uint32_t>& value, std::uint32_t count, const char* what,
             const std::string& path) {
    if (value && *value >= count)
      error(path,
            fmt::format("no {} {}: there {} {}", what, *value, count == 1 ? "is" : "are", count));
  }

  void notice(Fault& f, const NoticeFault& n, const std::string& path) {
    std::string kind;
    for (const auto& [word, value] : EnumNames<NoticeFaultKind>::kNames)
      if (value == n.kind) kind = word;
    name(f, "notice " + kind);
    const DeploymentConfig& d = run_.deployments[n.deployment];
    const NoticeSelector& s = n.select;
    const bool needs_time = takes_time(n.kind) && n.kind != NoticeFaultKind::duplicate;
    if (needs_time && n.by_ns == 0) error(path, fmt::format("missing key 'by': how much {}", kind));
    if (!takes_time(n.kind) && locate_has(path + ".by"))
      error(path + ".by", fmt::format("'by' has no meaning for kind {}", kind));
    const bool is_short = n.kind == NoticeFaultKind::short_data;
    if (!is_short && locate_has(path + ".pages"))
      error(path + ".pages", fmt::format("'pages' has no meaning for kind {}", kind));
    index(s.prefill_node, d.prefill.nodes, "prefill node", path + ".when.prefill_node");
    index(s.decode_node, d.decode.nodes, "decode node", path + ".when.decode_node");
    index(s.rank, d.ranks, "rank", path + ".when.rank");
    std::vector<std::string> groups;
    for (const GroupSpec& g : d.model.groups) groups.push_back(g.name);
    if (s.group && !is_short)
      error(path + ".when.group", fmt::format("'group' has no meaning for kind {}", kind));
    else if (s.group && std::find(groups.begin(), groups.end(), *s.group) == groups.end())
      error(path + ".when.group",
            fmt::format("{} has no group '{}'{}", d.model.name, *s.group, hint(*s.group, groups)));
    within(s.from_ns, path + ".when.from");
  }

  // Whether the very key stands in the file, not only something above it.
  [[nodiscard]] bool locate_has(const std::string& path) const {
    const std::size_t dot = path.rfind('.');
    const Mark parent = locate(root_, path.substr(0, dot));
    const Mark own = locate(root_, path);
    return own.source != parent.source || own.line != parent.line || own.column != parent.column;
  }

  void client_abort(Fault& f, const ClientAbortFault& a, const std::string& path) {
    name(f, "client_abort");
    const bool at = locate_has(path + ".at"), after = locate_has(path + ".after");
    if (a.request.has_value() == (a.chance_permille > 0))
      return error(path, "exactly one of: request with at, chance with after");
    if (a.request && !at)
      error(path, "missing key 'at': when request " + std::to_string(*a.request) + " aborts");
    if (!a.request && !after) error(path, "missing key 'after': how long after arrival");
    if (a.request && after) error(path + ".after", "'after' goes with 'chance'");
    if (!a.request && at) error(path + ".at", "'at' goes with 'request'");
    within(a.at_ns, path + ".at");
  }

  void node_crash(Fault& f, const NodeCrashFault& c, const std::string& path) {
    name(f, "node_crash");
    const DeploymentConfig& d = run_.deployments[c.deployment];
    const bool prefill = c.role == NodeRole::prefill;
    index(c.node, prefill ? d.prefill.nodes : d.decode.nodes,
          prefill ? "prefill node" : "decode node", path + ".node");
    within(c.at_ns, path + ".at");
    if (c.for_ns == 0) error(path + ".for", "a crash of no length");
  }

  // Per deployment in time order, and each makes sense after the one before.
  void operations() {
    std::vector<const Operation*> last(run_.deployments.size(), nullptr);
    for (std::size_t i = 0; i < run_.operations.size(); ++i) {
      const Operation& o = run_.operations[i];
      const char* const names[] = {"take_offline", "drain", "redeploy"};
      const std::string path = fmt::format("operations[{}].{}", i, names[static_cast<int>(o.kind)]);
      const DeploymentConfig& d = run_.deployments[o.deployment];
      const Operation* before = last[o.deployment];
      within(o.at_ns, path + ".at");
      if (before != nullptr && o.at_ns <= before->at_ns)
        error(path + ".at",
              fmt::format("{} is not after the operation before it on {}, {}",
                          format_duration(o.at_ns), d.name, format_duration(before->at_ns)));
      const bool stopped = before != nullptr && before->kind != Operation::Kind::redeploy;
      const bool offline = stopped && before->kind == Operation::Kind::take_offline;
      if ((o.kind == Operation::Kind::drain && stopped) ||
          (o.kind == Operation::Kind::take_offline && offline))
        error(path, fmt::format("{} takes nothing new since the operation before", d.name));
      if (o.engine)
        for (const NodeGroupConfig* group : {&d.prefill, &d.decode})
          if (group->nodes > 0 && !d.model.groups.empty())
            pool(group->kv_pool_tokens, o.engine->page_tokens, path + ".engine");
      last[o.deployment] = &o;
    }
  }

  const Node& root_;
  RunConfig& run_;
  Diagnostics& diagnostics_;
};

}  // namespace

void validate(const Node& root, Scenario& scenario, Diagnostics& diagnostics) {
  Validator(root, scenario, diagnostics).all();
}

}  // namespace handoff::loader

namespace handoff {

std::int64_t derived_pool_tokens(const ModelSpec& model, const HardwareSpec& hardware) {
  const std::int64_t weights =
      div_ceil(mul_div(model.parameters_total, model.weight_bits, 8), hardware.devices);
  const std::int64_t free_bytes = mul_div(hardware.memory_bytes, 9, 10) - weights;
  std::int64_t token_bytes = 0;
  for (const GroupSpec& g : model.groups)
    token_bytes += g.replicated ? g.bytes_per_token : div_ceil(g.bytes_per_token, hardware.devices);
  return token_bytes > 0 ? free_bytes / token_bytes : 0;
}

}  // namespace handoff

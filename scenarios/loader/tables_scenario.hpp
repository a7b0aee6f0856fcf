// Field tables of a scenario file: deployments, network, operations, limits, and the top.
#pragma once

#include "scenarios/loader/catalog.hpp"
#include "scenarios/loader/expect.hpp"
#include "scenarios/loader/tables_faults.hpp"
#include "scenarios/scenario.hpp"

namespace handoff::loader {

template <>
struct EnumNames<Stepping> {
  static constexpr std::array<std::pair<const char*, Stepping>, 2> kNames{
      {{"lazy", Stepping::lazy}, {"every_token", Stepping::every_token}}};
};
template <>
inline constexpr const char* kDefinition<NodeGroupConfig> = "nodes";

// Nodes of a scenario in all: routes are laid out between all pairs before a run.
inline constexpr std::int64_t kServingNodesMax = 1'024;

// Another scenario to start from.
struct Extension {
  std::string file;
  std::vector<std::string> set;
};
template <class V>
void describe(V& v, Extension& e) {
  v.required("file", e.file, FilePath{}, "the scenario, relative to this one");
  v.optional("set", e.set, List<Text>{}, "path=value, changes to it");
}

// `extends: FILE`, or {file: FILE, set: [...]}. Applied before the scenario is read
// (apply_extends).
struct ExtensionReference {
  void read(ReadContext& context, const Node& node, Extension& out) const {
    if (node.kind == Node::Kind::scalar)
      FilePath{}.read(context, node, out.file);
    else
      Object{}.read(context, node, out);
  }
  template <class T>
  NodePtr schema(Definitions& definitions) const {
    return mapping(
        {entry("anyOf", sequence({type_schema("string"), Object{}.schema<T>(definitions)}))});
  }
};

template <class V>
void describe(V& v, RooflineEfficiency& e) {
  const Share share{1000, 1, 1000};
  v.optional("compute", e.compute_permille, share, "of the peak, dense layers");
  v.optional("memory", e.memory_permille, share, "of the peak bandwidth");
  v.optional("attention", e.attention_permille, share, "of the peak, attention");
  v.optional("prefill_overhead", e.prefill_overhead_ns, Duration{}, "fixed cost of a step");
  v.optional("decode_overhead", e.decode_overhead_ns, Duration{}, "fixed cost of a step");
}

template <class V>
void describe(V& v, NodeGroupConfig& g) {
  v.optional("nodes", g.nodes, Integer{1, kServingNodesMax}, "how many");
  v.required("hardware", g.hardware, FromCatalog{}, "of each");
  v.section(
      "kv_pool_tokens", g.kv_pool_tokens > 0, [&]() -> auto& { return g.kv_pool_tokens; },
      Integer{1, std::int64_t{1} << 33},
      "of every group, rounded down to whole pages. Left out: 0.9 x memory less the weights, of a "
      "device, "
      "over the bytes that a token takes there");
  v.optional("efficiency", g.efficiency, Object{}, "how near kernels come to the datasheet");
}

struct ClusterView {
  using Owner = DeploymentConfig;
  DeploymentConfig& d;
};

template <class V>
void describe(V& v, ClusterView& c) {
  v.required("context_window", c.d.context_window, Integer{8, kTokensMax},
             "tokens of prompt and output");
  v.optional("ranks", c.d.ranks, Integer{1, 64},
             "modelled per node; 1 stands for all while nothing tells them apart");
  v.required("prefill", c.d.prefill, Object{}, "nodes that read prompts");
  // An embedding model has none; whether it may be left out depends on the model.
  if constexpr (V::kReading) c.d.decode.nodes = 0;
  const auto decode = [&]() -> NodeGroupConfig& {
    if (c.d.decode.nodes == 0) c.d.decode = NodeGroupConfig{};
    return c.d.decode;
  };
  v.section("decode", c.d.decode.nodes > 0, decode, Object{}, "nodes that write responses");
}

template <class V>
void describe(V& v, DeploymentConfig& d) {
  v.optional("name", d.name, Text{}, "the model's name when left out");
  v.required("model", d.model, FromCatalog{}, "what is served");
  v.required("engine", EngineView{d.engine, d.engine_name}, FromCatalog{},
             "the engine's decisions");
  v.required("cluster", ClusterView{d}, Object{}, "its nodes");
  if constexpr (V::kReading)
    if (d.name.empty()) d.name = d.model.name;
}

template <class V>
void describe(V& v, NetworkConfig& n) {
  v.optional("link_latency", n.link_latency_ns, Duration{.high = kHour}, "of every link");
  v.optional("node_rate", n.node_bytes_per_second, byte_rate(1, {"hardware", 0}),
             "of a node's attachment; hardware: devices x their NIC");
  v.optional("spine_rate", n.spine_bytes_per_second, byte_rate(1, {"unlimited", 0}),
             "between the prefill and the decode side");
}

struct TimedOperation {
  using Owner = Operation;
  Operation& o;
};
struct Redeploy {
  using Owner = Operation;
  Operation& o;
};

template <class V>
void describe(V& v, TimedOperation& t) {
  v.deployment("deployment", t.o.deployment, "which one");
  v.required("at", t.o.at_ns, kInstant, "when");
}

template <class V>
void describe(V& v, Redeploy& r) {
  TimedOperation timed{r.o};
  describe(v, timed);
  const auto engine = [&] {
    if (!r.o.engine) r.o.engine.emplace();
    return EngineView{*r.o.engine, r.o.engine_name};
  };
  v.section("engine", r.o.engine.has_value(), engine, FromCatalog{},
            "the one it had when left out");
}

template <class V>
void describe(V& v, Operation& o) {
  using Kind = Operation::Kind;
  const auto timed = [&](Kind kind, auto view) {
    return [&o, kind, view] { return o.kind = kind, view; };
  };
  if constexpr (V::kReading) o.mark = source_mark(v.node().mark);
  v.alternative("take_offline", o.kind == Kind::take_offline,
                timed(Kind::take_offline, TimedOperation{o}), Object{},
                "nothing new is admitted, what runs is aborted");
  v.alternative("drain", o.kind == Kind::drain, timed(Kind::drain, TimedOperation{o}), Object{},
                "nothing new is admitted, what runs ends");
  v.alternative("redeploy", o.kind == Kind::redeploy, timed(Kind::redeploy, Redeploy{o}), Object{},
                "comes back with empty memory");
}

template <class V>
void describe(V& v, TimelineNote& n) {
  v.required("at", n.at_ns, kInstant, "when");
  v.required("text", n.text, Text{}, "shown in the timeline, without effect");
}

struct LimitsView {
  using Owner = RunConfig;
  RunConfig& run;
};

template <class V>
void describe(V& v, LimitsView& l) {
  Limits& limits = l.run.limits;
  v.optional("events", limits.events_max, Integer{1}, "of the run");
  v.optional("time", limits.time_max_ns, Duration{.low = 1, .none = true}, "simulated");
  v.optional("stall_events", limits.stall_events_max, Integer{1}, "without any request ending");
  v.optional("stall_time", limits.stall_time_max_ns, Duration{.low = 1, .none = true},
             "without any request ending");
  v.optional("micro_steps", limits.delta_max, Integer{1}, "of one instant");
  v.optional("findings", l.run.findings_max, Integer{0, 10'000'000},
             "kept in full; beyond, counted");
}

template <class V>
void describe(V& v, FixedArm& a) {
  if constexpr (V::kReading) a.mark = source_mark(v.node().mark);
  v.section(
      "name", !a.name.empty(), [&]() -> auto& { return a.name; }, Text{}, "of the fix");
  v.required("set", a.set, List<Text>{{}, 1}, "path=value, changes to this scenario");
  v.section(
      "expect", !a.expect.all.empty(), [&]() -> auto& { return a.expect; }, Expect{},
      "besides: no finding, no tainted or corrupt response, nothing unfinished");
}

// Either one deployment at the top, or a list.
template <class V>
void describe_deployments(V& v, RunConfig& run) {
  const bool single = v.has("model");
  const auto first = [&]() -> DeploymentConfig& {
    if (run.deployments.empty()) run.deployments.resize(1);
    return run.deployments[0];
  };
  v.alternative(
      "deployments", true, [&]() -> auto& { return run.deployments; }, List<Object>{{}, 1},
      "several side by side");
  v.alternative(
      "model", false, [&]() -> auto& { return first().model; }, FromCatalog{},
      "of the one deployment");
  v.sibling(
      "model", single, "engine",
      [&] {
        return EngineView{first().engine, first().engine_name};
      },
      FromCatalog{}, "of the one deployment", true);
  v.sibling(
      "model", single, "cluster", [&] { return ClusterView{first()}; }, Object{},
      "of the one deployment", true);
  if constexpr (V::kReading) {
    const std::size_t errors = v.context().diagnostics.count();
    if (single && first().name.empty()) first().name = first().model.name;
    for (const DeploymentConfig& d : run.deployments) v.context().deployments.push_back(d.name);
    v.context().deployments_broken = errors > 0;
  }
}

template <class V>
void describe(V& v, Scenario& s) {
  RunConfig& run = s.run;
  std::int64_t version = 1;
  v.required("handoff", version, Integer{1, 1}, "version of this format");
  if constexpr (std::is_same_v<V, SchemaObject>) {
    Extension base;
    v.section(
        "extends", true, [&]() -> auto& { return base; }, ExtensionReference{},
        "another scenario; the keys given here replace its keys");
  }
  v.required("name", s.name, Text{}, "of the scenario");
  v.section(
      "description", !s.description.empty(), [&]() -> auto& { return s.description; }, Text{},
      "what it shows");
  v.optional("seed", run.seed, Unsigned64{}, "of everything drawn");
  v.section(
      "start", s.start_unix_ns.has_value(), [&]() -> auto& { return s.start_unix_ns; }, Calendar{},
      "time 0, UTC; with it, instants can be written as times of the calendar");
  if constexpr (V::kReading) {
    v.context().start_unix_ns = s.start_unix_ns;
    v.context().start_broken = v.has("start") && !s.start_unix_ns;
  }
  v.optional("stepping", run.stepping, Enumeration{},
             "how decode nodes advance; both give equal results");
  describe_deployments(v, run);
  v.optional("network", run.network, Object{}, "between the nodes");
  v.required("workload", run.workloads, List<Object>{{}, 1}, "what arrives");
  v.optional("faults", run.faults, List<Object>{}, "what goes wrong");
  v.optional("operations", run.operations, List<Object>{}, "what operators do");
  v.optional("notes", run.notes, List<Object>{}, "remarks for the timeline");
  v.optional("terminate_within", run.terminate_within_ns, Duration{.low = 1},
             "oracle I6: every request has its terminal state this long after arrival");
  v.optional("limits", LimitsView{run}, Object{}, "where a run is stopped");
  v.section(
      "expect",
      !s.expect.all.empty() || s.expect.findings_given, [&]() -> auto& { return s.expect; },
      Expect{}, "what must come out");
  v.optional("fixed", s.fixed, List<Object>{}, "changes with which nothing is wrong any more");
}

}  // namespace handoff::loader

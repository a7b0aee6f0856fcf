// Field tables of workloads: what arrives, when, how long.
#pragma once

#include "models/workload/workload.hpp"
#include "scenarios/loader/kinds.hpp"

namespace handoff::loader {

inline constexpr std::int64_t kTokensMax = std::int64_t{1} << 29;  // what the cost model takes
inline constexpr std::int64_t kCountMax = std::int64_t{1} << 53;
inline constexpr Integer kRequestsMax{1, kCountMax, {"all", 0}};
inline constexpr Duration kLasting{.none = true};  // `for`, and patience

template <>
struct EnumNames<TraceFormat> {
  static constexpr std::array<std::pair<const char*, TraceFormat>, 2> kNames{
      {{"mooncake", TraceFormat::mooncake}, {"azure", TraceFormat::azure}}};
};
template <>
struct EnumNames<ArrivalMode> {
  static constexpr std::array<std::pair<const char*, ArrivalMode>, 2> kNames{
      {{"as_recorded", ArrivalMode::as_recorded}, {"spread", ArrivalMode::spread}}};
};
template <>
inline constexpr const char* kDefinition<LengthDistribution> = "lengths";

// The alternative `held` of a variant, made when it holds another.
template <class T, class Variant>
T& ensure(Variant& held) {
  if (!std::holds_alternative<T>(held)) held.template emplace<T>();
  return std::get<T>(held);
}

// One shape of a distribution or process, as a mapping of its own.
template <class T, int Shape>
struct ShapeOf {
  using Owner = T;
  T& d;
};
using Uniform = ShapeOf<LengthDistribution, 0>;
using Lognormal = ShapeOf<LengthDistribution, 1>;
using Pareto = ShapeOf<LengthDistribution, 2>;
using Poisson = ShapeOf<ArrivalProcess, 0>;
using Gamma = ShapeOf<ArrivalProcess, 1>;
using Regular = ShapeOf<ArrivalProcess, 2>;

template <class V>
void describe_bounds(V& v, LengthDistribution& d) {
  v.optional("low", d.low, Integer{0, kTokensMax}, "shorter ones are drawn again");
  v.optional("high", d.high, Integer{1, kTokensMax, {"none", 0}}, "longer ones are drawn again");
}

template <class V>
void describe(V& v, Uniform& u) {
  v.required("low", u.d.low, Integer{0, kTokensMax}, "tokens at least");
  v.required("high", u.d.high, Integer{1, kTokensMax}, "tokens at most");
}

template <class V>
void describe(V& v, Lognormal& l) {
  v.required("median", l.d.median, Number{1, kTokensMax}, "tokens");
  v.required("sigma", l.d.sigma, Number{0, 8}, "deviation of the logarithm");
  describe_bounds(v, l.d);
}

template <class V>
void describe(V& v, Pareto& p) {
  v.required("scale", p.d.scale, Number{1, kTokensMax}, "smallest value, tokens");
  v.required("alpha", p.d.alpha, Number{0.01, 100}, "tail exponent");
  describe_bounds(v, p.d);
}

template <class V>
void describe(V& v, LengthDistribution::Part& p) {
  v.optional("weight", p.weight, Integer{1, 1'000'000}, "share among the parts");
  v.required("of", p.of, Pointed{}, "lengths");
}

template <class V>
void describe(V& v, LengthDistribution& d) {
  using Kind = LengthDistribution::Kind;
  const auto shape = [&](Kind kind, auto view) {
    return [&d, kind, view] { return d.kind = kind, view; };
  };
  const auto fixed = [&]() -> std::int64_t& { return d.kind = Kind::fixed, d.value; };
  const auto parts = [&]() -> std::vector<LengthDistribution::Part>& {
    return d.kind = Kind::mixture, d.parts;
  };
  v.alternative("fixed", d.kind == Kind::fixed, fixed, Integer{0, kTokensMax},
                "always that many tokens");
  v.alternative("uniform", d.kind == Kind::uniform, shape(Kind::uniform, Uniform{d}), Object{},
                "low to high");
  v.alternative("lognormal", d.kind == Kind::lognormal, shape(Kind::lognormal, Lognormal{d}),
                Object{}, "the shape of most prompt lengths");
  v.alternative("pareto", d.kind == Kind::pareto, shape(Kind::pareto, Pareto{d}), Object{},
                "a heavy tail");
  v.alternative("mixture", d.kind == Kind::mixture, parts, List<Object>{{}, 1},
                "one of several, by weight");
}

// A regular gap, held as a rate.
struct Every {
  void read(ReadContext& context, const Node& node, double& out) const;
  NodePtr write(const Surroundings&, double& value) const;
  template <class T>
  NodePtr schema(Definitions& definitions) const {
    return Duration{}.schema<TimeNs>(definitions);
  }
};

template <class V>
void describe(V& v, Poisson& p) {
  v.required("rate", p.d.rate_per_s, EventRate{}, "mean");
}

template <class V>
void describe(V& v, Gamma& g) {
  v.required("rate", g.d.rate_per_s, EventRate{}, "mean");
  v.required("cv", g.d.cv, Number{0.01, 100}, "coefficient of variation of the gaps; 1 is Poisson");
}

template <class V>
void describe(V& v, Regular& r) {
  v.required("every", r.d.rate_per_s, Every{}, "gap");
}

template <class V>
void describe(V& v, ArrivalProcess& a) {
  using Kind = ArrivalProcess::Kind;
  const auto shape = [&](Kind kind, auto view) {
    return [&a, kind, view] { return a.kind = kind, view; };
  };
  v.alternative("poisson", a.kind == Kind::poisson, shape(Kind::poisson, Poisson{a}), Object{},
                "independent users");
  v.alternative("gamma", a.kind == Kind::gamma, shape(Kind::gamma, Gamma{a}), Object{}, "bursts");
  v.alternative("fixed", a.kind == Kind::fixed, shape(Kind::fixed, Regular{a}), Object{},
                "a metronome");
}

template <class V>
void describe(V& v, TenantShare& t) {
  v.required("name", t.name, Text{}, "as reports name it");
  v.optional("weight", t.weight, Integer{1, 1'000'000}, "share of the requests");
}

struct SharedPrefix {
  using Owner = SyntheticConfig;
  SyntheticConfig& s;
};
template <class V>
void describe(V& v, SharedPrefix& p) {
  v.required("chance", p.s.shared_prefix_permille, Share{}, "of a prompt to start with one");
  v.optional("prefixes", p.s.shared_prefixes, Integer{1, 1'000'000}, "different ones, per tenant");
  v.required("tokens", p.s.shared_prefix_tokens, Integer{1, kTokensMax}, "length of each");
}

template <class V>
void describe(V& v, SyntheticConfig& s) {
  v.required("arrivals", s.arrivals, Object{}, "when requests come");
  v.required("prompt", s.prompt, Object{}, "tokens of a prompt");
  v.required("output", s.output, Object{}, "tokens of a response");
  v.optional("requests", s.requests_max, kRequestsMax, "how many");
  v.optional("from", s.from_ns, kInstant, "the first comes after this");
  v.optional("for", s.for_ns, kLasting, "none comes later than this after `from`");
  v.section(
      "tenants", !s.tenants.empty(), [&]() -> auto& { return s.tenants; }, List<Object>{{}, 1},
      "who asks; one named after the workload when left out");
  v.section(
      "shared_prefix", s.shared_prefix_permille > 0, [&] { return SharedPrefix{s}; }, Object{},
      "prompts that start alike");
}

template <class V>
void describe(V& v, ListedRequest& r) {
  v.required("at", r.at_ns, kInstant, "arrival");
  v.optional("prompt_tokens", r.prompt_tokens, Integer{1, kTokensMax}, "tokens of the prompt");
  v.optional("output_tokens", r.output_tokens, Integer{0, kTokensMax}, "tokens of the response");
  v.section(
      "tenant", !r.tenant.empty(), [&]() -> auto& { return r.tenant; }, Text{},
      "who asks; the workload's name when left out");
  v.optional("abort_after", r.abort_after_ns, kLasting,
             "the client gives up this long after arrival");
  v.section(
      "blocks", !r.blocks.empty(), [&]() -> auto& { return r.blocks; }, List<Unsigned64>{},
      "labels of the prompt's first blocks; equal labels after equal blocks mean equal tokens");
  v.section(
      "block_tokens", r.block_tokens > 0, [&]() -> auto& { return r.block_tokens; },
      Integer{1, kTokensMax}, "tokens of a block");
}

// The format that a file's name tells; an error at the path when it tells none.
void detect_format(ReadContext& context, const Node& path_node, TraceConfig& trace);

template <class V>
void describe_trace(V& v, WorkloadConfig& w) {
  const bool held = std::holds_alternative<TraceConfig>(w.source);
  const auto trace = [&]() -> TraceConfig& { return ensure<TraceConfig>(w.source); };
  v.sibling(
      "trace", held, "format", [&]() -> auto& { return trace().format; }, Enumeration{},
      "told by the file's name when left out");
  if constexpr (V::kReading)
    if (held && !v.has("format"))
      detect_format(v.context(), *v.node().find("trace")->value, trace());
  v.sibling(
      "trace", held, "arrival", [&]() -> auto& { return trace().arrival; }, Enumeration{},
      "spread: requests of one recorded instant are spread over the gap to the next");
  v.sibling(
      "trace", held, "block_tokens", [&]() -> auto& { return trace().block_tokens; },
      Integer{1, kTokensMax}, "mooncake: tokens of a hashed block");
  v.sibling(
      "trace", held, "speedup", [&]() -> auto& { return trace().speedup_permille; }, Factor{},
      "2: arrivals twice as fast");
  v.sibling(
      "trace", held, "from", [&]() -> auto& { return trace().from_ns; }, Duration{},
      "rows before are skipped; time restarts there");
  v.sibling(
      "trace", held, "for", [&]() -> auto& { return trace().for_ns; }, kLasting,
      "rows later are skipped");
}

template <class V>
void describe(V& v, WorkloadConfig& w) {
  using Listed = std::vector<ListedRequest>;
  v.optional("name", w.name, Text{}, "as reports name it");
  v.deployment("deployment", w.deployment, "which one is asked; may be left out when there is one");
  v.alternative(
      "synthetic", std::holds_alternative<SyntheticConfig>(w.source),
      [&]() -> auto& { return ensure<SyntheticConfig>(w.source); }, Object{}, "generated, seeded");
  v.alternative(
      "trace", std::holds_alternative<TraceConfig>(w.source),
      [&]() -> auto& { return ensure<TraceConfig>(w.source).path; }, FilePath{},
      "replayed from a file, relative to this one");
  // `requests` is the list, or beside `trace` a number.
  const bool beside_trace = v.has("trace") || std::holds_alternative<TraceConfig>(w.source);
  if (!beside_trace || std::is_same_v<V, SchemaObject>)
    v.alternative(
        "requests", std::holds_alternative<Listed>(w.source),
        [&]() -> auto& { return ensure<Listed>(w.source); }, List<Object>{{}, 1},
        "written out one by one");
  if (beside_trace)
    v.section(
        "requests", true, [&]() -> auto& { return ensure<TraceConfig>(w.source).requests_max; },
        kRequestsMax, "with trace: how many rows");
  describe_trace(v, w);
  v.optional("clip_prompt_tokens", w.clip_prompt_tokens, Integer{1, kTokensMax, {"none", 0}},
             "longer prompts are cut, and counted");
  v.optional("clip_output_tokens", w.clip_output_tokens, Integer{1, kTokensMax, {"none", 0}},
             "longer outputs are cut, and counted");
  v.optional("abort_after", w.abort_after_ns, kLasting, "clients give up this long after arrival");
}

}  // namespace handoff::loader

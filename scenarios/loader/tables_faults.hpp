// Field tables of faults.
#pragma once

#include "models/faults/fault.hpp"
#include "scenarios/loader/tables_workload.hpp"

namespace handoff::loader {

template <>
struct EnumNames<NoticeFaultKind> {
  static constexpr std::array<std::pair<const char*, NoticeFaultKind>, 8> kNames{
      {{"early", NoticeFaultKind::early},
       {"duplicate", NoticeFaultKind::duplicate},
       {"lost", NoticeFaultKind::lost},
       {"delayed", NoticeFaultKind::delayed},
       {"reordered", NoticeFaultKind::reordered},
       {"misdirected", NoticeFaultKind::misdirected},
       {"short", NoticeFaultKind::short_data},
       {"stale", NoticeFaultKind::stale}}};
};

// "prefill[0]", "decode[2]".
struct NodeView {
  NodeRole& role;
  std::uint32_t& node;
};
struct NodeReference {
  void read(ReadContext& context, const Node& node, NodeView& out) const;
  NodePtr write(const Surroundings&, NodeView& value) const;
  template <class T>
  NodePtr schema(Definitions&) const {
    return pattern_schema("(prefill|decode)\\[[0-9]+\\]", {});
  }
};

template <class V>
void describe(V& v, OversizePromptFault& f) {
  v.deployment("deployment", f.deployment, "which one is asked");
  v.section(
      "count", f.count > 0, [&]() -> auto& { return f.count; }, Integer{1, 1'000'000},
      "that many, spread over [from, from + for)");
  v.section(
      "rate", f.rate_per_10k > 0, [&]() -> auto& { return f.rate_per_10k; },
      Share{10'000, 1, 10'000}, "share of ordinary requests that get an oversize companion");
  v.section(
      "at", !f.at_ns.empty(), [&]() -> auto& { return f.at_ns; }, List<Duration>{kInstant, 1},
      "further instants, one prompt each");
  v.required("prompt", f.prompt, Object{}, "tokens of a prompt");
  v.required("output", f.output, Object{}, "tokens of a response");
  v.optional("from", f.from_ns, kInstant, "none before");
  v.optional("for", f.for_ns, kLasting, "none later than this after `from`");
  v.section(
      "tenants", !f.tenants.empty(), [&]() -> auto& { return f.tenants; }, List<Object>{{}, 1},
      "who asks");
}

template <class V>
void describe(V& v, NoticeSelector& s) {
  const auto maybe = [&v](const char* key, auto& member, auto kind, const char* doc) {
    v.section(
        key, member.has_value(), [&]() -> auto& { return member; }, kind, doc);
  };
  maybe("prefill_node", s.prefill_node, Maybe<Integer>{}, "index");
  maybe("decode_node", s.decode_node, Maybe<Integer>{}, "index");
  maybe("rank", s.rank, Maybe<Integer>{}, "of the decode node");
  maybe("group", s.group, Maybe<Text>{}, "memory group; kind short only");
  maybe("request", s.request, Maybe<Unsigned64>{}, "running number");
  v.optional("prompt_tokens_min", s.prompt_tokens_min, Integer{0, kTokensMax},
             "prompts at least this long");
  v.optional("from", s.from_ns, kInstant, "none before");
  v.optional("for", s.for_ns, kLasting, "none later than this after `from`");
  v.optional("nth", s.nth, Integer{1, kCountMax, {"every", 0}}, "only that match, from 1");
  v.optional("chance", s.chance_permille, Share{1000, 1, 1000}, "drawn per match");
}

inline bool takes_time(NoticeFaultKind kind) {
  return kind == NoticeFaultKind::early || kind == NoticeFaultKind::duplicate ||
         kind == NoticeFaultKind::delayed || kind == NoticeFaultKind::reordered;
}

template <class V>
void describe(V& v, NoticeFault& f) {
  v.deployment("deployment", f.deployment, "whose notices");
  v.required("kind", f.kind, Enumeration{}, "what becomes of the notice");
  v.section(
      "by", takes_time(f.kind), [&]() -> auto& { return f.by_ns; }, Duration{},
      "how much early, late, or apart");
  v.section(
      "pages", f.kind == NoticeFaultKind::short_data, [&]() -> auto& { return f.pages; },
      Integer{1, 1'000'000}, "kind short: how many of the last pages are missing");
  v.optional("when", f.select, Object{}, "which notices; all when left out");
}

template <class V>
void describe(V& v, ClientAbortFault& f) {
  v.deployment("deployment", f.deployment, "whose clients");
  v.section(
      "request", f.request.has_value(), [&]() -> auto& { return f.request; }, Maybe<Unsigned64>{},
      "running number of the one that aborts");
  v.section(
      "at", f.request.has_value(), [&]() -> auto& { return f.at_ns; }, kInstant,
      "with request: when");
  v.section(
      "chance", f.chance_permille > 0, [&]() -> auto& { return f.chance_permille; },
      Share{1000, 1, 1000}, "share of all requests that abort");
  v.section(
      "after", f.chance_permille > 0, [&]() -> auto& { return f.after_ns; }, Duration{},
      "with chance: how long after arrival");
}

template <class V>
void describe(V& v, NodeCrashFault& f) {
  v.deployment("deployment", f.deployment, "whose node");
  v.required("node", NodeView{f.role, f.node}, NodeReference{}, "prefill[0], decode[1], ...");
  v.required("at", f.at_ns, kInstant, "when it dies");
  v.optional("for", f.for_ns, kLasting, "restarts after; none: stays down");
}

template <class V>
void describe(V& v, LinkFault& f) {
  v.required("link", f.link, Text{}, "name in the topology, such as prefill[0]->spine");
  v.required("at", f.at_ns, kInstant, "from when");
  v.optional("for", f.for_ns, kLasting, "for how long");
  v.optional("rate", f.rate_permille, Share{1000, 0, 1000, {"down", 0}}, "of its rate as built");
}

template <class V>
void describe(V& v, Fault& f) {
  const auto kind = [&]<class T>(const char* key, T*, const char* doc) {
    v.alternative(
        key, std::holds_alternative<T>(f.what), [&]() -> T& { return ensure<T>(f.what); }, Object{},
        doc);
  };
  if constexpr (V::kReading) f.mark = source_mark(v.node().mark);
  v.optional("name", f.name, Text{}, "as reports name it");
  kind("oversize_prompt", static_cast<OversizePromptFault*>(nullptr),
       "prompts beyond what the workload holds");
  kind("notice", static_cast<NoticeFault*>(nullptr), "completion notices that lie");
  kind("client_abort", static_cast<ClientAbortFault*>(nullptr), "clients that give up");
  kind("node_crash", static_cast<NodeCrashFault*>(nullptr), "a node dies and restarts empty");
  kind("link", static_cast<LinkFault*>(nullptr), "a link slows down or breaks");
}

}  // namespace handoff::loader

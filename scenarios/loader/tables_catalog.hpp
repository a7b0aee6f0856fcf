// Field tables of what the catalog holds: models, machines, engine policies.
#pragma once

#include "models/cost/spec.hpp"
#include "models/serving/policy.hpp"
#include "scenarios/loader/kinds.hpp"

namespace handoff::loader {

template <class E, std::size_t N>
using Names = std::array<std::pair<const char*, E>, N>;

template <>
struct EnumNames<GroupKind> {
  static constexpr Names<GroupKind, 3> kNames{
      {{"full", GroupKind::full}, {"window", GroupKind::window}, {"indexer", GroupKind::indexer}}};
};
template <>
struct EnumNames<ModelRole> {
  static constexpr Names<ModelRole, 2> kNames{
      {{"generate", ModelRole::generate}, {"embed", ModelRole::embed}}};
};
template <>
struct EnumNames<HandoffOrder> {
  static constexpr Names<HandoffOrder, 2> kNames{
      {{"destination_first", HandoffOrder::destination_first},
       {"source_first", HandoffOrder::source_first}}};
};
template <>
struct EnumNames<StalePull> {
  static constexpr Names<StalePull, 2> kNames{
      {{"read_anyway", StalePull::read_anyway}, {"refused", StalePull::refused}}};
};
template <>
struct EnumNames<RejectedPrompt> {
  static constexpr Names<RejectedPrompt, 2> kNames{
      {{"placeholder", RejectedPrompt::placeholder}, {"reject", RejectedPrompt::reject}}};
};
template <>
struct EnumNames<PendingAbort> {
  static constexpr Names<PendingAbort, 3> kNames{
      {{"ignored", PendingAbort::ignored},
       {"retire_result", PendingAbort::retire_result},
       {"wait_for_destination", PendingAbort::wait_for_destination}}};
};
template <>
struct EnumNames<AbortNotice> {
  static constexpr Names<AbortNotice, 3> kNames{{{"none", AbortNotice::none},
                                                 {"before_send", AbortNotice::before_send},
                                                 {"tombstone", AbortNotice::tombstone}}};
};
template <>
struct EnumNames<PendingAbortOnSuccess> {
  static constexpr Names<PendingAbortOnSuccess, 2> kNames{
      {{"success_wins", PendingAbortOnSuccess::success_wins},
       {"abort_wins", PendingAbortOnSuccess::abort_wins}}};
};
template <>
struct EnumNames<FailureStatus> {
  static constexpr Names<FailureStatus, 2> kNames{
      {{"generic", FailureStatus::generic}, {"carried", FailureStatus::carried}}};
};
template <>
struct EnumNames<NoticeCount> {
  static constexpr Names<NoticeCount, 2> kNames{
      {{"distinct_ranks", NoticeCount::distinct_ranks}, {"messages", NoticeCount::messages}}};
};
template <>
struct EnumNames<RankAgreement> {
  static constexpr Names<RankAgreement, 2> kNames{
      {{"all_reduce", RankAgreement::all_reduce}, {"none", RankAgreement::none}}};
};
template <>
struct EnumNames<RouterAdmission> {
  static constexpr Names<RouterAdmission, 2> kNames{
      {{"context_only", RouterAdmission::context_only},
       {"smallest_node_limit", RouterAdmission::smallest_node_limit}}};
};
template <>
struct EnumNames<RoutePolicy> {
  static constexpr Names<RoutePolicy, 3> kNames{{{"round_robin", RoutePolicy::round_robin},
                                                 {"random", RoutePolicy::random},
                                                 {"least_tokens", RoutePolicy::least_tokens}}};
};
template <>
struct EnumNames<RetractOrder> {
  static constexpr Names<RetractOrder, 2> kNames{
      {{"fewest_output_first", RetractOrder::fewest_output_first},
       {"latest_arrival_first", RetractOrder::latest_arrival_first}}};
};
template <>
struct EnumNames<AbortRelease> {
  static constexpr Names<AbortRelease, 2> kNames{
      {{"at_once", AbortRelease::at_once}, {"when_drained", AbortRelease::when_drained}}};
};
template <>
struct EnumNames<LateNotice> {
  static constexpr Names<LateNotice, 2> kNames{
      {{"recreates_room", LateNotice::recreates_room}, {"ignored", LateNotice::ignored}}};
};
template <>
struct EnumNames<FreeOrder> {
  static constexpr Names<FreeOrder, 4> kNames{{{"lifo", FreeOrder::lifo},
                                               {"fifo", FreeOrder::fifo},
                                               {"sorted", FreeOrder::sorted},
                                               {"random", FreeOrder::random}}};
};

template <>
inline constexpr const char* kDefinition<EnginePolicy> = "engine";
template <>
inline constexpr const char* kDefinition<ModelSpec> = "model";
template <>
inline constexpr const char* kDefinition<HardwareSpec> = "hardware";

template <class V>
void describe(V& v, CommitChecks& c) {
  v.optional("room", c.room, Boolean{}, "the aux record must name the room");
  v.optional("length", c.length, Boolean{},
             "the length of every group against the preallocated one");
  v.optional("checksum", c.checksum, Boolean{}, "a digest of the content of all pages");
}

template <class V>
void describe(V& v, Bugs& b) {
  const Boolean kind;
  v.optional("cache_ignores_content", b.cache_ignores_content, kind,
             "a prefix of equal length counts as equal");
  v.optional("free_source_before_sent", b.free_source_before_sent, kind,
             "prefill frees its pages when the last chunk is submitted");
  v.optional("abort_frees_twice", b.abort_frees_twice, kind,
             "an abort on decode frees, and the end does again");
  v.optional("abort_forgets_pages", b.abort_forgets_pages, kind,
             "an abort on decode does not free");
  v.optional("failure_reported_as_success", b.failure_reported_as_success, kind,
             "a failed request gets 200");
  v.optional("drop_request_on_failure", b.drop_request_on_failure, kind,
             "a failed room is never answered");
}

template <class V>
void describe_decisions(V& v, EnginePolicy& e) {
  const Enumeration choice;
  v.optional("handoff", e.handoff, choice, "who reserves first: decode (push) or prefill (pull)");
  v.optional("rejected_prompt", e.rejected_prompt, choice,
             "what admission does with an invalid prompt");
  v.optional("pending_abort", e.pending_abort, choice,
             "what prefill does with a request whose error is pending");
  v.optional("abort_notice", e.abort_notice, choice,
             "whether decode hears of a request that is not sent");
  v.optional("pending_abort_on_success", e.pending_abort_on_success, choice,
             "what prefill reports when the transfer succeeded but an error was pending");
  v.optional("failure_status", e.failure_status, choice,
             "status that decode answers for a failed room");
  v.optional("router_admission", e.router_admission, choice, "the limit that the router checks");
  v.optional("router_cancels_peer", e.router_cancels_peer, Boolean{},
             "an error of one leg cancels the other");
  v.optional("commit", e.commit, Object{}, "comparisons before decode commits a finished transfer");
  v.optional("notice_count", e.notice_count, choice,
             "how decode counts ranks that reported success");
  v.optional("rank_agreement", e.rank_agreement, choice, "how ranks come to one decision");
  v.optional("late_notice", e.late_notice, choice, "what a success for an unknown room does");
  v.optional("abort_release", e.abort_release, choice, "when pages of an aborted room are freed");
}

template <class V>
void describe(V& v, EnginePolicy& e) {
  const Enumeration choice;
  const Duration positive{.low = kMicrosecond};
  const Duration interval{.low = kMicrosecond, .high = kDay};  // times a thousand failures fits
  const Duration timeout{.low = kMicrosecond, .none = true};
  describe_decisions(v, e);
  v.optional("drain_cap", e.drain_cap_ns, positive,
             "decode frees after this long without prefill's word");
  v.optional("lease", e.lease_ns, timeout, "source first: how long prefill holds unpulled pages");
  v.optional("lease_renewal", e.lease_renewal, Boolean{},
             "source first: decode renews the lease while it waits");
  v.optional("stale_pull", e.stale_pull, choice,
             "source first: what a pull after the lease has expired does");
  v.optional("page_tokens", e.page_tokens, Integer{1, 65'535}, "tokens of a page, in every group");
  v.optional("free_order", e.free_order, choice, "which free page is used next");
  v.optional("zero_on_allocate", e.zero_on_allocate, Boolean{}, "pages are zeroed when allocated");
  v.optional("prefix_cache", e.prefix_cache, Boolean{}, "prefill nodes keep prefixes");
  v.optional("chunk_tokens", e.chunk_tokens, Integer{1, 1 << 30}, "tokens of a prefill step");
  v.optional("prefill_requests_max", e.prefill_requests_max, Integer{1, 65'536},
             "requests of a prefill step");
  v.optional("overlap_schedule", e.overlap_schedule, Boolean{},
             "a chunk's pages are sent one step later");
  v.optional("prefill_running_max", e.prefill_running_max, Integer{1, 65'536},
             "half the aux slots of prefill");
  v.optional("decode_running_max", e.decode_running_max, Integer{1, 65'536},
             "requests decoded at once");
  v.optional("reserved_decode_tokens", e.reserved_decode_tokens, Integer{0, 1 << 30},
             "tokens kept free for every active request");
  v.optional("clip_new_tokens", e.clip_new_tokens, Integer{1, 1 << 30},
             "cap of the estimate of output to come");
  v.optional("retract_order", e.retract_order, choice, "who gives way when decode is full");
  v.optional("transfer_queues", e.transfer_queues, Integer{1, 4'096},
             "per prefill node, by destination");
  v.optional("room_space", e.room_space, Unsigned64{}, "room numbers lie below this; 0: 63 bits");
  v.optional("bootstrap_timeout", e.bootstrap_timeout_ns, timeout, "handshake of a room");
  v.optional("waiting_timeout", e.waiting_timeout_ns, timeout, "from metadata sent to success");
  v.optional("heartbeat_interval", e.heartbeat_interval_ns, interval,
             "decode asks prefill whether it lives");
  v.optional("heartbeat_failures_max", e.heartbeat_failures_max, Integer{1, 1'000},
             "then prefill is taken for dead");
  v.optional("control_latency", e.control_latency_ns, Duration{.high = kHour},
             "of one control message");
  v.optional("route", e.route, choice, "how the router picks nodes");
  v.optional("bugs", e.bugs, Object{}, "deliberate bugs, to prove the oracles");
}

template <class V>
void describe(V& v, GroupSpec& g) {
  v.required("name", g.name, Text{}, "as faults name it");
  v.optional("kind", g.kind, Enumeration{}, "how a decode step reads it");
  v.required("bytes_per_token", g.bytes_per_token, Integer{1, std::int64_t{1} << 32},
             "all layers, one copy");
  v.optional("replicated", g.replicated, Boolean{}, "each rank holds a whole copy");
  v.optional("window_tokens", g.window_tokens, Integer{0, 1 << 30},
             "kind window: how far it looks back");
}

template <class V>
void describe(V& v, ModelSpec& m) {
  const Integer some{1, std::int64_t{1} << 30};
  const Integer any{0, std::int64_t{1} << 30};
  const Integer parameters{1, std::int64_t{1} << 50};
  v.required("name", m.name, Text{}, "of the model");
  v.optional("role", m.role, Enumeration{}, "what it is served for");
  v.required("layers", m.layers, some, "transformer layers");
  v.required("hidden", m.hidden, some, "width");
  v.required("query_heads", m.query_heads, some, "attention heads");
  v.required("kv_heads", m.kv_heads, some, "heads of keys and values");
  v.required("head_dim_qk", m.head_dim_qk, some, "dimensions that a score multiplies, per head");
  v.required("head_dim_v", m.head_dim_v, some, "dimensions of a value, per head");
  v.required("parameters_total", m.parameters_total, parameters, "weights");
  v.required("parameters_active", m.parameters_active, parameters, "weights that a token uses");
  v.optional("weight_bits", m.weight_bits, Integer{1, 64}, "of a weight");
  v.required("context_max", m.context_max, some, "tokens");
  v.optional("sparse_top_k", m.sparse_top_k, any, "positions attended per query; 0: all");
  v.optional("indexer_heads", m.indexer_heads, any, "of the sparse attention's indexer");
  v.optional("indexer_head_dim", m.indexer_head_dim, any, "dimensions of one of them");
  v.optional("indexer_layers", m.indexer_layers, any, "layers that compute index scores");
  v.optional("experts", m.experts, any, "routed experts; 0: dense");
  v.optional("experts_active", m.experts_active, any, "routed experts that a token uses");
  v.optional("groups", m.groups, List<Object>{},
             "kinds of per-token memory; an embedding model keeps none");
}

template <class V>
void describe(V& v, HardwareSpec& h) {
  const Integer flops{1, std::int64_t{1} << 60};
  v.required("name", h.name, Text{}, "of the machine");
  v.required("device", h.device, Text{}, "product name of a device");
  v.required("devices", h.devices, Integer{1, 1'024}, "in a node; also the tensor-parallel width");
  v.required("memory_bytes", h.memory_bytes, kCatalogBytes, "of a device");
  v.required("memory_bytes_per_second", h.memory_bytes_per_second, kCatalogByteRate, "of a device");
  v.required("flops_16bit", h.flops_16bit, flops, "of a device, dense, per second");
  v.required("flops_8bit", h.flops_8bit, flops, "of a device, dense, per second");
  v.required("link_bytes_per_second", h.link_bytes_per_second, kCatalogByteRate,
             "of a device, within the node");
  v.required("nic_bytes_per_second", h.nic_bytes_per_second, kCatalogByteRate,
             "of a device, to other nodes");
}

}  // namespace handoff::loader

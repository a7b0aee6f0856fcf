// Small clusters for directed tests. Defaults are chosen so that any field a test sets is what it
// is about.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/serving/run.hpp"

namespace handoff {

inline ModelSpec small_model() {
  ModelSpec m;
  m.name = "small";
  m.layers = 8;
  m.hidden = 1024;
  m.query_heads = 8;
  m.kv_heads = 2;
  m.head_dim_qk = 128;
  m.head_dim_v = 128;
  m.parameters_total = m.parameters_active = 1'000'000'000;
  m.weight_bits = 16;
  m.context_max = 131'072;
  m.groups = {{"kv", GroupKind::full, 16'384, false, 0},
              {"indexer", GroupKind::indexer, 1'024, true, 0}};
  return m;
}

inline HardwareSpec small_hardware() {
  HardwareSpec h;
  h.name = "test";
  h.devices = 1;
  h.memory_bytes = 80'000'000'000;
  h.memory_bytes_per_second = 2'000'000'000'000;
  h.flops_16bit = 500'000'000'000'000;
  h.flops_8bit = 1'000'000'000'000'000;
  h.link_bytes_per_second = 400'000'000'000;
  h.nic_bytes_per_second = 25'000'000'000;
  return h;
}

// SGLang before any of its fixes.
inline EnginePolicy v0() {
  EnginePolicy e;
  e.rejected_prompt = RejectedPrompt::placeholder;
  e.pending_abort = PendingAbort::ignored;
  e.abort_notice = AbortNotice::none;
  e.pending_abort_on_success = PendingAbortOnSuccess::success_wins;
  e.failure_status = FailureStatus::generic;
  e.abort_release = AbortRelease::at_once;
  e.late_notice = LateNotice::recreates_room;
  e.free_order = FreeOrder::lifo;
  return e;
}

inline EnginePolicy v1() {
  EnginePolicy e = v0();
  e.pending_abort = PendingAbort::retire_result;
  e.pending_abort_on_success = PendingAbortOnSuccess::abort_wins;
  return e;
}

inline EnginePolicy v2() {
  EnginePolicy e = v1();
  e.pending_abort = PendingAbort::wait_for_destination;
  e.abort_notice = AbortNotice::before_send;
  e.commit.length = true;
  return e;
}

inline EnginePolicy v3() {
  EnginePolicy e = v1();
  e.rejected_prompt = RejectedPrompt::reject;
  e.abort_notice = AbortNotice::tombstone;
  e.failure_status = FailureStatus::carried;
  return e;
}

// One prefill node with a pool of 8,192 tokens and one decode node with 20,480, context window
// 32,768.
inline RunConfig small_cluster(const EnginePolicy& engine, std::vector<ListedRequest> requests) {
  RunConfig run;
  DeploymentConfig d;
  d.name = "d";
  d.model = small_model();
  d.engine = engine;
  d.engine_name = "test";
  d.context_window = 32'768;
  d.prefill = {1, small_hardware(), 8'192, {}};
  d.decode = {1, small_hardware(), 20'480, {}};
  run.deployments.push_back(d);
  WorkloadConfig w;
  w.name = "listed";
  w.source = std::move(requests);
  run.workloads.push_back(w);
  return run;
}

inline ListedRequest request(TimeNs at, std::int64_t prompt, std::int64_t output = 16) {
  ListedRequest r;
  r.at_ns = at;
  r.prompt_tokens = prompt;
  r.output_tokens = output;
  return r;
}

// Everything a test may ask of a run.
struct Observed {
  RunResult result;
  std::vector<RequestOutcome> outcomes;  // by serial

  [[nodiscard]] std::uint64_t count(Rule rule) const {
    return result.findings_by_rule[static_cast<std::size_t>(rule)];
  }
  [[nodiscard]] std::uint64_t findings() const {
    std::uint64_t n = 0;
    for (const std::uint64_t c : result.findings_by_rule) n += c;
    return n;
  }
  [[nodiscard]] std::uint64_t tainted() const {
    std::uint64_t n = 0;
    for (const RequestOutcome& o : outcomes) n += o.tainted ? 1 : 0;
    return n;
  }
  // "I1 I1 I7": the rules of all findings in order of detection.
  [[nodiscard]] std::string rules() const {
    std::string out;
    for (const Finding& f : result.findings)
      out += std::string(out.empty() ? "" : " ") + code(f.rule);
    return out;
  }
};

inline Observed observe(const RunConfig& config) {
  Observed seen;
  RunObserver observer;
  observer.on_outcome = [&seen](const RequestOutcome& o, const TenantNames&) {
    if (seen.outcomes.size() <= o.serial) seen.outcomes.resize(o.serial + 1);
    seen.outcomes[o.serial] = o;
  };
  seen.result = run(config, observer);
  return seen;
}

}  // namespace handoff

// A scenario file as values: what to run and what is expected of it. Also the catalog of models,
// machines and engines that scenarios name, and the JSON schema of the files.
//
// Not here: running (models/serving/run.hpp) and judging (reports/). No YAML type appears: a reader
// of this header cannot come to depend on how the files are parsed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/serving/config.hpp"

namespace handoff {

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  std::string file;  // as given; "--set" for a value of the command line
  int line = 0;      // from 1; 0: unknown. For "--set": which of them, in order
  int column = 0;    // from 1, in bytes; 0: unknown
  Severity severity = Severity::error;
  std::string message;
  std::string source_line;  // without its end; empty when unknown
};

// "file:line:column: error: message", the source line and a caret below it (GNU style), each with a
// newline.
std::string render(const Diagnostic& diagnostic);

inline constexpr std::size_t kDiagnosticsMax = 20;

// Bad input. All that is wrong with it, by file, line and column; what() is all of it rendered. At
// most kDiagnosticsMax are kept, `omitted` counts the others.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Diagnostic> diagnostics, std::size_t omitted = 0);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] std::size_t omitted() const { return omitted_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t omitted_;
};

// low <= metric <= high, both ends included.
struct Expectation {
  // Over the seeds of Expectations::seeds: in every run, in at least one, in none.
  enum class Mode : std::uint8_t { always, sometimes, never };
  std::string metric;  // a name of kMetrics, perhaps of one deployment
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  bool implied = false;  // a rule that `findings` does not list: none of it
  SourceMark mark;
  Mode mode = Mode::always;
};

// The bound of an expectation as a scenario writes it: "5", ">= 1", "<= 9", "2..4"; after "never "
// or "sometimes " for those.
std::string bound_text(const Expectation& expectation);

struct Expectations {
  std::vector<Expectation> all;
  bool findings_given = false;  // false: the scenario says nothing of findings
  // `check` runs the scenario with this many seeds: its own and those that follow.
  std::int64_t seeds = 1;
};

// What a scenario may expect. A name that ends in '*' stands for a family: "findings.I1",
// "status.200". With `of_deployment` also as "deployment.NAME.<name>".
struct Metric {
  const char* name;
  bool of_deployment;
  const char* doc;
};
inline constexpr std::array kMetrics{
    Metric{"requests", true, "requests that reached a terminal state"},
    Metric{"unfinished", false, "requests without a terminal state at the end"},
    Metric{"tainted_responses", true, "responses fed by content of another request"},
    Metric{"corrupt_responses", true, "responses fed by wrong content, but nobody else's"},
    Metric{"foreign_tokens", true, "prompt positions that held other requests' content, summed"},
    Metric{"unwritten_tokens", true, "prompt positions that held nothing, summed"},
    Metric{"status.*", true, "responses of one HTTP status"},
    Metric{"findings", true, "findings of all rules"},
    Metric{"findings.*", true, "findings of one rule (I1 to I8, T1)"},
    Metric{"faults_fired", false, "firings of all faults"},
    Metric{"retractions", true, "requests sent back by a full decode pool"},
    Metric{"transfers", true, "transfers from prefill to decode, one a chunk"},
    Metric{"transfer_bytes", true, "bytes of them"},
    Metric{"prompt_tokens", true, "tokens of all prompts"},
    Metric{"cached_tokens", true, "of those, served by the prefix cache"},
    Metric{"output_tokens", true, "tokens of all responses"},
    Metric{"ttft_mean_ms", true, "arrival to first token at the client"},
    Metric{"ttft_p50_ms", true, "arrival to first token at the client"},
    Metric{"ttft_p90_ms", true, "arrival to first token at the client"},
    Metric{"ttft_p99_ms", true, "arrival to first token at the client"},
    Metric{"tpot_mean_us", true, "time of an output token after the first"},
    Metric{"tpot_p50_us", true, "time of an output token after the first"},
    Metric{"tpot_p90_us", true, "time of an output token after the first"},
    Metric{"tpot_p99_us", true, "time of an output token after the first"},
    Metric{"ttft_max_ms", true, "arrival to first token at the client"},
    Metric{"e2e_max_ms", true, "arrival to the end of the response"},
    Metric{"terminal_max_ms", true, "arrival to the terminal state, whatever the status"},
    Metric{"e2e_mean_ms", true, "arrival to the end of the response"},
    Metric{"e2e_p50_ms", true, "arrival to the end of the response"},
    Metric{"e2e_p90_ms", true, "arrival to the end of the response"},
    Metric{"e2e_p99_ms", true, "arrival to the end of the response"},
    Metric{"rows_read", false, "rows of all traces"},
    Metric{"rows_dropped", false, "rows without prompt or output tokens"},
    Metric{"prompts_clipped", false, "prompts cut by clip_prompt_tokens"},
    Metric{"outputs_clipped", false, "outputs cut by clip_output_tokens"},
    Metric{"events", false, "events of the run"},
    Metric{"drained", false, "1 when the run ended because nothing was left to do, else 0"},
};

// A change that mends what the scenario shows. With it nothing may be wrong: no finding, no tainted
// or corrupt response, nothing unfinished, unless `expect` says otherwise.
struct FixedArm {
  std::string name;
  std::vector<std::string> set;  // "path=value"
  Expectations expect;
  SourceMark mark;
};

struct Scenario {
  std::string path;
  std::string name;
  std::string description;
  RunConfig run;
  std::optional<std::int64_t> start_unix_ns;  // time 0 of the run, ns since 1970-01-01T00:00:00Z
  Expectations expect;
  std::vector<FixedArm> fixed;
  // Canonical YAML text of everything, defaults and catalog entries included. Loads, from the
  // folder of `path`, to the same digest.
  std::string resolved;
  std::uint64_t digest = 0;  // of `resolved`
};

// `sets` are "path=value", e.g. "workload[0].synthetic.for=10m" or "engine.commit.length=true"; the
// value is YAML. A trace path of the file is relative to the file's folder, one of `sets` to the
// current directory. Throws ScenarioError.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& sets,
                       const std::string& catalog_dir);

// As load_scenario, of a text that would stand at `path`.
Scenario parse_scenario(const std::string& text, const std::string& path,
                        const std::string& catalog_dir);

// The scenario under its fixed arm `arm` (an index of Scenario::fixed): with the arm's values set
// after `sets`, and the arm's expectations in place of its own.
Scenario load_fixed_arm(const std::string& path, const std::vector<std::string>& sets,
                        std::size_t arm, const std::string& catalog_dir);

// Scenario::resolved with the trace paths made for a file that lies in `folder`.
std::string resolved_for(const Scenario& scenario, const std::string& folder);

// The scenario as one would write it: without what is as it would be anyway, names of the catalog
// for what stands there. Loads to the same run. Workloads must not be traces.
std::string lean_text(const Scenario& scenario, const std::string& catalog_dir);

// JSON schema (draft 07) of a scenario file. It cannot see across keys: indexes, names and sums are
// checked by load_scenario alone.
std::string scenario_schema();

struct CatalogEntry {
  std::string kind;  // "model", "hardware", "engine"
  std::string name;
  std::string description;  // one line
};
// By kind, then name. Throws ScenarioError when an entry is malformed.
std::vector<CatalogEntry> catalog_list(const std::string& catalog_dir);
// All values of an entry with its sources and notes, as YAML. Throws ScenarioError for an unknown
// name.
std::string catalog_show(const std::string& name, const std::string& catalog_dir);
// Throw ScenarioError: unknown name (with the nearest one), malformed entry.
ModelSpec load_model(const std::string& name, const std::string& catalog_dir);
HardwareSpec load_hardware(const std::string& name, const std::string& catalog_dir);
EnginePolicy load_engine(const std::string& name, const std::string& catalog_dir);

// A policy that differs from another in one decision: every other value of an enumeration, the
// other value of a switch. Numbers and times are left out, and no deliberate bug is switched on.
struct PolicyChange {
  std::string key;    // "commit.length"
  std::string value;  // "true"
  EnginePolicy policy;
};
std::vector<PolicyChange> policy_changes(const EnginePolicy& policy);
// The value of a policy's key as scenarios write it; empty: no such key.
std::string policy_value(const EnginePolicy& policy, const std::string& key);

// Tokens that a node's pool holds when the scenario does not say: nine tenths of a device's memory
// less the device's share of the weights, over the bytes that one token of all groups takes on a
// device (a replicated group whole, others split over the devices). <= 0: the weights do not fit.
std::int64_t derived_pool_tokens(const ModelSpec& model, const HardwareSpec& hardware);

// "2026-09-08T14:00:00Z", with a fraction of as many digits as needed.
std::string calendar_text(std::int64_t unix_ns);

}  // namespace handoff

#include "models/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/workload/synthetic.hpp"
#include "models/workload/trace_feed.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {
namespace {

TimeNs end_of_window(TimeNs from_ns, TimeNs for_ns) {
  return for_ns >= kNever - from_ns ? kNever : from_ns + for_ns;
}

std::shared_ptr<const std::vector<RequestSpec>> list_rows(const std::vector<ListedRequest>& listed,
                                                          const WorkloadConfig& config,
                                                          TenantNames& tenants) {
  auto rows = std::make_shared<std::vector<RequestSpec>>();
  for (const ListedRequest& request : listed) {
    RequestSpec spec;
    spec.arrival_ns = request.at_ns;
    spec.prompt_tokens = request.prompt_tokens;
    spec.output_tokens = request.output_tokens;
    spec.tenant = tenants.index(request.tenant.empty() ? config.name : request.tenant);
    spec.row = rows->size();
    spec.blocks = request.blocks;
    spec.block_tokens = request.block_tokens;
    spec.abort_after_ns = request.abort_after_ns;
    rows->push_back(std::move(spec));
  }
  std::stable_sort(rows->begin(), rows->end(), [](const RequestSpec& a, const RequestSpec& b) {
    return a.arrival_ns < b.arrival_ns;
  });
  return rows;
}

}  // namespace

std::uint32_t TenantNames::index(const std::string& name) {
  const auto index =
      static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  if (index == names_.size()) names_.push_back(name);
  return static_cast<std::uint32_t>(index);
}

WorkloadStream WorkloadStream::open(const WorkloadConfig& config, std::uint32_t index,
                                    std::uint64_t seed, TenantNames& tenants) {
  WorkloadStream stream;
  Common& common = stream.common_;
  common.deployment = config.deployment;
  common.index = index;
  common.clip_prompt_tokens = config.clip_prompt_tokens;
  common.clip_output_tokens = config.clip_output_tokens;
  common.abort_after_ns = config.abort_after_ns;
  if (const auto* trace = std::get_if<TraceConfig>(&config.source)) {
    HANDOFF_CHECK(trace->requests_max >= 0 && trace->from_ns >= 0 && trace->for_ns >= 0,
                  "a negative bound of a trace");
    HANDOFF_CHECK(trace->speedup_permille > 0, "a trace does not run backwards or stand still");
    common.requests_max = static_cast<std::uint64_t>(trace->requests_max);
    common.speedup_permille = trace->speedup_permille;
    common.from_ns = trace->from_ns;
    common.until_ns = end_of_window(trace->from_ns, trace->for_ns);
    common.drop_without_output = true;
    workload_cursor::Trace cursor;
    cursor.feed = std::make_shared<TraceFeed>(*trace, seed, index);
    cursor.chunk = cursor.feed->first();
    cursor.tenant = tenants.index(config.name);
    cursor.block_tokens = trace->block_tokens;
    stream.cursor_ = std::move(cursor);
  } else if (const auto* listed = std::get_if<std::vector<ListedRequest>>(&config.source)) {
    stream.cursor_ = workload_cursor::Listed{list_rows(*listed, config, tenants), 0};
  } else {
    workload_cursor::Synthetic cursor;
    cursor.source = std::make_shared<const SyntheticSource>(config, index, tenants);
    const SyntheticConfig& synthetic = cursor.source->config();
    common.requests_max = static_cast<std::uint64_t>(synthetic.requests_max);
    common.until_ns = end_of_window(synthetic.from_ns, synthetic.for_ns);
    cursor.clock_ns = synthetic.from_ns;
    cursor.arrivals = Rng(seed, "arrivals", index);
    cursor.prompt = Rng(seed, "prompt-length", index);
    cursor.output = Rng(seed, "output-length", index);
    cursor.tenant = Rng(seed, "tenant", index);
    cursor.prefix = Rng(seed, "shared-prefix", index);
    stream.cursor_ = std::move(cursor);
  }
  return stream;
}

std::optional<RequestSpec> WorkloadStream::take(workload_cursor::Trace& cursor) {
  while (cursor.at == cursor.chunk->rows.size()) {
    if (!cursor.chunk->error.empty()) throw TraceError(cursor.chunk->error);
    if (cursor.chunk->last) return std::nullopt;
    cursor.chunk = cursor.feed->after(*cursor.chunk);
    cursor.at = 0;
  }
  const TraceRow& row = cursor.chunk->rows[cursor.at++];
  RequestSpec spec;
  spec.arrival_ns = row.at_ns;
  spec.prompt_tokens = row.prompt_tokens;
  spec.output_tokens = row.output_tokens;
  spec.tenant = cursor.tenant;
  spec.row = cursor.row++;
  if (!row.blocks.empty()) {
    // Two traces both count their blocks from 0 and mean different texts. One-to-one within a
    // workload.
    spec.blocks.reserve(row.blocks.size());
    const std::uint64_t salt = hash_combine(hash_text("trace-block"), common_.index);
    for (const std::uint64_t block : row.blocks) spec.blocks.push_back(hash_combine(salt, block));
    spec.block_tokens = cursor.block_tokens;
  }
  return spec;
}

std::optional<RequestSpec> WorkloadStream::take(workload_cursor::Listed& cursor) {
  if (cursor.at == cursor.rows->size()) return std::nullopt;
  return (*cursor.rows)[cursor.at++];
}

std::optional<RequestSpec> WorkloadStream::take(workload_cursor::Synthetic& cursor) {
  const SyntheticSource& source = *cursor.source;
  cursor.clock_ns = source.arrival(cursor.row, cursor.clock_ns, cursor.arrivals);
  if (cursor.clock_ns == kNever) return std::nullopt;
  RequestSpec spec;
  spec.arrival_ns = cursor.clock_ns;
  spec.row = cursor.row++;
  spec.prompt_tokens = source.draw_prompt(cursor.prompt);
  spec.output_tokens = source.draw_output(cursor.output);
  const std::size_t tenant = source.draw_tenant(cursor.tenant);
  spec.tenant = source.tenant_name(tenant);
  source.add_prefix(spec, tenant, cursor.prefix);
  return spec;
}

void WorkloadStream::clip(RequestSpec& spec) {
  if (common_.clip_prompt_tokens > 0 && spec.prompt_tokens > common_.clip_prompt_tokens) {
    spec.prompt_tokens = common_.clip_prompt_tokens;
    ++counters_.prompts_clipped;
  }
  if (common_.clip_output_tokens > 0 && spec.output_tokens > common_.clip_output_tokens) {
    spec.output_tokens = common_.clip_output_tokens;
    ++counters_.outputs_clipped;
  }
  if (spec.block_tokens == 0) return;
  const auto covered = static_cast<std::size_t>(div_ceil(spec.prompt_tokens, spec.block_tokens));
  if (spec.blocks.size() > covered) spec.blocks.resize(covered);
}

std::optional<RequestSpec> WorkloadStream::next() {
  while (!ended_) {
    if (common_.requests_max > 0 && counters_.requests == common_.requests_max) break;
    std::optional<RequestSpec> spec =
        std::visit([this](auto& cursor) { return take(cursor); }, cursor_);
    if (!spec.has_value()) break;
    const bool generated = std::holds_alternative<workload_cursor::Synthetic>(cursor_);
    // What a generator would draw after its end was never a row.
    if (generated && spec->arrival_ns >= common_.until_ns) break;
    ++counters_.rows_read;
    if (spec->arrival_ns >= common_.until_ns) {
      ++counters_.rows_skipped;
      break;
    }
    if (spec->arrival_ns < common_.from_ns) {
      ++counters_.rows_skipped;
      continue;
    }
    if (spec->prompt_tokens == 0 || (common_.drop_without_output && spec->output_tokens == 0)) {
      ++counters_.rows_dropped;
      continue;
    }
    return hand_on(std::move(*spec));
  }
  ended_ = true;
  return std::nullopt;
}

RequestSpec WorkloadStream::hand_on(RequestSpec spec) {
  clip(spec);
  const Int128 arrival =
      Int128{spec.arrival_ns - common_.from_ns} * 1000 / common_.speedup_permille;
  if (arrival >= kNever)
    throw TraceError(
        fmt::format("workload {}, row {}: slowed down, it arrives after the end of time",
                    common_.index, spec.row));
  spec.arrival_ns = static_cast<TimeNs>(arrival);
  spec.deployment = common_.deployment;
  spec.workload = common_.index;
  if (spec.abort_after_ns == kNever) spec.abort_after_ns = common_.abort_after_ns;
  ++counters_.requests;
  counters_.first_arrival_ns = std::min(counters_.first_arrival_ns, spec.arrival_ns);
  counters_.last_arrival_ns = spec.arrival_ns;
  return spec;
}

MergedWorkload::MergedWorkload(std::vector<WorkloadStream> streams)
    : streams_(std::move(streams)), heads_(streams_.size()) {}

std::optional<RequestSpec> MergedWorkload::next() {
  if (!primed_) {
    for (std::size_t i = 0; i < streams_.size(); ++i) heads_[i] = streams_[i].next();
    primed_ = true;
  }
  // Rows of one stream come in order, so the first of equal arrivals is the one of the lowest
  // stream.
  std::size_t first = streams_.size();
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (heads_[i].has_value() &&
        (first == streams_.size() || heads_[i]->arrival_ns < heads_[first]->arrival_ns))
      first = i;
  if (first == streams_.size()) return std::nullopt;
  return std::exchange(heads_[first], streams_[first].next());
}

}  // namespace handoff

#include "models/workload/trace_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "models/workload/trace_rows.hpp"
#include "sim/engine/check.hpp"

namespace handoff {
namespace {

LengthSummary summary_of(std::vector<std::int64_t> values) {
  LengthSummary s;
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  // kTokensMax x 2^22 rows fills 62 bits, so a long and absurd trace is summed wider.
  Int128 total = 0;
  for (const std::int64_t value : values) total += value;
  constexpr Int128 kLargest = kNever;
  s.total = static_cast<std::int64_t>(std::min(total, kLargest));
  s.mean = static_cast<std::int64_t>((total + n / 2) / n);
  const auto rank = [&](std::int64_t percent) {
    return values[static_cast<std::size_t>(std::max<std::int64_t>(div_ceil(percent * n, 100), 1) -
                                           1)];
  };
  s.min = values.front();
  s.p50 = rank(50);
  s.p90 = rank(90);
  s.p99 = rank(99);
  s.max = values.back();
  return s;
}

// Rows at each instant and the gaps between instants.
class Clock {
 public:
  void add(TimeNs at_ns) {
    if (instants_ > 0 && at_ns == last_ns_) {
      rows_max_ = std::max(rows_max_, ++rows_here_);
      return;
    }
    if (instants_ > 0) ++gaps_[at_ns - last_ns_];
    ++instants_;
    last_ns_ = at_ns;
    rows_here_ = 1;
    rows_max_ = std::max(rows_max_, rows_here_);
  }
  [[nodiscard]] std::uint64_t instants() const { return instants_; }
  [[nodiscard]] std::uint64_t rows_max() const { return rows_max_; }

  // The step of a coarse clock: at least two rows share an instant on average, and nine gaps in ten
  // are within 1 % of the middle one or of a multiple of it. A Poisson process does neither.
  [[nodiscard]] std::optional<TimeNs> step(std::uint64_t rows) const {
    constexpr std::uint64_t kInstantsMin = 3;
    if (instants_ < kInstantsMin || rows < 2 * instants_) return std::nullopt;
    const std::uint64_t gaps = instants_ - 1;
    std::uint64_t passed = 0;
    TimeNs middle = 0;
    for (const auto& [gap, count] : gaps_) {
      middle = gap;
      if ((passed += count) * 2 >= gaps) break;
    }
    std::uint64_t regular = 0;
    for (const auto& [gap, count] : gaps_) {
      const TimeNs steps = std::max<TimeNs>((gap + middle / 2) / middle, 1);
      const TimeNs off = gap > steps * middle ? gap - steps * middle : steps * middle - gap;
      if (off <= middle / 100) regular += count;
    }
    return regular * 10 >= gaps * 9 ? std::optional<TimeNs>(middle) : std::nullopt;
  }

 private:
  TimeNs last_ns_ = 0;
  std::uint64_t instants_ = 0;
  std::uint64_t rows_here_ = 0;
  std::uint64_t rows_max_ = 0;
  std::map<TimeNs, std::uint64_t> gaps_;
};

// "1,234,567"
std::string grouped(Int128 value) {
  std::string digits = fmt::format("{}", static_cast<std::int64_t>(value));
  for (std::size_t i = digits.size(); i > 3 + (digits[0] == '-' ? 1u : 0u);)
    digits.insert(i -= 3, ",");
  return digits;
}

std::string seconds(TimeNs ns) {
  return fmt::format("{}.{:03} s", grouped(ns / kSecond), ns % kSecond / kMillisecond);
}

// Share in percent with one decimal, rounded.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  const auto permille = static_cast<std::uint64_t>((Int128{part} * 1000 + whole / 2) / whole);
  return fmt::format("{}.{} %", permille / 10, permille % 10);
}

std::string length_line(const char* what, const LengthSummary& s) {
  return fmt::format("{:<10}mean {}  min {}  p50 {}  p90 {}  p99 {}  max {}  total {} tokens\n",
                     what, grouped(s.mean), grouped(s.min), grouped(s.p50), grouped(s.p90),
                     grouped(s.p99), grouped(s.max), grouped(s.total));
}

}  // namespace

TraceInfo trace_info(const std::string& path, TraceFormat format, std::int64_t block_tokens) {
  TraceInfo info;
  info.path = path;
  info.format = format;
  if (format == TraceFormat::mooncake) info.block_tokens = block_tokens;
  const std::unique_ptr<TraceReader> reader = open_trace(path, format, block_tokens);
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;
  std::unordered_set<std::uint64_t> seen;  // asked for members only
  Clock clock;
  while (const std::optional<TraceRow> row = reader->next()) {
    if (info.rows++ == 0) info.first_ns = row->at_ns;
    info.duration_ns = row->at_ns - info.first_ns;
    info.rows_without_tokens += row->prompt_tokens == 0 || row->output_tokens == 0 ? 1 : 0;
    input.push_back(row->prompt_tokens);
    output.push_back(row->output_tokens);
    clock.add(row->at_ns);
    bool leading = true;
    for (const std::uint64_t block : row->blocks) {
      const bool known = !seen.insert(block).second;
      leading = leading && known;
      info.blocks_hit += leading ? 1 : 0;
    }
    info.blocks += row->blocks.size();
  }
  if (info.rows == 0) throw TraceError(path + ": the trace has no rows");
  info.input = summary_of(std::move(input));
  info.output = summary_of(std::move(output));
  info.instants = clock.instants();
  info.rows_per_instant_max = clock.rows_max();
  info.time_step_ns = clock.step(info.rows);
  info.blocks_unique = seen.size();
  return info;
}

std::string to_text(const TraceInfo& info) {
  std::string out = fmt::format("{}: {}\n", info.path, name(info.format));
  out += fmt::format("{:<10}{} in {}", "rows", grouped(info.rows), seconds(info.duration_ns));
  if (info.rows_without_tokens > 0)
    out += fmt::format("; {} without input or output tokens, dropped in a replay",
                       grouped(info.rows_without_tokens));
  out += fmt::format("\n{:<10}{} distinct, up to {} rows at one\n", "times", grouped(info.instants),
                     grouped(info.rows_per_instant_max));
  out += length_line("input", info.input);
  out += length_line("output", info.output);
  if (info.blocks > 0)
    out += fmt::format("{:<10}{} of {} tokens, {} distinct; a cache without bound finds {}\n",
                       "blocks", grouped(info.blocks), info.block_tokens,
                       grouped(info.blocks_unique), percent(info.blocks_hit, info.blocks));
  if (info.time_step_ns.has_value())
    out += fmt::format("note: timestamps step by about {} ms: consider `arrival: spread`\n",
                       grouped((*info.time_step_ns + kMillisecond / 2) / kMillisecond));
  return out;
}

TraceFormat detect_format(const std::string& path) {
  TraceText text(path);
  const auto line = text.row();
  if (!line.has_value()) throw TraceError(path + ": the trace has no rows");
  const std::size_t begin = line->find_first_not_of(" \t");
  if (line->at(begin) == '{') return TraceFormat::mooncake;
  for (const char* column : {"TIMESTAMP", "ContextTokens", "GeneratedTokens"})
    if (line->find(column) != std::string_view::npos) return TraceFormat::azure;
  text.fail(
      begin + 1,
      fmt::format("{} begins neither a row of Mooncake's JSONL nor the header of an Azure CSV",
                  quoted(line->substr(begin))));
}

const char* name(TraceFormat format) {
  switch (format) {
    case TraceFormat::mooncake:
      return "mooncake";
    case TraceFormat::azure:
      return "azure";
  }
  HANDOFF_CHECK(false, "unknown trace format");
}

}  // namespace handoff

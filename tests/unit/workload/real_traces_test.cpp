// Known facts about the public traces, where they are at hand, and about the samples of the
// repository.
#include <filesystem>

#include "models/workload/trace_info.hpp"
#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

const std::string kShared = HANDOFF_SOURCE_DIR "/../shared/traces/";
const std::string kSamples = HANDOFF_SOURCE_DIR "/scenarios/data/";

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here"

void expect_lengths(const LengthSummary& s, std::int64_t total,
                    const std::vector<std::int64_t>& rest) {
  EXPECT_EQ(s.total, total);
  EXPECT_EQ((std::vector<std::int64_t>{s.mean, s.min, s.p50, s.p90, s.p99, s.max}), rest);
}

TEST(RealTraces, MooncakeConversation) {
  const std::string path = kShared + "mooncake_conversation.jsonl.gz";
  SKIP_WITHOUT(path);
  EXPECT_EQ(detect_format(path), TraceFormat::mooncake);
  const TraceInfo info = trace_info(path, TraceFormat::mooncake);
  EXPECT_EQ(info.rows, 12'031u);
  EXPECT_EQ(info.duration_ns, 3'536'999 * kMillisecond);
  expect_lengths(info.input, 144'793'823, {12'035, 891, 6'909, 27'367, 85'401, 126'195});
  expect_lengths(info.output, 4'122'048, {343, 1, 350, 597, 1'120, 2'000});
  EXPECT_EQ(info.instants, 1'180u);
  EXPECT_EQ(info.rows_per_instant_max, 28u);
  EXPECT_EQ(info.blocks, 288'500u);
  EXPECT_EQ(info.blocks_unique, 182'790u);
  EXPECT_EQ(info.blocks_hit, 105'710u);  // 36.6 %
  EXPECT_EQ(info.time_step_ns, 3'000 * kMillisecond);
}

TEST(RealTraces, MooncakeSynthetic) {
  const std::string path = kShared + "mooncake_synthetic.jsonl.gz";
  SKIP_WITHOUT(path);
  const TraceInfo info = trace_info(path, TraceFormat::mooncake);
  EXPECT_EQ(info.rows, 3'993u);
  expect_lengths(info.input, 61'194'628, {15'325, 13, 11'587, 38'615, 66'458, 191'378});
  expect_lengths(info.output, 595'432, {149, 1, 69, 389, 769, 893});
  EXPECT_EQ(info.instants, 3'982u);
  EXPECT_EQ(info.blocks_unique, 43'924u);
  EXPECT_EQ(info.blocks_hit, 77'953u);  // 64.0 % of 121,877
  EXPECT_EQ(info.time_step_ns, std::nullopt);
}

TEST(RealTraces, AzureConversationAndCode) {
  SKIP_WITHOUT(kShared + "azure2023_conv.csv");
  const TraceInfo chat = trace_info(kShared + "azure2023_conv.csv", TraceFormat::azure);
  EXPECT_EQ(chat.rows, 19'366u);
  EXPECT_EQ(chat.input.mean, 1'155);
  EXPECT_EQ(chat.input.max, 14'050);
  EXPECT_EQ(chat.output.mean, 211);
  EXPECT_EQ(chat.output.p50, 129);
  EXPECT_EQ(chat.output.max, 1'000);
  EXPECT_EQ(chat.duration_ns / kMinute, 58);
  EXPECT_EQ(chat.time_step_ns, std::nullopt);
  const TraceInfo code = trace_info(kShared + "azure2023_code.csv", TraceFormat::azure);
  EXPECT_EQ(code.rows, 8'819u);
  EXPECT_EQ(code.input.mean, 2'048);
  EXPECT_EQ(code.input.p50, 1'469);
  EXPECT_EQ(code.input.max, 7'437);
  EXPECT_EQ(code.output.mean, 28);
  EXPECT_EQ(code.output.max, 1'899);
}

TEST(RealTraces, SpreadingTheConversationKeepsOrderAndLeavesFewSharedInstants) {
  const std::string path = kShared + "mooncake_conversation.jsonl.gz";
  SKIP_WITHOUT(path);
  const std::vector<RequestSpec> recorded = rows_of(trace_workload(path));
  WorkloadConfig config = trace_workload(path);
  trace_of(config).arrival = ArrivalMode::spread;
  const std::vector<RequestSpec> spread = rows_of(config);
  ASSERT_EQ(spread.size(), 12'031u);
  std::size_t shared = 0;
  for (std::size_t i = 0; i < spread.size(); ++i) {
    EXPECT_EQ(spread[i].row, i);
    EXPECT_EQ(spread[i].prompt_tokens, recorded[i].prompt_tokens);
    EXPECT_GE(spread[i].arrival_ns, recorded[i].arrival_ns);
    EXPECT_LT(spread[i].arrival_ns, recorded[i].arrival_ns + 3'004 * kMillisecond);
    shared += i > 0 && spread[i].arrival_ns == spread[i - 1].arrival_ns ? 1 : 0;
  }
  EXPECT_EQ(shared, 0u);
}

TEST(Samples, MooncakeSampleLooksLikeAConversation) {
  const TraceInfo info = trace_info(kSamples + "mooncake_sample.jsonl", TraceFormat::mooncake);
  EXPECT_EQ(info.rows, 200u);
  EXPECT_EQ(info.rows_without_tokens, 0u);
  ASSERT_TRUE(info.time_step_ns.has_value());
  EXPECT_EQ(*info.time_step_ns, 3'000 * kMillisecond);
  EXPECT_GT(info.blocks_hit * 4, info.blocks);
  EXPECT_EQ(text_of(rows_of(trace_workload(kSamples + "mooncake_sample.jsonl.gz"))),
            text_of(rows_of(trace_workload(kSamples + "mooncake_sample.jsonl"))));
}

TEST(Samples, AzureSampleHasTheQuirksOfTheRealOne) {
  const std::string path = kSamples + "azure_sample.csv";
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find("\r\n"), std::string::npos);
  EXPECT_NE(text.back(), '\n');
  EXPECT_EQ(detect_format(path), TraceFormat::azure);
  const TraceInfo info = trace_info(path, TraceFormat::azure);
  EXPECT_EQ(info.rows, 200u);
  EXPECT_EQ(info.rows_without_tokens, 0u);
}

}  // namespace
}  // namespace handoff

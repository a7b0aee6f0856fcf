// The facts about a trace, its look in a terminal, and the guess of its format.
#include "models/workload/trace_info.hpp"

#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

class Info : public TraceTest {};

TEST_F(Info, CountsWhatATraceHolds) {
  const std::string path =
      write("t.jsonl", mooncake_row("1000", 1500, 4, 10) + mooncake_row("1000", 600, 0, 10) +
                           mooncake_row("2500", 2048, 9, 10) + mooncake_row("4000", 1, 2, 11));
  const TraceInfo info = trace_info(path, TraceFormat::mooncake);
  EXPECT_EQ(info.rows, 4u);
  EXPECT_EQ(info.rows_without_tokens, 1u);
  EXPECT_EQ(info.first_ns, kSecond);
  EXPECT_EQ(info.duration_ns, 3 * kSecond);
  EXPECT_EQ(info.instants, 3u);
  EXPECT_EQ(info.rows_per_instant_max, 2u);
  EXPECT_EQ(info.input.total, 4149);
  EXPECT_EQ(info.input.mean, 1037);
  EXPECT_EQ(info.input.min, 1);
  EXPECT_EQ(info.input.p50, 600);
  EXPECT_EQ(info.input.p90, 2048);
  EXPECT_EQ(info.output.max, 9);
  EXPECT_EQ(info.blocks, 10u);
  EXPECT_EQ(info.blocks_unique, 4u);
  // Row 2 finds both of its blocks, row 3 the first three of four; row 4 its only one.
  EXPECT_EQ(info.blocks_hit, 6u);
  EXPECT_EQ(info.time_step_ns, std::nullopt);
}

TEST_F(Info, ABlockBehindAMissIsNoHit) {
  const std::string a =
      "{\"timestamp\":0,\"input_length\":1024,\"output_length\":1,\"hash_ids\":[1,2]}\n";
  const std::string b =
      "{\"timestamp\":0,\"input_length\":1024,\"output_length\":1,\"hash_ids\":[3,2]}\n";
  EXPECT_EQ(trace_info(write("t.jsonl", a + b), TraceFormat::mooncake).blocks_hit, 0u);
}

TEST_F(Info, ACoarseClockIsNoticed) {
  std::string coarse;
  for (int i = 0; i < 60; ++i)
    coarse += mooncake_row(std::to_string(i / 3 * 3000 + i / 3 % 3), 10, 1);
  const TraceInfo info = trace_info(write("coarse.jsonl", coarse), TraceFormat::mooncake);
  ASSERT_TRUE(info.time_step_ns.has_value());
  EXPECT_NEAR(static_cast<double>(*info.time_step_ns), 3e9, 3e6);
  EXPECT_NE(
      to_text(info).find("note: timestamps step by about 3,001 ms: consider `arrival: spread`\n"),
      std::string::npos)
      << to_text(info);
  // Bursts at irregular times are not a clock.
  std::string bursts;
  for (int i = 0; i < 60; ++i) bursts += mooncake_row(std::to_string(i / 3 * i / 3 * 700), 10, 1);
  EXPECT_EQ(trace_info(write("bursts.jsonl", bursts), TraceFormat::mooncake).time_step_ns,
            std::nullopt);
}

TEST_F(Info, TextShowsWhatThereIs) {
  const std::string path =
      write("t.csv",
            "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
            "2023-11-16 18:15:46.6805900,1374,44\r\n2023-11-16 18:35:50.9951690,396,0");
  const std::string text = to_text(trace_info(path, TraceFormat::azure));
  EXPECT_EQ(
      text,
      path +
          ": azure\n"
          "rows      2 in 1,204.314 s; 1 without input or output tokens, dropped in a replay\n"
          "times     2 distinct, up to 1 rows at one\n"
          "input     mean 885  min 396  p50 396  p90 1,374  p99 1,374  max 1,374  total 1,770 "
          "tokens\n"
          "output    mean 22  min 0  p50 0  p90 44  p99 44  max 44  total 44 tokens\n");
}

TEST_F(Info, TheFormatIsToldByContent) {
  EXPECT_EQ(detect_format(write("a.csv", mooncake_row("0", 1, 1))), TraceFormat::mooncake);
  EXPECT_EQ(detect_format(write("b", gzip_of(" " + mooncake_row("0", 1, 1)))),
            TraceFormat::mooncake);
  EXPECT_EQ(detect_format(write("c.jsonl", "TIMESTAMP,ContextTokens,GeneratedTokens\n")),
            TraceFormat::azure);
  const std::string other =
      write("d", "Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n");
  try {
    detect_format(other);
    FAIL();
  } catch (const TraceError& error) {
    EXPECT_EQ(error.what(),
              other +
                  ":1:1: 'Timestamp,Model,Request tokens,Response ...' begins neither a row of "
                  "Mooncake's JSONL nor the header of an Azure CSV");
  }
  EXPECT_THROW(detect_format(write("e", "")), TraceError);
  EXPECT_THROW(trace_info(write("f", "\n"), TraceFormat::mooncake), TraceError);
}

}  // namespace
}  // namespace handoff

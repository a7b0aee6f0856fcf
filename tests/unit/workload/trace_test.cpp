// Well-formed traces: values, line ends, compression, windows, clipping, spreading.
#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

class Mooncake : public TraceTest {};
class Azure : public TraceTest {};
class Spread : public TraceTest {};

TEST_F(Mooncake, RowsAreGivenAsRecorded) {
  const std::string path =
      write("t.jsonl",
            mooncake_row("0", 1024, 5, 7) + mooncake_row("27482", 513, 1, 18446744073709551610u));
  const std::vector<RequestSpec> rows = rows_of(trace_workload(path));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].arrival_ns, 0);
  EXPECT_EQ(rows[0].prompt_tokens, 1024);
  EXPECT_EQ(rows[0].output_tokens, 5);
  EXPECT_EQ(rows[0].blocks.size(), 2u);
  EXPECT_EQ(rows[0].block_tokens, 512);
  EXPECT_EQ(rows[1].arrival_ns, 27'482 * kMillisecond);
  EXPECT_EQ(rows[1].blocks.size(), 2u);
  EXPECT_EQ(rows[1].row, 1u);
  EXPECT_FALSE(rows[1].injected);
}

TEST_F(Mooncake, EqualIdsGiveEqualBlocksWithinAWorkloadOnly) {
  const std::string path =
      write("t.jsonl", mooncake_row("0", 1536, 1, 3) + mooncake_row("1", 1024, 1, 3) +
                           mooncake_row("2", 512, 1, 4));
  const std::vector<RequestSpec> rows = rows_of(trace_workload(path));
  const std::vector<RequestSpec> other = rows_of(trace_workload(path), 1, 1);
  EXPECT_EQ(rows[0].blocks[0], rows[1].blocks[0]);
  EXPECT_EQ(rows[0].blocks[1], rows[1].blocks[1]);
  EXPECT_EQ(rows[0].blocks[1], rows[2].blocks[0]);
  EXPECT_NE(rows[0].blocks[0], rows[0].blocks[1]);
  EXPECT_NE(rows[0].blocks[0], other[0].blocks[0]);
}

TEST_F(Mooncake, DecimalTimesAreExactToTheNanosecond) {
  const std::string path =
      write("t.jsonl", mooncake_row("0.000001", 1, 1) + mooncake_row("2.5", 1, 1) +
                           mooncake_row("1.25e3", 1, 1) + mooncake_row("4503599627.3704961", 1, 1) +
                           mooncake_row("45036e5", 1, 1));
  EXPECT_EQ(arrivals_of(rows_of(trace_workload(path))),
            (std::vector<TimeNs>{1, 2'500'000, 1'250'000'000, 4'503'599'627'370'496,
                                 4'503'600'000'000'000}));
}

TEST_F(Mooncake, OtherKeysLineEndsAndTrailingBlankLinesAreTolerated) {
  const std::string row =
      "{\"session_id\": \"\xFF\\u0041\", \"x\": {\"timestamp\": -1, \"hash_ids\": [null, [1e9]]}, "
      "\"hash_ids\": [9],"
      " \"output_length\":3,\"input_length\":2 , \"y\": [], \"z\": true, \"timestamp\":4}";
  const std::string path =
      write("t.jsonl", "\xEF\xBB\xBF" + row + "\r\n" + row + " \r\n\r\n  \n\n");
  const std::vector<RequestSpec> rows = rows_of(trace_workload(path));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].arrival_ns, 4 * kMillisecond);
  EXPECT_EQ(rows[1].prompt_tokens, 2);
  EXPECT_EQ(rows[1].output_tokens, 3);
  EXPECT_EQ(rows[1].blocks.size(), 1u);
}

TEST_F(Mooncake, KeysMayBeEscaped) {
  const std::string path = write(
      "t.jsonl", "{\"time\\u0073tamp\":1,\"input_length\":1,\"output_length\":1,\"hash_ids\":[0]}");
  EXPECT_EQ(arrivals_of(rows_of(trace_workload(path))), std::vector<TimeNs>{kMillisecond});
}

TEST_F(Mooncake, GzipGivesTheSameRowsAlsoInSeveralMembers) {
  std::string first;
  std::string second;
  for (int i = 0; i < 3000; ++i)
    (i < 1700 ? first : second) +=
        mooncake_row(std::to_string(i), 100 + i, 1 + i % 7, 1000u * static_cast<unsigned>(i));
  // A member may end in the middle of a line.
  second.insert(0, first.substr(first.size() - 20));
  first.resize(first.size() - 20);
  const std::string expected = text_of(rows_of(trace_workload(write("t.jsonl", first + second))));
  EXPECT_EQ(text_of(rows_of(trace_workload(write("one", gzip_of(first + second))))), expected);
  EXPECT_EQ(text_of(rows_of(trace_workload(write("two", gzip_of(first) + gzip_of(second))))),
            expected);
}

TEST_F(Mooncake, RowsWithoutTokensAreDroppedAndCounted) {
  const std::string path = write("t.jsonl", mooncake_row("0", 0, 5) + mooncake_row("1", 5, 0) +
                                                mooncake_row("2", 5, 5) + mooncake_row("3", 0, 0));
  WorkloadStream stream = open(trace_workload(path));
  const std::vector<RequestSpec> rows = drain(stream);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].row, 2u);
  EXPECT_EQ(stream.counters().rows_read, 4u);
  EXPECT_EQ(stream.counters().rows_dropped, 3u);
  EXPECT_EQ(stream.counters().requests, 1u);
}

TEST_F(Mooncake, AWindowRestartsTimeAndEndsTheStream) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += mooncake_row(std::to_string(1000 * i), 10, 1);
  // What lies behind the window is not read, so not judged either.
  WorkloadConfig config = trace_workload(write("t.jsonl", text + "nonsense\n"));
  trace_of(config).from_ns = 3 * kSecond;
  trace_of(config).for_ns = 4 * kSecond;
  WorkloadStream stream = open(config);
  EXPECT_EQ(arrivals_of(drain(stream)),
            (std::vector<TimeNs>{0, kSecond, 2 * kSecond, 3 * kSecond}));
  EXPECT_EQ(stream.counters().rows_read, 8u);
  EXPECT_EQ(stream.counters().rows_skipped, 4u);
  EXPECT_EQ(stream.counters().first_arrival_ns, 0);
  EXPECT_EQ(stream.counters().last_arrival_ns, 3 * kSecond);
  EXPECT_EQ(stream.next(), std::nullopt);
}

TEST_F(Mooncake, SpeedupScalesArrivalsAfterTheWindow) {
  WorkloadConfig config =
      trace_workload(write("t.jsonl", mooncake_row("0", 10, 1) + mooncake_row("1000", 10, 1) +
                                          mooncake_row("1999", 10, 1)));
  trace_of(config).from_ns = kSecond;
  trace_of(config).speedup_permille = 2000;
  EXPECT_EQ(arrivals_of(rows_of(config)), (std::vector<TimeNs>{0, 499'500'000}));
  trace_of(config).speedup_permille = 250;
  EXPECT_EQ(arrivals_of(rows_of(config)), (std::vector<TimeNs>{0, 3'996'000'000}));
}

TEST_F(Mooncake, SlowingDownPastTheEndOfTimeIsAnError) {
  WorkloadConfig config = trace_workload(write("t.jsonl", mooncake_row("1e12", 10, 1)));
  trace_of(config).speedup_permille = 1;
  WorkloadStream stream = open(config);
  EXPECT_THROW(stream.next(), TraceError);
}

TEST_F(Mooncake, RequestsMaxCountsWhatIsHandedOn) {
  WorkloadConfig config =
      trace_workload(write("t.jsonl", mooncake_row("0", 0, 1) + mooncake_row("1", 10, 1) +
                                          mooncake_row("2", 10, 1) + "nonsense"));
  trace_of(config).requests_max = 2;
  WorkloadStream stream = open(config);
  EXPECT_EQ(drain(stream).size(), 2u);
  EXPECT_EQ(stream.counters().rows_read, 3u);
}

TEST_F(Mooncake, ClippingCutsLengthsAndBlocksAndIsCounted) {
  WorkloadConfig config =
      trace_workload(write("t.jsonl", mooncake_row("0", 2000, 300) + mooncake_row("1", 1025, 100)));
  config.clip_prompt_tokens = 1025;
  config.clip_output_tokens = 100;
  WorkloadStream stream = open(config);
  const std::vector<RequestSpec> rows = drain(stream);
  EXPECT_EQ(rows[0].prompt_tokens, 1025);
  EXPECT_EQ(rows[0].output_tokens, 100);
  EXPECT_EQ(rows[0].blocks.size(), 3u);
  EXPECT_EQ(rows[1].prompt_tokens, 1025);
  EXPECT_EQ(stream.counters().prompts_clipped, 1u);
  EXPECT_EQ(stream.counters().outputs_clipped, 1u);
}

TEST_F(Mooncake, RowsCarryDeploymentWorkloadTenantAndPatience) {
  WorkloadConfig config = trace_workload(write("t.jsonl", mooncake_row("0", 1, 1)));
  config.deployment = 3;
  config.abort_after_ns = 9;
  TenantNames tenants;
  EXPECT_EQ(tenants.index("somebody"), 0u);
  const auto row = WorkloadStream::open(config, 5, 1, tenants).next();
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->deployment, 3u);
  EXPECT_EQ(row->workload, 5u);
  EXPECT_EQ(row->abort_after_ns, 9);
  EXPECT_EQ(tenants.name(row->tenant), "w");
  EXPECT_EQ(tenants.size(), 2u);
}

constexpr const char* kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

TEST_F(Azure, TimesAreExactAndRelativeToTheFirstRow) {
  const std::string path = write("t.csv", std::string(kHeader) +
                                              "2023-12-31 23:59:59.9999999,374,44\r\n"
                                              "2024-01-01 00:00:00,396,109\r\n"
                                              "2024-02-28T12:00:00.5Z,1,1\r\n"
                                              "2024-03-01 12:00:00.500000001+00:00,879,55");
  const std::vector<RequestSpec> rows = rows_of(trace_workload(path, TraceFormat::azure));
  // 2024 is a leap year: two days from February 28 to March 1.
  EXPECT_EQ(arrivals_of(rows),
            (std::vector<TimeNs>{0, 100, 58 * kDay + 12 * kHour + kSecond / 2 + 100,
                                 60 * kDay + 12 * kHour + kSecond / 2 + 101}));
  EXPECT_EQ(rows[3].prompt_tokens, 879);
  EXPECT_EQ(rows[3].output_tokens, 55);
  EXPECT_TRUE(rows[3].blocks.empty());
  EXPECT_EQ(rows[3].block_tokens, 0);
}

TEST_F(Azure, ColumnsAreFoundByName) {
  const std::string path = write("t.csv",
                                 "GeneratedTokens,Zone,ContextTokens,TIMESTAMP\n"
                                 "7,eu,9,2024-05-10 00:00:00.009930\n");
  const std::vector<RequestSpec> rows = rows_of(trace_workload(path, TraceFormat::azure));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].prompt_tokens, 9);
  EXPECT_EQ(rows[0].output_tokens, 7);
}

WorkloadConfig spread_over(const std::string& path) {
  WorkloadConfig config = trace_workload(path);
  trace_of(config).arrival = ArrivalMode::spread;
  return config;
}

TEST_F(Spread, SharedInstantsAreSpreadInOrderWithinTheirGap) {
  std::string text;
  for (int step = 0; step < 40; ++step)
    for (int k = 0; k < 5; ++k) text += mooncake_row(std::to_string(3000 * step), 10 + k, 1);
  const std::vector<RequestSpec> rows = rows_of(spread_over(write("t.jsonl", text)));
  ASSERT_EQ(rows.size(), 200u);
  std::int64_t late = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].prompt_tokens, 10 + static_cast<std::int64_t>(i % 5));
    const TimeNs offset = rows[i].arrival_ns - static_cast<TimeNs>(i / 5) * 3 * kSecond;
    EXPECT_GE(offset, 0);
    EXPECT_LT(offset, 3 * kSecond);  // the last instant too: it takes the gap before it
    late += offset >= 3 * kSecond / 2 ? 1 : 0;
    EXPECT_GE(rows[i].arrival_ns, rows[i == 0 ? 0 : i - 1].arrival_ns);
  }
  // Half of 200, within four deviations.
  EXPECT_GT(late, 70);
  EXPECT_LT(late, 130);
}

TEST_F(Spread, DrawsAreFixed) {
  const std::string path =
      write("t.jsonl", mooncake_row("0", 1, 1) + mooncake_row("0", 1, 1) + mooncake_row("0", 1, 1) +
                           mooncake_row("3000", 1, 1));
  EXPECT_EQ(arrivals_of(rows_of(spread_over(path), 42)),
            (std::vector<TimeNs>{1'226'704'117, 1'323'410'582, 2'261'328'680, 3'000'000'000}));
}

TEST_F(Spread, TheSeedAndTheWorkloadMoveItAndTheWindowDoesNot) {
  std::string text;
  for (int step = 0; step < 4; ++step)
    for (int k = 0; k < 3; ++k) text += mooncake_row(std::to_string(1000 * step), 10, 1);
  const WorkloadConfig config = spread_over(write("t.jsonl", text));
  const std::vector<TimeNs> all = arrivals_of(rows_of(config, 1));
  EXPECT_NE(all, arrivals_of(rows_of(config, 2)));
  EXPECT_NE(all, arrivals_of(rows_of(config, 1, 1)));
  WorkloadConfig late = config;
  trace_of(late).from_ns = 2 * kSecond;
  std::vector<TimeNs> rest = arrivals_of(rows_of(late, 1));
  for (TimeNs& at : rest) at += 2 * kSecond;
  EXPECT_EQ(rest, std::vector<TimeNs>(all.begin() + 6, all.end()));
}

TEST_F(Spread, ALoneRowStaysAndASingleInstantHasNoGapToSpreadOver) {
  const std::string lone = write("lone.jsonl", mooncake_row("5", 1, 1) + mooncake_row("9", 1, 1));
  EXPECT_EQ(arrivals_of(rows_of(spread_over(lone))),
            (std::vector<TimeNs>{5 * kMillisecond, 9 * kMillisecond}));
  const std::string burst = write("burst.jsonl", mooncake_row("5", 1, 1) + mooncake_row("5", 1, 1));
  EXPECT_EQ(arrivals_of(rows_of(spread_over(burst))),
            (std::vector<TimeNs>{5 * kMillisecond, 5 * kMillisecond}));
}

TEST_F(Spread, RowsBeforeABadOneAreStillGiven) {
  const std::string path = write("t.jsonl", mooncake_row("0", 1, 1) + mooncake_row("9", 1, 1) +
                                                mooncake_row("9", 1, 1) + "{]\n");
  WorkloadStream stream = open(spread_over(path));
  EXPECT_TRUE(stream.next().has_value());
  EXPECT_TRUE(stream.next().has_value());
  EXPECT_TRUE(stream.next().has_value());
  EXPECT_THROW(stream.next(), TraceError);
  EXPECT_THROW(stream.next(), TraceError);
}

}  // namespace
}  // namespace handoff

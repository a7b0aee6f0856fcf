// Streams as values, listed requests, merging.
#include <algorithm>
#include <memory>
#include <thread>

#include "models/workload/trace_feed.hpp"
#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

class Stream : public TraceTest {
 protected:
  [[nodiscard]] std::string long_trace() const {
    std::string text;
    for (int i = 0; i < 2000; ++i)
      text += mooncake_row(std::to_string(i / 3), 700, 1 + i, static_cast<unsigned>(2 * i));
    return write("t.jsonl", text);
  }
};

SyntheticConfig poisson(std::int64_t requests) {
  SyntheticConfig s;
  s.arrivals.rate_per_s = 2.0;
  s.prompt.kind = s.output.kind = LengthDistribution::Kind::uniform;
  s.prompt.high = 900;
  s.output.high = 50;
  s.requests_max = requests;
  return s;
}

// From whatever point a copy is made, both go on with the same rows, in whatever turns they are
// read.
void expect_copies_go_on(const WorkloadConfig& config) {
  const std::vector<RequestSpec> all = rows_of(config);
  ASSERT_GE(all.size(), 1000u);
  for (const std::size_t at : {0u, 1u, 255u, 256u, 257u, 999u}) {
    WorkloadStream stream = open(config);
    for (std::size_t i = 0; i < at; ++i) ASSERT_TRUE(stream.next().has_value());
    WorkloadStream copy = stream;
    std::vector<RequestSpec> first;
    std::vector<RequestSpec> second;
    for (int i = 0; i < 300; ++i)
      if (auto row = copy.next()) second.push_back(std::move(*row));
    for (auto& row : drain(stream)) first.push_back(std::move(row));
    for (auto& row : drain(copy)) second.push_back(std::move(row));
    const std::string expected =
        text_of(std::vector<RequestSpec>(all.begin() + static_cast<std::ptrdiff_t>(at), all.end()));
    EXPECT_EQ(text_of(first), expected) << at;
    EXPECT_EQ(text_of(second), expected) << at;
    EXPECT_EQ(stream.counters().requests, copy.counters().requests);
    EXPECT_EQ(stream.counters().requests, all.size());
  }
}

TEST_F(Stream, ACopyOfATraceGoesOnByItself) { expect_copies_go_on(trace_workload(long_trace())); }

TEST_F(Stream, ACopyOfASpreadTraceGoesOnByItself) {
  WorkloadConfig config = trace_workload(long_trace());
  trace_of(config).arrival = ArrivalMode::spread;
  expect_copies_go_on(config);
}

TEST_F(Stream, ACopyOfAGeneratorGoesOnByItself) {
  WorkloadConfig config;
  config.name = "w";
  config.source = poisson(1500);
  expect_copies_go_on(config);
}

TEST_F(Stream, ACopyOutlivesTheOriginal) {
  const WorkloadConfig config = trace_workload(long_trace());
  std::optional<WorkloadStream> stream = open(config);
  WorkloadStream copy = *stream;
  EXPECT_TRUE(stream->next().has_value());
  stream.reset();
  EXPECT_EQ(text_of(drain(copy)), text_of(rows_of(config)));
}

TEST_F(Stream, CopiesMayBeReadByDifferentThreads) {
  const WorkloadConfig config = trace_workload(long_trace());
  WorkloadStream stream = open(config);
  WorkloadStream copy = stream;
  std::string there;
  std::thread other([&] { there = text_of(drain(copy)); });
  const std::string here = text_of(drain(stream));
  other.join();
  EXPECT_EQ(here, there);
  EXPECT_EQ(here, text_of(rows_of(config)));
}

TEST_F(Stream, ChunksThatEveryStreamHasPassedAreFreed) {
  WorkloadConfig config = trace_workload(long_trace());
  TraceFeed feed(trace_of(config), 1, 0);
  std::shared_ptr<const TraceChunk> chunk = feed.first();
  const std::weak_ptr<const TraceChunk> first = chunk;
  chunk = feed.after(*chunk);
  EXPECT_TRUE(first.expired());
  const std::shared_ptr<const TraceChunk> held = chunk;
  std::size_t chunks = 2;
  for (; !chunk->last; ++chunks) chunk = feed.after(*chunk);
  EXPECT_GE(chunks, 8u);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(Stream, ListedRequestsComeInOrderOfTimeWithTheirPlaceAsRow) {
  WorkloadConfig config;
  config.name = "w";
  config.abort_after_ns = 70;
  ListedRequest a{5, 10, 1, "", kNever, {}, 0};
  ListedRequest b{3, 1200, 0, "b", 40, {8, 9, 10}, 512};
  ListedRequest c{3, 0, 1, "c", kNever, {}, 0};
  ListedRequest d{3, 2, 1, "", kNever, {}, 0};
  config.source = std::vector<ListedRequest>{a, b, c, d};
  TenantNames tenants;
  WorkloadStream stream = WorkloadStream::open(config, 2, 1, tenants);
  const std::vector<RequestSpec> rows = drain(stream);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].row, 1u);
  // Kept without output (an embedding); labels and its own patience as written.
  EXPECT_EQ(rows[0].output_tokens, 0);
  EXPECT_EQ(rows[0].blocks, (std::vector<std::uint64_t>{8, 9, 10}));
  EXPECT_EQ(rows[0].abort_after_ns, 40);
  EXPECT_EQ(tenants.name(rows[0].tenant), "b");
  EXPECT_EQ(rows[1].row, 3u);
  EXPECT_EQ(rows[1].abort_after_ns, 70);
  EXPECT_EQ(rows[2].row, 0u);
  EXPECT_EQ(tenants.name(rows[2].tenant), "w");
  EXPECT_EQ(stream.counters().rows_dropped, 1u);
}

WorkloadConfig listed(const std::vector<TimeNs>& times) {
  WorkloadConfig config;
  config.name = "w";
  std::vector<ListedRequest> requests;
  for (const TimeNs at : times) requests.push_back({at, 1, 1, "", kNever, {}, 0});
  config.source = requests;
  return config;
}

TEST(Merge, GoesByArrivalThenStreamThenRow) {
  TenantNames tenants;
  std::vector<WorkloadStream> streams;
  std::uint32_t index = 0;
  for (const auto& times :
       {std::vector<TimeNs>{5, 5, 9}, std::vector<TimeNs>{}, std::vector<TimeNs>{1, 5, 5, 12}})
    streams.push_back(WorkloadStream::open(listed(times), index++, 1, tenants));
  MergedWorkload merged(std::move(streams));
  std::string order;
  while (const auto row = merged.next())
    order += std::to_string(row->arrival_ns) + ":" + std::to_string(row->workload) + "." +
             std::to_string(row->row) + " ";
  EXPECT_EQ(order, "1:2.0 5:0.0 5:0.1 5:2.1 5:2.2 9:0.2 12:2.3 ");
  EXPECT_EQ(merged.next(), std::nullopt);
  EXPECT_EQ(merged.streams()[2].counters().requests, 4u);
}

TEST(Merge, ACopyGoesOnByItself) {
  TenantNames tenants;
  std::vector<WorkloadStream> streams;
  for (std::uint32_t i = 0; i < 3; ++i) {
    WorkloadConfig config;
    config.name = "w";
    config.source = poisson(200);
    streams.push_back(WorkloadStream::open(config, i, 1, tenants));
  }
  MergedWorkload merged(std::move(streams));
  for (int i = 0; i < 77; ++i) merged.next();
  MergedWorkload copy = merged;
  std::string first;
  std::string second;
  TimeNs last = 0;
  while (const auto row = merged.next()) {
    EXPECT_GE(row->arrival_ns, last);
    last = row->arrival_ns;
    first += text_of(*row) + "\n";
  }
  while (const auto row = copy.next()) second += text_of(*row) + "\n";
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 600 - 77);
}

TEST(Merge, WithoutStreamsThereIsNothing) { EXPECT_EQ(MergedWorkload().next(), std::nullopt); }

TEST(Tenants, AreNumberedInOrderOfFirstMention) {
  TenantNames tenants;
  EXPECT_EQ(tenants.index("a"), 0u);
  EXPECT_EQ(tenants.index("b"), 1u);
  EXPECT_EQ(tenants.index("a"), 0u);
  EXPECT_EQ(tenants.size(), 2u);
  EXPECT_EQ(tenants.name(1), "b");
}

}  // namespace
}  // namespace handoff

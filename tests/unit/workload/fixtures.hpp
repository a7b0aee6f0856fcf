// Small trace files made by a test, and streams over them.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/workload.hpp"

namespace handoff {

// A folder of the running test alone, removed at its end.
class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("handoff_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TraceTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    EXPECT_TRUE(file.good());
    return path;
  }

  std::filesystem::path folder_;
};

inline std::string gzip_of(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// One row of Mooncake's format with blocks counted from `first_block`.
inline std::string mooncake_row(const std::string& timestamp, std::int64_t input,
                                std::int64_t output, std::uint64_t first_block = 0,
                                std::int64_t block_tokens = 512) {
  std::string row = "{\"timestamp\": " + timestamp +
                    ", \"input_length\": " + std::to_string(input) +
                    ", \"output_length\": " + std::to_string(output) + ", \"hash_ids\": [";
  for (std::int64_t i = 0; i * block_tokens < input; ++i)
    row += (i == 0 ? "" : ", ") + std::to_string(first_block + static_cast<std::uint64_t>(i));
  return row + "]}\n";
}

inline WorkloadConfig trace_workload(const std::string& path,
                                     TraceFormat format = TraceFormat::mooncake) {
  WorkloadConfig config;
  config.name = "w";
  TraceConfig trace;
  trace.path = path;
  trace.format = format;
  config.source = trace;
  return config;
}

inline TraceConfig& trace_of(WorkloadConfig& config) {
  return std::get<TraceConfig>(config.source);
}

inline WorkloadStream open(const WorkloadConfig& config, std::uint64_t seed = 1,
                           std::uint32_t index = 0) {
  TenantNames tenants;
  return WorkloadStream::open(config, index, seed, tenants);
}

inline std::vector<RequestSpec> drain(WorkloadStream& stream) {
  std::vector<RequestSpec> rows;
  while (auto row = stream.next()) rows.push_back(std::move(*row));
  return rows;
}

inline std::vector<RequestSpec> rows_of(const WorkloadConfig& config, std::uint64_t seed = 1,
                                        std::uint32_t index = 0) {
  WorkloadStream stream = open(config, seed, index);
  return drain(stream);
}

inline std::vector<TimeNs> arrivals_of(const std::vector<RequestSpec>& rows) {
  std::vector<TimeNs> times;
  for (const RequestSpec& row : rows) times.push_back(row.arrival_ns);
  return times;
}

// Everything of a row in comparable form.
inline std::string text_of(const RequestSpec& r) {
  std::string text;
  for (const std::int64_t value :
       {r.arrival_ns, r.prompt_tokens, r.output_tokens, std::int64_t{r.tenant},
        std::int64_t{r.deployment}, std::int64_t{r.workload}, static_cast<std::int64_t>(r.row),
        r.block_tokens, r.abort_after_ns})
    text += std::to_string(value) + " ";
  for (const std::uint64_t block : r.blocks) text += std::to_string(block) + ",";
  return text + (r.injected ? " injected" : "");
}

inline std::string text_of(const std::vector<RequestSpec>& rows) {
  std::string text;
  for (const RequestSpec& row : rows) text += text_of(row) + "\n";
  return text;
}

}  // namespace handoff

// Every malformed trace gives one clear error that names the place, what was expected and what was
// found.
#include "tests/unit/workload/fixtures.hpp"

namespace handoff {
namespace {

struct Case {
  const char* name;
  std::string text;
  const char* error;  // behind the path
  TraceFormat format = TraceFormat::mooncake;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Malformed : public testing::TestWithParam<Case> {};

std::string error_of(const WorkloadConfig& config) {
  try {
    rows_of(config);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "no error";
}

const std::string kGood = mooncake_row("1000", 600, 5);

std::string row(const std::string& timestamp, const std::string& input, const std::string& output,
                const std::string& blocks) {
  return "{\"timestamp\":" + timestamp + ",\"input_length\":" + input +
         ",\"output_length\":" + output + ",\"hash_ids\":" + blocks + "}\n";
}

std::string damaged(std::string text, std::size_t at) {
  text[at] = static_cast<char>(text[at] ^ 0x55);
  return text;
}

std::string azure(const std::string& rows) {
  return "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows;
}

// 64 KiB of rows that do not compress away, so that damage lies behind sound data.
std::string long_gzip() {
  std::string text;
  for (unsigned i = 0; i < 2000; ++i)
    text += mooncake_row(std::to_string(i), 1000, 1, mix64(i) >> 1);
  return gzip_of(text);
}

std::vector<Case> cases() {
  const std::string sound = long_gzip();
  const auto azure_format = TraceFormat::azure;
  return {
      {"empty", "", ": the file is empty"},
      {"only_blank_lines", "\n\r\n \n", ": the trace has no rows"},
      {"blank_line_inside", kGood + "\n" + kGood, ":2:1: a blank line before the end of the file"},
      {"nul_byte", kGood + std::string("{\"timestamp\0\":1}", 16),
       ":2:12: a NUL byte: not a text file, or one that was not written to its end"},
      {"cut_json", kGood + "{\"timestamp\": 3, \"inp", ":2:22: not JSON: incomplete JSON"},
      {"bad_json", kGood + kGood + "{\"timestamp\": }\n", ":3:15: not JSON: syntax error"},
      {"two_objects", "{} {}\n", ":1:4: expected one object a line, found '{}' behind it"},
      {"a_list", "[1,2]\n", ":1:1: expected an object, found a list"},
      {"a_number", "17\n", ":1:1: expected an object, found a number"},
      {"a_text", "\"timestamp\"\n", ":1:1: expected an object, found a text"},
      {"csv_as_mooncake", "TIMESTAMP,ContextTokens,GeneratedTokens\n",
       ":1:1: not JSON: syntax error"},
      {"missing_key", kGood + "{\"timestamp\":5,\"input_length\":6,\"hash_ids\":[1]}\n",
       ":2:1: 'output_length' is missing, expected a whole number of tokens, 0 or more"},
      {"missing_blocks", "{\"timestamp\":5,\"input_length\":6,\"output_length\":1}\n",
       ":1:1: 'hash_ids' is missing, expected a list of block hashes, whole numbers of 64 bits"},
      {"key_twice", "{\"timestamp\":5,\"timestamp\":6}\n", ":1:17: 'timestamp' is given twice"},
      {"text_for_number", row("5", "\"600\"", "1", "[1,2]"),
       ":1:17: 'input_length' is a text, expected a whole number of tokens, 0 or more"},
      {"null_for_number", row("null", "600", "1", "[1,2]"),
       ":1:3: 'timestamp' is null, expected a number of milliseconds, 0 or more"},
      {"object_for_blocks", row("5", "600", "1", "{}"),
       ":1:54: 'hash_ids' is an object, expected a list of block hashes, whole numbers of 64 bits"},
      {"number_for_blocks", row("5", "600", "1", "7"),
       ":1:64: 'hash_ids' is '7', expected a list of block hashes, whole numbers of 64 bits"},
      {"list_for_number", row("[5]", "600", "1", "[1,2]"),
       ":1:3: 'timestamp' is a list, expected a number of milliseconds, 0 or more"},
      {"list_in_blocks", row("5", "600", "1", "[1,[2]]"),
       ":1:54: 'hash_ids' is a list with a list, expected a list of block hashes, whole numbers of "
       "64 bits"},
      {"text_in_blocks", row("5", "600", "1", "[1,\"2\"]"),
       ":1:54: 'hash_ids' is a list with a text, expected a list of block hashes, whole numbers of "
       "64 bits"},
      {"negative_block", row("5", "600", "1", "[1,-2]"),
       ":1:67: 'hash_ids' is '-2', expected a list of block hashes, whole numbers of 64 bits"},
      {"block_above_64_bits", row("5", "600", "1", "[1,18446744073709551616]"),
       ":1:67: 'hash_ids' is '18446744073709551616', expected a list of block hashes, whole "
       "numbers of 64 bits"},
      {"negative_length", row("5", "-600", "1", "[1,2]"),
       ":1:31: 'input_length' is '-600', expected a whole number of tokens, 0 or more"},
      {"fractional_length", row("5", "600", "1.5", "[1,2]"),
       ":1:51: 'output_length' is '1.5', expected a whole number of tokens, 0 or more"},
      {"huge_length", row("5", "600", "1099511627777", "[1,2]"),
       ":1:51: 'output_length' is '1099511627777', more than 1099511627776 tokens"},
      {"negative_time", row("-0.5", "600", "1", "[1,2]"),
       ":1:14: 'timestamp' is '-0.5', expected a number of milliseconds, 0 or more"},
      {"time_of_1e400", row("1e400", "600", "1", "[1,2]"), nullptr},
      {"time_in_nanoseconds", row("1700000000000000000", "600", "1", "[1,2]"),
       ":1:14: 'timestamp' is '1700000000000000000' ms, more than a hundred years"},
      {"time_goes_back", kGood + mooncake_row("999.5", 600, 5),
       ":2:3: time goes back by 500000 ns; rows must be in order of time"},
      {"other_block_size",
       row("5", "600", "1",
           "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
           "25,26,27,28,29,30,31,32,33,34,35,36,37,38]"),
       ":1:54: 'hash_ids' has 38 blocks, expected 2 for 600 tokens in blocks of 512; blocks of 16 "
       "tokens would fit "
       "(as in Qwen-Bailian traces, whose timestamps are seconds)"},
      {"no_power_of_two_fits", row("5", "1000", "1", "[1,2,3]"),
       ":1:55: 'hash_ids' has 3 blocks, expected 2 for 1000 tokens in blocks of 512; blocks of "
       "about 334 tokens "
       "would fit"},
      {"too_few_blocks", row("5", "600", "1", "[]"),
       ":1:54: 'hash_ids' has 0 blocks, expected 2 for 600 tokens in blocks of 512"},
      {"deep_nesting", "{\"x\":" + std::string(100'000, '[') + "\n", nullptr},
      {"gzip_cut_off", sound.substr(0, sound.size() / 2), nullptr},
      {"gzip_without_trailer", sound.substr(0, sound.size() - 4),
       ":2001:1: the gzip data ends early: the file is cut off"},
      {"gzip_of_header_only", sound.substr(0, 10),
       ":1:1: the gzip data ends early: the file is cut off"},
      {"gzip_damaged_inside", damaged(sound, sound.size() / 2), nullptr},
      {"gzip_wrong_checksum", damaged(sound, sound.size() - 6),
       ":2001:1: corrupt gzip data (incorrect data check)"},
      {"gzip_then_garbage", sound + "garbage",
       ":2001:1: corrupt gzip data (incorrect header check)"},
      {"binary",
       "\x7F"
       "ELF\x02\x01\x01",
       ":1:1: not JSON: syntax error"},
      {"azure_wrong_column", "TIMESTAMP,ContextToken,GeneratedTokens\n1,2,3\n",
       ":1:11: the header has no column ContextTokens; the nearest is 'ContextToken'",
       azure_format},
      {"azure_no_header", "2023-11-16 18:15:46.6805900,374,44\n",
       ":1:29: the header has no column TIMESTAMP; the nearest is '374'", azure_format},
      {"azure_column_twice", "TIMESTAMP,ContextTokens,GeneratedTokens,TIMESTAMP\n",
       ":1:41: the column TIMESTAMP is given twice", azure_format},
      {"azure_only_header", azure(""), ": the trace has no rows", azure_format},
      {"azure_field_missing", azure("2023-11-16 18:15:46,374\n"),
       ":2:21: 2 fields, expected 3 as in the header", azure_format},
      {"azure_field_too_many", azure("2023-11-16 18:15:46,374,1,2\n"),
       ":2:27: 4 fields, expected 3 as in the header", azure_format},
      {"azure_negative", azure("2023-11-16 18:15:46,-374,44\n"),
       ":2:21: ContextTokens is '-374', expected a whole number of tokens, 0 or more",
       azure_format},
      {"azure_empty_field", azure("2023-11-16 18:15:46,374,\n"),
       ":2:25: GeneratedTokens is '', expected a whole number of tokens, 0 or more", azure_format},
      {"azure_huge", azure("2023-11-16 18:15:46,99999999999999999999999,1\n"),
       ":2:21: ContextTokens is '99999999999999999999999', more than 1099511627776 tokens",
       azure_format},
      {"azure_ten_decimals", azure("2023-11-16 18:15:46.0123456789,1,1\n"),
       ":2:1: TIMESTAMP is '2023-11-16 18:15:46.0123456789', expected a UTC time such as "
       "2023-11-16 "
       "18:15:46.6805900 with up to nine decimals",
       azure_format},
      {"azure_time_goes_back", azure("2023-11-16 18:15:46.1,1,1\n2023-11-16 18:15:46.05,1,1\n"),
       ":3:1: time goes back by 50000000 ns; rows must be in order of time", azure_format},
      {"azure_centuries_apart", azure("1023-11-16 18:15:46.1,1,1\n9023-11-16 18:15:46.05,1,1\n"),
       ":3:1: TIMESTAMP is '9023-11-16 18:15:46.05', a hundred years from the first row",
       azure_format},
  };
}

TEST_P(Malformed, GivesOneClearError) {
  const Case& c = GetParam();
  const std::string path = testing::TempDir() + "handoff_malformed_" + c.name;
  std::ofstream(path, std::ios::binary) << c.text;
  const std::string error = error_of(trace_workload(path, c.format));
  std::filesystem::remove(path);
  if (c.error != nullptr) {
    EXPECT_EQ(error, path + c.error);
  } else {
    // The wording behind the place is the library's.
    EXPECT_EQ(error.rfind(path + ":", 0), 0u) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, Malformed, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& tested) {
                           return std::string(tested.param.name);
                         });

class MalformedFile : public TraceTest {};

TEST_F(MalformedFile, AbsentFileAndDirectoryAreNamed) {
  const std::string absent = (folder_ / "absent.jsonl").string();
  EXPECT_EQ(error_of(trace_workload(absent)), absent + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of(trace_workload(folder_.string())),
            folder_.string() + ": is a directory, not a trace");
}

TEST_F(MalformedFile, ALineAboveTheBoundIsRefused) {
  const std::string path =
      write("long.jsonl", kGood + "{\"x\": \"" + std::string((std::size_t{64} << 20) + 1, 'a'));
  EXPECT_EQ(error_of(trace_workload(path)),
            path + ":2:67108865: the line is longer than 67108864 bytes");
}

TEST_F(MalformedFile, ABadDayOfTheCalendarIsRefused) {
  for (const char* day :
       {"2023-02-29", "2023-00-10", "2023-13-01", "2023-04-31", "1900-02-29", "23-01-01"}) {
    const std::string path = write("t.csv", azure(std::string(day) + " 00:00:00,1,1\n"));
    EXPECT_NE(error_of(trace_workload(path, TraceFormat::azure)).find(":2:1: TIMESTAMP is "),
              std::string::npos)
        << day;
  }
  for (const char* time :
       {"24:00:00", "00:60:00", "00:00:60", "0:00:00", "00:00", "00:00:00.", "00:00:00+01:00"}) {
    const std::string path = write("t.csv", azure("2023-01-01 " + std::string(time) + ",1,1\n"));
    EXPECT_NE(error_of(trace_workload(path, TraceFormat::azure)).find(":2:1: TIMESTAMP is "),
              std::string::npos)
        << time;
  }
}

TEST_F(MalformedFile, RowsBeforeTheErrorAreGivenAndTheErrorStays) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += mooncake_row(std::to_string(i), 10, 1);
  const std::string path = write("t.jsonl", text + "{]\n");
  WorkloadStream stream = open(trace_workload(path));
  for (int i = 0; i < 700; ++i) ASSERT_TRUE(stream.next().has_value()) << i;
  WorkloadStream copy = stream;
  EXPECT_THROW(stream.next(), TraceError);
  EXPECT_THROW(stream.next(), TraceError);
  EXPECT_THROW(copy.next(), TraceError);
}

// Every prefix of a good file either reads or gives a TraceError: nothing else, and no crash.
TEST_F(MalformedFile, NoTruncationCrashes) {
  const std::string plain = kGood + mooncake_row("2000", 1, 1) + "\n";
  for (const std::string& text : {plain, gzip_of(plain)})
    for (std::size_t size = 0; size < text.size(); ++size) try {
        rows_of(trace_workload(write("t", text.substr(0, size))));
      } catch (const TraceError&) {
      }
  const std::string csv =
      azure("2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109");
  for (std::size_t size = 0; size < csv.size(); ++size) try {
      rows_of(trace_workload(write("t", csv.substr(0, size)), TraceFormat::azure));
    } catch (const TraceError&) {
    }
}

}  // namespace
}  // namespace handoff

// Scalars: exact or refused, and what is written reads back.
#include "scenarios/loader/scalars.hpp"

#include <gtest/gtest.h>

#include "scenarios/scenario.hpp"

namespace handoff::loader {
namespace {

TEST(Scalars, IntegersAreDecimalWithUnderscores) {
  EXPECT_EQ(parse_integer("1_048_576").value, 1'048'576);
  EXPECT_EQ(parse_integer("0").value, 0);
  EXPECT_EQ(parse_integer("-3").value, -3);
  EXPECT_EQ(parse_integer("9223372036854775807").value, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_unsigned("18446744073709551615").value,
            std::numeric_limits<std::uint64_t>::max());
  for (const char* bad : {"", "-", "010", "0x10", "1e3", "1.0", "12ms", "_1", "1_", "1__0", "+1",
                          " 1", "nan", ".inf", "9223372036854775808", "1,000"})
    EXPECT_FALSE(parse_integer(bad).value) << bad;
  EXPECT_FALSE(parse_unsigned("-1").value);
  EXPECT_EQ(parse_integer("010").error,
            "expected a whole number, found '010': a leading zero (octal is not read)");
}

TEST(Scalars, NumbersHaveNoExponent) {
  EXPECT_EQ(parse_number("0.5").value, 0.5);
  EXPECT_EQ(parse_number("24_000").value, 24'000.0);
  for (const char* bad :
       {"1e400", "1e3", "nan", ".nan", "inf", "-1", ".5", "5.", "0x1p3", "1.2.3", "00.5", ""})
    EXPECT_FALSE(parse_number(bad).value) << bad;
}

TEST(Scalars, DurationsAddUpExactly) {
  EXPECT_EQ(parse_duration("30s").value, 30 * kSecond);
  EXPECT_EQ(parse_duration("1.5ms").value, 1'500 * kMicrosecond);
  EXPECT_EQ(parse_duration("12d 3h").value, 12 * kDay + 3 * kHour);
  EXPECT_EQ(parse_duration("1h30m").value, 90 * kMinute);
  EXPECT_EQ(parse_duration("1_800ms").value, 1'800 * kMillisecond);
  EXPECT_EQ(parse_duration("0s").value, 0);
  EXPECT_EQ(parse_duration("0.000000001s").value, 1);
  EXPECT_EQ(parse_duration("36500d").value, kTimeMax);
  for (const char* bad : {"30", "s", "-1s", "1.5ns", "3h 12d", "1s 1s", "1min", "1 week", "36501d",
                          "1e3s", "1s,", "", "03s"})
    EXPECT_FALSE(parse_duration(bad).value) << bad;
}

TEST(Scalars, DurationsReadBack) {
  for (const TimeNs t : {TimeNs{0}, TimeNs{1}, kMillisecond + 1, 90 * kMinute,
                         13 * kDay + 12 * kHour, kTimeMax, 1'234'567'890'123'456'789})
    EXPECT_EQ(parse_duration(format_duration(t)).value.value_or(-1), t) << format_duration(t);
  EXPECT_EQ(format_duration(13 * kDay + 12 * kHour), "13d 12h");
}

TEST(Scalars, RatesTellBitsFromBytes) {
  EXPECT_EQ(parse_byte_rate("400Gb/s").value, 50'000'000'000);
  EXPECT_EQ(parse_byte_rate("400Gbit/s").value, 50'000'000'000);
  EXPECT_EQ(parse_byte_rate("50GB/s").value, 50'000'000'000);
  EXPECT_EQ(parse_byte_rate("1GiB/s").value, 1'073'741'824);
  EXPECT_EQ(parse_byte_rate("2.5 GB/s").value, 2'500'000'000);
  EXPECT_FALSE(parse_byte_rate("400Gb").value);
  EXPECT_FALSE(parse_byte_rate("400").value);
  EXPECT_FALSE(parse_byte_rate("0.5B/s").value) << "half a byte is none";
  EXPECT_FALSE(parse_byte_rate("400GB/h").value);
  EXPECT_EQ(parse_bytes("64KiB").value, 65'536);
  EXPECT_EQ(parse_bytes("141GB").value, 141'000'000'000);
  EXPECT_FALSE(parse_bytes("64K").value);
  EXPECT_FALSE(parse_bytes("99999999TB").value) << "does not fit";
  for (const std::int64_t v :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{65'536}, std::int64_t{4'800'000'000'000},
        std::int64_t{999'999'999'999'999'999}})
    EXPECT_EQ(parse_bytes(format_bytes(v)).value.value_or(-1), v) << format_bytes(v);
  EXPECT_EQ(format_byte_rate(4'800'000'000'000), "4800GB/s");
}

TEST(Scalars, PercentagesAreExactOrRefused) {
  EXPECT_EQ(parse_share("1%", 10'000).value, 100);
  EXPECT_EQ(parse_share("0.01%", 10'000).value, 1);
  EXPECT_EQ(parse_share("2.5%", 1'000).value, 25);
  EXPECT_EQ(
      parse_share("0.01%", 1'000).error,
      "expected a percentage such as 25%, found '0.01%': finer than can be held, the step is 0.1%");
  EXPECT_FALSE(parse_share("1", 1'000).value);
  EXPECT_FALSE(parse_share("-1%", 1'000).value);
  EXPECT_EQ(format_share(25, 1'000), "2.5%");
  EXPECT_EQ(format_share(1, 10'000), "0.01%");
  EXPECT_EQ(parse_scaled("1.5", 1'000).value, 1'500);
  EXPECT_EQ(format_scaled(1'500, 1'000), "1.5");
}

TEST(Scalars, EventRates) {
  EXPECT_EQ(parse_event_rate("2/s").value, 2.0);
  EXPECT_EQ(parse_event_rate("90/min").value, 1.5);
  EXPECT_EQ(parse_event_rate("36/h").value, 0.01);
  EXPECT_FALSE(parse_event_rate("2").value);
  EXPECT_FALSE(parse_event_rate("2/week").value);
  EXPECT_FALSE(parse_event_rate("/s").value);
}

TEST(Scalars, CalendarTimes) {
  EXPECT_EQ(parse_calendar("1970-01-01T00:00:00Z").value, 0);
  // date -u -d 2026-09-08T14:00:00Z +%s
  EXPECT_EQ(parse_calendar("2026-09-08T14:00:00Z").value, 1'788'876'000 * kSecond);
  EXPECT_EQ(parse_calendar("2024-02-29T00:00:00.25Z").value,
            1'709'164'800 * kSecond + 250 * kMillisecond);
  for (const char* bad :
       {"2026-09-08", "2026-09-08T14:00:00", "2026-09-08T14:00:00+00:00", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-09-08T24:00:00Z",
        "2026-00-08T00:00:00Z", "2026-01-00T00:00:00Z", "1969-01-01T00:00:00Z",
        "2026-09-08T14:00:00.Z", "2026-09-08T14:00:00.1234567890Z", "2026-9-8T14:00:00Z"})
    EXPECT_FALSE(parse_calendar(bad).value) << bad;
  for (const char* text : {"2026-09-08T14:00:00Z", "2024-02-29T23:59:59.000000001Z",
                           "2199-12-31T23:59:59Z", "2100-03-01T00:00:00.5Z"})
    EXPECT_EQ(calendar_text(parse_calendar(text).value.value_or(0)), text);
}

}  // namespace
}  // namespace handoff::loader

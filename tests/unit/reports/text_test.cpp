// Numbers and tables for people.
#include "reports/text.hpp"

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

TEST(Text, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(-1'234'567), "-1,234,567");
  EXPECT_EQ(plural(1, "page"), "1 page");
  EXPECT_EQ(plural(2'000, "page"), "2,000 pages");
}

TEST(Text, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(7), "7.00 ns");
  EXPECT_EQ(duration_text(12'345), "12.3 us");
  EXPECT_EQ(duration_text(123'456'789), "123 ms");
  EXPECT_EQ(duration_text(999'999), "1,000 us");
  EXPECT_EQ(duration_text(4'070 * kMillisecond), "4.07 s");
  EXPECT_EQ(duration_text(9 * kMinute), "540 s");
  EXPECT_EQ(duration_text(10 * kMinute + 5 * kSecond), "10m 05s");
  EXPECT_EQ(duration_text(2 * kHour + 3 * kMinute), "2h 03m");
  EXPECT_EQ(duration_text(13 * kDay + 12 * kHour), "13d 12h");
  EXPECT_EQ(duration_text(kNever), "never");
}

TEST(Text, BytesAndShares) {
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'000), "1.00 kB");
  EXPECT_EQ(bytes_text(17'540'000'000'000), "17.5 TB");
  EXPECT_EQ(percent_text(1, 3), "33.3 %");
  EXPECT_EQ(percent_text(0, 0), "-");
  EXPECT_EQ(percent_text(5, 5), "100.0 %");
}

TEST(Text, PagesAreRanges) {
  Finding f;
  EXPECT_EQ(pages_text(f), "");
  f.pages = {{3, 1}};
  EXPECT_EQ(pages_text(f), "page 3");
  f.pages = {{3, 1}, {14, 19}};
  EXPECT_EQ(pages_text(f), "pages 3, 14..32");
}

TEST(Text, MomentsAreOfTheCalendarWhenThereIsOne) {
  EXPECT_EQ(moment_text(1'234'567'890, std::nullopt), "1.234 s");
  EXPECT_EQ(moment_text(1'234'567'890, 0), "1970-01-01 00:00:01.234");
  EXPECT_EQ(moment_text(0, 1'788'868'800 * kSecond), "2026-09-08 12:00:00.000");
}

TEST(Text, ATableIsAsWideAsItsCells) {
  Table t("lr", {"name", "n"});
  t.add({"a", "1,000"});
  EXPECT_EQ(t.text({}, 1), " name      n\n a     1,000\n");
  EXPECT_TRUE(Table("l", {"x"}).empty());
}

TEST(Text, ColoursOnlyWhenAsked) {
  EXPECT_EQ(Style{}.bad("x"), "x");
  EXPECT_EQ(Style{true}.good("x"), "\x1b[32mx\x1b[0m");
}

}  // namespace
}  // namespace handoff

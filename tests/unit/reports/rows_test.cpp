// CSV rows and their order.
#include "reports/rows.hpp"

#include <algorithm>

#include "tests/unit/reports/fixtures.hpp"

namespace handoff {
namespace {

std::int64_t fields(const std::string& row) { return std::count(row.begin(), row.end(), ',') + 1; }

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Csv, ARowHasAFieldForEachColumn) {
  TenantNames tenants;
  tenants.index("acme");
  tenants.index("birch");
  RequestOutcome o = outcome(4);
  o.main_source = 2;
  o.main_source_tenant = 1;
  o.tainted = true;
  const std::string row = request_row(o, {"a"}, tenants);
  EXPECT_EQ(fields(row), fields(request_head()));
  EXPECT_EQ(row,
            "4,a,0,0,acme,0,4000000000,4100000000,4200000000,100,11,11,0,,,200,finished,finished,0,"
            "1,0,0,0,0,0,2,birch\n");
  const std::string reviewed = tainted_row(o, {"a"}, {"acme", "birch"}, 0);
  EXPECT_EQ(fields(reviewed), fields(tainted_head()));
  EXPECT_EQ(reviewed.substr(0, 22), "1970-01-01T00:00:04.2Z");
}

TEST(Csv, WhatIsNotThereIsEmpty) {
  TenantNames tenants;
  tenants.index("acme");
  RequestOutcome o = outcome(4, 0, 500);
  o.first_token_ns = kNever;
  o.injected = true;
  EXPECT_EQ(request_row(o, {"a"}, tenants),
            "4,a,,,acme,1,4000000000,,4100000000,100,11,11,0,,,500,finished,finished,0,0,0,0,0,0,0,"
            ",\n");
}

TEST(SerialOrder, GivesRowsOnInOrderOfSerial) {
  SerialOrder order;
  EXPECT_EQ(order.push(1, "b"), "");
  EXPECT_EQ(order.push(2, "c"), "");
  EXPECT_EQ(order.push(0, "a"), "abc");
  EXPECT_EQ(order.push(3, "d"), "d");
  // Request 4 never ends.
  EXPECT_EQ(order.push(6, "g"), "");
  EXPECT_EQ(order.push(5, "f"), "");
  EXPECT_EQ(order.rest(), "fg");
  EXPECT_EQ(order.rest(), "");
}

}  // namespace
}  // namespace handoff

// The index table against std::map, with hashes bad enough to cluster and collide.
#include "models/memory/index_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

TEST(IndexTable, random_inserts_and_erases_agree_with_a_map_under_bad_hashes) {
  // The number of distinct hashes: from all keys in one cluster to nearly none.
  for (const std::uint64_t hashes : {1u, 3u, 16u, 1000u}) {
    Rng rng(hashes, "index table test");
    IndexTable table;
    std::map<std::uint32_t, std::uint32_t> keys;  // key -> index
    std::map<std::uint32_t, std::uint32_t> key_of;
    const auto hash = [&](std::uint32_t key) { return key % hashes * 0x100000003ULL; };
    const auto find = [&](std::uint32_t key) {
      return table.find(hash(key), [&](std::uint32_t i) { return key_of.at(i) == key; });
    };
    for (std::uint32_t step = 0; step < 4000; ++step) {
      const auto key = static_cast<std::uint32_t>(rng.below(200));
      const auto at = keys.find(key);
      if (at == keys.end()) {
        ASSERT_EQ(find(key), IndexTable::kNone);
        table.insert(hash(key), step);
        keys[key] = step;
        key_of[step] = key;
      } else {
        ASSERT_EQ(find(key), at->second);
        table.erase(hash(key), at->second);
        key_of.erase(at->second);
        keys.erase(at);
      }
      ASSERT_EQ(table.size(), keys.size());
      if (step % 50 != 0) continue;
      for (std::uint32_t k = 0; k < 200; ++k)
        ASSERT_EQ(find(k), keys.count(k) != 0 ? keys.at(k) : IndexTable::kNone);
    }
  }
}

TEST(IndexTable, erasing_what_is_not_there_is_our_error) {
  IndexTable table;
  EXPECT_THROW(table.erase(1, 1), InternalError);
  table.insert(1, 1);
  EXPECT_THROW(table.erase(1, 2), InternalError);
  EXPECT_THROW(table.insert(2, IndexTable::kNone), InternalError);
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find(1, [](std::uint32_t) { return true; }), IndexTable::kNone);
}

}  // namespace
}  // namespace handoff

// Plain block LRU: a hand-made sample, a slow list, and the hit rates of two production traces.
#include "models/memory/block_lru.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

TEST(BlockLru, drops_the_least_recently_used_block) {
  BlockLru lru(2);
  EXPECT_FALSE(lru.touch(10));
  EXPECT_FALSE(lru.touch(20));
  EXPECT_TRUE(lru.touch(10));
  EXPECT_FALSE(lru.touch(30));  // drops 20
  EXPECT_TRUE(lru.touch(10));
  EXPECT_FALSE(lru.touch(20));  // drops 30
  EXPECT_FALSE(lru.touch(30));  // drops 10
  EXPECT_TRUE(lru.touch(20));
  EXPECT_EQ(lru.hits(), 3u);
  EXPECT_EQ(lru.lookups(), 8u);
  EXPECT_EQ(lru.size(), 2u);
}

TEST(BlockLru, capacity_one_hits_only_on_repetition) {
  BlockLru lru(1);
  EXPECT_FALSE(lru.touch(0));
  EXPECT_TRUE(lru.touch(0));
  EXPECT_FALSE(lru.touch(1));
  EXPECT_FALSE(lru.touch(0));
}

TEST(BlockLru, without_limit_every_repetition_hits) {
  BlockLru lru(0);
  for (std::uint64_t round = 0; round < 2; ++round)
    for (std::uint64_t block = 0; block < 1000; ++block) EXPECT_EQ(lru.touch(block), round == 1);
  EXPECT_EQ(lru.size(), 1000u);
}

TEST(BlockLru, random_touches_agree_with_a_list) {
  for (const std::size_t capacity : {1u, 5u, 64u}) {
    Rng rng(capacity, "block lru test");
    BlockLru lru(capacity);
    std::list<std::uint64_t> slow;
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t block = rng.below(capacity * 2 + 1) << 40;
      const auto at = std::find(slow.begin(), slow.end(), block);
      const bool held = at != slow.end();
      if (held) slow.erase(at);
      slow.push_front(block);
      if (slow.size() > capacity) slow.pop_back();
      ASSERT_EQ(lru.touch(block), held);
      ASSERT_EQ(lru.size(), slow.size());
    }
  }
}

// The hash_ids of all lines in order. Only as much JSON as these files have.
std::vector<std::uint64_t> read_blocks(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (int n = 0; (n = gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  gzclose(file);
  std::vector<std::uint64_t> blocks;
  const std::string key = "\"hash_ids\": [";
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;) {
    const char* p = text.c_str() + at + key.size();
    while (*p != ']') {
      char* end = nullptr;
      blocks.push_back(std::strtoull(p, &end, 10));
      p = end;
      while (*p == ',' || *p == ' ') ++p;
    }
    at = static_cast<std::size_t>(p - text.c_str());
  }
  return blocks;
}

struct TraceRates {
  const char* file;
  std::size_t blocks;
  std::size_t unique;
  std::array<double, 6> rates;  // for kCapacities
};

constexpr std::array<std::size_t, 6> kCapacities = {1'000, 10'000, 30'000, 50'000, 100'000, 0};

class BlockLruTrace : public testing::TestWithParam<TraceRates> {};

TEST_P(BlockLruTrace, hit_rates_are_the_published_ones) {
  const std::string path = std::string(HANDOFF_SOURCE_DIR "/../shared/traces/") + GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const std::vector<std::uint64_t> blocks = read_blocks(path);
  ASSERT_EQ(blocks.size(), GetParam().blocks);
  for (std::size_t i = 0; i < kCapacities.size(); ++i) {
    BlockLru lru(kCapacities[i]);
    for (const std::uint64_t block : blocks) lru.touch(block);
    ASSERT_EQ(lru.lookups(), blocks.size());
    if (kCapacities[i] == 0) {
      EXPECT_EQ(lru.size(), GetParam().unique);
    }
    // Rounded to 4 decimals, in integers.
    const std::uint64_t rounded = (lru.hits() * 20'000 + blocks.size()) / (2 * blocks.size());
    EXPECT_EQ(rounded, static_cast<std::uint64_t>(GetParam().rates[i] * 10'000 + 0.5))
        << "capacity " << kCapacities[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mooncake, BlockLruTrace,
    testing::Values(TraceRates{"mooncake_conversation.jsonl.gz",
                               288'500,
                               182'790,
                               {0.0445, 0.2112, 0.3257, 0.3546, 0.3637, 0.3664}},
                    TraceRates{"mooncake_synthetic.jsonl.gz",
                               121'877,
                               43'924,
                               {0.0825, 0.4235, 0.6242, 0.6396, 0.6396, 0.6396}}));

}  // namespace
}  // namespace handoff

// Digests are compared between machines and releases: their values are fixed here.
#include "sim/engine/hash.hpp"

#include <gtest/gtest.h>

#include <set>

namespace handoff {
namespace {

TEST(Hash, mix64_gives_the_published_outputs_of_splitmix64) {
  // First output of SplitMix64 for seeds 0 and 1.
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(1), 0x910A2DEC89025CC1ULL);
}

TEST(Hash, text_hashes_are_fixed) {
  // From an independent implementation of hash.hpp.
  EXPECT_EQ(hash_text(""), 0x0F359558B59FC41BULL);
  EXPECT_EQ(hash_text("arrivals"), 0x0C2D6C8BB05DDE56ULL);
}

TEST(Hash, order_length_and_every_word_count) {
  const auto digest_of = [](std::initializer_list<std::uint64_t> words) {
    Digest d;
    for (const std::uint64_t w : words) d.add(w);
    return d.value();
  };
  const std::set<std::uint64_t> values = {digest_of({}),     digest_of({0}),    digest_of({0, 0}),
                                          digest_of({1}),    digest_of({1, 0}), digest_of({0, 1}),
                                          digest_of({1, 1}), digest_of({2, 1}), digest_of({1, 2})};
  EXPECT_EQ(values.size(), 9u);
}

TEST(Hash, two_texts_do_not_hash_as_their_concatenation) {
  Digest split;
  split.add(std::string_view("ab"));
  split.add(std::string_view("c"));
  Digest shifted;
  shifted.add(std::string_view("a"));
  shifted.add(std::string_view("bc"));
  EXPECT_NE(split, shifted);
}

TEST(Hash, can_be_computed_at_compile_time) {
  static_assert(hash_combine(1, 2) != hash_combine(2, 1));
  static_assert(hash_text("a") != hash_text("b"));
}

}  // namespace
}  // namespace handoff

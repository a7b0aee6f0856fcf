// The shadow plane against one entry a slot.
#include "models/memory/shadow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"
#include "tests/unit/memory/spelled.hpp"

namespace handoff {
namespace {

using test::Sequence;
using test::Speller;
using test::Spelling;

class Shadow : public testing::Test {
 protected:
  RecordId record() {
    const RecordId id = log_.add(Record{});
    log_.acquire(id);
    return id;
  }
  // Slots [begin, end) of the sequence laid out so that slot 0 holds `base`.
  ContentRun run(ContentNode tip, std::int64_t base, int begin, int end, RecordId write) const {
    ContentRun r;
    r.begin = static_cast<std::uint16_t>(begin);
    r.end = static_cast<std::uint16_t>(end);
    r.position = base + begin;
    r.tip = trie_.at(tip, r.position + r.tokens() - 1);
    r.write = write;
    return r;
  }
  void write(ShadowPlane& plane, PageIndex page, const ContentRun& r) {
    plane.write(page, r, trie_, log_);
  }

  ContentTrie trie_;
  ProvenanceLog log_;
};

using Slots = std::vector<std::tuple<int, int, std::int64_t>>;  // begin, end, position

Slots slots(const ShadowPlane& plane, PageIndex page) {
  Slots out;
  for (const ContentRun& r : plane.runs(page)) out.emplace_back(r.begin, r.end, r.position);
  return out;
}

TEST_F(Shadow, decode_steps_of_one_record_become_one_run) {
  ShadowPlane plane(2, 16);
  const ContentNode prompt = trie_.extend(ContentTrie::kRoot, 1, 40);
  const ContentNode output = trie_.extend_unique(prompt, 20);
  const RecordId decode = record();
  for (int slot = 6; slot < 12; ++slot) write(plane, 1, run(output, 32, slot, slot + 1, decode));
  EXPECT_EQ(slots(plane, 1), (Slots{{6, 12, 38}}));
  EXPECT_EQ(plane.runs(1)[0].tip, output);
  EXPECT_TRUE(plane.runs(0).empty());
  plane.clear_all(trie_, log_);
  EXPECT_TRUE(plane.runs(1).empty());
}

TEST_F(Shadow, a_shorter_new_prefix_leaves_the_old_tail_behind) {
  ShadowPlane plane(1, 64);
  const ContentNode victim = trie_.extend(ContentTrie::kRoot, 1, 64);
  const ContentNode reader = trie_.extend(ContentTrie::kRoot, 2, 5);
  const RecordId first = record();
  const RecordId second = record();
  write(plane, 0, run(victim, 0, 0, 64, first));
  write(plane, 0, run(reader, 0, 0, 5, second));
  ASSERT_EQ(slots(plane, 0), (Slots{{0, 5, 0}, {5, 64, 5}}));
  EXPECT_EQ(plane.runs(0)[1].tip, victim);
  EXPECT_EQ(plane.runs(0)[1].write, first);
  plane.clear_all(trie_, log_);
}

TEST_F(Shadow, a_run_cut_on_the_right_is_named_by_its_own_last_position) {
  ShadowPlane plane(1, 16);
  const ContentNode a = trie_.extend(ContentTrie::kRoot, 1, 4);
  const ContentNode b = trie_.extend(a, 2, 4);
  const ContentNode c = trie_.extend(b, 3, 8);
  const ContentNode other = trie_.extend(ContentTrie::kRoot, 9, 16);
  const RecordId first = record();
  const RecordId second = record();
  write(plane, 0, run(c, 0, 0, 16, first));
  write(plane, 0, run(other, 0, 3, 10, second));
  ASSERT_EQ(slots(plane, 0), (Slots{{0, 3, 0}, {3, 10, 3}, {10, 16, 10}}));
  EXPECT_EQ(plane.runs(0)[0].tip, a);
  EXPECT_EQ(plane.runs(0)[2].tip, c);
  // The same write again heals it.
  write(plane, 0, run(c, 0, 3, 10, first));
  EXPECT_EQ(slots(plane, 0), (Slots{{0, 16, 0}}));
  EXPECT_EQ(plane.runs(0)[0].tip, c);
  plane.clear_all(trie_, log_);
}

TEST_F(Shadow, runs_that_differ_in_anything_stay_apart) {
  const ContentNode mine = trie_.extend(ContentTrie::kRoot, 1, 16);
  const ContentNode tail = trie_.extend(mine, 2, 16);
  const ContentNode foreign = trie_.extend(ContentTrie::kRoot, 3, 32);
  trie_.acquire(tail);
  trie_.acquire(foreign);
  const RecordId a = record();
  const RecordId b = record();
  const auto runs_after = [&](auto change) {
    ShadowPlane plane(1, 32);
    write(plane, 0, run(tail, 0, 0, 8, a));
    ContentRun r = run(tail, 0, 8, 20, a);
    change(r);
    write(plane, 0, r);
    const std::size_t n = plane.runs(0).size();
    plane.clear_all(trie_, log_);
    return n;
  };
  EXPECT_EQ(runs_after([](ContentRun&) {}), 1u);
  EXPECT_EQ(runs_after([&](ContentRun& r) { r.write = b; }), 2u);
  EXPECT_EQ(runs_after([](ContentRun& r) { r.tainted = true; }), 2u);
  EXPECT_EQ(runs_after([](ContentRun& r) { r.source_page = 3; }), 2u);
  EXPECT_EQ(runs_after([](ContentRun& r) { r.begin = 9, r.end = 21; }), 2u);
  EXPECT_EQ(runs_after([](ContentRun& r) { r.position = 9; }), 2u);
  EXPECT_EQ(runs_after([&](ContentRun& r) { r.tip = foreign; }), 2u);
}

TEST_F(Shadow, a_run_outside_the_page_or_with_a_wrong_tip_is_our_error) {
  ShadowPlane plane(1, 16);
  const ContentNode a = trie_.extend(ContentTrie::kRoot, 1, 8);
  const ContentNode b = trie_.extend(a, 1, 8);
  const RecordId id = record();
  EXPECT_THROW(write(plane, 1, run(b, 0, 0, 8, id)), InternalError);
  EXPECT_THROW(write(plane, 0, run(b, -4, 12, 17, id)), InternalError);
  ContentRun empty = run(b, 0, 2, 4, id);
  empty.end = 2;
  EXPECT_THROW(write(plane, 0, empty), InternalError);
  ContentRun later = run(b, 0, 0, 8, id);
  later.tip = b;  // covers 8..15, the run ends with position 7
  EXPECT_THROW(write(plane, 0, later), InternalError);
  ContentRun earlier = run(b, 0, 0, 9, id);
  earlier.tip = a;
  EXPECT_THROW(write(plane, 0, earlier), InternalError);
  EXPECT_THROW((void)ShadowPlane(1, 65536), InternalError);
  EXPECT_TRUE(plane.runs(0).empty());
}

TEST_F(Shadow, a_copy_of_the_plane_is_independent) {
  ShadowPlane plane(1, 16);
  const ContentNode a = trie_.extend(ContentTrie::kRoot, 1, 16);
  const ContentNode other = trie_.extend(ContentTrie::kRoot, 2, 16);
  trie_.acquire(a);
  const RecordId id = record();
  write(plane, 0, run(a, 0, 0, 16, id));
  write(plane, 0, run(other, 0, 4, 8, id));
  ShadowPlane copy = plane;
  plane.clear_all(trie_, log_);
  EXPECT_EQ(copy.runs(0).size(), 3u);
  EXPECT_TRUE(plane.runs(0).empty());
}

struct Slot {
  Spelling content;  // of the position
  std::int64_t position = 0;
  RecordId write;
  bool tainted = false;
  PageIndex source_page = kNoPage;
};
using SlowPage = std::vector<std::optional<Slot>>;

// Whether the slot after continues the one before as one write would have left them.
bool one_write(const Slot& a, const Slot& b) {
  return a.write == b.write && a.tainted == b.tainted && a.source_page == b.source_page &&
         a.position + 1 == b.position && a.content.size() <= b.content.size() &&
         std::equal(a.content.begin(), a.content.end(), b.content.begin());
}

std::size_t slow_runs(const SlowPage& page) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < page.size(); ++s)
    n += page[s] && (s == 0 || !page[s - 1] || !one_write(*page[s - 1], *page[s])) ? 1 : 0;
  return n;
}

class ShadowProperty : public Shadow {
 protected:
  static constexpr int kSlots = 12;
  static constexpr PageIndex kPages = 4;

  // Every position's content of a sequence by name, to read back what a run says.
  void expect_page(const ShadowPlane& plane, PageIndex page, const SlowPage& slow) {
    const auto runs = plane.runs(page);
    ASSERT_EQ(runs.size(), slow_runs(slow)) << "runs are not as long as they can be";
    int next = 0;
    for (const ContentRun& r : runs) {
      ASSERT_LT(r.begin, r.end);
      ASSERT_LE(next, r.begin);
      for (; next < r.begin; ++next) ASSERT_FALSE(slow[static_cast<std::size_t>(next)]);
      const std::int64_t last = r.position + r.tokens() - 1;
      ASSERT_EQ(trie_.at(r.tip, last), r.tip);
      for (; next < r.end; ++next) {
        const auto& slot = slow[static_cast<std::size_t>(next)];
        ASSERT_TRUE(slot);
        const std::int64_t p = r.position + next - r.begin;
        ASSERT_EQ(slot->position, p);
        ASSERT_EQ(slot->write, r.write);
        ASSERT_EQ(slot->tainted, r.tainted);
        ASSERT_EQ(slot->source_page, r.source_page);
        ASSERT_EQ(node_of(slot->content), trie_.at(r.tip, p));
      }
    }
    for (; next < kSlots; ++next) ASSERT_FALSE(slow[static_cast<std::size_t>(next)]);
  }

  ContentNode node_of(const Spelling& content) const {
    for (const Sequence& s : sequences_)
      if (s.spelling.size() >= content.size() &&
          std::equal(content.begin(), content.end(), s.spelling.begin()))
        return trie_.at(s.tip, test::length(content) - 1);
    return {};
  }

  // Somewhere in the page, often with the positions that belong there.
  ContentRun random_run(Rng& rng, const Sequence& s, const std::vector<RecordId>& records) {
    const std::int64_t most = test::length(s.spelling);
    const auto tokens = rng.chance(1, 3) ? 1 : rng.between(1, std::min<std::int64_t>(kSlots, most));
    ContentRun r;
    r.begin = static_cast<std::uint16_t>(rng.between(0, kSlots - tokens));
    r.end = static_cast<std::uint16_t>(r.begin + tokens);
    r.position =
        rng.chance(3, 4) && r.begin + tokens <= most ? r.begin : rng.between(0, most - tokens);
    r.tip = trie_.at(s.tip, r.position + tokens - 1);
    r.write = records[rng.below(records.size())];
    r.tainted = rng.chance(1, 6);
    r.source_page = rng.chance(1, 6) ? 5 : kNoPage;
    return r;
  }

  // Makes the run what the page's last write would have gone on with, where the sequence allows it.
  void go_on(Rng& rng, const ShadowPlane& plane, PageIndex page, const Sequence& s, ContentRun& r) {
    if (plane.runs(page).empty()) return;
    const ContentRun& left = plane.runs(page).back();
    const std::int64_t next = left.position + left.tokens();
    const std::int64_t room =
        std::min<std::int64_t>(kSlots - left.end, test::length(s.spelling) - next);
    if (room <= 0 || trie_.at(s.tip, next - 1) != left.tip) return;
    const auto tokens = rng.between(1, room);
    r = left;
    r.begin = left.end;
    r.end = static_cast<std::uint16_t>(left.end + tokens);
    r.position = next;
    r.tip = trie_.at(s.tip, next + tokens - 1);
  }

  std::vector<Sequence> sequences_;
};

TEST_F(ShadowProperty, random_writes_and_clears_agree_with_one_entry_a_slot) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed, "shadow test");
    Speller speller(2, 7);
    sequences_.clear();
    while (sequences_.size() < 8) {
      sequences_.push_back(speller.next(rng, trie_, sequences_));
      if (test::length(sequences_.back().spelling) > 0) continue;
      trie_.release(sequences_.back().tip);
      sequences_.pop_back();
    }
    const std::vector<RecordId> records = {record(), record(), record()};
    ShadowPlane plane(kPages, kSlots);
    std::vector<SlowPage> slow(kPages, SlowPage(kSlots));
    for (int step = 0; step < 3000; ++step) {
      const auto page = static_cast<PageIndex>(rng.below(kPages));
      if (rng.chance(1, 8)) {
        plane.clear(page, trie_, log_);
        slow[page].assign(kSlots, std::nullopt);
      } else {
        const Sequence& s = sequences_[rng.below(sequences_.size())];
        ContentRun r = random_run(rng, s, records);
        if (rng.chance(1, 2)) go_on(rng, plane, page, s, r);
        write(plane, page, r);
        for (int i = r.begin; i < r.end; ++i) {
          const std::int64_t p = r.position + i - r.begin;
          slow[page][static_cast<std::size_t>(i)] =
              Slot{test::content_at(s.spelling, p), p, r.write, r.tainted, r.source_page};
        }
      }
      expect_page(plane, page, slow[page]);
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
    // What only the plane still knows lives exactly as long as the plane knows it.
    for (const RecordId id : records) log_.release(id);
    std::set<RecordId> remembered;
    for (const SlowPage& page : slow)
      for (const auto& slot : page)
        if (slot) remembered.insert(slot->write);
    EXPECT_EQ(log_.size(), remembered.size());
    speller.forget(trie_);
    for (const Sequence& s : sequences_) trie_.release(s.tip);
    std::set<Spelling> alive;
    for (const SlowPage& page : slow)
      for (const auto& slot : page)
        if (slot)
          for (std::size_t n = 1; n <= slot->content.size(); ++n)
            alive.insert(Spelling(slot->content.begin(),
                                  slot->content.begin() + static_cast<std::ptrdiff_t>(n)));
    EXPECT_EQ(trie_.size(), alive.size());
    plane.clear_all(trie_, log_);
    ASSERT_EQ(trie_.size(), 0u);
    ASSERT_EQ(log_.size(), 0u);
  }
}

}  // namespace
}  // namespace handoff

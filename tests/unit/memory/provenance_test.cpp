// Records are counted exactly: alive while a page or a copy of their content remembers them.
#include "models/memory/provenance.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/rng.hpp"

namespace handoff {
namespace {

Record record_of(std::uint64_t event, RecordId origin = {}) {
  Record r;
  r.kind = RecordKind::transfer_write;
  r.event = event;
  r.origin = origin;
  return r;
}

TEST(ProvenanceLog, a_copy_keeps_the_records_of_what_it_copied) {
  ProvenanceLog log;
  const RecordId source = log.add(record_of(1));
  log.acquire(source);
  const RecordId hop = log.add(record_of(2, source));
  const RecordId copy = log.add(record_of(3, hop));
  log.acquire(copy);
  log.release(source);
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(log.get(log.get(log.get(copy).origin).origin).event, 1u);
  log.release(copy);
  EXPECT_EQ(log.size(), 0u);
  EXPECT_THROW((void)log.get(copy), InternalError);
  EXPECT_THROW(log.release(copy), InternalError);
  EXPECT_THROW(log.acquire(source), InternalError);
}

TEST(ProvenanceLog, many_references_at_once_are_dropped_one_by_one) {
  ProvenanceLog log;
  const RecordId id = log.add(record_of(1));
  log.acquire(id, 3);
  log.release(id);
  log.release(id);
  EXPECT_EQ(log.size(), 1u);
  log.release(id);
  EXPECT_EQ(log.size(), 0u);
}

TEST(ProvenanceLog, random_use_agrees_with_counting_by_hand) {
  struct Model {
    std::uint64_t event = 0;
    std::uint32_t held = 0;
    RecordId origin;
  };
  Rng rng(1, "provenance test");
  ProvenanceLog log;
  std::map<RecordId, Model> model;
  const auto drop = [&](RecordId id) {
    while (id.valid() && --model.at(id).held == 0) {
      const RecordId origin = model.at(id).origin;
      model.erase(id);
      id = origin;
    }
  };
  std::vector<RecordId> held;
  for (std::uint64_t step = 0; step < 5000; ++step) {
    if (held.empty() || rng.chance(1, 2)) {
      const RecordId origin =
          held.empty() || rng.chance(1, 3) ? RecordId{} : held[rng.below(held.size())];
      const RecordId id = log.add(record_of(step, origin));
      ASSERT_EQ(model.count(id), 0u) << "a record in use was given out again";
      if (origin.valid()) ++model.at(origin).held;
      const auto count = static_cast<std::uint32_t>(rng.between(1, 3));
      log.acquire(id, count);
      model[id] = {step, count, origin};
      held.insert(held.end(), count, id);
    } else {
      const auto i = static_cast<std::ptrdiff_t>(rng.below(held.size()));
      const RecordId id = held[static_cast<std::size_t>(i)];
      held.erase(held.begin() + i);
      log.release(id);
      drop(id);
    }
    ASSERT_EQ(log.size(), model.size());
    for (const auto& [id, m] : model) ASSERT_EQ(log.get(id).event, m.event);
  }
  for (const RecordId id : held) log.release(id);
  EXPECT_EQ(log.size(), 0u);
}

TEST(RecordKind, has_a_word) {
  EXPECT_EQ(std::string(name(RecordKind::transfer_write)), "transfer_write");
  EXPECT_EQ(std::string(name(RecordKind::zero)), "zero");
}

}  // namespace
}  // namespace handoff

// A plain LRU over blocks of a trace, to compare hit rates with published ones (a trace has a block
// hash for each fixed stretch of a prompt). It is not the prefix cache of a node: no pages, no
// prefixes, no locks. Touch the blocks of each prompt in order, the last partial one too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/memory/index_table.hpp"

namespace handoff {

class BlockLru {
 public:
  // capacity in blocks; 0 = unlimited. At most 2^32 - 2 blocks are held.
  explicit BlockLru(std::size_t capacity);

  // True when the block is held: a hit. It becomes the most recently used; a miss brings it in and,
  // when that is one too many, drops the least recently used.
  bool touch(std::uint64_t block);

  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t lookups() const { return lookups_; }
  [[nodiscard]] std::size_t size() const { return slots_.size() - 1; }  // blocks held

 private:
  // A ring in order of use. Slot 0 is its fixed point: next is the most recently used, previous the
  // least.
  struct Slot {
    std::uint64_t block = 0;
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
  };

  void detach(std::uint32_t slot);
  void attach_front(std::uint32_t slot);

  std::vector<Slot> slots_;
  IndexTable index_;  // slots by block
  std::size_t capacity_;
  std::uint64_t hits_ = 0;
  std::uint64_t lookups_ = 0;
};

}  // namespace handoff

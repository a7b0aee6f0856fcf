// A set of 32-bit indices found by the key of what they name: open addressing, linear probing, at
// most half full, no tombstones. The keys stay where the caller has them (a node, a slot), so a
// cell is 8 bytes and the table is a plain copyable value. Not a general map: no iteration, because
// results must not depend on table order, and keys present are the caller's to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/check.hpp"

namespace handoff {

class IndexTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The index with this hash for which equal(index) holds; kNone when there is none.
  template <class Equal>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Equal equal) const {
    if (cells_.empty()) return kNone;
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t i = home(tag); cells_[i].index != kNone; i = next(i))
      if (cells_[i].tag == tag && equal(cells_[i].index)) return cells_[i].index;
    return kNone;
  }

  // Requires that no index with an equal key is in the table.
  void insert(std::uint64_t hash, std::uint32_t index) {
    HANDOFF_CHECK(index != kNone, "the index kNone marks an empty cell");
    if ((size_ + 1) * 2 > cells_.size()) grow();
    place({static_cast<std::uint32_t>(hash), index});
    ++size_;
  }

  // Requires that the index was inserted with this hash.
  void erase(std::uint64_t hash, std::uint32_t index) {
    HANDOFF_CHECK(size_ > 0, "an index to erase is not in the table");
    std::size_t hole = home(static_cast<std::uint32_t>(hash));
    while (cells_[hole].index != index) {
      HANDOFF_CHECK(cells_[hole].index != kNone, "an index to erase is not in the table");
      hole = next(hole);
    }
    // Later cells of the cluster move up where their own probe sequence passes the hole.
    const std::size_t mask = cells_.size() - 1;
    for (std::size_t i = next(hole); cells_[i].index != kNone; i = next(i)) {
      if (((i - home(cells_[i].tag)) & mask) < ((i - hole) & mask)) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole].index = kNone;
    --size_;
  }

  void clear() {
    cells_.clear();
    size_ = 0;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::uint32_t tag = 0;
    std::uint32_t index = kNone;
  };

  [[nodiscard]] std::size_t home(std::uint32_t tag) const { return tag & (cells_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (cells_.size() - 1); }

  void place(Cell cell) {
    std::size_t i = home(cell.tag);
    while (cells_[i].index != kNone) i = next(i);
    cells_[i] = cell;
  }

  void grow() {
    std::vector<Cell> old(cells_.empty() ? 16 : cells_.size() * 2);
    old.swap(cells_);
    for (const Cell& cell : old)
      if (cell.index != kNone) place(cell);
  }

  std::vector<Cell> cells_;  // a power of two of them, or none
  std::size_t size_ = 0;
};

}  // namespace handoff

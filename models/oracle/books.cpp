#include "models/oracle/books.hpp"

#include <algorithm>
#include <numeric>

#include "sim/engine/check.hpp"

namespace handoff {

void PageBook::allocated(std::span<const PageIndex> pages, RequestSerial owner) {
  for (const PageIndex page : pages) {
    if (held_[page]++ == 0) ++held_pages_;
    owner_[page] = owner;
  }
}

bool PageBook::released(PageIndex page) {
  if (held_[page] == 0) return false;
  if (--held_[page] == 0) --held_pages_;
  return true;
}

void PageBook::posted(std::span<const PageIndex> pages) {
  for (const PageIndex page : pages) ++in_flight_[page];
}

void PageBook::ended(std::span<const PageIndex> pages) {
  for (const PageIndex page : pages) {
    HANDOFF_CHECK(in_flight_[page] > 0, "an operation ended twice");
    --in_flight_[page];
  }
}

void PageBook::reset() {
  std::fill(held_.begin(), held_.end(), std::uint16_t{0});
  std::fill(owner_.begin(), owner_.end(), kNoSerial);
  held_pages_ = 0;
}

std::vector<PageIndex> PageBook::held_by_requests() const {
  std::vector<PageIndex> out;
  for (PageIndex page = 0; page < held_.size(); ++page)
    if (held_[page] > 0 && owner_[page] != kNoSerial) out.push_back(page);
  return out;
}

void CoverageBook::delivered(RequestSerial request, std::uint32_t rank, std::uint32_t group,
                             std::int64_t positions) {
  positions_[{request, rank, group}] += positions;
}

std::int64_t CoverageBook::delivered(RequestSerial request, std::uint32_t rank,
                                     std::uint32_t group) const {
  const auto it = positions_.find({request, rank, group});
  return it == positions_.end() ? 0 : it->second;
}

void CoverageBook::forget(RequestSerial request) {
  positions_.erase(positions_.lower_bound({request, 0, 0}),
                   positions_.lower_bound({request + 1, 0, 0}));
}

Finding* FindingLog::report(Rule rule, RequestSerial victim, const std::string& node, bool& fresh) {
  constexpr std::uint32_t kNotKept = ~std::uint32_t{0};
  const auto [it, inserted] = index_.try_emplace({rule, victim, node}, kNotKept);
  fresh = inserted;
  if (inserted) {
    ++counts_[static_cast<std::size_t>(rule)];
    if (findings_.size() < kept_max_) {
      it->second = static_cast<std::uint32_t>(findings_.size());
      findings_.emplace_back();
      findings_.back().id = it->second + 1;
      findings_.back().rule = rule;
      findings_.back().victim = victim;
      findings_.back().node = node;
    }
  }
  return it->second == kNotKept ? nullptr : &findings_[it->second];
}

std::uint64_t FindingLog::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

}  // namespace handoff

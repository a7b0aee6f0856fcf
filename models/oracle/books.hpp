// The oracles' own books. They are fed with what happened and share no state with the pools and
// protocol machines that they judge, so that a bug there cannot hide itself.
//   PageBook      I3 late write, I4 free in flight, I5 exactly-once free and balance
//   CoverageBook  I2 coverage of every group on every rank at commit
//   FindingLog    all findings, merged per (rule, victim, node)
// Not covered: I3 does not see a page that changed owner and came back before the write landed; I5
// counts references, it does not know whether a holder still needs them; I2 counts positions
// delivered, whether their content is right is I1's question: a page that was not delivered but
// holds the right content from before is a finding of I2 and none of I1.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "models/memory/page_pool.hpp"
#include "models/oracle/finding.hpp"

namespace handoff {

// One pool's pages.
class PageBook {
 public:
  PageBook() = default;
  explicit PageBook(std::uint32_t pages)
      : held_(pages, 0), in_flight_(pages, 0), owner_(pages, kNoSerial) {}

  void allocated(std::span<const PageIndex> pages, RequestSerial owner);
  // False: nobody held it.
  [[nodiscard]] bool released(PageIndex page);
  void adopted(PageIndex page) { owner_[page] = kNoSerial; }  // by the prefix cache
  void posted(std::span<const PageIndex> pages);
  void ended(std::span<const PageIndex> pages);
  // The process died: nothing is held. Operations in flight are ended by their own end.
  void reset();

  [[nodiscard]] std::uint32_t in_flight(PageIndex page) const { return in_flight_[page]; }
  [[nodiscard]] bool held(PageIndex page) const { return held_[page] > 0; }
  // Request that holds the page now; kNoSerial: nobody or the cache.
  [[nodiscard]] RequestSerial owner(PageIndex page) const {
    return held_[page] > 0 ? owner_[page] : kNoSerial;
  }
  [[nodiscard]] std::int64_t held_pages() const { return held_pages_; }
  // Pages still held by requests, in index order.
  [[nodiscard]] std::vector<PageIndex> held_by_requests() const;

 private:
  std::vector<std::uint16_t> held_;
  std::vector<std::uint16_t> in_flight_;
  std::vector<RequestSerial> owner_;
  std::int64_t held_pages_ = 0;
};

// Positions delivered to a request's destination pages, per (rank, group).
class CoverageBook {
 public:
  void delivered(RequestSerial request, std::uint32_t rank, std::uint32_t group,
                 std::int64_t positions);
  [[nodiscard]] std::int64_t delivered(RequestSerial request, std::uint32_t rank,
                                       std::uint32_t group) const;
  void forget(RequestSerial request);

 private:
  std::map<std::tuple<RequestSerial, std::uint32_t, std::uint32_t>, std::int64_t> positions_;
};

class FindingLog {
 public:
  explicit FindingLog(std::uint64_t kept_max = 10'000) : kept_max_(kept_max) {}

  // The finding of this (rule, victim, node), made if absent. `fresh` tells which. Beyond the kept
  // maximum findings are counted and nullptr is returned.
  Finding* report(Rule rule, RequestSerial victim, const std::string& node, bool& fresh);
  [[nodiscard]] const std::vector<Finding>& kept() const { return findings_; }
  [[nodiscard]] const std::array<std::uint64_t, kRules>& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t total() const;

 private:
  std::uint64_t kept_max_;
  std::vector<Finding> findings_;
  std::array<std::uint64_t, kRules> counts_{};
  std::map<std::tuple<Rule, RequestSerial, std::string>, std::uint32_t>
      index_;  // ~0: counted, not kept
};

}  // namespace handoff

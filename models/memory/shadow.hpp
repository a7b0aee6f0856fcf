// Shadow memory of one (node, rank, group): what every page slot holds, and since which write.
//
// A page is a short list of runs, sorted by slot, not overlapping; slots between runs were never
// written (or were zeroed). Almost every page has one run, which is stored in place. Runs are as
// long as they can be: what one write after another left is the same as if it had been one write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/memory/content.hpp"
#include "models/memory/page_pool.hpp"
#include "models/memory/provenance.hpp"
#include "sim/engine/check.hpp"

namespace handoff {

// Slots [begin, end) hold the content of positions [position, position + end - begin) of a sequence
// whose prefix up to the last of these positions is named by `tip`: tip covers position + end -
// begin - 1 (it may end later).
struct ContentRun {
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
  bool tainted = false;  // computed by a request that had read wrong content
  ContentNode tip;
  std::int64_t position = 0;
  RecordId write;
  PageIndex source_page = kNoPage;  // for copies: the page it came from

  [[nodiscard]] std::int32_t tokens() const { return end - begin; }
};

class ShadowPlane {
 public:
  ShadowPlane() = default;
  // 0 < page_tokens <= 65535: slots are 16-bit.
  ShadowPlane(std::uint32_t pages, std::int32_t page_tokens);

  // Overlays the run (not empty): what it covers is replaced, older runs are cut. A run that
  // continues its left neighbour (same write, same taint, same source page, adjoining slots and
  // positions, and the neighbour's tip is on the path of the new tip) is merged with it. References
  // to tip and write are taken, those of replaced runs dropped.
  void write(PageIndex page, const ContentRun& run, ContentTrie& trie, ProvenanceLog& log);
  // The page holds nothing any more.
  void clear(PageIndex page, ContentTrie& trie, ProvenanceLog& log);
  void clear_all(ContentTrie& trie, ProvenanceLog& log);

  [[nodiscard]] std::span<const ContentRun> runs(PageIndex page) const;
  [[nodiscard]] std::int32_t page_tokens() const { return page_tokens_; }
  [[nodiscard]] std::uint32_t pages() const { return static_cast<std::uint32_t>(first_.size()); }

 private:
  // A page of several runs: its entry in first_ is marked by begin > end, and source_page says
  // which of overflow_ holds them all.
  [[nodiscard]] static bool overflows(const ContentRun& first) { return first.begin > first.end; }
  [[nodiscard]] static bool continues(const ContentRun& left, const ContentRun& right,
                                      const ContentTrie& trie);
  void overlay(PageIndex page, const ContentRun& run, ContentTrie& trie, ProvenanceLog& log);
  void append_merged(const ContentRun& run, const ContentTrie& trie);
  void store_scratch(ContentRun& first);

  std::vector<ContentRun> first_;
  std::vector<std::vector<ContentRun>> overflow_;
  std::vector<std::uint32_t> overflow_free_;
  std::vector<ContentRun> scratch_;
  std::int32_t page_tokens_ = 1;
};

// Inline: called for every page.

inline std::span<const ContentRun> ShadowPlane::runs(PageIndex page) const {
  HANDOFF_CHECK(page < first_.size(), "a page outside the shadow plane was read");
  const ContentRun& first = first_[page];
  if (overflows(first)) return overflow_[first.source_page];
  return {&first, first.begin == first.end ? std::size_t{0} : std::size_t{1}};
}

}  // namespace handoff

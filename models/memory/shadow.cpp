// Three ways to write, from the most frequent to the most general: the run covers all that the page
// held; the run continues the page's only run; anything else, which rebuilds the page's list of
// runs.
#include "models/memory/shadow.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"

namespace handoff {

namespace {

void acquire(const ContentRun& run, ContentTrie& trie, ProvenanceLog& log) {
  trie.acquire(run.tip);
  log.acquire(run.write);
}

void release(const ContentRun& run, ContentTrie& trie, ProvenanceLog& log) {
  trie.release(run.tip);
  log.release(run.write);
}

std::int64_t last_position(const ContentRun& run) { return run.position + run.tokens() - 1; }

// The part of the run in slots [begin, end), which is not empty.
ContentRun cut(ContentRun run, std::uint16_t begin, std::uint16_t end, const ContentTrie& trie) {
  run.position += begin - run.begin;
  run.begin = begin;
  if (end != run.end) {
    run.end = end;
    run.tip = trie.at(run.tip, last_position(run));
  }
  return run;
}

}  // namespace

ShadowPlane::ShadowPlane(std::uint32_t pages, std::int32_t page_tokens)
    : first_(pages), page_tokens_(page_tokens) {
  HANDOFF_CHECK(page_tokens > 0 && page_tokens <= std::numeric_limits<std::uint16_t>::max(),
                "a page of a shadow plane has 1 to 65535 slots");
}

bool ShadowPlane::continues(const ContentRun& left, const ContentRun& right,
                            const ContentTrie& trie) {
  return left.end == right.begin && left.write == right.write && left.tainted == right.tainted &&
         left.source_page == right.source_page && left.position + left.tokens() == right.position &&
         (left.tip == right.tip || trie.at(right.tip, right.position - 1) == left.tip);
}

void ShadowPlane::write(PageIndex page, const ContentRun& run, ContentTrie& trie,
                        ProvenanceLog& log) {
  HANDOFF_CHECK(page < first_.size() && run.begin < run.end && run.end <= page_tokens_,
                "a run does not lie within a page");
  HANDOFF_CHECK(run.position >= 0 && trie.begin(run.tip) <= last_position(run) &&
                    last_position(run) < trie.end(run.tip),
                "the tip of a run does not cover its last position");
  ContentRun& first = first_[page];
  if (overflows(first)) return overlay(page, run, trie, log);
  const bool held = first.begin != first.end;
  if (!held || (run.begin <= first.begin && first.end <= run.end)) {
    acquire(run, trie, log);
    if (held) release(first, trie, log);
    first = run;
  } else if (continues(first, run, trie)) {
    trie.acquire(run.tip);
    trie.release(std::exchange(first.tip, run.tip));
    first.end = run.end;
  } else {
    overlay(page, run, trie, log);
  }
}

void ShadowPlane::append_merged(const ContentRun& run, const ContentTrie& trie) {
  if (!scratch_.empty() && continues(scratch_.back(), run, trie)) {
    scratch_.back().end = run.end;
    scratch_.back().tip = run.tip;
  } else {
    scratch_.push_back(run);
  }
}

void ShadowPlane::overlay(PageIndex page, const ContentRun& run, ContentTrie& trie,
                          ProvenanceLog& log) {
  const std::span<const ContentRun> old = runs(page);
  scratch_.clear();
  std::size_t i = 0;
  for (; i < old.size() && old[i].begin < run.begin; ++i)
    append_merged(cut(old[i], old[i].begin, std::min(old[i].end, run.begin), trie), trie);
  append_merged(run, trie);
  // The run that spans the new one has a part on either side.
  if (i > 0 && old[i - 1].end > run.end) --i;
  for (; i < old.size(); ++i)
    if (old[i].end > run.end)
      append_merged(cut(old[i], std::max(old[i].begin, run.end), old[i].end, trie), trie);

  for (const ContentRun& r : scratch_) acquire(r, trie, log);
  for (const ContentRun& r : old) release(r, trie, log);
  store_scratch(first_[page]);
}

void ShadowPlane::store_scratch(ContentRun& first) {
  if (scratch_.size() == 1) {
    if (overflows(first)) {
      overflow_[first.source_page].clear();
      overflow_free_.push_back(first.source_page);
    }
    first = scratch_.front();
    return;
  }
  if (!overflows(first)) {
    std::uint32_t list = 0;
    if (overflow_free_.empty()) {
      list = static_cast<std::uint32_t>(overflow_.size());
      overflow_.emplace_back();
    } else {
      list = overflow_free_.back();
      overflow_free_.pop_back();
    }
    first = ContentRun{};
    first.begin = 1;
    first.source_page = list;
  }
  overflow_[first.source_page].assign(scratch_.begin(), scratch_.end());
}

void ShadowPlane::clear(PageIndex page, ContentTrie& trie, ProvenanceLog& log) {
  HANDOFF_CHECK(page < first_.size(), "a page outside the shadow plane was cleared");
  ContentRun& first = first_[page];
  for (const ContentRun& run : runs(page)) release(run, trie, log);
  if (overflows(first)) {
    overflow_[first.source_page].clear();
    overflow_free_.push_back(first.source_page);
  }
  first = ContentRun{};
}

void ShadowPlane::clear_all(ContentTrie& trie, ProvenanceLog& log) {
  for (PageIndex page = 0; page < pages(); ++page) clear(page, trie, log);
}

}  // namespace handoff

#include "models/oracle/provenance.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {
namespace {

class Reader {
 public:
  Reader(const ContentTrie& trie, const ProvenanceLog& log, const ReadRequest& request,
         ReadVerdict& verdict)
      : trie_(trie), log_(log), request_(request), verdict_(verdict) {}

  // Positions [from, to) of a page whose slot 0 is position `base`.
  void page(PageIndex page, std::span<const ContentRun> runs, std::int64_t base, std::int64_t from,
            std::int64_t to) {
    const std::int64_t wrong_before = verdict_.wrong();
    std::int64_t next = from;  // first position not accounted for
    for (const ContentRun& run : runs) {
      const std::int64_t begin = std::max(from, base + run.begin);
      const std::int64_t end = std::min(to, base + run.end);
      if (begin >= end) continue;
      missing(page, begin - next);
      written(page, run, base, begin, end);
      next = end;
    }
    missing(page, to - next);
    verdict_.read += to - from;
    if (verdict_.wrong() != wrong_before) remember(page);
  }

 private:
  void missing(PageIndex page, std::int64_t tokens) {
    if (tokens <= 0) return;
    verdict_.unwritten += tokens;
    example(page, RecordId{});
  }

  void written(PageIndex page, const ContentRun& run, std::int64_t base, std::int64_t begin,
               std::int64_t end) {
    const bool in_place = run.position - run.begin == base;
    // Position of the run's content that lies in the last slot looked at.
    const std::int64_t last = run.position + (end - 1 - base) - run.begin;
    std::int64_t right_end = begin;
    if (in_place) {
      const ContentNode expected = request_.path->at(end - 1);
      right_end =
          run.tip == expected
              ? end
              : std::clamp(trie_.common_tokens(trie_.at(run.tip, last), expected), begin, end);
    }
    if (run.tainted) verdict_.tainted += right_end - begin;
    if (right_end == end) return;
    const Record& by = author(log_, run.write);
    if (by.request == request_.reader) {
      verdict_.misplaced += end - right_end;
      example(page, run.write);
      return;
    }
    verdict_.foreign += end - right_end;
    ReadVerdict::Source& source = verdict_.sources[by.request];
    source.tenant = by.tenant;
    source.tokens += end - right_end;
    // A page that the author's own operation filled tells more than one that came with the reader's
    // data.
    const bool own = log_.get(run.write).request != request_.reader;
    if (source.page == kNoPage || (own && log_.get(source.write).request == request_.reader)) {
      source.page = page;
      source.write = run.write;
    }
    example(page, run.write);
  }

  void example(PageIndex page, RecordId write) {
    if (verdict_.wrong_page != kNoPage) return;
    verdict_.wrong_page = page;
    verdict_.wrong_write = write;
  }

  void remember(PageIndex page) {
    if (!verdict_.pages.empty()) {
      PageSpan& last = verdict_.pages.back();
      if (last.first + last.count == page) {
        ++last.count;
        return;
      }
    }
    if (verdict_.pages.size() < kPageSpansMax) verdict_.pages.push_back({page, 1});
  }

  const ContentTrie& trie_;
  const ProvenanceLog& log_;
  const ReadRequest& request_;
  ReadVerdict& verdict_;
};

}  // namespace

void check_read(const ContentTrie& trie, const ProvenanceLog& log, const ShadowPlane& plane,
                const ReadRequest& request, ReadVerdict& verdict) {
  if (request.from >= request.to) return;
  const std::int64_t page_tokens = plane.page_tokens();
  HANDOFF_CHECK(request.to <= request.path->tokens(), "read past the sequence");
  HANDOFF_CHECK(request.to <= static_cast<std::int64_t>(request.pages.size()) * page_tokens,
                "read past the page list");
  Reader reader(trie, log, request, verdict);
  for (std::int64_t base = request.from / page_tokens * page_tokens; base < request.to;
       base += page_tokens) {
    const PageIndex page = request.pages[static_cast<std::size_t>(base / page_tokens)];
    const std::int64_t from = std::max(base, request.from);
    const std::int64_t to = std::min(base + page_tokens, request.to);
    const auto runs = plane.runs(page);
    // Almost every page: one untainted run in place that reaches the last position under the right
    // tip.
    if (runs.size() == 1 && !runs[0].tainted && runs[0].position - runs[0].begin == base &&
        base + runs[0].begin <= from && base + runs[0].end >= to &&
        runs[0].tip == request.path->at(to - 1)) {
      verdict.read += to - from;
      continue;
    }
    reader.page(page, runs, base, from, to);
  }
}

const Record& author(const ProvenanceLog& log, RecordId write) {
  const Record* record = &log.get(write);
  while (record->origin.valid()) record = &log.get(record->origin);
  return *record;
}

std::uint64_t content_digest(const ContentTrie& trie, const ShadowPlane& plane,
                             std::span<const PageIndex> pages, std::int64_t tokens) {
  Digest digest;
  // Slots that hold nothing count as such: the range itself is part of the sum.
  digest.add(static_cast<std::uint64_t>(tokens));
  const std::int64_t page_tokens = plane.page_tokens();
  // The segment being built: sequence slots [begin, end) hold contiguous content that ends under
  // `tip`.
  struct Segment {
    std::int64_t begin = 0, end = 0, position = 0;
    ContentNode tip;
  } open;
  const auto close = [&] {
    if (!open.tip.valid()) return;
    digest.add(static_cast<std::uint64_t>(open.begin));
    digest.add(static_cast<std::uint64_t>(open.end));
    digest.add(static_cast<std::uint64_t>(open.position));
    digest.add(open.tip.value);
  };
  for (std::int64_t base = 0; base < tokens; base += page_tokens) {
    const auto index = static_cast<std::size_t>(base / page_tokens);
    if (index >= pages.size()) break;
    for (const ContentRun& run : plane.runs(pages[index])) {
      const std::int64_t begin = base + run.begin;
      const std::int64_t end = std::min(base + run.end, tokens);
      if (begin >= end) continue;
      const std::int64_t last = run.position + (end - begin) - 1;
      const ContentNode tip = trie.at(run.tip, last);
      const std::int64_t open_last = open.position + (open.end - open.begin);
      if (open.tip.valid() && open.end == begin && open_last == run.position &&
          trie.common_tokens(open.tip, tip) >= open_last) {
        open.end = end;
        open.tip = tip;
        continue;
      }
      close();
      open = {begin, end, run.position, tip};
    }
  }
  close();
  return digest.value();
}

}  // namespace handoff

// What the auditor does with contents: written, read, saved, sent.
#include <fmt/format.h>

#include <algorithm>

#include "models/oracle/audit_state.hpp"
#include "models/oracle/provenance.hpp"

namespace handoff {

void Audit::on_write(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  Pool& p = pool(d, e.node, e.group);
  const AuditedRequest& r = request(e.request);
  const std::vector<PageIndex> pages = pages_of(e.pages, p);
  const std::int64_t end = e.position + e.tokens;
  const std::int64_t first = e.position / p.page_tokens;
  if (e.position < 0 || e.tokens < 1 || std::ssize(pages) < div_ceil(end, p.page_tokens) - first)
    throw AuditError("fewer pages than the positions written need");
  const RecordId record =
      d.log.add({RecordKind::prefill_write, 0, r.tenant, e.request, now_, event_, RecordId{}});
  d.log.acquire(record);
  for (std::int64_t base = first * p.page_tokens; base < end; base += p.page_tokens) {
    ContentRun run;
    const std::int64_t from = std::max(base, e.position);
    const std::int64_t to = std::min(base + p.page_tokens, end);
    run.begin = static_cast<std::uint16_t>(from - base);
    run.end = static_cast<std::uint16_t>(to - base);
    run.tainted = r.tainted;
    run.tip = r.path.at(to - 1);
    run.position = from;
    run.write = record;
    const PageIndex page = pages[static_cast<std::size_t>(base / p.page_tokens - first)];
    for (ShadowPlane& plane : p.planes) plane.write(page, run, d.trie, d.log);
  }
  d.log.release(record);
}

void Audit::on_read(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  Pool& p = pool(d, e.node, e.group);
  AuditedRequest& r = request(e.request);
  const std::vector<PageIndex> read = pages_of(e.pages, p);
  const std::int64_t end = e.position + e.tokens;
  const std::int64_t first = e.position / p.page_tokens;
  if (e.position < 0 || e.tokens < 1 || std::ssize(read) < div_ceil(end, p.page_tokens) - first)
    throw AuditError("fewer pages than the positions read need");
  // From position 0; those before the first are not looked at.
  std::vector<PageIndex> pages(static_cast<std::size_t>(first), 0);
  pages.insert(pages.end(), read.begin(), read.end());
  for (std::uint32_t rank = 0; rank < p.planes.size(); ++rank) {
    ReadVerdict verdict;
    check_read(d.trie, d.log, p.planes[rank], {&r.path, e.request, pages, e.position, end},
               verdict);
    if (verdict.foreign > 0 || verdict.tainted > 0) {
      tainted_ += !r.tainted;
      r.tainted = true;
    }
    if (verdict.wrong() == 0) continue;
    bool fresh = false;
    Finding* f = open(Rule::provenance, e.request, e.node, fresh);
    if (f == nullptr || !fresh) continue;
    f->group = e.group;
    f->rank = rank;
    f->tokens_read = verdict.read;
    f->tokens_foreign = verdict.foreign;
    f->tokens_unwritten = verdict.unwritten;
    f->tokens_misplaced = verdict.misplaced;
    f->pages = verdict.pages;
    for (const auto& [serial, source] : verdict.sources)
      f->sources.push_back({serial, source.tenant, source.tokens});
    std::stable_sort(
        f->sources.begin(), f->sources.end(),
        [](const FindingSource& a, const FindingSource& b) { return a.tokens > b.tokens; });
    f->sources_total = static_cast<std::uint32_t>(f->sources.size());
    if (f->sources.size() > kSourcesMax) f->sources.resize(kSourcesMax);
    f->message = fmt::format(
        "request {} read {} positions of group {} of which {} hold other requests' content, {} "
        "were "
        "never written and {} hold its own in the wrong place",
        e.request, verdict.read, e.group, verdict.foreign, verdict.unwritten, verdict.misplaced);
  }
}

void Audit::on_save(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  const Pool& p = pool(d, e.node, e.group);
  AuditedRequest& r = request(e.request);
  const std::vector<PageIndex> pages = pages_of(e.pages, p);
  auto& saved = r.saved[e.group];
  for (const auto& rank : saved)
    for (const auto& page : rank)
      for (const ContentRun& run : page) {
        d.trie.release(run.tip);
        d.log.release(run.write);
      }
  saved.assign(p.planes.size(), {});
  for (std::size_t rank = 0; rank < p.planes.size(); ++rank)
    for (const PageIndex page : pages) {
      const auto runs = p.planes[rank].runs(page);
      saved[rank].emplace_back(runs.begin(), runs.end());
      for (const ContentRun& run : runs) {
        d.trie.acquire(run.tip);
        d.log.acquire(run.write);
      }
    }
}

void Audit::on_restore(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  Pool& p = pool(d, e.node, e.group);
  AuditedRequest& r = request(e.request);
  const std::vector<PageIndex> pages = pages_of(e.pages, p);
  const auto& saved = r.saved[e.group];
  if (saved.size() != p.planes.size())
    throw AuditError(fmt::format("nothing of request {} was saved", e.request));
  for (std::size_t rank = 0; rank < saved.size(); ++rank)
    for (std::size_t i = 0; i < std::min(pages.size(), saved[rank].size()); ++i) {
      p.planes[rank].clear(pages[i], d.trie, d.log);
      for (const ContentRun& run : saved[rank][i])
        p.planes[rank].write(pages[i], run, d.trie, d.log);
    }
}

void Audit::on_send(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  Pool& from = pool(d, e.node, e.group);
  Pool& to = pool(d, e.to_node, e.group);
  AuditedRequest& r = request(e.request);
  Transfer::Part part;
  part.from = e.node;
  part.to = e.to_node;
  part.group = e.group;
  part.source = pages_of(e.pages, from);
  part.destination = pages_of(e.to_pages, to);
  part.position = e.position;
  part.tokens = e.tokens;
  if (part.source.size() != part.destination.size())
    throw AuditError(
        fmt::format("{} pages sent into {}", part.source.size(), part.destination.size()));
  auto& transfer = transfers_[e.id];
  if (!transfer) {
    transfer = std::make_unique<Transfer>();
    transfer->deployment = &d;
    transfer->serial = e.request;
    ++r.transfers;
  } else if (transfer->serial != e.request) {
    throw AuditError(fmt::format("transfer {} is of request {}", e.id, transfer->serial));
  }
  from.book.posted(part.source);
  to.book.posted(part.destination);
  transfer->parts.push_back(std::move(part));
}

void Audit::on_land(const PageEvent& e) {
  const auto found = transfers_.find(e.id);
  if (found == transfers_.end()) throw AuditError(fmt::format("no transfer {}", e.id));
  const Transfer& t = *found->second;
  Deployment& d = *t.deployment;
  const std::uint32_t tenant = live_.count(t.serial) > 0 ? live_.at(t.serial)->tenant : 0;
  for (const Transfer::Part& part : t.parts) {
    Pool& from = pool(d, part.from, part.group);
    Pool& to = pool(d, part.to, part.group);
    for (const PageIndex page : part.destination) {
      const RequestSerial owner = to.book.owner(page);
      if (owner == t.serial || !to.book.held(page)) continue;
      bool fresh = false;
      Finding* f = open(Rule::late_write, owner, part.to, fresh);
      if (f == nullptr) continue;
      if (fresh) {
        f->group = part.group;
        f->sources.push_back({t.serial, tenant, 0});
        f->sources_total = 1;
        f->message =
            fmt::format("data of request {} landed on pages of request {}", t.serial, owner);
      }
      f->sources[0].tokens += to.page_tokens;
      const PageIndex one[] = {page};
      if (f->pages.size() < kPageSpansMax) append_pages(f->pages, one);
    }
    for (std::uint32_t rank = 0; rank < to.planes.size(); ++rank) {
      const auto lost = part.lost.find(rank);
      const std::size_t pages = part.destination.size() -
                                std::min<std::size_t>(part.destination.size(),
                                                      lost == part.lost.end() ? 0 : lost->second);
      for (std::size_t i = 0; i < pages; ++i) {
        to.planes[rank].clear(part.destination[i], d.trie, d.log);
        for (const ContentRun& run : from.planes[rank].runs(part.source[i])) {
          ContentRun copied = run;
          copied.write =
              d.log.add({RecordKind::transfer_write, 0, tenant, t.serial, now_, event_, run.write});
          d.log.acquire(copied.write);
          copied.source_page = part.source[i];
          to.planes[rank].write(part.destination[i], copied, d.trie, d.log);
          d.log.release(copied.write);
        }
      }
      const std::int64_t end =
          std::min(part.position + part.tokens,
                   part.position + static_cast<std::int64_t>(pages) * to.page_tokens);
      coverage_.delivered(t.serial, rank, to.group, std::max<std::int64_t>(end - part.position, 0));
    }
  }
  end_transfer(e.id);
}

void Audit::end_transfer(std::uint64_t id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) throw AuditError(fmt::format("no transfer {}", id));
  const std::unique_ptr<Transfer> t = std::move(found->second);
  transfers_.erase(found);
  for (const Transfer::Part& part : t->parts) {
    pool(*t->deployment, part.from, part.group).book.ended(part.source);
    pool(*t->deployment, part.to, part.group).book.ended(part.destination);
  }
  if (const auto r = live_.find(t->serial); r != live_.end()) {
    --r->second->transfers;
    forget_if_done(t->serial);
  }
}

}  // namespace handoff

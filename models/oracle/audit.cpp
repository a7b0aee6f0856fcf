#include "models/oracle/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/oracle/audit_state.hpp"

namespace handoff {
namespace {

// A request's own tokens after its prompt: more than any output.
constexpr std::int64_t kOutputTokens = std::int64_t{1} << 40;
constexpr std::uint32_t kPagesMax = 1U << 26;
// Requests that have ended and are still known, for what comes late.
constexpr std::size_t kDoneKept = 1U << 16;
constexpr std::int64_t kPageTokensMax = 65'535;

}  // namespace

Audit::Audit(TimeNs terminate_within_ns, std::uint64_t findings_max)
    : terminate_within_ns_(terminate_within_ns), findings_(findings_max) {}
Audit::~Audit() = default;

Audit::Deployment& Audit::deployment(const std::string& name) {
  auto& place = by_name_[name];
  if (!place) {
    place = std::make_unique<Deployment>();
    place->index = static_cast<std::uint32_t>(deployment_names_.size());
    deployment_names_.push_back(name);
  }
  return *place;
}

Audit::Pool& Audit::pool(Deployment& d, const std::string& node, const std::string& group) {
  const auto on_node = d.nodes.find(node);
  if (on_node == d.nodes.end()) throw AuditError(fmt::format("no pool of node '{}' so far", node));
  const auto found = on_node->second.find(group);
  if (found == on_node->second.end())
    throw AuditError(fmt::format("no pool of group '{}' on node '{}' so far", group, node));
  return found->second;
}

Audit::AuditedRequest& Audit::request(RequestSerial serial) {
  const auto found = live_.find(serial);
  if (found == live_.end())
    throw AuditError(fmt::format("request {} has not arrived, or is over", serial));
  return *found->second;
}

std::vector<PageIndex> Audit::pages_of(const std::vector<PageSpan>& spans, const Pool& pool) const {
  std::vector<PageIndex> pages;
  for (const PageSpan& span : spans) {
    if (span.count == 0 || span.first >= pool.pages() || span.count > pool.pages() - span.first)
      throw AuditError(
          fmt::format("pages {}+{} lie beyond a pool of {}", span.first, span.count, pool.pages()));
    for (std::uint32_t i = 0; i < span.count; ++i) pages.push_back(span.first + i);
  }
  return pages;
}

Finding* Audit::open(Rule rule, RequestSerial victim, const std::string& node, bool& fresh) {
  Finding* f = findings_.report(rule, victim, node, fresh);
  if (f == nullptr || !fresh) return f;
  f->at = now_;
  f->event = event_;
  if (const auto found = live_.find(victim); found != live_.end())
    f->deployment = found->second->deployment->index;
  return f;
}

void Audit::apply(const PageEvent& e) {
  if (e.at < now_) throw AuditError(fmt::format("time goes back, from {} ns to {} ns", now_, e.at));
  const TimeNs before = std::exchange(now_, e.at);
  event_ = e.event != 0 ? e.event : events_ + 1;
  try {
    check(e);
  } catch (...) {
    now_ = before;
    throw;
  }
  ++events_;
}

void Audit::check(const PageEvent& e) {
  switch (e.op) {
    case PageOp::pool:
      return on_pool(e);
    case PageOp::prompt:
      return on_prompt(e);
    case PageOp::allocate:
      return on_allocate(e);
    case PageOp::free:
      return on_free(e);
    case PageOp::adopt: {
      Pool& p = pool(deployment(e.deployment), e.node, e.group);
      const std::vector<PageIndex> pages = pages_of(e.pages, p);
      AuditedRequest& r = request(e.request);
      for (const PageIndex page : pages) p.book.adopted(page);
      r.held -= std::ssize(pages);
      return forget_if_done(e.request);
    }
    case PageOp::write:
      return on_write(e);
    case PageOp::read:
      return on_read(e);
    case PageOp::save:
      return on_save(e);
    case PageOp::restore:
      return on_restore(e);
    case PageOp::send:
      return on_send(e);
    case PageOp::lose: {
      const auto found = transfers_.find(e.id);
      if (found == transfers_.end()) throw AuditError(fmt::format("no transfer {}", e.id));
      for (Transfer::Part& part : found->second->parts)
        if (part.group == e.group) part.lost[e.rank] = e.count;
      return;
    }
    case PageOp::land:
      return on_land(e);
    case PageOp::drop:
      return end_transfer(e.id);
    case PageOp::commit:
      return on_commit(e);
    case PageOp::reset:
      return on_reset(e);
    case PageOp::error: {
      AuditedRequest& r = request(e.request);
      if (r.error == 0) r.error = e.status;
      return;
    }
    case PageOp::end:
      return on_end(e);
  }
}

void Audit::on_pool(const PageEvent& e) {
  if (e.count == 0 || e.count > kPagesMax || e.tokens < 1 || e.tokens > kPageTokensMax ||
      e.ranks < 1 || e.ranks > 1'024)
    throw AuditError("a pool needs 1 to 67108864 pages of 1 to 65535 tokens on 1 to 1024 ranks");
  Deployment& d = deployment(e.deployment);
  // Transfers from or to what was there before go nowhere.
  std::vector<std::uint64_t> gone;
  for (const auto& [id, t] : transfers_)
    for (const Transfer::Part& part : t->parts)
      if (t->deployment == &d && part.group == e.group &&
          (part.from == e.node || part.to == e.node))
        gone.push_back(id);
  for (const std::uint64_t id : gone)
    if (transfers_.count(id) > 0) end_transfer(id);
  Pool& p = d.nodes[e.node][e.group];
  for (ShadowPlane& plane : p.planes) plane.clear_all(d.trie, d.log);
  p = {};
  p.page_tokens = e.tokens;
  p.book = PageBook(e.count);
  p.planes.assign(e.ranks, ShadowPlane(e.count, static_cast<std::int32_t>(e.tokens)));
  const auto known = std::find(d.groups.begin(), d.groups.end(), e.group);
  p.group = static_cast<std::uint32_t>(known - d.groups.begin());
  if (known == d.groups.end()) d.groups.push_back(e.group);
}

void Audit::on_prompt(const PageEvent& e) {
  if (e.request == kNoSerial || live_.count(e.request) > 0)
    throw AuditError("a prompt needs a request number of its own");
  if (e.tokens < 1 || e.tokens > kOutputTokens || (!e.blocks.empty() && e.block_tokens < 1))
    throw AuditError("a prompt needs tokens, and block_tokens beside blocks");
  auto r = std::make_unique<AuditedRequest>();
  r->deployment = &deployment(e.deployment);
  r->serial = e.request;
  r->prompt = e.tokens;
  r->arrival = now_;
  const auto known = std::find(tenant_names_.begin(), tenant_names_.end(), e.tenant);
  r->tenant = static_cast<std::uint32_t>(known - tenant_names_.begin());
  if (known == tenant_names_.end()) tenant_names_.push_back(e.tenant);
  ContentTrie& trie = r->deployment->trie;
  r->tip = trie.extend_unique(prompt_node(trie, e.blocks, e.block_tokens, e.tokens), kOutputTokens);
  trie.acquire(r->tip);
  r->path = ContentPath(trie, r->tip);
  live_.emplace(e.request, std::move(r));
  ++requests_seen_;
}

void Audit::on_allocate(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  Pool& p = pool(d, e.node, e.group);
  AuditedRequest& r = request(e.request);
  const std::vector<PageIndex> pages = pages_of(e.pages, p);
  for (const PageIndex page : pages) {
    if (!p.book.held(page)) continue;
    const RequestSerial owner = p.book.owner(page);
    bool fresh = false;
    Finding* f = open(Rule::balance, e.request, e.node, fresh);
    if (f != nullptr && fresh) {
      f->group = e.group;
      f->message = fmt::format(
          "request {} was given pages that {} holds", e.request,
          owner == kNoSerial ? std::string("the prefix cache") : fmt::format("request {}", owner));
    }
    const PageIndex one[] = {page};
    if (f != nullptr && f->pages.size() < kPageSpansMax) append_pages(f->pages, one);
  }
  p.book.allocated(pages, e.request);
  r.held += std::ssize(pages);
  if (!e.zeroed) return;
  for (ShadowPlane& plane : p.planes)
    for (const PageIndex page : pages) plane.clear(page, d.trie, d.log);
}

void Audit::on_free(const PageEvent& e) {
  Pool& p = pool(deployment(e.deployment), e.node, e.group);
  std::vector<PageSpan> twice;
  std::vector<PageSpan> busy;
  std::int64_t released = 0;
  for (const PageIndex page : pages_of(e.pages, p)) {
    const PageIndex one[] = {page};
    if (!p.book.released(page)) {
      append_pages(twice, one);
      continue;
    }
    ++released;
    if (!p.book.held(page) && p.book.in_flight(page) > 0) append_pages(busy, one);
  }
  const auto report = [&](Rule rule, const std::vector<PageSpan>& spans, const char* what) {
    bool fresh = false;
    Finding* f = spans.empty() ? nullptr : open(rule, e.request, e.node, fresh);
    if (f == nullptr || !fresh) return;
    f->group = e.group;
    f->pages.assign(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min(spans.size(), kPageSpansMax)));
    f->message = fmt::format("pages of {} were freed {}",
                             e.request == kNoSerial ? std::string("the prefix cache")
                                                    : fmt::format("request {}", e.request),
                             what);
  };
  report(Rule::free_in_flight, busy, "while a posted transfer still referenced them");
  report(Rule::balance, twice, "a second time");
  if (e.request == kNoSerial) return;
  if (const auto found = live_.find(e.request); found != live_.end()) {
    found->second->held -= released;
    forget_if_done(e.request);
  }
}

void Audit::on_commit(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  const AuditedRequest& r = request(e.request);
  const auto on_node = d.nodes.find(e.node);
  if (on_node == d.nodes.end()) throw AuditError(fmt::format("no pool of node '{}'", e.node));
  // In the order in which the log introduced the groups.
  std::vector<std::pair<std::string, const Pool*>> pools;
  for (const auto& [group, p] : on_node->second) pools.emplace_back(group, &p);
  std::sort(pools.begin(), pools.end(),
            [](const auto& a, const auto& b) { return a.second->group < b.second->group; });
  for (const auto& [group, place] : pools) {
    const Pool& p = *place;
    for (std::uint32_t rank = 0; rank < p.planes.size(); ++rank) {
      const std::int64_t have = coverage_.delivered(e.request, rank, p.group);
      if (have == r.prompt) continue;
      bool fresh = false;
      Finding* f = open(Rule::coverage, e.request, e.node, fresh);
      if (f == nullptr || !fresh) continue;
      f->group = group;
      f->rank = rank;
      f->tokens_read = r.prompt;
      f->tokens_unwritten = r.prompt - have;
      f->message =
          fmt::format("decode committed request {} with {} of {} positions of group {} delivered",
                      e.request, have, r.prompt, group);
    }
  }
}

void Audit::on_reset(const PageEvent& e) {
  Deployment& d = deployment(e.deployment);
  const auto on_node = d.nodes.find(e.node);
  if (on_node == d.nodes.end()) throw AuditError(fmt::format("no pool of node '{}'", e.node));
  for (auto& [group, p] : on_node->second) {
    for (const PageIndex page : p.book.held_by_requests())
      if (const auto r = live_.find(p.book.owner(page)); r != live_.end()) --r->second->held;
    p.book.reset();
    for (ShadowPlane& plane : p.planes) plane.clear_all(d.trie, d.log);
  }
}

void Audit::on_end(const PageEvent& e) {
  AuditedRequest& r = request(e.request);
  r.ended = true;
  if (e.status == 200 && r.error >= 400) {
    bool fresh = false;
    Finding* f = open(Rule::first_cause, e.request, "client", fresh);
    if (f != nullptr && fresh)
      f->message = fmt::format("the client of request {} was told 200 although it had failed ({})",
                               e.request, r.error);
  }
  if (now_ - r.arrival > terminate_within_ns_) {
    bool fresh = false;
    Finding* f = open(Rule::termination, e.request, "client", fresh);
    if (f != nullptr && fresh)
      f->message = fmt::format("request {} was answered after {} s, the bound is {} s", e.request,
                               (now_ - r.arrival) / kSecond, terminate_within_ns_ / kSecond);
  }
  forget_if_done(e.request);
}

// A request that has ended may still be given pages, while its abort travels.
void Audit::forget_if_done(RequestSerial serial) {
  const auto found = live_.find(serial);
  if (found == live_.end()) return;
  AuditedRequest& r = *found->second;
  if (!r.ended || r.done) return;
  r.done = true;
  done_.push_back(serial);
  for (std::size_t looked = 0; done_.size() > kDoneKept && looked < 2; ++looked) {
    const RequestSerial oldest = done_.front();
    done_.pop_front();
    const AuditedRequest& old = *live_.at(oldest);
    if (old.held > 0 || old.transfers > 0)
      done_.push_back(oldest);
    else
      forget(oldest);
  }
}

void Audit::forget(RequestSerial serial) {
  const auto found = live_.find(serial);
  const AuditedRequest& r = *found->second;
  Deployment& d = *r.deployment;
  for (const auto& [group, ranks] : r.saved)
    for (const auto& rank : ranks)
      for (const auto& page : rank)
        for (const ContentRun& run : page) {
          d.trie.release(run.tip);
          d.log.release(run.write);
        }
  d.trie.release(r.tip);
  coverage_.forget(serial);
  live_.erase(found);
}

void Audit::finish() {
  bool all_ended = true;
  for (const auto& [serial, r] : live_) {
    if (r->ended) continue;
    all_ended = false;
    bool fresh = false;
    Finding* f = open(Rule::termination, serial, "client", fresh);
    if (f != nullptr && fresh)
      f->message = fmt::format("request {} has no terminal state when the log ends", serial);
  }
  // Requests under way hold pages for a reason.
  if (!all_ended) return;
  for (const auto& [name, d] : by_name_)
    for (const auto& [node, groups] : d->nodes)
      for (const auto& [group, p] : groups)
        for (const PageIndex page : p.book.held_by_requests()) {
          bool fresh = false;
          Finding* f = open(Rule::balance, p.book.owner(page), node, fresh);
          if (f == nullptr) continue;
          if (fresh) {
            f->group = group;
            f->message =
                fmt::format("pages of request {} were never freed on {}", p.book.owner(page), node);
          }
          const PageIndex one[] = {page};
          if (f->pages.size() < kPageSpansMax) append_pages(f->pages, one);
        }
}

}  // namespace handoff

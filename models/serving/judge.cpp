#include "models/serving/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/oracle/provenance.hpp"
#include "models/serving/chain.hpp"

namespace handoff {
namespace {

Finding* open_finding(const Context& c, Rule rule, const Request& r, std::uint32_t component,
                      bool& fresh) {
  Finding* f =
      c.world.oracles.findings.report(rule, r.serial, component_name(c.world, component), fresh);
  if (f != nullptr && fresh) {
    f->at = c.now();
    f->event = c.event();
    f->deployment = r.spec.deployment;
    f->fault = r.fault;
  }
  return f;
}

void fill_sources(Finding& f, const ReadVerdict& verdict) {
  f.sources_total = static_cast<std::uint32_t>(verdict.sources.size());
  for (const auto& [serial, source] : verdict.sources)
    f.sources.push_back({serial, source.tenant, source.tokens});
  std::stable_sort(
      f.sources.begin(), f.sources.end(),
      [](const FindingSource& a, const FindingSource& b) { return a.tokens > b.tokens; });
  if (f.sources.size() > kSourcesMax) f.sources.resize(kSourcesMax);
}

// The outcome counts distinct prompt positions: the largest count over groups and ranks.
void note_outcome(Request& r, const ReadVerdict& verdict) {
  RequestOutcome& o = r.outcome;
  if (verdict.foreign > 0 || verdict.tainted > 0) o.tainted = true;
  if (verdict.wrong() > 0) o.corrupt = true;
  o.foreign_tokens = std::max(o.foreign_tokens, verdict.foreign);
  o.unwritten_tokens = std::max(o.unwritten_tokens, verdict.unwritten);
  if (verdict.sources.size() <= o.source_requests) return;
  o.source_requests = static_cast<std::uint32_t>(verdict.sources.size());
  std::set<std::uint32_t> tenants;
  std::int64_t most = 0;
  for (const auto& [serial, source] : verdict.sources) {
    tenants.insert(source.tenant);
    if (source.tokens <= most) continue;
    most = source.tokens;
    o.main_source = serial;
    o.main_source_tenant = source.tenant;
  }
  o.source_tenants = static_cast<std::uint32_t>(tenants.size());
}

void report_read(const Context& c, Request& r, const ReadPlace& place, const ReadVerdict& verdict,
                 std::uint32_t rank, std::size_t group) {
  bool fresh = false;
  Finding* f = open_finding(c, Rule::provenance, r, place.component, fresh);
  if (f == nullptr || !fresh) return;
  const Deployment& d = c.deployment(r);
  f->group = d.config->model.groups[group].name;
  f->rank = rank;
  f->tokens_read = verdict.read;
  f->tokens_foreign = verdict.foreign;
  f->tokens_unwritten = verdict.unwritten;
  f->tokens_misplaced = verdict.misplaced;
  f->pages = verdict.pages;
  fill_sources(*f, verdict);
  f->message = fmt::format(
      "request {} read {} positions of group {} of which {} hold other requests' content, {} were "
      "never "
      "written and {} hold its own in the wrong place",
      r.serial, verdict.read, f->group, verdict.foreign, verdict.unwritten, verdict.misplaced);
  f->chain = chain_of(c.world, r);
  // The page told of: one with content of the request that most of it came from.
  PageIndex page = verdict.wrong_page;
  RecordId write = verdict.wrong_write;
  if (!f->sources.empty()) {
    const ReadVerdict::Source& main = verdict.sources.at(f->sources[0].request);
    page = main.page;
    write = main.write;
  }
  add_page_history(c.world, *f, place, group, page, write);
  finish_chain(*f, c, place.component, r.serial,
               verdict.foreign > 0 ? "read content of other requests and computes from it"
                                   : "read content that is not its own and computes from it",
               page_name(page));
}

}  // namespace

bool judge_read(const Context& c, Request& r, const ReadPlace& place, std::int64_t from,
                std::int64_t to) {
  const Deployment& d = c.deployment(r);
  bool tainted = false;
  for (std::size_t g = 0; g < place.memory->groups.size(); ++g) {
    const GroupSpec& spec = d.config->model.groups[g];
    const std::int64_t first =
        spec.kind == GroupKind::window ? std::max(from, to - spec.window_tokens) : from;
    const auto& planes = place.memory->groups[g].planes;
    trace_positions(c, PageOp::read, d, place.component, r.serial, g, (*place.pages)[g], first, to);
    for (std::uint32_t rank = 0; rank < planes.size(); ++rank) {
      ReadVerdict verdict;
      check_read(d.trie, d.log, planes[rank], {place.path, r.serial, (*place.pages)[g], first, to},
                 verdict);
      if (verdict.wrong() == 0 && verdict.tainted == 0) continue;
      note_outcome(r, verdict);
      tainted = tainted || verdict.foreign > 0 || verdict.tainted > 0;
      if (verdict.wrong() > 0) report_read(c, r, place, verdict, rank, g);
    }
  }
  return tainted;
}

void judge_commit(const Context& c, Request& r, const DecodeNode& node) {
  const Deployment& d = c.deployment(r);
  // What decode will read as this request's prompt. A request that decode itself has turned into a
  // placeholder reads nothing.
  if (r.decode.pending_abort != 0) return;
  trace_commit(c, r, node.component);
  for (std::uint32_t g = 0; g < node.memory.groups.size(); ++g) {
    for (std::uint32_t rank = 0; rank < d.config->ranks; ++rank) {
      const std::int64_t have = c.world.oracles.coverage.delivered(r.serial, rank, g);
      if (have == r.spec.prompt_tokens) continue;
      bool fresh = false;
      Finding* f = open_finding(c, Rule::coverage, r, node.component, fresh);
      if (f == nullptr || !fresh) continue;
      f->group = d.config->model.groups[g].name;
      f->rank = rank;
      f->tokens_read = r.spec.prompt_tokens;
      f->tokens_unwritten = r.spec.prompt_tokens - have;
      f->message =
          fmt::format("decode committed request {} with {} of {} positions of group {} delivered",
                      r.serial, have, r.spec.prompt_tokens, f->group);
      f->chain = chain_of(c.world, r);
    }
  }
}

void judge_landing(const Context& c, const TransferOperation& op, const DecodeNode& node) {
  for (const TransferOperation::Part& part : op.parts) {
    const PageBook& book = node.memory.groups[part.group].book;
    for (const PageIndex page : part.destination) {
      const RequestSerial owner = book.owner(page);
      if (owner == op.serial || !book.held(page)) continue;
      bool fresh = false;
      Finding* f = c.world.oracles.findings.report(Rule::late_write, owner, node.name, fresh);
      if (f == nullptr) continue;
      if (fresh) {
        f->at = c.now();
        f->event = c.event();
        f->deployment = op.deployment;
        f->group = c.world.deployments[op.deployment].config->model.groups[part.group].name;
        f->sources.push_back({op.serial, 0, 0});
        f->sources_total = 1;
        const RecordId given = node.memory.groups[part.group].pool.allocated(page);
        const TimeNs since =
            given.valid() ? c.world.deployments[op.deployment].log.get(given).at : c.now();
        f->message = fmt::format(
            "data of request {} landed on pages that request {} has held for {}.{:03} s", op.serial,
            owner, (c.now() - since) / kSecond, (c.now() - since) % kSecond / kMillisecond);
        const Request* victim = find_request(c.world, owner);
        if (victim != nullptr) f->chain = chain_of(c.world, *victim);
        const Request* writer = find_request(c.world, op.serial);
        if (writer != nullptr) {
          const auto more = chain_of(c.world, *writer);
          f->chain.insert(f->chain.end(), more.begin(), more.end());
          f->sources[0].tenant = writer->spec.tenant;
        }
        finish_chain(*f, c, node.component, op.serial, "its data lands");
      }
      f->sources[0].tokens += node.memory.groups[part.group].pool.page_tokens();
      add_page(f->pages, page);
    }
  }
}

void judge_release(const Context& c, Request& r, std::uint32_t component,
                   const ReleaseReport& report) {
  bool fresh = false;
  if (report.in_flight > 0) {
    c.note(r, Step::write_pending, component, report.in_flight);
    Finding* f = open_finding(c, Rule::free_in_flight, r, component, fresh);
    if (f != nullptr && fresh) {
      f->pages = report.pages;
      f->message = fmt::format("{} of request {} freed while a posted transfer still referenced {}",
                               counted(report.in_flight, "page"), r.serial,
                               report.in_flight == 1 ? "it" : "them");
      f->chain = chain_of(c.world, r);
      finish_chain(*f, c, component, r.serial, "its pages return to the pool");
    }
  }
  if (report.not_held > 0) {
    Finding* f = open_finding(c, Rule::balance, r, component, fresh);
    if (f != nullptr && fresh) {
      f->pages = report.pages;
      f->message = fmt::format("{} of request {} freed a second time",
                               counted(report.not_held, "page"), r.serial);
      f->chain = chain_of(c.world, r);
      finish_chain(*f, c, component, r.serial, "pages that nobody holds are freed");
    }
  }
}

void judge_ranks(const Context& c, Request& r, const DecodeNode& node,
                 std::span<const RankDecision> decisions) {
  const auto differs = [&](RankDecision d) { return d != decisions[0]; };
  const auto other = std::find_if(decisions.begin(), decisions.end(), differs);
  if (other == decisions.end()) return;
  constexpr const char* kWords[] = {"waits", "commits", "aborts"};
  bool fresh = false;
  Finding* f = open_finding(c, Rule::rank_agreement, r, node.component, fresh);
  if (f == nullptr || !fresh) return;
  f->rank = static_cast<std::uint32_t>(other - decisions.begin());
  f->message =
      fmt::format("rank 0 {} request {} while rank {} {}", kWords[static_cast<int>(decisions[0])],
                  r.serial, f->rank, kWords[static_cast<int>(*other)]);
  f->chain = chain_of(c.world, r);
  finish_chain(*f, c, node.component, r.serial, "ranks part ways");
}

void judge_answer(const Context& c, Request& r) {
  bool fresh = false;
  if (r.outcome.status == 200 && r.first_cause_status >= 400) {
    const std::uint32_t component = c.deployment(r).router_component;
    Finding* f = open_finding(c, Rule::first_cause, r, component, fresh);
    if (f != nullptr && fresh) {
      f->message =
          fmt::format("the client of request {} was told 200 although it had failed first: {} ({})",
                      r.serial, name(r.first_cause), r.first_cause_status);
      f->chain = chain_of(c.world, r);
    }
  }
  const TimeNs bound = c.world.config->terminate_within_ns;
  if (r.outcome.end_ns - r.spec.arrival_ns <= bound) return;
  Finding* f = open_finding(c, Rule::termination, r, c.deployment(r).router_component, fresh);
  if (f == nullptr || !fresh) return;
  f->message = fmt::format("request {} was answered after {} s, the bound is {} s", r.serial,
                           (r.outcome.end_ns - r.spec.arrival_ns) / kSecond, bound / kSecond);
  f->chain = chain_of(c.world, r);
}

void judge_unlisted(const Context& c, Request& r, std::uint32_t component,
                    const std::string& what) {
  bool fresh = false;
  Finding* f = open_finding(c, Rule::transition, r, component, fresh);
  if (f == nullptr || !fresh) return;
  f->message = what;
  f->chain = chain_of(c.world, r);
}

namespace {

void judge_leaks(const Context& c, const Deployment& d, std::uint32_t component,
                 const std::string& node, const NodeMemory& memory) {
  for (std::size_t g = 0; g < memory.groups.size(); ++g) {
    const PageBook& book = memory.groups[g].book;
    for (const PageIndex page : book.held_by_requests()) {
      bool fresh = false;
      Finding* f = c.world.oracles.findings.report(Rule::balance, book.owner(page), node, fresh);
      if (f == nullptr) continue;
      if (fresh) {
        f->at = c.now();
        f->event = c.event();
        f->deployment = static_cast<std::uint32_t>(&d - c.world.deployments.data());
        f->group = d.config->model.groups[g].name;
        f->message =
            fmt::format("pages of request {} were never freed on {}", book.owner(page), node);
        const RecordId allocated = memory.groups[g].pool.allocated(page);
        if (allocated.valid()) {
          const Record& record = d.log.get(allocated);
          f->chain.push_back({record.at,
                              record.event,
                              node,
                              record.request,
                              "was given the pages",
                              {},
                              {},
                              {},
                              {}});
        }
        finish_chain(*f, c, component, book.owner(page), "the run ends and they are still held");
      }
      add_page(f->pages, page);
    }
  }
}

}  // namespace

void judge_end(const Context& c, StopReason stop) {
  // Whoever ran it wanted it to stop here: nothing can be held against what is under way.
  if (stop == StopReason::reached) return;
  for (Request& r : c.world.requests) {
    if (!r.live || r.answered) continue;
    bool fresh = false;
    Finding* f = open_finding(c, Rule::termination, r, c.deployment(r).router_component, fresh);
    if (f == nullptr || !fresh) continue;
    f->message = fmt::format(
        "request {} has no terminal state when the run ends ({}): prefill {}, decode {}", r.serial,
        name(stop), name(r.prefill.state), name(r.decode.state));
    f->chain = chain_of(c.world, r);
  }
  // A run that was cut short, or whose requests hang, holds pages for a reason.
  if (stop != StopReason::drained || c.world.outstanding > 0) return;
  for (const Deployment& d : c.world.deployments) {
    for (const PrefillNode& n : d.prefill) judge_leaks(c, d, n.component, n.name, n.memory);
    for (const DecodeNode& n : d.decode) judge_leaks(c, d, n.component, n.name, n.memory);
  }
}

}  // namespace handoff

#include "models/serving/chain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace handoff {
namespace {

std::string sentence(const JournalEntry& e) {
  switch (e.step) {
    case Step::arrived:
      return fmt::format("arrived: {}, {} to generate", counted(e.a, "prompt token"), e.b);
    case Step::rejected_by_prefill:
      return fmt::format("prefill rejected the prompt: {} tokens, limit {}", e.b, e.a);
    case Step::placeholder_on_prefill:
      return fmt::format(
          "prefill found {} tokens over its limit of {}: prompt replaced by a one-token "
          "placeholder, error 400 pending, queued all the same",
          e.b, e.a);
    case Step::rejected_by_decode:
      return fmt::format("decode rejected the prompt: {} tokens, limit {}", e.b, e.a);
    case Step::placeholder_on_decode:
      return fmt::format(
          "decode found {} tokens over its limit of {}: prompt replaced by a one-token "
          "placeholder, error 400 pending",
          e.b, e.a);
    case Step::kept_for_notice:
      return "prefill keeps the aborted request unrun, to learn its destination";
    case Step::allocated_on_decode:
      return fmt::format("decode reserved {} for the whole prompt and published them",
                         counted(e.a, "page"));
    case Step::destination_known:
      return fmt::format("prefill learnt the destination: {} announced, {} needed by its own view",
                         counted(e.a, "page"), e.b);
    case Step::prefilled:
      return fmt::format("prefill computed {} ({} more came from its prefix cache)",
                         counted(e.a, "token"), e.b);
    case Step::result_retired:
      return "prefill retired the result: an abort was pending, nothing is sent";
    case Step::last_chunk_posted:
      return fmt::format("prefill posted its last chunk: {} in all", counted(e.a, "page"));
    case Step::success_sent:
      return fmt::format("prefill reported Success (rank {})", e.a);
    case Step::failure_sent:
      return fmt::format("prefill reported Failed ({})", e.a);
    case Step::success_received:
      return fmt::format("decode received Success (rank {})", e.a);
    case Step::failure_received:
      return fmt::format("decode received Failed ({})", e.a);
    case Step::committed:
      return fmt::format("decode took \"transfer complete\" at its word and committed {}",
                         counted(e.a, "token"));
    case Step::refused:
      return fmt::format("decode refused to commit: {}", name(static_cast<Cause>(e.a)));
    case Step::merged:
      return "joined the running batch";
    case Step::retracted:
      return "retracted: pages given up, copy kept in host memory";
    case Step::resumed:
      return "resumed on new pages";
    case Step::aborted_by_client:
      return "aborted by its client";
    case Step::timed_out:
      return "timed out waiting";
    case Step::pages_released:
      return fmt::format("released {}", counted(e.a, "page"));
    case Step::write_pending:
      return fmt::format("{} of them still referenced by a posted transfer", e.a);
    case Step::answered:
      return fmt::format("the client has HTTP {}", e.a);
  }
  return "?";
}

void add_record(const World& world, Finding& f, const Record& record, std::string what) {
  f.chain.push_back({record.at, record.event, component_name(world, record.node), record.request,
                     std::move(what)});
}

// From the write that left the content back to who computed it.
void add_origins(const World& world, const ProvenanceLog& log, Finding& f, RecordId write,
                 PageIndex page) {
  for (RecordId id = write; id.valid(); id = log.get(id).origin) {
    const Record& record = log.get(id);
    switch (record.kind) {
      case RecordKind::transfer_write:
        add_record(world, f, record, fmt::format("its KV arrived in page {}", page));
        break;
      case RecordKind::restore_write:
        add_record(world, f, record,
                   fmt::format("its KV was restored from host memory into page {}", page));
        break;
      case RecordKind::prefill_write:
        add_record(world, f, record, "computed this KV in prefill");
        break;
      case RecordKind::decode_write:
        add_record(world, f, record, "computed this KV while decoding");
        break;
      case RecordKind::allocate:
      case RecordKind::free:
      case RecordKind::zero:
        break;
    }
  }
}

}  // namespace

std::string counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string component_name(const World& world, std::uint32_t component) {
  for (const Deployment& d : world.deployments) {
    if (component == d.router_component) return d.totals.name + "/router";
    const std::uint32_t first = d.router_component + 1;
    const auto prefill = static_cast<std::uint32_t>(d.prefill.size());
    const auto decode = static_cast<std::uint32_t>(d.decode.size());
    if (component < first || component >= first + prefill + decode) continue;
    return component < first + prefill ? d.prefill[component - first].name
                                       : d.decode[component - first - prefill].name;
  }
  return "client";
}

const Request* find_request(const World& world, RequestSerial serial) {
  for (const Request& r : world.requests)
    if (r.live && r.serial == serial) return &r;
  return nullptr;
}

std::vector<ChainLink> chain_of(const World& world, const Request& r) {
  std::vector<ChainLink> links;
  links.reserve(r.journal.size());
  for (const JournalEntry& e : r.journal)
    links.push_back({e.at, e.event, component_name(world, e.component), r.serial, sentence(e)});
  return links;
}

void add_page_history(const World& world, Finding& f, const ReadPlace& place, std::size_t group,
                      PageIndex page, RecordId write) {
  const Deployment& d = world.deployments[f.deployment];
  add_origins(world, d.log, f, write, page);
  const PagePool& pool = place.memory->groups[group].pool;
  if (pool.freed(page).valid())
    add_record(world, f, d.log.get(pool.freed(page)),
               fmt::format("released page {}, contents left in place", page));
  if (pool.allocated(page).valid())
    add_record(world, f, d.log.get(pool.allocated(page)), fmt::format("was given page {}", page));
}

void finish_chain(Finding& f, const Context& c, std::uint32_t component, RequestSerial request,
                  std::string what) {
  f.chain.push_back(
      {c.now(), c.event(), component_name(c.world, component), request, std::move(what)});
  std::stable_sort(f.chain.begin(), f.chain.end(), [](const ChainLink& a, const ChainLink& b) {
    return a.at != b.at ? a.at < b.at : a.event < b.event;
  });
}

}  // namespace handoff

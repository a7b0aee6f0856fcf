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
    case Step::held:
      return fmt::format("prefill holds {} to be pulled{}", counted(e.a, "page"),
                         e.b == kNever ? std::string()
                                       : fmt::format(", for {}.{:03} s", e.b / kSecond,
                                                     e.b % kSecond / kMillisecond));
    case Step::lease_ended:
      return "nobody pulled in time: prefill gives the pages up";
    case Step::pull_posted:
      return fmt::format("decode reads {} of prefill", counted(e.a, "page"));
    case Step::pull_posted_stale:
      return fmt::format("decode reads {} of prefill, whose lease had ended", counted(e.a, "page"));
    case Step::pull_refused:
      return "decode does not read: the lease has ended";
    case Step::omitted:
      return fmt::format("({} more, left out)", counted(e.a, "step"));
  }
  return "?";
}

// The policy keys that decided a step. `r` is as it stands when the finding is made.
const char* decision(const Request& r, const JournalEntry& e) {
  const bool pending = r.prefill.pending_abort != 0;
  switch (e.step) {
    case Step::arrived:
      return "router_admission";
    case Step::rejected_by_prefill:
    case Step::placeholder_on_prefill:
    case Step::rejected_by_decode:
    case Step::placeholder_on_decode:
      return "rejected_prompt";
    case Step::kept_for_notice:
    case Step::result_retired:
      return "pending_abort";
    case Step::allocated_on_decode:
      return "free_order, zero_on_allocate";
    case Step::prefilled:
    case Step::last_chunk_posted:
      return pending ? "pending_abort" : "";
    case Step::success_sent:
      return pending ? "pending_abort_on_success" : "";
    case Step::failure_sent:
      return "abort_notice";
    case Step::failure_received:
      return "failure_status";
    case Step::committed:
    case Step::refused:
      return "commit";
    case Step::held:
      return "lease";
    case Step::lease_ended:
      return "lease, lease_renewal";
    case Step::pull_posted_stale:
    case Step::pull_refused:
      return "stale_pull";
    case Step::retracted:
      return "retract_order";
    case Step::timed_out:
      return "waiting_timeout";
    case Step::pages_released:
    case Step::write_pending:
      return r.decode.aborted || r.first_cause_status != 0 ? "abort_release" : "";
    case Step::destination_known:
    case Step::success_received:
    case Step::merged:
    case Step::resumed:
    case Step::aborted_by_client:
    case Step::pull_posted:
    case Step::answered:
    case Step::omitted:
      return "";
  }
  return "";
}

const char* message_sent(Step step) {
  if (step == Step::allocated_on_decode) return "metadata";
  if (step == Step::success_sent) return "Success";
  return step == Step::failure_sent ? "Failed" : "";
}

const char* message_received(Step step) {
  if (step == Step::destination_known) return "metadata";
  if (step == Step::success_received) return "Success";
  return step == Step::failure_received ? "Failed" : "";
}

ChainLink record_link(const World& world, const Record& record, std::string what) {
  ChainLink link;
  link.at = record.at;
  link.event = record.event;
  link.node = component_name(world, record.node);
  link.request = record.request;
  link.what = std::move(what);
  return link;
}

// From the write that left the content back to who computed it.
void add_origins(const World& world, const ProvenanceLog& log, Finding& f, RecordId write,
                 PageIndex page) {
  for (RecordId id = write; id.valid(); id = log.get(id).origin) {
    const Record& record = log.get(id);
    const auto add = [&](std::string what) -> ChainLink& {
      return f.chain.emplace_back(record_link(world, record, std::move(what)));
    };
    switch (record.kind) {
      case RecordKind::transfer_write: {
        ChainLink& link = add(fmt::format("its KV arrived in page {}", page));
        link.receives = "data";
        link.object = page_name(page);
        break;
      }
      case RecordKind::restore_write:
        add(fmt::format("its KV was restored from host memory into page {}", page)).object =
            page_name(page);
        break;
      case RecordKind::prefill_write:
        add("computed this KV in prefill").sends = "data";
        break;
      case RecordKind::decode_write:
        add("computed this KV while decoding").object = page_name(page);
        break;
      case RecordKind::allocate:
      case RecordKind::free:
      case RecordKind::zero:
        break;
    }
  }
}

}  // namespace

std::string page_name(PageIndex page) { return fmt::format("page {}", page); }

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
    links.push_back({e.at,
                     e.event,
                     component_name(world, e.component),
                     r.serial,
                     sentence(e),
                     decision(r, e),
                     message_sent(e.step),
                     message_received(e.step),
                     {}});
  return links;
}

void add_page_history(const World& world, Finding& f, const ReadPlace& place, std::size_t group,
                      PageIndex page, RecordId write) {
  const Deployment& d = world.deployments[f.deployment];
  add_origins(world, d.log, f, write, page);
  const PagePool& pool = place.memory->groups[group].pool;
  const auto add = [&](RecordId id, std::string what) {
    if (!id.valid()) return;
    f.chain.push_back(record_link(world, d.log.get(id), std::move(what)));
    f.chain.back().object = page_name(page);
  };
  add(pool.freed(page), fmt::format("released page {}, contents left in place", page));
  add(pool.allocated(page), fmt::format("was given page {}", page));
}

void finish_chain(Finding& f, const Context& c, std::uint32_t component, RequestSerial request,
                  std::string what, std::string object) {
  f.chain.push_back({c.now(),
                     c.event(),
                     component_name(c.world, component),
                     request,
                     std::move(what),
                     {},
                     {},
                     {},
                     std::move(object)});
  std::stable_sort(f.chain.begin(), f.chain.end(), [](const ChainLink& a, const ChainLink& b) {
    return a.at != b.at ? a.at < b.at : a.event < b.event;
  });
}

}  // namespace handoff

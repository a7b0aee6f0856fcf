#include "models/serving/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "models/serving/chain.hpp"

namespace handoff {
namespace {

// A node of either kind.
struct Place {
  const Deployment* deployment = nullptr;
  const PrefillNode* prefill = nullptr;
  const DecodeNode* decode = nullptr;

  [[nodiscard]] const NodeMemory& memory() const {
    return prefill != nullptr ? prefill->memory : decode->memory;
  }
  [[nodiscard]] const std::string& name() const {
    return prefill != nullptr ? prefill->name : decode->name;
  }
};

std::vector<Place> places(const World& world) {
  std::vector<Place> all;
  for (const Deployment& d : world.deployments) {
    for (const PrefillNode& n : d.prefill) all.push_back({&d, &n, nullptr});
    for (const DecodeNode& n : d.decode) all.push_back({&d, nullptr, &n});
  }
  return all;
}

std::optional<Place> find_place(const World& world, const std::string& name) {
  std::vector<Place> found;
  for (const Place& place : places(world)) {
    if (place.name() == name) return place;
    const std::string& full = place.name();
    if (full.substr(full.rfind('/') + 1) == name) found.push_back(place);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string requests_text(const World& world, const std::vector<std::uint32_t>& slots) {
  constexpr std::size_t kShown = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(slots.size(), kShown); ++i)
    text += fmt::format(" {}", world.requests[slots[i]].serial);
  if (slots.size() > kShown) text += fmt::format(" and {} more", slots.size() - kShown);
  return text;
}

void add_queue(std::string& out, const World& world, const char* name,
               const std::vector<std::uint32_t>& slots) {
  if (!slots.empty())
    fmt::format_to(std::back_inserter(out), "  {:<10}{}\n", name, requests_text(world, slots));
}

void add_pools(std::string& out, const Place& place) {
  const auto& groups = place.deployment->config->model.groups;
  for (std::size_t g = 0; g < place.memory().groups.size(); ++g) {
    const PagePool& pool = place.memory().groups[g].pool;
    fmt::format_to(std::back_inserter(out), "  {:<10} {} of {} pages in use\n", groups[g].name,
                   pool.pages() - pool.free_pages(), pool.pages());
  }
}

void add_node(std::string& out, const World& world, const Place& place) {
  const bool up = place.prefill != nullptr ? place.prefill->up : place.decode->up;
  out += place.name() + (up ? "" : " (down)") + "\n";
  if (const PrefillNode* n = place.prefill) {
    add_queue(out, world, "bootstrap", n->bootstrap);
    add_queue(out, world, "waiting", n->waiting);
    if (!n->batch.empty()) {
      std::string text;
      for (const PrefillNode::Work& w : n->batch)
        text += fmt::format(" {} ({})", w.serial, counted(w.tokens, "token"));
      fmt::format_to(std::back_inserter(out), "  {:<10}{}\n", "computing", text);
    }
    add_queue(out, world, "inflight", n->inflight);
  } else {
    const DecodeNode& d = *place.decode;
    add_queue(out, world, "prealloc", d.prealloc);
    add_queue(out, world, "transfer", d.transfer);
    add_queue(out, world, "waiting", d.waiting);
    add_queue(out, world, "running", d.running);
    add_queue(out, world, "retracted", d.retracted);
  }
  add_pools(out, place);
}

void add_transfers(std::string& out, const World& world) {
  for (const TransferOperation& op : world.operations) {
    if (!op.live) continue;
    const Deployment& d = world.deployments[op.deployment];
    fmt::format_to(std::back_inserter(out), "transfer of request {}: {} -> {}, {} bytes, {}{}\n",
                   op.serial, d.prefill[op.prefill_node].name, d.decode[op.decode_node].name,
                   op.bytes,
                   op.arrived   ? "arrived, not yet visible"
                   : op.flowing ? "under way"
                                : "queued",
                   op.last ? ", the last of its request" : "");
  }
}

// "page 3..17" as ranges of equal owners.
std::string owners_text(const GroupMemory& group) {
  std::string out;
  const PagePool& pool = group.pool;
  for (PageIndex first = 0; first < pool.pages();) {
    PageIndex end = first;
    const bool held = pool.refs(first) > 0;
    const RequestSerial owner = pool.owner(first);
    while (end < pool.pages() && (pool.refs(end) > 0) == held && pool.owner(end) == owner) ++end;
    const bool fresh = !held && owner == kNoSerial;
    const std::string range =
        end == first + 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, end - 1);
    if (!fresh)
      fmt::format_to(
          std::back_inserter(out), "    pages {:<14} {} {}\n", range,
          held ? "held for" : "free, last of",
          owner == kNoSerial ? std::string("the prefix cache") : fmt::format("request {}", owner));
    first = end;
  }
  return out;
}

std::string pages_text(const std::vector<PageIndex>& pages) {
  std::string out;
  for (std::size_t i = 0; i < pages.size();) {
    std::size_t end = i + 1;
    while (end < pages.size() && pages[end] == pages[end - 1] + 1) ++end;
    out += out.empty() ? "" : " ";
    out += end == i + 1 ? fmt::format("{}", pages[i])
                        : fmt::format("{}..{}", pages[i], pages[end - 1]);
    i = end;
  }
  return out.empty() ? "none" : out;
}

void add_leg_pages(std::string& out, const Deployment& d, const PageLists& pages) {
  for (std::size_t g = 0; g < pages.size(); ++g)
    fmt::format_to(std::back_inserter(out), "    {:<10} {}\n", d.config->model.groups[g].name,
                   pages_text(pages[g]));
}

}  // namespace

std::vector<std::string> node_names(const World& world) {
  std::vector<std::string> names;
  for (const Place& place : places(world)) names.push_back(place.name());
  return names;
}

std::string overview_text(const World& world) {
  std::string out;
  for (const Place& place : places(world)) add_node(out, world, place);
  add_transfers(out, world);
  fmt::format_to(std::back_inserter(out), "{} arrived, {} ended, {} in flight\n",
                 counted(world.next_serial, "request"), world.completed, world.outstanding);
  return out;
}

std::optional<std::string> node_text(const World& world, const std::string& node) {
  const auto place = find_place(world, node);
  if (!place) return std::nullopt;
  std::string out;
  add_node(out, world, *place);
  const auto& groups = place->deployment->config->model.groups;
  for (std::size_t g = 0; g < place->memory().groups.size(); ++g)
    out += fmt::format("  {}\n{}", groups[g].name, owners_text(place->memory().groups[g]));
  return out;
}

std::optional<std::string> request_text(const World& world, RequestSerial serial) {
  const Request* r = find_request(world, serial);
  if (r == nullptr) return std::nullopt;
  const Deployment& d = world.deployments[r->spec.deployment];
  std::string out = fmt::format(
      "request {} of {}: {}, {} to generate, room {}\n", serial, world.tenants.name(r->spec.tenant),
      counted(r->spec.prompt_tokens, "prompt token"), r->spec.output_tokens, r->room);
  if (r->prefill.state != PrefillState::none) {
    const PrefillLeg& leg = r->prefill;
    out += fmt::format(
        "  prefill on {}: {}, {} in its own view, {} computed, {} posted{}\n",
        d.prefill[leg.node].name, name(leg.state), counted(leg.tokens, "token"), leg.computed,
        leg.posted,
        leg.pending_abort != 0 ? fmt::format(", error {} pending", leg.pending_abort) : "");
    add_leg_pages(out, d, leg.pages);
  }
  if (r->decode.state != DecodeState::none) {
    const DecodeLeg& leg = r->decode;
    out += fmt::format("  decode on {}: {}, {} of {} tokens generated\n", d.decode[leg.node].name,
                       name(leg.state), leg.generated, leg.output);
    add_leg_pages(out, d, leg.pages);
  }
  for (const ChainLink& link : chain_of(world, *r))
    fmt::format_to(std::back_inserter(out), "  {:>14} ns  event {:<9} {}: {}\n", link.at,
                   link.event, link.node, link.what);
  return out;
}

std::optional<std::string> page_text(const World& world, const std::string& node,
                                     const std::string& group, PageIndex page) {
  const auto place = find_place(world, node);
  if (!place) return std::nullopt;
  const Deployment& d = *place->deployment;
  for (std::size_t g = 0; g < place->memory().groups.size(); ++g) {
    const GroupMemory& memory = place->memory().groups[g];
    if (d.config->model.groups[g].name != group || page >= memory.pool.pages()) continue;
    const RequestSerial owner = memory.pool.owner(page);
    std::string out = fmt::format(
        "page {} of {} on {}: {}{}\n", page, group, place->name(),
        memory.pool.refs(page) > 0 ? "held" : "free",
        owner == kNoSerial ? std::string() : fmt::format(", last owner request {}", owner));
    for (std::size_t rank = 0; rank < memory.planes.size(); ++rank) {
      const auto runs = memory.planes[rank].runs(page);
      if (runs.empty()) out += fmt::format("  rank {}: nothing was ever written\n", rank);
      for (const ContentRun& run : runs) {
        const Record& write = d.log.get(run.write);
        out += fmt::format(
            "  rank {}: slots {}..{} hold positions {}..{} of request {} ({}, event {}){}\n", rank,
            run.begin, run.end - 1, run.position, run.position + run.tokens() - 1, write.request,
            name(write.kind), write.event, run.tainted ? ", tainted" : "");
      }
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace handoff

#include "models/serving/page_trace.hpp"

#include <algorithm>

#include "models/serving/chain.hpp"
#include "models/serving/world.hpp"

namespace handoff {
namespace {

PageEvent event_of(const Context& c, PageOp op, const Deployment& d, std::uint32_t component,
                   RequestSerial request) {
  PageEvent e;
  e.op = op;
  e.at = c.now();
  e.event = c.event();
  e.deployment = d.totals.name;
  e.node = component_name(c.world, component);
  e.request = request;
  return e;
}

}  // namespace

void trace_pools(World& world, std::uint32_t deployment, TimeNs at, std::uint64_t event) {
  if (!world.pages.on()) return;
  const Deployment& d = world.deployments[deployment];
  const auto add = [&](const std::string& node, const NodeMemory& memory) {
    for (std::size_t g = 0; g < memory.groups.size(); ++g) {
      PageEvent e;
      e.op = PageOp::pool;
      e.at = at;
      e.event = event;
      e.deployment = d.totals.name;
      e.node = node;
      e.group = d.config->model.groups[g].name;
      e.tokens = memory.groups[g].pool.page_tokens();
      e.count = memory.groups[g].pool.pages();
      e.ranks = d.config->ranks;
      world.pages.add(std::move(e));
    }
  };
  for (const PrefillNode& n : d.prefill) add(n.name, n.memory);
  for (const DecodeNode& n : d.decode) add(n.name, n.memory);
}

void trace_prompt(const Context& c, const Request& r) {
  if (!c.world.pages.on()) return;
  const Deployment& d = c.deployment(r);
  PageEvent e = event_of(c, PageOp::prompt, d, d.router_component, r.serial);
  e.node.clear();
  e.tokens = r.spec.prompt_tokens;
  e.tenant = c.world.tenants.name(r.spec.tenant);
  e.blocks = r.spec.blocks;
  e.block_tokens = r.spec.block_tokens;
  c.world.pages.add(std::move(e));
}

void trace_group(const Context& c, PageOp op, const Deployment& d, std::uint32_t component,
                 RequestSerial request, std::size_t group, std::span<const PageIndex> pages,
                 bool zeroed) {
  if (!c.world.pages.on() || pages.empty()) return;
  PageEvent e = event_of(c, op, d, component, request);
  e.group = d.config->model.groups[group].name;
  e.zeroed = zeroed;
  append_pages(e.pages, pages);
  c.world.pages.add(std::move(e));
}

void trace_positions(const Context& c, PageOp op, const Deployment& d, std::uint32_t component,
                     RequestSerial request, std::size_t group, std::span<const PageIndex> pages,
                     std::int64_t from, std::int64_t to) {
  if (!c.world.pages.on() || from >= to) return;
  const std::int64_t page = d.engine.page_tokens;
  PageEvent e = event_of(c, op, d, component, request);
  e.group = d.config->model.groups[group].name;
  e.position = from;
  e.tokens = to - from;
  const auto first = static_cast<std::size_t>(from / page);
  const auto end = static_cast<std::size_t>(div_ceil(to, page));
  append_pages(e.pages, pages.subspan(first, end - first));
  c.world.pages.add(std::move(e));
}

void trace_send(const Context& c, const TransferOperation& op) {
  if (!c.world.pages.on()) return;
  const Deployment& d = c.world.deployments[op.deployment];
  for (const TransferOperation::Part& part : op.parts) {
    const bool nothing = part.end <= part.position || part.source.empty();
    // The metadata alone travels; its end is told of, so its beginning must be.
    if (nothing && &part != &op.parts.front()) continue;
    PageEvent e = event_of(c, PageOp::send, d, d.prefill[op.prefill_node].component, op.serial);
    e.group = d.config->model.groups[part.group].name;
    append_pages(e.pages, part.source);
    e.to_node = d.decode[op.decode_node].name;
    append_pages(e.to_pages, part.destination);
    e.position = part.position;
    e.tokens = std::max<std::int64_t>(part.end - part.position, 0);
    e.id = op.number;
    c.world.pages.add(std::move(e));
  }
}

void trace_loss(const Context& c, const TransferOperation& op, std::size_t group,
                std::uint32_t rank, std::uint32_t pages) {
  if (!c.world.pages.on()) return;
  const Deployment& d = c.world.deployments[op.deployment];
  PageEvent e = event_of(c, PageOp::lose, d, d.decode[op.decode_node].component, op.serial);
  e.group = d.config->model.groups[group].name;
  e.id = op.number;
  e.rank = rank;
  e.count = pages;
  c.world.pages.add(std::move(e));
}

void trace_transfer_end(const Context& c, PageOp op, const TransferOperation& of) {
  if (!c.world.pages.on()) return;
  const Deployment& d = c.world.deployments[of.deployment];
  PageEvent e = event_of(c, op, d, d.decode[of.decode_node].component, of.serial);
  e.id = of.number;
  c.world.pages.add(std::move(e));
}

void trace_commit(const Context& c, const Request& r, std::uint32_t component) {
  if (!c.world.pages.on()) return;
  PageEvent e = event_of(c, PageOp::commit, c.deployment(r), component, r.serial);
  e.tokens = r.spec.prompt_tokens;
  c.world.pages.add(std::move(e));
}

void trace_reset(const Context& c, const Deployment& d, std::uint32_t component) {
  if (!c.world.pages.on() || d.config->model.groups.empty()) return;
  c.world.pages.add(event_of(c, PageOp::reset, d, component, kNoSerial));
}

void trace_answer(const Context& c, const Request& r, std::int32_t status) {
  if (!c.world.pages.on()) return;
  const Deployment& d = c.deployment(r);
  const auto add = [&](PageOp op, std::int32_t code) {
    PageEvent e = event_of(c, op, d, d.router_component, r.serial);
    e.node.clear();
    e.status = code;
    c.world.pages.add(std::move(e));
  };
  if (r.first_cause_status != 0) add(PageOp::error, r.first_cause_status);
  add(PageOp::end, status);
}

}  // namespace handoff

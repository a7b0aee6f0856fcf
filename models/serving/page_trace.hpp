// The page events of a run, collected when somebody listens. Off, it costs a test of a flag.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "models/oracle/page_event.hpp"
#include "models/serving/request.hpp"

namespace handoff {

struct Context;
struct Deployment;
struct TransferOperation;
struct World;

class PageTrace {
 public:
  [[nodiscard]] bool on() const { return on_; }
  void listen() { on_ = true; }
  void add(PageEvent event) { events_.push_back(std::move(event)); }
  std::vector<PageEvent> take() { return std::exchange(events_, {}); }

 private:
  bool on_ = false;
  std::vector<PageEvent> events_;
};

// Each does nothing when nobody listens.
void trace_pools(World& world, std::uint32_t deployment, TimeNs at, std::uint64_t event);
void trace_prompt(const Context& c, const Request& r);
// Pages of one group.
void trace_group(const Context& c, PageOp op, const Deployment& d, std::uint32_t component,
                 RequestSerial request, std::size_t group, std::span<const PageIndex> pages,
                 bool zeroed = false);
// Positions [from, to) of pages that start at position 0.
void trace_positions(const Context& c, PageOp op, const Deployment& d, std::uint32_t component,
                     RequestSerial request, std::size_t group, std::span<const PageIndex> pages,
                     std::int64_t from, std::int64_t to);
void trace_send(const Context& c, const TransferOperation& op);
// The last `pages` pages of a group do not get there on a rank.
void trace_loss(const Context& c, const TransferOperation& op, std::size_t group,
                std::uint32_t rank, std::uint32_t pages);
void trace_transfer_end(const Context& c, PageOp op, const TransferOperation& of);
void trace_commit(const Context& c, const Request& r, std::uint32_t component);
void trace_reset(const Context& c, const Deployment& d, std::uint32_t component);
void trace_answer(const Context& c, const Request& r, std::int32_t status);

}  // namespace handoff

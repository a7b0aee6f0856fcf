// What happens to pages of KV memory, as events: what a run of the simulator, or a real engine,
// logs about allocation, writing, sending, committing and reading. The auditor judges a stream of
// them.
//
// Names, not indexes: a log says which node and group it speaks of. Pages stand in the order of the
// positions they hold.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/provenance.hpp"
#include "models/oracle/finding.hpp"
#include "sim/engine/time.hpp"

namespace handoff {

enum class PageOp : std::uint8_t {
  pool,      // a pool of pages exists from now on, empty
  prompt,    // a request arrives; its content is named
  allocate,  // pages are given to a request
  free,      // a request, or the prefix cache (no request), gives up pages
  adopt,     // pages of a request pass to the prefix cache
  write,     // KV of positions of a request is computed into its pages
  read,      // a request reads positions from pages
  save,      // pages of a request are copied to host memory
  restore,   // and back, into the pages given
  send,      // a transfer between two nodes is posted: it refers to its pages from now on
  lose,      // the last pages of one of its groups do not get there, on one rank
  land,      // the rest of its data is in the destination pages
  drop,      // it ends without
  commit,    // decode takes the prompt's KV for complete
  reset,     // a node's process died: nothing is held, nothing is known of what pages hold
  error,     // the first error of a request
  end,       // the client has its answer
};
inline constexpr std::array kPageOps{"pool", "prompt", "alloc",   "free",  "adopt", "write",
                                     "read", "save",   "restore", "send",  "lose",  "land",
                                     "drop", "commit", "reset",   "error", "end"};
inline const char* name(PageOp op) { return kPageOps[static_cast<std::size_t>(op)]; }

struct PageEvent {
  PageOp op = PageOp::pool;
  TimeNs at = 0;
  std::uint64_t event = 0;  // number in the run; 0: not known
  std::string deployment;   // contents of different deployments are never equal
  std::string node;         // send: the source's
  std::string group;        // of memory; commit, reset: none
  RequestSerial request = kNoSerial;
  std::vector<PageSpan> pages;     // send: at the source
  std::string to_node;             // send
  std::vector<PageSpan> to_pages;  // send
  std::int64_t position = 0;       // write, read, send: first one; the first page holds it
  std::int64_t tokens = 0;         // how many; pool: of a page; prompt, commit: of the prompt
  std::uint64_t id = 0;            // send, land, drop: of the transfer
  std::uint32_t count = 0;         // pool, lose: pages
  std::uint32_t ranks = 1;         // pool: how many hold a copy or a shard of it
  std::uint32_t rank = 0;          // lose
  std::int32_t status = 0;         // error, end: HTTP
  bool zeroed = false;             // alloc: pages are cleared
  std::string tenant;              // prompt
  // prompt: labels of its first blocks, as in a trace; what they do not cover is unique to it.
  std::vector<std::uint64_t> blocks;
  std::int64_t block_tokens = 0;
};

// Adds pages to ranges, merging neighbours in order.
template <class Pages>
void append_pages(std::vector<PageSpan>& spans, const Pages& pages) {
  for (const std::uint32_t page : pages) {
    if (!spans.empty() && spans.back().first + spans.back().count == page)
      ++spans.back().count;
    else
      spans.push_back({page, 1});
  }
}

}  // namespace handoff

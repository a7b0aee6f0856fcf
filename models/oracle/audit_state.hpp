// State of the auditor, for its own files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/memory/content.hpp"
#include "models/memory/shadow.hpp"
#include "models/oracle/audit.hpp"

namespace handoff {

struct Audit::Pool {
  std::int64_t page_tokens = 1;
  PageBook book;
  std::vector<ShadowPlane> planes;  // [rank]
  std::uint32_t group = 0;          // index within the deployment

  [[nodiscard]] std::uint32_t pages() const { return planes.empty() ? 0 : planes[0].pages(); }
};

struct Audit::Deployment {
  std::uint32_t index = 0;
  ContentTrie trie;
  ProvenanceLog log;
  std::map<std::string, std::map<std::string, Pool>> nodes;  // node -> group -> pool
  std::vector<std::string> groups;
};

struct Audit::AuditedRequest {
  Deployment* deployment = nullptr;
  RequestSerial serial = kNoSerial;
  std::uint32_t tenant = 0;
  std::int64_t prompt = 0;
  TimeNs arrival = 0;
  ContentNode tip;
  ContentPath path;
  std::int64_t held = 0;       // pages
  std::int64_t transfers = 0;  // under way
  std::int32_t error = 0;
  bool ended = false;
  bool done = false;  // stands in done_
  bool tainted = false;
  // Host copies: group -> [rank][page] -> runs.
  std::map<std::string, std::vector<std::vector<std::vector<ContentRun>>>> saved;
};

struct Audit::Transfer {
  Deployment* deployment = nullptr;
  RequestSerial serial = kNoSerial;
  struct Part {
    std::string from, to, group;
    std::vector<PageIndex> source, destination;
    std::int64_t position = 0, tokens = 0;
    std::map<std::uint32_t, std::uint32_t> lost;  // rank -> last pages
  };
  std::vector<Part> parts;
};

}  // namespace handoff

// Oracle I1, provenance: a read of position p by request R is right iff the slot holds R's own
// prefix content at p. Sharing a prefix is right by construction; nothing else is.
//
// It looks at content identity only and never asks the serving code what it believes to have sent.
// Does not cover: which bytes a kernel really loads (the data plane's second witness does), reads
// that a request never makes (a response without a decode step reads nothing), and the order of two
// writes that land in the same event.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/memory/content.hpp"
#include "models/memory/provenance.hpp"
#include "models/memory/shadow.hpp"
#include "models/oracle/finding.hpp"

namespace handoff {

struct ReadVerdict {
  std::int64_t read = 0;
  std::int64_t foreign = 0;
  std::int64_t unwritten = 0;
  std::int64_t misplaced = 0;
  std::int64_t tainted = 0;  // right content, but computed from wrong content
  struct Source {
    std::uint32_t tenant = 0;
    std::int64_t tokens = 0;
    PageIndex page = kNoPage;  // first page found with it
    RecordId write;            // of the content there
  };
  std::map<RequestSerial, Source> sources;  // of foreign content, by author
  std::vector<PageSpan> pages;              // that held anything wrong, in order of position
  PageIndex wrong_page = kNoPage;           // first page that held anything wrong
  RecordId wrong_write;                     // of the content found there; invalid when unwritten

  [[nodiscard]] std::int64_t wrong() const { return foreign + unwritten + misplaced; }
};

struct ReadRequest {
  const ContentPath* path = nullptr;  // what the reader's positions must hold
  RequestSerial reader = kNoSerial;
  std::span<const PageIndex> pages;  // from position 0
  std::int64_t from = 0;             // positions [from, to)
  std::int64_t to = 0;
};

// Adds to `verdict`.
void check_read(const ContentTrie& trie, const ProvenanceLog& log, const ShadowPlane& plane,
                const ReadRequest& request, ReadVerdict& verdict);

// The record at the end of the origin chain: who computed the content in the first place.
const Record& author(const ProvenanceLog& log, RecordId write);

// Digest of what pages hold for positions [0, tokens), whatever runs it is stored as. Two sides
// agree iff they hold the same content at the same positions. This models a checksum over KV bytes.
std::uint64_t content_digest(const ContentTrie& trie, const ShadowPlane& plane,
                             std::span<const PageIndex> pages, std::int64_t tokens);

}  // namespace handoff

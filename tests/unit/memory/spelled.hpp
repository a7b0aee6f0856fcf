// Token sequences spelled out, next to the trie's short names for them: a list of segments,
// compared element by element. Slow and plain on purpose: the models in these tests are judged by
// reading them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/memory/content.hpp"
#include "sim/engine/rng.hpp"

namespace handoff::test {

struct Segment {
  std::uint64_t label = 0;
  std::int64_t tokens = 0;
  std::uint64_t unique = 0;  // 0: named by its label; else a number that no other segment has
  friend auto operator<=>(const Segment&, const Segment&) = default;
};
using Spelling = std::vector<Segment>;

inline std::int64_t length(const Spelling& s) {
  std::int64_t tokens = 0;
  for (const Segment& segment : s) tokens += segment.tokens;
  return tokens;
}

// The content of a position: everything up to and including the segment that covers it.
inline Spelling content_at(const Spelling& s, std::int64_t position) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    end += s[i].tokens;
    if (position < end) return {s.begin(), s.begin() + static_cast<std::ptrdiff_t>(i) + 1};
  }
  return {};
}

inline std::int64_t common_tokens(const Spelling& a, const Spelling& b) {
  const std::int64_t most = std::min(length(a), length(b));
  std::int64_t p = 0;
  while (p < most && content_at(a, p) == content_at(b, p)) ++p;
  return p;
}

// A sequence in both forms; holds one reference on its tip.
struct Sequence {
  Spelling spelling;
  ContentNode tip = ContentTrie::kRoot;
};

// Makes sequences that often share prefixes: a new one continues a part of an older one.
class Speller {
 public:
  Speller(std::uint64_t labels, std::int64_t tokens_max)
      : labels_(labels), tokens_max_(tokens_max) {}

  Sequence next(Rng& rng, ContentTrie& trie, const std::vector<Sequence>& older) {
    Spelling s;
    if (!older.empty() && rng.chance(2, 3)) {
      s = older[rng.below(older.size())].spelling;
      s.resize(rng.below(s.size() + 1));
    }
    const auto more = rng.between(1, 4);
    for (std::int64_t i = 0; i < more; ++i) {
      Segment segment;
      segment.label = rng.below(labels_);
      segment.tokens = rng.chance(1, 6) ? 0 : rng.between(1, tokens_max_);
      if (rng.chance(1, 8)) segment = {0, segment.tokens, ++unique_};
      s.push_back(segment);
    }
    return build(trie, std::move(s));
  }

 private:
  // Unique segments are remembered, so that a sequence that continues them gets the same node.
  Sequence build(ContentTrie& trie, Spelling s) {
    ContentNode node = ContentTrie::kRoot;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const Segment& segment = s[i];
      if (segment.unique == 0) {
        node = trie.extend(node, segment.label, segment.tokens);
        continue;
      }
      const auto known = std::find_if(uniques_.begin(), uniques_.end(), [&](const auto& entry) {
        return entry.first == segment.unique;
      });
      if (known != uniques_.end()) {
        node = known->second;
        continue;
      }
      node = trie.extend_unique(node, segment.tokens);
      trie.acquire(node);
      uniques_.emplace_back(segment.unique, node);
    }
    trie.acquire(node);
    return {std::move(s), node};
  }

 public:
  // Drops the references on unique nodes. No more sequences after this.
  void forget(ContentTrie& trie) {
    for (const auto& entry : uniques_) trie.release(entry.second);
    uniques_.clear();
  }

 private:
  std::uint64_t labels_;
  std::int64_t tokens_max_;
  std::uint64_t unique_ = 0;
  std::vector<std::pair<std::uint64_t, ContentNode>> uniques_;
};

}  // namespace handoff::test

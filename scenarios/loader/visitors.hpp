// Three visitors of the field tables. A table is a function
//   template <class V> void describe(V& v, T& value)
// that names each key of T's mapping once: key, member, kind, doc. Reader fills `value` from a
// mapping, Writer makes the mapping of a value, SchemaObject makes its JSON schema (of a
// default-made value, whose members are the defaults). So what is read, written and published
// cannot differ.
//
// What a table may call:
//   required, optional      a key with a member
//   section                 an optional key whose member exists only when it is there
//   alternative             exactly one of the table's alternatives is there
//   sibling                 a key that has meaning only beside another
//   deployment              the name of a deployment, by index
//   has                     whether the key stands there (Writer: no; SchemaObject: yes)
// A member is an lvalue or a view (a small struct of references, with the type `Owner` it is made
// from).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/loader/diagnostics.hpp"
#include "scenarios/loader/node.hpp"

namespace handoff::loader {

// What the meaning of a value may depend on.
struct Surroundings {
  std::string folder;  // of the scenario file; trace paths are relative to it
  std::optional<std::int64_t> start_unix_ns;  // calendar times count from here
  std::vector<std::string> deployments;       // names, by index
  std::string catalog_dir;
  // Writers leave out what is as it would be without it: defaults, and values of the catalog.
  bool lean = false;
};

inline constexpr std::uint32_t kScenarioSource = 0;
inline constexpr std::uint32_t kSetSource = 1;

struct ReadContext : Surroundings {
  ReadContext(Diagnostics& out, std::string catalog) : diagnostics(out) {
    catalog_dir = std::move(catalog);
  }

  Diagnostics& diagnostics;
  bool start_broken = false;        // `start` is there but wrong, which is told once
  bool deployments_broken = false;  // likewise
  std::vector<std::string> path;    // keys and "[index]"es that lead here

  void error(const Node& node, std::string message) {
    diagnostics.error(node.mark, std::move(message));
  }
  [[nodiscard]] std::string dotted(const std::string& key) const;
};

// Where a value stands in the scenario file, for the models; unknown for other sources.
SourceMark source_mark(Mark mark);

class Reader {
 public:
  static constexpr bool kReading = true;

  // `partial`: the value has all it needs already, so nothing is missing.
  Reader(ReadContext& context, const Node& node, bool partial = false)
      : context_(context), node_(node), partial_(partial) {}

  template <class M, class K>
  void required(const char* key, M&& member, const K& kind, const char*) {
    if (const Entry* e = take(key))
      read(*e, member, kind);
    else if (!partial_)
      missing_.emplace_back(key);
  }
  template <class M, class K>
  void optional(const char* key, M&& member, const K& kind, const char*) {
    if (const Entry* e = take(key)) read(*e, member, kind);
  }
  template <class A, class K>
  void section(const char* key, bool, A&& access, const K& kind, const char*) {
    if (const Entry* e = take(key)) read(*e, access(), kind);
  }
  template <class A, class K>
  void alternative(const char* key, bool, A&& access, const K& kind, const char*) {
    alternatives_.emplace_back(key);
    if (const Entry* e = take(key)) {
      chosen_.push_back(e);
      read(*e, access(), kind);
    }
  }
  template <class A, class K>
  void sibling(const char* owner, bool holds, const char* key, A&& access, const K& kind,
               const char*, bool needed = false) {
    const Entry* e = take(key);
    if (e != nullptr && holds)
      read(*e, access(), kind);
    else if (e != nullptr)
      stray(*e, owner);
    else if (holds && needed)
      missing_.emplace_back(key);
  }
  void deployment(const char* key, std::uint32_t& index, const char* doc);

  [[nodiscard]] bool has(const char* key) const { return node_.find(key) != nullptr; }
  [[nodiscard]] ReadContext& context() { return context_; }
  [[nodiscard]] const Node& node() const { return node_; }
  // A key read by other means.
  void know(const char* key) { take(key); }
  // Reports unknown keys, missing keys, and no or several alternatives.
  void finish();

 private:
  const Entry* take(const char* key);
  template <class M, class K>
  void read(const Entry& e, M&& member, const K& kind) {
    context_.path.push_back(e.key);
    kind.read(context_, *e.value, member);
    context_.path.pop_back();
  }
  void stray(const Entry& e, const char* owner);
  void finish_alternatives(const std::vector<std::string>& misspelt);

  ReadContext& context_;
  const Node& node_;
  bool partial_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;
  std::vector<std::string> alternatives_;
  std::vector<const Entry*> chosen_;
};

class Writer {
 public:
  static constexpr bool kReading = false;
  explicit Writer(const Surroundings& around) : around_(around) {}

  template <class M, class K>
  void required(const char* key, M&& member, const K& kind, const char*) {
    entries_.push_back(entry(key, kind.write(around_, member)));
  }
  template <class M, class K>
  void optional(const char* key, M&& member, const K& kind, const char* doc) {
    optional_.push_back(entries_.size());
    required(key, member, kind, doc);
  }
  template <class A, class K>
  void section(const char* key, bool there, A&& access, const K& kind, const char* doc) {
    if (there) required(key, access(), kind, doc);
  }
  template <class A, class K>
  void alternative(const char* key, bool chosen, A&& access, const K& kind, const char* doc) {
    if (chosen) required(key, access(), kind, doc);
  }
  template <class A, class K>
  void sibling(const char*, bool holds, const char* key, A&& access, const K& kind, const char* doc,
               bool = false) {
    if (holds) required(key, access(), kind, doc);
  }
  void deployment(const char* key, std::uint32_t& index, const char*) {
    entries_.push_back(entry(key, quoted(around_.deployments[index])));
  }
  [[nodiscard]] bool has(const char*) const { return false; }
  void add(std::string key, NodePtr value) {
    entries_.push_back(entry(std::move(key), std::move(value)));
  }
  // Drops optional entries that are as in `fresh`, what the same table writes of a new value.
  void drop_defaults(const Node& fresh);
  [[nodiscard]] NodePtr take() { return mapping(std::move(entries_)); }

 private:
  const Surroundings& around_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> optional_;  // indexes of entries_
};

// Schemas that are named, because they are long, used often or contain themselves.
class Definitions {
 public:
  // "$ref" to the definition; `make` runs once a name, and may refer to the name itself.
  template <class F>
  NodePtr reference(const char* name, F&& make) {
    bool known = false;
    for (const Entry& e : entries_) known = known || e.key == name;
    if (!known) {
      const std::size_t at = entries_.size();
      entries_.push_back(entry(name, nullptr));
      NodePtr made = make();
      entries_[at].value = std::move(made);
    }
    return mapping({entry("$ref", quoted(std::string("#/definitions/") + name))});
  }
  [[nodiscard]] NodePtr take() { return mapping(std::move(entries_)); }

 private:
  std::vector<Entry> entries_;
};

class SchemaObject {
 public:
  static constexpr bool kReading = false;
  explicit SchemaObject(Definitions& definitions) : definitions_(definitions) {}

  template <class M, class K>
  void required(const char* key, M&&, const K& kind, const char* doc) {
    add(key, kind.template schema<std::remove_cvref_t<M>>(definitions_), doc);
    required_.push_back(quoted(key));
  }
  template <class M, class K>
  void optional(const char* key, M&& member, const K& kind, const char* doc) {
    add(key, kind.template schema<std::remove_cvref_t<M>>(definitions_), doc,
        kind.write(Surroundings{}, member));
  }
  template <class A, class K>
  void section(const char* key, bool, A&& access, const K& kind, const char* doc) {
    add(key, kind.template schema<std::remove_cvref_t<decltype(access())>>(definitions_), doc);
  }
  template <class A, class K>
  void alternative(const char* key, bool, A&& access, const K& kind, const char* doc) {
    const NodePtr schema =
        kind.template schema<std::remove_cvref_t<decltype(access())>>(definitions_);
    add(key, schema, doc);
    alternatives_.push_back(
        mapping({entry("required", sequence({quoted(key)})),
                 entry("properties", mapping({entry(key, type_of(*schema))}))}));
  }
  template <class A, class K>
  void sibling(const char* owner, bool, const char* key, A&& access, const K& kind, const char* doc,
               bool needed = false) {
    section(key, true, access, kind, doc);
    depends(key, owner);
    if (needed) depends(owner, key);
  }
  void deployment(const char* key, std::uint32_t&, const char* doc);
  [[nodiscard]] bool has(const char*) const { return true; }
  // One of these sets of keys must be there (on top of what is required).
  void any_of(std::vector<std::vector<std::string>> sets) { any_of_ = std::move(sets); }
  void forget_required() { required_.clear(); }
  [[nodiscard]] const std::vector<NodePtr>& required_keys() const { return required_; }
  [[nodiscard]] NodePtr take();

 private:
  void add(const char* key, const NodePtr& schema, const char* doc,
           const NodePtr& preset = nullptr);
  void depends(const char* key, const char* on);
  // The "type" of a schema alone, as far as it has one.
  static NodePtr type_of(const Node& schema);

  Definitions& definitions_;
  std::vector<Entry> properties_;
  std::vector<NodePtr> required_;
  std::vector<NodePtr> alternatives_;
  std::vector<std::pair<std::string, std::vector<NodePtr>>> depends_;
  std::vector<std::vector<std::string>> any_of_;
};

}  // namespace handoff::loader

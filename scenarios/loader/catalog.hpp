// Values that a scenario takes from the catalog by name, spells out, or both: {preset: NAME, key:
// value}.
#pragma once

#include "scenarios/loader/tables_catalog.hpp"

namespace handoff::loader {

// Where entries of T lie below the catalog's folder, and what messages call them.
template <class T>
struct CatalogPlace;
template <>
struct CatalogPlace<ModelSpec> {
  static constexpr const char* kFolder = "llm";
  static constexpr const char* kKind = "model";
};
template <>
struct CatalogPlace<HardwareSpec> {
  static constexpr const char* kFolder = "hardware";
  static constexpr const char* kKind = "hardware";
};
template <>
struct CatalogPlace<EnginePolicy> {
  static constexpr const char* kFolder = "engines";
  static constexpr const char* kKind = "engine";
};

// A whole catalog file.
template <class T>
struct CatalogFile {
  std::int64_t version = 1;
  std::string name;
  std::string description;
  std::vector<std::string> sources;
  std::string notes;
  T spec;
};

// Reads entry `name`; errors of the file go to the context's diagnostics, an unknown name is an
// error at `mark`. nullopt after any error.
template <class T>
std::optional<CatalogFile<T>> read_catalog(ReadContext& context, const std::string& name,
                                           Mark mark);

// An engine policy and the name that reports give it: that of its preset, with the keys that differ
// from it.
struct EngineView {
  EnginePolicy& policy;
  std::string& name;
};

struct FromCatalog {
  template <class T>
  void read(ReadContext& context, const Node& node, T& out) const;
  void read(ReadContext& context, const Node& node, EngineView& out) const;
  template <class T>
  NodePtr write(const Surroundings& around, T& value) const {
    if (around.lean)
      if (NodePtr name = name_alone(around, value)) return name;
    return Object{}.write(around, value);
  }
  NodePtr write(const Surroundings& around, EngineView& value) const;
  template <class T>
  NodePtr schema(Definitions& definitions) const;

 private:
  // The name, when the catalog has just this value under it; else nullptr.
  template <class T>
  static NodePtr name_alone(const Surroundings& around, T& value);
};

}  // namespace handoff::loader

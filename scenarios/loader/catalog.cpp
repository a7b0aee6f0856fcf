#include "scenarios/loader/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "scenarios/loader/load.hpp"

namespace handoff::loader {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCustom = "custom";
constexpr std::string_view kChanged = " (changed: ";

template <class V, class T>
void describe(V& v, CatalogFile<T>& f) {
  v.required("handoff_catalog", f.version, Integer{1, 1}, "version of this format");
  if constexpr (std::is_same_v<T, EnginePolicy>)
    v.required("name", f.name, Text{}, "of the preset");
  v.optional("description", f.description, Text{}, "what it is, in a sentence");
  v.optional("sources", f.sources, List<Text>{}, "where the numbers come from");
  v.optional("notes", f.notes, Text{}, "what to know");
  describe(v, f.spec);
}

std::string name_of(const CatalogFile<EnginePolicy>& file) { return file.name; }
template <class T>
std::string name_of(const CatalogFile<T>& file) {
  return file.spec.name;
}

void check_spec(ReadContext& context, const Node& node, const ModelSpec& m) {
  if (m.role == ModelRole::generate && m.groups.empty())
    context.error(node, "a model that generates keeps per-token memory: 'groups' is empty");
  for (std::size_t i = 0; i < m.groups.size(); ++i) {
    const GroupSpec& g = m.groups[i];
    if ((g.kind == GroupKind::window) != (g.window_tokens > 0))
      context.error(node, fmt::format("group '{}': 'window_tokens' goes with kind window", g.name));
    for (std::size_t j = 0; j < i; ++j)
      if (m.groups[j].name == g.name)
        context.error(node, fmt::format("two groups named '{}'", g.name));
  }
  if (m.parameters_active > m.parameters_total)
    context.error(node, "more active parameters than there are in all");
  if (m.experts_active > m.experts)
    context.error(node, "more active experts than there are in all");
}
void check_spec(ReadContext&, const Node&, const HardwareSpec&) {}
void check_spec(ReadContext&, const Node&, const EnginePolicy&) {}

// Names of the entries of one folder, sorted.
std::vector<std::string> entry_names(const std::string& catalog_dir, const char* folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(catalog_dir) / folder, error))
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// "8xh200" is eight of the device "h200" in a node. Other entries have no counts.
struct EntryName {
  std::string entry;
  std::int64_t count = 0;  // 0: none given
};
template <class T>
EntryName split_name(const std::string& name, const std::vector<std::string>& names) {
  const std::size_t x = name.find('x');
  const bool whole = std::binary_search(names.begin(), names.end(), name);
  if (!std::is_same_v<T, HardwareSpec> || whole || x == std::string::npos) return {name, 0};
  const Parsed<std::int64_t> count = parse_integer(std::string_view(name).substr(0, x));
  if (!count.value || *count.value < 1 || *count.value > 1'024) return {name, 0};
  return {name.substr(x + 1), *count.value};
}
void multiply(HardwareSpec& node, const std::string& name, std::int64_t count) {
  node.devices *= count;
  node.name = name;
}
template <class T>
void multiply(T&, const std::string&, std::int64_t) {}

// Top-level keys whose written values differ.
std::vector<std::string> changed_keys(const Node& a, const Node& b) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    HANDOFF_CHECK(i < b.entries.size() && a.entries[i].key == b.entries[i].key,
                  "one table, two orders");
    const auto text = [](const Entry& e) { return yaml_text(*mapping({e})); };
    if (text(a.entries[i]) != text(b.entries[i])) keys.push_back(a.entries[i].key);
  }
  return keys;
}

// {preset: NAME, ...}: fills `out` from the preset. False after an error.
template <class T>
bool read_preset(ReadContext& context, const Node& node, std::string& name, T& out) {
  const Entry* e = node.find("preset");
  if (e == nullptr) return true;
  const std::size_t errors = context.diagnostics.count();
  Text{}.read(context, *e->value, name);
  if (context.diagnostics.count() > errors) return false;
  auto file = read_catalog<T>(context, name, e->value->mark);
  if (file) out = std::move(file->spec);
  return file.has_value();
}

}  // namespace

template <class T>
std::optional<CatalogFile<T>> read_catalog(ReadContext& context, const std::string& name,
                                           Mark mark) {
  using Place = CatalogPlace<T>;
  const std::vector<std::string> names = entry_names(context.catalog_dir, Place::kFolder);
  const EntryName wanted = split_name<T>(name, names);
  if (!std::binary_search(names.begin(), names.end(), wanted.entry)) {
    const std::string folder = (fs::path(context.catalog_dir) / Place::kFolder).string();
    context.diagnostics.error(
        mark, names.empty() ? fmt::format("no {} '{}': '{}' holds none", Place::kKind, name, folder)
                            : fmt::format("no {} '{}' in the catalog{}", Place::kKind, name,
                                          hint(wanted.entry, names)));
    return std::nullopt;
  }
  const std::string path =
      (fs::path(context.catalog_dir) / Place::kFolder / (wanted.entry + ".yaml")).string();
  const std::size_t errors = context.diagnostics.count();
  const NodePtr root = parse_file(path, context.diagnostics);
  if (root == nullptr) return std::nullopt;
  ReadContext own(context.diagnostics, context.catalog_dir);
  CatalogFile<T> file;
  if (is_mapping(own, *root)) {
    Reader reader(own, *root);
    describe(reader, file);
    reader.finish();
  }
  if (context.diagnostics.count() == errors) check_spec(own, *root, file.spec);
  if (context.diagnostics.count() == errors && name_of(file) != wanted.entry)
    own.error(*root->find("name")->value, fmt::format("the file is '{}.yaml' but the name is '{}'",
                                                      wanted.entry, name_of(file)));
  if (context.diagnostics.count() > errors) return std::nullopt;
  if (wanted.count > 0) multiply(file.spec, name, wanted.count);
  return file;
}

template std::optional<CatalogFile<ModelSpec>> read_catalog(ReadContext&, const std::string&, Mark);
template std::optional<CatalogFile<HardwareSpec>> read_catalog(ReadContext&, const std::string&,
                                                               Mark);
template std::optional<CatalogFile<EnginePolicy>> read_catalog(ReadContext&, const std::string&,
                                                               Mark);

template <class T>
void FromCatalog::read(ReadContext& context, const Node& node, T& out) const {
  if (node.kind == Node::Kind::scalar) {
    if (auto file = read_catalog<T>(context, node.text, node.mark)) out = std::move(file->spec);
    return;
  }
  if (!is_mapping(context, node)) return;
  std::string preset;
  const std::size_t errors = context.diagnostics.count();
  if (!read_preset(context, node, preset, out)) return;
  Reader reader(context, node, !preset.empty());
  reader.know("preset");
  describe(reader, out);
  reader.finish();
  if (context.diagnostics.count() == errors) check_spec(context, node, out);
}

template void FromCatalog::read(ReadContext&, const Node&, ModelSpec&) const;
template void FromCatalog::read(ReadContext&, const Node&, HardwareSpec&) const;

void FromCatalog::read(ReadContext& context, const Node& node, EngineView& out) const {
  if (node.kind == Node::Kind::scalar) {
    out.name = node.text;
    if (auto file = read_catalog<EnginePolicy>(context, node.text, node.mark))
      out.policy = file->spec;
    return;
  }
  if (!is_mapping(context, node)) return;
  out.name.clear();
  if (!read_preset(context, node, out.name, out.policy)) return;
  EnginePolicy before = out.policy;
  Reader reader(context, node);
  reader.know("preset");
  describe(reader, out.policy);
  reader.finish();
  if (out.name.empty()) {
    out.name = kCustom;
    return;
  }
  const Surroundings none;
  const auto changed =
      changed_keys(*Object{}.write(none, before), *Object{}.write(none, out.policy));
  if (!changed.empty()) out.name += fmt::format("{}{})", kChanged, joined(changed));
}

namespace {

// Entry `name` of the catalog, or nothing: whatever is wrong with it is not asked here.
template <class T>
std::optional<T> quietly(const Surroundings& around, const std::string& name) {
  Diagnostics diagnostics;
  diagnostics.add_source(around.catalog_dir, std::vector<std::string>{});
  ReadContext context(diagnostics, around.catalog_dir);
  auto file = read_catalog<T>(context, name, {});
  return file ? std::optional<T>(std::move(file->spec)) : std::nullopt;
}

}  // namespace

template <class T>
NodePtr FromCatalog::name_alone(const Surroundings& around, T& value) {
  std::optional<T> entry = quietly<T>(around, value.name);
  const Surroundings whole;
  if (!entry ||
      yaml_text(*Object{}.write(whole, *entry)) != yaml_text(*Object{}.write(whole, value)))
    return nullptr;
  return quoted(value.name);
}

template NodePtr FromCatalog::name_alone(const Surroundings&, ModelSpec&);
template NodePtr FromCatalog::name_alone(const Surroundings&, HardwareSpec&);

NodePtr FromCatalog::write(const Surroundings& around, EngineView& value) const {
  std::vector<Entry> entries;
  const std::string preset =
      value.name == kCustom ? std::string() : value.name.substr(0, value.name.find(kChanged));
  if (!preset.empty()) entries.push_back(entry("preset", quoted(preset)));
  Surroundings whole = around;
  whole.lean = false;
  NodePtr policy = Object{}.write(whole, value.policy);
  if (around.lean && !preset.empty()) {
    std::optional<EnginePolicy> base = quietly<EnginePolicy>(around, preset);
    HANDOFF_CHECK(base.has_value(), "a preset that was read before is gone: " + preset);
    std::vector<Entry> changed;
    for (const std::string& key : changed_keys(*policy, *Object{}.write(whole, *base)))
      changed.push_back(*policy->find(key));
    if (changed.empty()) return quoted(preset);
    policy = mapping(std::move(changed));
  }
  entries.insert(entries.end(), policy->entries.begin(), policy->entries.end());
  return mapping(std::move(entries));
}

template <class T>
NodePtr FromCatalog::schema(Definitions& definitions) const {
  using Spec = std::conditional_t<std::is_same_v<T, EngineView>, EnginePolicy, T>;
  const NodePtr object = definitions.reference(kDefinition<Spec>, [&] {
    SchemaObject schema(definitions);
    std::string preset;
    schema.section(
        "preset", true, [&]() -> std::string& { return preset; }, Text{},
        "entry of the catalog to start from");
    Spec spec;
    describe(schema, spec);
    std::vector<std::string> needed;
    for (const NodePtr& key : schema.required_keys()) needed.push_back(key->text);
    if (!needed.empty()) {
      schema.forget_required();
      schema.any_of({{"preset"}, needed});
    }
    return schema.take();
  });
  return mapping({entry("anyOf", sequence({type_schema("string"), object}))});
}

template NodePtr FromCatalog::schema<ModelSpec>(Definitions&) const;
template NodePtr FromCatalog::schema<HardwareSpec>(Definitions&) const;
template NodePtr FromCatalog::schema<EngineView>(Definitions&) const;

}  // namespace handoff::loader

namespace handoff {
namespace {

using namespace loader;

// One line about an entry.
std::string summary(const CatalogFile<EnginePolicy>& file) {
  return file.description.substr(0, file.description.find(". "));
}
std::string summary(const CatalogFile<HardwareSpec>& file) { return file.spec.device; }
std::string summary(const CatalogFile<ModelSpec>& file) {
  constexpr std::int64_t kMillion = 1'000'000;
  const ModelSpec& m = file.spec;
  return fmt::format("{} million parameters, {} million active, {} bits, context {}",
                     m.parameters_total / kMillion, m.parameters_active / kMillion, m.weight_bits,
                     m.context_max);
}

template <class T>
void list_folder(ReadContext& context, std::vector<CatalogEntry>& out) {
  for (const std::string& name : entry_names(context.catalog_dir, CatalogPlace<T>::kFolder))
    if (auto file = read_catalog<T>(context, name, {}))
      out.push_back({CatalogPlace<T>::kKind, name, summary(*file)});
}

template <class T>
std::optional<std::string> show(ReadContext& context, const std::string& name) {
  const std::vector<std::string> names = entry_names(context.catalog_dir, CatalogPlace<T>::kFolder);
  const std::string wanted = split_name<T>(name, names).entry;
  if (!std::binary_search(names.begin(), names.end(), wanted)) return std::nullopt;
  auto file = read_catalog<T>(context, name, {});
  context.diagnostics.throw_if_any();
  const Surroundings none;
  Writer writer(none);
  describe(writer, *file);
  const NodePtr whole = writer.take();
  std::vector<Entry> kept;  // without texts that the entry does not have
  for (const Entry& e : whole->entries)
    if (e.value->kind != Node::Kind::scalar || !e.value->text.empty()) kept.push_back(e);
  return fmt::format("# {} {}\n{}", CatalogPlace<T>::kKind, name,
                     yaml_text(*mapping(std::move(kept))));
}

// A context for look-ups from outside any file: an unknown name is reported at the catalog's
// folder.
struct Lookup {
  Diagnostics diagnostics;
  ReadContext context;
  explicit Lookup(const std::string& catalog_dir) : context(diagnostics, catalog_dir) {
    diagnostics.add_source(catalog_dir, std::vector<std::string>{});
  }
};

template <class T>
T load_entry(const std::string& name, const std::string& catalog_dir) {
  Lookup lookup(catalog_dir);
  auto file = read_catalog<T>(lookup.context, name, {});
  lookup.diagnostics.throw_if_any();
  return std::move(file->spec);
}

}  // namespace

std::vector<CatalogEntry> catalog_list(const std::string& catalog_dir) {
  Lookup lookup(catalog_dir);
  std::vector<CatalogEntry> entries;
  list_folder<EnginePolicy>(lookup.context, entries);
  list_folder<HardwareSpec>(lookup.context, entries);
  list_folder<ModelSpec>(lookup.context, entries);
  lookup.diagnostics.throw_if_any();
  return entries;
}

std::string catalog_show(const std::string& name, const std::string& catalog_dir) {
  Lookup lookup(catalog_dir);
  if (auto text = show<EnginePolicy>(lookup.context, name)) return *text;
  if (auto text = show<HardwareSpec>(lookup.context, name)) return *text;
  if (auto text = show<ModelSpec>(lookup.context, name)) return *text;
  std::vector<std::string> names;
  for (const char* folder : {"engines", "hardware", "llm"})
    for (std::string& known : entry_names(catalog_dir, folder)) names.push_back(std::move(known));
  lookup.diagnostics.error({}, fmt::format("no '{}' in the catalog{}", name, hint(name, names)));
  lookup.diagnostics.throw_if_any();
  return {};
}

ModelSpec load_model(const std::string& name, const std::string& catalog_dir) {
  return load_entry<ModelSpec>(name, catalog_dir);
}
HardwareSpec load_hardware(const std::string& name, const std::string& catalog_dir) {
  return load_entry<HardwareSpec>(name, catalog_dir);
}
EnginePolicy load_engine(const std::string& name, const std::string& catalog_dir) {
  return load_entry<EnginePolicy>(name, catalog_dir);
}

}  // namespace handoff

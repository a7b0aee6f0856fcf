#include "tests/unit/cost/catalog_reader.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <variant>

namespace handoff {
namespace {

using Target = std::variant<std::string*, std::int64_t*, bool*, GroupKind*, ModelRole*>;
using Fields = std::map<std::string, Target>;

std::string path_of(const std::string& folder, const std::string& name) {
  return std::string(HANDOFF_SOURCE_DIR) + "/models/catalog/" + folder + "/" + name + ".yaml";
}

std::int64_t integer(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    throw std::runtime_error("not a plain integer: " + text);
  return std::stoll(text);
}

template <class E>
E word(const std::map<std::string, E>& words, const std::string& text) {
  return words.at(text);
}

void assign(const Target& target, const std::string& text) {
  if (auto* const* s = std::get_if<std::string*>(&target)) **s = text;
  if (auto* const* i = std::get_if<std::int64_t*>(&target)) **i = integer(text);
  if (auto* const* b = std::get_if<bool*>(&target))
    **b = word<bool>({{"true", true}, {"false", false}}, text);
  if (auto* const* k = std::get_if<GroupKind*>(&target))
    **k = word<GroupKind>(
        {{"full", GroupKind::full}, {"window", GroupKind::window}, {"indexer", GroupKind::indexer}},
        text);
  if (auto* const* r = std::get_if<ModelRole*>(&target))
    **r = word<ModelRole>({{"generate", ModelRole::generate}, {"embed", ModelRole::embed}}, text);
}

// Takes what `fields` names; returns the rest.
std::map<std::string, YAML::Node> read(const YAML::Node& node, const Fields& fields) {
  std::map<std::string, YAML::Node> rest;
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto field = fields.find(key);
    if (field == fields.end())
      rest[key] = entry.second;
    else
      assign(field->second, entry.second.Scalar());
  }
  return rest;
}

void check_frame(std::map<std::string, YAML::Node>& rest) {
  if (rest.at("handoff_catalog").Scalar() != "1") throw std::runtime_error("version");
  if (rest.at("sources").size() == 0) throw std::runtime_error("a catalog file names no source");
  for (const char* key : {"handoff_catalog", "sources", "notes"}) rest.erase(key);
  if (!rest.empty()) throw std::runtime_error("unknown key: " + rest.begin()->first);
}

}  // namespace

ModelSpec catalog_model(const std::string& name) {
  ModelSpec m;
  const YAML::Node file = YAML::LoadFile(path_of("llm", name));
  auto rest = read(file, {{"name", &m.name},
                          {"role", &m.role},
                          {"layers", &m.layers},
                          {"hidden", &m.hidden},
                          {"query_heads", &m.query_heads},
                          {"kv_heads", &m.kv_heads},
                          {"head_dim_qk", &m.head_dim_qk},
                          {"head_dim_v", &m.head_dim_v},
                          {"parameters_total", &m.parameters_total},
                          {"parameters_active", &m.parameters_active},
                          {"weight_bits", &m.weight_bits},
                          {"context_max", &m.context_max},
                          {"sparse_top_k", &m.sparse_top_k},
                          {"indexer_heads", &m.indexer_heads},
                          {"indexer_head_dim", &m.indexer_head_dim},
                          {"indexer_layers", &m.indexer_layers},
                          {"experts", &m.experts},
                          {"experts_active", &m.experts_active}});
  for (const YAML::Node& entry : rest.at("groups")) {
    GroupSpec g;
    const auto unknown = read(entry, {{"name", &g.name},
                                      {"kind", &g.kind},
                                      {"bytes_per_token", &g.bytes_per_token},
                                      {"replicated", &g.replicated},
                                      {"window_tokens", &g.window_tokens}});
    if (!unknown.empty()) throw std::runtime_error("unknown key: " + unknown.begin()->first);
    m.groups.push_back(g);
  }
  rest.erase("groups");
  check_frame(rest);
  return m;
}

HardwareSpec catalog_hardware(const std::string& name) {
  const std::size_t cross = name.find('x');
  HardwareSpec h;
  const YAML::Node file = YAML::LoadFile(
      path_of("hardware", cross == std::string::npos ? name : name.substr(cross + 1)));
  auto rest = read(file, {{"name", &h.name},
                          {"device", &h.device},
                          {"devices", &h.devices},
                          {"memory_bytes", &h.memory_bytes},
                          {"memory_bytes_per_second", &h.memory_bytes_per_second},
                          {"flops_16bit", &h.flops_16bit},
                          {"flops_8bit", &h.flops_8bit},
                          {"link_bytes_per_second", &h.link_bytes_per_second},
                          {"nic_bytes_per_second", &h.nic_bytes_per_second}});
  check_frame(rest);
  if (cross != std::string::npos) h.devices *= integer(name.substr(0, cross));
  return h;
}

std::vector<std::string> catalog_names(const std::string& folder) {
  std::vector<std::string> names;
  const std::filesystem::path path = std::string(HANDOFF_SOURCE_DIR) + "/models/catalog/" + folder;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace handoff

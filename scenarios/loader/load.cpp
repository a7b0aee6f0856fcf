#include "scenarios/loader/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/oracle/finding.hpp"
#include "scenarios/loader/tables_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "sim/engine/hash.hpp"

namespace handoff {
namespace loader {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 16U << 20U;

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

// The text of a file, or why there is none.
std::optional<std::string> read_text(const std::string& path, std::string& problem) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return problem = "no such file", std::nullopt;
  if (fs::is_directory(status)) return problem = "a folder, not a file", std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return problem = "cannot be read", std::nullopt;
  // Read in bounded steps: the size of a pipe is not known.
  std::string text;
  std::array<char, 65'536> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kFileBytesMax) return problem = "larger than 16 MiB", std::nullopt;
  }
  if (in.bad()) return problem = "cannot be read", std::nullopt;
  return text;
}

// `root` with every "path=value" of the list at `list`.
NodePtr apply_set_list(NodePtr root, const Node& list, const std::vector<std::string>& set,
                       Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    Mark mark = list.items[i]->mark;
    if (list.items[i]->quoted) ++mark.column;
    root = apply_set(root, set[i], mark, diagnostics);
  }
  return root;
}

// What an arm does not say of itself: nothing is wrong.
Expectations arm_expectations(const FixedArm& arm) {
  Expectations all = arm.expect;
  const auto none = [&](const std::string& metric) {
    const auto same = [&](const Expectation& e) { return e.metric == metric; };
    if (std::none_of(all.all.begin(), all.all.end(), same))
      all.all.push_back({metric, 0, 0, true, arm.mark});
  };
  if (!all.findings_given)
    for (int i = 0; i < kRules; ++i) none(std::string("findings.") + code(static_cast<Rule>(i)));
  all.findings_given = true;
  for (const char* metric : {"tainted_responses", "corrupt_responses", "unfinished"}) none(metric);
  return all;
}

NodePtr resolved_tree(Scenario scenario, const std::string& folder) {
  Surroundings around;
  around.folder = folder;
  around.start_unix_ns = scenario.start_unix_ns;
  for (const DeploymentConfig& d : scenario.run.deployments) around.deployments.push_back(d.name);
  return Object{}.write(around, scenario);
}

}  // namespace

NodePtr parse_file(const std::string& path, Diagnostics& diagnostics) {
  std::string problem;
  const std::optional<std::string> text = read_text(path, problem);
  const std::uint32_t source = diagnostics.add_source(path, text.value_or(""));
  if (!text) {
    diagnostics.error({source, 0, 0}, problem);
    return nullptr;
  }
  NodePtr root = parse_yaml(*text, source, diagnostics);
  if (root != nullptr && root->kind == Node::Kind::null) {
    diagnostics.error({source, 1, 1}, "the file is empty");
    return nullptr;
  }
  return root;
}

NodePtr apply_extends(const NodePtr& root, const ReadContext& context) {
  const Entry* e = root->find("extends");
  if (e == nullptr) return root;
  ReadContext own = context;
  own.path = {"extends"};
  const std::size_t errors = own.diagnostics.count();
  Extension extension;
  ExtensionReference{}.read(own, *e->value, extension);
  if (own.diagnostics.count() > errors) return nullptr;
  const NodePtr base = parse_file(extension.file, own.diagnostics);
  if (base == nullptr) return nullptr;
  if (const Entry* again = base->find("extends")) {
    own.diagnostics.error(again->mark, "a scenario that extends another cannot itself be extended");
    return nullptr;
  }
  NodePtr changed = base;
  if (!extension.set.empty())
    changed =
        apply_set_list(changed, *e->value->find("set")->value, extension.set, own.diagnostics);
  auto merged = std::make_shared<Node>(*changed);
  merged->mark = root->mark;
  // A fix is for the file that names it.
  std::erase_if(merged->entries, [](const Entry& entry) { return entry.key == "fixed"; });
  for (const Entry& own_entry : root->entries) {
    if (own_entry.key == "extends") continue;
    const auto same = [&](const Entry& other) { return other.key == own_entry.key; };
    const auto found = std::find_if(merged->entries.begin(), merged->entries.end(), same);
    if (found != merged->entries.end())
      *found = own_entry;
    else
      merged->entries.push_back(own_entry);
  }
  return merged;
}

std::string resolved_text(const Scenario& scenario, const std::string& folder) {
  return yaml_text(*resolved_tree(scenario, folder));
}

}  // namespace loader

namespace loader {
namespace {

// `text`: what stands in the file, when it is not to be read from `path`.
Scenario load(const std::string& path, const std::string* text,
              const std::vector<std::string>& sets, const std::string& catalog_dir,
              std::optional<std::size_t> arm) {
  Diagnostics diagnostics;
  NodePtr root;  // source 0: kScenarioSource
  if (text == nullptr)
    root = parse_file(path, diagnostics);
  else
    root = parse_yaml(*text, diagnostics.add_source(path, *text), diagnostics);
  const std::uint32_t set_source = diagnostics.add_source("--set", sets);
  HANDOFF_CHECK(set_source == kSetSource, "sources out of order");
  ReadContext context(diagnostics, catalog_dir);
  context.folder = folder_of(path);
  if (root != nullptr) root = apply_extends(root, context);
  for (std::size_t i = 0; root != nullptr && i < sets.size(); ++i)
    root = apply_set(root, sets[i], {kSetSource, static_cast<int>(i) + 1, 1}, diagnostics);
  diagnostics.throw_if_any();

  Scenario scenario;
  Object{}.read(context, *root, scenario);
  diagnostics.throw_if_any();
  if (arm) {
    const FixedArm chosen = scenario.fixed.at(*arm);
    const NodePtr list = root->find("fixed")->value->items[*arm]->find("set")->value;
    root = apply_set_list(root, *list, chosen.set, diagnostics);
    diagnostics.throw_if_any();
    ReadContext again(diagnostics, catalog_dir);
    again.folder = context.folder;
    scenario = {};
    Object{}.read(again, *root, scenario);
    diagnostics.throw_if_any();
    scenario.expect = arm_expectations(chosen);
    scenario.fixed.clear();
  }
  scenario.path = path;
  validate(*root, scenario, diagnostics);
  diagnostics.throw_if_any();
  scenario.resolved = resolved_text(scenario, context.folder);
  scenario.digest = hash_text(scenario.resolved);
  return scenario;
}

}  // namespace
}  // namespace loader

Scenario load_scenario(const std::string& path, const std::vector<std::string>& sets,
                       const std::string& catalog_dir) {
  return loader::load(path, nullptr, sets, catalog_dir, std::nullopt);
}

Scenario parse_scenario(const std::string& text, const std::string& path,
                        const std::string& catalog_dir) {
  return loader::load(path, &text, {}, catalog_dir, std::nullopt);
}

Scenario load_fixed_arm(const std::string& path, const std::vector<std::string>& sets,
                        std::size_t arm, const std::string& catalog_dir) {
  return loader::load(path, nullptr, sets, catalog_dir, arm);
}

std::string lean_text(const Scenario& scenario, const std::string& catalog_dir) {
  using namespace loader;
  Scenario copy = scenario;
  Surroundings around;
  around.start_unix_ns = copy.start_unix_ns;
  around.catalog_dir = catalog_dir;
  around.lean = true;
  for (const DeploymentConfig& d : copy.run.deployments) around.deployments.push_back(d.name);
  return yaml_text(*Object{}.write(around, copy));
}

std::string resolved_for(const Scenario& scenario, const std::string& folder) {
  namespace fs = std::filesystem;
  Scenario moved = scenario;
  for (WorkloadConfig& w : moved.run.workloads)
    if (auto* trace = std::get_if<TraceConfig>(&w.source))
      trace->path = fs::absolute(trace->path).lexically_normal().string();
  // Relative to the folder, so that both can move together.
  const fs::path base = fs::absolute(folder).lexically_normal();
  for (WorkloadConfig& w : moved.run.workloads)
    if (auto* trace = std::get_if<TraceConfig>(&w.source))
      trace->path = fs::path(trace->path).lexically_relative(base).string();
  return loader::resolved_text(moved, {});
}

std::string scenario_schema() {
  using namespace loader;
  Definitions definitions;
  NodePtr top = Object{}.schema<Scenario>(definitions);
  std::vector<Entry> entries{
      entry("$schema", quoted("http://json-schema.org/draft-07/schema#")),
      entry("title", quoted("Handoff scenario")),
      entry("description", quoted("A run of the simulator and what is expected of it. Generated "
                                  "from the table that reads the file: handoff schema"))};
  // What must be there may come from the scenario that is extended.
  std::vector<Entry> complete;
  for (const Entry& e : top->entries) {
    const bool demands = e.key == "required" || e.key == "oneOf" || e.key == "dependencies";
    (demands ? complete : entries).push_back(e);
  }
  entries.push_back(entry("if", mapping({entry("required", sequence({quoted("extends")}))})));
  entries.push_back(entry("then", mapping({entry("required", sequence({quoted("handoff")}))})));
  entries.push_back(entry("else", mapping(std::move(complete))));
  entries.push_back(entry("definitions", definitions.take()));
  return json_text(*mapping(std::move(entries)));
}

}  // namespace handoff

// Rules about #include: the direction between folders, and the places of third-party headers.
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/tidy/rules.hpp"

namespace handoff::tidy {
namespace {

struct Include {
  std::string target;
  int line = 0;
  bool quoted = false;
};

std::vector<Include> includes_of(const Source& source) {
  std::vector<Include> out;
  const std::vector<std::string_view> lines = lines_of(source.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    constexpr std::string_view kInclude = "#include ";
    if (lines[i].substr(0, kInclude.size()) != kInclude) continue;
    const std::string_view rest = lines[i].substr(kInclude.size());
    const std::size_t end = rest.find(rest.front() == '<' ? '>' : '"', 1);
    if (end == std::string_view::npos) continue;
    out.push_back(
        {std::string(rest.substr(1, end - 1)), static_cast<int>(i + 1), rest.front() == '"'});
  }
  return out;
}

// Folders from the bottom up, each with the folders that it may include besides itself.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> below;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = {
      {"sim/engine", {}},
      {"models/memory", {"sim/engine"}},
      {"models/network", {"sim/engine"}},
      {"models/cost", {"sim/engine"}},
      {"models/workload", {"sim/engine"}},
      {"models/faults",
       {"sim/engine", "models/memory", "models/network", "models/cost", "models/workload"}},
      {"models/oracle",
       {"sim/engine", "models/memory", "models/network", "models/cost", "models/workload"}},
      {"models/serving",
       {"sim/engine", "models/memory", "models/network", "models/cost", "models/workload",
        "models/faults", "models/oracle"}},
      {"sim/search", {"sim/engine", "models"}},
      {"scenarios", {"sim/engine", "models"}},
      {"reports", {"sim/engine", "models", "scenarios"}},
      {"sim/app", {"sim/engine", "sim/search", "models", "scenarios", "reports"}},
      {"tests", {"sim", "models", "scenarios", "reports"}},
  };
  return kLayers;
}

const Layer* layer_of(const Source& source) {
  for (const Layer& layer : layers())
    if (in_folder(source, layer.folder)) return &layer;
  return nullptr;
}

// Third-party headers by the start of their name, with the folders or files that may use them;
// none: any.
struct ThirdParty {
  std::string_view prefix;
  std::vector<std::string_view> only_in;
};

const std::vector<ThirdParty>& third_parties() {
  static const std::vector<ThirdParty> kThirdParties = {
      {"yaml-cpp/", {"scenarios", "tests/unit/cost/catalog_reader.cpp"}},
      {"boost/graph/", {"models/network/topology.cpp", "models/oracle"}},
      {"boost/program_options", {"sim/app"}},
      {"boost/", {}},
      {"fmt/", {}},
      {"zlib.h", {}},
      {"Eigen/", {}},
      {"gtest/", {"tests"}},
      {"gmock/", {"tests"}},
      {"benchmark/", {"tests"}},
  };
  return kThirdParties;
}

const ThirdParty* third_party(const std::string& target) {
  for (const ThirdParty& party : third_parties())
    if (target.compare(0, party.prefix.size(), party.prefix) == 0) return &party;
  return nullptr;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

class IncludeGraph {
 public:
  explicit IncludeGraph(const std::vector<Source>& tree) {
    for (const Source& source : tree)
      if (is_cpp(source)) includes_[source.path] = includes_of(source);
  }

  [[nodiscard]] const std::vector<Include>& of(const std::string& path) const {
    static const std::vector<Include> kNone;
    const auto found = includes_.find(path);
    return found == includes_.end() ? kNone : found->second;
  }

  // A header is public when a file of another folder, tests aside, includes it.
  [[nodiscard]] std::set<std::string> public_headers() const {
    std::set<std::string> out;
    for (const auto& [path, includes] : includes_)
      for (const Include& include : includes)
        if (include.quoted && path.compare(0, 6, "tests/") != 0 &&
            folder_of(path) != folder_of(include.target))
          out.insert(include.target);
    return out;
  }

 private:
  std::map<std::string, std::vector<Include>> includes_;
};

// Follows our own includes from `path`; reports each third-party include on the way, once.
void report_reachable(const IncludeGraph& graph, const std::string& path,
                      std::set<std::string>& seen, Violations& out) {
  if (!seen.insert(path).second) return;
  for (const Include& include : graph.of(path)) {
    if (third_party(include.target) != nullptr)
      out.push_back(
          {path, include.line,
           "<" + include.target + "> reaches users of a public header; keep it in a .cpp"});
    if (include.quoted) report_reachable(graph, include.target, seen, out);
  }
}

}  // namespace

Violations include_direction(const std::vector<Source>& tree) {
  Violations out;
  std::set<std::string> paths;
  for (const Source& source : tree) paths.insert(source.path);
  for (const Source& source : tree) {
    if (!is_cpp(source)) continue;
    const Layer* layer = layer_of(source);
    if (layer == nullptr) {
      out.push_back(
          {source.path, 1, "the folder is not in the list of layers (tests/tidy/includes.cpp)"});
      continue;
    }
    for (const Include& include : includes_of(source)) {
      if (!include.quoted) continue;
      const Source target{include.target, ""};
      if (paths.count(include.target) == 0) {
        out.push_back(
            {source.path, include.line,
             "\"" + include.target + "\" is no file; quote paths from the repository's root"});
        continue;
      }
      bool allowed = in_folder(target, layer->folder);
      for (const std::string_view below : layer->below) allowed |= in_folder(target, below);
      if (!allowed)
        out.push_back({source.path, include.line,
                       std::string(layer->folder) + " must not include " + include.target});
    }
  }
  return out;
}

Violations third_party_includes(const std::vector<Source>& tree) {
  Violations out;
  for (const Source& source : tree) {
    if (!is_cpp(source)) continue;
    for (const Include& include : includes_of(source)) {
      const ThirdParty* party = third_party(include.target);
      if (party == nullptr || party->only_in.empty()) continue;
      bool allowed = false;
      for (const std::string_view place : party->only_in)
        allowed |= source.path == place || in_folder(source, place);
      if (!allowed)
        out.push_back({source.path, include.line,
                       "<" + include.target + "> belongs to " +
                           std::string(party->only_in.front()) + " alone"});
    }
  }
  const IncludeGraph graph(tree);
  std::set<std::string> seen;
  for (const std::string& header : graph.public_headers()) {
    const Source source{header, ""};
    if (in_folder(source, "sim/engine") || in_folder(source, "models"))
      report_reachable(graph, header, seen, out);
  }
  return out;
}

}  // namespace handoff::tidy

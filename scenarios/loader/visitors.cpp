#include "scenarios/loader/visitors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace handoff::loader {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string ReadContext::dotted(const std::string& key) const {
  std::string text;
  const auto add = [&](const std::string& step) {
    if (!text.empty() && step[0] != '[') text += '.';
    text += step;
  };
  for (const std::string& step : path) add(step);
  if (!key.empty()) add(key);
  return text;
}

SourceMark source_mark(Mark mark) {
  if (mark.source != kScenarioSource) return {};
  return {mark.line, mark.column};
}

const Entry* Reader::take(const char* key) {
  if (!contains(known_, key)) known_.push_back(key);
  return node_.find(key);
}

void Reader::deployment(const char* key, std::uint32_t& index, const char*) {
  const Entry* e = take(key);
  const std::vector<std::string>& names = context_.deployments;
  if (e == nullptr) {
    if (names.size() > 1) missing_.push_back(key);
    return;
  }
  const Node& node = *e->value;
  if (node.kind != Node::Kind::scalar)
    return context_.error(
        node, fmt::format("expected the name of a deployment, found {}", node.kind_name()));
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (found != names.end())
    index = static_cast<std::uint32_t>(found - names.begin());
  else if (!context_.deployments_broken)
    context_.error(node, fmt::format("no deployment '{}'{}", node.text, hint(node.text, names)));
}

void Reader::stray(const Entry& e, const char* owner) {
  context_.diagnostics.error(e.mark,
                             fmt::format("'{}' goes with '{}', which is not here", e.key, owner));
}

void Reader::finish() {
  std::vector<std::string> misspelt;  // known keys that an unknown one nearly is
  for (const Entry& e : node_.entries) {
    if (contains(known_, e.key) || e.key.rfind("x-", 0) == 0) continue;
    context_.diagnostics.error(
        e.mark, fmt::format("unknown key '{}'{}", context_.dotted(e.key), hint(e.key, known_)));
    misspelt.push_back(nearest(e.key, known_));
  }
  for (const std::string& key : missing_)
    if (!contains(misspelt, key))
      context_.error(node_, fmt::format("missing key '{}'", context_.dotted(key)));
  finish_alternatives(misspelt);
}

void Reader::finish_alternatives(const std::vector<std::string>& misspelt) {
  if (alternatives_.empty()) return;
  if (chosen_.size() > 1)
    context_.diagnostics.error(
        chosen_[1]->mark,
        fmt::format("'{}' beside '{}': only one of them can be", chosen_[1]->key, chosen_[0]->key));
  const bool meant = std::any_of(misspelt.begin(), misspelt.end(), [&](const std::string& word) {
    return contains(alternatives_, word);
  });
  if (!chosen_.empty() || meant) return;
  context_.error(node_, context_.path.empty()
                            ? fmt::format("missing key: one of {}", joined(alternatives_))
                            : fmt::format("missing key in '{}': one of {}", context_.dotted({}),
                                          joined(alternatives_)));
}

void Writer::drop_defaults(const Node& fresh) {
  const auto text = [](const Entry& e) { return yaml_text(*mapping({e})); };
  std::vector<Entry> kept;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& own = entries_[i];
    const bool optional = std::find(optional_.begin(), optional_.end(), i) != optional_.end();
    const Entry* other = optional ? fresh.find(own.key) : nullptr;
    if (other == nullptr || text(*other) != text(own))
      kept.push_back(std::move(own));
  }
  entries_ = std::move(kept);
  optional_.clear();
}

void SchemaObject::deployment(const char* key, std::uint32_t&, const char* doc) {
  add(key, mapping({entry("type", quoted("string"))}), doc);
}

void SchemaObject::add(const char* key, const NodePtr& schema, const char* doc,
                       const NodePtr& preset) {
  std::vector<Entry> entries{entry("description", quoted(doc))};
  // In draft 07 whatever stands beside a "$ref" is ignored.
  if (schema->find("$ref") != nullptr)
    entries.push_back(entry("allOf", sequence({schema})));
  else
    entries.insert(entries.end(), schema->entries.begin(), schema->entries.end());
  if (preset != nullptr && preset->kind == Node::Kind::scalar && !preset->text.empty()) {
    const bool number_or_word =
        !preset->quoted && (preset->text == "true" || preset->text == "false" ||
                            preset->text.find_first_not_of("0123456789") == std::string::npos);
    entries.push_back(
        entry("default", number_or_word ? plain(preset->text) : quoted(preset->text)));
  }
  // A key with two meanings (workload `requests`) takes either.
  for (Entry& e : properties_) {
    if (e.key != key) continue;
    e.value = mapping({entry("anyOf", sequence({e.value, mapping(std::move(entries))}))});
    return;
  }
  properties_.push_back(entry(key, mapping(std::move(entries))));
}

void SchemaObject::depends(const char* key, const char* on) {
  for (auto& [name, list] : depends_)
    if (name == key) return list.push_back(quoted(on));
  depends_.push_back({key, {quoted(on)}});
}

NodePtr SchemaObject::type_of(const Node& schema) {
  const Entry* type = schema.find("type");
  return type == nullptr ? mapping({}) : mapping({entry("type", type->value)});
}

NodePtr SchemaObject::take() {
  std::vector<Entry> out{entry("type", quoted("object")),
                         entry("properties", mapping(std::move(properties_)))};
  out.push_back(entry("patternProperties", mapping({entry("^x-", mapping({}))})));
  out.push_back(entry("additionalProperties", plain("false")));
  if (!required_.empty()) out.push_back(entry("required", sequence(std::move(required_))));
  if (!alternatives_.empty()) out.push_back(entry("oneOf", sequence(std::move(alternatives_))));
  if (!any_of_.empty()) {
    std::vector<NodePtr> sets;
    for (const std::vector<std::string>& keys : any_of_) {
      std::vector<NodePtr> names;
      for (const std::string& key : keys) names.push_back(quoted(key));
      sets.push_back(mapping({entry("required", sequence(std::move(names)))}));
    }
    out.push_back(entry("anyOf", sequence(std::move(sets))));
  }
  if (!depends_.empty()) {
    std::vector<Entry> dependencies;
    for (auto& [key, list] : depends_)
      dependencies.push_back(entry(key, sequence(std::move(list))));
    out.push_back(entry("dependencies", mapping(std::move(dependencies))));
  }
  return mapping(std::move(out));
}

}  // namespace handoff::loader

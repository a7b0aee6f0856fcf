// Engine policies one decision away from another: the table of fields, walked once more.
#include <fmt/format.h>

#include "scenarios/loader/catalog.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {
namespace loader {
namespace {

class NeighbourVisitor {
 public:
  static constexpr bool kReading = false;

  NeighbourVisitor(EnginePolicy& policy, std::vector<PolicyChange>& out, std::string prefix)
      : policy_(policy), out_(out), prefix_(std::move(prefix)) {}

  void optional(const char* key, bool& member, const Boolean&, const char*) {
    // To switch a deliberate bug on mends nothing.
    if (prefix_ == "bugs." && !member) return;
    member = !member;
    add(key, member ? "true" : "false");
    member = !member;
  }
  template <class E>
  requires std::is_enum_v<E>
  void optional(const char* key, E& member, const Enumeration&, const char*) {
    const E own = member;
    for (const auto& [text, value] : EnumNames<E>::kNames) {
      if (value == own) continue;
      member = value;
      add(key, text);
    }
    member = own;
  }
  template <class M>
  void optional(const char* key, M& member, const Object&, const char*) {
    NeighbourVisitor below(policy_, out_, prefix_ + key + ".");
    describe(below, member);
  }
  // Numbers and times have no next value.
  template <class M, class K>
  void optional(const char*, M&, const K&, const char*) {}

 private:
  void add(const char* key, const std::string& value) {
    out_.push_back({prefix_ + key, value, policy_});
  }

  EnginePolicy& policy_;
  std::vector<PolicyChange>& out_;
  std::string prefix_;
};

}  // namespace
}  // namespace loader

std::vector<PolicyChange> policy_changes(const EnginePolicy& policy) {
  std::vector<PolicyChange> changes;
  EnginePolicy changed = policy;
  loader::NeighbourVisitor visitor(changed, changes, {});
  loader::describe(visitor, changed);
  return changes;
}

std::string policy_value(const EnginePolicy& policy, const std::string& key) {
  using namespace loader;
  EnginePolicy copy = policy;
  const NodePtr all = Object{}.write(Surroundings{}, copy);
  const Entry* found = all->find(key);
  if (found == nullptr) return {};
  if (found->value->kind == Node::Kind::scalar) return found->value->text;
  std::string text;
  for (const Entry& e : found->value->entries)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", e.key, e.value->text);
  return "{" + text + "}";
}

}  // namespace handoff

#include "models/faults/fault.hpp"

#include "sim/engine/check.hpp"

namespace handoff {
namespace {

struct KindName {
  const char* operator()(const OversizePromptFault&) const { return "oversize_prompt"; }
  const char* operator()(const NoticeFault&) const { return "notice"; }
  const char* operator()(const ClientAbortFault&) const { return "client_abort"; }
  const char* operator()(const NodeCrashFault&) const { return "node_crash"; }
  const char* operator()(const LinkFault&) const { return "link"; }
};

}  // namespace

const char* name(NoticeFaultKind kind) {
  switch (kind) {
    case NoticeFaultKind::early:
      return "early";
    case NoticeFaultKind::duplicate:
      return "duplicate";
    case NoticeFaultKind::lost:
      return "lost";
    case NoticeFaultKind::delayed:
      return "delayed";
    case NoticeFaultKind::reordered:
      return "reordered";
    case NoticeFaultKind::misdirected:
      return "misdirected";
    case NoticeFaultKind::short_data:
      return "short";
    case NoticeFaultKind::stale:
      return "stale";
  }
  HANDOFF_CHECK(false, "unknown kind of notice fault");
}

std::string label(const Fault& fault) {
  return fault.name.empty() ? std::visit(KindName{}, fault.what) : fault.name;
}

}  // namespace handoff

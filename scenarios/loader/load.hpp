// Steps of load_scenario, for each other.
#pragma once

#include "scenarios/loader/visitors.hpp"

namespace handoff::loader {

// A file as one YAML document. Errors (absent, a folder, empty, too large, malformed) go to
// `diagnostics`, with the file as a new source; nullptr then.
NodePtr parse_file(const std::string& path, Diagnostics& diagnostics);

// `root` with the value at the path of "path=value"; as it was after an error. `mark` is where the
// text starts.
NodePtr apply_set(const NodePtr& root, std::string_view text, Mark mark, Diagnostics& diagnostics);

// A scenario that says `extends` laid over the file that it names, key by key at the top: what it
// has replaces what the other has. One level. nullptr after an error.
NodePtr apply_extends(const NodePtr& root, const ReadContext& context);

// Where the value at a dotted path stands, or the nearest thing above that does.
Mark locate(const Node& root, std::string_view path);

// What no key can tell alone: indexes, names, bounds across keys. `root` gives the places.
void validate(const Node& root, Scenario& scenario, Diagnostics& diagnostics);

// The canonical text, with trace paths for a file in `folder`.
std::string resolved_text(const Scenario& scenario, const std::string& folder);

}  // namespace handoff::loader

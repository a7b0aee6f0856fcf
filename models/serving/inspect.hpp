// The state of a world at one moment as text for people: what stands in which queue, who holds
// which pages, what a page holds. Reads everything, changes nothing.
#pragma once

#include <optional>
#include <string>

#include "models/serving/world.hpp"

namespace handoff {

// Every node in a few lines: queues with their requests, pools, transfers under way.
std::string overview_text(const World& world);
// One node ("glm-5.3/decode[0]"; without the deployment where it is clear), its pages as ranges by
// owner. Nothing for an unknown name.
std::optional<std::string> node_text(const World& world, const std::string& node);
// Both legs of a request in flight, its pages and its steps so far. Nothing when it is not in
// flight.
std::optional<std::string> request_text(const World& world, RequestSerial request);
// What a page of a group of a node holds, on each rank: runs of positions, who wrote them, from
// where. Nothing when there is no such page.
std::optional<std::string> page_text(const World& world, const std::string& node,
                                     const std::string& group, PageIndex page);
// Full names of all nodes.
std::vector<std::string> node_names(const World& world);

}  // namespace handoff

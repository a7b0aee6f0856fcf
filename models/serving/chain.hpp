// Causal chains: a request's journal and the history of a page, told in time order.
#pragma once

#include "models/serving/judge.hpp"

namespace handoff {

std::string counted(std::int64_t count, const char* noun);  // "1 page", "2 pages"

// nullptr when the request is no longer in flight.
const Request* find_request(const World& world, RequestSerial serial);

// The journal of a request as links.
std::vector<ChainLink> chain_of(const World& world, const Request& r);

// How the content of one page came to be there: computed by whom, sent, its page freed, given on.
void add_page_history(const World& world, Finding& finding, const ReadPlace& place,
                      std::size_t group, PageIndex page, RecordId write);

// Adds the last link ("... now") and sorts the chain by (time, event), keeping order among equals.
// `object`: what the step had in hand (ChainLink::object).
void finish_chain(Finding& finding, const Context& c, std::uint32_t component,
                  RequestSerial request, std::string what, std::string object = {});

std::string page_name(PageIndex page);  // "page 64", as objects of chains are called

}  // namespace handoff

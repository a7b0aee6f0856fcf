// A small report to measure, judge and print.
#pragma once

#include <gtest/gtest.h>

#include "reports/metrics.hpp"

namespace handoff {

// Request `serial` of deployment 0: arrives at `serial` seconds, first token after `ttft_ms`, then
// ten more tokens of 10 ms.
inline RequestOutcome outcome(RequestSerial serial, TimeNs ttft_ms = 100, int status = 200) {
  RequestOutcome o;
  o.serial = serial;
  o.arrival_ns = static_cast<TimeNs>(serial) * kSecond;
  o.prompt_tokens = 100;
  o.output_tokens = o.output_tokens_done = 11;
  o.first_token_ns = o.arrival_ns + ttft_ms * kMillisecond;
  o.end_ns = o.first_token_ns + 100 * kMillisecond;
  o.status = status;
  return o;
}

inline Finding finding(Rule rule, RequestSerial victim, std::uint32_t deployment = 0) {
  Finding f;
  f.rule = rule;
  f.victim = victim;
  f.deployment = deployment;
  return f;
}

// Two deployments, "a" and "a.b": one name is the start of the other.
struct Fixture {
  Scenario scenario;
  RunResult result;
  Fixture() {
    scenario.run.deployments.resize(2);
    result.deployments.resize(2);
    result.deployments[0].name = scenario.run.deployments[0].name = "a";
    result.deployments[1].name = scenario.run.deployments[1].name = "a.b";
    result.deployments[0].transfers = 3;
    result.deployments[1].transfers = 4;
    result.tenants = {"acme", "birch"};
  }
  void found(Finding f) {
    ++result.findings_by_rule[static_cast<std::size_t>(f.rule)];
    result.findings.push_back(std::move(f));
  }
  RunReport report(const std::vector<RequestOutcome>& outcomes) {
    OutcomeCollector collector(2);
    for (const RequestOutcome& o : outcomes) collector.add(o);
    return collector.finish(scenario, result);
  }
};

}  // namespace handoff

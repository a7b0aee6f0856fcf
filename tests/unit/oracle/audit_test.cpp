// The auditor against runs of every scenario, and on logs that no run writes.
#include "models/oracle/audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "models/serving/run.hpp"
#include "scenarios/scenario.hpp"

namespace handoff {
namespace {

// What a finding is about, as far as a log can tell: not the sentence, not the chain.
using Essence = std::tuple<std::string, RequestSerial, std::string, std::int64_t>;

std::multiset<Essence> essences(const std::vector<Finding>& findings) {
  std::multiset<Essence> all;
  for (const Finding& f : findings) {
    if (f.rule == Rule::rank_agreement || f.rule == Rule::transition) continue;  // not in a log
    const bool client = f.rule == Rule::first_cause || f.rule == Rule::termination;
    all.insert({code(f.rule), f.victim, client ? "" : f.node, f.tokens_foreign});
  }
  return all;
}

// Auditing the log of a run gives the findings of the run.
TEST(Audit, AgreesWithEveryRun) {
  namespace fs = std::filesystem;
  std::size_t runs = 0;
  std::size_t findings = 0;
  for (const auto& e : fs::recursive_directory_iterator(HANDOFF_SOURCE_DIR "/scenarios")) {
    const std::string path = e.path().string();
    if (e.path().extension() != ".yaml" || path.find("thirteen_days") != std::string::npos)
      continue;
    SCOPED_TRACE(path);
    const Scenario s = load_scenario(path, {}, HANDOFF_SOURCE_DIR "/models/catalog");
    Audit audit(s.run.terminate_within_ns);
    RunObserver observer;
    std::uint64_t tainted = 0;
    observer.on_page_event = [&](const PageEvent& event) { audit.apply(event); };
    observer.on_outcome = [&](const RequestOutcome& o, const TenantNames&) {
      tainted += o.tainted;
    };
    const RunResult listened = run(s.run, observer);
    audit.finish();
    EXPECT_EQ(essences(audit.findings().kept()), essences(listened.findings));
    EXPECT_EQ(audit.tainted(), tainted);
    EXPECT_EQ(audit.requests(), listened.requests);
    // Listening changes nothing.
    EXPECT_EQ(run(s.run).digest, listened.digest);
    ++runs;
    findings += listened.findings.size();
  }
  EXPECT_GT(runs, 50u);
  EXPECT_GT(findings, 60u);
}

// A log written by hand: one node, one group "kv" of 8 pages of 16 tokens.
class Log {
 public:
  explicit Log(Audit& audit) : audit_(audit) {
    PageEvent e = at(PageOp::pool);
    e.tokens = 16;
    e.count = 8;
    audit_.apply(e);
  }
  PageEvent at(PageOp op, RequestSerial request = kNoSerial) {
    PageEvent e;
    e.op = op;
    e.at = ++now_;
    e.node = "d";
    e.group = "kv";
    e.request = request;
    return e;
  }
  void prompt(RequestSerial request, std::int64_t tokens, std::vector<std::uint64_t> blocks = {}) {
    PageEvent e = at(PageOp::prompt, request);
    e.tokens = tokens;
    e.block_tokens = blocks.empty() ? 0 : 16;
    e.blocks = std::move(blocks);
    audit_.apply(e);
  }
  void pages(PageOp op, RequestSerial request, std::uint32_t first, std::uint32_t count) {
    PageEvent e = at(op, request);
    e.pages = {{first, count}};
    audit_.apply(e);
  }
  void positions(PageOp op, RequestSerial request, std::uint32_t first, std::uint32_t count,
                 std::int64_t position, std::int64_t tokens) {
    PageEvent e = at(op, request);
    e.pages = {{first, count}};
    e.position = position;
    e.tokens = tokens;
    audit_.apply(e);
  }
  void status(PageOp op, RequestSerial request, std::int32_t code) {
    PageEvent e = at(op, request);
    e.status = code;
    audit_.apply(e);
  }

 private:
  Audit& audit_;
  TimeNs now_ = 0;
};

std::vector<std::string> rules(const Audit& audit) {
  std::vector<std::string> all;
  for (const Finding& f : audit.findings().kept()) all.emplace_back(code(f.rule));
  return all;
}

TEST(Audit, AReadOfAnothersContentIsFoundAndASharedPrefixIsNot) {
  Audit audit;
  Log log(audit);
  log.prompt(0, 40, {7, 8});  // 32 labelled tokens, 8 of its own
  log.pages(PageOp::allocate, 0, 0, 3);
  log.positions(PageOp::write, 0, 0, 3, 0, 40);
  log.prompt(1, 50, {7, 8});
  // The two shared pages, and a page of its own.
  log.positions(PageOp::read, 1, 0, 2, 0, 32);
  EXPECT_TRUE(audit.findings().kept().empty());
  log.positions(PageOp::read, 1, 0, 3, 0, 40);  // request 0's tail too
  ASSERT_EQ(rules(audit), std::vector<std::string>{"I1"});
  const Finding& f = audit.findings().kept()[0];
  EXPECT_EQ(f.tokens_foreign, 8);
  EXPECT_EQ(f.sources[0].request, 0u);
  EXPECT_EQ(audit.tainted(), 1u);
}

TEST(Audit, AReadOfEmptyPagesIsFoundToo) {
  Audit audit;
  Log log(audit);
  log.prompt(0, 20);
  log.pages(PageOp::allocate, 0, 0, 2);
  log.positions(PageOp::write, 0, 0, 1, 0, 16);
  log.positions(PageOp::read, 0, 0, 2, 0, 20);
  ASSERT_EQ(rules(audit), std::vector<std::string>{"I1"});
  EXPECT_EQ(audit.findings().kept()[0].tokens_unwritten, 4);
  EXPECT_EQ(audit.tainted(), 0u);
}

// What an allocator of an engine may do and ours never does.
TEST(Audit, APageWithTwoOwnersIsFound) {
  Audit audit;
  Log log(audit);
  log.prompt(0, 16);
  log.prompt(1, 16);
  log.pages(PageOp::allocate, 0, 3, 1);
  log.pages(PageOp::allocate, 1, 3, 2);
  ASSERT_EQ(rules(audit), std::vector<std::string>{"I5"});
  EXPECT_EQ(audit.findings().kept()[0].victim, 1u);
  EXPECT_EQ(audit.findings().kept()[0].pages[0].first, 3u);
}

TEST(Audit, PagesAndRequestsThatAreLeftBehind) {
  {
    Audit audit;
    Log log(audit);
    log.prompt(0, 16);
    log.pages(PageOp::allocate, 0, 3, 1);
    log.status(PageOp::end, 0, 200);
    audit.finish();
    EXPECT_EQ(rules(audit), std::vector<std::string>{"I5"});
  }
  Audit audit;
  Log log(audit);
  log.prompt(0, 16);
  log.pages(PageOp::allocate, 0, 3, 1);
  audit.finish();
  EXPECT_EQ(rules(audit), std::vector<std::string>{"I6"});
}

TEST(Audit, SuccessAfterAnErrorAndAnswersThatComeLate) {
  Audit audit(2);
  Log log(audit);
  log.prompt(0, 16);
  log.status(PageOp::error, 0, 400);
  log.status(PageOp::end, 0, 200);
  EXPECT_EQ(rules(audit), std::vector<std::string>{"I7"});
  log.prompt(1, 16);
  log.prompt(2, 16);
  log.prompt(3, 16);
  log.status(PageOp::end, 1, 200);
  EXPECT_EQ(rules(audit), (std::vector<std::string>{"I7", "I6"}));
}

TEST(Audit, WhatCannotBeIsRefusedWithoutEffect) {
  Audit audit;
  Log log(audit);
  log.prompt(0, 16);
  const auto refused = [&](const PageEvent& e) {
    const std::uint64_t before = audit.events();
    EXPECT_THROW(audit.apply(e), AuditError);
    EXPECT_EQ(audit.events(), before);
  };
  PageEvent e = log.at(PageOp::allocate, 0);
  e.pages = {{7, 2}};
  refused(e);  // beyond the pool
  e.pages = {{0, 0}};
  refused(e);
  e.pages = {{0, 1}};
  e.node = "x";
  refused(e);  // no such node
  e.node = "d";
  e.request = 9;
  refused(e);  // no such request
  e = log.at(PageOp::land);
  e.id = 4;
  refused(e);  // no such transfer
  e = log.at(PageOp::write, 0);
  e.pages = {{0, 1}};
  e.tokens = 17;
  refused(e);  // more positions than pages
  e = log.at(PageOp::prompt, 0);
  e.tokens = 3;
  refused(e);  // a number twice
  e = log.at(PageOp::prompt, 5);
  e.tokens = 3;
  e.at = 0;
  refused(e);  // time goes back
  e = log.at(PageOp::restore, 0);
  e.pages = {{0, 1}};
  refused(e);  // nothing was saved
}

}  // namespace
}  // namespace handoff

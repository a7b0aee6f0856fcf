// Judges a stream of page events, of a run or of a production log, by the same oracles as a run: I1
// provenance, I2 coverage, I3 late write, I4 free in flight, I5 balance, I7 first cause, and of I6
// that every request has ended when the log does.
//
// It believes what the log says was done and asks whether it was right. So it does not see data
// that went elsewhere than logged, and a request's writes are taken for its own content. Not
// covered: I6's bound in time, I8, T1, metadata slots.
//
// Memory follows the pools and the requests in flight, not the length of the log.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/oracle/books.hpp"
#include "models/oracle/page_event.hpp"

namespace handoff {

// An event that cannot be: an unknown pool, a page beyond it, time going back. what() says which.
class AuditError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Audit {
 public:
  // `terminate_within`: bound from a request's arrival to its end, kNever: none (I6).
  explicit Audit(TimeNs terminate_within_ns = kNever, std::uint64_t findings_max = 10'000);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Events in order of time. Throws AuditError; the event has no effect then.
  void apply(const PageEvent& event);
  // The log has ended.
  void finish();

  [[nodiscard]] const FindingLog& findings() const { return findings_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_seen_; }
  [[nodiscard]] std::uint64_t tainted() const { return tainted_; }
  // Names by index, as Finding::deployment and FindingSource::tenant have them.
  [[nodiscard]] const std::vector<std::string>& deployments() const { return deployment_names_; }
  [[nodiscard]] const std::vector<std::string>& tenants() const { return tenant_names_; }

 private:
  struct Deployment;
  struct Pool;
  struct AuditedRequest;
  struct Transfer;

  Deployment& deployment(const std::string& name);
  Pool& pool(Deployment& d, const std::string& node, const std::string& group);
  AuditedRequest& request(RequestSerial serial);
  void check(const PageEvent& e);
  std::vector<PageIndex> pages_of(const std::vector<PageSpan>& spans, const Pool& pool) const;
  Finding* open(Rule rule, RequestSerial victim, const std::string& node, bool& fresh);

  void on_pool(const PageEvent& e);
  void on_prompt(const PageEvent& e);
  void on_allocate(const PageEvent& e);
  void on_free(const PageEvent& e);
  void on_write(const PageEvent& e);
  void on_read(const PageEvent& e);
  void on_save(const PageEvent& e);
  void on_restore(const PageEvent& e);
  void on_send(const PageEvent& e);
  void on_land(const PageEvent& e);
  void on_commit(const PageEvent& e);
  void on_reset(const PageEvent& e);
  void on_end(const PageEvent& e);
  void end_transfer(std::uint64_t id);
  void forget_if_done(RequestSerial serial);
  void forget(RequestSerial serial);

  TimeNs terminate_within_ns_;
  FindingLog findings_;
  CoverageBook coverage_;
  std::map<std::string, std::unique_ptr<Deployment>> by_name_;
  std::vector<std::string> deployment_names_;
  std::vector<std::string> tenant_names_;
  std::map<RequestSerial, std::unique_ptr<AuditedRequest>> live_;
  std::deque<RequestSerial> done_;  // of live_, in order; the oldest are forgotten
  std::map<std::uint64_t, std::unique_ptr<Transfer>> transfers_;
  TimeNs now_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t requests_seen_ = 0;
  std::uint64_t tainted_ = 0;
};

}  // namespace handoff

// Page events as a log: JSON lines that a production engine can print as well. `handoff audit`
// reads it, `run --page-log` writes it. The first line is {"handoff_page_log": 1}.
//
// Each further line is one event: "t" (ns, never going back), "op", and what the op needs of
//   deployment, node, group   names (deployment may be left out when there is one)
//   request                   a number, its own for each request of the log
//   pages                     [[first, count], ...] in the order of the positions they hold
//   position, tokens          the positions concerned; the first page holds `position`
// The table of ops with their keys stands in page_log.cpp; `handoff help audit` prints it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "models/oracle/page_event.hpp"

namespace handoff {

// A malformed log: "file:line: what is wrong".
class PageLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string page_log_head();
std::string page_log_line(const PageEvent& event);

// Reads a log line by line. Throws PageLogError.
class PageLogReader {
 public:
  // Opens the file and reads its head.
  explicit PageLogReader(const std::string& path);
  ~PageLogReader();
  // False at the end.
  bool next(PageEvent& event);
  // The place of the event read last, for errors about it.
  [[nodiscard]] std::string place() const;

 private:
  struct Input;
  std::unique_ptr<Input> input_;
};

// JSON schema (draft 07) of a line after the first, from the table that reads it.
std::string page_log_schema();
// One line a op: what it says and which keys it needs.
std::string page_log_help();

}  // namespace handoff

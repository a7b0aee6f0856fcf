// JUnit XML. There is no official schema: this keeps to what its readers share (testsuites,
// testsuite, testcase, failure, error).
#include <fmt/format.h>

#include <algorithm>

#include "reports/suite.hpp"

namespace handoff {
namespace {

// XML 1.0 has no way to write most control characters: they become '?'.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n')
      out += "&#10;";
    else
      out += byte < 0x20 && c != '\t' ? '?' : c;
  }
  return out;
}

std::string testcase(const SuiteResult& result, const std::string& name, const std::string& body) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", escaped(title(result)),
                     escaped(name),
                     body.empty() ? "/>\n" : fmt::format(">\n{}    </testcase>\n", body));
}

std::string case_xml(const SuiteResult& result, const SuiteCase& c) {
  std::string body;
  if (!c.met) {
    const std::string place = c.mark.line > 0
                                  ? fmt::format("{}:{}:{}", result.path, c.mark.line, c.mark.column)
                                  : result.path;
    std::string text = c.missed + "\n";
    for (const SuiteFinding& f : result.findings)
      text += fmt::format("{} {}: {}\n", code(f.rule), f.node, f.message);
    body = fmt::format("      <failure type=\"expectation\" message=\"{}: {}\">{}</failure>\n",
                       escaped(place), escaped(c.missed), escaped(text));
  }
  return testcase(result, fmt::format("{} {}", c.name, c.bound), body);
}

std::string error_xml(const SuiteResult& result) {
  std::string text;
  for (const std::string& line : result.errors) text += line + "\n";
  const char* type = result.outcome == SuiteOutcome::bad_input ? "bad input" : "internal error";
  return testcase(
      result, "runs",
      fmt::format("      <error type=\"{}\" message=\"{}\">{}</error>\n", type,
                  escaped(result.errors.empty() ? "" : result.errors.front()), escaped(text)));
}

bool is_error(const SuiteResult& r) {
  return r.outcome != SuiteOutcome::passed && r.outcome != SuiteOutcome::failed;
}

}  // namespace

std::string junit_xml(const std::vector<SuiteResult>& results) {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::string suites;
  for (const SuiteResult& r : results) {
    const std::size_t of_suite = is_error(r) ? 1 : r.cases.size();
    const auto missed = static_cast<std::size_t>(
        std::count_if(r.cases.begin(), r.cases.end(), [](const SuiteCase& c) { return !c.met; }));
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n",
        escaped(title(r)), of_suite, is_error(r) ? 0 : missed, is_error(r) ? 1 : 0);
    if (is_error(r))
      suites += error_xml(r);
    else
      for (const SuiteCase& c : r.cases) suites += case_xml(r, c);
    suites += "  </testsuite>\n";
    tests += of_suite;
    failures += is_error(r) ? 0 : missed;
    errors += is_error(r) ? 1 : 0;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"handoff\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      tests, failures, errors, suites);
}

}  // namespace handoff

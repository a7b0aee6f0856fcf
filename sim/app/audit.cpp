// handoff audit: the oracles over a log of page events.
#include <fmt/format.h>

#include "models/oracle/audit.hpp"
#include "reports/json.hpp"
#include "reports/page_log.hpp"
#include "reports/text.hpp"
#include "scenarios/loader/scalars.hpp"
#include "sim/app/options.hpp"
#include "sim/app/output.hpp"

namespace handoff::app {
namespace {

std::string text_of(const Audit& audit, std::size_t shown, const Style& style) {
  const auto count = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  std::string out = fmt::format(
      "{}, {}, {} fed by other requests' memory\n", plural(count(audit.events()), "event"),
      plural(count(audit.requests()), "request"), plural(count(audit.tainted()), "response"));
  if (audit.findings().total() == 0) return out + style.good("no finding") + "\n";
  for (int i = 0; i < kRules; ++i)
    if (const auto n = audit.findings().counts()[static_cast<std::size_t>(i)]; n > 0)
      out += fmt::format("{} {}: {}\n", code(static_cast<Rule>(i)), title(static_cast<Rule>(i)),
                         grouped(count(n)));
  std::size_t told = 0;
  for (const Finding& f : audit.findings().kept()) {
    if (told++ == shown) break;
    out += fmt::format("\n{}  {} ns, event {}, {}\n  {}\n", style.bad(code(f.rule)), f.at, f.event,
                       f.node, f.message);
    if (!f.pages.empty()) out += fmt::format("  {} of group {}\n", pages_text(f), f.group);
    for (std::size_t i = 0; i < std::min<std::size_t>(f.sources.size(), 5); ++i)
      out += fmt::format("  {} of request {} ({})\n", plural(f.sources[i].tokens, "token"),
                         f.sources[i].request, audit.tenants().at(f.sources[i].tenant));
  }
  if (told > shown) out += "\nmore: --findings N\n";
  return out;
}

int audit_command(const Words& words) {
  const Options options(
      words, {{"format", true}, {"findings", true}, {"terminate-within", true}, {"color", true}});
  const std::string path = options.plain(1, 1, "a page log").front();
  const std::string format = options.one_of("format", {"text", "json"});
  const Style style = style_for(options.one_of("color", {"auto", "always", "never"}));
  const auto shown = static_cast<std::size_t>(options.number("findings", 10, 0, 1'000'000));
  TimeNs bound = kNever;
  if (const auto within = options.value("terminate-within")) {
    const auto parsed = loader::parse_duration(*within);
    if (!parsed.value) throw UsageError("option '--terminate-within': " + parsed.error);
    bound = *parsed.value;
  }
  PageLogReader reader(path);
  Audit audit(bound);
  PageEvent event;
  while (reader.next(event)) {
    if (interrupted()) return kInterrupted;
    try {
      audit.apply(event);
    } catch (const AuditError& error) {
      throw PageLogError(fmt::format("{}: {}", reader.place(), error.what()));
    }
  }
  audit.finish();
  print(format == "json"
            ? findings_json(audit.findings().kept(), audit.deployments(), audit.tenants())
            : text_of(audit, shown, style));
  return audit.findings().total() == 0 ? kClean : kFindings;
}

}  // namespace

const Command kAudit{
    "audit",
    "runs the oracles over a log of page events",
    "audit LOG [OPTION...]",
    R"(Reads a log of what happens to KV pages, of 'run --page-log' or of a production engine, line by line
and judges it: reads of other requests' content (I1), commits without full coverage (I2), late writes
(I3), pages freed in flight (I4), freed twice, given twice or never freed (I5), requests without an end
(I6), success after an error (I7). It believes what the log says was done, and asks whether it was right.

The log is JSON, one object a line. The first is {"handoff_page_log": 1}; each other has "t" (ns), "op"
and the keys that the op needs:

)",
    audit_command,
    page_log_help,
    R"(
"deployment" may be left out when there is one. Pages are [[first, count], ...] in the order of the
positions that they hold; the first page holds "position".

  --format text|json
  --findings N       told in full (default 10)
  --terminate-within T   a request that is answered later, or never, is a finding
  --color auto|always|never

Exit codes: 0 no finding, 1 findings, 2 a malformed log (file and line are told).
)"};

}  // namespace handoff::app

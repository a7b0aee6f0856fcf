#include "sim/app/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "reports/text.hpp"
#include "sim/app/execute.hpp"
#include "sim/engine/check.hpp"

namespace handoff::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void judge_run(const Scenario& scenario, SuiteResult& result) {
  const Executed executed = execute(scenario, {});
  if (executed.interrupted) {
    result.outcome = Outcome::interrupted;
    return;
  }
  std::uint64_t findings = 0;
  for (const std::uint64_t count : executed.report.result.findings_by_rule) findings += count;
  result.counts = fmt::format(
      "{}, {}", plural(static_cast<std::int64_t>(executed.report.result.requests), "request"),
      plural(static_cast<std::int64_t>(findings), "finding"));
  if (executed.verdict.passed()) return;
  result.outcome = Outcome::failed;
  for (const Check& check : executed.verdict.checks) {
    if (check.met) continue;
    const SourceMark mark = check.expected.mark;
    const std::string place =
        mark.line > 0 ? fmt::format("{}:{}:{}: ", scenario.path, mark.line, mark.column) : "";
    result.details.push_back(place + text(check));
  }
  if (executed.verdict.unexpected_findings > 0)
    result.details.push_back(fmt::format(
        "{}, and the scenario expects none",
        plural(static_cast<std::int64_t>(executed.verdict.unexpected_findings), "finding")));
}

// Runs `work` and tells what became of it; nothing thrown gets out of a thread.
template <class Work>
void guarded(SuiteResult& result, Work&& work) {
  try {
    work();
  } catch (const ScenarioError& error) {
    result.outcome = Outcome::bad_input;
    result.details = lines_of(error.what());
  } catch (const TraceError& error) {
    result.outcome = Outcome::bad_input;
    result.details = lines_of(error.what());
  } catch (const std::exception& error) {
    result.outcome = Outcome::broken;
    result.details = lines_of(error.what());
  }
}

std::vector<SuiteResult> run_file(const std::string& path, const std::vector<std::string>& sets) {
  std::vector<SuiteResult> results(1);
  results[0].path = path;
  std::vector<FixedArm> arms;
  guarded(results[0], [&] {
    const Scenario scenario = load_scenario(path, sets, catalog_folder());
    arms = scenario.fixed;
    judge_run(scenario, results[0]);
  });
  for (std::size_t i = 0; i < arms.size(); ++i) {
    SuiteResult& result = results.emplace_back();
    result.path = path;
    result.arm = arms[i].name.empty() ? fmt::format("fixed: {}", fmt::join(arms[i].set, ", "))
                                      : "fixed: " + arms[i].name;
    guarded(result, [&] { judge_run(load_fixed_arm(path, sets, i, catalog_folder()), result); });
  }
  return results;
}

}  // namespace

std::vector<std::string> scenario_files(const Words& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error))
        throw UsageError(fmt::format("{}: no such file or folder", path));
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && entry.path().extension() == ".yaml")
        files.push_back(entry.path().string());
    if (files.size() == before)
      throw UsageError(fmt::format("{}: no *.yaml file in this folder", path));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

void run_suite(const std::vector<std::string>& files, const std::vector<std::string>& sets,
               unsigned jobs, const std::function<void(const SuiteResult&)>& on_result) {
  std::vector<std::optional<std::vector<SuiteResult>>> done(files.size());
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !interrupted(); i = next++) {
      std::vector<SuiteResult> results = run_file(files[i], sets);
      const std::lock_guard lock(mutex);
      done[i] = std::move(results);
      changed.notify_one();
    }
    const std::lock_guard lock(mutex);
    changed.notify_one();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < jobs; ++i) threads.emplace_back(work);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::hours(24),
                     [&] { return done[i].has_value() || interrupted(); });
    if (!done[i]) break;
    const std::vector<SuiteResult> results = std::move(*done[i]);
    lock.unlock();
    for (const SuiteResult& result : results) on_result(result);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace handoff::app

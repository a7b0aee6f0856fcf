#include "sim/app/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

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

SuiteResult judge_runs(Scenario scenario, const std::string& path, const std::string& arm) {
  SuiteJudge judge(scenario, path, arm);
  const std::uint64_t first = scenario.run.seed;
  for (std::int64_t i = 0; i < scenario.expect.seeds && !interrupted(); ++i) {
    scenario.run.seed = first + static_cast<std::uint64_t>(i);
    const Executed executed = execute(scenario, {});
    if (executed.interrupted) break;
    judge.add(executed.report, executed.verdict, scenario.run.seed);
  }
  SuiteResult result = judge.take();
  if (interrupted()) result.outcome = SuiteOutcome::interrupted;
  return result;
}

// Runs `work` and tells what became of it; nothing thrown gets out of a thread.
template <class Work>
SuiteResult guarded(const std::string& path, const std::string& arm, Work&& work) {
  SuiteResult failed;
  failed.path = path;
  failed.arm = arm;
  failed.outcome = SuiteOutcome::bad_input;
  try {
    return work();
  } catch (const ScenarioError& error) {
    failed.errors = lines_of(error.what());
    const Diagnostic& first = error.diagnostics().front();
    if (first.file == path) failed.error_mark = {first.line, first.column};
  } catch (const TraceError& error) {
    failed.errors = lines_of(error.what());
  } catch (const std::exception& error) {
    failed.outcome = SuiteOutcome::broken;
    failed.errors = lines_of(error.what());
  }
  return failed;
}

std::vector<SuiteResult> run_file(const std::string& path, const std::vector<std::string>& sets) {
  std::vector<SuiteResult> results;
  std::vector<FixedArm> arms;
  results.push_back(guarded(path, {}, [&] {
    Scenario scenario = load_scenario(path, sets, catalog_folder());
    arms = scenario.fixed;
    return judge_runs(std::move(scenario), path, {});
  }));
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::string arm = arms[i].name.empty()
                                ? fmt::format("fixed: {}", fmt::join(arms[i].set, ", "))
                                : "fixed: " + arms[i].name;
    results.push_back(guarded(path, arm, [&] {
      return judge_runs(load_fixed_arm(path, sets, i, catalog_folder()), path, arm);
    }));
  }
  return results;
}

// Whether `name` is `pattern`, in which '*' stands for any characters.
bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*')
    return !name.empty() && name[0] == pattern[0] && matches(name.substr(1), pattern.substr(1));
  for (std::size_t skip = 0; skip <= name.size(); ++skip)
    if (matches(name.substr(skip), pattern.substr(1))) return true;
  return false;
}

// Files below `folder`, or in it alone, whose name is `pattern`.
void collect(const fs::path& folder, bool below, const std::string& pattern,
             std::vector<std::string>& files) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && below) collect(entry.path(), below, pattern, files);
    if (entry.is_regular_file() && matches(entry.path().filename().string(), pattern))
      files.push_back(entry.path().string());
  }
}

}  // namespace

std::vector<std::string> scenario_files(const Words& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path place(path);
    const std::size_t before = files.size();
    if (fs::is_directory(place, error)) {
      collect(place, true, "*.yaml", files);
      if (files.size() == before)
        throw UsageError(fmt::format("{}: no *.yaml file in this folder", path));
    } else if (fs::exists(place, error)) {
      files.push_back(path);
    } else if (place.filename().string().find('*') != std::string::npos) {
      const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
      if (fs::is_directory(folder, error)) collect(folder, false, place.filename().string(), files);
      if (files.size() == before) throw UsageError(fmt::format("{}: no such file", path));
    } else {
      throw UsageError(fmt::format("{}: no such file or folder", path));
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::vector<std::string> shard_of(const std::vector<std::string>& files, std::size_t part,
                                  std::size_t parts) {
  std::vector<std::string> out;
  for (std::size_t i = part - 1; i < files.size(); i += parts) out.push_back(files[i]);
  return out;
}

void run_suite(const std::vector<std::string>& files, const std::vector<std::string>& sets,
               unsigned jobs, const std::function<void(SuiteResult)>& on_result) {
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
    std::vector<SuiteResult> results = std::move(*done[i]);
    lock.unlock();
    for (SuiteResult& result : results) on_result(std::move(result));
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace handoff::app

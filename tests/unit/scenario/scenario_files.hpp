// Writes scenario texts to a folder of its own and loads them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.hpp"

namespace handoff {

inline const std::string kCatalog = HANDOFF_SOURCE_DIR "/models/catalog";

// One small deployment and one request, with every key that must be there.
inline constexpr std::string_view kSmall = R"(handoff: 1
name: small
model: llama-3.1-8b
engine: sglang-v2
cluster:
  context_window: 32_768
  prefill: {nodes: 2, hardware: 8xh200, kv_pool_tokens: 65_536}
  decode: {nodes: 1, hardware: 8xh200, kv_pool_tokens: 131_072}
workload:
  - requests: [{at: 0s, prompt_tokens: 100}]
)";

class ScenarioFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("handoff-scenario-" + std::to_string(::getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Scenario load(std::string_view text, const std::vector<std::string>& sets = {}) {
    return load_scenario(write("s.yaml", text), sets, kCatalog);
  }
  // What is wrong with it, each as "line:column: message" (the file left out when it is the
  // scenario).
  std::vector<std::string> errors(std::string_view text,
                                  const std::vector<std::string>& sets = {}) {
    const std::string path = write("s.yaml", text);
    return errors_of(path, sets);
  }
  static std::vector<std::string> errors_of(const std::string& path,
                                            const std::vector<std::string>& sets = {}) {
    std::vector<std::string> found;
    try {
      load_scenario(path, sets, kCatalog);
    } catch (const ScenarioError& e) {
      for (const Diagnostic& d : e.diagnostics()) {
        EXPECT_EQ(d.severity, Severity::error);
        found.push_back((d.file == path ? "" : d.file + ":") + std::to_string(d.line) + ":" +
                        std::to_string(d.column) + ": " + d.message);
      }
    }
    return found;
  }

  std::filesystem::path folder_;
};

// `text` with the first `from` replaced.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}
inline std::string small_with(std::string_view from, std::string_view to) {
  return with(std::string(kSmall), from, to);
}
inline std::string small_and(std::string_view more) {
  return std::string(kSmall) + std::string(more);
}

}  // namespace handoff

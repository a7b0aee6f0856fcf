// Runs the program in a folder of its own and keeps what it says.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace handoff {

struct Said {
  int status = 0;  // exit code, or 128 + signal
  std::string out;
  std::string err;
};

class Program : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // `shell`: words after the program, as a shell reads them. Standard output and error are files
  // unless redirected there. `environment`: "NAME=value ..." before the program.
  [[nodiscard]] Said handoff(const std::string& shell, const std::string& environment = {}) const;
  // Writes a file into the folder, gives its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;  // of all in the folder, sorted

  std::filesystem::path folder_;
};

// A scenario of two requests that ends without a finding.
extern const char* const kQuiet;
// One whose notice lies: one tainted response, I1 and I2. `expect` is left to the test.
extern const char* const kLeak;
std::string scenario_path(const std::string& name);  // of the repository

}  // namespace handoff

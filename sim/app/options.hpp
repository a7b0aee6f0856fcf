// Options of a subcommand: "--name value", "--name=value" and flags, mixed with plain words; all
// after "--" are plain words. Nothing is guessed: an abbreviated or misspelt option is an error
// that names the nearest one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/command.hpp"

namespace handoff::app {

struct OptionSpec {
  const char* name;  // without its dashes
  bool takes_value;
  bool repeats = false;
};

class Options {
 public:
  // Throws UsageError: unknown option, missing or unwanted value, an option given twice.
  Options(const Words& words, const std::vector<OptionSpec>& specs);

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> value(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> values(const std::string& name) const;
  // A whole number in [low, high], digits alone. Throws UsageError.
  [[nodiscard]] std::int64_t number(const std::string& name, std::int64_t preset, std::int64_t low,
                                    std::int64_t high) const;
  // One of `words`; the first one when not given. Throws UsageError.
  [[nodiscard]] std::string one_of(const std::string& name,
                                   const std::vector<std::string>& words) const;
  [[nodiscard]] const Words& plain() const { return plain_; }
  // The plain words, between `low` and `high` of them. `what` says of one word what it is.
  const Words& plain(std::size_t low, std::size_t high, const char* what) const;

 private:
  struct Given {
    std::string name;
    std::string value;
  };
  std::vector<Given> given_;
  Words plain_;
};

}  // namespace handoff::app

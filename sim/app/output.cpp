#include "sim/app/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "reports/files.hpp"

namespace handoff::app {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw ReaderGone();
  throw OutputError(std::string("standard output: cannot be written: ") + std::strerror(errno));
}

Style style_for(const std::string& when) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  return {when == "always" || (when == "auto" && !plain && ::isatty(STDOUT_FILENO) == 1)};
}

std::string shell_quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_./=:,+@%") == std::string::npos &&
      !word.empty())
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace handoff::app

// Standard output of the program, with its errors seen: a full disk or a closed pipe must not look
// like an empty result.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "reports/text.hpp"

namespace handoff::app {

// Who reads standard output has gone (| head): no error, but nothing more to do.
class ReaderGone : public std::exception {};

// Writes all of it, at once. Throws OutputError, ReaderGone.
void print(std::string_view text);

// `when`: "auto" (a terminal, and NO_COLOR not set), "always", "never".
Style style_for(const std::string& when);

// A word as one types it for a shell.
std::string shell_quoted(const std::string& word);

}  // namespace handoff::app

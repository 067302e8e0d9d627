// The program `ptxkit`.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/tool/tool.hpp"

namespace {

// Whether what goes there is for a person at a terminal that shows colours.
bool shows_colour(int stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(stream) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

// False, and errno, when not all of it was taken: a full disk, a pipe that nobody reads.
bool put(std::FILE* stream, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

volatile std::sig_atomic_t interrupted = 0;

// Of a command that asks, Ctrl-C ends the run, and what it has is said; the next one, and that of other commands, ends the
// program.
bool goes_on() {
  static const bool listens = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    struct sigaction before = {};
    if (sigaction(SIGINT, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
    return true;
  }();
  return listens && interrupted == 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const ptx::tool::Caller caller{.in = &std::cin,
                                 .colour = shows_colour(STDOUT_FILENO),
                                 .colour_of_errors = shows_colour(STDERR_FILENO),
                                 .goes_on = goes_on,
                                 .say = [](std::string_view text) { put(stdout, std::string(text)); }};
  const ptx::tool::Outcome outcome = ptx::tool::run(arguments, caller);
  const bool written = put(stdout, outcome.out);
  const int why = errno;
  put(stderr, outcome.err);
  if (written) return interrupted != 0 ? 130 : outcome.status;  // as shells say it
  std::fprintf(stderr, "ptxkit: error: cannot write the standard output: %s\n", std::strerror(why));
  return 2;
} catch (const std::exception& fault) {  // memory that ran out
  std::fprintf(stderr, "ptxkit: error: %s\n", fault.what());
  return 2;
}

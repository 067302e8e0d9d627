// The program `ptx`.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "ptx/tool/tool.hpp"

int main(int argc, char** argv) try {
  std::ios::sync_with_stdio(false);
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colour = isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const ptx::tool::Outcome outcome = ptx::tool::run(arguments, {.in = &std::cin, .colour = colour});
  std::cout << outcome.out << std::flush;
  std::cerr << outcome.err << std::flush;
  return std::cout ? outcome.status : 2;
} catch (const std::exception& fault) {  // memory that ran out
  std::fprintf(stderr, "ptx: error: %s\n", fault.what());
  return 2;
}

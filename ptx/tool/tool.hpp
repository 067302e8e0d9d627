// tool (floor 6): the command line: check, print, run, isa. The program `ptxkit` and `python -m pyptx` are thin doors onto `run`.
#pragma once

#include <functional>
#include <istream>
#include <span>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::tool {

/// How a command meets its caller.
struct Caller {
  std::istream* in = nullptr;           ///< what the file `-` reads
  bool colour = false;                  ///< `out` goes to a terminal
  bool colour_of_errors = false;        ///< `err` does
  std::string_view program = "ptxkit";  ///< how usage lines and errors name the program
  std::function<bool()> goes_on = {};   ///< asked every few milliseconds of a long run; false ends it
  /// Takes what a command says while it is talked with (`debug`); without it all is in Outcome::out.
  std::function<void(std::string_view)> say = {};
};

/// What a command did. 0: well; 1: the PTX has errors; 2: it was called wrongly, or a file cannot be read or written.
struct Outcome {
  int status = 0;
  std::string out, err;  ///< for the standard streams
};

/// Runs the command line behind the program's name: {"check", "kernel.ptx", "--json"}.
Outcome run(std::span<const std::string> arguments, const Caller& caller);

/// A finding as a terminal shows it: message, place, the line of the source with a caret below the place, notes. `source` is the
/// text of the finding's file, "" when it is not at hand.
std::string render(const Diagnostic& finding, std::string_view source, bool colour);

}  // namespace ptx::tool

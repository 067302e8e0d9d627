// The commands, one file each.
#pragma once

#include <string>
#include <vector>

#include "ptx/tool/tool.hpp"

namespace ptx::tool {

/// A command line, read: options by name, the rest in order.
struct Arguments {
  std::vector<std::string> files;  ///< or whatever a command takes that is no option
  std::string target;              ///< --target
  std::string output;              ///< -o
  bool json = false;               ///< --json
  std::size_t most = 50;           ///< --max: findings shown of one file, 0: all
};

Outcome check(const Arguments& arguments, const Caller& caller);
Outcome print(const Arguments& arguments, const Caller& caller);
Outcome isa(const Arguments& arguments, const Caller& caller);

/// An outcome of status 2 that says `error: …` on the error stream.
Outcome refuse(const Caller& caller, std::string_view message, std::string_view hint = "");

}  // namespace ptx::tool

// Files in and out, with errors that say what is wrong with the file.
#pragma once

#include <string>
#include <string_view>

#include "ptx/tool/tool.hpp"

namespace ptx::tool {

/// The text of a file, or why there is none.
struct Read {
  std::string text;
  std::string failure;  ///< "" when the text was read: "cannot read `x.ptx`: no such file"
  std::string hint;
};

/// Reads a file that should be PTX; `-` is the caller's input. Folders, unreadable files and files that are no text are failures.
Read read_file(const std::string& path, const Caller& caller);
/// How findings name the file: "<stdin>" for `-`.
std::string display_name(const std::string& path);
/// Writes a file; what went wrong, or "".
std::string write_file(const std::string& path, std::string_view text);

}  // namespace ptx::tool

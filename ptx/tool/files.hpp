// Files in and out, with errors that say what is wrong with the file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
/// All bytes of a file. Kind file_error.
Expected<std::string> read_bytes(const std::string& path);
/// Files by name, and what is wrong with other names.
struct Files {
  std::vector<std::string> paths;
  std::vector<std::pair<std::string, std::string>> failures;  ///< message, hint
};
/// The names given, and in the place of each folder the files below it whose names end in `.ptx`, in order. A folder without any
/// is a failure.
Files find_files(std::span<const std::string> names);
/// How findings name the file: "<stdin>" for `-`.
std::string display_name(const std::string& path);
/// Why a file cannot be written, as far as that is known before there is anything to write: a folder, or a folder that is
/// missing; empty if nothing is.
std::string obstacle_to_writing(const std::string& path);
/// Writes a file, whole or not at all: what was there stays until the new one is complete. A device or a pipe is written to as it
/// is. What went wrong, or "".
std::string write_file(const std::string& path, std::string_view text);

}  // namespace ptx::tool

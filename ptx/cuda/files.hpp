// Whole files, read and written: for the tools' temporary files, the cache of compiled kernels and saved kernels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::cuda {

/// Errors of all: file_error, with the path and the system's reason (a full disk, for instance).
Expected<void> write_file(const std::string& path, std::string_view bytes);
Expected<std::string> read_file(const std::string& path);

/// Writes beside `path` and then, when all of it is on the disk, puts the file in its place: a reader sees the old file, the new
/// one or none, never a part, and of several writers the last one wins. Nothing is left behind when it fails. What is there and
/// is no file (a device, a folder) stays: file_error.
enum class Readers : std::uint8_t { as_usual, owner };  ///< as the umask says, or nobody but the owner
Expected<void> replace_file(const std::string& path, std::string_view bytes, Readers readers = Readers::as_usual);

}  // namespace ptx::cuda

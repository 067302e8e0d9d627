// Keeping the cache's folder small, and out of other people's hands. Inside the room only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ptx::cuda {

/// Why a folder's files are not taken and none is put there: it belongs to somebody else, or anybody may write to it. Nothing: it
/// may be used, or is not there yet.
std::optional<std::string> folder_trouble(const std::string& folder);
/// Whether a file is this user's or root's, and nobody else may write to it. False also for one that is not there.
bool is_own_file(const std::string& path);
/// Makes the folder and those above it; what is made is this user's alone. False (errno says why) when that fails.
bool make_own_folder(const std::string& path);

/// Notes that the file is in use, so that it goes later than others. At most once a day.
void touch(const std::string& path);

/// Removes what writers that died left behind, and entries until at most `max_bytes` are left, those first that were not used
/// for the longest time. It looks when nobody has for an hour, or when this process has written much since it looked last
/// (`written`, bytes). Errors are no concern: somebody else may do the same.
void sweep(const std::string& folder, std::uint64_t max_bytes, std::uint64_t written);

}  // namespace ptx::cuda

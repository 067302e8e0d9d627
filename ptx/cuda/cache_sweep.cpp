#include "ptx/cuda/cache_sweep.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::cuda {
namespace {

namespace fs = std::filesystem;
using FileClock = fs::file_time_type::clock;

constexpr std::chrono::hours between_sweeps{1}, dead_after{1}, between_touches{24};
constexpr std::uint64_t share_before_sweep = 16;  // a process that wrote this part of the limit looks again

struct CachedFile {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

/// The entries; what dead writers left is removed on the way.
std::vector<CachedFile> entries_of(const fs::path& folder) {
  std::vector<CachedFile> entries;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at.depth() > 1) at.disable_recursion_pending();  // nothing of ours lies deeper
    if (!at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    const auto used = at->last_write_time(ignored);
    if (ignored) continue;
    if (at->path().extension() == ".tmp") {
      if (FileClock::now() - used > dead_after) fs::remove(at->path(), ignored);
    } else if (at.depth() == 1 && at->path().extension() == ".cubin") {  // above lies what `pyptx.cache` keeps
      entries.push_back({at->path(), static_cast<std::uint64_t>(at->file_size(ignored)), used});
    }
  }
  return entries;
}

/// Whether it is this process's turn; then nobody else's for an hour.
bool is_due(const fs::path& folder, std::uint64_t max_bytes, std::uint64_t written) {
  static std::atomic<std::uint64_t> since{0};
  if (since.fetch_add(written) + written > max_bytes / share_before_sweep) {
    since = 0;
    return true;
  }
  const fs::path stamp = folder / "swept";
  std::error_code error;
  const auto last = fs::last_write_time(stamp, error);
  return error || FileClock::now() - last > between_sweeps;
}

}  // namespace

std::optional<std::string> folder_trouble(const std::string& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;  // whoever makes it finds out
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return cat("the folder `", folder, "` belongs to user ", status.st_uid, "; this process is user ", ::geteuid(), "'s");
  if ((status.st_mode & S_IWOTH) != 0) return cat("anybody may write to the folder `", folder, "`; `chmod o-w` makes it fit");
  return std::nullopt;
}

bool is_own_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return true;
  struct stat status{};
  if (errno == EEXIST) {
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return true;
    errno = ENOTDIR;
    return false;
  }
  const std::string above = fs::path(path).parent_path().string();
  if (errno != ENOENT || above.empty() || above == path || !make_own_folder(above)) return false;
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

void touch(const std::string& path) {
  std::error_code error;
  const auto last = fs::last_write_time(path, error);
  if (!error && FileClock::now() - last > between_touches) fs::last_write_time(path, FileClock::now(), error);
}

void sweep(const std::string& folder, std::uint64_t max_bytes, std::uint64_t written) {
  if (!is_due(folder, max_bytes, written)) return;
  const std::string stamp = (fs::path(folder) / "swept").string();
  if (const int made = ::open(stamp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); made >= 0) {
    (void)::futimens(made, nullptr);
    (void)::close(made);
  }
  std::vector<CachedFile> entries = entries_of(folder);
  std::uint64_t total = 0;
  for (const CachedFile& entry : entries) total += entry.bytes;
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& entry : entries) {
    if (total <= max_bytes / 4 * 3) return;  // room until the next time
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace ptx::cuda

// Compiled kernels on disk, shared by processes: one file for each, named by the hash of what it was compiled from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::cuda {

/// A folder of cubins: `<2 hex digits>/<64 hex digits>.cubin`. Files are whole or absent, also when several processes write the
/// same one; one that is damaged counts as absent and is replaced, and so does one that somebody else owns or may write to. Any
/// thread may call anything. When the folder grows over a limit, those entries go that were not used for the longest time.
class DiskCache {
 public:
  static constexpr std::uint64_t default_most_bytes = std::uint64_t{2} << 30;

  /// Keeps nothing.
  DiskCache() = default;
  explicit DiskCache(std::string folder, std::uint64_t max_bytes = default_most_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  /// $PYPTX_CACHE_DIR; without it $XDG_CACHE_HOME/pyptx, else ~/.cache/pyptx. Keeps nothing when PYPTX_CACHE_DIR is empty or
  /// `off`, or when there is no home.
  static DiskCache from_environment();

  [[nodiscard]] bool on() const { return !folder_.empty(); }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The same folder with another limit: bytes that the entries may take together.
  [[nodiscard]] DiskCache limited_to(std::uint64_t max_bytes) const { return DiskCache(folder_, max_bytes); }

  /// What ptxas made of a text: the cubin and all that it printed. No cubin: that ptxas is too old for the text.
  struct Entry {
    std::string cubin;
    std::string log;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  /// The entry, or nothing when it is not there, is damaged or cannot be read.
  [[nodiscard]] std::optional<Entry> find(const Digest& key) const;
  /// Errors: file_error (a full disk, a folder that may not be written, that is another user's or that anybody may write to).
  [[nodiscard]] Expected<void> keep(const Digest& key, const Entry& entry) const;
  /// Where the entry lies, or would.
  [[nodiscard]] std::string path_of(const Digest& key) const;

  /// What `tool --version` prints. The tool runs only when this cache and this process have not seen it: a file of this path,
  /// size and time of change. Errors: tool_failed.
  [[nodiscard]] Expected<std::string> version_of(const std::string& tool) const;
  /// The versions of all the tools that this cache has seen, the newest first: what a process without ptxas may look for.
  [[nodiscard]] std::vector<std::string> known_versions() const;

 private:
  [[nodiscard]] bool usable() const;

  std::string folder_;
  std::uint64_t max_bytes_ = default_most_bytes;
};

/// "0a1b…": lower-case hexadecimal.
std::string to_hex(const Digest& digest);

}  // namespace ptx::cuda

#include "ptx/cuda/disk_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "ptx/cuda/cache_sweep.hpp"
#include "ptx/cuda/environment.hpp"
#include "ptx/cuda/files.hpp"
#include "ptx/cuda/sections.hpp"
#include "ptx/cuda/tools.hpp"

namespace ptx::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view entry_magic = "ptxcubin";
constexpr std::string_view tool_magic = "ptx-tool";
constexpr std::uint32_t format = 1;
constexpr std::size_t max_versions = 32;

/// The sections of a file in this order of names, or nothing.
std::optional<std::vector<Section>> read_sections(std::string_view magic, const std::string& path,
                                                  std::initializer_list<std::string_view> names) {
  if (!is_own_file(path)) return std::nullopt;
  const auto bytes = read_file(path);
  if (!bytes) return std::nullopt;
  auto sections = unpack_sections(magic, format, *bytes, path);
  if (!sections || !std::equal(sections->begin(), sections->end(), names.begin(), names.end(),
                               [](const Section& section, std::string_view name) { return section.name == name; })) {
    return std::nullopt;
  }
  return std::move(*sections);
}

Expected<std::size_t> write_sections(std::string_view magic, const fs::path& path, const std::vector<Section>& sections) {
  if (const std::string folder = path.parent_path().string(); !make_own_folder(folder))
    return Unexpected{{.kind = Kind::file_error, .message = cat("cannot make folder `", folder, "`: ", std::strerror(errno))}};
  const std::string bytes = pack_sections(magic, format, sections);
  auto written = replace_file(path.string(), bytes, Readers::owner);
  if (!written) return Unexpected{std::move(written).error()};
  return bytes.size();
}

/// A file as it is now: another path, size or time of change is another tool.
std::optional<std::string> stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return cat(path, '\0', static_cast<std::int64_t>(status.st_size), '\0', static_cast<std::int64_t>(status.st_mtim.tv_sec), '.',
             static_cast<std::int64_t>(status.st_mtim.tv_nsec));
}

}  // namespace

std::string to_hex(const Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest) out += hex(byte, 2);
  return out;
}

DiskCache DiskCache::from_environment() {
  if (const char* chosen = std::getenv("PYPTX_CACHE_DIR")) {
    const std::string_view folder = chosen;
    if (folder.empty() || folder == "off") return {};
    if (const auto home = environment("HOME"); home && folder.starts_with("~/")) return DiskCache(cat(*home, folder.substr(1)));
    return DiskCache(std::string(folder));
  }
  // The XDG rules take absolute paths alone.
  if (const auto caches = environment("XDG_CACHE_HOME"); caches && caches->starts_with('/'))
    return DiskCache(cat(*caches, "/pyptx"));
  if (const auto home = environment("HOME")) return DiskCache(cat(*home, "/.cache/pyptx"));
  return {};
}

std::string DiskCache::path_of(const Digest& key) const {
  const std::string name = to_hex(key);
  return cat(folder_, '/', name.substr(0, 2), '/', name, ".cubin");
}

bool DiskCache::usable() const { return on() && !folder_trouble(folder_); }

std::optional<DiskCache::Entry> DiskCache::find(const Digest& key) const {
  if (!usable()) return std::nullopt;
  const std::string path = path_of(key);
  auto sections = read_sections(entry_magic, path, {"key", "cubin", "log"});
  if (!sections || (*sections)[0].bytes != to_hex(key)) return std::nullopt;
  if (const std::string& cubin = (*sections)[1].bytes; !cubin.empty() && !is_cubin(cubin)) return std::nullopt;
  touch(path);
  return Entry{.cubin = std::move((*sections)[1].bytes), .log = std::move((*sections)[2].bytes)};
}

Expected<void> DiskCache::keep(const Digest& key, const Entry& entry) const {
  if (!on()) return {};
  if (auto trouble = folder_trouble(folder_)) return Unexpected{{.kind = Kind::file_error, .message = std::move(*trouble)}};
  auto written = write_sections(entry_magic, path_of(key), {{"key", to_hex(key)}, {"cubin", entry.cubin}, {"log", entry.log}});
  if (!written) return Unexpected{std::move(written).error()};
  sweep(folder_, max_bytes_, *written);
  return {};
}

Expected<std::string> DiskCache::version_of(const std::string& tool) const {
  static std::mutex mutex;
  static auto& seen = *new std::map<std::string, std::string>;  // never destroyed: threads may outlive our statics
  const std::optional<std::string> stamp = stamp_of(tool);
  if (!stamp) return cuda::version_of(tool);  // it says why it cannot be run
  const fs::path path = fs::path(folder_) / "tools" / cat(to_hex(sha256(*stamp)), ".tool");
  std::optional<std::string> version;
  {
    const std::lock_guard lock(mutex);
    if (const auto at = seen.find(*stamp); at != seen.end()) version = at->second;
  }
  std::error_code ignored;
  bool on_disk = !usable() || (version && fs::exists(path, ignored));
  if (!on_disk) {
    if (auto sections = read_sections(tool_magic, path.string(), {"version"})) {
      version = std::move((*sections)[0].bytes);
      on_disk = true;
    }
  }
  if (!version) {
    auto asked = cuda::version_of(tool);
    if (!asked) return asked;
    version = std::move(*asked);
  }
  {
    const std::lock_guard lock(mutex);
    seen.insert_or_assign(*stamp, *version);
  }
  // When it cannot be written, the next process asks the tool again.
  if (!on_disk) (void)write_sections(tool_magic, path, {{"version", *version}}).has_value();
  return *version;
}

std::vector<std::string> DiskCache::known_versions() const {
  std::vector<std::string> versions;
  if (!usable()) return versions;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(folder_) / "tools", error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".tool") continue;
    auto sections = read_sections(tool_magic, at->path().string(), {"version"});
    if (!sections || std::find(versions.begin(), versions.end(), (*sections)[0].bytes) != versions.end()) continue;
    versions.push_back(std::move((*sections)[0].bytes));
    if (versions.size() == max_versions) break;
  }
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {  // the folder's order is none
    return std::pair(release_of(b), a) < std::pair(release_of(a), b);
  });
  return versions;
}

}  // namespace ptx::cuda

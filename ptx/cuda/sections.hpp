// A file of named sections, each with a checksum: what compiled kernels are kept in, in the cache and as saved kernels.
// Little-endian: magic (8 bytes), format version (u32), number of sections (u32); then for each the length of its name (u32),
// that of its bytes (u64), the sha256 of name and bytes, the name, the bytes. Nothing follows the last one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::cuda {

struct Section {
  std::string name;
  std::string bytes;
  friend bool operator==(const Section&, const Section&) = default;
};

/// `magic` is 8 characters.
std::string pack_sections(std::string_view magic, std::uint32_t version, std::span<const Section> sections);

/// The reverse, for versions up to `newest`. `what` is how messages name the file. Kind bad_image: foreign, cut off, damaged,
/// or of a newer version.
Expected<std::vector<Section>> unpack_sections(std::string_view magic, std::uint32_t newest, std::string_view bytes,
                                               std::string_view what);

/// Little-endian numbers behind `out`.
void put32(std::string& out, std::uint32_t value);
void put64(std::string& out, std::uint64_t value);

/// Reads numbers and strings off the front of bytes; past the end all are 0 and empty, and `ok` is false.
struct ByteReader {
  std::string_view bytes;
  bool ok = true;
  std::string_view take(std::uint64_t count);
  std::uint32_t get32();
  std::uint64_t get64();
};

}  // namespace ptx::cuda

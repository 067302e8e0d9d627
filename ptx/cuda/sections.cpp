#include "ptx/cuda/sections.hpp"

#include <cassert>

namespace ptx::cuda {
namespace {

constexpr std::size_t magic_bytes = 8;

Digest checksum(std::string_view name, std::string_view bytes) {
  std::string length;
  put32(length, static_cast<std::uint32_t>(name.size()));
  return Sha256().add(length).add(name).add(bytes).finish();
}

std::string_view view_of(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

}  // namespace

void put32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}
void put64(std::string& out, std::uint64_t value) {
  put32(out, static_cast<std::uint32_t>(value));
  put32(out, static_cast<std::uint32_t>(value >> 32));
}

std::string_view ByteReader::take(std::uint64_t count) {
  if (count > bytes.size()) {
    ok = false;
    bytes = {};
    return {};
  }
  const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(count));
  bytes.remove_prefix(taken.size());
  return taken;
}
std::uint32_t ByteReader::get32() {
  std::uint32_t value = 0;
  int shift = 0;
  for (const char byte : take(4)) {
    value |= std::uint32_t{static_cast<unsigned char>(byte)} << shift;
    shift += 8;
  }
  return value;
}
std::uint64_t ByteReader::get64() {
  const std::uint64_t low = get32();
  return low | std::uint64_t{get32()} << 32;
}

std::string pack_sections(std::string_view magic, std::uint32_t version, std::span<const Section> sections) {
  assert(magic.size() == magic_bytes);
  std::string out(magic);
  put32(out, version);
  put32(out, static_cast<std::uint32_t>(sections.size()));
  for (const Section& section : sections) {
    put32(out, static_cast<std::uint32_t>(section.name.size()));
    put64(out, section.bytes.size());
    out += view_of(checksum(section.name, section.bytes));
    out += section.name;
    out += section.bytes;
  }
  return out;
}

Expected<std::vector<Section>> unpack_sections(std::string_view magic, std::uint32_t newest, std::string_view bytes,
                                               std::string_view what) {
  const auto refuse = [&](std::string_view why) { return Unexpected{{.kind = Kind::bad_image, .message = cat(what, ' ', why)}}; };
  const std::size_t size = bytes.size();
  const auto cut_off = [&] { return refuse(cat("is cut off: it ends after ", size, " bytes")); };
  ByteReader in{.bytes = bytes};
  if (bytes.empty()) return refuse("is empty");
  if (!bytes.starts_with(magic)) {
    if (magic.starts_with(bytes)) return cut_off();
    return refuse("is not one: it does not begin with pyptx's mark");
  }
  in.take(magic_bytes);
  const std::uint32_t version = in.get32();
  const std::uint32_t count = in.get32();
  if (!in.ok) return cut_off();
  if (version > newest) {
    return Unexpected{Diagnostic{.kind = Kind::bad_image,
                                 .message = cat(what, " has format ", version, "; this pyptx reads formats up to ", newest)}
                          .hint("a newer pyptx wrote it; `pip install -U pyptx`, or save it again with this one")};
  }
  std::vector<Section> sections;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t name_bytes = in.get32();
    const std::uint64_t payload_bytes = in.get64();
    const std::string_view wanted = in.take(sizeof(Digest));
    const std::string_view name = in.take(name_bytes);
    const std::string_view payload = in.take(payload_bytes);
    if (!in.ok) return cut_off();
    if (wanted != view_of(checksum(name, payload))) return refuse(cat("is damaged: the checksum of section ", i, " differs"));
    sections.push_back({std::string(name), std::string(payload)});
  }
  if (!in.bytes.empty()) return refuse(cat("is damaged: ", in.bytes.size(), " bytes follow its last section"));
  return sections;
}

}  // namespace ptx::cuda

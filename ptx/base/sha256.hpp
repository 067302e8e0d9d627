// SHA-256 (FIPS 180-4): names kernels by their content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ptx {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text) { return add(std::as_bytes(std::span(text.data(), text.size()))); }
  Digest finish();

 private:
  void block(const std::uint8_t* p);
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t length_ = 0;
};

inline Digest sha256(std::string_view text) { return Sha256().add(text).finish(); }

}  // namespace ptx

// Many elements of a matrix at once: from pieces of 16 bytes, as they lie in memory, to raw elements row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptx::vgpu {

/// `outer` runs of `inner` elements, 8, 16 or 32 bits wide, one behind the other. One object serves many matrices.
class Panel {
 public:
  void begin(int bits, std::size_t outer, std::size_t inner);

  /// Where the 16 bytes of a piece go: of run `outer`, the piece number `piece`.
  [[nodiscard]] std::byte* piece(std::size_t outer, std::size_t piece) { return &bytes_[outer * run_bytes_ + piece * 16]; }

  /// to[outer][inner], or to[inner][outer].
  void expand(bool transposed, std::span<std::uint32_t> to) const;

  /// The same elements in as many runs.
  friend bool operator==(const Panel& a, const Panel& b);

 private:
  std::size_t bits_ = 0, outer_ = 0, inner_ = 0, run_bytes_ = 0;
  std::vector<std::byte> bytes_;  ///< at least outer * run_bytes
};

}  // namespace ptx::vgpu

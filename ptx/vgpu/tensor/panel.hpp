// Many elements of a matrix at once: from pieces of 16 bytes, as they lie in memory, to raw elements row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/races/shadow.hpp"

namespace ptx::vgpu {

/// Where the pieces of a matrix in shared memory are, in the order in which a panel has them.
struct PiecePlaces {
  std::vector<std::uint32_t> offsets;     ///< from pattern_begin
  std::uint64_t size = 0;                 ///< bytes from there to the end of the last
  std::vector<races::PartOfSheet> parts;  ///< the same by 1024 bytes: for the race checker
  std::uint64_t number = 0;               ///< of these places: no others of the thread have it
};
/// The swizzles' patterns repeat in 1024 bytes: matrices that differ by a multiple of them have the same places.
inline constexpr std::uint64_t pattern_bytes = races::sheet_bytes;
constexpr std::uint64_t pattern_begin(const layout::SharedMatrix& matrix) { return matrix.start - matrix.start % pattern_bytes; }
/// Of `count` rows, of `depth` elements along k, `bits` wide. Valid until the thread asks for others.
const PiecePlaces& piece_places(const layout::SharedMatrix& matrix, bool transposed, int count, int depth, int bits);
/// Of the marks of memory (memory.hpp): whether all bytes of the pieces are written.
bool all_pieces_written(const std::uint8_t* marks, const PiecePlaces& places);

/// `outer` runs of `inner` elements, 8, 16 or 32 bits wide, one behind the other. One object serves many matrices.
class Panel {
 public:
  void begin(int bits, std::size_t outer, std::size_t inner);

  /// Where the 16 bytes of a piece go: of run `outer`, the piece number `piece`.
  [[nodiscard]] std::byte* piece(std::size_t outer, std::size_t piece) { return &bytes_[outer * run_bytes_ + piece * 16]; }

  /// All pieces at once, from memory.
  void read(const std::byte* from, const PiecePlaces& places);
  /// Whether it holds what these are now, elements of `bits` in so many runs.
  [[nodiscard]] bool holds(const std::byte* from, const PiecePlaces& places, int bits, std::size_t outer,
                           std::size_t inner) const;

  /// to[outer][inner], or to[inner][outer].
  void expand(bool transposed, std::span<std::uint32_t> to) const;

  /// The same elements in as many runs.
  friend bool operator==(const Panel& a, const Panel& b);

 private:
  std::size_t bits_ = 0, outer_ = 0, inner_ = 0, run_bytes_ = 0;
  std::vector<std::byte> bytes_;  ///< at least outer * run_bytes
};

}  // namespace ptx::vgpu

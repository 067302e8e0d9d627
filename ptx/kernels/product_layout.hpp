// Where a product's kernel has what in shared memory, and how much of it a copy moves: numbers that follow from a recipe.
#pragma once

#include <algorithm>

#include "ptx/kernels/product.hpp"

namespace ptx::kernels::product {

/// Whether a kernel can be made so.
bool is_possible(const Recipe& recipe);
/// Whether there are products of such elements, with such results.
bool are_types(Type dtype, Type out);

inline constexpr int box_rows = 16;  ///< of C: what a warp stores at once
inline constexpr int slab = 64;      ///< 16-bit elements of a row of shared memory: 128 bytes

/// One factor of a block's tile. K-major it lies in shared memory as rows of 128 bytes along K. Else ("transposed" in memory) it
/// lies as slabs of 64 rows or columns of the tile, each 64 rows along K:
///
///     K-major   row 0 | k 0 … 63 |         MN-major   k 0  | m 0 … 63 |   slab 1: k 0  | m 64 … 127 |
///               row 1 | k 0 … 63 |                    k 1  | m 0 … 63 |           k 1  | m 64 … 127 |
struct Factor {
  bool k_major = true;
  int extent = 0;    ///< rows or columns of the tile
  int parts = 1;     ///< blocks that share it; each copies one part to all
  int halves = 1;    ///< 2: the second half of its columns lies N behind the first in memory
  int bytes = 0;     ///< of a stage
  int copies = 1;    ///< that a block makes for a stage
  int box_rows = 0;  ///< of a copy, each 128 bytes

  Factor(bool major, int rows, int shared, int of_halves = 1) : k_major(major), extent(rows), parts(shared), halves(of_halves) {
    const int slabs = (rows + slab - 1) / slab;
    bytes = (k_major ? rows : slabs * slab) * slab * 2;
    copies = k_major ? halves : slabs;
    box_rows = (k_major ? rows / halves : slab) / shared;
  }
  [[nodiscard]] int part_bytes() const { return box_rows * slab * 2; }
};

struct Geometry {
  Factor left, right;  ///< of the tile: its rows, its columns
  int consumers;       ///< warpgroups that multiply
  int own;             ///< of a tile's 64 rows, those of one of them
  int box_columns;
  Layout box_layout;
  int left_at = 0, right_at, box_at, partial_at = 0, scales_at, full_at, empty_at, turn_at, smem;  ///< bytes
  int scale_bytes = 0;   ///< of a stage's scales of A, where they are copied
  int scales_pitch = 0;  ///< between those of stages: a copy's place is a multiple of 128 bytes
  int box_bytes;

  explicit Geometry(const Recipe& r)
      : left(!(r.swapped ? !r.b_transposed : r.a_transposed), r.rows, r.across),
        right(r.swapped ? !r.a_transposed : r.b_transposed, r.columns, r.down, r.gated ? 2 : 1),
        consumers(product::consumers(r)),
        own(r.pingpong ? r.rows / 64 : 1),
        box_columns(results(r) % 64 == 0   ? 64
                    : results(r) % 32 == 0 ? 32
                                           : 16),
        box_layout(box_columns == 64   ? Layout::tma_128b
                   : box_columns == 32 ? Layout::tma_64b
                                       : Layout::tma_32b),
        right_at(r.stages * left.bytes),
        box_at(right_at + r.stages * right.bytes),
        box_bytes(box_rows * box_columns * 2) {
    int end = box_at;
    if (r.store == Store::boxes) end += 2 * box_bytes * 4 * consumers;  // two boxes a warp
    if (r.splits > 1) end = std::max(end, r.rows * r.columns * 4);      // in place of the ring, which is empty by then
    scales_at = end;
    if (r.scales_transposed) {
      scale_bytes = (r.swapped ? right : left).extent * 4;
      scales_pitch = (scale_bytes + 127) / 128 * 128;
      end += r.stages * scales_pitch;
    }
    full_at = end;
    empty_at = full_at + 8 * r.stages;
    turn_at = empty_at + 8 * r.stages;
    smem = turn_at + (r.pingpong ? 2 * 8 : 0);
  }
};

}  // namespace ptx::kernels::product

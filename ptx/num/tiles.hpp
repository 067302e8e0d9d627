// Products of 16 rows whose sums lie in tiles, 8 rows of 4 numbers one behind the other, as tensor cores' instructions keep them:
// computed where they lie, 16 numbers at once, on hosts that have vectors of so many. What they are is said by chain.hpp and
// dot.hpp, whatever the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/num/dot.hpp"

namespace ptx::num {

inline constexpr std::size_t slab_rows = 16, tile_rows = 8, tile_columns = 4, max_tile_depth = 64;

/// d += a * b of 16 x depth and depth x n, of factors by depth: 16 of a, n of b, which is a multiple of 8. Exponents are those
/// that `decode_factors` gives, in 16 bits, and asked for by exact sums alone.
struct TiledProduct {
  std::size_t depth = 0, n = 0;  ///< depth: at most max_tile_depth
  const float *a = nullptr, *b = nullptr;
  const std::int16_t *a_exponents = nullptr, *b_exponents = nullptr;
  bool finite = true;                 ///< all factors are
  bool adds = true;                   ///< false: d counts as zeros before
  std::uint32_t* const* d = nullptr;  ///< the f32 of columns 4i to 4i + 3: d[2i] of rows 0 to 7, d[2i + 1] of rows 8 to 15
};

/// Whether the host has what the functions below need.
bool host_has_tiles();
/// Whether they know this kind of sum, of `depth` products.
bool fits_tiles(const DotUnit& unit, std::size_t depth);

/// What add_chains (chain.hpp) gives.
void add_chains(const TiledProduct& product);
/// What add_products (dot.hpp) gives.
void add_products(const DotUnit& unit, const TiledProduct& product);

/// Exponents in 16 bits.
void narrow_exponents(const std::vector<std::int32_t>& from, std::size_t count, std::vector<std::int16_t>& to);

}  // namespace ptx::num

// Sums in tiles against the same sums one by one: whoever computes them, they are the same bits.
#include "ptx/num/tiles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "ptx/num/chain.hpp"
#include "ptx/num/rounding.hpp"

namespace ptx::num {
namespace {

enum class Style { ordinary, alike, wide, specials, tiny };

struct Matrices {
  std::size_t depth, n;
  std::vector<float> a, b;  // by depth
  std::vector<std::int32_t> a_exponents, b_exponents;
  std::vector<std::int16_t> a_narrow, b_narrow;
  bool finite = true;
  std::vector<std::uint32_t> c;  // 16 x n
};

std::uint32_t random_factor(DotFormat format, std::mt19937& random, Style style) {
  const auto bits = static_cast<std::uint32_t>(random());
  const bool is_byte = format == DotFormat::e4m3 || format == DotFormat::e5m2;
  if (is_byte) return style == Style::specials || (bits & 0x7F) < 0x78 ? bits & 0xFF : bits & 0x3F;
  const auto field = [&](std::uint32_t bias) -> std::uint32_t {
    switch (style) {
      case Style::alike:
        return bias;
      case Style::wide:
        return bias - (bias == 15 ? 14 : 60) + random() % (bias == 15 ? 28 : 120);
      case Style::tiny:
        return random() % 3 + (bias == 15 ? 0 : 40);
      default:
        return bias - 8 + random() % 10;
    }
  };
  if (style == Style::specials) return format == DotFormat::f16 || format == DotFormat::bf16 ? bits & 0xFFFF : bits;
  if (random() % 16 == 0) return 0;
  switch (format) {
    case DotFormat::f16:
      return (bits & 0x83FF) | field(15) << 10;
    case DotFormat::bf16:
      return (bits & 0x807F) | field(127) << 7;
    default:
      return (bits & 0x807FFFFF) | field(127) << 23;
  }
}

Matrices random_matrices(DotFormat format, std::size_t depth, std::size_t n, std::mt19937& random, Style style) {
  Matrices m{
      .depth = depth, .n = n, .a = {}, .b = {}, .a_exponents = {}, .b_exponents = {}, .a_narrow = {}, .b_narrow = {}, .c = {}};
  const auto make = [&](std::size_t count, std::vector<float>& values, std::vector<std::int32_t>& exponents,
                        std::vector<std::int16_t>& narrow) {
    std::vector<std::uint32_t> raw(count);
    for (auto& x : raw) x = random_factor(format, random, style);
    values.resize(count), exponents.resize(count);
    m.finite &= decode_factors(format, raw, values.data(), exponents.data());
    narrow_exponents(exponents, count, narrow);
  };
  make(depth * slab_rows, m.a, m.a_exponents, m.a_narrow);
  make(depth * n, m.b, m.b_exponents, m.b_narrow);
  m.c.resize(slab_rows * n);
  for (auto& c : m.c) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto field = style == Style::specials ? bits >> 23 & 255
                       : style == Style::wide   ? 60 + random() % 130
                                                : 120 + random() % 14;
    c = random() % 9 == 0 ? 0 : (bits & 0x807FFFFF) | static_cast<std::uint32_t>(field) << 23;
  }
  return m;
}

// The numbers of a matrix in tiles, and where they are.
struct Tiles {
  std::vector<std::array<std::uint32_t, tile_rows * tile_columns>> all;
  std::vector<std::uint32_t*> places;
  explicit Tiles(const Matrices& m) : all(m.n / tile_columns * 2) {
    for (auto& tile : all) places.push_back(tile.data());
    for (std::size_t i = 0; i < slab_rows; ++i)
      for (std::size_t j = 0; j < m.n; ++j) at(i, j) = m.c[i * m.n + j];
  }
  std::uint32_t& at(std::size_t row, std::size_t column) {
    return all[column / tile_columns * 2 + row / tile_rows][row % tile_rows * tile_columns + column % tile_columns];
  }
};

TiledProduct product_of(const Matrices& m, Tiles& tiles, bool adds) {
  return {m.depth, m.n, m.a.data(), m.b.data(), m.a_narrow.data(), m.b_narrow.data(), m.finite, adds, tiles.places.data()};
}

struct Kind {
  DotFormat format;
  DotUnit unit;
};
const Kind kinds[] = {{DotFormat::bf16, {16, 25, DotResult::f32}},       {DotFormat::f16, {16, 25, DotResult::f32}},
                      {DotFormat::tf32, {8, 25, DotResult::f32}},        {DotFormat::e4m3, {32, 13, DotResult::f32_short}},
                      {DotFormat::e5m2, {32, 13, DotResult::f32_short}}, {DotFormat::f16, {8, 24, DotResult::f32}}};

class Tiled : public testing::TestWithParam<Style> {
 protected:
  void SetUp() override {
    if (!host_has_tiles()) GTEST_SKIP() << "the host has no AVX-512";
  }
};

TEST_P(Tiled, ExactSumsAreThoseOfOneByOne) {
  std::mt19937 random(11);
  for (const Kind& kind : kinds)
    for (const std::size_t n : {8u, 24u, 64u})
      for (int round = 0; round < 30; ++round) {
        const Matrices m = random_matrices(kind.format, kind.unit.block, n, random, GetParam());
        ASSERT_TRUE(fits_tiles(kind.unit, m.depth));
        const bool adds = round % 5 != 0;
        Tiles tiles(m);
        add_products(kind.unit, product_of(m, tiles, adds));
        std::vector<const float*> values;
        std::vector<const std::int32_t*> exponents;
        for (std::size_t k = 0; k < m.depth; ++k) values.push_back(&m.b[k * n]), exponents.push_back(&m.b_exponents[k * n]);
        for (std::size_t i = 0; i < slab_rows; ++i) {
          std::vector<float> row(n), a;
          std::vector<std::int32_t> of_a;
          for (std::size_t k = 0; k < m.depth; ++k) {
            a.push_back(m.a[k * slab_rows + i]), of_a.push_back(m.a_exponents[k * slab_rows + i]);
          }
          for (std::size_t j = 0; j < n; ++j) row[j] = adds ? std::bit_cast<float>(m.c[i * n + j]) : 0.0f;
          add_products_one_by_one(kind.unit, {a, of_a, values, exponents, m.finite}, row);
          for (std::size_t j = 0; j < n; ++j)
            ASSERT_EQ(tiles.at(i, j), bits_of(row[j])) << "format " << int(kind.format) << ", row " << i << ", column " << j;
        }
      }
}

TEST_P(Tiled, ChainsAreThoseOfOneByOne) {
  std::mt19937 random(12);
  for (const Kind& kind : kinds)
    for (const std::size_t n : {8u, 16u, 40u, 64u}) {
      const Matrices m = random_matrices(kind.format, kind.unit.block, n, random, GetParam());
      for (const bool adds : {true, false}) {
        Tiles tiles(m);
        add_chains(product_of(m, tiles, adds));
        std::vector<const float*> values;
        for (std::size_t k = 0; k < m.depth; ++k) values.push_back(&m.b[k * n]);
        for (std::size_t i = 0; i < slab_rows; ++i) {
          std::vector<float> row(n), a;
          for (std::size_t k = 0; k < m.depth; ++k) a.push_back(m.a[k * slab_rows + i]);
          for (std::size_t j = 0; j < n; ++j) row[j] = adds ? std::bit_cast<float>(m.c[i * n + j]) : 0.0f;
          add_chains_one_by_one({a.data(), m.depth, 1, values, row.data(), n});
          for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(tiles.at(i, j), bits_of(row[j])) << i << ' ' << j;
        }
      }
    }
}
INSTANTIATE_TEST_SUITE_P(Styles, Tiled,
                         testing::Values(Style::ordinary, Style::alike, Style::wide, Style::specials, Style::tiny));

// Sixteen products as large as they can be leave no room for the accumulator in 32 bits.
TEST(Tiles, TheLargestSumsFit) {
  if (!host_has_tiles()) GTEST_SKIP() << "the host has no AVX-512";
  constexpr std::size_t n = 8, depth = 16;
  Matrices m{
      .depth = depth, .n = n, .a = {}, .b = {}, .a_exponents = {}, .b_exponents = {}, .a_narrow = {}, .b_narrow = {}, .c = {}};
  for (const std::uint32_t sign : {0u, 0x8000u}) {
    const std::vector<std::uint32_t> raw_a(depth * slab_rows, 0x3BFF | sign), raw_b(depth * n, 0x3BFF);
    m.a.resize(raw_a.size()), m.b.resize(raw_b.size()), m.a_exponents.resize(raw_a.size()), m.b_exponents.resize(raw_b.size());
    m.finite = decode_factors(DotFormat::f16, raw_a, m.a.data(), m.a_exponents.data()) &&
               decode_factors(DotFormat::f16, raw_b, m.b.data(), m.b_exponents.data());
    narrow_exponents(m.a_exponents, raw_a.size(), m.a_narrow), narrow_exponents(m.b_exponents, raw_b.size(), m.b_narrow);
    m.c.assign(slab_rows * n, bits_of(0x1.fffffep-2f) | sign << 16);
    Tiles tiles(m);
    const DotUnit unit{16, 25, DotResult::f32};
    add_products(unit, product_of(m, tiles, true));
    const std::vector<float> a(depth, m.a[0]), b(depth, m.b[0]);
    const std::vector<std::int32_t> of_a(depth, m.a_exponents[0]), of_b(depth, m.b_exponents[0]);
    const float expected = dot_block(unit, a, of_a, b, of_b, std::bit_cast<float>(m.c[0]));
    for (const auto& tile : tiles.all)
      for (const std::uint32_t x : tile) ASSERT_EQ(x, bits_of(expected));
  }
}

}  // namespace
}  // namespace ptx::num

#include <gtest/gtest.h>

#include "ptx/base/base.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::tile {
namespace {

using Box = std::vector<Dim>;
const Env sizes{{"M", 512}, {"K", 256}, {"BM", 64}};

std::string made(const Expected<Tile>& tile) {
  EXPECT_TRUE(tile) << tile.error().message;
  const auto map = tensor_map(*tile, sizes);
  return map ? to_string(*map) : cat(name(map.error().kind), ": ", map.error().message);
}

TEST(TensorMapOfTile, TakesShapeDtypeLayoutAndBox) {
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_128b, Box{"BM", 64})),
            "bf16 (512, 256) in boxes of (64, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_64b, Box{64, 32})),
            "bf16 (512, 256) in boxes of (64, 32), swizzle 64B");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_32b, Box{64, 16})),
            "bf16 (512, 256) in boxes of (64, 16), swizzle 32B");
  for (const Layout layout : {Layout::row, Layout::col, Layout::interleaved})
    EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, layout, Box{64, 64})), "bf16 (512, 256) in boxes of (64, 64), swizzle NONE");
  EXPECT_EQ(made(Tile::make({8, "M", 32}, f32, Layout::tma_128b, Box{2, 16, 32})),
            "f32 (8, 512, 32) in boxes of (2, 16, 32), swizzle 128B");
  EXPECT_EQ(made(Tile::wgmma_a("M", "K", bf16, 64, 64)), "bf16 (512, 256) in boxes of (64, 64), swizzle 128B");
}

TEST(TensorMapOfTile, OfRankThreeIsSlabsOfAMatrix) {
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_128b, Box{128, 128}, 3)),
            "bf16 (4, 512, 64) in boxes of (2, 128, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::row, Box{128, 64}, 3, true)),
            "bf16 (4, 512, 64) in boxes of (1, 128, 72), swizzle NONE");
  EXPECT_EQ(made(Tile::make({8, 16, 64}, bf16, Layout::tma_128b, Box{1, 16, 64}, 3)),
            "bf16 (8, 16, 64) in boxes of (1, 16, 64), swizzle 128B")
      << "a tensor of three dimensions is itself";
}

TEST(TensorMapOfTile, WithoutABoxIsWholeWhereItFits) {
  EXPECT_EQ(made(Tile::make({64, 16}, bf16, Layout::tma_32b)), "bf16 (64, 16) in boxes of (64, 16), swizzle 32B");
  EXPECT_EQ(made(Tile::make({"K", 64}, bf16, Layout::tma_128b)), "bf16 (256, 64) in boxes of (256, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_128b)), "bf16 (512, 256) in boxes of (128, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({"M", "K"}, f32)), "f32 (512, 256) in boxes of (128, 256), swizzle NONE");
  EXPECT_EQ(made(Tile::make({"K"}, f32)), "f32 (256,) in boxes of (256,), swizzle NONE");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::tma_128b, std::nullopt, 3)),
            "bf16 (4, 512, 64) in boxes of (1, 128, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({128, "K"}, bf16, Layout::tma_128b, std::nullopt, 3)),
            "bf16 (4, 128, 64) in boxes of (4, 128, 64), swizzle 128B");
  EXPECT_EQ(made(Tile::make({"M"}, f32)),
            "bad_tile: a dimension of the box (512,) is 512; one tensor copy moves 1 to 256 of each");
}

TEST(TensorMapOfTile, EveryTypeThatATensorHas) {
  constexpr std::pair<Type, std::string_view> types[] = {
      {Type::pred, "u8"},  {Type::u8, "u8"},   {Type::s8, "u8"},   {Type::b8, "u8"},   {Type::e4m3, "u8"},   {Type::e5m2, "u8"},
      {Type::ue8m0, "u8"}, {Type::u16, "u16"}, {Type::s16, "u16"}, {Type::b16, "u16"}, {Type::f16, "f16"},   {Type::bf16, "bf16"},
      {Type::u32, "u32"},  {Type::s32, "s32"}, {Type::b32, "u32"}, {Type::f32, "f32"}, {Type::tf32, "tf32"}, {Type::u64, "u64"},
      {Type::s64, "s64"},  {Type::b64, "u64"}, {Type::f64, "f64"}};
  for (const auto& [type, wanted] : types)
    EXPECT_EQ(made(Tile::make({16, 16}, type)), cat(wanted, " (16, 16) in boxes of (16, 16), swizzle NONE"));
  EXPECT_EQ(made(Tile::make({16, 16}, Type::b128)), "bad_tile: no tensor map has elements of type `b128`");
  EXPECT_FALSE(tensor_map_type(Type::texref));
  EXPECT_FALSE(tensor_map_type(Type::s4));
}

TEST(TensorMapOfTile, RefusesWhatIsNone) {
  EXPECT_EQ(made(Tile::make({"M", "N"}, f32, Layout::row, Box{8, 8})),
            "dim_unbound: the dimension `N` of Tile(M, N, f32) has no size");
  EXPECT_EQ(made(Tile::make({"M", "K"}, f32, Layout::row, Box{"BK", 8})),
            "dim_unbound: the dimension `BK` of the tma_box of Tile(M, K, f32) has no size");
  EXPECT_EQ(
      made(Tile::make({"M", "K"}, f32, Layout::row, Box{8, 8}, 4)),
      "bad_tile: Tile(M, K, f32) has 2 dimensions and tma_rank 4; what fits is 2 (as it is), or 3 for a matrix (as slabs of 64 "
      "columns)");
  EXPECT_EQ(made(Tile::make({"M", "K"}, bf16, Layout::row, Box{8, 64}, 2, true)),
            "bad_tile: Tile(M, K, bf16) has tma_padding, which needs tma_rank 3 of a matrix");
}

}  // namespace
}  // namespace ptx::tile

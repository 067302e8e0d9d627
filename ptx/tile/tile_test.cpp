#include "ptx/tile/tile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx {
namespace {

using Shape = std::vector<std::int64_t>;

Tile made(std::vector<tile::Dim> dims, Type dtype = f32) {
  auto tile = Tile::make(std::move(dims), dtype);
  EXPECT_TRUE(tile) << render(tile.error());
  return *std::move(tile);
}

template <class T>
void expect_error(const Expected<T>& result, Kind kind, std::string_view words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(name(result.error().kind), name(kind));
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
}

TEST(Tile, HoldsWhatItWasMadeOf) {
  const auto tile = Tile::make({"M", 512}, bf16, Layout::col, std::vector<tile::Dim>{64, 32}, 3, true);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rank(), 2u);
  EXPECT_EQ(tile->dtype(), bf16);
  EXPECT_EQ(tile->layout(), Layout::col);
  EXPECT_EQ(tile->tma_box(), (std::vector<tile::Dim>{64, 32}));
  EXPECT_EQ(tile->tma_rank(), 3);
  EXPECT_TRUE(tile->tma_padding());
  EXPECT_EQ(tile->symbolic_dims(), std::vector<std::string>{"M"});
  EXPECT_EQ(tile->to_string(), "Tile(M, 512, bf16)");
  EXPECT_EQ(made({"M", 4}), made({"M", 4}));
  EXPECT_NE(made({"M", 4}), made({"M", 4}, f16));
  EXPECT_NE(made({"M", 4}), made({"N", 4}));
}

TEST(Tile, RefusesWhatIsNotWellFormed) {
  expect_error(Tile::make({}, f32), Kind::bad_tile, "at least one dimension");
  expect_error(Tile::make({"M"}, Type::none), Kind::bad_tile, "dtype");
  expect_error(Tile::make({4, 0}, f32), Kind::bad_tile, "dimension 1 is 0");
  expect_error(Tile::make({-3}, f32), Kind::bad_tile, "dimension 0 is -3");
  expect_error(Tile::make({""}, f32), Kind::bad_tile, "empty name");
  expect_error(Tile::make({4, 4}, f32, Layout::row, std::vector<tile::Dim>{4}), Kind::bad_tile, "rank 1");
  expect_error(Tile::make({4}, f32, Layout::row, std::vector<tile::Dim>{0}), Kind::bad_tile, "tma_box dimension 0 is 0");
  expect_error(Tile::make({4}, f32, Layout::row, std::nullopt, 0), Kind::bad_tile, "tma_rank is 0");
  expect_error(Tile::make({4}, f32, Layout::row, std::nullopt, 6), Kind::bad_tile, "tma_rank is 6");
}

TEST(Tile, BindsNamesFromAShapeAndBack) {
  const Tile tile = made({"M", 512, "K"});
  const auto env = tile.extract(Shape{16, 512, 8});
  ASSERT_TRUE(env);
  EXPECT_EQ(*env, (tile::Env{{"M", 16}, {"K", 8}}));
  EXPECT_EQ(*tile.resolve(*env), (Shape{16, 512, 8}));
  expect_error(tile.resolve({{"M", 16}}), Kind::dim_unbound, "`K`");
  expect_error(tile.extract(Shape{16, 512}), Kind::argument_rank, "rank 2");
  expect_error(tile.extract(Shape{16, 500, 8}), Kind::argument_dim, "dimension 1 of a tensor of shape (16, 500, 8) is 500");
  EXPECT_EQ(*made({"M", "M"}).extract(Shape{3, 3}), (tile::Env{{"M", 3}}));
  expect_error(made({"M", "M"}).extract(Shape{3, 4}), Kind::dim_conflict, "conflicting");
}

TEST(Tile, ExtractAndResolveAreInverse) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<tile::Dim> dims;
    Shape shape;
    for (unsigned i = 0, rank = 1 + random() % 5; i < rank; ++i) {
      shape.push_back(1 + random() % 100);
      if (random() % 2 == 0)
        dims.emplace_back(shape.back());
      else
        dims.emplace_back(cat("D", i));
    }
    const Tile tile = made(dims);
    const auto env = tile.extract(shape);
    ASSERT_TRUE(env);
    EXPECT_EQ(env->size(), tile.symbolic_dims().size());
    EXPECT_EQ(*tile.resolve(*env), shape);
    EXPECT_TRUE(tile.matches(shape, "float32"));
  }
}

TEST(Tile, MatchesByRankFixedDimsAndDtype) {
  const Tile tile = made({"M", 4}, bf16);
  EXPECT_TRUE(tile.matches(Shape{9, 4}, "bfloat16"));
  EXPECT_TRUE(tile.matches(Shape{9, 4}, "bf16"));
  EXPECT_FALSE(tile.matches(Shape{9, 4}, "float16"));
  EXPECT_FALSE(tile.matches(Shape{9, 5}, "bfloat16"));
  EXPECT_FALSE(tile.matches(Shape{4}, "bfloat16"));
}

TEST(Tile, MatrixOperandsTakeTheirLayoutFromTheWidthOfOneLoad) {
  struct Case {
    int k;
    Layout layout;
  };
  for (const Case c : {Case{8, Layout::row}, Case{16, Layout::tma_32b}, Case{32, Layout::tma_64b}, Case{64, Layout::tma_128b},
                       Case{256, Layout::tma_128b}}) {
    const auto whole = Tile::wgmma_a(64, c.k, bf16);
    ASSERT_TRUE(whole) << c.k;
    EXPECT_EQ(whole->layout(), c.layout) << c.k;
    EXPECT_EQ(whole->tma_box(), std::nullopt);
    const auto sliced = Tile::wgmma_a(2048, 1024, bf16, 64, c.k);
    EXPECT_EQ(sliced->layout(), c.layout) << c.k;
    EXPECT_EQ(sliced->tma_box(), (std::vector<tile::Dim>{64, c.k}));
    const auto b = Tile::wgmma_b(1024, 2048, bf16, 64, c.k);
    EXPECT_EQ(b->layout(), c.layout) << c.k;
    EXPECT_EQ(b->shape(), (std::vector<tile::Dim>{1024, 2048}));
    EXPECT_EQ(b->tma_box(), (std::vector<tile::Dim>{64, c.k}));
  }
  EXPECT_EQ(Tile::wgmma_a("M", "K", bf16)->layout(), Layout::row);
  EXPECT_EQ(Tile::wgmma_a("M", "K", bf16, {}, 64)->tma_box(), (std::vector<tile::Dim>{"M", 64}));
  EXPECT_EQ(Tile::wgmma_b("K", 64, bf16, 16)->tma_box(), (std::vector<tile::Dim>{16, 64}));
  expect_error(Tile::wgmma_a(64, 24, bf16), Kind::bad_tile, "48 bytes");
  expect_error(Tile::wgmma_a(64, 0, bf16), Kind::bad_tile, "is 0");
}

TEST(Tile, EnvsUnify) {
  const std::array<tile::Env, 2> agree = {tile::Env{{"M", 4}, {"K", 8}}, tile::Env{{"K", 8}, {"N", 2}}};
  EXPECT_EQ(*tile::unify(agree), (tile::Env{{"M", 4}, {"K", 8}, {"N", 2}}));
  EXPECT_EQ(*tile::unify({}), tile::Env{});
  const std::array<tile::Env, 2> differ = {tile::Env{{"K", 8}}, tile::Env{{"K", 9}}};
  expect_error(tile::unify(differ), Kind::dim_conflict, "conflicting sizes for the dimension `K`: 8 and 9");
}

TEST(TileNames, LayoutsGoToAndFro) {
  for (const Layout layout : {Layout::row, Layout::col, Layout::tma_128b, Layout::tma_64b, Layout::tma_32b, Layout::interleaved})
    EXPECT_EQ(tile::layout_from_name(tile::name(layout)), layout);
  EXPECT_EQ(tile::layout_from_name("diagonal"), std::nullopt);
}

// The sign of an integer is said by the instructions, not by the tensor; bN are bits of any meaning.
TEST(TileNames, DtypesMatchByWidth) {
  const auto takes = [](Type type, std::vector<std::string_view> fitting) {
    for (const std::string_view name : {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                        "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"})
      EXPECT_EQ(tile::dtype_matches(type, name), std::find(fitting.begin(), fitting.end(), name) != fitting.end())
          << isa::name(type) << " of " << name;
  };
  for (const Type type : {u8, s8}) takes(type, {"bool", "int8", "uint8"});
  for (const Type type : {u16, s16}) takes(type, {"int16", "uint16"});
  for (const Type type : {u32, s32}) takes(type, {"int32", "uint32"});
  for (const Type type : {u64, s64}) takes(type, {"int64", "uint64"});
  takes(b8, {"bool", "int8", "uint8", "float8_e4m3fn", "float8_e5m2"});
  takes(b16, {"int16", "uint16", "float16", "bfloat16"});
  takes(b32, {"int32", "uint32", "float32"});
  takes(b64, {"int64", "uint64", "float64"});
  takes(pred, {"bool"});
  takes(f32, {"float32"});
  takes(tf32, {"float32"});
  takes(bf16, {"bfloat16"});
  takes(e4m3, {"float8_e4m3fn"});
  EXPECT_FALSE(tile::dtype_matches(b64, "complex64"));  // no type of PTX: the launch knows its width
}

TEST(TileNames, DtypesGoToAndFro) {
  for (const Type type : {pred, u8, u16, u32, u64, s8, s16, s32, s64, f16, bf16, f32, f64, e4m3, e5m2}) {
    EXPECT_EQ(tile::type_from_dtype_name(tile::numpy_name(type)), type);
    EXPECT_EQ(tile::type_from_dtype_name(isa::name(type)), type);
    EXPECT_TRUE(tile::dtype_matches(type, tile::numpy_name(type)));
    EXPECT_TRUE(tile::dtype_matches(type, isa::name(type)));
  }
  EXPECT_TRUE(tile::dtype_matches(b32, "uint32"));
  EXPECT_FALSE(tile::dtype_matches(f16x2, ""));
  EXPECT_EQ(tile::numpy_name(f16x2), "");
  EXPECT_EQ(tile::type_from_dtype_name("complex64"), std::nullopt);
  EXPECT_EQ(tile::element_bytes(pred), 1);
  EXPECT_EQ(tile::element_bytes(bf16), 2);
  EXPECT_EQ(tile::element_bytes(f64), 8);
}

}  // namespace
}  // namespace ptx

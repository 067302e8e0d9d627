#include "ptx/layout/tensor_map.hpp"

#include <gtest/gtest.h>

#include "ptx/base/base.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

using Sizes = std::vector<std::int64_t>;
using enum TensorMapType;

void expect_refused(const Expected<TensorMap>& made, std::string_view words) {
  ASSERT_FALSE(made) << to_string(*made);
  EXPECT_EQ(made.error().kind, Kind::bad_tile);
  EXPECT_NE(made.error().message.find(words), std::string::npos) << made.error().message;
}

TEST(TensorMap, OfAMatrixIsItsDimensionsReversed) {
  const auto map = tiled_tensor_map(bf16, Sizes{256, 192}, Sizes{128, 64}, Swizzle::b128);
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->rank, 2);
  EXPECT_EQ(map->sizes, (std::array<std::uint64_t, 5>{192, 256}));
  EXPECT_EQ(map->strides, (std::array<std::uint64_t, 4>{384}));
  EXPECT_EQ(map->box, (std::array<std::uint32_t, 5>{64, 128}));
  EXPECT_EQ(map->swizzle, Swizzle::b128);
  EXPECT_EQ(map->box_bytes(), 128u * 64 * 2);
  EXPECT_EQ(to_string(*map), "bf16 (256, 192) in boxes of (128, 64), swizzle 128B");
}

TEST(TensorMap, OfOneToFiveDimensions) {
  const auto line = tiled_tensor_map(f32, Sizes{1000}, Sizes{256}, Swizzle::none);
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->strides, (std::array<std::uint64_t, 4>{}));
  EXPECT_EQ(to_string(*line), "f32 (1000,) in boxes of (256,), swizzle NONE");
  const auto five = tiled_tensor_map(u8, Sizes{2, 3, 4, 5, 32}, Sizes{1, 2, 2, 5, 32}, Swizzle::b32);
  ASSERT_TRUE(five) << five.error().message;
  EXPECT_EQ(five->sizes, (std::array<std::uint64_t, 5>{32, 5, 4, 3, 2}));
  EXPECT_EQ(five->strides, (std::array<std::uint64_t, 4>{32, 160, 640, 1920}));
  EXPECT_EQ(five->box, (std::array<std::uint32_t, 5>{32, 5, 2, 2, 1}));
  EXPECT_EQ(five->box_bytes(), 640u);
}

TEST(TensorMap, OfSlabsReachesPastTheSwizzle) {
  const auto map = slab_tensor_map(bf16, 4096, 2048, 128, 256, Swizzle::b128);
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->sizes, (std::array<std::uint64_t, 5>{64, 4096, 32}));
  EXPECT_EQ(map->strides, (std::array<std::uint64_t, 4>{4096, 128}));
  EXPECT_EQ(map->box, (std::array<std::uint32_t, 5>{64, 128, 4}));
  const auto padded = slab_tensor_map(bf16, 4096, 2048, 128, 64, Swizzle::none, true);
  ASSERT_TRUE(padded) << padded.error().message;
  EXPECT_EQ(padded->box, (std::array<std::uint32_t, 5>{72, 128, 1}));
}

TEST(TensorMap, AStrideThatNothingUsesNeedNotFit) {
  const auto row = tiled_tensor_map(f32, Sizes{1, 9}, Sizes{1, 8}, Swizzle::none);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->strides[0], 48u);
  const auto stacked = tiled_tensor_map(f32, Sizes{4, 1, 12}, Sizes{2, 1, 4}, Swizzle::none);
  ASSERT_TRUE(stacked) << stacked.error().message;
  EXPECT_EQ(stacked->strides, (std::array<std::uint64_t, 4>{48, 48}));
}

TEST(TensorMap, NamesTheRuleThatIsBroken) {
  const auto made = [](TensorMapType type, const Sizes& shape, const Sizes& box, Swizzle swizzle = Swizzle::none) {
    return tiled_tensor_map(type, shape, box, swizzle);
  };
  expect_refused(made(f32, {}, {}), "1 to 5 dimensions, not 0");
  expect_refused(made(f32, {1, 1, 1, 1, 1, 4}, {1, 1, 1, 1, 1, 4}), "1 to 5 dimensions, not 6");
  expect_refused(made(f32, {8, 8}, {8}), "the box (8,) has 1 dimensions, the tensor (8, 8) has 2");
  expect_refused(made(f32, {0, 8}, {8, 8}), "a dimension of (0, 8) is 0; those of a tensor map are 1 to 2^32");
  expect_refused(made(u8, {std::int64_t{1} << 33}, {16}), "1 to 2^32");
  expect_refused(made(f32, {16, 9}, {8, 8}),
                 "from one index to the next of dimension 0 of (16, 9) it is 36 bytes; a tensor map needs a multiple of 16");
  expect_refused(made(f64, {4, std::int64_t{1} << 20, std::int64_t{1} << 20}, {1, 1, 8}), "it is 2^40 bytes or more");
  expect_refused(made(f64, {9, std::int64_t{1} << 32, std::int64_t{1} << 32, std::int64_t{1} << 32}, {1, 1, 1, 8}),
                 "it is 2^40 bytes or more");
  expect_refused(made(f16, {512, 64}, {512, 64}), "a dimension of the box (512, 64) is 512; one tensor copy moves 1 to 256");
  expect_refused(made(f16, {512, 64}, {64, 0}), "is 0; one tensor copy moves 1 to 256");
  expect_refused(made(f16, {64, 64}, {64, 4}),
                 "a row of the box (64, 4) is 8 bytes (4 elements of 2); a tensor copy needs a multiple of 16");
  expect_refused(made(f16, {64, 128}, {64, 128}, Swizzle::b128),
                 "a row of the box (64, 128) is 256 bytes (128 elements of 2); swizzle 128B takes at most 128");
  expect_refused(made(f16, {64, 64}, {64, 32}, Swizzle::b32), "swizzle 32B takes at most 32");
  expect_refused(made(f16, {64, 64}, {64, 64}, Swizzle::b64), "swizzle 64B takes at most 64");
  expect_refused(made(f16, {64, 64}, {64, 16}, Swizzle::b96), "no tensor map has this swizzle");
  expect_refused(slab_tensor_map(bf16, 64, 96, 64, 64, Swizzle::none),
                 "a matrix (64, 96) is not a whole number of slabs of 64 columns");
  expect_refused(slab_tensor_map(bf16, 64, 128, 64, 32, Swizzle::none),
                 "a box (64, 32) is not a whole number of slabs of 64 columns");
  expect_refused(slab_tensor_map(bf16, 64, 128, 64, 64, Swizzle::b128, true), "swizzle 128B takes at most 128");
  expect_refused(slab_tensor_map(f32, 64, 128, 64, 64, Swizzle::b128), "swizzle 128B takes at most 128");
}

TEST(TensorMap, TellsTheWayOut) {
  const auto wide = tiled_tensor_map(f16, Sizes{64, 128}, Sizes{64, 128}, Swizzle::b128);
  ASSERT_FALSE(wide);
  EXPECT_EQ(notes_of(wide.error()).at(0),
            "hint: a `tma_box` of 64 columns, or `tma_rank=3`, which copies 64 columns at a time in one instruction");
}

/// Images of 8 x 8 pixels with 64 channels, 2 of them: a convolution's filter of 3 x 3 around each pixel.
TensorMap pixels() {
  TensorMap map{.type = f16, .rank = 4, .swizzle = Swizzle::b128};
  map.sizes = {64, 8, 8, 2};
  map.strides = {128, 1024, 8192};
  map.im2col = Im2col{.lower_corner = {-1, -1}, .upper_corner = {-1, -1}, .channels_per_pixel = 64, .pixels_per_column = 128};
  return map;
}

TEST(TensorMap, OfImagesInColumns) {
  EXPECT_TRUE(pixels().check());
  EXPECT_EQ(pixels().box_bytes(), 64u * 128 * 2);
  EXPECT_EQ(to_string(pixels()), "f16 (2, 8, 8, 64) in columns of 128 pixels by 64 channels, swizzle 128B");
}

void expect_not(const TensorMap& map, std::string_view part) {
  const auto ok = map.check();
  ASSERT_FALSE(ok) << part;
  EXPECT_EQ(ok.error().kind, Kind::bad_tile);
  EXPECT_NE(ok.error().message.find(part), std::string::npos) << ok.error().message;
}

TEST(TensorMap, NamesTheRuleOfColumnsThatIsBroken) {
  TensorMap map = pixels();
  map.rank = 2;
  expect_not(map, "an im2col tensor map has 3 to 5 dimensions, not 2");
  map = pixels();
  map.im2col->lower_corner[1] = 128;
  expect_not(map, "a corner of the pixels' box is 128; with 4 dimensions it is -128 to 127");
  map = pixels();
  map.im2col->upper_corner[0] = -9;
  expect_not(map, "the pixels' box from -1 to -9 is empty in a dimension of 8");
  map = pixels();
  map.im2col->channels_per_pixel = 257;
  expect_not(map, "a copy takes 257 channels of a pixel; 1 to 256 can be");
  map = pixels();
  map.im2col->pixels_per_column = 1025;
  expect_not(map, "a copy takes 1025 pixels; 1 to 1024 can be");
  map = pixels();
  map.im2col->channels_per_pixel = 128;
  expect_not(map, "a pixel is 256 bytes (128 elements of 2); swizzle 128B takes at most 128");
}

TEST(TensorMap, InterleavingFillingAndSteps) {
  TensorMap map = *tiled_tensor_map(f16, Sizes{4, 8, 64}, Sizes{2, 4, 16}, Swizzle::b32);
  EXPECT_EQ(address_alignment(map), 16u);
  map.interleave = Interleave::b32;
  EXPECT_TRUE(map.check());
  EXPECT_EQ(address_alignment(map), 32u);
  map.swizzle = Swizzle::none;
  expect_not(map, "slices of 32 bytes go with swizzle 32B, not NONE");
  map.interleave = Interleave::b16;
  EXPECT_TRUE(map.check());
  map.box[0] = 4;
  expect_not(map, "a row of the box (2, 4, 4) is 8 bytes (4 elements of 2); a tensor copy needs a multiple of 16");
  expect_refused(tiled_tensor_map(f32, Sizes{256, 256, 64}, Sizes{8, 256, 32}, Swizzle::none),
                 "one copy moves 262144 bytes; a tensor map takes less than 262144");
  TensorMap flat = *tiled_tensor_map(f16, Sizes{8, 64}, Sizes{4, 16}, Swizzle::none);
  flat.interleave = Interleave::b16;
  expect_not(flat, "a tensor map with interleaved channels has 3 to 5 dimensions, not 2");
  TensorMap whole = *tiled_tensor_map(s32, Sizes{8, 64}, Sizes{4, 16}, Swizzle::none);
  whole.fill = TensorMapFill::nan;
  expect_not(whole, "elements of type s32 have no NaN to fill with outside the tensor");
  whole.fill = TensorMapFill::zero;
  whole.element_strides[1] = 2;
  EXPECT_TRUE(whole.check());
  EXPECT_EQ(whole.box_bytes(), 2u * 16 * 4) << "every second row of the box";
  whole.element_strides[1] = 9;
  expect_not(whole, "an element stride is 9; those of a tensor map are 1 to 8");
}

// What an H200's mbarriers were told of interleaved channels: one slice of channels, whatever the box has.
TEST(TensorMap, OneCopyMovesOneSliceOfChannels) {
  TensorMap map{.type = u16, .rank = 4, .interleave = Interleave::b16};
  map.sizes = {10, 10, 2, 1};
  map.strides = {160, 1600, 3200};
  map.box = {8, 5, 2, 1};
  map.element_strides = {3, 2, 1, 1, 1};
  ASSERT_TRUE(map.check());
  EXPECT_EQ(map.box_bytes(), 3u * 3 * 16);
  EXPECT_EQ(map.nominal_bytes(), 3u * 3 * 2 * 2);
  map.im2col = Im2col{.channels_per_pixel = 64, .pixels_per_column = 33};
  ASSERT_TRUE(map.check());
  EXPECT_EQ(map.box_bytes(), 33u * 16);
  // without it a copy does not look at the innermost element stride
  TensorMap plain{.type = u16, .rank = 1};
  plain.sizes[0] = plain.box[0] = 64;
  plain.element_strides[0] = 3;
  EXPECT_EQ(plain.box_bytes(), 128u);
  EXPECT_EQ(plain.nominal_bytes(), 44u);
}

TEST(TensorMap, PackedElements) {
  EXPECT_EQ(bytes_of(b6x16_p32, 128), 96u);
  EXPECT_EQ(shared_bytes_of(b6x16_p32, 128), 128u);
  EXPECT_EQ(shared_bytes_of(b4x16_p64, 128), 128u);
  EXPECT_EQ(shared_bytes_of(b4x16, 128), 64u);
  EXPECT_EQ(bytes_of(b4x16, 3), 2u);
  const auto map = tiled_tensor_map(b6x16_p32, Sizes{16, 256}, Sizes{8, 128}, Swizzle::b128);
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->strides[0], 192u);
  EXPECT_EQ(map->box_bytes(), 8u * 96);
  EXPECT_EQ(address_alignment(*map), 32u);
  EXPECT_EQ(to_string(*map), "b6x16_p32 (16, 256) in boxes of (8, 128), swizzle 128B");
  ASSERT_TRUE(tiled_tensor_map(b4x16_p64, Sizes{4, 128}, Sizes{4, 128}, Swizzle::b128_atom32));
  ASSERT_TRUE(tiled_tensor_map(b4x16, Sizes{4, 96}, Sizes{4, 64}, Swizzle::b32));
  expect_refused(tiled_tensor_map(b4x16_p64, Sizes{4, 192}, Sizes{4, 128}, Swizzle::none), "a multiple of 128, not of 192");
  expect_refused(tiled_tensor_map(b6x16_p32, Sizes{4, 128}, Sizes{4, 64}, Swizzle::none), "moves 128 elements of type b6x16_p32");
  expect_refused(tiled_tensor_map(b4x16_p64, Sizes{4, 128}, Sizes{4, 128}, Swizzle::b64), "go with swizzle NONE, 128B");
  expect_refused(tiled_tensor_map(b4x16_p64, Sizes{4, 128}, Sizes{4, 128}, Swizzle::b128_atom64), "not 128B_ATOM_64B");
  expect_refused(tiled_tensor_map(b4x16, Sizes{4, 33}, Sizes{4, 32}, Swizzle::none), "is 17 bytes");
  expect_refused(tiled_tensor_map(b4x16, Sizes{33}, Sizes{32}, Swizzle::none), "a multiple of 2, not of 33");
  expect_refused(tiled_tensor_map(b4x16, Sizes{4, 64}, Sizes{4, 16}, Swizzle::none), "(16 elements of 4 bits)");
  TensorMap slices = *map;
  slices.rank = 3;
  slices.sizes[2] = slices.box[2] = 1;
  slices.strides[1] = 192 * 16;
  slices.interleave = Interleave::b16;
  ASSERT_FALSE(slices.check());
  EXPECT_NE(slices.check().error().message.find("interleaved channels"), std::string::npos);
}

TEST(TensorMap, BoxesThatTheAuthorLeavesOut) {
  EXPECT_TRUE(fits_one_box(bf16, Sizes{256, 64}, Swizzle::b128));
  EXPECT_FALSE(fits_one_box(bf16, Sizes{257, 64}, Swizzle::b128));
  EXPECT_FALSE(fits_one_box(bf16, Sizes{256, 65}, Swizzle::b128));
  EXPECT_TRUE(fits_one_box(bf16, Sizes{256, 256}, Swizzle::none));
  EXPECT_EQ(default_matrix_box(bf16, 4096, Swizzle::b128), (std::array<std::int64_t, 2>{128, 64}));
  EXPECT_EQ(default_matrix_box(f32, 4096, Swizzle::b128), (std::array<std::int64_t, 2>{128, 32}));
  EXPECT_EQ(default_matrix_box(u8, 4096, Swizzle::b32), (std::array<std::int64_t, 2>{128, 32}));
  EXPECT_EQ(default_matrix_box(f32, 4096, Swizzle::none), (std::array<std::int64_t, 2>{128, 256}));
  EXPECT_EQ(default_matrix_box(f64, 4096, Swizzle::none), (std::array<std::int64_t, 2>{64, 256}));
  EXPECT_FALSE(fits_one_box(f32, Sizes{256, 256}, Swizzle::none)) << "256 KiB";
  EXPECT_EQ(default_matrix_box(f32, 40, Swizzle::none), (std::array<std::int64_t, 2>{128, 40}));
}

TEST(TensorMap, NamesOfTypesAndSwizzles) {
  EXPECT_EQ(name(bf16), "bf16");
  EXPECT_EQ(name(tf32_ftz), "tf32.ftz");
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  for (std::size_t i = 0; i < std::size(bytes); ++i) EXPECT_EQ(element_bytes(static_cast<TensorMapType>(i)), bytes[i]);
  for (const LayoutType type : {LayoutType::interleave, LayoutType::b128, LayoutType::b64, LayoutType::b32})
    EXPECT_EQ(tensor_map_swizzle_name(swizzle_of(type)), tma_swizzle_name(type));
}

}  // namespace
}  // namespace ptx::layout

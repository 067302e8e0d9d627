#include "ptx/layout/tensor_map_bytes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ptx/base/base.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

// Words that an H200's driver (580.159) wrote: bf16 (200, 256) of 512 bytes a row, box (128, 64), swizzle 128B.
TEST(TensorMapBytes, AreTheDrivers) {
  TensorMap map{.type = TensorMapType::bf16, .rank = 2, .swizzle = Swizzle::b128, .l2_promotion = L2Promotion::none};
  map.sizes = {256, 200};
  map.strides = {512};
  map.box = {64, 128};
  TensorMapWords words = encode(map, 0x7F1234567800);
  const std::pair<std::size_t, std::uint32_t> known[] = {{0, 0x34567800}, {1, 0x7F12}, {2, 0x6510},      {3, 0x20},
                                                         {8, 0xFF},       {9, 0xC7},   {13, 0x3F000000}, {14, 0x7F},
                                                         {16, 0x4000},    {18, 0x400}};
  for (const auto& [word, value] : known) {
    EXPECT_EQ(words.word[word], value) << "word " << word;
    words.word[word] = 0;
  }
  EXPECT_EQ(words, TensorMapWords{});
  // rank 5, upper corners (-2, -1, -1), lower 0: word 14
  TensorMap pixels{.type = TensorMapType::f32, .rank = 5};
  pixels.sizes = {32, 8, 8, 8, 2};
  pixels.strides = {128, 1024, 8192, 65536};
  pixels.im2col = Im2col{.upper_corner = {-2, -1, -1}, .channels_per_pixel = 32, .pixels_per_column = 64};
  EXPECT_EQ(encode(pixels, 0).word[14], 0x7FFE0000u);
  EXPECT_EQ(encode(pixels, 0).word[2] & 1, 1u);
  EXPECT_EQ(encode(pixels, 0).word[15], 63u);
}

TEST(TensorMapBytes, ComeBackAsTheyWere) {
  std::mt19937 random(4);
  const auto pick = [&](auto... values) {
    const std::array<std::common_type_t<decltype(values)...>, sizeof...(values)> all{values...};
    return all[random() % all.size()];
  };
  int maps = 0, packed = 0;
  for (int i = 0; i < 4000; ++i) {
    TensorMap map{.type = static_cast<TensorMapType>(random() % 16), .rank = static_cast<std::uint8_t>(1 + random() % 5)};
    map.swizzle = pick(Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64);
    map.l2_promotion = static_cast<L2Promotion>(random() % 4);
    map.fill = static_cast<TensorMapFill>(random() % 2);
    map.interleave = pick(Interleave::none, Interleave::none, Interleave::b16, Interleave::b32);
    if (map.rank > 2 && random() % 3 == 0) {
      map.im2col = Im2col{.channels_per_pixel = pick(4u, 16u, 32u, 256u), .pixels_per_column = pick(1u, 64u, 1024u)};
      for (std::size_t k = 0; k + 2 < map.rank; ++k)
        map.im2col->lower_corner[k] = pick(-16, -1, 0, 15), map.im2col->upper_corner[k] = pick(-3, 0, 15);
    }
    for (std::size_t k = 0; k < map.rank; ++k) {
      map.sizes[k] = pick(std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 32, std::uint64_t{12345});
      if (k == 0 && is_packed(map.type)) map.sizes[0] = pick(std::uint64_t{128}, std::uint64_t{1} << 32);
      if (!map.im2col) map.box[k] = k == 0 && is_packed(map.type) ? 128u : pick(1u, 4u, 16u, 256u);
      map.element_strides[k] = pick(1u, 1u, 3u, 8u);
      if (k + 1 < map.rank) map.strides[k] = pick(std::uint64_t{32}, std::uint64_t{1} << 39, std::uint64_t{4096});
    }
    if (!map.check()) continue;
    ++maps;
    packed += is_packed(map.type) ? 1 : 0;
    const std::uint64_t tensor = (std::uint64_t{random()} << 15) & ~std::uint64_t{31};
    const auto back = decode(encode(map, tensor));
    ASSERT_TRUE(back) << to_string(map) << ": " << back.error().message;
    EXPECT_EQ(back->map, map) << to_string(map);
    EXPECT_EQ(back->tensor, tensor);
  }
  EXPECT_GT(maps, 300);
  EXPECT_GT(packed, 30);
}

TEST(TensorMapBytes, OthersAreNone) {
  EXPECT_FALSE(decode({}));
  TensorMap map{.type = TensorMapType::u32, .rank = 1};
  map.sizes[0] = map.box[0] = 64;
  const TensorMapWords words = encode(map, 1 << 20);
  ASSERT_TRUE(decode(words));
  const auto with = [&](TensorMapField field, std::uint64_t value) {
    TensorMapWords changed = words;
    replace(changed, field, 0, value);
    return decode(changed);
  };
  EXPECT_FALSE(with(TensorMapField::rank, 5));
  EXPECT_FALSE(with(TensorMapField::rank, 7));
  EXPECT_FALSE(with(TensorMapField::elemtype, 14)) << "boxes of 128 elements alone";
  EXPECT_FALSE(with(TensorMapField::interleave_layout, 3));
  EXPECT_FALSE(with(TensorMapField::global_address, 8));
  EXPECT_FALSE(with(TensorMapField::box_dim, 3));
  EXPECT_FALSE(with(TensorMapField::fill_mode, 1)) << "integers have no NaN";
  EXPECT_EQ(with(TensorMapField::elemtype, 11)->map.type, TensorMapType::tf32);
  EXPECT_EQ(with(TensorMapField::elemtype, 12)->map.type, TensorMapType::tf32_ftz);
  EXPECT_EQ(with(TensorMapField::elemtype, 13)->map.type, TensorMapType::b4x16);
  EXPECT_EQ(with(TensorMapField::element_stride, 8)->map.element_strides[0], 8u);
}

}  // namespace
}  // namespace ptx::layout

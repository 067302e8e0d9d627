#include "ptx/layout/descriptor.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

// `count` bits from `first` on, as the manual's tables count them.
std::uint64_t field(std::uint64_t bits, unsigned first, unsigned count) {
  return bits >> first & ((std::uint64_t{1} << count) - 1);
}

TEST(WgmmaDescriptor, HasTheManualsFields) {
  EXPECT_EQ(*descriptor_bits(WgmmaDescriptor{16, 1024, 1, 0}), 0x4000004000010000u);
  const auto bits =
      descriptor_bits(WgmmaDescriptor{.leading_byte_offset = 32, .stride_byte_offset = 48, .swizzle = 3, .base_offset = 5});
  ASSERT_TRUE(bits);
  EXPECT_EQ(field(*bits, 0, 16), 0u) << "the address is not known here";
  EXPECT_EQ(field(*bits, 16, 14), 2u);
  EXPECT_EQ(field(*bits, 32, 14), 3u);
  EXPECT_EQ(field(*bits, 49, 3), 5u);
  EXPECT_EQ(field(*bits, 62, 2), 3u);
  EXPECT_EQ(*descriptor_bits(WgmmaDescriptor{16 * 0x3FFF, 16 * 0x3FFF, 0, 0}), 0x00003FFF3FFF0000u);
}

TEST(WgmmaDescriptor, IsThatOfItsLayout) {
  const auto layout = pick_gmma_layout(2, 64, 64, Major::k);
  EXPECT_EQ(*descriptor_bits(descriptor_of(*layout)), 0x4000004000010000u);
  const auto narrow = pick_gmma_layout(2, 64, 16, Major::k);
  EXPECT_EQ(*descriptor_bits(descriptor_of(*narrow)), 0xC000001000010000u);
}

TEST(Tcgen05Descriptor, HasTheManualsFields) {
  EXPECT_EQ(*descriptor_bits(Tcgen05Descriptor{.stride_bytes = 1024}), 0x4000404000010000u);
  const auto bits = descriptor_bits(
      Tcgen05Descriptor{.stride_bytes = 512, .leading_bytes = 4096, .swizzle = "32B", .base_offset = 7, .lbo_mode = 1});
  ASSERT_TRUE(bits);
  EXPECT_EQ(field(*bits, 16, 14), 256u);
  EXPECT_EQ(field(*bits, 32, 14), 32u);
  EXPECT_EQ(field(*bits, 46, 3), 1u);
  EXPECT_EQ(field(*bits, 49, 3), 7u);
  EXPECT_EQ(field(*bits, 52, 1), 1u);
  EXPECT_EQ(field(*bits, 61, 3), 6u);
  const std::pair<std::string_view, unsigned> swizzles[] = {
      {"NONE", 0}, {"128B_BASE32B", 1}, {"128B", 2}, {"64B", 4}, {"32B", 6}};
  for (const auto& [name, code] : swizzles)
    EXPECT_EQ(field(*descriptor_bits(Tcgen05Descriptor{.stride_bytes = 0, .swizzle = name}), 61, 3), code) << name;
}

TEST(InstructionDescriptor, HasTheKnownValues) {
  EXPECT_EQ(*descriptor_bits(MmaKind::f16, {.d_dtype = "f32", .a_dtype = "bf16", .b_dtype = "bf16"}), 0x08400490u);
  EXPECT_EQ(*descriptor_bits(MmaKind::f16, {.d_dtype = "f32", .a_dtype = "f16", .b_dtype = "f16"}), 0x08400010u);
  EXPECT_EQ(*descriptor_bits(MmaKind::f16, {.d_dtype = "f32", .a_dtype = "f16", .b_dtype = "f16", .scale_a = -1}), 0x08402010u);
  EXPECT_EQ(*descriptor_bits(MmaKind::tf32, {.a_dtype = "tf32", .b_dtype = "tf32"}), 0x08400910u);
}

TEST(InstructionDescriptor, HasItsKindsUsualFormats) {
  EXPECT_EQ(*descriptor_bits(MmaKind::f16, {}), 0x08400000u);
  EXPECT_EQ(*descriptor_bits(MmaKind::tf32, {}), 0x08400910u);
  EXPECT_EQ(*descriptor_bits(MmaKind::f8f6f4, {}), 0x08400010u);
  EXPECT_EQ(*descriptor_bits(MmaKind::i8, {}), 0x084004A0u);
  EXPECT_EQ(*descriptor_bits(ScaledMmaKind::mxf8f6f4, {}), 0x08C00000u);
  EXPECT_EQ(*descriptor_bits(ScaledMmaKind::mxf4, {}), 0x08C00480u);
  EXPECT_EQ(*descriptor_bits(ScaledMmaKind::mxf4nvf4, {}), 0x08400480u);
}

TEST(InstructionDescriptor, HasTheManualsFields) {
  const auto bits = descriptor_bits(MmaKind::f8f6f4, {.m = 64,
                                                      .n = 24,
                                                      .d_dtype = "f16",
                                                      .a_dtype = "e2m1",
                                                      .b_dtype = "e3m2",
                                                      .a_major = "MN",
                                                      .scale_b = -1,
                                                      .saturate = true,
                                                      .sparse = true,
                                                      .sparsity_selector = 3,
                                                      .max_shift = 2});
  ASSERT_TRUE(bits);
  EXPECT_EQ(field(*bits, 0, 2), 3u);
  EXPECT_EQ(field(*bits, 2, 1), 1u);
  EXPECT_EQ(field(*bits, 3, 1), 1u);
  EXPECT_EQ(field(*bits, 4, 2), 0u);
  EXPECT_EQ(field(*bits, 7, 3), 5u);
  EXPECT_EQ(field(*bits, 10, 3), 4u);
  EXPECT_EQ(field(*bits, 13, 2), 2u) << "b is negated";
  EXPECT_EQ(field(*bits, 15, 2), 1u) << "a is MN-major";
  EXPECT_EQ(field(*bits, 17, 6), 3u);
  EXPECT_EQ(field(*bits, 24, 5), 4u);
  EXPECT_EQ(field(*bits, 30, 2), 2u);
  const auto integers = descriptor_bits(MmaKind::i8, {.d_dtype = "s32", .a_dtype = "s8", .b_dtype = "u8"});
  EXPECT_EQ(field(*integers, 4, 2), 2u);
  EXPECT_EQ(field(*integers, 7, 3), 1u);
  EXPECT_EQ(field(*integers, 10, 3), 0u);
}

TEST(InstructionDescriptor, OfScaledKindsHasTheManualsFields) {
  const auto bits = descriptor_bits(ScaledMmaKind::mxf8f6f4, {.m = 256,
                                                              .n = 64,
                                                              .a_dtype = "e5m2",
                                                              .b_dtype = "e2m3",
                                                              .b_major = "MN",
                                                              .scale_a = -1,
                                                              .sparse = true,
                                                              .a_scale_id = 3,
                                                              .b_scale_id = 2});
  ASSERT_TRUE(bits);
  EXPECT_EQ(field(*bits, 0, 2), 0u);
  EXPECT_EQ(field(*bits, 2, 2), 1u);
  EXPECT_EQ(field(*bits, 4, 3), 2u);
  EXPECT_EQ(field(*bits, 7, 3), 1u);
  EXPECT_EQ(field(*bits, 10, 3), 3u);
  EXPECT_EQ(field(*bits, 13, 2), 1u);
  EXPECT_EQ(field(*bits, 15, 2), 2u);
  EXPECT_EQ(field(*bits, 17, 6), 8u);
  EXPECT_EQ(field(*bits, 23, 1), 1u) << "UE8M0";
  EXPECT_EQ(field(*bits, 24, 3), 0u);
  EXPECT_EQ(field(*bits, 27, 2), 2u);
  EXPECT_EQ(field(*bits, 29, 2), 3u);
  EXPECT_EQ(field(*bits, 31, 1), 0u);

  const auto quarters =
      descriptor_bits(ScaledMmaKind::mxf4nvf4,
                      {.n = 128, .a_dtype = "e2m1", .b_dtype = "e2m1", .scale_dtype = "ue4m3", .a_scale_id = 2, .k96 = true});
  ASSERT_TRUE(quarters);
  EXPECT_EQ(*quarters, 1u << 7 | 1u << 10 | 16u << 17 | 1u << 27 | 2u << 29 | 1u << 31);
}

TEST(Descriptors, RefuseWhatDoesNotFitItsField) {
  struct Case {
    Expected<void> refused;
    std::string_view words;
  };
  const auto of = [](const auto& expected) { return expected ? Expected<void>() : Expected<void>(Unexpected{expected.error()}); };
  const Case cases[] = {
      {of(descriptor_bits(WgmmaDescriptor{8, 1024, 1, 0})),
       "`leading_byte_offset` of a wgmma descriptor is 8; what fits is a multiple of 16"},
      {of(descriptor_bits(WgmmaDescriptor{16, 16 * 0x4000, 1, 0})), "`stride_byte_offset` of a wgmma descriptor is 262144"},
      {of(descriptor_bits(WgmmaDescriptor{16, -16, 1, 0})), "is -16"},
      {of(descriptor_bits(WgmmaDescriptor{16, 1024, 4, 0})), "`swizzle` of a wgmma descriptor is 4; what fits is 0 to 3"},
      {of(descriptor_bits(WgmmaDescriptor{16, 1024, 0, 8})), "`base_offset` of a wgmma descriptor is 8; what fits is 0 to 7"},
      {of(descriptor_bits(Tcgen05Descriptor{.stride_bytes = 1000})), "`stride_bytes` of a tcgen05 descriptor is 1000"},
      {of(descriptor_bits(Tcgen05Descriptor{.swizzle = "96B"})),
       "`swizzle` of a tcgen05 descriptor is `96B`; what fits is `NONE`"},
      {of(descriptor_bits(Tcgen05Descriptor{.version = 0})), "`version` of a tcgen05 descriptor is 0; what fits is 1"},
      {of(descriptor_bits(Tcgen05Descriptor{.lbo_mode = 2})), "`lbo_mode`"},
      {of(descriptor_bits(MmaKind::f16, {.m = 96})),
       "`m` of a kind::f16 instruction descriptor is 96; what fits is 64, 128 or 256"},
      {of(descriptor_bits(MmaKind::f16, {.n = 12})), "a multiple of 8 from 8 to 256"},
      {of(descriptor_bits(MmaKind::f16, {.n = 264})), "`n`"},
      {of(descriptor_bits(MmaKind::f16, {.a_dtype = "tf32"})),
       "`a_dtype` of a kind::f16 instruction descriptor is `tf32`; what fits is `f16` or `bf16`"},
      {of(descriptor_bits(MmaKind::tf32, {.d_dtype = "f16", .a_dtype = "tf32", .b_dtype = "tf32"})), "`d_dtype`"},
      {of(descriptor_bits(MmaKind::f16, {.scale_b = 2})),
       "`scale_b` of a kind::f16 instruction descriptor is 2; what fits is 1 or -1"},
      {of(descriptor_bits(MmaKind::i8, {.d_dtype = "s32", .a_dtype = "s8", .b_dtype = "s8", .scale_a = -1})),
       "integers are not negated"},
      {of(descriptor_bits(MmaKind::f16, {.a_major = "M"})), "`a_major`"},
      {of(descriptor_bits(MmaKind::f16, {.max_shift = 4})), "`max_shift`"},
      {of(descriptor_bits(ScaledMmaKind::mxf8f6f4, {.m = 64})),
       "`m` of a kind::mxf8f6f4 instruction descriptor is 64; what fits is 128 or 256"},
      {of(descriptor_bits(ScaledMmaKind::mxf8f6f4, {.scale_dtype = "ue4m3"})), "`scale_dtype`"},
      {of(descriptor_bits(ScaledMmaKind::mxf4, {.a_dtype = "e2m1", .b_dtype = "e2m1", .a_scale_id = 1})),
       "`a_scale_id` of a kind::mxf4 instruction descriptor is 1; what fits is 0 or 2"},
      {of(descriptor_bits(ScaledMmaKind::mxf4, {.a_dtype = "e2m1", .b_dtype = "e2m1", .b_major = "MN"})), "K-major"},
      {of(descriptor_bits(ScaledMmaKind::mxf4, {.a_dtype = "e4m3", .b_dtype = "e2m1"})), "`a_dtype`"},
      {of(descriptor_bits(ScaledMmaKind::mxf8f6f4, {.k96 = true})), "`k96` of a kind::mxf8f6f4 instruction descriptor is true"},
  };
  for (const Case& c : cases) {
    ASSERT_FALSE(c.refused) << c.words;
    EXPECT_EQ(c.refused.error().kind, Kind::bad_descriptor);
    EXPECT_NE(c.refused.error().message.find(c.words), std::string::npos) << c.refused.error().message;
  }
}

}  // namespace
}  // namespace ptx::layout

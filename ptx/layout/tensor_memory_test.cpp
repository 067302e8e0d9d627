#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

// The manual's examples of the zero-column mask descriptor, as runs of columns that are used (0) and skipped (1), from column 0
// on.
TEST(ZeroColumns, AreThoseOfTheManualsExamples) {
  struct Fields {
    std::uint64_t sc0, sc1, sc2, sc3, fs;  // start counts, first spans as bits
    bool non_zero;
    std::uint64_t skip, use;
    [[nodiscard]] std::uint64_t bits() const {
      return sc0 | sc1 << 8 | sc2 << 16 | sc3 << 24 | fs << 32 | (non_zero ? std::uint64_t{1} << 39 : 0) | skip << 40 | use << 48;
    }
  };
  const auto mask = [](const Fields& f, int m, int n, int first, int count) {
    std::string text;
    for (int column = first; column < first + count; ++column) text += is_zero_column(f.bits(), m, column, n) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(mask({0, 0, 0, 0, 0, false, 4, 3}, 128, 64, 0, 64), std::string(64, '0'));
  EXPECT_EQ(mask({0, 0, 0, 0, 0, true, 2, 3}, 128, 64, 0, 14), "00001110000111");
  const Fields two{0, 0, 0, 0, 1, true, 2, 3};
  EXPECT_EQ(mask(two, 64, 64, 0, 17), "11100001110000111");
  EXPECT_EQ(mask(two, 64, 64, 32, 14), "00001110000111");
  const Fields four{0, 1, 2, 1, 3, true, 2, 3};
  EXPECT_EQ(mask(four, 32, 64, 0, 14), "11100001110000");
  EXPECT_EQ(mask(four, 32, 64, 16, 13), "1100001110000");
  EXPECT_EQ(mask(four, 32, 64, 32, 12), "001110000111");
  EXPECT_EQ(mask(four, 32, 64, 48, 13), "0001110000111");
}

TEST(TensorMemoryLayout, PutsEveryElementIntoACellOfItsOwn) {
  struct Case {
    DataPath path;
    int m, n, ctas;
  };
  for (const Case& c : {Case{DataPath::a, 256, 64, 2}, Case{DataPath::b, 128, 64, 2}, Case{DataPath::c, 128, 64, 2},
                        Case{DataPath::d, 128, 64, 1}, Case{DataPath::e, 64, 64, 1}, Case{DataPath::f, 64, 64, 1},
                        Case{DataPath::g, 32, 64, 1}}) {
    std::set<std::tuple<int, int, int>> cells;
    for (int row = 0; row < c.m; ++row)
      for (int column = 0; column < c.n; ++column) {
        const DataPlace place = place_of_d(c.path, row, column, c.n);
        EXPECT_TRUE(place.cta < c.ctas && place.lane < tensor_lanes && place.column < c.n);
        EXPECT_TRUE(!takes_half(c.path) || place.lane % 32 < 16);
        EXPECT_TRUE(cells.emplace(place.cta, place.lane, place.column).second);
      }
  }
  EXPECT_EQ(place_of_d(DataPath::b, 70, 40, 64), (DataPlace{1, 70, 8}));
  EXPECT_EQ(place_of_d(DataPath::f, 17, 3, 8), (DataPlace{0, 33, 3}));
  EXPECT_EQ(place_of_d(DataPath::g, 5, 49, 64), (DataPlace{0, 101, 1}));
  EXPECT_EQ(place_of_a(DataPath::e, 5, 7, 1), (DataPlace{0, 69, 7}));
  EXPECT_FALSE(data_path(32, 1, false, false));
  EXPECT_FALSE(data_path(64, 2, false, false));
  EXPECT_EQ(data_path(128, 2, false, true), DataPath::c);
}

TEST(TensorMemoryLayout, GivesEachRegisterACell) {
  struct Case {
    TensorShape shape;
    int num, lanes, columns;
  };
  for (const Case& c : {Case{TensorShape::lanes32_b32, 8, 32, 8}, Case{TensorShape::lanes16_b64, 8, 16, 16},
                        Case{TensorShape::lanes16_b128, 8, 16, 32}, Case{TensorShape::lanes16_b256, 8, 16, 64},
                        Case{TensorShape::lanes16_b32x2, 8, 16, 16}}) {
    std::set<std::pair<int, int>> cells;
    for (int thread = 0; thread < 32; ++thread)
      for (int reg = 0; reg < registers_of(c.shape, c.num); ++reg) {
        const TensorAddress at = place_of_register(c.shape, thread, reg, 8);
        EXPECT_TRUE(at.lane < c.lanes && at.column < c.columns);
        EXPECT_TRUE(cells.emplace(at.lane, at.column).second);
      }
    EXPECT_EQ(cells.size(), static_cast<std::size_t>(c.lanes * c.columns));
  }
  EXPECT_EQ(tensor_address(0x00400013), (TensorAddress{64, 19}));
}

TEST(TensorMemoryLayout, PutsScalesAndMetadata) {
  EXPECT_EQ(place_of_scales(70), (TensorAddress{6, 2}));
  EXPECT_EQ(place_of_scales_in_halves(100, 192), (TensorAddress{68, 0}));
  EXPECT_EQ(place_of_scales_in_halves(95, 192), (TensorAddress{31, 2}));
  EXPECT_EQ(columns_to_further_scales(128), 4);
  EXPECT_EQ(columns_to_further_scales(136), 8);
  EXPECT_EQ(place_of_metadata(DataPath::d, 16, 26, 5), (MetadataPlace{26, 0, 20}));
  EXPECT_EQ(place_of_metadata(DataPath::d, 8, 26, 13), (MetadataPlace{26, 1, 20}));
  EXPECT_EQ(place_of_metadata(DataPath::c, 16, 26, 5), (MetadataPlace{42, 0, 20}));
  EXPECT_EQ(place_of_metadata(DataPath::f, 8, 26, 13), (MetadataPlace{42, 1, 20}));
}

TEST(SharedMatrix, ReadsDescriptorsOfTcgen05) {
  const auto bits =
      descriptor_bits(Tcgen05Descriptor{.stride_bytes = 512, .leading_bytes = 4096, .swizzle = "64B", .base_offset = 3});
  const auto read = read_tcgen05_descriptor(*bits | 0x123);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->start, 0x1230u);
  EXPECT_EQ(read->leading, 4096u);
  EXPECT_EQ(read->stride, 512u);
  EXPECT_EQ(read->base_offset, 3u);
  EXPECT_EQ(read->width, 4u);
  const auto refused = [](std::uint64_t descriptor) {
    const auto none = read_tcgen05_descriptor(descriptor);
    EXPECT_FALSE(none);
    return none ? std::string() : none.error().message;
  };
  EXPECT_NE(refused(*bits & ~(std::uint64_t{7} << 46)).find("has 0 in bits 46 to 48; what fits is 1"), std::string::npos);
  EXPECT_NE(refused(*bits | std::uint64_t{1} << 61).find("has swizzle mode 5"), std::string::npos);
  // a row of pieces that goes on at another address, behind the swizzle's pattern
  const auto plain = descriptor_bits(Tcgen05Descriptor{.stride_bytes = 512, .leading_bytes = 4096, .swizzle = "64B"});
  const auto absolute = read_tcgen05_descriptor(*plain | std::uint64_t{1} << 52);
  ASSERT_TRUE(absolute && absolute->goes_on_elsewhere);
  EXPECT_EQ(absolute->along_k(0, 3), 0x30u);
  EXPECT_EQ(absolute->along_k(0, 4), 4096u);
  EXPECT_EQ(absolute->along_k(9, 5), absolute->swizzled(4096u + 512 + 64 + 16));
  const auto inside = read_tcgen05_descriptor(*plain | std::uint64_t{1} << 52 | 2);
  EXPECT_EQ(inside->along_k(0, 1), 0x30u);
  EXPECT_EQ(inside->along_k(0, 2), 4096u);
  EXPECT_NE(refused(*bits | std::uint64_t{1} << 55).find("bits 53 to 60"), std::string::npos);
  // atoms of 32 bytes change places within four rows of 128
  const auto wide = read_tcgen05_descriptor(*descriptor_bits(Tcgen05Descriptor{.swizzle = "128B_BASE32B"}));
  ASSERT_TRUE(wide);
  for (std::uint64_t address = 0; address < 1024; address += 16)
    EXPECT_EQ(wide->swizzled(address), swizzled(Swizzle::b128_atom32, address));
}

TEST(InstructionDescriptor, IsReadAsItWasMade) {
  const auto bits = descriptor_bits(MmaKind::f8f6f4, {.m = 64,
                                                      .n = 40,
                                                      .d_dtype = "f16",
                                                      .a_dtype = "e3m2",
                                                      .b_dtype = "e2m1",
                                                      .a_major = "MN",
                                                      .scale_b = -1,
                                                      .sparse = true,
                                                      .sparsity_selector = 2,
                                                      .max_shift = 1});
  const auto mma = read_instruction_descriptor(MmaKind::f8f6f4, *bits);
  ASSERT_TRUE(mma);
  EXPECT_TRUE(mma->m == 64 && mma->n == 40 && mma->d_dtype == "f16" && mma->a_dtype == "e3m2" && mma->b_dtype == "e2m1");
  EXPECT_TRUE(mma->a_transposed && !mma->b_transposed && !mma->a_negated && mma->b_negated && mma->sparse && !mma->saturate);
  EXPECT_TRUE(mma->sparsity_selector == 2 && mma->max_shift == 1);
  const auto scaled = read_instruction_descriptor(
      ScaledMmaKind::mxf4nvf4,
      *descriptor_bits(ScaledMmaKind::mxf4nvf4, {.m = 256, .n = 64, .scale_dtype = "ue8m0", .a_scale_id = 3, .k96 = true}));
  ASSERT_TRUE(scaled);
  EXPECT_TRUE(scaled->m == 256 && scaled->scale_dtype == "ue8m0" && scaled->a_scale_id == 3 && scaled->b_scale_id == 0 &&
              scaled->k96);
  const auto message = [](const Expected<DecodedMma>& refused) { return refused ? std::string() : refused.error().message; };
  EXPECT_EQ(message(read_instruction_descriptor(MmaKind::f16, 0x00000100)),
            "a kind::f16 instruction descriptor 0x00000100 has 2 in bits 7 to 9; what fits is `0 (f16)` or `1 (bf16)`");
  EXPECT_EQ(message(read_instruction_descriptor(MmaKind::tf32, 0x00800910)),
            "a kind::tf32 instruction descriptor 0x00800910 has 1 in bit 23; what fits is 0");
  EXPECT_EQ(message(read_instruction_descriptor(ScaledMmaKind::mxf4, 0x00800490)),
            "a kind::mxf4 instruction descriptor 0x00800490 has 1 in bit 4; what fits is 0");
}

}  // namespace
}  // namespace ptx::layout

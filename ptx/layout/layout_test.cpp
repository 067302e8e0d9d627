#include "ptx/layout/layout.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "ptx/base/base.hpp"

namespace ptx::layout {
namespace {

constexpr Swizzle swizzles[] = {Swizzle::none, Swizzle::b32,         Swizzle::b64,        Swizzle::b96,
                                Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64};

using Shape = std::vector<std::int64_t>;

TEST(Swizzle, IsABijectionThatKeepsItsAtomsWhole) {
  for (const Swizzle swizzle : swizzles) {
    const auto function = swizzle_function(swizzle);
    std::set<std::uint64_t> seen;
    for (std::uint64_t address = 0; address < 4096; ++address) {
      const std::uint64_t there = swizzled(swizzle, address);
      EXPECT_TRUE(seen.insert(there).second);
      EXPECT_EQ(swizzled(swizzle, there), address) << "its own inverse";
      EXPECT_EQ(there / function.repeat, address / function.repeat) << "stays in its pattern";
      EXPECT_EQ(there / 128, address / 128) << "stays in its row of banks";
      EXPECT_EQ(there % 16, address % 16) << "moves 16 bytes at least together";
      EXPECT_EQ(swizzled(swizzle, address + function.repeat), there + function.repeat);
    }
    EXPECT_EQ(swizzle_alignment(swizzle) % function.repeat, 0u);
  }
}

TEST(Swizzle, IsTheManualsTable) {
  // The tables of "Swizzling Modes" number the 16-byte pieces of 128-byte rows; row r holds, at piece p, what stood at p ^ f(r).
  for (std::uint64_t row = 0; row < 16; ++row)
    for (std::uint64_t piece = 0; piece < 8; ++piece) {
      const std::uint64_t address = 128 * row + 16 * piece;
      EXPECT_EQ(swizzled(Swizzle::none, address), address);
      EXPECT_EQ(swizzled(Swizzle::b32, address), 128 * row + 16 * (piece ^ (row & 1)));
      EXPECT_EQ(swizzled(Swizzle::b64, address), 128 * row + 16 * (piece ^ (row & 3)));
      EXPECT_EQ(swizzled(Swizzle::b96, address), 128 * row + 16 * (piece ^ (row & 1)));
      EXPECT_EQ(swizzled(Swizzle::b128, address), 128 * row + 16 * (piece ^ (row & 7)));
      EXPECT_EQ(swizzled(Swizzle::b128_atom32, address), 128 * row + 16 * (piece ^ ((row & 3) << 1)));
      EXPECT_EQ(swizzled(Swizzle::b128_atom64, address), 128 * row + 16 * (piece ^ ((row & 1) << 2)));
    }
}

TEST(Swizzle, OfATensorCopyFollowsItsWidth) {
  EXPECT_EQ(*swizzle_for_width(16), Swizzle::none);
  EXPECT_EQ(*swizzle_for_width(32), Swizzle::b32);
  EXPECT_EQ(*swizzle_for_width(64), Swizzle::b64);
  EXPECT_EQ(*swizzle_for_width(128), Swizzle::b128);
  EXPECT_EQ(*swizzle_for_width(512), Swizzle::b128);
  for (const int width : {-1, 0, 8, 24, 48, 96, 127}) {
    const auto refused = swizzle_for_width(width);
    ASSERT_FALSE(refused) << width;
    EXPECT_EQ(refused.error().kind, Kind::bad_tile);
    EXPECT_NE(refused.error().message.find(cat("a row of ", width, " bytes")), std::string::npos);
  }
}

TEST(GmmaLayout, IsTheTable) {
  struct Case {
    Major major;
    std::int64_t element_bytes, m_or_n, k;
    LayoutType type;
    std::int64_t leading, stride;
    std::string_view tma;
  };
  constexpr Case cases[] = {
      {Major::k, 2, 64, 8, LayoutType::interleave, 16, 128, "NONE"},
      {Major::k, 2, 64, 16, LayoutType::b32, 16, 256, "32B"},
      {Major::k, 2, 64, 32, LayoutType::b64, 16, 512, "64B"},
      {Major::k, 2, 64, 64, LayoutType::b128, 16, 1024, "128B"},
      {Major::k, 2, 64, 128, LayoutType::b128, 64 * 128, 1024, "128B"},
      {Major::k, 4, 8, 8, LayoutType::b32, 16, 256, "32B"},
      {Major::k, 1, 256, 128, LayoutType::b128, 16, 1024, "128B"},
      {Major::mn, 2, 8, 16, LayoutType::interleave, 128, 16, "NONE"},
      {Major::mn, 2, 16, 16, LayoutType::b32, 16, 256, "32B"},
      {Major::mn, 2, 32, 16, LayoutType::b64, 16, 512, "64B"},
      {Major::mn, 2, 64, 16, LayoutType::b128, 16, 1024, "128B"},
      {Major::mn, 2, 256, 64, LayoutType::b128, 64 * 128, 1024, "128B"},
  };
  for (const Case& c : cases) {
    const auto layout = pick_gmma_layout(c.element_bytes, c.m_or_n, c.k, c.major);
    ASSERT_TRUE(layout) << layout.error().message;
    EXPECT_EQ(*layout, (GmmaLayout{c.type, c.leading, c.stride})) << c.m_or_n << " x " << c.k;
    EXPECT_EQ(tma_swizzle_name(layout->layout_type), c.tma);
    EXPECT_EQ(layout->swizzle_code(), static_cast<int>(c.type));
  }
}

TEST(GmmaLayout, RefusesWhatHasNone) {
  struct Case {
    Major major;
    std::int64_t element_bytes, m_or_n, k;
    std::string_view words;
  };
  constexpr Case cases[] = {
      {Major::k, 2, 64, 24, "not one of the canonical"},
      {Major::k, 2, 64, 4, "not one of the canonical"},
      {Major::k, 2, 60, 64, "M divisible by 8"},
      {Major::k, 2, 60, 128, "M divisible by 8"},
      {Major::mn, 2, 48, 16, "not one of the canonical"},
      {Major::mn, 2, 4, 16, "not one of the canonical"},
      {Major::mn, 2, 64, 12, "K divisible by 8"},
      {Major::mn, 2, 256, 12, "K divisible by 8"},
      {Major::k, 0, 64, 64, "positive"},
      {Major::k, 2, 0, 64, "positive"},
      {Major::mn, 2, 64, -8, "positive"},
  };
  for (const Case& c : cases) {
    const auto refused = pick_gmma_layout(c.element_bytes, c.m_or_n, c.k, c.major);
    ASSERT_FALSE(refused) << c.words;
    EXPECT_EQ(refused.error().kind, Kind::bad_tile);
    EXPECT_NE(refused.error().message.find(c.words), std::string::npos) << refused.error().message;
  }
}

// Where element (mn, k) lies from the start of the tile, as the manual's canonical layouts define the descriptor's two offsets.
std::uint64_t canonical(const GmmaLayout& layout, Major major, std::int64_t element_bytes, std::int64_t mn, std::int64_t k) {
  const std::int64_t t = 16 / element_bytes;
  const std::int64_t w = layout.layout_type == LayoutType::interleave ? 1 : 16 >> static_cast<int>(layout.layout_type);
  const std::int64_t lead = layout.leading_byte_offset, stride = layout.stride_byte_offset;
  std::int64_t at = 0;
  if (major == Major::k)
    at = mn % 8 * 16 * w + mn / 8 * stride + (w == 1 ? k % t * element_bytes + k / t * lead : k * element_bytes);
  else if (w == 1)
    at = mn % t * element_bytes + mn / t * stride + k % 8 * 16 + k / 8 * lead;
  else
    at = mn % t * element_bytes + mn / t % w * 16 + mn / (t * w) * lead + k % 8 * 16 * w + k / 8 * stride;
  return swizzled(swizzle_of(layout.layout_type), static_cast<std::uint64_t>(at));
}

TEST(GmmaLayout, GivesEveryElementAPlaceOfItsOwn) {
  for (const Major major : {Major::k, Major::mn})
    for (const std::int64_t element_bytes : {1, 2, 4})
      for (const std::int64_t width : {16, 32, 64, 128, 256}) {
        if (major == Major::k && width > 128) continue;  // more than one atom along K: a kernel steps the start address itself
        const std::int64_t contiguous = width / element_bytes, other = 64;
        const std::int64_t mn = major == Major::k ? other : contiguous, k = major == Major::k ? contiguous : other;
        const auto layout = pick_gmma_layout(element_bytes, mn, k, major);
        ASSERT_TRUE(layout);
        std::set<std::uint64_t> seen;
        for (std::int64_t i = 0; i < mn; ++i)
          for (std::int64_t j = 0; j < k; ++j) {
            const std::uint64_t at = canonical(*layout, major, element_bytes, i, j);
            EXPECT_TRUE(seen.insert(at).second);
            EXPECT_EQ(at % static_cast<std::uint64_t>(element_bytes), 0u);
            EXPECT_LT(at, static_cast<std::uint64_t>(mn * k * element_bytes)) << "the tile has no holes";
          }
      }
}

TEST(Strides, OfContiguousTensors) {
  EXPECT_EQ(row_major_strides(Shape{}), Shape{});
  EXPECT_EQ(row_major_strides(Shape{5}), Shape{1});
  EXPECT_EQ(row_major_strides(Shape{2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(row_major_strides(Shape{2, 0, 4}), (Shape{4, 4, 1}));
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Shape shape(random() % 6);
    for (auto& size : shape) size = random() % 4;
    EXPECT_TRUE(is_row_major(shape, row_major_strides(shape)));
  }
}

TEST(Strides, ThatAreNotContiguousAreSeen) {
  EXPECT_FALSE(is_row_major(Shape{3, 4}, Shape{1, 3})) << "transposed";
  EXPECT_FALSE(is_row_major(Shape{3, 4}, Shape{8, 1})) << "a slice of rows";
  EXPECT_FALSE(is_row_major(Shape{3, 4}, Shape{8, 2})) << "every second element";
  EXPECT_FALSE(is_row_major(Shape{3}, Shape{0})) << "broadcast";
  EXPECT_FALSE(is_row_major(Shape{3}, Shape{-1})) << "reversed";
  EXPECT_TRUE(is_row_major(Shape{1, 4}, Shape{99, 1})) << "the stride of a dimension of size 1 means nothing";
  EXPECT_TRUE(is_row_major(Shape{3, 1, 4}, Shape{4, 7, 1}));
  EXPECT_TRUE(is_row_major(Shape{5, 0}, Shape{1, 9})) << "an empty tensor";
  EXPECT_TRUE(is_row_major(Shape{}, Shape{}));
}

TEST(Strides, ElementCounts) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 62, 0, 16}), 0);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(element_count(Shape{4, -1}), std::nullopt);
}

}  // namespace
}  // namespace ptx::layout

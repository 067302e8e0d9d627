// Bank conflicts and sectors against cases worked out by hand: CUDA C++ Programming Guide, "Shared Memory" and "Global Memory".
#include "ptx/vgpu/timeline/access_counts.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ptx::vgpu::timeline {
namespace {

constexpr std::uint32_t all = 0xFFFFFFFFu;

template <class AddressOf>
std::array<std::uint64_t, 32> addresses(AddressOf address_of) {
  std::array<std::uint64_t, 32> made{};
  for (std::uint64_t lane = 0; lane < 32; ++lane) made[lane] = address_of(lane);
  return made;
}
std::array<std::uint64_t, 32> strided(std::uint64_t words, std::uint64_t start = 1024) {
  return addresses([&](std::uint64_t lane) { return start + lane * words * 4; });
}

TEST(Wavefronts, StridesOfWords) {
  const auto of_stride = [](std::uint64_t words) { return count_wavefronts(all, strided(words), 4); };
  EXPECT_EQ(of_stride(1), (AccessCount{1, 1}));
  EXPECT_EQ(of_stride(2), (AccessCount{1, 2}));    // two lanes a bank
  EXPECT_EQ(of_stride(3), (AccessCount{1, 1}));    // odd strides meet every bank once
  EXPECT_EQ(of_stride(8), (AccessCount{1, 8}));    // 4 banks are used
  EXPECT_EQ(of_stride(32), (AccessCount{1, 32}));  // a column of a tile of 32 words: one bank
  EXPECT_EQ(of_stride(33), (AccessCount{1, 1}));   // the same, padded by a word
}

TEST(Wavefronts, OneWordServesAllThatAskForIt) {
  EXPECT_EQ(count_wavefronts(all, strided(0), 4), (AccessCount{1, 1}));
  // bytes of the same words
  EXPECT_EQ(count_wavefronts(all, addresses([](std::uint64_t lane) { return 1024 + lane; }), 1), (AccessCount{1, 1}));
  EXPECT_EQ(count_wavefronts(all, addresses([](std::uint64_t lane) { return 1024 + 2 * lane; }), 2), (AccessCount{1, 1}));
  // two rows, 16 lanes each: the same bank, another word
  EXPECT_EQ(count_wavefronts(all, addresses([](std::uint64_t lane) { return 1024 + lane / 16 * 128; }), 4), (AccessCount{1, 2}));
}

TEST(Wavefronts, TilesOf32By32) {
  // a row, a column, a column of the padded tile, a diagonal
  const auto tile = [](std::uint64_t pitch, auto row, auto column) {
    return count_wavefronts(all, addresses([&](std::uint64_t lane) { return 1024 + (row(lane) * pitch + column(lane)) * 4; }), 4);
  };
  const auto lane = [](std::uint64_t l) { return l; };
  const auto five = [](std::uint64_t) { return std::uint64_t{5}; };
  EXPECT_EQ(tile(32, five, lane), (AccessCount{1, 1}));
  EXPECT_EQ(tile(32, lane, five), (AccessCount{1, 32}));
  EXPECT_EQ(tile(33, lane, five), (AccessCount{1, 1}));
  EXPECT_EQ(tile(32, lane, lane), (AccessCount{1, 1}));
  // swizzled: column exclusive-or row
  EXPECT_EQ(tile(32, lane, [](std::uint64_t l) { return l ^ 5; }), (AccessCount{1, 1}));
}

TEST(Wavefronts, WideAccessesGoByHalvesAndQuartersOfAWarp) {
  const auto wide = [](std::uint64_t bytes, std::uint64_t apart) {
    return count_wavefronts(all, addresses([&](std::uint64_t lane) { return 1024 + lane * apart; }),
                            static_cast<std::uint32_t>(bytes));
  };
  EXPECT_EQ(wide(8, 8), (AccessCount{2, 2}));
  EXPECT_EQ(wide(8, 16), (AccessCount{2, 4}));  // 16 lanes on every other pair of banks: two of a kind
  EXPECT_EQ(wide(16, 16), (AccessCount{4, 4}));
  EXPECT_EQ(wide(16, 32), (AccessCount{4, 8}));
  EXPECT_EQ(wide(16, 128), (AccessCount{4, 32}));  // rows of 128 bytes: 8 lanes on the same 4 banks
  EXPECT_EQ(wide(16, 144), (AccessCount{4, 4}));   // padded by 16 bytes
  EXPECT_EQ(wide(16, 0), (AccessCount{4, 4}));
}

TEST(Wavefronts, OfSomeLanes) {
  EXPECT_EQ(count_wavefronts(0, strided(1), 4), (AccessCount{0, 0}));
  EXPECT_EQ(count_wavefronts(1, strided(1), 4), (AccessCount{1, 1}));
  EXPECT_EQ(count_wavefronts(0xFF, strided(32), 4), (AccessCount{1, 8}));
  EXPECT_EQ(count_wavefronts(0xFF, strided(4), 16), (AccessCount{1, 1}));  // a quarter: as ldmatrix reads a matrix
}

TEST(Sectors, TouchedAndNeeded) {
  const auto of = [](std::uint64_t apart, std::uint32_t bytes, std::uint64_t start = 4096) {
    return count_sectors(all, addresses([&](std::uint64_t lane) { return start + lane * apart; }), bytes);
  };
  EXPECT_EQ(of(4, 4), (AccessCount{4, 4}));
  EXPECT_EQ(of(4, 4, 4096 + 4), (AccessCount{4, 5}));  // not aligned
  EXPECT_EQ(of(8, 4), (AccessCount{4, 8}));            // every other word
  EXPECT_EQ(of(128, 4), (AccessCount{4, 32}));         // a column
  EXPECT_EQ(of(0, 4), (AccessCount{1, 1}));
  EXPECT_EQ(of(16, 16), (AccessCount{16, 16}));
  EXPECT_EQ(of(2, 2), (AccessCount{2, 2}));
  EXPECT_EQ(of(2, 4), (AccessCount{3, 3}));  // overlapping: 66 bytes
}

}  // namespace
}  // namespace ptx::vgpu::timeline

#include "ptx/vgpu/memory/heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

namespace ptx::vgpu {
namespace {

TEST(Heap, gives_out_last_what_was_taken_back) {
  const auto heap = Heap::make();
  const std::uint64_t first = heap->allocate(16);
  ASSERT_TRUE(heap->free(first));
  EXPECT_FALSE(heap->free(first));
  const std::uint64_t second = heap->allocate(16);
  EXPECT_NE(second, first);
  ASSERT_TRUE(heap->free(second));
  // Until nothing else is left.
  const std::uint64_t large = heap->allocate(Heap::bytes - 64);
  EXPECT_NE(large, 0u);
  EXPECT_EQ(heap->allocate(48), 0u);
  EXPECT_EQ(heap->allocate(32), large + Heap::bytes - 64);
  EXPECT_EQ(heap->allocate(32), first);
  EXPECT_EQ(heap->allocate(1), 0u);
  ASSERT_TRUE(heap->free(large));
  EXPECT_NE(heap->allocate(Heap::bytes / 2), 0u);
}

TEST(Heap, pieces_never_overlap_and_come_back_whole) {
  const auto heap = Heap::make();
  const Region all = heap->region();
  const auto begin = reinterpret_cast<std::uintptr_t>(all.data);
  std::mt19937 random(1);
  std::map<std::uint64_t, std::uint64_t> used;
  for (int i = 0; i < 20'000; ++i) {
    if (used.empty() || random() % 5 < 3) {
      const std::uint64_t size = random() % 7 == 0 ? random() % (Heap::bytes / 4) : random() % 300;
      const std::uint64_t at = heap->allocate(size);
      if (at == 0) continue;
      EXPECT_EQ(at % Heap::alignment, 0u);
      EXPECT_TRUE(at >= begin && at + size <= begin + Heap::bytes);
      const auto behind = used.lower_bound(at);
      EXPECT_TRUE(behind == used.end() || at + size <= behind->first);
      EXPECT_TRUE(behind == used.begin() || std::prev(behind)->first + std::prev(behind)->second <= at);
      used.emplace(at, std::max<std::uint64_t>(size, 1));
    } else {
      const auto one = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      EXPECT_TRUE(heap->free(one->first));
      used.erase(one);
    }
  }
  for (const auto& [at, size] : used) EXPECT_TRUE(heap->free(at));
  EXPECT_NE(heap->allocate(Heap::bytes), 0u);
}

}  // namespace
}  // namespace ptx::vgpu

#include "ptx/base/store.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace ptx {
namespace {

constexpr std::size_t many = 100'000;

class Stores : public testing::Test {
 protected:
  void SetUp() override {
    if (!detail::keeps_blocks) GTEST_SKIP() << "AddressSanitizer is to see what is used after its end";
  }
};

TEST(Store, IsAVectorThatGrows) {
  Store<std::uint32_t> store;
  for (std::uint32_t i = 0; i < many; ++i) store.push_back(i);
  const Store<std::uint32_t> copy = store;
  const Store<std::uint32_t> moved = std::move(store);
  EXPECT_EQ(copy, moved);
  EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), std::uint64_t{0}), std::uint64_t{many} * (many - 1) / 2);
}

// In a thread that has kept nothing yet.
template <class Run>
void afresh(Run run) {
  std::thread(run).join();
}

TEST_F(Stores, GiveTheirMemoryToTheNext) {
  afresh([] {
    const void* first = nullptr;
    {
      const Store<std::uint64_t> store(many);
      first = store.data();
    }
    EXPECT_EQ(detail::kept_bytes(), many * sizeof(std::uint64_t));
    {
      const Store<std::uint32_t> store(2 * many);
      EXPECT_EQ(store.data(), first);
      EXPECT_EQ(detail::kept_bytes(), 0u);
    }
    EXPECT_EQ(detail::kept_bytes(), many * sizeof(std::uint64_t));
  });
}

TEST_F(Stores, OfManyBytesAreNotGivenToThoseOfFew) {
  afresh([] {
    {
      const Store<std::uint64_t> store(many);
    }
    const Store<std::uint64_t> store(many / 8);
    EXPECT_EQ(detail::kept_bytes(), many * sizeof(std::uint64_t));
  });
}

TEST_F(Stores, AreKeptUpToABound) {
  afresh([] {
    const auto give = [](std::size_t count, std::size_t bytes) {
      std::vector<void*> blocks;
      for (std::size_t i = 0; i < count; ++i) blocks.push_back(detail::take_block(bytes));
      for (void* const block : blocks) detail::give_block(block);
    };
    give(40, detail::most_kept_bytes / 8);
    EXPECT_EQ(detail::kept_bytes(), detail::most_kept_bytes);
    give(1, detail::most_kept_bytes + 1);
    EXPECT_EQ(detail::kept_bytes(), detail::most_kept_bytes);
    give(1, detail::least_kept_bytes);
    EXPECT_EQ(detail::kept_bytes(), detail::most_kept_bytes / 8 * 7 + detail::least_kept_bytes) << "the longest kept goes";
    give(1000, detail::least_kept_bytes);
    EXPECT_LT(detail::kept_bytes(), 100 * detail::least_kept_bytes) << "there are not many of them";
  });
}

TEST_F(Stores, MayEndInAnotherThread) {
  Store<std::uint64_t> store(many);
  afresh([&store] {
    store = Store<std::uint64_t>();
    EXPECT_EQ(detail::kept_bytes(), many * sizeof(std::uint64_t));
  });
}

}  // namespace
}  // namespace ptx

// Many threads call one kernel, with sizes of their own: each size is written and made once for all of them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ptx/author/author.hpp"

namespace ptx {
namespace {

TEST(Threads, share_what_is_written_for_each_size) {
  std::atomic<int> wrong = 0;
  const auto kernel =
      specialise({.name = "fill", .out_specs = {{"Y", {"N"}, u32}}, .grid = dim("N")}, [](Kernel& k, const Sizes& sizes) {
        auto [y] = k.global_ptrs("Y");
        auto n = k.scalar<u32>(sizes.at("N"));
        k << inst.st.global_.u32(addr(y + k.from_<u32>(special.ctaid.x()) * 4), n);
        k << inst.ret();
      });
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&kernel, &wrong, t] {
      for (std::size_t i = 0; i < 6; ++i) {
        const std::size_t n = 1 + (i + static_cast<std::size_t>(t)) % 3;
        std::vector<std::uint32_t> y(n);
        const auto ran = kernel->run(cpu({}), {}, {y});
        if (!ran || y != std::vector<std::uint32_t>(n, static_cast<std::uint32_t>(n))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(kernel->size(), 3u);
}

}  // namespace
}  // namespace ptx

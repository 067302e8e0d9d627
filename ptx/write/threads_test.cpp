// Many threads write kernels at once: each gets its own, and the same as one thread alone writes.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "ptx/write/operators.hpp"
#include "tests/write/written.hpp"

namespace ptx::write {
namespace {

using write_test::Lines;
using write_test::written;

// A kernel whose text depends on n: unrolled sums, a loop, a branch, a warp's sum; written through everything that threads share
// (the table's dots, interned places).
Lines specialisation(int n) {
  Builder b({.name = "k"});
  const Tracing tracing(b);
  EXPECT_EQ(current(), &b);
  const SourceLocation outer{intern_file(cat("kernel_", n % 3, ".py")), static_cast<std::uint32_t>(n)};
  const Helper in(b, "unrolled", outer);
  const Reg sum = *scalar(b, Type::u32, Value::of_integer(n), {}, outer);
  for (int i = 0; i <= n; ++i) {
    const SourceLocation at{intern_file("helper.py"), static_cast<std::uint32_t>(i + 1)};
    EXPECT_TRUE(in_place(b, Operator::add, sum, Value::of_integer(i), at));
    const Reg other = *binary(b, Operator::shl, Value::of(sum), Value::of_integer(i % 31), at);
    EXPECT_TRUE(b.emit("xor.b32", std::vector{Value::of(sum), Value::of(sum), Value::of(other)}, {}, at));
  }
  const Reg again = *compare(b, Comparison::lt, Value::of(sum), Value::of_integer(n), outer);
  const If open = *begin_if(b, Value::of(again), outer);
  EXPECT_TRUE(idiom::warp_reduce(b, idiom::Reduction::sum, sum, 32, outer));
  EXPECT_TRUE(end_if(b, open, outer));
  EXPECT_TRUE(ret(b, {}, outer));
  const Expected<ir::Module> module = b.finish();
  EXPECT_TRUE(module);
  return written(*module);
}

TEST(Threads, write_what_one_thread_writes) {
  constexpr int threads = 32, rounds = 4;
  std::vector<Lines> alone;
  for (int n = 0; n < threads; ++n) alone.push_back(specialisation(n));
  std::vector<std::vector<Lines>> together(threads);
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([t, &mine = together[static_cast<std::size_t>(t)]] {
        for (int round = 0; round < rounds; ++round) mine.push_back(specialisation((t + round) % threads));
      });
  }
  for (int t = 0; t < threads; ++t)
    for (int round = 0; round < rounds; ++round)
      EXPECT_EQ(together[static_cast<std::size_t>(t)][static_cast<std::size_t>(round)],
                alone[static_cast<std::size_t>((t + round) % threads)]);
}

}  // namespace
}  // namespace ptx::write

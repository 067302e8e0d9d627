// sources/warp_matrices.cu against loops.
#include <bit>

#include "tests/producers/numbers.hpp"

namespace ptx::producers {
namespace {

struct Matrices {
  std::string name, type, sum;
  std::size_t m = 16, n = 16, k = 16, steps = 1;
  bool a_by_rows = true, b_by_rows = true;
};

// D, by columns, is twice A B + C; numbers are small and whole.
void expect_twice(const Played& run, const Matrices& p) {
  const auto a = as_doubles(run, p.name + "_a", p.type, true), b = as_doubles(run, p.name + "_b", p.type, true);
  const auto c = as_doubles(run, p.name + "_c", p.sum, true), d = as_doubles(run, p.name + "_d", p.sum, false);
  const std::size_t k = p.k * p.steps;
  ASSERT_EQ(d.size(), p.m * p.n);
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < p.n; ++j) {
      double sum = c[i * p.n + j];
      for (std::size_t l = 0; l < k; ++l)
        sum += a[p.a_by_rows ? i * k + l : l * p.m + i] * b[p.b_by_rows ? l * p.n + j : j * k + l];
      ASSERT_EQ(d[j * p.m + i], 2 * sum) << run.name << ": " << p.name << " (" << i << ", " << j << ')';
    }
}

TEST(WarpMatrices, Products) {
  std::vector<Matrices> all{
      {.name = "f16_f32", .type = "f16", .sum = "f32", .steps = 3},
      {.name = "f16_f16", .type = "f16", .sum = "f16", .m = 32, .n = 8, .steps = 2, .a_by_rows = false},
      {.name = "f16_wide", .type = "f16", .sum = "f32", .m = 8, .n = 32, .steps = 2, .b_by_rows = false},
      {.name = "s8", .type = "s8", .sum = "s32", .steps = 4, .b_by_rows = false},
      {.name = "u8", .type = "u8", .sum = "s32", .m = 32, .n = 8, .steps = 2, .a_by_rows = false, .b_by_rows = false},
  };
  const std::vector<Matrices> since_ampere{
      {.name = "bf16", .type = "bf16", .sum = "f32", .steps = 2, .a_by_rows = false, .b_by_rows = false},
      {.name = "tf32", .type = "tf32", .sum = "f32", .k = 8, .steps = 3, .b_by_rows = false},
      {.name = "f64", .type = "f64", .sum = "f64", .m = 8, .n = 8, .k = 4, .steps = 5, .a_by_rows = false},
  };
  for (const Played& run : played("warp_matrices")) {
    for (const Matrices& one : all) expect_twice(run, one);
    if (run.target() < 80) continue;
    for (const Matrices& one : since_ampere) expect_twice(run, one);
  }
}

TEST(WarpMatrices, Bits) {
  constexpr std::size_t wide = 8, words = 4;
  for (const Played& run : played("warp_matrices")) {
    const auto a = run.given<unsigned>("bits_a"), b = run.given<unsigned>("bits_b");
    std::vector<int> exclusive(wide * wide, 7), both(wide * wide, -5);
    for (std::size_t i = 0; i < wide; ++i)
      for (std::size_t j = 0; j < wide; ++j)
        for (std::size_t word = 0; word < words; ++word) {
          exclusive[i * wide + j] += std::popcount(a[i * words + word] ^ b[j * words + word]);
          both[i * wide + j] += std::popcount(a[i * words + word] & b[j * words + word]);
        }
    expect_made(run, "bits_exclusive", exclusive);
    expect_made(run, "bits_both", run.target() < 80 ? exclusive : both);
  }
}

}  // namespace
}  // namespace ptx::producers

// sources/deep_gemm.cu and thunder_gemm.cu against loops.
#include "tests/producers/products.hpp"

namespace ptx::producers {
namespace {

TEST(DeepGemm, Halves) {
  for (const Played& run : played("deep_gemm")) {
    expect_product(run, {.name = "single", .m = 72, .n = 136, .k = 200, .a = "bf16", .b = "bf16", .d = "bf16"});
    expect_product(run, {.name = "paired", .m = 128, .n = 128, .k = 256, .beta = 1, .a = "bf16", .b = "bf16", .d = "f32"});
  }
}

TEST(DeepGemm, GroupsOfRows) {
  const std::size_t m = 192, n = 64, k = 128;
  for (const Played& run : played("deep_gemm")) {
    const auto a = as_doubles(run, "grouped_a", "bf16", true), b = as_doubles(run, "grouped_b", "bf16", true);
    const auto d = as_doubles(run, "grouped_d", "bf16", false);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[((i / 64 % 2 == 0 ? n : 0) + j) * k + l];
        ASSERT_NEAR(d[i * n + j], sum, half_place("bf16") * std::abs(sum)) << '(' << i << ", " << j << ')';
      }
  }
}

TEST(DeepGemm, BytesWithScales) {
  const std::size_t m = 136, n = 192, k = 384, part = 128;
  for (const Played& run : played("deep_gemm")) {
    const auto a = as_doubles(run, "bytes_a", "e4m3", true), b = as_doubles(run, "bytes_b", "e4m3", true);
    const auto d = as_doubles(run, "bytes_d", "bf16", false);
    const auto scales_a = run.given<float>("bytes_scales_a"), scales_b = run.given<float>("bytes_scales_b");
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[j * k + l] * scales_a[l / part * m + i] * scales_b[j / part * (k / part) + l / part];
        ASSERT_NEAR(d[i * n + j], sum, half_place("bf16") * std::abs(sum)) << '(' << i << ", " << j << ')';
      }
  }
}

TEST(ThunderGemm, Product) {
  for (const Played& run : played("thunder_gemm"))
    expect_product(run,
                   {.name = "lcf", .m = 256, .n = 256, .k = 320, .a = "bf16", .b = "bf16", .d = "bf16", .b_by_columns = false});
}

}  // namespace
}  // namespace ptx::producers

// sources/cutlass_*.cu against loops.
#include "tests/producers/products.hpp"

namespace ptx::producers {
namespace {

TEST(CutlassAmpere, Products) {
  const std::vector<Product> products{
      {.name = "f16_tn", .m = 64, .n = 128, .k = 96, .alpha = 1.5, .beta = 0.5},
      {.name = "f16_nt",
       .m = 72,
       .n = 64,
       .k = 64,
       .d = "f32",
       .a_by_columns = true,
       .b_by_columns = false,
       .d_by_columns = true},
      {.name = "bf16_relu",
       .m = 64,
       .n = 64,
       .k = 128,
       .beta = 1,
       .a = "bf16",
       .b = "bf16",
       .d = "bf16",
       .b_by_columns = false,
       .relu = true},
      {.name = "tf32", .m = 64, .n = 64, .k = 48, .a = "tf32", .b = "tf32", .d = "f32"},
      {.name = "s8", .m = 64, .n = 64, .k = 128, .alpha = 2, .beta = 1, .a = "s8", .b = "s8", .d = "s32"},
      {.name = "f64", .m = 32, .n = 32, .k = 32, .beta = 2, .a = "f64", .b = "f64", .d = "f64"},
      {.name = "turing", .m = 64, .n = 64, .k = 64},
      {.name = "simt", .m = 50, .n = 70, .k = 33, .beta = 1, .a = "f32", .b = "f32", .d = "f32", .b_by_columns = false},
  };
  for (const Played& run : played("cutlass_ampere"))
    for (const Product& product : products) expect_product(run, product);
}

TEST(CutlassSplits, Products) {
  const std::vector<Product> products{
      {.name = "serial", .m = 64, .n = 72, .k = 200, .alpha = 2, .beta = 1, .d = "f32"},
      {.name = "parallel", .m = 72, .n = 64, .k = 256, .beta = 1, .a = "bf16", .b = "bf16", .d = "f32", .b_by_columns = false},
      {.name = "streams", .m = 192, .n = 64, .k = 320, .beta = 0.5},
      {.name = "batched",
       .m = 40,
       .n = 48,
       .k = 72,
       .beta = 1,
       .d = "f32",
       .a_by_columns = true,
       .b_by_columns = false,
       .count = 3},
      {.name = "grouped0", .m = 64, .n = 64, .k = 64, .beta = 1, .d = "f32"},
      {.name = "grouped1", .m = 72, .n = 40, .k = 104, .beta = 1, .d = "f32"},
      {.name = "grouped2", .m = 8, .n = 136, .k = 8, .beta = 1, .d = "f32"},
  };
  for (const Played& run : played("cutlass_splits"))
    for (const Product& product : products) expect_product(run, product);
}

TEST(CutlassHopper, Products) {
  const std::vector<Product> products{
      {.name = "specialised", .m = 128, .n = 128, .k = 192, .alpha = 1.5, .beta = 0.5},
      {.name = "pingpong",
       .m = 256,
       .n = 192,
       .k = 128,
       .a = "bf16",
       .b = "bf16",
       .d = "f32",
       .a_by_columns = true,
       .b_by_columns = false},
      {.name = "cooperative", .m = 256, .n = 128, .k = 128, .beta = 1, .d = "f32", .b_by_columns = false},
      {.name = "fp8", .m = 64, .n = 128, .k = 256, .a = "e4m3", .b = "e5m2"},
      {.name = "tf32", .m = 64, .n = 64, .k = 96, .a = "f32", .b = "f32", .d = "f32"},
      {.name = "plain_tma", .m = 64, .n = 128, .k = 128, .d = "f32"},
      {.name = "cp_async", .m = 72, .n = 64, .k = 72, .beta = 1},
  };
  for (const Played& run : played("cutlass_hopper"))
    for (const Product& product : products) expect_product(run, product);
}

TEST(CutlassHopperClusters, Products) {
  const std::vector<Product> products{
      {.name = "two", .m = 136, .n = 72, .k = 200, .beta = 1, .d = "f32"},
      {.name = "four", .m = 264, .n = 136, .k = 136, .beta = 1},
      {.name = "mixed", .m = 64, .n = 136, .k = 144, .beta = 1, .a = "s8", .d = "f32"},
      {.name = "streams", .m = 128, .n = 192, .k = 512, .beta = 1, .d = "f32"},
      {.name = "fused", .m = 128, .n = 64, .k = 64, .beta = 1, .relu = true, .bias = "fused_bias"},
      {.name = "grouped0", .m = 136, .n = 64, .k = 72, .alpha = 2, .beta = 1, .d = "f32"},
      {.name = "grouped1", .m = 64, .n = 72, .k = 200, .alpha = 2, .beta = 1, .d = "f32"},
      {.name = "grouped2", .m = 256, .n = 8, .k = 64, .alpha = 2, .beta = 1, .d = "f32"},
  };
  for (const Played& run : played("cutlass_hopper_clusters"))
    for (const Product& product : products) expect_product(run, product);
}

TEST(CutlassBlackwell, Products) {
  const std::vector<Product> products{
      {.name = "alone", .m = 136, .n = 72, .k = 200, .beta = 1, .d = "f32"},
      {.name = "pairs",
       .m = 264,
       .n = 136,
       .k = 136,
       .beta = 1,
       .a = "bf16",
       .b = "bf16",
       .d = "bf16",
       .a_by_columns = true,
       .b_by_columns = false},
      {.name = "fp8", .m = 128, .n = 256, .k = 144, .beta = 1, .a = "e4m3", .b = "e4m3"},
  };
  for (const Played& run : played("cutlass_blackwell"))
    for (const Product& product : products) expect_product(run, product);
}

// Numbers of e4m3, of which each 32 of a row have a scale, a power of two.
void expect_scaled(const Played& run, const std::string& name, std::size_t m, std::size_t n, std::size_t k) {
  constexpr std::size_t block = 32;
  const auto a = as_doubles(run, name + "_a", "e4m3", true), b = as_doubles(run, name + "_b", "e4m3", true);
  const auto c = run.given<float>(name + "_c"), d = run.made<float>(name + "_d");
  const auto scales_a = run.given<std::uint8_t>(name + "_scales_a"), scales_b = run.given<std::uint8_t>(name + "_scales_b");
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = c[i * n + j];
      for (std::size_t l = 0; l < k; ++l) {
        const int powers = scales_a[(i * k + l) / block] + scales_b[(j * k + l) / block] - 2 * 127;
        sum += std::ldexp(a[i * k + l] * b[j * k + l], powers);
      }
      ASSERT_EQ(d[i * n + j], sum) << run.name << ": " << name << " (" << i << ", " << j << ')';
    }
}

TEST(CutlassBlackwell, BlocksWithScales) {
  for (const Played& run : played("cutlass_blackwell")) expect_scaled(run, "mxf8", 128, 128, 256);
}

TEST(CutlassGeforce, BlocksWithScales) {
  for (const Played& run : played("cutlass_geforce")) {
    expect_scaled(run, "cooperative", 128, 128, 384);
    expect_scaled(run, "pingpong", 256, 136, 128);
  }
}

}  // namespace
}  // namespace ptx::producers

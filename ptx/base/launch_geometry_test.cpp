#include "ptx/base/launch_geometry.hpp"

#include <gtest/gtest.h>

#include "ptx/base/base.hpp"

namespace ptx {
namespace {

TEST(Sizes, StopAtTheLargestNumber) {
  EXPECT_EQ(add_sizes(3, 4), 7u);
  EXPECT_EQ(add_sizes(max_bytes, 0), max_bytes);
  EXPECT_EQ(add_sizes(max_bytes - 1, 1), max_bytes);
  EXPECT_EQ(add_sizes(max_bytes, 1), max_bytes);
  EXPECT_EQ(add_sizes(std::uint64_t{1} << 63, std::uint64_t{1} << 63), max_bytes);
  EXPECT_EQ(multiply_sizes(3, 4), 12u);
  EXPECT_EQ(multiply_sizes(0, max_bytes), 0u);
  EXPECT_EQ(multiply_sizes(max_bytes, 0), 0u);
  EXPECT_EQ(multiply_sizes(max_bytes, 1), max_bytes);
  EXPECT_EQ(multiply_sizes(std::uint64_t{1} << 32, std::uint64_t{1} << 31), std::uint64_t{1} << 63);
  EXPECT_EQ(multiply_sizes(std::uint64_t{1} << 32, std::uint64_t{1} << 32), max_bytes);
  EXPECT_EQ(multiply_sizes(576460752303423496, 32), max_bytes);
  EXPECT_EQ(align_size(0, 16), 0u);
  EXPECT_EQ(align_size(1, 16), 16u);
  EXPECT_EQ(align_size(16, 16), 16u);
  EXPECT_EQ(align_size(5, 0), 5u);
  EXPECT_EQ(align_size(max_bytes - 1, 16), max_bytes);
  EXPECT_EQ(multiply_dims(-3, 4), -12);
  EXPECT_EQ(multiply_dims(std::int64_t{1} << 40, std::int64_t{1} << 40), std::numeric_limits<std::int64_t>::max());
}

std::string misfit(const LaunchDims& grid, const LaunchDims& block, const LaunchDims& cluster = {1, 1, 1}) {
  const auto checked = check_launch_geometry(grid, block, cluster);
  if (checked) return {};
  EXPECT_EQ(checked.error().kind, Kind::launch_config);
  return checked.error().message;
}

TEST(LaunchGeometry, EveryLimitAtItsEdge) {
  EXPECT_EQ(misfit({2147483647, 65535, 65535}, {1024, 1, 1}), "");
  EXPECT_EQ(misfit({2147483648, 1, 1}, {1, 1, 1}), "grid (2147483648, 1, 1) has 2147483648 blocks in x; at most 2147483647 fit");
  EXPECT_EQ(misfit({1, 65536, 1}, {1, 1, 1}), "grid (1, 65536, 1) has 65536 blocks in y; at most 65535 fit");
  EXPECT_EQ(misfit({1, 1, 65536}, {1, 1, 1}), "grid (1, 1, 65536) has 65536 blocks in z; at most 65535 fit");
  EXPECT_EQ(misfit({0, 1, 1}, {1, 1, 1}), "grid (0, 1, 1) is empty: x is 0");
  EXPECT_EQ(misfit({1, 1, 1}, {1, 1024, 1}), "");
  EXPECT_EQ(misfit({1, 1, 1}, {16, 1, 64}), "");
  EXPECT_EQ(misfit({1, 1, 1}, {1, 1, 0}), "block (1, 1, 0) is empty: z is 0");
  EXPECT_EQ(misfit({1, 1, 1}, {1025, 1, 1}), "block (1025, 1, 1) has 1025 threads in x; at most 1024 fit");
  EXPECT_EQ(misfit({1, 1, 1}, {1, 1025, 1}), "block (1, 1025, 1) has 1025 threads in y; at most 1024 fit");
  EXPECT_EQ(misfit({1, 1, 1}, {1, 1, 65}), "block (1, 1, 65) has 65 threads in z; at most 64 fit");
  EXPECT_EQ(misfit({1, 1, 1}, {33, 32, 1}), "block (33, 32, 1) has 1056 threads; at most 1024 fit");
  // the product of these is 2^64
  EXPECT_EQ(misfit({1, 1, 1}, {1u << 22, 1u << 22, 1u << 20}),
            "block (4194304, 4194304, 1048576) has 4194304 threads in x; at most 1024 fit");
  EXPECT_EQ(volume({1u << 22, 1u << 22, 1u << 20}), max_bytes);
}

TEST(LaunchGeometry, Clusters) {
  EXPECT_EQ(misfit({16, 2, 1}, {1, 1, 1}, {8, 2, 1}), "");
  EXPECT_EQ(misfit({16, 2, 1}, {1, 1, 1}, {16, 2, 1}), "cluster (16, 2, 1) has 32 blocks; at most 16 fit");
  EXPECT_EQ(misfit({17, 1, 1}, {1, 1, 1}, {17, 1, 1}), "cluster (17, 1, 1) has 17 blocks in x; at most 16 fit");
  EXPECT_EQ(misfit({1, 1, 1}, {1, 1, 1}, {1, 0, 1}), "cluster (1, 0, 1) is empty: y is 0");
  EXPECT_EQ(misfit({5, 1, 1}, {1, 1, 1}, {2, 1, 1}), "grid (5, 1, 1) is not a whole number of clusters (2, 1, 1) in x");
}

TEST(LaunchGeometry, TheKernelsOwnBounds) {
  const auto misfit_of = [](std::string_view directive, const LaunchDims& bound, const LaunchDims& block) {
    const auto checked = check_launch_bound(directive, bound, block);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(misfit_of("reqntid", {64, 1, 1}, {64, 1, 1}), "");
  EXPECT_EQ(misfit_of("reqntid", {64, 1, 1}, {32, 2, 1}), "block (32, 2, 1) does not fit the kernel's `.reqntid` (64, 1, 1)");
  EXPECT_EQ(misfit_of("maxntid", {32, 2, 1}, {1, 64, 1}), "");
  EXPECT_EQ(misfit_of("maxntid", {32, 2, 1}, {65, 1, 1}), "block (65, 1, 1) does not fit the kernel's `.maxntid` (32, 2, 1)");
  EXPECT_EQ(misfit_of("maxntid", {4294967295, 4294967295, 4294967295}, {1024, 1, 1}), "");
}

}  // namespace
}  // namespace ptx

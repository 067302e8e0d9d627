// sources/cub_blocks.cu against loops.
#include <numeric>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

template <class T>
std::vector<T> running_sums(std::vector<T> values) {
  std::partial_sum(values.begin(), values.end(), values.begin());
  return values;
}

TEST(CubBlocks, Scans) {
  for (const Played& run : played("cub_blocks"))
    for (const std::string how : {"warps", "raking"}) {
      const auto sums = running_sums(run.given<int>("ints"));
      expect_made(run, "scan_" + how, sums);
      expect_made<int>(run, "total_" + how, {sums.back()});
    }
}

TEST(CubBlocks, Reductions) {
  for (const Played& run : played("cub_blocks")) {
    const auto x = run.given<float>("floats");
    const std::vector<float> expected{std::accumulate(x.begin(), x.end(), 0.0F), *std::max_element(x.begin(), x.begin() + 100)};
    expect_made(run, "reduce_warps", expected);  // eighths: every order of additions gives this
    expect_made(run, "reduce_raking", expected);
  }
}

TEST(CubBlocks, RadixSort) {
  for (const Played& run : played("cub_blocks")) {
    const auto keys = run.given<unsigned>("keys");
    const auto values = run.given<int>("ints");
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
    std::vector<unsigned> sorted;
    std::vector<int> carried;
    for (const std::size_t i : order) sorted.push_back(keys[i]), carried.push_back(values[i]);
    expect_made(run, "sorted_keys", sorted);
    expect_made(run, "sorted_values", carried);
  }
}

TEST(CubBlocks, MergeSort) {
  for (const Played& run : played("cub_blocks")) {
    auto x = run.given<double>("doubles");
    const std::size_t there = x.size() - 3;
    std::sort(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(there));
    x.resize(there);
    auto made = run.made<double>("merged");
    made.resize(there);
    EXPECT_EQ(made, x) << run.name;
  }
}

TEST(CubBlocks, Histograms) {
  for (const Played& run : played("cub_blocks")) {
    std::vector<unsigned> bins(256);
    for (const unsigned char byte : run.given<unsigned char>("bytes")) ++bins[byte];
    expect_made(run, "histogram_atomic", bins);
    expect_made(run, "histogram_sort", bins);
  }
}

TEST(CubBlocks, Neighbours) {
  for (const Played& run : played("cub_blocks")) {
    const auto x = run.given<int>("runs");
    std::vector<int> heads{1}, differences{x[0]};
    for (std::size_t i = 1; i < x.size(); ++i) {
      heads.push_back(x[i] != x[i - 1] ? 1 : 0);
      differences.push_back(x[i] - x[i - 1]);
    }
    expect_made(run, "heads", heads);
    expect_made(run, "differences", differences);
  }
}

TEST(CubBlocks, Warps) {
  for (const Played& run : played("cub_blocks")) {
    using Number = long long;
    const auto x = run.given<Number>("longs");
    std::vector<Number> sums(8), most, sorted(x.begin(), x.begin() + 256);
    for (std::size_t i = 0; i < 128; ++i) {
      sums[i / 16] += x[i];
      most.push_back(i % 32 == 0 ? -1000000 : std::max(most.back(), x[i - 1]));
    }
    for (auto at = sorted.begin(); at != sorted.end(); at += 64) std::sort(at, at + 64, std::greater<>());
    expect_made(run, "warp_sums", sums);
    expect_made(run, "warp_scan", most);
    expect_made(run, "warp_sorted", sorted);
  }
}

}  // namespace
}  // namespace ptx::producers

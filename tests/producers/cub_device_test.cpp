// sources/cub_device.cu against loops.
#include <numeric>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

TEST(CubDevice, ReductionAndScan) {
  for (const Played& run : played("cub_device")) {
    const auto x = run.given<int>("ints");
    std::vector<int> sums(x.size());
    std::exclusive_scan(x.begin(), x.end(), sums.begin(), 0);
    expect_made(run, "sums", sums);
    expect_made<int>(run, "sum", {sums.back() + x.back()});
  }
}

TEST(CubDevice, RadixSort) {
  for (const Played& run : played("cub_device")) {
    const auto keys = run.given<unsigned>("keys");
    const auto values = run.given<int>("ints");
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    std::vector<unsigned> sorted;
    std::vector<int> carried;
    for (const std::size_t i : order) sorted.push_back(keys[i]), carried.push_back(values[i]);
    expect_made(run, "sorted_keys", sorted);
    expect_made(run, "sorted_values", carried);
  }
}

TEST(CubDevice, Histogram) {
  for (const Played& run : played("cub_device")) {
    std::vector<int> bins(32);
    for (const float x : run.given<float>("floats"))
      if (x < 16) ++bins[static_cast<std::size_t>(static_cast<int>(x + 16))];  // from -16 on, one wide
    expect_made(run, "bins", bins);
  }
}

TEST(CubDevice, SelectionAndRuns) {
  for (const Played& run : played("cub_device")) {
    std::vector<int> odd, values, lengths;
    for (const int x : run.given<int>("ints"))
      if (x % 2 != 0) odd.push_back(x);
    for (const int x : run.given<int>("runs")) {
      if (values.empty() || values.back() != x) values.push_back(x), lengths.push_back(0);
      ++lengths.back();
    }
    const auto expect_begins = [&](std::string_view what, std::string_view count, const std::vector<int>& expected) {
      expect_made<int>(run, count, {static_cast<int>(expected.size())});
      auto made = run.made<int>(what);
      made.resize(std::min(made.size(), expected.size()));
      EXPECT_EQ(made, expected) << run.name << ": " << what;
    };
    expect_begins("odd", "odd_count", odd);
    expect_begins("run_values", "run_count", values);
    expect_begins("run_lengths", "run_count", lengths);
  }
}

}  // namespace
}  // namespace ptx::producers

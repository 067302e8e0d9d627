// sources/cub_segments.cu against loops.
#include <numeric>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

TEST(CubSegments, MergeSort) {
  for (const Played& run : played("cub_segments")) {
    auto sorted = run.given<double>("doubles");
    std::vector<int> places(sorted.size());
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(),
                     [&](int a, int b) { return sorted[static_cast<std::size_t>(a)] < sorted[static_cast<std::size_t>(b)]; });
    std::sort(sorted.begin(), sorted.end());
    expect_made(run, "doubles", sorted);
    expect_made(run, "places", places);
  }
}

TEST(CubSegments, SortAndReduce) {
  for (const Played& run : played("cub_segments")) {
    auto sorted = run.given<unsigned short>("keys");
    const auto longs = run.given<long long>("longs");
    const auto begins = run.given<int>("begins");
    std::vector<long long> most;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      std::sort(sorted.begin() + begins[i], sorted.begin() + begins[i + 1]);
      most.push_back(std::accumulate(longs.begin() + begins[i], longs.begin() + begins[i + 1], -(1LL << 62),
                                     [](long long a, long long b) { return std::max(a, b); }));
    }
    expect_made(run, "sorted", sorted);
    expect_made(run, "most", most);
  }
}

TEST(CubSegments, ScanByKey) {
  for (const Played& run : played("cub_segments")) {
    auto sums = run.given<long long>("longs");
    const auto runs = run.given<int>("runs");
    for (std::size_t i = 1; i < sums.size(); ++i)
      if (runs[i] == runs[i - 1]) sums[i] += sums[i - 1];
    expect_made(run, "by_key", sums);
  }
}

TEST(CubSegments, PartitionAndDifferences) {
  for (const Played& run : played("cub_segments")) {
    const auto shorts = run.given<short>("shorts");
    std::vector<short> parted;
    std::copy_if(shorts.begin(), shorts.end(), std::back_inserter(parted), [](short x) { return x < 0; });
    expect_made<int>(run, "parted_count", {static_cast<int>(parted.size())});
    std::copy_if(shorts.rbegin(), shorts.rend(), std::back_inserter(parted), [](short x) { return x >= 0; });  // backwards
    expect_made(run, "parted", parted);
    const auto runs = run.given<int>("runs");
    std::vector<int> differences(runs.size());
    std::adjacent_difference(runs.begin(), runs.end(), differences.begin());
    expect_made(run, "differences", differences);
  }
}

}  // namespace
}  // namespace ptx::producers

// sources/groups.cu against loops.
#include <set>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

TEST(CooperativeGroups, Tiles) {
  for (const Played& run : played("groups")) {
    const auto in = run.given<int>("in");
    std::vector<int> expected;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(i / 8 * 8);
      int sum = 0, inclusive = 0, exclusive = 0;
      for (std::size_t j = 0; j < 8; ++j) {
        sum += first[static_cast<std::ptrdiff_t>(j)];
        if (j <= i % 8) inclusive += first[static_cast<std::ptrdiff_t>(j)];
        if (j < i % 8) exclusive ^= first[static_cast<std::ptrdiff_t>(j)];
      }
      const bool any = std::any_of(first, first + 8, [](int x) { return x > 900; });
      const int lane = static_cast<int>(i % 8), tile = static_cast<int>(i / 8);
      for (const int value : {sum, *std::max_element(first, first + 8), inclusive, exclusive,
                              first[lane + 3 < 8 ? lane + 3 : lane], (any ? 1000 : 0) + tile * 10 + lane})
        expected.push_back(value);
    }
    expect_made(run, "tiles", expected);
  }
}

TEST(CooperativeGroups, Coalesced) {
  for (const Played& run : played("groups")) {
    std::multiset<int> expected;
    for (const int x : run.given<int>("in"))
      if (x % 3 == 0) expected.insert(x);
    expect_made<int>(run, "packed_count", {static_cast<int>(expected.size())});
    const auto packed = run.made<int>("packed");
    EXPECT_EQ(std::multiset<int>(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(expected.size())), expected)
        << run.name;
  }
}

TEST(CooperativeGroups, Labels) {
  for (const Played& run : played("groups")) {
    const auto in = run.given<int>("in");
    std::vector<int> sizes(64), sums(64), halves(64);
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
        if ((in[i] & 1023) % 5 == (in[j] & 1023) % 5) ++sizes[i], sums[i] += in[j];
        if ((in[i] > 0) == (in[j] > 0)) halves[i] += j < i ? 101 : 100;
      }
    expect_made(run, "label_sizes", sizes);
    expect_made(run, "label_sums", sums);
    expect_made(run, "halves", halves);
  }
}

TEST(CooperativeGroups, TilesOfSeveralWarps) {
  for (const Played& run : played("groups")) {
    const auto in = run.given<int>("in");
    std::vector<int> sums(2);
    for (std::size_t i = 0; i < 256; ++i) sums[i / 128] += in[i];
    expect_made(run, "big_tiles", sums);
  }
}

TEST(CooperativeGroups, Copies) {
  for (const Played& run : played("groups")) {
    auto in = run.given<int>("in");
    in.resize(200);
    std::reverse(in.begin(), in.end());
    expect_made(run, "reversed", in);
  }
}

TEST(CooperativeGroups, WholeGrid) {
  for (const Played& run : played("groups")) {
    auto data = run.given<int>("grid_data");
    const std::size_t n = data.size();
    for (int round = 0; round < 3; ++round) {
      auto next = data;
      for (std::size_t i = 0; i < n; ++i) next[i] = (data[(i + 1) % n] + data[(i + n - 1) % n]) & 0xFFFF;
      data = next;
    }
    std::reverse(data.begin(), data.end());
    expect_made(run, "grid_out", data);
  }
}

}  // namespace
}  // namespace ptx::producers

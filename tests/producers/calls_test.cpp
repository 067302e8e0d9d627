// sources/calls.cu against the same said on the host.
#include <bit>

#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

TEST(DeviceCalls, Recursion) {
  std::vector<int> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(ackermann(i % 3, i % 5) * 10 + (i % 2 == 0 ? 1 : 0));
  for (const Played& run : played("calls")) expect_made(run, "recursion", expected);
}

TEST(DeviceCalls, VirtualFunctions) {
  std::vector<float> areas;
  std::vector<int> corners;
  for (int i = 0; i < 32; ++i) {
    areas.push_back(static_cast<float>(i % 3 == 0 ? 3 * i * i : 2 * i));
    corners.push_back(i % 3 == 0 ? 0 : 4);
  }
  for (const Played& run : played("calls")) {
    expect_made(run, "areas", areas);
    expect_made(run, "corners", corners);
  }
}

TEST(DeviceCalls, PointersAndSwitches) {
  for (const Played& run : played("calls")) {
    const auto in = run.given<int>("in");
    std::vector<int> called, switched;
    for (std::size_t i = 0; i < 64; ++i) {
      const int a = in[i], b = in[i ^ 1], x = a & 15;
      called.push_back(i % 3 == 0 ? a + b : i % 3 == 1 ? a - b : a * b);
      int y = x * x * x;
      if (x == 0) y = 100;
      if (x == 1) y = 12;
      if (x == 2) y = 6;
      if (x == 3) y = -3;
      if (x == 4) y = 64;
      if (x == 5) y = std::popcount(5U * 12345U);
      if (x == 6) y = -7;
      if (x == 9) y = 81;
      if (x == 12) y = 144;
      switched.push_back(y);
    }
    expect_made(run, "pointers", called);
    expect_made(run, "switches", switched);
  }
}

TEST(DeviceCalls, VariablesOfTheModule) {
  constexpr int factors[] = {1, 2, 3, 5, 7, 11, 13, 17};
  std::vector<int> first, second;
  for (std::size_t i = 0; i < 32; ++i) first.push_back(40 * factors[i % 8]), second.push_back(42 * factors[i % 8]);
  for (const Played& run : played("calls")) {
    expect_made(run, "variables", first);
    expect_made(run, "variables_again", second);
  }
}

TEST(DeviceCalls, Prints) {
  for (const Played& run : played("calls")) {
    char line[200];
    std::snprintf(line, sizeof line, "thread 3 of 32 has %+6d|42   |00042, beef, 2.500 and text c%%\n", run.given<int>("in")[3]);
    EXPECT_EQ(run.printed.substr(0, run.printed.find('\n') + 1), line) << run.name;
    EXPECT_EQ(run.printed.substr(run.printed.find('\n') + 1), "-1234567890123 18446744073709551615 1.23e+04 0.0001 (nil)\n")
        << run.name;
  }
}

TEST(DeviceCalls, LocalArrays) {
  for (const Played& run : played("calls")) {
    const auto in = run.given<int>("in");
    std::vector<int> expected;
    for (std::size_t t = 0; t < 32; ++t) {
      std::vector<int> heap;
      for (std::size_t i = 0; i < 24; ++i) heap.push_back(in[(t * 7 + i * 5) % 64]);
      std::sort(heap.begin(), heap.end());
      expected.insert(expected.end(), heap.begin(), heap.end());
    }
    expect_made(run, "heaps", expected);
  }
}

TEST(DeviceCalls, Structures) {
  struct Big {
    int values[300];
    double factor;
    short small[3];
  };
  double sum = 0;
  for (int i = 0; i < 300; ++i) sum += i * i * 0.25;
  for (const Played& run : played("calls")) {
    expect_made<double>(run, "sum", {sum});
    const auto copies = run.made<Big>("copy");
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].values[299], 299 * 299);
    EXPECT_EQ(copies[0].factor, 0.25);
    EXPECT_EQ(copies[0].small[2], 77);
  }
}

}  // namespace
}  // namespace ptx::producers

// sources/atomics.cu against loops.
#include "tests/producers/numbers.hpp"

namespace ptx::producers {
namespace {

TEST(Atomics, OrdersAndScopes) {
  for (const Played& run : played("atomics")) {
    std::vector<int> expected{0, 0, 0, 0, 0, 0, -1};
    for (const int x : run.given<int>("in")) {
      expected[0] += x;
      expected[1] -= x;
      expected[2] = std::max(expected[2], x);
      expected[3] = std::min(expected[3], x);
      expected[4] ^= x;
      expected[5] |= x;
      expected[6] &= x | 7;
    }
    expect_made(run, "orders", expected);
  }
}

TEST(Atomics, OlderOnes) {
  for (const Played& run : played("atomics")) {
    const auto in = run.given<int>("in");
    unsigned up = 0, down = 0;
    unsigned long long sum = 0, most = 0;
    double all = 0, thirds = 0, odd = 0;
    for (const int x : in) {
      up = up >= 16 ? 0 : up + 1;
      down = down == 0 || down > 99 ? 99 : down - 1;
      sum += static_cast<unsigned long long>(static_cast<long long>(x)) << 20;
      most = std::max(most, static_cast<unsigned long long>(x + 5000) * 1000003);
      all += x;
      thirds += x % 3;
      odd += x & 1;
    }
    expect_made<unsigned>(run, "older", {up, down, 64, 64});
    expect_made<unsigned long long>(run, "wide", {sum, most});
    expect_made<float>(run, "floats", {static_cast<float>(all / 8)});
    expect_made<double>(run, "doubles", {all / 1024});
    EXPECT_EQ(as_doubles(run, "halves", "f16", false), (std::vector<double>{thirds, 128})) << run.name;
    EXPECT_EQ(as_doubles(run, "brains", "bf16", false), std::vector<double>{odd}) << run.name;
  }
}

TEST(Atomics, CompareAndSwap) {
  for (const Played& run : played("atomics")) {
    const auto in = run.given<int>("in");
    int twos = 0;
    for (std::size_t i = 0; i < 64; ++i) twos += (in[i] & 1) != 0 ? 1 : -1;
    expect_made<float>(run, "product", {std::ldexp(1.0F, twos)});
  }
}

TEST(Atomics, BlocksInLine) {
  for (const Played& run : played("atomics")) {
    const auto in = run.given<int>("in");
    std::vector<int> sums(5), partial(4);
    for (std::size_t i = 0; i < 128; ++i) partial[i / 32] += in[i];
    for (std::size_t i = 0; i < 4; ++i) sums[i + 1] = sums[i] + partial[i];
    expect_made(run, "sums", sums);
    expect_made(run, "partial", partial);
    expect_made<int>(run, "total", {sums[4]});
  }
}

}  // namespace
}  // namespace ptx::producers

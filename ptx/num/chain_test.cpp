#include "ptx/num/chain.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace ptx::num {
namespace {

TEST(Chain, IsAFusedMultiplyAddForEachFactor) {
  std::mt19937 random(7);
  const auto number = [&]() -> float {
    switch (random() % 16) {
      case 0:
        return 0;
      case 1:
        return random() % 2 == 0 ? -0.0f : std::numeric_limits<float>::infinity();
      case 2:
        return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      default:
        return std::ldexp(static_cast<float>(static_cast<int>(random() % 4096) - 2048), static_cast<int>(random() % 24) - 12);
    }
  };
  for (const std::size_t n : {8u, 16u, 24u, 40u, 256u})
    for (const std::size_t rows : {1u, 3u, 4u, 7u, 16u})
      for (const std::size_t depth : {0u, 1u, 8u, 33u}) {
        std::vector<float> a(rows * (depth + 3)), b(depth * n), d(rows * n);
        for (std::vector<float>* all : {&a, &b, &d})
          for (float& x : *all) x = number();
        std::vector<const float*> by_factor;
        for (std::size_t k = 0; k < depth; ++k) by_factor.push_back(&b[k * n]);
        std::vector<float> sums = d, one_by_one = d;
        add_chains({a.data(), depth + 3, rows, by_factor, sums.data(), n});
        add_chains_one_by_one({a.data(), depth + 3, rows, by_factor, one_by_one.data(), n});
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            float expected = d[i * n + j];
            for (std::size_t k = 0; k < depth; ++k) expected = std::fma(a[i * (depth + 3) + k], b[k * n + j], expected);
            const auto bits = expected != expected ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(expected);
            ASSERT_EQ(std::bit_cast<std::uint32_t>(sums[i * n + j]), bits) << n << ' ' << rows << ' ' << depth;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(one_by_one[i * n + j]), bits) << n << ' ' << rows << ' ' << depth;
          }
      }
}

}  // namespace
}  // namespace ptx::num

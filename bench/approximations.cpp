// The unit's functions of 32 arguments at once (ptx/num/approx_wide.cpp), without the executor around them: ns a warp
// instruction.
#include <benchmark/benchmark.h>

#include <bit>
#include <random>

#include "ptx/num/approx.hpp"

namespace {

using namespace ptx::num;

struct Arguments {
  alignas(64) std::uint32_t rows[64][32];
  Arguments(float least, float most) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> numbers(least, most);
    for (auto& row : rows)
      for (std::uint32_t& x : row) x = std::bit_cast<std::uint32_t>(numbers(random));
  }
};

template <class Compute>
void measure(benchmark::State& state, Compute compute) {
  if (!host_has_sixteens()) return state.SkipWithError("this processor has no AVX-512 with VBMI, VNNI and BITALG");
  alignas(64) std::uint32_t result[32];
  std::size_t row = 0;
  for (auto _ : state) {
    compute(row++ % 64, result);
    benchmark::DoNotOptimize(result);
  }
}

template <class Unit>
void function(benchmark::State& state) {
  const Arguments x(0.1f, 100);
  measure(state, [&](std::size_t row, std::uint32_t* result) {
    benchmark::DoNotOptimize(approximate_ordinary<Unit>(~0u, x.rows[row], result));
  });
}
void division(benchmark::State& state) {
  const Arguments a(-10, 10), b(0.1f, 100);
  measure(state, [&](std::size_t row, std::uint32_t* result) {
    benchmark::DoNotOptimize(divide_ordinary<false>(~0u, a.rows[row], b.rows[row], result));
  });
}

BENCHMARK(function<unit::Power>)->Name("ex2");
BENCHMARK(function<unit::ReciprocalRoot>)->Name("rsqrt");
BENCHMARK(function<unit::Reciprocal>)->Name("rcp");
BENCHMARK(function<unit::Root>)->Name("sqrt");
BENCHMARK(division)->Name("div");

}  // namespace

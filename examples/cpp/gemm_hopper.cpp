// Runs the matrix product of gemm_hopper.hpp, the twin of examples/hopper/gemm_highperf_hopper.py.
//     gemm_hopper [M N K]           on a Hopper GPU, held to float64
//     gemm_hopper --ptx [M N K]     prints its PTX
#include "gemm_hopper.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace ptx;

// bfloat16 is the upper half of a float.
float widened(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
std::uint16_t rounded(float x) {  // to nearest, ties to even; not for NaN
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

struct Problem {
  int M, N, K;
  std::vector<std::uint16_t> a, b;
};

Problem draw(int M, int N, int K) {
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  Problem p{M, N, K, std::vector<std::uint16_t>(std::size_t(M) * K), std::vector<std::uint16_t>(std::size_t(N) * K)};
  for (auto* matrix : {&p.a, &p.b})
    for (std::uint16_t& x : *matrix) x = rounded(normal(random));
  return p;
}

// The largest error of some thousand elements, relative to the exact number, or to a typical sum of K products where that is
// more.
double largest_error(const Problem& p, const std::vector<std::uint16_t>& c) {
  std::mt19937 random(1);
  double largest = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::size_t row = random() % p.M, column = random() % p.N;
    double sum = 0;
    for (std::size_t j = 0; j < std::size_t(p.K); ++j)
      sum += double{widened(p.a[row * p.K + j])} * widened(p.b[column * p.K + j]);
    const double error = std::abs(widened(c[row * p.N + column]) - sum) / std::max(std::abs(sum), std::sqrt(double(p.K)));
    if (!(error <= largest)) largest = error;  // a NaN counts
  }
  return largest;
}

// Runs it, says how long it took, and gives the largest error.
Expected<double> run(const Compiled& kernel, const Problem& p) {
  auto device = cuda::device(0);
  if (!device) return Unexpected{device.error()};
  const cuda::Device& d = **device;
  auto a = cuda::DeviceBuffer::copy_of(d, std::span(p.a));
  auto b = cuda::DeviceBuffer::copy_of(d, std::span(p.b));
  std::vector<std::uint16_t> c(std::size_t(p.M) * p.N);
  auto c_gpu = cuda::DeviceBuffer::make(d, c.size() * sizeof c[0]);
  for (const auto* buffer : {&a, &b, &c_gpu})
    if (!*buffer) return Unexpected{buffer->error()};

  constexpr int calls = 20;
  double took = 0;
  for (int i = 0; i <= calls; ++i) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    if (auto launched = kernel.run(gpu(0), {*a, *b}, {*c_gpu}); !launched) return Unexpected{launched.error()};
    if (auto done = cuda::synchronize(d); !done) return Unexpected{done.error()};
    if (i > 0) took += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
  }
  if (auto copied = c_gpu->copy_to(std::as_writable_bytes(std::span(c))); !copied) return Unexpected{copied.error()};
  const double error = largest_error(p, c);
  std::printf("%d x %d x %d on %s: largest error %.1e, %.0f us a call with its launch, %.1f TFLOP/s\n", p.M, p.N, p.K,
              d.name().c_str(), error, took, 2.0 * p.M * p.N * p.K / took / 1e6);
  return error;
}

int main(int argc, char** argv) try {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool print = !words.empty() && words[0] == "--ptx";
  if (print) words.erase(words.begin());
  std::vector<int> sizes = {4096, 4096, 4096};
  for (std::size_t i = 0; i < 3 && words.size() == 3; ++i) sizes[i] = std::stoi(words[i]);
  const int M = sizes[0], N = sizes[1], K = sizes[2];
  const auto kernel = compile(examples::gemm_warp_specialized(M, N, K), {std::int64_t{M}, std::int64_t{N}, std::int64_t{K}});
  if (!kernel) {
    std::fprintf(stderr, "%s\n", render(kernel.error()).c_str());
    return 1;
  }
  if (print) {
    std::fputs(kernel->ptx().c_str(), stdout);
    return 0;
  }
  const auto error = run(*kernel, draw(M, N, K));
  if (error) return *error <= 0x1p-8 ? 0 : 1;
  if (error.error().kind == Kind::no_driver || error.error().kind == Kind::no_device) {
    std::puts("written and checked only: no GPU here");
    return 0;
  }
  std::fprintf(stderr, "%s\n", render(error.error()).c_str());
  return 1;
} catch (const std::exception& error) {  // a size that is no number
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Runs the matrix product of gemm_blackwell.hpp, the twin of examples/blackwell/gemm_highperf_blackwell.py. It has been assembled
// and never run: there was no Blackwell GPU yet.
//     gemm_blackwell [M N K]           on a Blackwell GPU, held to exact sums
//     gemm_blackwell --ptx [M N K]     prints its PTX
#include "gemm_blackwell.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace ptx;

// Small integers: their products and sums are exact, and only the last rounding to bfloat16 is left. bfloat16 is the upper half
// of a float.
std::uint16_t rounded(float x) {  // to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::vector<int> draw(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> numbers(count);
  for (int& x : numbers) x = int(random() % 5) - 2;
  return numbers;
}

std::vector<std::uint16_t> as_bfloat16(const std::vector<int>& numbers) {
  std::vector<std::uint16_t> bits;
  for (const int x : numbers) bits.push_back(rounded(static_cast<float>(x)));
  return bits;
}

// Runs it, and gives the number of wrong elements among some thousand.
Expected<int> run(const Compiled& kernel, int M, int N, int K) {
  auto device = cuda::device(0);
  if (!device) return Unexpected{device.error()};
  const cuda::Device& d = **device;
  const std::vector<int> a = draw(std::size_t(M) * K, 0), b = draw(std::size_t(N) * K, 1);
  std::vector<std::uint16_t> c(std::size_t(M) * N), a_bits = as_bfloat16(a), b_bits = as_bfloat16(b);
  auto a_gpu = cuda::DeviceBuffer::copy_of(d, std::span(a_bits));
  auto b_gpu = cuda::DeviceBuffer::copy_of(d, std::span(b_bits));
  auto c_gpu = cuda::DeviceBuffer::make(d, c.size() * sizeof c[0]);
  for (const auto* buffer : {&a_gpu, &b_gpu, &c_gpu})
    if (!*buffer) return Unexpected{buffer->error()};
  if (auto launched = kernel.run(gpu(0), {*a_gpu, *b_gpu}, {*c_gpu}); !launched) return Unexpected{launched.error()};
  if (auto copied = c_gpu->copy_to(std::as_writable_bytes(std::span(c))); !copied) return Unexpected{copied.error()};

  std::mt19937 random(2);
  int wrong = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::size_t row = random() % unsigned(M), column = random() % unsigned(N);
    int sum = 0;
    for (std::size_t j = 0; j < std::size_t(K); ++j) sum += a[row * K + j] * b[column * K + j];
    if (c[row * N + column] != rounded(static_cast<float>(sum))) ++wrong;
  }
  std::printf("%d x %d x %d on %s: %d of 4000 elements wrong\n", M, N, K, d.name().c_str(), wrong);
  return wrong;
}

int main(int argc, char** argv) try {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool print = !words.empty() && words[0] == "--ptx";
  if (print) words.erase(words.begin());
  std::vector<int> sizes = {4096, 4096, 4096};
  for (std::size_t i = 0; i < 3 && words.size() == 3; ++i) sizes[i] = std::stoi(words[i]);
  const auto kernel = compile(examples::gemm_blackwell(sizes[0], sizes[1], sizes[2]));
  if (!kernel) {
    std::fprintf(stderr, "%s\n", render(kernel.error()).c_str());
    return 1;
  }
  if (print) {
    std::fputs(kernel->ptx().c_str(), stdout);
    return 0;
  }
  const auto wrong = run(*kernel, sizes[0], sizes[1], sizes[2]);
  if (wrong) return *wrong == 0 ? 0 : 1;
  if (wrong.error().kind == Kind::no_driver || wrong.error().kind == Kind::no_device) {
    std::puts("written and checked only: no GPU here");
    return 0;
  }
  std::fprintf(stderr, "%s\n", render(wrong.error()).c_str());
  return 1;
} catch (const std::exception& error) {  // a size that is no number
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

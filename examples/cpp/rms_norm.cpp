// Runs the RMS norm of rms_norm.hpp, the twin of examples/hopper/rms_norm.py.
//     rms_norm                        on the executor and, where there is one, on a GPU, both held to float64
//     rms_norm --json                 the same, one JSON object a line
//     rms_norm --ptx [B N [bf16]]     prints its PTX, for 16 rows of 512 f32 or for what is said
#include "rms_norm.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace ptx;

struct Problem {
  int rows, columns;
  std::vector<float> x, w;
  std::vector<double> expected;  // in float64
};

Problem draw(int rows, int columns, double eps = 1e-6) {
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  Problem p{rows, columns, std::vector<float>(static_cast<std::size_t>(rows) * columns), std::vector<float>(columns), {}};
  for (float& x : p.x) x = normal(random);
  for (float& w : p.w) w = normal(random);
  for (int r = 0; r < rows; ++r) {
    const float* x = &p.x[static_cast<std::size_t>(r) * columns];
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += double{x[c]} * x[c];
    for (int c = 0; c < columns; ++c) p.expected.push_back(double{x[c]} * p.w[c] / std::sqrt(sum / columns + eps));
  }
  return p;
}

double largest_relative_error(const std::vector<float>& y, const std::vector<double>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = std::abs(y[i] - expected[i]) / std::abs(expected[i]);
    if (!(error <= largest)) largest = error;  // a NaN counts
  }
  return largest;
}

// Median of some calls, after one that warms up.
Expected<double> microseconds(const std::function<Expected<void>()>& call) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (auto done = call(); !done) return Unexpected{std::move(done).error()};
    if (i > 0) times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

struct Result {
  std::string device;
  double error = 0, took = 0;
};

Expected<Result> on_executor(const Compiled& kernel, const Problem& p) {
  std::vector<float> y(p.expected.size());
  const auto took = microseconds([&] { return kernel.run(cpu(), {p.x, p.w}, {y}); });
  if (!took) return Unexpected{took.error()};
  return Result{"executor", largest_relative_error(y, p.expected), *took};
}

Expected<Result> on_gpu(const Compiled& kernel, const Problem& p) {
  auto device = cuda::device(0);
  if (!device) return Unexpected{device.error()};
  const cuda::Device& d = **device;
  auto x = cuda::DeviceBuffer::copy_of(d, std::span(p.x));
  auto w = cuda::DeviceBuffer::copy_of(d, std::span(p.w));
  std::vector<float> y(p.expected.size());
  auto y_gpu = cuda::DeviceBuffer::make(d, y.size() * sizeof(float));
  for (const auto* buffer : {&x, &w, &y_gpu})
    if (!*buffer) return Unexpected{buffer->error()};
  const auto took = microseconds([&]() -> Expected<void> {
    if (auto launched = kernel.run(gpu(0), {*x, *w}, {*y_gpu}); !launched) return launched;
    return cuda::synchronize(d);
  });
  if (!took) return Unexpected{took.error()};
  if (auto copied = y_gpu->copy_to(std::as_writable_bytes(std::span(y))); !copied) return Unexpected{copied.error()};
  return Result{d.name(), largest_relative_error(y, p.expected), *took};
}

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string mode = words.empty() ? "" : words[0];
  const int rows = words.size() > 2 ? std::stoi(words[1]) : 16, columns = words.size() > 2 ? std::stoi(words[2]) : 512;
  const Type dtype = words.size() > 3 && words[3] == "bf16" ? bf16 : f32;
  if (mode == "--ptx") {
    const Expected<Compiled> kernel = compile(examples::rms_norm(rows, columns, 1e-6, sm_90a, dtype));
    if (kernel)
      std::fputs(kernel->ptx().c_str(), stdout);
    else
      std::fprintf(stderr, "%s\n", render(kernel.error()).c_str());
    return kernel ? 0 : 1;
  }
  const Expected<Compiled> kernel = compile(examples::rms_norm(16, 512));
  if (!kernel) {
    std::fprintf(stderr, "%s\n", render(kernel.error()).c_str());
    return 1;
  }

  const bool json = mode == "--json";
  const Problem problem = draw(16, 512);
  bool all_right = true;
  const auto report = [&](const char* route, const Expected<Result>& result) {
    if (result) {
      all_right &= result->error < 1e-6;
      if (json)
        std::printf("{\"device\": \"%s\", \"max_relative_error\": %.9g, \"microseconds\": %.6g}\n", result->device.c_str(),
                    result->error, result->took);
      else
        std::printf("%-24s largest relative error %.2e, %.0f us a call\n", result->device.c_str(), result->error, result->took);
    } else if (result.error().kind == Kind::no_driver || result.error().kind == Kind::no_device) {
      if (json)
        std::printf("{\"device\": \"%s\", \"note\": \"none here\"}\n", route);
      else
        std::printf("%-24s none here\n", route);
    } else {
      all_right = false;
      std::fprintf(stderr, "%s\n", render(result.error()).c_str());
    }
  };
  report("executor", on_executor(*kernel, problem));
  report("GPU", on_gpu(*kernel, problem));
  return all_right ? 0 : 1;
} catch (const std::exception& error) {  // a size that is no number, or that the kernel does not take
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

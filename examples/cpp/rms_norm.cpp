// RMS norm, one warp a row: y[row] = x[row] * w / sqrt(mean(x[row]^2) + eps). The twin of examples/rms_norm.py, line for line:
// both print the same PTX.
//     rms_norm          runs it on the executor and, where there is one, on a GPU, and checks both against float64
//     rms_norm --ptx    prints its PTX
//     rms_norm --json   as the first, one JSON object a line
#include <ptx/ptx.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace ptx;

constexpr int warp_size = 32;

Kernel rms_norm(int B, int N, double eps = 1e-6) {
  const int items_per_thread = N / warp_size;
  Kernel k({.name = "rms_norm",
            .in_specs = {{"X", {B, N}, f32}, {"W", {N}, f32}},
            .out_specs = {{"Y", {B, N}, f32}},
            .grid = {B, 1, 1},
            .block = {warp_size, 1, 1},
            .arch = sm_90a});

  auto [px, pw, py] = k.global_ptrs("X", "W", "Y");
  auto row = k.from_<u32>(special.ctaid.x());
  auto row_byte_off = row * (N * 4);
  px += row_byte_off;
  py += row_byte_off;
  auto tid = k.from_<u32>(special.tid.x());

  auto sum_sq = k.scalar<f32>(0.0);
  auto x_vals = k.array<f32>(items_per_thread);
  for (int i = 0; i < items_per_thread; ++i) {  // a C++ loop is an unrolled PTX loop
    auto idx = tid + i * warp_size;
    auto ptr = px + idx * 4;
    k << inst.ld.global_.f32(x_vals[i], addr(ptr));
    k << inst.fma.rn.f32(sum_sq, x_vals[i], x_vals[i], sum_sq);
  }
  warp::reduce_sum(sum_sq);

  auto mean_sq = k.scalar<f32>();
  auto inv_n = k.scalar<f32>(1.0 / N);
  auto eps_reg = k.scalar<f32>(eps);
  auto rstd = k.scalar<f32>();
  k << inst.mul.f32(mean_sq, sum_sq, inv_n);
  k << inst.add.f32(mean_sq, mean_sq, eps_reg);
  k << inst.rsqrt.approx.f32(rstd, mean_sq);

  for (int i = 0; i < items_per_thread; ++i) {
    auto idx = tid + i * warp_size;
    auto off = idx * 4;
    auto w_val = k.scalar<f32>();
    auto y_val = k.scalar<f32>();
    k << inst.ld.global_.f32(w_val, addr(pw + off));
    k << inst.mul.f32(y_val, x_vals[i], rstd);
    k << inst.mul.f32(y_val, y_val, w_val);
    k << inst.st.global_.f32(addr(py + off), y_val);
  }
  k << inst.ret();
  return k;
}

// ---- running it -------------------------------------------------------------------------------------------------------

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

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const Expected<Compiled> kernel = compile(rms_norm(16, 512));
  if (!kernel) {
    std::fprintf(stderr, "%s\n", render(kernel.error()).c_str());
    return 1;
  }
  if (mode == "--ptx") {
    std::fputs(kernel->ptx().c_str(), stdout);
    return 0;
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
}

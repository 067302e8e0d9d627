// A kernel that is compiled once and run where there is neither Python nor a compiler.
//     saved_kernel save rms_norm.ptxk [sm_90a …]   writes the RMS norm of rms_norm.hpp, with machine code for these targets
//     saved_kernel run rms_norm.ptxk               runs it: on the executor and, where there is one, on a GPU
// Python's `Kernel.save` writes such files too; the one that is run here takes x[16, 512] and w[512] and gives y[16, 512].
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "rms_norm.hpp"

using namespace ptx;

constexpr int rows = 16, columns = 512;

int fail(const Diagnostic& error) {
  std::fprintf(stderr, "%s\n", render(error).c_str());
  return 1;
}

int save(const std::string& path, const std::vector<std::string>& targets) {
  const Expected<Compiled> kernel = compile(examples::rms_norm(rows, columns));
  if (!kernel) return fail(kernel.error());
  const Expected<Diagnostics> saved = kernel->save(path, targets.empty() ? std::nullopt : std::optional(targets));
  if (!saved) return fail(saved.error());
  for (const Diagnostic& warning : *saved) std::fprintf(stderr, "%s\n", render(warning).c_str());
  return 0;
}

/// All of x is 2 and all of w is 3: each row's root mean square is 2, and each y is 3.
bool right(const std::vector<float>& y) {
  for (const float value : y)
    if (!(std::abs(value - 3) < 1e-5)) return false;
  return true;
}

Expected<bool> on_gpu(const Compiled& kernel, const std::vector<float>& x, const std::vector<float>& w) {
  const auto device = cuda::device(0);
  if (!device) return Unexpected{device.error()};
  auto x_gpu = cuda::DeviceBuffer::copy_of(**device, std::span(x)), w_gpu = cuda::DeviceBuffer::copy_of(**device, std::span(w)),
       y_gpu = cuda::DeviceBuffer::make(**device, x.size() * sizeof(float));
  for (const auto* buffer : {&x_gpu, &w_gpu, &y_gpu})
    if (!*buffer) return Unexpected{buffer->error()};
  if (auto launched = kernel.run(gpu(0), {*x_gpu, *w_gpu}, {*y_gpu}); !launched) return Unexpected{launched.error()};
  std::vector<float> y(x.size());
  if (auto copied = y_gpu->copy_to(std::as_writable_bytes(std::span(y))); !copied) return Unexpected{copied.error()};
  return right(y);
}

int run(const std::string& path) {
  const Expected<Compiled> kernel = load(path);
  if (!kernel) return fail(kernel.error());
  const std::vector<float> x(std::size_t{rows} * columns, 2.0f), w(columns, 3.0f);
  std::vector<float> y(x.size());
  if (auto ran = kernel->run(cpu(), {x, w}, {y}); !ran) return fail(ran.error());
  std::printf("executor: %s\n", right(y) ? "right" : "wrong");
  const Expected<bool> gpu_right = on_gpu(*kernel, x, w);
  if (gpu_right) {
    std::printf("GPU: %s\n", *gpu_right ? "right" : "wrong");
    return right(y) && *gpu_right ? 0 : 1;
  }
  if (gpu_right.error().kind != Kind::no_driver && gpu_right.error().kind != Kind::no_device) return fail(gpu_right.error());
  std::printf("GPU: none here\n");
  return right(y) ? 0 : 1;
}

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 2 && words[0] == "save") return save(words[1], {words.begin() + 2, words.end()});
  if (words.size() == 2 && words[0] == "run") return run(words[1]);
  std::fprintf(stderr, "saved_kernel save FILE [TARGET …], or saved_kernel run FILE\n");
  return 2;
}

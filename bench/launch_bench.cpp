// What a bound launch costs the host, beside the driver's own call: `KernelImage::launch` and cuLaunchKernelEx with the same
// kernel, parameters and stream. Bursts of launches, the GPU's queue emptied between them outside the clock; the two take turns
// within each iteration, so that a change of the machine's pace hits both. Needs an NVIDIA GPU.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/launch.hpp"

namespace {

using namespace ptx;

constexpr int burst = 100;  // far below the 1024 launches that the driver queues

std::string text_with(std::size_t tensors) {
  std::string params;
  for (std::size_t i = 0; i < tensors; ++i) params += cat(i == 0 ? "" : ", ", ".param .u64 p", i);
  return cat(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(", params, ") { ret; }\n");
}

void launch(benchmark::State& state) {
  const auto tensors = static_cast<std::size_t>(state.range(0));
  const auto device = cuda::device(0);
  if (!device) return state.SkipWithError(device.error().message.c_str());
  const cuda::Device& gpu = **device;
  const auto spec =
      launch::LaunchSpec::make("nothing", {.grid = {16, 1, 1}, .block = {128, 1, 1}}, static_cast<std::uint32_t>(tensors) - 1, 1);
  const auto image = launch::KernelImage::from_text(text_with(tensors), spec->serialise());
  if (!image) return state.SkipWithError(image.error().message.c_str());
  if (auto ready = (*image)->prepare(0); !ready) return state.SkipWithError(ready.error().message.c_str());
  auto buffer = cuda::DeviceBuffer::make(gpu, 4096);
  std::vector<void*> pointers(tensors, reinterpret_cast<void*>(buffer->addr()));

  // The same through the driver alone.
  auto loaded = cuda::LoadedKernel::make(gpu.driver(), {.image = text_with(tensors), .entry = "nothing"});
  const auto context = gpu.context();
  const cuda::ContextGuard current(gpu.driver(), *context);
  const auto function = (*loaded)->prepare(gpu);
  if (!function) return state.SkipWithError(function.error().message.c_str());
  const cuda::LaunchTemplate bare({.grid = {16, 1, 1}, .block = {128, 1, 1}});
  std::vector<void*> values;
  for (void*& pointer : pointers) values.push_back(&pointer);
  const cuda::api::LaunchConfig config = bare.on(nullptr);

  using Clock = std::chrono::steady_clock;
  const auto seconds = [&](auto&& call) {
    (void)cuda::synchronize(gpu);
    const auto begin = Clock::now();
    for (int i = 0; i < burst; ++i) call();
    return std::chrono::duration<double>(Clock::now() - begin).count() / burst;
  };
  std::vector<double> bound, driver;
  for (auto _ : state) {
    bound.push_back(seconds([&] { benchmark::DoNotOptimize((*image)->launch(launch::Cuda{0, nullptr}, pointers)); }));
    driver.push_back(seconds(
        [&] { benchmark::DoNotOptimize(gpu.driver().call.launch_kernel_ex(&config, *function, values.data(), nullptr)); }));
    state.SetIterationTime(bound.back());
  }
  const auto median = [](std::vector<double>& times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return 1e9 * times[times.size() / 2];
  };
  state.counters["launch_ns"] = median(bound);
  state.counters["cuLaunchKernelEx_ns"] = median(driver);
  state.counters["more_ns"] = median(bound) - median(driver);
}
BENCHMARK(launch)->Arg(2)->Arg(4)->Arg(16)->UseManualTime()->Iterations(300);

}  // namespace

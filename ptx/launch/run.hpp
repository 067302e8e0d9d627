// The whole way for a C++ program: a kernel written with ptx::Kernel, compiled, run on host memory or on a GPU's.
//     auto kernel = ptx::compile(rms_norm(16, 512), {.grid = {16}, .block = {32}}).value();
//     kernel.run(ptx::cpu(), {x, w}, {y});                        // x, w, y: anything contiguous, such as std::vector<float>
//     kernel.run(ptx::gpu(0), {x_buffer, w_buffer}, {y_buffer});  // ptx::cuda::DeviceBuffer
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/image.hpp"

namespace ptx {

/// Where a kernel runs.
using Place = std::variant<launch::Cpu, launch::Cuda>;
/// On the host, by the executor; the run has ended when the call returns.
inline Place cpu() { return launch::default_cpu(); }
inline Place cpu(const vgpu::Options& options) { return launch::Cpu{options}; }
/// On a GPU; the call returns when the launch is queued, on the default stream when none is given.
inline Place gpu(int ordinal = 0) { return launch::Cuda{ordinal, nullptr}; }
inline Place gpu(int ordinal, const cuda::Stream& stream) { return launch::Cuda{ordinal, stream.handle()}; }

/// Memory of one tensor, borrowed for a call. On a GPU it must live until the kernel has run.
struct Memory {
  void* data = nullptr;
  std::size_t bytes = 0;
  bool on_gpu = false;
};

namespace launch {
template <class R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
template <class R>
concept WritableHostRange = HostRange<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <HostRange R>
Memory memory_of(R&& range) {
  return {.data = const_cast<void*>(static_cast<const void*>(std::ranges::data(range))),
          .bytes = std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)};
}
inline Memory memory_of(const cuda::DeviceBuffer& buffer) {
  return {.data = reinterpret_cast<void*>(buffer.addr()), .bytes = buffer.size_bytes(), .on_gpu = true};
}
}  // namespace launch

/// What a kernel reads: a contiguous range of the host's, or a DeviceBuffer.
struct In : Memory {
  // NOLINTBEGIN(google-explicit-constructor): `{x, w}` is how a call reads
  template <launch::HostRange R>
  In(const R& range) : Memory(launch::memory_of(range)) {}
  In(const cuda::DeviceBuffer& buffer) : Memory(launch::memory_of(buffer)) {}
  // NOLINTEND(google-explicit-constructor)
};

/// What a kernel writes: the same, but not const.
struct Out : Memory {
  // NOLINTBEGIN(google-explicit-constructor)
  template <launch::WritableHostRange R>
  Out(R&& range) : Memory(launch::memory_of(range)) {}
  Out(cuda::DeviceBuffer& buffer) : Memory(launch::memory_of(buffer)) {}
  // NOLINTEND(google-explicit-constructor)
};

/// How a kernel is launched. Its parameters are the inputs' addresses, then the outputs', then the scalars.
struct CompileOptions {
  launch::Dims grid{1, 1, 1};     ///< blocks
  launch::Dims block{1, 1, 1};    ///< threads
  launch::Dims cluster{1, 1, 1};  ///< blocks
  std::uint32_t dynamic_smem_bytes = 0;
  std::uint32_t outputs = 1;             ///< how many of the pointers the kernel writes: the last ones
  std::vector<launch::Scalar> scalars{};  ///< values of the parameters behind the pointers
};

/// A checked kernel with its launch. A value: copies share everything.
class Compiled {
 public:
  explicit Compiled(std::shared_ptr<const launch::KernelImage> image) : image_(std::move(image)) {}

  [[nodiscard]] const std::string& ptx() const { return image_->text(); }
  [[nodiscard]] const launch::KernelImage& image() const { return *image_; }

  /// Runs on `place`. Kinds: argument_count, argument_device (host memory on a GPU or the reverse), and those of KernelImage::launch.
  [[nodiscard]] Expected<void> run(const Place& place, const std::vector<In>& inputs, const std::vector<Out>& outputs) const;

 private:
  std::shared_ptr<const launch::KernelImage> image_;
};

/// Checks a module with one entry and prints it. Kinds: those of check::accept and LaunchSpec::make; unknown_kernel (no entry, or several).
[[nodiscard]] Expected<Compiled> compile(ir::Module module, const CompileOptions& options);

/// The same for anything that finishes into a module, such as a ptx::Kernel.
template <class K>
  requires requires(K kernel) {
    { std::move(kernel).finish() } -> std::same_as<Expected<ir::Module>>;
  }
[[nodiscard]] Expected<Compiled> compile(K kernel, const CompileOptions& options) {
  auto module = std::move(kernel).finish();
  if (!module) return Unexpected{std::move(module).error()};
  return compile(std::move(*module), options);
}

}  // namespace ptx

// The whole way for a C++ program: a kernel written with ptx::Kernel, compiled, run on host memory or on a GPU's.
//     auto kernel = ptx::compile(rms_norm(16, 512)).value();        // rms_norm gives a ptx::Kernel
//     kernel.run(ptx::cpu(), {x, w}, {y});                        // x, w, y: anything contiguous, such as std::vector<float>
//     kernel.run(ptx::gpu(0), {x_buffer, w_buffer}, {y_buffer});  // ptx::cuda::DeviceBuffer
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/tile/tile.hpp"

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

/// The inputs or the outputs of a call: `{x, w}`, or any range of them that lies in one piece. A view: the call makes no copy.
template <class T>
class Arguments {
 public:
  Arguments() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  Arguments(std::initializer_list<T> list) { all_ = {list.begin(), list.size()}; }  // which lives until the call has returned
  Arguments(std::span<const T> all) : all_(all) {}
  Arguments(const std::vector<T>& all) : all_(all) {}
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  const T& operator[](std::size_t i) const { return all_[i]; }

 private:
  std::span<const T> all_;
};

/// How a module's kernel is launched. Its parameters are the inputs' addresses, then the outputs', then the scalars, then the TMA
/// descriptors of tensors (`A_tma_desc`), which are made from the tiles.
struct CompileOptions {
  cuda::Dim3 grid{};     ///< blocks
  cuda::Dim3 block{};    ///< threads
  cuda::Dim3 cluster{};  ///< blocks
  std::uint32_t dynamic_smem_bytes = 0;
  bool cooperative = false;               ///< all blocks are resident at once
  bool programmatic = false;              ///< programmatic dependent launch (launch::Geometry)
  std::uint32_t outputs = 1;              ///< how many of the pointers the kernel writes: the last ones
  std::vector<launch::Scalar> scalars{};  ///< values of the parameters behind the pointers
  std::vector<Tile> tiles{};              ///< of the tensors, inputs first: a run checks sizes against them; empty: it does not
};

/// A checked kernel with its launch. A value: copies share everything.
class Compiled {
 public:
  explicit Compiled(std::shared_ptr<const launch::KernelImage> image, std::vector<Tile> tiles = {},
                    std::vector<Type> scalars = {})
      : image_(std::move(image)), tiles_(std::move(tiles)), scalars_(std::move(scalars)) {}

  [[nodiscard]] const std::string& ptx() const { return image_->text(); }
  [[nodiscard]] const launch::KernelImage& image() const { return *image_; }

  /// The same kernel with other values of its scalars, all of them; it shares what was compiled and loaded. Kinds:
  /// argument_count, and launch_config for a value that the parameter's type does not take.
  [[nodiscard]] Expected<Compiled> with_scalars(const std::vector<launch::Scalar>& values) const;

  /// Runs on `place`. Kinds: argument_count, argument_device (host memory on a GPU or the reverse), argument_dim (another size
  /// than the tile's), and those of KernelImage::launch. On a GPU it takes no memory from the heap after the first call there.
  [[nodiscard]] Expected<void> run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs) const;

  /// The bytes of a .global or .const variable of the module, as runs on the CPU read and leave them (KernelImage::variable).
  [[nodiscard]] Expected<std::span<std::byte>> variable(std::string_view name) const { return image_->variable(name); }

  /// Writes it to a file that ptx::load reads, with machine code for the targets ("sm_90a"); nothing: for its own target. Gives
  /// what the compiler warned of. Errors: those of launch::save.
  [[nodiscard]] Expected<Diagnostics> save(const std::string& path,
                                           std::optional<std::vector<std::string>> targets = std::nullopt) const;

 private:
  std::shared_ptr<const launch::KernelImage> image_;
  std::vector<Tile> tiles_;
  std::vector<Type> scalars_;
};

/// Checks a module with one kernel and prints it. Kinds: those of check::accept and LaunchSpec::make; unknown_kernel (no kernel,
/// or several).
[[nodiscard]] Expected<Compiled> compile(ir::Module module, const CompileOptions& options);

/// Checks PTX text and makes a launch of its kernel `entry`; with an empty name, of the only one. Kinds: syntax and the like,
/// with the text's own lines, and those of `compile`.
[[nodiscard]] Expected<Compiled> from_ptx(std::string_view text, std::string_view entry, const CompileOptions& options);

/// A kernel that `Compiled::save` or Python's `Kernel.save` wrote. It runs on GPUs from the machine code in the file, on others
/// that its text allows from the text, and on the CPU. Errors: those of launch::load_saved.
[[nodiscard]] Expected<Compiled> load(const std::string& path);

/// The same for a kernel that knows its tensors and its launch: a ptx::Kernel. `scalars` are the values of its raw parameters.
template <class K>
  requires requires(K& kernel) {
    { kernel.module() } -> std::same_as<Expected<ir::Module>>;
    kernel.boundary();
  }
[[nodiscard]] Expected<Compiled> compile(
    K kernel, std::vector<launch::Scalar> scalars = {}) {  // NOLINT(performance-unnecessary-value-param): moved on
  auto module = kernel.module();
  if (!module) return Unexpected{std::move(module).error()};
  const auto& boundary = kernel.boundary();
  const auto dim3 = [](const auto& sizes) { return cuda::Dim3{sizes[0], sizes[1], sizes[2]}; };
  std::vector<Tile> tiles = boundary.in_tiles;
  tiles.insert(tiles.end(), boundary.out_tiles.begin(), boundary.out_tiles.end());
  return compile(std::move(*module), {.grid = dim3(boundary.grid),
                                      .block = dim3(boundary.block),
                                      .cluster = dim3(boundary.cluster),
                                      .dynamic_smem_bytes = boundary.smem,
                                      .cooperative = boundary.cooperative,
                                      .programmatic = boundary.programmatic,
                                      .outputs = static_cast<std::uint32_t>(boundary.out_tiles.size()),
                                      .scalars = std::move(scalars),
                                      .tiles = std::move(tiles)});
}

}  // namespace ptx

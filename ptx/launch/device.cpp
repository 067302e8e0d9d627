#include "ptx/launch/device.hpp"

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "ptx/launch/content.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/params.hpp"
#include "ptx/launch/ready.hpp"

namespace ptx::launch {
namespace {

cuda::Dim3 dim3(const Dims& dims) { return {dims[0], dims[1], dims[2]}; }

cuda::LaunchConfig config_of(const Geometry& geometry) {
  cuda::LaunchConfig config{.grid = dim3(geometry.grid),
                            .block = dim3(geometry.block),
                            .cluster = dim3(geometry.cluster),
                            .dynamic_smem_bytes = geometry.dynamic_smem_bytes,
                            .non_portable_cluster = true};
  static_assert(launch_attributes.size() <= cuda::LaunchConfig::max_flags);
  for (const LaunchAttribute& row : launch_attributes)
    if (geometry.attributes.*row.value) config.flags |= cuda::flag(cuda::api::LaunchAttributeId{row.number});
  return config;
}

/// The kernel of the last launch, by any thread: an error that a kernel causes is reported by a later call.
std::atomic<const char*> last_launched{nullptr};

/// An error of a launch, with the kernels that may have caused it.
Diagnostic failed_launch(const LaunchSpec& spec, Diagnostic error) {
  error.note(cat("launching kernel `", spec.entry, '`'));
  if (const char* last = last_launched.load(std::memory_order_relaxed)) {
    error.note(cat("launched by pyptx before it: kernel `", last, "`; with PYPTX_SYNC=1 each launch reports its own errors"));
  }
  return error;
}

/// Waits for what was launched on the stream.
Expected<void> wait_for(const LaunchSpec& spec, const ReadyKernel& ready, cuda::api::Stream stream) {
  auto status = cuda::api::CaptureStatus::none;
  if (ready.driver.call.stream_is_capturing(stream, &status) != cuda::api::Result::success ||
      status != cuda::api::CaptureStatus::none)
    return {};  // nothing runs yet
  auto done = cuda::checked(ready.driver, ready.driver.call.stream_synchronize(stream), "cuStreamSynchronize");
  if (done) return {};
  Diagnostic error = std::move(done).error();
  error.message = cat("kernel `", spec.entry, "` failed: ", error.message);
  return Unexpected{std::move(error)};
}

}  // namespace

// -- what is ready
// --------------------------------------------------------------------------------------------------------------------

SharedCode::~SharedCode() {
  if (is_captured()) return;
  for (auto& kernel : code_.release()) cuda::retire(std::move(kernel));
}

Expected<cuda::LoadedKernel*> SharedCode::on(const cuda::Device& gpu, const DeviceCode::Image& image,
                                             const std::function<CompilerText()>& text, Diagnostics& warnings) {
  const std::lock_guard lock(mutex_);
  auto loaded = code_.on(gpu, image, text);
  for (Diagnostic& warning : code_.take_warnings()) warnings.push_back(std::move(warning));
  return loaded;
}

Expected<cuda::LoadedKernel*> DeviceSide::code_on(const cuda::Device& gpu, const LaunchSpec& spec,
                                                  const std::function<CompilerText()>& text) {
  std::vector<std::size_t> param_bytes;
  for (const Param& param : spec.params) param_bytes.push_back(param.size_bytes);
  const Dims& cluster = spec.geometry.cluster;
  const DeviceCode::Image image{.entry = spec.entry,
                                .dynamic_smem_bytes = spec.geometry.dynamic_smem_bytes,
                                .non_portable_cluster = std::uint64_t{cluster[0]} * cluster[1] * cluster[2] > 8,
                                .param_bytes = std::move(param_bytes)};
  auto loaded = code_->on(gpu, image, text, warnings_);
  warned_.store(!warnings_.empty(), std::memory_order_release);
  return loaded;
}

Expected<const ReadyKernel*> DeviceSide::load(int ordinal, const LaunchSpec& spec, const std::function<CompilerText()>& text) {
  auto device = cuda::device(ordinal);
  if (!device) return Unexpected{std::move(device).error()};
  const cuda::Device& gpu = **device;
  auto context = gpu.context();
  if (!context) return Unexpected{std::move(context).error()};
  (void)cuda::collect_retired();

  const std::lock_guard lock(mutex_);
  std::atomic<const ReadyKernel*>& slot = ready_[static_cast<std::size_t>(ordinal)];
  if (const ReadyKernel* known = slot.load(std::memory_order_acquire)) return known;
  auto loaded = code_on(gpu, spec, text);
  if (!loaded) return Unexpected{std::move(loaded).error()};
  auto function = (*loaded)->prepare(gpu);
  if (!function) return Unexpected{std::move(function).error()};
  auto facts = (*loaded)->facts(gpu);
  if (!facts) return Unexpected{std::move(facts).error()};
  const auto refused = [&](Diagnostic error) {
    error.message = cat("kernel `", spec.entry, "`: ", error.message);
    return Unexpected{std::move(error)};
  };
  auto packed = cuda::LaunchTemplate::make(config_of(spec.geometry), gpu, &*facts);
  if (!packed) return refused(std::move(packed).error());
  if (spec.geometry.cluster != Dims{1, 1, 1}) {
    auto fits = cuda::in_context(gpu, [&] { return cuda::check_cluster_fits(gpu.driver(), *function, *packed); });
    if (!fits) return refused(std::move(fits).error());
  }
  if (!spec.tensor_maps.empty()) {
    if (auto room = gpu.tensor_maps().reserve(); !room) return Unexpected{std::move(room).error()};
  }
  kernels_.push_back(std::unique_ptr<const ReadyKernel>(
      new ReadyKernel{gpu.driver(), *context, *function, *packed, DeviceDescriptors(gpu, spec.tensor_maps.size())}));
  slot.store(kernels_.back().get(), std::memory_order_release);
  return kernels_.back().get();
}

Diagnostics DeviceSide::take_warnings() {
  if (!warned_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  warned_.store(false, std::memory_order_relaxed);
  return std::exchange(warnings_, {});
}

// -- an image on a GPU
// --------------------------------------------------------------------------------------------------------------------

bool KernelImage::synchronous() noexcept {
  static const bool is = [] {
    const char* value = std::getenv("PYPTX_SYNC");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return is;
}

bool KernelImage::prepared(int ordinal) const noexcept { return device_->ready(ordinal) != nullptr; }
Diagnostics KernelImage::take_load_warnings() const { return device_->take_warnings(); }
std::vector<cuda::Cubin> KernelImage::ready_cubins() const { return content_->code->cubins(); }

std::vector<SourceLocation> KernelImage::places() const {
  if (!content_->accepted) return {};
  return places_of(content_->accepted->module(), *content_->listing);
}

CompilerText KernelImage::compiler_text() const {
  return content_->accepted ? CompilerText::of(*content_->accepted) : CompilerText{.text = text()};
}

Expected<const ReadyKernel*> KernelImage::load(int ordinal) const {
  return device_->load(ordinal, spec_, [this] { return compiler_text(); });
}

Expected<void> KernelImage::prepare(int ordinal) const {
  if (prepared(ordinal)) return {};
  auto ready = load(ordinal);
  if (!ready) return Unexpected{std::move(ready).error()};
  return {};
}

Expected<void> KernelImage::launch(const Cuda& gpu, std::span<void* const> pointers, Scalars scalars) const {
  const ReadyKernel* ready = device_->ready(gpu.ordinal);
  if (ready == nullptr) [[unlikely]] {
    auto loaded = load(gpu.ordinal);
    if (!loaded) return Unexpected{std::move(loaded).error()};
    ready = *loaded;
  }
  const bool counted = pointers.size() == std::size_t{spec_.inputs} + spec_.outputs && scalars.empty();
  if (!counted) [[unlikely]]
    if (auto ok = check_count(pointers.size(), scalars); !ok) return ok;
  if (!content_->alignments.empty())
    if (auto ok = check_alignments(pointers); !ok) return ok;
  if (ready->driver.forked()) [[unlikely]]
    return ready->driver.check_process();

  const cuda::ContextGuard guard(ready->driver, ready->context);
  if (!guard.ok()) [[unlikely]]
    return guard.entered();

  device_->note_capture(*ready, gpu.stream);
  if (!passes_values_) [[likely]]
    return launch_with(*ready, gpu, pointers, scalars, nullptr);
  alignas(cuda::api::TensorMapBytes) std::byte room[max_descriptor_values * sizeof(cuda::api::TensorMapBytes)];  // not cleared
  return launch_with(*ready, gpu, pointers, scalars, reinterpret_cast<cuda::api::TensorMapBytes*>(room));
}

inline Expected<void> KernelImage::launch_with(const ReadyKernel& ready, const Cuda& gpu, std::span<void* const> pointers,
                                               Scalars scalars, cuda::api::TensorMapBytes* values_room) const {
  std::optional<Diagnostic> failure;
  const auto failed = [&](const Param& param, Diagnostic error) -> void* {
    error.message = cat("the TMA descriptor of tensor `", content_->tensor_names[param.arg], "` of kernel `", spec_.entry,
                        "`: ", error.message);
    failure = std::move(error);
    return nullptr;
  };
  const auto descriptor = [&](const Param& param, void* data) -> void* {
    const auto tensor = reinterpret_cast<cuda::api::DeviceAddr>(data);
    const layout::TensorMap& map = spec_.tensor_maps[param.bits];
    if (param.kind == Param::Kind::tensor_map_value) {
      cuda::api::TensorMapBytes& bytes = *std::construct_at(values_room++);
      auto written = ready.descriptors.write(param.bits, map, tensor, bytes);
      return written ? &bytes : failed(param, std::move(written).error());
    }
    const cuda::api::DeviceAddr* placed = ready.descriptors.recent(param.bits, tensor);
    if (placed == nullptr) [[unlikely]] {
      auto made = ready.descriptors.place(param.bits, map, tensor);
      if (!made) return failed(param, std::move(made).error());
      placed = *made;
    }
    return const_cast<cuda::api::DeviceAddr*>(placed);
  };
  // cuLaunchKernelEx takes the address of each value and copies it before it returns.
  void* values[max_params];
  if (!gather_params(spec_, pointers, scalars, values, descriptor)) [[unlikely]]
    return Unexpected{std::move(*failure)};
  auto launched = cuda::launch(ready.driver, ready.function, ready.launch, gpu.stream, values);
  if (!launched) [[unlikely]]
    return Unexpected{failed_launch(spec_, std::move(launched).error())};
  last_launched.store(content_->name, std::memory_order_relaxed);
  if (synchronous()) [[unlikely]]
    return wait_for(spec_, ready, gpu.stream);
  return {};
}

}  // namespace ptx::launch

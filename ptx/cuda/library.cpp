#include "ptx/cuda/library.hpp"

#include <string_view>

#include "ptx/cuda/ptxas_log.hpp"

namespace ptx::cuda {
namespace {

// Without opting in, static and dynamic shared memory together get this much.
constexpr std::uint32_t default_smem_bytes = 48 * 1024;

ImageKind kind_of(std::string_view image) {
  return image.starts_with(
             "\x7f"
             "ELF")
             ? ImageKind::cubin
             : ImageKind::text;
}

bool is_capture_error(api::Result result) {
  const auto number = static_cast<std::uint32_t>(result);
  return number >= 900 && number <= 908;
}

bool is_compile_error(api::Result result) {
  using enum api::Result;
  return result == invalid_ptx || result == unsupported_ptx_version || result == no_binary_for_gpu || result == invalid_image ||
         result == jit_compiler_not_found || result == jit_compilation_disabled;
}

}  // namespace

// The driver compiles a text when a function of it is first asked for, and then writes into these buffers and sizes: they must
// outlive the library.
struct LoadedKernel::JitLog {
  std::array<char, 16384> errors{};
  std::array<char, 4096> info{};
  std::array<api::JitOption, 5> options{api::JitOption::error_log_buffer, api::JitOption::error_log_buffer_size_bytes,
                                        api::JitOption::info_log_buffer, api::JitOption::info_log_buffer_size_bytes,
                                        api::JitOption::generate_line_info};
  // Numbers are passed in the pointer itself; sizes one byte less than there is, so that the text always ends.
  std::array<void*, 5> values{errors.data(), reinterpret_cast<void*>(errors.size() - 1), info.data(),
                              reinterpret_cast<void*>(info.size() - 1), reinterpret_cast<void*>(std::uintptr_t{1})};

  /// Keeps a log whose library stays loaded after its LoadedKernel.
  static void keep(std::unique_ptr<JitLog> log) {
    static std::mutex mutex;
    static auto& kept = *new std::vector<std::unique_ptr<JitLog>>;  // never destroyed: the driver may outlive our statics
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(log));
  }
};

LoadedKernel::LoadedKernel(const Driver& driver, KernelSource source, Target target, ImageKind kind)
    : driver_(driver), source_(std::move(source)), target_(target), kind_(kind) {}

LoadedKernel::~LoadedKernel() {
  if (jit_log_ != nullptr && library_ != nullptr) JitLog::keep(std::move(jit_log_));
}

Expected<std::unique_ptr<LoadedKernel>> LoadedKernel::make(const Driver& driver, KernelSource source) {
  const ImageKind kind = kind_of(source.image);
  auto target = kind == ImageKind::text ? target_of(source.image) : parse_target(source.target);
  if (!target) return Unexpected{std::move(target).error()};
  return std::unique_ptr<LoadedKernel>(new LoadedKernel(driver, std::move(source), *target, kind));
}

Expected<api::Function> LoadedKernel::function(const Device& device, api::Stream stream) {
  if (const api::Function ready = loaded(device.ordinal()); ready != nullptr) [[likely]]
    return ready;
  return in_context(device, [&]() -> Expected<api::Function> {
    auto status = api::CaptureStatus::none;
    const api::Result result = driver_.call.stream_is_capturing(stream, &status);
    if (is_capture_error(result) || status != api::CaptureStatus::none) return Unexpected{unprepared(device.ordinal())};
    if (auto ok = checked(driver_, result, "cuStreamIsCapturing"); !ok) return Unexpected{std::move(ok).error()};
    return prepare(device);
  });
}

Expected<api::Function> LoadedKernel::prepare(const Device& device) {
  if (const api::Function ready = loaded(device.ordinal()); ready != nullptr) return ready;
  if (auto fits = check_target(target_, device, kind_); !fits) return Unexpected{std::move(fits).error()};
  if (const std::uint32_t limit = device.limits().max_smem_bytes; source_.dynamic_smem_bytes > limit) {
    return Unexpected{{.kind = Kind::launch_config,
                       .message = cat("kernel `", source_.entry, "` needs ", source_.dynamic_smem_bytes,
                                      " bytes of dynamic shared memory; a block on GPU ", device.ordinal(), " (", device.name(),
                                      ") has at most ", limit)}};
  }
  return in_context(device, [&]() -> Expected<api::Function> {
    const std::lock_guard lock(mutex_);
    if (const api::Function ready = loaded(device.ordinal()); ready != nullptr) return ready;
    auto function = load_on(device);
    if (function) functions_[static_cast<std::size_t>(device.ordinal())].store(*function, std::memory_order_release);
    return function;
  });
}

Expected<void> LoadedKernel::load_library() {
  if (library_ != nullptr) return {};
  unsigned options = 0;
  if (kind_ == ImageKind::text) {
    jit_log_ = std::make_unique<JitLog>();
    options = static_cast<unsigned>(jit_log_->options.size());
  }
  api::Library library = nullptr;
  const api::Result result =
      driver_.call.library_load_data(&library, source_.image.c_str(), options != 0 ? jit_log_->options.data() : nullptr,
                                     options != 0 ? jit_log_->values.data() : nullptr, options, nullptr, nullptr, 0);
  if (result != api::Result::success) return Unexpected{load_failed(result, "cuLibraryLoadData", -1)};
  library_ = library;
  return {};
}

Expected<api::Function> LoadedKernel::load_on(const Device& device) {
  const int ordinal = device.ordinal();
  if (auto ok = load_library(); !ok) return Unexpected{std::move(ok).error()};
  if (kernel_ == nullptr) {
    const api::Result result = driver_.call.library_get_kernel(&kernel_, library_, source_.entry.c_str());
    if (result == api::Result::not_found) {
      return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("the code has no kernel `", source_.entry, '`')}};
    }
    if (result != api::Result::success) return Unexpected{load_failed(result, "cuLibraryGetKernel", ordinal)};
  }
  if (jit_log_ != nullptr) jit_log_->errors[0] = '\0';  // what another GPU's compile said is not about this one
  api::Function function = nullptr;
  if (const api::Result result = driver_.call.kernel_get_function(&function, kernel_); result != api::Result::success) {
    return Unexpected{load_failed(result, "cuKernelGetFunction", ordinal)};
  }
  // Lazy loading would otherwise put the rest of the work, and its errors, into the first launch.
  if (driver_.call.func_load != nullptr) {
    if (const api::Result result = driver_.call.func_load(function); result != api::Result::success) {
      return Unexpected{load_failed(result, "cuFuncLoad", ordinal)};
    }
  }
  if (auto same = check_params(); !same) return Unexpected{std::move(same).error()};

  int static_smem = 0;
  if (auto ok =
          checked(driver_, driver_.call.func_get_attribute(&static_smem, api::FunctionAttribute::shared_size_bytes, function),
                  "cuFuncGetAttribute");
      !ok) {
    return Unexpected{std::move(ok).error()};
  }
  const std::uint32_t smem = static_cast<std::uint32_t>(static_smem) + source_.dynamic_smem_bytes;
  if (const std::uint32_t limit = device.limits().max_smem_bytes; smem > limit) {
    return Unexpected{{.kind = Kind::launch_config,
                       .message = cat("kernel `", source_.entry, "` needs ", smem, " bytes of shared memory (", static_smem,
                                      " static, ", source_.dynamic_smem_bytes, " dynamic); a block on GPU ", ordinal, " (",
                                      device.name(), ") has at most ", limit)}};
  }
  // Set on the function, not the kernel: the function's setting wins in any order, and the function is what we launch.
  const auto set = [&](api::FunctionAttribute attribute, std::uint32_t value) {
    return checked(driver_, driver_.call.func_set_attribute(function, attribute, static_cast<int>(value)), "cuFuncSetAttribute");
  };
  if (smem > default_smem_bytes) {
    auto ok = set(api::FunctionAttribute::max_dynamic_shared_size_bytes, source_.dynamic_smem_bytes);
    if (!ok) return Unexpected{std::move(ok).error()};
  }
  if (source_.non_portable_cluster) {
    auto ok = set(api::FunctionAttribute::non_portable_cluster_size_allowed, 1);
    if (!ok) return Unexpected{std::move(ok).error()};
  }
  return function;
}

Expected<void> LoadedKernel::check_params() const {
  // A driver before 12.4 cannot be asked.
  if (!source_.params || driver_.call.kernel_get_param_info == nullptr) return {};
  const std::vector<ParamSlot>& packed = *source_.params;
  for (std::size_t i = 0;; ++i) {
    ParamSlot has;
    const bool there = driver_.call.kernel_get_param_info(kernel_, i, &has.offset, &has.size) == api::Result::success;
    if (there != (i < packed.size())) {
      std::size_t count = i;
      while (there && driver_.call.kernel_get_param_info(kernel_, count, &has.offset, &has.size) == api::Result::success) ++count;
      return Unexpected{{.kind = Kind::param_layout,
                         .message = cat("kernel `", source_.entry, "` takes ", count, count == 1 ? " parameter" : " parameters",
                                        "; the launch packs ", packed.size())}};
    }
    if (!there) return {};
    if (has != packed[i]) {
      return Unexpected{
          {.kind = Kind::param_layout,
           .message = cat("parameter ", i, " of kernel `", source_.entry, "` is ", has.size, " bytes at offset ", has.offset,
                          " in the compiled code; the launch packs ", packed[i].size, " bytes at offset ", packed[i].offset)}};
    }
  }
}

Expected<FunctionFacts> LoadedKernel::facts(const Device& device) {
  auto function = prepare(device);
  if (!function) return Unexpected{std::move(function).error()};
  return in_context(device, [&]() -> Expected<FunctionFacts> {
    api::Result failed = api::Result::success;
    const auto read = [&](api::FunctionAttribute attribute) {
      int value = 0;
      const api::Result result = driver_.call.func_get_attribute(&value, attribute, *function);
      if (result != api::Result::success) failed = result;
      return static_cast<std::uint32_t>(value);
    };
    const FunctionFacts facts{.max_threads_per_block = read(api::FunctionAttribute::max_threads_per_block),
                              .static_smem_bytes = read(api::FunctionAttribute::shared_size_bytes),
                              .local_bytes = read(api::FunctionAttribute::local_size_bytes),
                              .registers = read(api::FunctionAttribute::num_regs)};
    if (failed != api::Result::success) return Unexpected{driver_error(driver_, failed, "cuFuncGetAttribute")};
    return facts;
  });
}

Expected<void> LoadedKernel::unload() {
  if (auto usable = driver_.check_process(); !usable) return usable;
  const std::lock_guard lock(mutex_);
  if (library_ == nullptr) return {};
  if (auto ok = checked(driver_, driver_.call.library_unload(library_), "cuLibraryUnload"); !ok) return ok;
  for (auto& function : functions_) function.store(nullptr, std::memory_order_release);
  library_ = nullptr;
  kernel_ = nullptr;
  jit_log_.reset();
  return {};
}

Diagnostic LoadedKernel::unprepared(int ordinal) const {
  return Diagnostic{.kind = Kind::capture_unprepared,
                    .message = cat("kernel `", source_.entry, "` is not loaded on GPU ", ordinal,
                                   ", and code cannot be loaded while a stream is being captured into a CUDA graph")}
      .note("hint: call `kernel.prepare(device)`, or the kernel itself once, before the capture begins");
}

Diagnostic LoadedKernel::load_failed(api::Result result, std::string_view symbol, int ordinal) const {
  if (is_capture_error(result)) return unprepared(ordinal);
  if (!is_compile_error(result)) {
    Diagnostic error = driver_error(driver_, result, symbol);
    error.message = cat("kernel `", source_.entry, "` cannot be loaded: ", error.message);
    return error;
  }
  if (kind_ == ImageKind::text && jit_log_ != nullptr && jit_log_->errors[0] != '\0') {
    const std::string_view log = jit_log_->errors.data();
    Diagnostic error = compile_error("the driver's compiler", log, source_.image, {});
    return std::move(error).note(describe(driver_, result));
  }
  Diagnostic error = driver_error(driver_, result, symbol, Kind::compile_error);
  error.message = cat("kernel `", source_.entry, "` (`", to_string(target_), "`) cannot be loaded: ", error.message);
  return error;
}

}  // namespace ptx::cuda

#include "ptx/cuda/library.hpp"

#include <charconv>
#include <string_view>

#include "ptx/cuda/compile.hpp"
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

Diagnostic unprepared(std::string_view entry, int ordinal) {
  return Diagnostic{.kind = Kind::capture_unprepared,
                    .message = cat("kernel `", entry, "` is not loaded on GPU ", ordinal,
                                   ", and code cannot be loaded while a stream is being captured into a CUDA graph")}
      .hint("call `kernel.prepare(device)`, or the kernel itself once, before the capture begins");
}

/// "9.0": what stands behind the text's `.version`.
std::string_view version_of_text(std::string_view text) {
  constexpr std::string_view directive = ".version";
  std::size_t begin = text.find(directive);
  if (begin == std::string_view::npos) return {};
  begin = text.find_first_not_of(" \t", begin + directive.size());
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
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

Expected<api::Function> LoadedKernel::prepare(const Device& device) {
  if (const api::Function ready = loaded(device.ordinal()); ready != nullptr) return ready;
  if (auto fits = check_target(target_, device, kind_, source_.entry); !fits) return Unexpected{std::move(fits).error()};
  if (const std::uint32_t limit = device.limits().max_smem_bytes; source_.dynamic_smem_bytes > limit) {
    return Unexpected{{.kind = Kind::launch_config,
                       .message = cat("kernel `", source_.entry, "` needs ", source_.dynamic_smem_bytes,
                                      " bytes of dynamic shared memory; a block on GPU ", device.ordinal(), " (", device.name(),
                                      ") has at most ", limit)}};
  }
  return in_context(device, [&]() -> Expected<api::Function> {
    const std::lock_guard lock(mutex_);
    const OutsideOfCaptures outside(driver_);
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
  if (!source_.param_bytes || driver_.call.kernel_get_param_info == nullptr) return {};
  const std::vector<std::size_t>& packed = *source_.param_bytes;
  for (std::size_t i = 0;; ++i) {
    std::size_t offset = 0, bytes = 0;
    const bool there = driver_.call.kernel_get_param_info(kernel_, i, &offset, &bytes) == api::Result::success;
    if (there != (i < packed.size())) {
      std::size_t count = i;
      while (there && driver_.call.kernel_get_param_info(kernel_, count, &offset, &bytes) == api::Result::success) ++count;
      return Unexpected{{.kind = Kind::param_layout,
                         .message = cat("kernel `", source_.entry, "` takes ", count, count == 1 ? " parameter" : " parameters",
                                        "; the launch packs ", packed.size())}};
    }
    if (!there) return {};
    if (bytes != packed[i]) {
      return Unexpected{{.kind = Kind::param_layout,
                         .message = cat("parameter ", i, " of kernel `", source_.entry, "` is ", bytes,
                                        " bytes in the compiled code; the launch packs ", packed[i])}};
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
  const OutsideOfCaptures outside(driver_);
  if (auto ok = checked(driver_, driver_.call.library_unload(library_), "cuLibraryUnload"); !ok) return ok;
  for (auto& function : functions_) function.store(nullptr, std::memory_order_release);
  library_ = nullptr;
  kernel_ = nullptr;
  jit_log_.reset();
  return {};
}

Diagnostic LoadedKernel::version_unknown(api::Result result) const {
  const std::string_view version = version_of_text(source_.image);
  const std::size_t dot = version.find('.');
  int major = 0, minor = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (dot != std::string_view::npos) std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  const std::string cuda = cuda_of_ptx(major, minor);
  Diagnostic error{.kind = Kind::compile_error,
                   .message = cat("kernel `", source_.entry, "` cannot be loaded: PTX .version ", version, " needs ",
                                  cuda.empty() ? "a newer driver" : cat("the driver of CUDA ", cuda), " (this one is of CUDA ",
                                  driver_.version() / 1000, '.', driver_.version() % 1000 / 10, ')')};
  if (source_.no_cubin) {
    const bool none = source_.no_cubin->kind == Kind::no_tool;
    error.message += none ? " and no ptxas was found" : " and ptxas did not compile it";
    if (!none) error.note(source_.no_cubin->message);
  }
  error.note(describe(driver_, result));
  return std::move(error).hint("`pip install pyptx[tools]` brings a ptxas whose code the driver takes as it is");
}

Diagnostic LoadedKernel::load_failed(api::Result result, std::string_view symbol, int ordinal) const {
  if (is_capture_error(result)) return unprepared(source_.entry, ordinal);
  if (!is_compile_error(result)) {
    Diagnostic error = driver_error(driver_, result, symbol);
    error.message = cat("kernel `", source_.entry, "` cannot be loaded: ", error.message);
    return error;
  }
  if (kind_ == ImageKind::text && result == api::Result::unsupported_ptx_version) return version_unknown(result);
  if (kind_ == ImageKind::text && jit_log_ != nullptr && jit_log_->errors[0] != '\0') {
    const std::string_view log = jit_log_->errors.data();
    Diagnostic error = compile_error("the driver's compiler", log, source_.image, {});
    return std::move(error).note(describe(driver_, result));
  }
  Diagnostic error = driver_error(driver_, result, symbol, Kind::compile_error);
  error.message = cat("kernel `", source_.entry, "` (`", to_string(target_), "`) cannot be loaded: ", error.message);
  return error;
}

namespace {
struct Retired {
  std::mutex mutex;
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
};
Retired& retired() {
  static Retired& all = *new Retired;  // never destroyed: kernels may be retired while the process ends
  return all;
}
}  // namespace

void retire(std::unique_ptr<LoadedKernel> kernel) noexcept {
  if (kernel == nullptr) return;
  Retired& all = retired();
  const std::lock_guard lock(all.mutex);
  all.kernels.push_back(std::move(kernel));
}

std::size_t collect_retired() {
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  {
    Retired& all = retired();
    const std::lock_guard lock(all.mutex);
    kernels.swap(all.kernels);
  }
  // What cannot be unloaded, in a child after a fork or on a GPU that has failed, stays loaded as long as the process.
  for (const std::unique_ptr<LoadedKernel>& kernel : kernels) (void)kernel->unload();
  return kernels.size();
}

}  // namespace ptx::cuda

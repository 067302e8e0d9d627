#include "ptx/cuda/driver.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <mutex>

#include "ptx/cuda/device.hpp"

namespace ptx::cuda {
namespace {

constexpr std::string_view cpu_still_works = "CPU tensors still work through the executor";

// Counts the forks that led to this process. A pid would do as well, but asking for it is a system call on each check.
std::atomic<std::uint64_t> fork_generation{0};

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1); });
  (void)registered;
}

std::string version_text(int version) { return cat(version / 1000, '.', version % 1000 / 10); }

std::string_view advice(api::Result result) {
  using enum api::Result;
  switch (result) {
    case out_of_memory:
      return "another process or an allocator's cache may hold the GPU's memory; `nvidia-smi` tells";
    case stub_library:
      return "this libcuda is a toolkit's link-time stub: take its `stubs` folder out of LD_LIBRARY_PATH";
    case device_unavailable:
      return "another process holds the GPU for itself (compute mode exclusive), or it must be reset";
    case no_device:
      return "check `nvidia-smi` and CUDA_VISIBLE_DEVICES";
    case invalid_image:
      return "the image is neither PTX text nor a cubin";
    case no_binary_for_gpu:
      return "the code is for another GPU: see its `.target`";
    case jit_compiler_not_found:
      return "the driver's PTX compiler (libnvidia-ptxjitcompiler) is not installed; with ptxas it is not needed";
    case unsupported_ptx_version:
      return "a newer driver takes this PTX, or a ptxas of the driver's own CUDA major version compiles it ahead";
    case jit_compilation_disabled:
      return "CUDA_DISABLE_PTX_JIT is set; with ptxas the driver's compiler is not needed";
    case launch_out_of_resources:
      return "registers or threads of one block exceed what a multiprocessor has: fewer threads, or `.maxntid`";
    case cooperative_launch_too_large:
      return "a cooperative grid must fit on the GPU at once";
    case not_permitted:
      return "the operation is not allowed here, for instance during stream capture";
    case system_not_ready:
      return "the fabric manager of this machine's NVSwitch is not running yet";
    case system_driver_mismatch:
      return "libcuda and the kernel module are of different versions: reboot, or install them again";
    case compat_not_supported_on_device:
      return "forward-compatibility libraries run on data-center GPUs only";
    case invalid_cluster_size:
      return "at most 8 blocks a cluster are portable; more need the kernel's leave and the GPU's";
    case unknown:
      return "in a container, the GPU's device files may be missing or unreadable; `nvidia-smi` tells";
    default:
      return {};
  }
}

/// Looks all functions up; a function newer than CUDA 12.0 may be missing.
Expected<void> fill(api::Functions& call, api::GetProcAddress get_proc_address, const std::string& path) {
  struct Entry {
    const char* symbol;
    int version;
    void** slot;
  };
  const Entry entries[] = {
#define PTX_CUDA_FUNCTION(member, symbol, version, parameters) {symbol, version, reinterpret_cast<void**>(&call.member)},
#include "ptx/cuda/driver_functions.def"
#undef PTX_CUDA_FUNCTION
  };
  for (const Entry& entry : entries) {
    auto status = api::ProcAddressStatus::symbol_not_found;
    void* function = nullptr;
    const api::Result result = get_proc_address(entry.symbol, &function, entry.version, api::legacy_stream_symbols, &status);
    const bool found = result == api::Result::success && status == api::ProcAddressStatus::success && function != nullptr;
    if (found) {
      *entry.slot = function;
    } else if (entry.version <= 12000) {
      return Unexpected{Diagnostic{.kind = Kind::no_driver,
                                   .message = cat("the CUDA driver (", path, ") has no `", entry.symbol, "` of CUDA ",
                                                  version_text(entry.version), "; ", cpu_still_works)}
                            .hint("a driver of CUDA 12.0 or later is needed")};
    }
  }
  return {};
}

}  // namespace

struct Driver::Devices {
  std::mutex mutex;
  std::array<std::unique_ptr<const Device>, max_devices> slots;
};

Driver::Driver() : devices_(std::make_unique<Devices>()) {}
Driver::~Driver() = default;

Expected<std::unique_ptr<const Driver>> Driver::load(const std::string& path) {
  watch_forks();
  // The library stays open for good: its threads and exit handlers do not survive dlclose.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Unexpected{
        {.kind = Kind::no_driver,
         .message = cat("CUDA driver not found (", reason != nullptr ? reason : path.c_str(), "); ", cpu_still_works)}};
  }
  const auto get_proc_address = reinterpret_cast<api::GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get_proc_address == nullptr) {
    return Unexpected{Diagnostic{.kind = Kind::no_driver,
                                 .message = cat("the CUDA driver (", path, ") has no `cuGetProcAddress_v2`; ", cpu_still_works)}
                          .hint("a driver of CUDA 12.0 or later is needed")};
  }
  std::unique_ptr<Driver> driver(new Driver);
  if (auto filled = fill(driver->call, get_proc_address, path); !filled) return Unexpected{std::move(filled).error()};
  driver->fork_generation_ = fork_generation.load();
  if (const api::Result result = driver->call.init(0); result != api::Result::success) {
    const Kind kind = result == api::Result::no_device ? Kind::no_device : Kind::no_driver;
    Diagnostic error = driver_error(*driver, result, "cuInit", kind);
    error.message = cat("the CUDA driver cannot start: ", error.message, "; ", cpu_still_works);
    return Unexpected{std::move(error)};
  }
  if (const api::Result result = driver->call.driver_get_version(&driver->version_); result != api::Result::success) {
    return Unexpected{driver_error(*driver, result, "cuDriverGetVersion", Kind::no_driver)};
  }
  return std::unique_ptr<const Driver>(std::move(driver));
}

bool Driver::forked() const noexcept { return fork_generation.load(std::memory_order_relaxed) != fork_generation_; }

Expected<void> Driver::check_process() const {
  if (!forked()) [[likely]]
    return {};
  return Unexpected{Diagnostic{.kind = Kind::no_driver,
                               .message = "CUDA was initialised before fork: its state does not exist in the child process"}
                        .hint("start the process with the `spawn` method, or use the GPU only after the fork")};
}

Expected<int> Driver::device_count() const {
  if (auto usable = check_process(); !usable) return Unexpected{std::move(usable).error()};
  int count = 0;
  if (auto ok = checked(*this, call.device_get_count(&count), "cuDeviceGetCount"); !ok) return Unexpected{std::move(ok).error()};
  return count;
}

Expected<const Device*> Driver::device(int ordinal) const {
  auto count = device_count();
  if (!count) return Unexpected{std::move(count).error()};
  if (ordinal < 0 || ordinal >= *count || ordinal >= max_devices) {
    Diagnostic error{.kind = Kind::no_device, .message = cat("there is no GPU ", ordinal)};
    if (*count == 0) {
      error.note("the driver shows no GPU to this process").note(std::string(advice(api::Result::no_device)));
    } else {
      error.note(cat("the driver shows ", *count, *count == 1 ? " GPU" : " GPUs", " to this process, numbered from 0"));
    }
    return Unexpected{std::move(error)};
  }
  const std::lock_guard lock(devices_->mutex);
  auto& slot = devices_->slots[static_cast<std::size_t>(ordinal)];
  if (slot == nullptr) {
    auto made = Device::open(*this, ordinal);
    if (!made) return Unexpected{std::move(made).error()};
    slot = std::move(*made);
  }
  return slot.get();
}

Expected<const Driver*> driver() {
  static const auto& loaded = *new Expected<std::unique_ptr<const Driver>>(Driver::load());
  if (!loaded) return Unexpected{loaded.error()};
  if (auto usable = (*loaded)->check_process(); !usable) return Unexpected{std::move(usable).error()};
  return loaded->get();
}

bool is_sticky(api::Result result) {
  using enum api::Result;
  switch (result) {
    case ecc_uncorrectable:
    case nvlink_uncorrectable:
    case contained:
    case illegal_address:
    case launch_timeout:
    case assert_failed:
    case hardware_stack_error:
    case illegal_instruction:
    case misaligned_address:
    case invalid_address_space:
    case invalid_pc:
    case launch_failed:
      return true;
    default:
      return false;
  }
}

std::string describe(const Driver& driver, api::Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  (void)driver.call.get_error_name(result, &name);
  (void)driver.call.get_error_string(result, &text);
  const auto number = static_cast<std::uint32_t>(result);
  return cat(name != nullptr ? name : "CUDA error", " (", number, ")", text != nullptr ? ": " : "", text != nullptr ? text : "");
}

Diagnostic driver_error(const Driver& driver, api::Result result, std::string_view symbol, Kind kind) {
  Diagnostic error{.kind = kind, .message = cat('`', symbol, "` failed: ", describe(driver, result))};
  if (is_sticky(result)) {
    error.note("a kernel that ran earlier in this process caused it; the GPU's context is lost, the process must start again");
    error.hint(
        "with CUDA_LAUNCH_BLOCKING=1 the launch that fails is the one that reports it; the executor (CPU tensors) "
        "names the instruction and the thread");
  } else if (result == api::Result::unsupported_ptx_version) {
    error.note(cat("the driver supports CUDA ", version_text(driver.version())));
  }
  if (const std::string_view hint = advice(result); !hint.empty()) error.hint(std::string(hint));
  return error;
}

}  // namespace ptx::cuda

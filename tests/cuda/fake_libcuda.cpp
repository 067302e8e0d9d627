#include "tests/cuda/fake_libcuda.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

namespace ptx::cuda::api {
namespace {

std::recursive_mutex state_mutex;
FakeCuda& state() {
  static auto& fake = *new FakeCuda;
  return fake;
}
thread_local std::vector<Context> context_stack;
thread_local CaptureMode capture_mode = CaptureMode::global;

struct LoadedImage {
  bool is_text = false;
  bool compiled = false;
  char* error_log = nullptr;
  std::size_t error_log_bytes = 0;
  void** values = nullptr;
};
std::map<Library, LoadedImage> libraries;
std::map<Kernel, std::pair<Library, std::string>> kernels;
std::map<Function, Kernel> functions;

template <class Handle>
Handle fresh(std::uintptr_t base) {
  static std::uintptr_t next = 0;
  return reinterpret_cast<Handle>(base + 16 * ++next);
}

/// Notes the call; the result that the test wants instead, if any.
std::optional<Result> enter(const char* symbol) {
  FakeCuda& fake = state();
  if (fake.recording) fake.calls.emplace_back(symbol);
  if (fake.fail.empty()) return std::nullopt;
  const auto wanted = fake.fail.find(symbol);
  if (wanted == fake.fail.end()) return std::nullopt;
  return wanted->second;
}

#define ENTER(symbol)                                             \
  const std::lock_guard<std::recursive_mutex> guard(state_mutex); \
  if (const auto refused = enter(symbol)) return *refused

FakeDevice* find_device(int ordinal) {
  auto& devices = state().devices;
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) return nullptr;
  return &devices[static_cast<std::size_t>(ordinal)];
}

FakeKernel* find_kernel(Function function) {
  const auto at = functions.find(function);
  if (at == functions.end()) return nullptr;
  const auto described = state().kernels.find(kernels[at->second].second);
  return described == state().kernels.end() ? nullptr : &described->second;
}

Result compile(LoadedImage& image) {
  if (!image.is_text || image.compiled) return Result::success;
  if (const std::string& log = state().jit_log; !log.empty()) {
    const std::size_t length = std::min(log.size(), image.error_log_bytes);
    if (image.error_log != nullptr) {
      std::memcpy(image.error_log, log.data(), length);
      image.values[1] = reinterpret_cast<void*>(length);  // the real driver answers here, too
    }
    return Result::invalid_ptx;
  }
  image.compiled = true;
  return Result::success;
}

namespace fake {

Result init(unsigned) {
  ENTER("cuInit");
  return state().devices.empty() ? Result::no_device : Result::success;
}
Result driver_get_version(int* version) {
  ENTER("cuDriverGetVersion");
  *version = state().version;
  return Result::success;
}

struct ErrorText {
  Result result;
  const char* name;
  const char* text;
};
constexpr ErrorText error_texts[] = {
    {Result::invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {Result::invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {Result::unsupported_ptx_version, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {Result::not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {Result::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {Result::system_driver_mismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {Result::stream_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
};
const ErrorText* find_text(Result result) {
  const auto* at =
      std::find_if(std::begin(error_texts), std::end(error_texts), [&](const auto& e) { return e.result == result; });
  return at == std::end(error_texts) ? nullptr : at;
}
Result get_error_name(Result result, const char** name) {
  const ErrorText* text = find_text(result);
  *name = text != nullptr ? text->name : nullptr;
  return text != nullptr ? Result::success : Result::invalid_value;
}
Result get_error_string(Result result, const char** string) {
  const ErrorText* text = find_text(result);
  *string = text != nullptr ? text->text : nullptr;
  return text != nullptr ? Result::success : Result::invalid_value;
}

Result device_get_count(int* count) {
  ENTER("cuDeviceGetCount");
  *count = static_cast<int>(state().devices.size());
  return Result::success;
}
Result device_get(Device* device, int ordinal) {
  ENTER("cuDeviceGet");
  if (find_device(ordinal) == nullptr) return Result::invalid_device;
  *device = ordinal;
  return Result::success;
}
Result device_get_name(char* name, int size, Device device) {
  ENTER("cuDeviceGetName");
  const FakeDevice* found = find_device(device);
  if (found == nullptr || size <= 0) return Result::invalid_device;
  const std::size_t length = std::min(found->name.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(name, found->name.data(), length);
  name[length] = '\0';
  return Result::success;
}
Result device_get_attribute(int* value, DeviceAttribute attribute, Device device) {
  ENTER("cuDeviceGetAttribute");
  const FakeDevice* found = find_device(device);
  if (found == nullptr) return Result::invalid_device;
  using enum DeviceAttribute;
  switch (attribute) {
    case max_threads_per_block:
      *value = 1024;
      break;
    case max_block_dim_x:
      *value = 1024;
      break;
    case max_block_dim_y:
      *value = 1024;
      break;
    case max_block_dim_z:
      *value = 64;
      break;
    case max_grid_dim_x:
      *value = 2147483647;
      break;
    case max_grid_dim_y:
      *value = 65535;
      break;
    case max_grid_dim_z:
      *value = 65535;
      break;
    case multiprocessor_count:
      *value = 132;
      break;
    case compute_capability_major:
      *value = found->major;
      break;
    case compute_capability_minor:
      *value = found->minor;
      break;
    case cooperative_launch:
      *value = 1;
      break;
    case max_shared_memory_per_block_optin:
      *value = found->max_smem_bytes;
      break;
    case cluster_launch:
      *value = found->major >= 9;
      break;
  }
  return Result::success;
}
Result device_primary_ctx_retain(Context* context, Device device) {
  ENTER("cuDevicePrimaryCtxRetain");
  if (find_device(device) == nullptr) return Result::invalid_device;
  *context = fake_context(device);
  return Result::success;
}
Result ctx_get_current(Context* context) {
  if (state().recording) {
    ENTER("cuCtxGetCurrent");
  }
  *context = context_stack.empty() ? nullptr : context_stack.back();
  return Result::success;
}
Result ctx_push_current(Context context) {
  ENTER("cuCtxPushCurrent");
  context_stack.push_back(context);
  return Result::success;
}
Result ctx_pop_current(Context* context) {
  ENTER("cuCtxPopCurrent");
  if (context_stack.empty()) return Result::invalid_context;
  *context = context_stack.back();
  context_stack.pop_back();
  return Result::success;
}
Result ctx_synchronize() {
  ENTER("cuCtxSynchronize");
  return context_stack.empty() ? Result::invalid_context : Result::success;
}

/// What a thread may not do while a stream is being captured, unless it asked for it.
bool is_unsafe_now() { return state().capture == CaptureStatus::active && capture_mode != CaptureMode::relaxed; }
Result library_load_data(Library* library, const void* code, JitOption* jit_options, void** jit_values, unsigned jit_count,
                         LibraryOption*, void**, unsigned count) {
  ENTER("cuLibraryLoadData");
  if (code == nullptr || count != 0) return Result::invalid_value;
  if (is_unsafe_now()) return Result::stream_capture_unsupported;
  const char* text = static_cast<const char*>(code);
  LoadedImage image{.is_text = std::memcmp(text,
                                           "\x7f"
                                           "ELF",
                                           4) != 0};
  state().images.push_back(image.is_text ? std::string(text) : std::string("cubin"));
  image.values = jit_values;
  for (unsigned i = 0; i < jit_count; ++i) {
    if (jit_options[i] == JitOption::error_log_buffer) image.error_log = static_cast<char*>(jit_values[i]);
    if (jit_options[i] == JitOption::error_log_buffer_size_bytes) {
      image.error_log_bytes = reinterpret_cast<std::uintptr_t>(jit_values[i]);
    }
  }
  if (!image.is_text && state().refuse_cubins) return Result::no_binary_for_gpu;
  if (!state().lazy) {
    if (const Result result = compile(image); result != Result::success) return result;
  }
  *library = fresh<Library>(0x200000);
  libraries[*library] = image;
  ++state().live_libraries;
  return Result::success;
}
Result library_unload(Library library) {
  ENTER("cuLibraryUnload");
  if (is_unsafe_now()) return Result::stream_capture_unsupported;
  if (libraries.erase(library) == 0) return Result::invalid_handle;
  --state().live_libraries;
  return Result::success;
}
Result library_get_kernel(Kernel* kernel, Library library, const char* name) {
  ENTER("cuLibraryGetKernel");
  if (!libraries.contains(library)) return Result::invalid_handle;
  if (!state().kernels.contains(name)) return Result::not_found;
  *kernel = fresh<Kernel>(0x300000);
  kernels[*kernel] = {library, name};
  return Result::success;
}
Result kernel_get_function(Function* function, Kernel kernel) {
  ENTER("cuKernelGetFunction");
  if (!kernels.contains(kernel)) return Result::invalid_handle;
  if (context_stack.empty()) return Result::invalid_context;
  if (const Result result = compile(libraries[kernels[kernel].first]); result != Result::success) return result;
  *function = fresh<Function>(0x400000);
  functions[*function] = kernel;
  return Result::success;
}
Result kernel_get_param_info(Kernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  ENTER("cuKernelGetParamInfo");
  if (!kernels.contains(kernel)) return Result::invalid_handle;
  const auto& params = state().kernels[kernels[kernel].second].params;
  if (index >= params.size()) return Result::invalid_value;
  *offset = params[index].first;
  *size = params[index].second;
  return Result::success;
}
Result func_load(Function function) {
  ENTER("cuFuncLoad");
  return functions.contains(function) ? Result::success : Result::invalid_handle;
}
Result func_get_attribute(int* value, FunctionAttribute attribute, Function function) {
  ENTER("cuFuncGetAttribute");
  FakeKernel* kernel = find_kernel(function);
  if (kernel == nullptr) return Result::invalid_handle;
  *value = kernel->attributes[attribute];
  return Result::success;
}
Result func_set_attribute(Function function, FunctionAttribute attribute, int value) {
  ENTER("cuFuncSetAttribute");
  if (!functions.contains(function)) return Result::invalid_handle;
  state().function_attributes[{function, attribute}] = value;
  return Result::success;
}

Result launch_kernel_ex(const LaunchConfig* config, Function function, void** params, void** extra) {
  if (!state().recording) return Result::success;
  ENTER("cuLaunchKernelEx");
  FakeKernel* kernel = find_kernel(function);
  if (kernel == nullptr || extra != nullptr) return Result::invalid_value;
  FakeLaunch launch{.config = *config, .function = function};
  launch.attributes.assign(config->attributes, config->attributes + config->attribute_count);
  for (std::size_t i = 0; i < kernel->params.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(params[i]);
    launch.params.emplace_back(bytes, bytes + kernel->params[i].second);
  }
  launch.context = context_stack.empty() ? nullptr : context_stack.back();
  if (state().on_launch) state().on_launch(launch);
  state().launches.push_back(std::move(launch));
  return Result::success;
}
Result occupancy_max_active_clusters(int* clusters, Function, const LaunchConfig*) {
  ENTER("cuOccupancyMaxActiveClusters");
  *clusters = state().active_clusters;
  return Result::success;
}

Result stream_create(Stream* stream, unsigned) {
  ENTER("cuStreamCreate");
  *stream = fresh<Stream>(0x500000);
  ++state().live_streams;
  return Result::success;
}
Result stream_destroy(Stream) {
  ENTER("cuStreamDestroy");
  --state().live_streams;
  return Result::success;
}
Result stream_synchronize(Stream) {
  ENTER("cuStreamSynchronize");
  return Result::success;
}
Result stream_is_capturing(Stream, CaptureStatus* status) {
  ENTER("cuStreamIsCapturing");
  *status = state().capture;
  return Result::success;
}

Result thread_exchange_stream_capture_mode(CaptureMode* mode) {
  ENTER("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, capture_mode);
  return Result::success;
}

constexpr std::size_t alloc_alignment = 256;
/// The bytes at a "device" address, when [addr, addr + bytes) is inside one allocation.
std::byte* bytes_at(DeviceAddr addr, std::size_t bytes) {
  for (auto& [begin, block] : state().memory) {
    if (addr >= begin && addr - begin + bytes <= block.size() - alloc_alignment) return reinterpret_cast<std::byte*>(addr);
  }
  return nullptr;
}
Result mem_alloc(DeviceAddr* addr, std::size_t bytes) {
  ENTER("cuMemAlloc");
  if (bytes == 0) return Result::invalid_value;
  if (is_unsafe_now()) return Result::stream_capture_unsupported;
  std::vector<std::byte> block(bytes + alloc_alignment);  // a little more, of which an aligned part is the allocation
  *addr = (reinterpret_cast<DeviceAddr>(block.data()) + alloc_alignment - 1) / alloc_alignment * alloc_alignment;
  state().memory.emplace(*addr, std::move(block));
  return Result::success;
}
Result mem_free(DeviceAddr addr) {
  ENTER("cuMemFree");
  return state().memory.erase(addr) == 1 ? Result::success : Result::invalid_value;
}
Result memcpy_htod(DeviceAddr dst, const void* src, std::size_t bytes) {
  ENTER("cuMemcpyHtoD");
  std::byte* at = bytes_at(dst, bytes);
  if (at == nullptr) return Result::invalid_value;
  std::memcpy(at, src, bytes);
  return Result::success;
}
Result memcpy_htod_async(DeviceAddr dst, const void* src, std::size_t bytes, Stream stream) {
  ENTER("cuMemcpyHtoDAsync");
  if (stream == nullptr) return Result::invalid_value;  // would wait for, and be captured with, other people's work
  if (is_unsafe_now()) return Result::stream_capture_unsupported;
  std::byte* at = bytes_at(dst, bytes);
  if (at == nullptr) return Result::invalid_value;
  std::memcpy(at, src, bytes);
  return Result::success;
}
Result memcpy_dtoh(void* dst, DeviceAddr src, std::size_t bytes) {
  ENTER("cuMemcpyDtoH");
  const std::byte* at = bytes_at(src, bytes);
  if (at == nullptr) return Result::invalid_value;
  std::memcpy(dst, at, bytes);
  return Result::success;
}
Result memset_d8(DeviceAddr dst, unsigned char value, std::size_t bytes) {
  ENTER("cuMemsetD8");
  std::byte* at = bytes_at(dst, bytes);
  if (at == nullptr) return Result::invalid_value;
  std::memset(at, value, bytes);
  return Result::success;
}

Result tensor_map_encode_tiled(TensorMapBytes* map, TensorMapType type, std::uint32_t rank, void* tensor,
                               const std::uint64_t* sizes, const std::uint64_t* strides, const std::uint32_t* box,
                               const std::uint32_t* element_strides, TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                               TensorMapL2Promotion l2_promotion, TensorMapFill fill) {
  ENTER("cuTensorMapEncodeTiled");
  if (context_stack.empty()) return Result::invalid_context;
  const bool plain = std::all_of(element_strides, element_strides + rank, [](std::uint32_t stride) { return stride == 1; });
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || !plain || interleave != TensorMapInterleave::none ||
      fill != TensorMapFill::zero) {
    return Result::invalid_value;
  }
  auto& known = state().tensor_maps;
  const FakeTensorMap wanted{.type = type,
                             .tensor = reinterpret_cast<std::uint64_t>(tensor),
                             .sizes{sizes, sizes + rank},
                             .strides{strides, strides + rank - 1},
                             .box{box, box + rank},
                             .swizzle = swizzle,
                             .l2_promotion = l2_promotion};
  const auto at = std::find(known.begin(), known.end(), wanted);
  map->words = {static_cast<std::uint64_t>(at - known.begin())};
  if (at == known.end()) known.push_back(wanted);
  return Result::success;
}
Result tensor_map_encode_im2col(TensorMapBytes* map, TensorMapType type, std::uint32_t rank, void* tensor,
                                const std::uint64_t* sizes, const std::uint64_t* strides, const std::int32_t* lower_corner,
                                const std::int32_t* upper_corner, std::uint32_t channels_per_pixel,
                                std::uint32_t pixels_per_column, const std::uint32_t*, TensorMapInterleave,
                                TensorMapSwizzle swizzle, TensorMapL2Promotion l2_promotion, TensorMapFill) {
  ENTER("cuTensorMapEncodeIm2col");
  if (context_stack.empty() || rank < 3) return Result::invalid_value;
  FakeTensorMap wanted{.type = type,
                       .tensor = reinterpret_cast<std::uint64_t>(tensor),
                       .sizes{sizes, sizes + rank},
                       .strides{strides, strides + rank - 1},
                       .box{channels_per_pixel, pixels_per_column},
                       .swizzle = swizzle,
                       .l2_promotion = l2_promotion};
  wanted.corners.insert(wanted.corners.end(), lower_corner, lower_corner + rank - 2);
  wanted.corners.insert(wanted.corners.end(), upper_corner, upper_corner + rank - 2);
  auto& known = state().tensor_maps;
  map->words = {known.size()};
  known.push_back(std::move(wanted));
  return Result::success;
}
Result tensor_map_replace_address(TensorMapBytes* map, void* tensor) {
  ENTER("cuTensorMapReplaceAddress");
  auto& known = state().tensor_maps;
  if (map->words[0] >= known.size()) return Result::invalid_value;
  FakeTensorMap wanted = known[map->words[0]];
  wanted.tensor = reinterpret_cast<std::uint64_t>(tensor);
  map->words = {known.size()};
  known.push_back(std::move(wanted));
  return Result::success;
}

}  // namespace fake

// Assigning each fake to its slot checks its type; a function of the table without a fake does not compile.
constexpr Functions table{
#define PTX_CUDA_FUNCTION(member, symbol, version, parameters) .member = fake::member,
#include "ptx/cuda/driver_functions.def"
#undef PTX_CUDA_FUNCTION
};

}  // namespace
}  // namespace ptx::cuda::api

extern "C" {

[[gnu::visibility("default")]] FakeCuda* fake_cuda_reset() {
  using namespace ptx::cuda::api;
  const std::lock_guard<std::recursive_mutex> guard(state_mutex);
  state() = FakeCuda{};
  libraries.clear();
  kernels.clear();
  functions.clear();
  context_stack.clear();
  capture_mode = CaptureMode::global;
  state().write_logs = [](std::string_view text) {
    std::size_t written = 0;
    for (auto& [library, image] : libraries) {
      if (image.error_log == nullptr) continue;
      std::memcpy(image.error_log, text.data(), std::min(text.size(), image.error_log_bytes));
      ++written;
    }
    return written;
  };
  return &state();
}

[[gnu::visibility("default")]] ptx::cuda::api::Result cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                                                          std::uint64_t flags,
                                                                          ptx::cuda::api::ProcAddressStatus* status) {
  using namespace ptx::cuda::api;
  struct Entry {
    std::string_view symbol;
    void* function;
  };
  static const Entry entries[] = {
#define PTX_CUDA_FUNCTION(member, symbol, version, parameters) {symbol, reinterpret_cast<void*>(table.member)},
#include "ptx/cuda/driver_functions.def"
#undef PTX_CUDA_FUNCTION
  };
  const std::lock_guard<std::recursive_mutex> guard(state_mutex);
  state().asked[symbol] = {version, flags};
  const auto* entry = std::find_if(std::begin(entries), std::end(entries), [&](const Entry& e) { return e.symbol == symbol; });
  const bool found = entry != std::end(entries) && !state().missing.contains(symbol);
  *function = found ? entry->function : nullptr;
  *status = found ? ProcAddressStatus::success : ProcAddressStatus::symbol_not_found;
  return found ? Result::success : Result::not_found;
}
}

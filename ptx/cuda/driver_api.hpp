// The part of the CUDA driver's C interface that we call, declared by ourselves: the core builds without cuda.h. Layouts and
// values are compared with the real header where there is one (driver_api_test.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptx::cuda::api {

using Context = struct ContextHandle*;    // CUcontext
using Function = struct FunctionHandle*;  // CUfunction: a kernel in one context
using Kernel = struct KernelHandle*;      // CUkernel: a kernel of a library, in no context yet
using Library = struct LibraryHandle*;    // CUlibrary
using Stream = struct StreamHandle*;      // CUstream; null is the legacy default stream
using Device = int;                       // CUdevice
using DeviceAddr = std::uint64_t;         // CUdeviceptr

/// CUresult, as far as we act on a value; any other value may arrive too.
enum class Result : std::uint32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  jit_compilation_disabled = 223,
  contained = 226,
  invalid_handle = 400,
  not_found = 500,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  context_is_destroyed = 709,
  assert_failed = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_implicit = 906,
  stream_capture_wrong_thread = 908,
  invalid_cluster_size = 912,
  unknown = 999,
};

/// CUdevice_attribute.
enum class DeviceAttribute : std::uint32_t {
  max_threads_per_block = 1,
  max_block_dim_x = 2,
  max_block_dim_y = 3,
  max_block_dim_z = 4,
  max_grid_dim_x = 5,
  max_grid_dim_y = 6,
  max_grid_dim_z = 7,
  multiprocessor_count = 16,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  cooperative_launch = 95,
  max_shared_memory_per_block_optin = 97,
  cluster_launch = 120,
};

/// CUfunction_attribute.
enum class FunctionAttribute : std::uint32_t {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  local_size_bytes = 3,
  num_regs = 4,
  max_dynamic_shared_size_bytes = 8,
  non_portable_cluster_size_allowed = 14,
};

/// CUlaunchAttributeID.
enum class LaunchAttributeId : std::uint32_t {
  cooperative = 2,
  cluster_dimension = 4,
  programmatic_stream_serialization = 6,
};

/// CUlaunchAttribute. The value is a 64-byte union of which we use the leading words: one flag, or the cluster's x, y, z.
struct LaunchAttribute {
  LaunchAttributeId id{};
  std::uint32_t pad = 0;
  alignas(8) std::array<std::uint32_t, 16> value{};
};
static_assert(sizeof(LaunchAttribute) == 72 && alignof(LaunchAttribute) == 8 && offsetof(LaunchAttribute, value) == 8);

/// CUlaunchConfig.
struct LaunchConfig {
  std::uint32_t grid_x = 1, grid_y = 1, grid_z = 1;
  std::uint32_t block_x = 1, block_y = 1, block_z = 1;
  std::uint32_t dynamic_smem_bytes = 0;
  Stream stream = nullptr;
  const LaunchAttribute* attributes = nullptr;  // not const in cuda.h, but the driver only reads it
  std::uint32_t attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32 && offsetof(LaunchConfig, attributes) == 40 &&
              offsetof(LaunchConfig, attribute_count) == 48);

/// CUjit_option.
enum class JitOption : std::uint32_t {
  info_log_buffer = 3,
  info_log_buffer_size_bytes = 4,
  error_log_buffer = 5,
  error_log_buffer_size_bytes = 6,
  generate_line_info = 13,
};

/// CUlibraryOption. We pass none.
enum class LibraryOption : std::uint32_t {};

/// CUstreamCaptureStatus.
enum class CaptureStatus : std::uint32_t { none = 0, active = 1, invalidated = 2 };

/// CUstreamCaptureMode: what a thread may do while a stream is being captured.
enum class CaptureMode : std::uint32_t { global = 0, thread_local_ = 1, relaxed = 2 };

/// CUtensorMap: opaque. The driver wants it aligned to 64 bytes, cuda.h of 13.0 declares 128.
struct alignas(128) TensorMapBytes {
  std::array<std::uint64_t, 16> words{};
  friend bool operator==(const TensorMapBytes&, const TensorMapBytes&) = default;
};

/// CUtensorMapDataType.
enum class TensorMapType : std::uint32_t {
  u8 = 0,
  u16 = 1,
  u32 = 2,
  s32 = 3,
  u64 = 4,
  s64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
  f32_ftz = 10,
  tf32 = 11,
  tf32_ftz = 12,
};

/// CUtensorMapInterleave.
enum class TensorMapInterleave : std::uint32_t { none = 0, b16 = 1, b32 = 2 };

/// CUtensorMapSwizzle.
enum class TensorMapSwizzle : std::uint32_t { none = 0, b32 = 1, b64 = 2, b128 = 3, b128_atom32 = 4, b128_atom64 = 6 };

/// CUtensorMapL2promotion.
enum class TensorMapL2Promotion : std::uint32_t { none = 0, b64 = 1, b128 = 2, b256 = 3 };

/// CUtensorMapFloatOOBfill: what a copy reads outside the tensor.
enum class TensorMapFill : std::uint32_t { zero = 0, nan_request_zero_fma = 1 };

/// CUdriverProcAddressQueryResult.
enum class ProcAddressStatus : std::uint32_t { success = 0, symbol_not_found = 1, version_not_sufficient = 2 };

/// Flags of cuGetProcAddress: the symbols whose null stream is the legacy default stream, which is the one torch and XLA mean.
inline constexpr std::uint64_t legacy_stream_symbols = 1;

/// Flag of cuStreamCreate: the stream neither waits for the legacy default stream nor the other way.
inline constexpr unsigned non_blocking_stream = 1;

using GetProcAddress = Result (*)(const char* symbol, void** function, int cuda_version, std::uint64_t flags,
                                  ProcAddressStatus* status);

/// The functions, null where the driver is too old to have one. Those of CUDA 12.0 and before are always there.
struct Functions {
#define PTX_CUDA_FUNCTION(member, symbol, version, parameters) Result(*member) parameters = nullptr;
#include "ptx/cuda/driver_functions.def"
#undef PTX_CUDA_FUNCTION
};

}  // namespace ptx::cuda::api

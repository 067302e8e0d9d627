// Our declarations of the driver's interface against a toolkit's cuda.h, where there is one. The comparison is made by the
// compiler: when this file compiles with cuda.h, the declarations agree.
#include "ptx/cuda/driver_api.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define PTX_HAS_CUDA_H 1
#else
#define PTX_HAS_CUDA_H 0
#endif

namespace ptx::cuda::api {
namespace {

#if PTX_HAS_CUDA_H

/// What a type is to the calling convention: pointers are one, integers and enumerations are their size.
template <class T>
constexpr auto convention() {
  if constexpr (std::is_pointer_v<T>) {
    return std::type_identity<void*>{};
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    return std::integral_constant<std::size_t, sizeof(T)>{};
  }
}

template <class Ours, class Theirs>
struct Agree : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct Agree<R (*)(A...), S (*)(B...)>
    : std::bool_constant<std::is_same_v<decltype(convention<R>()), decltype(convention<S>())> &&
                         (std::is_same_v<decltype(convention<A>()), decltype(convention<B>())> && ...)> {};

// Spelled by hand: cuda.h's macros turn a name into the current form (cuMemAlloc into cuMemAlloc_v2), which is ours.
#define AGREE(member, function) static_assert(Agree<decltype(Functions::member), decltype(&::function)>::value, #function)
AGREE(init, cuInit);
AGREE(driver_get_version, cuDriverGetVersion);
AGREE(get_error_name, cuGetErrorName);
AGREE(get_error_string, cuGetErrorString);
AGREE(device_get_count, cuDeviceGetCount);
AGREE(device_get, cuDeviceGet);
AGREE(device_get_name, cuDeviceGetName);
AGREE(device_get_attribute, cuDeviceGetAttribute);
AGREE(device_primary_ctx_retain, cuDevicePrimaryCtxRetain);
AGREE(ctx_get_current, cuCtxGetCurrent);
AGREE(ctx_push_current, cuCtxPushCurrent);
AGREE(ctx_pop_current, cuCtxPopCurrent);
AGREE(ctx_synchronize, cuCtxSynchronize);
AGREE(library_load_data, cuLibraryLoadData);
AGREE(library_unload, cuLibraryUnload);
AGREE(library_get_kernel, cuLibraryGetKernel);
AGREE(kernel_get_function, cuKernelGetFunction);
#if CUDA_VERSION >= 12040
AGREE(kernel_get_param_info, cuKernelGetParamInfo);
AGREE(func_load, cuFuncLoad);
#endif
AGREE(func_get_attribute, cuFuncGetAttribute);
AGREE(func_set_attribute, cuFuncSetAttribute);
AGREE(launch_kernel_ex, cuLaunchKernelEx);
AGREE(occupancy_max_active_clusters, cuOccupancyMaxActiveClusters);
AGREE(stream_create, cuStreamCreate);
AGREE(stream_destroy, cuStreamDestroy);
AGREE(stream_synchronize, cuStreamSynchronize);
AGREE(stream_is_capturing, cuStreamIsCapturing);
AGREE(thread_exchange_stream_capture_mode, cuThreadExchangeStreamCaptureMode);
AGREE(mem_alloc, cuMemAlloc);
AGREE(mem_free, cuMemFree);
AGREE(memcpy_htod, cuMemcpyHtoD);
AGREE(memcpy_dtoh, cuMemcpyDtoH);
AGREE(memcpy_htod_async, cuMemcpyHtoDAsync);
AGREE(memset_d8, cuMemsetD8);
AGREE(tensor_map_encode_tiled, cuTensorMapEncodeTiled);
AGREE(tensor_map_encode_im2col, cuTensorMapEncodeIm2col);
AGREE(tensor_map_replace_address, cuTensorMapReplaceAddress);
static_assert(Agree<GetProcAddress, decltype(&::cuGetProcAddress)>::value);

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute) && alignof(LaunchAttribute) == alignof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, id) == offsetof(CUlaunchAttribute, id));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(offsetof(CUlaunchAttributeValue, clusterDim) == 0 && offsetof(CUlaunchAttributeValue, cooperative) == 0);
static_assert(sizeof(CUlaunchAttributeValue::clusterDim) == 12 && sizeof(CUlaunchAttributeValue::cooperative) == 4);
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, grid_z) == offsetof(CUlaunchConfig, gridDimZ));
static_assert(offsetof(LaunchConfig, block_x) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, dynamic_smem_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(DeviceAddr) == sizeof(CUdeviceptr) && sizeof(Device) == sizeof(CUdevice));

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<std::uint32_t>(ours) == static_cast<std::uint32_t>(theirs);
}
#define SAME(ours, theirs) static_assert(same(ours, theirs), #theirs)
SAME(Result::invalid_value, CUDA_ERROR_INVALID_VALUE);
SAME(Result::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(Result::not_initialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(Result::deinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(Result::stub_library, CUDA_ERROR_STUB_LIBRARY);
SAME(Result::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(Result::no_device, CUDA_ERROR_NO_DEVICE);
SAME(Result::invalid_device, CUDA_ERROR_INVALID_DEVICE);
SAME(Result::invalid_image, CUDA_ERROR_INVALID_IMAGE);
SAME(Result::invalid_context, CUDA_ERROR_INVALID_CONTEXT);
SAME(Result::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(Result::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(Result::invalid_ptx, CUDA_ERROR_INVALID_PTX);
SAME(Result::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(Result::jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME(Result::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(Result::jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED);
SAME(Result::invalid_handle, CUDA_ERROR_INVALID_HANDLE);
SAME(Result::not_found, CUDA_ERROR_NOT_FOUND);
SAME(Result::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(Result::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(Result::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(Result::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(Result::assert_failed, CUDA_ERROR_ASSERT);
SAME(Result::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(Result::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(Result::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(Result::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(Result::invalid_pc, CUDA_ERROR_INVALID_PC);
SAME(Result::launch_failed, CUDA_ERROR_LAUNCH_FAILED);
SAME(Result::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(Result::not_permitted, CUDA_ERROR_NOT_PERMITTED);
SAME(Result::not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME(Result::system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY);
SAME(Result::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(Result::compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(Result::stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(Result::stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
SAME(Result::stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME(Result::stream_capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
SAME(Result::invalid_cluster_size, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME(Result::unknown, CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 12080
SAME(Result::contained, CUDA_ERROR_CONTAINED);
#endif
SAME(DeviceAttribute::max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(DeviceAttribute::max_block_dim_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(DeviceAttribute::max_block_dim_y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME(DeviceAttribute::max_block_dim_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(DeviceAttribute::max_grid_dim_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(DeviceAttribute::max_grid_dim_y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(DeviceAttribute::max_grid_dim_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(DeviceAttribute::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DeviceAttribute::compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DeviceAttribute::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(DeviceAttribute::cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(DeviceAttribute::max_shared_memory_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(DeviceAttribute::cluster_launch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
SAME(FunctionAttribute::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(FunctionAttribute::shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(FunctionAttribute::local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(FunctionAttribute::num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(FunctionAttribute::max_dynamic_shared_size_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(FunctionAttribute::non_portable_cluster_size_allowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(LaunchAttributeId::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(LaunchAttributeId::cluster_dimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(LaunchAttributeId::programmatic_stream_serialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(JitOption::info_log_buffer, CU_JIT_INFO_LOG_BUFFER);
SAME(JitOption::info_log_buffer_size_bytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(JitOption::error_log_buffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(JitOption::error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CaptureStatus::active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME(ProcAddressStatus::symbol_not_found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
SAME(ProcAddressStatus::version_not_sufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME(CaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME(CaptureMode::thread_local_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(non_blocking_stream == CU_STREAM_NON_BLOCKING);
static_assert(sizeof(TensorMapBytes) == sizeof(CUtensorMap) && alignof(TensorMapBytes) >= alignof(CUtensorMap));
SAME(TensorMapType::u8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(TensorMapType::u16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(TensorMapType::u32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(TensorMapType::s32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(TensorMapType::u64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME(TensorMapType::s64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(TensorMapType::f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(TensorMapType::f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(TensorMapType::f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME(TensorMapType::bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(TensorMapType::f32_ftz, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
SAME(TensorMapType::tf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
SAME(TensorMapType::tf32_ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
SAME(TensorMapInterleave::none, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(TensorMapSwizzle::none, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(TensorMapSwizzle::b32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(TensorMapSwizzle::b64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(TensorMapSwizzle::b128, CU_TENSOR_MAP_SWIZZLE_128B);
#if CUDA_VERSION >= 12080
SAME(TensorMapSwizzle::b128_atom32, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
SAME(TensorMapSwizzle::b128_atom64, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
#endif
SAME(TensorMapL2Promotion::none, CU_TENSOR_MAP_L2_PROMOTION_NONE);
SAME(TensorMapL2Promotion::b64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME(TensorMapL2Promotion::b128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(TensorMapL2Promotion::b256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(TensorMapFill::zero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME(TensorMapFill::nan_request_zero_fma, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
SAME(TensorMapInterleave::b16, CU_TENSOR_MAP_INTERLEAVE_16B);
SAME(TensorMapInterleave::b32, CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(legacy_stream_symbols == CU_GET_PROC_ADDRESS_LEGACY_STREAM);

#endif  // PTX_HAS_CUDA_H

TEST(DriverApi, agrees_with_cuda_h) {
#if PTX_HAS_CUDA_H
  // Every function of the table was compared above: 37 AGREE lines. A new row needs a new line.
  constexpr std::size_t compared = 37;
  EXPECT_EQ(sizeof(Functions) / sizeof(void*), compared);
  EXPECT_GE(CUDA_VERSION, 12000);
#else
  GTEST_SKIP() << "no cuda.h on this machine to compare with";
#endif
}

}  // namespace
}  // namespace ptx::cuda::api

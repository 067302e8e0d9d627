// ffi (floor 6): how other runtimes call a kernel. XLA (JAX) through its typed FFI, PyTorch through its dispatcher.
#pragma once

#include "ptx/ffi/torch.hpp"

namespace ptx::ffi {

/// Name of the custom-call target, on both platforms.
inline constexpr const char* xla_target = "pyptx_launch";

/// Handlers of XLA's FFI, to be registered as `xla_target` with api_version 1: for the platform "cpu" at the stages instantiate
/// and execute, for "CUDA" at instantiate, initialize and execute. Their attributes, sorted by name as XLA gives them:
///     abi           i32      launch::abi_version
///     cubin_handle  i64      KernelImage::handle(); alone it names a kernel that this process has registered
///     key           string   32 bytes: KernelImage::key()
///     meta          string   KernelImage::meta()
///     ptx           string   KernelImage::text()
/// Arguments are the inputs, results the outputs. Failures come back as XLA errors with the rendered diagnostic.
extern "C" __attribute__((visibility("default"))) void* pyptx_xla_launch_cpu(void* call_frame) noexcept;
extern "C" __attribute__((visibility("default"))) void* pyptx_xla_launch_cuda(void* call_frame) noexcept;

}  // namespace ptx::ffi

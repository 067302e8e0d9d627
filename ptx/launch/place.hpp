// Where a kernel runs.
#pragma once

#include <variant>

#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/image.hpp"

namespace ptx {

using Place = std::variant<launch::Cpu, launch::Cuda>;
/// On the host, by the executor; the run has ended when the call returns.
inline Place cpu() { return launch::default_cpu(); }
inline Place cpu(const vgpu::Options& options) { return launch::Cpu{options}; }
/// On a GPU; the call returns when the launch is queued, on the default stream when none is given.
inline Place gpu(int ordinal = 0) { return launch::Cuda{ordinal, nullptr}; }
inline Place gpu(int ordinal, const cuda::Stream& stream) { return launch::Cuda{ordinal, stream.handle()}; }
/// The same on a stream of somebody else's: a CUstream or cudaStream_t of that GPU, of its primary context (which the CUDA
/// runtime, torch and JAX use). It is the caller's: it must live until the launch is queued, and may be one that a CUDA graph
/// captures, once the kernel is prepared.
inline Place gpu(int ordinal, void* stream) { return launch::Cuda{ordinal, static_cast<cuda::api::Stream>(stream)}; }

}  // namespace ptx

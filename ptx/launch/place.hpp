// Where a kernel runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ptx/cuda/brief.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx {

namespace launch {

/// Asked by the thread that runs, once Ctrl-C was pressed: whether the run is to end. Python's own handlers have a say in it.
using InterruptHook = bool (*)();

/// Sizes of a tensor, and how many bits each of its elements has.
struct TensorForm {
  std::vector<std::size_t> shape;
  std::uint32_t element_bits = 0;
};

/// Run on the host, by the executor.
struct Cpu {
  vgpu::Options options;
  /// Ctrl-C ends the run (kind interrupted), a terminal shows how far it is, and PYPTX_MAX_INSTRUCTIONS limits it where the
  /// options do not (attendance.hpp).
  bool attended = false;
  InterruptHook interrupt_hook = nullptr;
  /// What checks find in a run that went well otherwise is its error, unless collect_findings() says otherwise; false: it is in
  /// the report alone.
  bool findings_are_errors = true;
  std::vector<TensorForm> forms{};  ///< of the tensors, inputs first, so that findings can name elements; empty: not known
  bool keeps_outputs = false;       ///< outputs are the caller's own memory: what they hold is there to be read
};
/// As many workers as the host has threads; attended; the arithmetic of default_arithmetic().
Cpu default_cpu();

/// The arithmetic of runs that are not given any, and when they perform asynchronous operations. Of the whole process; exact, a
/// GPU's own and eager from the beginning. The executor gives the rest its own defaults.
struct Arithmetic {
  vgpu::Numerics numerics = vgpu::Numerics::exact;
  vgpu::Approximations approximations = vgpu::Approximations::hardware;
  vgpu::Completion completion = vgpu::Completion::eager;
  vgpu::Threads threads = vgpu::Threads::in_turn;
  /// Nothing: what PYPTX_RUN_CHECKS says.
  std::optional<vgpu::Checks> checks = std::nullopt;
  std::uint64_t seed = 0;
  // What is told of findings: as in vgpu::Options.
  std::vector<vgpu::Suppression> suppress{};
  std::size_t max_findings = 100;
  bool stop_at_first = false;
  void give_to(vgpu::Options& options) const;
};
Arithmetic default_arithmetic();
void set_default_arithmetic(const Arithmetic& arithmetic);

/// What checks find is an error of the launch, the first one, whose notes name the others. While somebody collects, launches go
/// well and their findings are added to those that take_findings() gives. Of the whole process.
void collect_findings(bool collect);
struct Collected {
  Diagnostics findings;
  std::uint64_t runs = 0, suppressed = 0, left_out = 0;  ///< the last two as in vgpu::Report, of all runs together
  std::vector<std::string> unused_suppressions;          ///< that fitted nothing in any run
};
Collected take_findings();

/// Run on a GPU; null is the legacy default stream.
struct Cuda {
  int ordinal = 0;
  cuda::api::Stream stream = nullptr;
};
}  // namespace launch

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

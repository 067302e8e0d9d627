// vgpu (floor 4): the executor. Runs an accepted module on the CPU as a GPU would, warp by warp, and says what is wrong with it:
// accesses outside an allocation, misaligned and uninitialised reads, divergence where convergence is needed, deadlock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::vgpu {

/// A piece of host memory that the kernel may use as global memory: a tensor, a buffer. Addresses are the host's own.
struct Region {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool writable = true;
  bool initialised = true;  ///< false: contents count as uninitialised until stored to (an output)
  std::string name;         ///< as reports call it: "X"
};

struct LaunchConfig {
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< CTAs
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads
  std::size_t dynamic_smem_bytes = 0;
};

struct Options {
  unsigned workers = 1;                       ///< threads of the host; CTAs are shared out among them
  std::uint64_t max_instructions = 1u << 30;  ///< warp instructions per CTA before the run is stopped (step_limit)
  bool check_initialised = true;              ///< track which bytes and registers have been written, and lanes that shuffles read
};

/// What a run did.
struct Report {
  std::uint64_t warp_instructions = 0;
  std::uint64_t ctas = 0;
};

/// A kernel decoded for execution: immutable, shared by threads and launches.
class Program {
 public:
  /// Decodes entry `name`. Kinds: not_executed (with the instruction, its line and why), unknown_kernel.
  static Expected<std::shared_ptr<const Program>> make(const check::Accepted& accepted,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry);
  /// Runs a grid to its end. `params` is the parameter block, laid out as the CUDA driver's. The first fault ends the run; its
  /// diagnostic names kernel, instruction, PTX line, the author's line, block and thread, and is the same for every number of
  /// workers. Kinds: launch_config, param_layout; out_of_bounds, misaligned, read_only, uninitialised; divergent, deadlock,
  /// barrier_misuse; trapped, step_limit. Blocks may wait for each other through strong loads (.volatile, .relaxed, .acquire); a
  /// wait that never ends is a step_limit. Time (%clock, %globaltimer) is the number of instructions that the block has run.
  [[nodiscard]] Expected<Report> run(const LaunchConfig& config, std::span<const std::byte> params,
                                     std::span<const Region> regions, const Options& options = {}) const;
  [[nodiscard]] std::string_view name() const;

  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  struct Code;
  explicit Program(std::unique_ptr<const Code> code);
  std::unique_ptr<const Code> code_;
};

}  // namespace ptx::vgpu

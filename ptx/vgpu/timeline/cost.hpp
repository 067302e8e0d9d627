// What the timeline takes an instruction to cost: cycles, from a table that anybody can read. It is made to put things in their
// order and to show what waits for what, not to foretell how long a kernel runs on a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ptx::vgpu::timeline {

/// How the timeline treats an instruction.
enum class Work : std::uint8_t {
  compute,  ///< results after `latency`
  load,     ///< of memory: further cycles for further wavefronts or sectors
  store,    ///< the same, without a result
  update,   ///< atom, red
  matrix,   ///< ldmatrix, stmatrix, movmatrix
  mma,      ///< mma.sync, on the tensor core of the warp's part of the multiprocessor
  wgmma,    ///< the same, asynchronously
  wgmma_commit,
  wgmma_wait,
  tensor_commit,  ///< tcgen05.commit
  begins,         ///< an asynchronous operation
  meets,          ///< barriers, mbarriers, groups
};

struct InstructionCost {
  Work work = Work::compute;
  std::uint32_t issue = 1;    ///< cycles until the warp may issue its next instruction
  std::uint32_t latency = 4;  ///< from issue until a result may be read
  std::uint32_t bytes = 0;    ///< memory: of each lane
  std::uint32_t cycles = 0;   ///< mma, wgmma: of the tensor core
  bool asks = false;          ///< whether a phase of an mbarrier is complete
  std::string name;           ///< as the timeline shows it: "wgmma m64n256k16"
  std::string engine;         ///< the row of what it begins: "TMA"
};

/// Of an instruction as it is spelled: "ld.shared.v4.f32" (ops/cost.cpp, beside what runs it).
InstructionCost cost_of(std::string_view spelled);

inline constexpr std::uint32_t shared_latency = 30, global_latency = 500, constant_latency = 8;
inline constexpr std::uint32_t copy_latency = 500, copy_bytes_a_cycle = 32;
inline constexpr std::uint32_t mma_latency = 16, wake_latency = 8;
/// Multiplications and additions of 16-bit values in a cycle: of one of Hopper's four tensor cores, and of Blackwell's together.
inline constexpr std::uint64_t mma_a_cycle = 512, tensor_memory_mma_a_cycle = 4096;
/// What a warp waits at least for a register before the timeline shows it.
inline constexpr std::uint64_t shown_stall = 24;

/// What all of this assumes, a sentence each: for the trace's metadata and the page.
std::span<const std::string_view> assumptions();

}  // namespace ptx::vgpu::timeline

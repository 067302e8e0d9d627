// The flow of control of a kernel: basic blocks, the order that they are laid out in, and which registers may be read before they
// are written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

/// What the flow needs to know of an instruction.
struct FlowInst {
  std::uint32_t item = 0;     ///< place in the function's body
  std::int64_t target = -1;   ///< branches: the instruction that the label stands before (may be one past the last)
  bool falls_through = true;  ///< false after an unguarded bra, ret, exit or trap
  bool guarded = false;

  /// Scalar registers: those that it reads, the guard's included, and those that it writes.
  void uses(std::span<const std::uint32_t> reads, std::span<const std::uint32_t> writes) {
    registers_.reserve(reads.size() + writes.size());
    registers_.assign(reads.begin(), reads.end());
    registers_.insert(registers_.end(), writes.begin(), writes.end());
    reads_ = reads.size();
  }
  [[nodiscard]] std::span<const std::uint32_t> reads() const { return std::span(registers_).first(reads_); }
  [[nodiscard]] std::span<const std::uint32_t> writes() const { return std::span(registers_).subspan(reads_); }

 private:
  std::vector<std::uint32_t> registers_;  // in one piece: a kernel has tens of thousands of instructions
  std::size_t reads_ = 0;
};

/// Instructions first to last - 1, entered at the first alone.
struct Block {
  std::uint32_t first = 0, last = 0;
  std::int64_t next = -1;   ///< block that control falls into; -1: none
  std::int64_t taken = -1;  ///< block that the last instruction branches to
};

/// Blocks of a kernel; block 0 is the entry. The last block is empty: the end of the body.
std::vector<Block> find_blocks(std::span<const FlowInst> instructions);

/// The blocks that can be reached, in weak topological order (Bourdoncle 1993): loops stand together, and what follows a loop
/// stands behind it. Running the fragment with the least place then brings parted lanes together as early as a stack of
/// post-dominators would.
std::vector<std::uint32_t> weak_topological_order(std::span<const Block> blocks);

/// A read that some path reaches without a write of the register before it.
struct MaybeUndefined {
  std::uint32_t inst = 0;
  std::uint32_t reg = 0;
};
std::vector<MaybeUndefined> find_maybe_undefined(std::span<const FlowInst> instructions, std::span<const Block> blocks,
                                                 std::size_t registers);

}  // namespace ptx::vgpu

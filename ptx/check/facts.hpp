// What the passes over a body ask of an instruction again and again, looked up by its form.
#pragma once

#include <cstdint>
#include <span>

#include "ptx/isa/isa.hpp"

namespace ptx::check {

/// Bits of facts(form).
enum Fact : std::uint16_t {
  leaves = 1u << 0,        ///< without a guard, the next line is not reached: bra, brx, ret, exit. After `trap` code is customary
  branches = 1u << 1,      ///< goes to a label: bra
  branch_list = 1u << 2,   ///< goes to one of a list: brx.idx
  calls = 1u << 3,         ///< call
  moves = 1u << 4,         ///< mov
  wgmma_mma = 1u << 5,     ///< wgmma.mma_async
  wgmma_fence = 1u << 6,   ///< wgmma.fence
  wgmma_commit = 1u << 7,  ///< wgmma.commit_group
  wgmma_wait = 1u << 8,    ///< wgmma.wait_group
  setmaxnreg = 1u << 9,
  tcgen05_mma = 1u << 10,
  tcgen05_transfer = 1u << 11,  ///< tcgen05.ld, tcgen05.st
  loads = 1u << 12,             ///< ld
  cta_group = 1u << 13,         ///< tcgen05 instructions with a .cta_group
  passes_params = 1u << 14,     ///< ld and st of .param
};
/// By form.
std::span<const std::uint16_t> all_facts();
inline std::uint16_t facts(isa::FormId form) {
  static const std::span<const std::uint16_t> all = all_facts();
  return all[form];
}

/// Which operands an instruction writes, a bit each; `updates` are read as well. An instruction whose operands do not fit its
/// form counts as writing all of them: what is wrong is said once.
struct Access {
  std::uint16_t writes = 0, updates = 0;
};

/// A register among an instruction's operands or their parts.
struct Mention {
  std::uint32_t reg = 0;      ///< RegId
  std::uint16_t operand = 0;  ///< the bit of Access that says whether it is written; 0 in addresses, which are read
};

}  // namespace ptx::check

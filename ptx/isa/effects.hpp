// The facts of a row's effects (effect.hpp) under the modifiers chosen: which memory an instruction accesses, among whom it
// orders what, and who executes it together.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/isa/form.hpp"

namespace ptx::isa {

/// One place in memory that an instruction accesses.
struct MemoryAccess {
  std::uint8_t operand = 0;  ///< index into form.operands: an address, a tensor, or a register with a matrix descriptor
  bool reads = false, writes = false;
  bool signals = false;    ///< an mbarrier, told when the instruction completes
  std::string_view space;  ///< "global", "shared::cta", "tmem", "texture", …; "" for generic
  Proxy proxy = Proxy::generic;
};
using MemoryAccesses = FixedVector<MemoryAccess, 8>;

/// All of them, in the order of the operands. An asynchronous instruction begins them.
MemoryAccesses memory_accesses(const Form& form, const Choices& choices);

/// True when the operand says which memory by the bits of a register: a matrix descriptor.
bool is_descriptor(const Form& form, const OperandSpec& operand);

/// True when it writes the flag CC.CF: with `.cc`.
bool writes_carry(const Form& form, const Choices& choices);

/// The slot of `.aligned`, or -1.
int aligned_slot(const Form& form);
/// Among whom it orders: what a modifier says, or else the row.
Scope scope(const Form& form, const Choices& choices);
/// How an access, a fence or an operation on a barrier orders the accesses around it (manual: "Memory Consistency Model").
struct Ordering {
  bool strong = false;  ///< an access that others may make at the same time: it has .sem, is atomic or volatile
  bool acquires = false, releases = false;
  Scope scope = Scope::none;
  bool scope_is_written = false;  ///< it is a word of the instruction, not what is meant without one
};
Ordering ordering(const Form& form, const Choices& choices);
/// Who executes it together.
Converged converged_by(const Form& form, const Choices& choices);

}  // namespace ptx::isa

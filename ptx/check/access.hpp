// What one instruction does with registers, and questions that the passes over a body ask of it again and again.
#pragma once

#include <cstdint>

#include "ptx/flow/flow.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {

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

inline bool is(const ir::Inst& inst, isa::Trait trait) { return isa::form(inst.form).traits.has(trait); }
inline const isa::Effects& effects(const ir::Inst& inst) { return isa::form(inst.form).row->effects; }

/// `wgmma.mma_async`: it completes with its group.
inline bool is_wgmma(const isa::Effects& effects) { return effects.completes == isa::Event::wgmma_group; }
/// `tcgen05.ld`, `tcgen05.st`.
inline bool moves_tensor_memory(const isa::Effects& effects) {
  return effects.completes == isa::Event::tensor_load || effects.completes == isa::Event::tensor_store;
}
/// Without a guard, the next line is not reached: bra, brx, ret, exit. After `trap` code is customary.
inline bool leaves(const ir::Inst& inst) {
  const flow::Control control = flow::control_of(inst.form);
  return control != flow::Control::goes_on && control != flow::Control::calls;
}

}  // namespace ptx::check

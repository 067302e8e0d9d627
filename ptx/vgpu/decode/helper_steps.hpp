// Steps that stand beside an instruction: what an operand's width or a register's definedness asks for, so that handlers need not
// know of it.
#pragma once

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu::helper {

/// The low 32 bits of x[1], a 64-bit slot, into x[0].
Handler narrow();
/// x[1], a 32-bit slot, extended into x[0], a 64-bit one.
Handler widen(bool with_sign);
/// The bytes from an array to one of its elements, into x[0], a 64-bit slot: the index in x[1], a 32-bit slot, plus imm, times
/// x[2], all in 32 bits, as ptxas computes them.
Handler element();
/// x[1] + imm into x[0], a 64-bit slot: an address. x[2]: x[1] is a 32-bit slot, and the sum wraps there.
Handler full_address();
/// Begins tracing (undefined.hpp) when a lane reads the scalar register `imm` while its bit of x[0] is clear.
Handler check_defined();
/// Sets the lanes' bits of x[0].
Handler mark_defined();
/// The same of many registers: Step's operands are their slots, of those that are checked each followed by its number.
Handler check_all_defined();
Handler mark_all_defined();
/// Goes on at `target`.
Handler jump();
/// Ends the lanes.
Handler exit_lanes();
/// Notes that a lane runs the row x[0] of the table (rows_run.hpp).
Handler note_row();

}  // namespace ptx::vgpu::helper

// What the tensor-core instructions of Hopper and Blackwell have in common: descriptors of matrices in shared memory, built at
// run time, and predicates that may be given as numbers (api.md 9, 10).
#pragma once

#include <cstdint>

#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// A matrix descriptor in a fresh .u64 register: the address `base` + `more` (a number of bytes, or an integer register), and
/// `bits` for everything else. From a symbol `mov.u64 a, symbol`, from a 32-bit register `cvt.u64.u32 a, base`, a 64-bit one as
/// it is; for an offset of the place `add.s64 a, a, offset`, for `more` `add.s64` into a register of its own (a 32-bit register
/// is widened first); then `shr.u64 d, a, 4; and.b64 d, d, 0x3FFF; mov.b64 c, bits; or.b64 d, d, c;`.
Expected<Reg> make_descriptor(Builder& builder, const Place& base, const Value& more, std::uint64_t bits, SourceLocation where);

/// A matrix descriptor in a fresh .u64 register: `add.u32 t, address, byte_offset` (not for 0), `and.b32 t, t, mask; shr.u32 t,
/// t, 4; cvt.u64.u32 d, t; or.b64 d, d, const_bits;`. A symbol is moved to a register first. Kind immediate_range for a mask that
/// is not 32 bits.
Expected<Reg> masked_descriptor(Builder& builder, const Place& address, const Value& byte_offset, std::int64_t mask,
                                std::uint64_t const_bits, SourceLocation where);
/// The same in a fresh .b64 register, by one more `mov.b64`.
Expected<Reg> moved_masked_descriptor(Builder& builder, const Place& address, const Value& byte_offset, std::int64_t mask,
                                      std::uint64_t const_bits, SourceLocation where);

/// A predicate as an instruction takes it. A predicate register (perhaps negated) as it is; of a number `mov.u32 t, 0|1;
/// setp.ne.b32 p, t, 0;`; of a 32-bit register `setp.ne.b32 p, r, 0;`. Kind bad_guard for anything else; `what` names the
/// argument.
Expected<Value> enable_predicate(Builder& builder, const Value& value, std::string_view what, SourceLocation where);
/// True for what enable_predicate takes.
bool can_enable(const Value& value);

}  // namespace ptx::write::idiom

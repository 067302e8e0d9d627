// An instruction whose result is a fresh register of the type that its row says: `ptx.let.fma.rn.f32(a, b, c)` in Python,
// `k.let(inst.fma.rn.f32, a, b, c)` in C++. Still exactly one instruction (two with `other`, see below).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"

namespace ptx::write {

/// What the first operands of an instruction, those that it writes, have to be.
struct Destination {
  Type type = Type::none;
  int count = 1;           ///< registers: a vector's elements
  bool is_vector = false;  ///< they are one operand, `{…}`
  bool piped = false;      ///< joined to the one before it by `|`
  friend bool operator==(const Destination&, const Destination&) = default;
};
/// The destinations of a form: the operands in front that it only writes, without those that may be left out. Empty for an
/// instruction without a result, or with one that a fresh register cannot take (`d:+`, a list of results).
std::vector<Destination> destinations_of(const isa::Form& form, const isa::Choices& choices);

/// How the destinations of one instruction came out, in the order of its operands.
struct LetResult {
  Destination shape;
  std::vector<Reg> regs;
};

/// What a `let` may be given besides its sources.
struct LetOptions {
  std::optional<Type> dtype;  ///< of the destination, where the row's own is not wanted: `ld.u8` into a .u32
  Guard guard = {};
  std::optional<Value> other;  ///< with a guard: what threads have that do not execute it, moved in before
};

/// Writes the instruction with fresh destinations. The form is the first one of the dots that fits the sources. Kinds: those of
/// Builder::emit, missing_modifier, operand_mismatch for an instruction without a result. Where it fails no register is left.
Expected<std::vector<LetResult>> let(Builder& builder, const isa::ModifierTree& dots, std::span<const Value> sources,
                                     const LetOptions& options, SourceLocation where);

}  // namespace ptx::write

// One operand of one form, and what ptxas overlooks about the argument that does not fit it.
#pragma once

#include <algorithm>
#include <string_view>

#include "ptx/isa/form.hpp"
#include "ptx/isa/implied.hpp"

namespace ptx::isa::ptxas {

using Elements = std::span<const Arg>;

inline bool is_reg(const Arg& arg, Type type) { return arg.kind == ArgKind::reg && arg.type == type; }
inline bool is_untyped(const Arg& arg, int width) {
  return arg.kind == ArgKind::reg && !arg.negated && kind(arg.type) == TypeKind::bits && bits(arg.type) == width;
}
inline bool is_number(const Arg& arg) { return arg.kind == ArgKind::integer || arg.kind == ArgKind::text; }
inline bool is_function(const Arg& arg) { return arg.kind == ArgKind::symbol && arg.space == "function"; }
// A variable or parameter that is neither an array nor a vector: its name has the type of a register.
inline bool is_typed_name(const Arg& arg) {
  return arg.kind == ArgKind::symbol && arg.type != Type::none && kind(arg.type) != TypeKind::opaque;
}
inline bool is_variable(const Arg& arg) {
  if (arg.kind == ArgKind::element) return is_variable(arg.elements[0]);
  return arg.kind == ArgKind::symbol && (arg.space == "shared" || arg.space == "global" || arg.space == "const");
}

template <class Test>
inline bool is_vector(const Arg& arg, Test test) {
  const std::size_t n = arg.elements.size();
  return arg.kind == ArgKind::vector && (n == 1 || n == 2 || n == 4) &&
         std::all_of(arg.elements.begin(), arg.elements.end(), test);
}
inline bool all_of_type(const Arg& arg, Type type) {
  return std::all_of(arg.elements.begin(), arg.elements.end(), [&](const Arg& e) { return is_reg(e, type); });
}
inline int total_bits(const Arg& arg) {
  int total = 0;
  for (const Arg& e : arg.elements) total += e.kind == ArgKind::reg && e.type != Type::pred ? bits(e.type) : -10000;
  return total;
}

/// One operand of one form under its choices, and what stands there instead.
class Mismatch {
 public:
  Mismatch(const Form& form, const Choices& choices, const OperandSpec& spec, const Arg& arg, Target target)
      : form_(form), choices_(choices), spec_(spec), arg_(arg), target_(target), type_(form.type(spec.type, choices)) {}

  /// What ptxas overlooks, or "".
  [[nodiscard]] std::string_view leniency() const;

 private:
  bool opcode_is(std::string_view a, std::string_view b = {}, std::string_view c = {}) const {
    return form_.opcode == a || form_.opcode == b || form_.opcode == c;
  }
  bool has(std::string_view slot) const { return form_.slot(slot) >= 0; }
  bool form_has(std::string_view operand) const {
    return std::any_of(form_.operands.begin(), form_.operands.end(), [&](const OperandSpec& o) { return o.name == operand; });
  }
  bool wrote(std::string_view word) const {
    for (std::size_t i = 0; i < form_.slots.size(); ++i)
      if (form_.chosen(choices_, static_cast<int>(i)) == word) return true;
    return false;
  }
  bool scalar() const { return spec_.count.empty() || form_.count(spec_.count, choices_) == 1; }
  bool has_target(Target target) const { return allows(target_, node(target)); }
  // An mma that the target has, and not one that ptxas makes of others: those are stricter.
  bool is_native_mma() const {
    if (wrote("s4") || wrote("u4") || (wrote("sp") && has_target(sm_120))) return false;
    return !(wrote("e4m3") || wrote("e5m2")) || !has_target(sm_90) || has_target(sm_120);
  }
  bool reads() const { return spec_.access == Access::read; }
  bool packs_halves() const { return opcode_is("tex") && !reads() && type_ == Type::f16x2; }

  // operand_leniency.cpp
  std::string_view without_brackets() const;
  std::string_view policy_for_mbarrier() const;
  std::string_view integers_for_floats() const;
  std::string_view vector_for_bf16() const;
  std::string_view integers_for_bf16() const;
  std::string_view predicate_among_words() const;
  std::string_view not_a_predicate() const;
  std::string_view number_too_wide() const;
  std::string_view mov() const;
  std::string_view mov_to_vector() const;
  std::string_view count_of_mbarrier() const;
  std::string_view policy() const;
  std::string_view special_for_address() const;
  std::string_view part_of_halves() const;
  std::string_view name_with_offset() const;
  std::string_view floats_for_halves() const;
  std::string_view fence() const;
  std::string_view tensor_map() const;
  std::string_view asynchronous_store() const;
  // matrix_leniency.cpp
  std::string_view matrix() const;
  std::string_view constants(bool wide) const;
  std::string_view sparse() const;
  std::string_view surface() const;
  std::string_view texture() const;
  std::string_view register_in_disguise() const;
  bool refuses_specials() const;
  bool refuses_selectors(std::size_t elements) const;
  static bool is_selector(std::string_view part);
  bool fits_unmasked() const;
  std::string_view coordinates() const;
  std::string_view level_of_detail() const;

  const Form& form_;
  const Choices& choices_;
  const OperandSpec& spec_;
  const Arg& arg_;
  Target target_;
  Type type_;
};

}  // namespace ptx::isa::ptxas

// What `k.let(inst.fma.rn.f32, a, b, c)` finds while compiling: the type of the fresh register, as let.hpp finds it at run time.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "ptx/write/instruction.hpp"

namespace ptx::dots {

/// The destination of an instruction; `exists` is false where a fresh register cannot be it.
struct LetShape {
  Type type = Type::none;
  std::size_t count = 1;
  bool vector = false, exists = false;
  friend constexpr bool operator==(const LetShape&, const LetShape&) = default;
};

template <isa::FormId F, Words W>
consteval LetShape destination() {
  constexpr const auto& form = chosen<F, W>;
  if (form.operands.size() == 0) return {};
  const isa::OperandSpec& d = form.operands[0];
  const bool pair = form.operands.size() > 1 && form.operands[1].piped && !form.operands[1].optional;
  if (d.access != isa::Access::write || d.role != isa::Role::reg || d.optional || d.conditional || pair) return {};
  const Type type = isa::rules::type(form, d.type, form.choices);
  const int count = isa::rules::count(form, d.count, form.choices);
  if (type == Type::none || count < 1) return {};
  const bool vector = !d.count.empty() && (count > 1 || isa::rules::slot(form, d.count) < 0);
  return {type, static_cast<std::size_t>(count), vector, true};
}

/// Whether the sources fit the operands behind the destination.
template <isa::FormId F, Words W, class... X>
consteval bool sources_fit() {
  constexpr const auto& form = chosen<F, W>;
  std::array<std::size_t, isa::max_slots + sizeof...(X)> place{};
  std::size_t present = 0, required = 0;
  for (std::size_t i = 1; i < form.operands.size(); ++i) {
    const isa::OperandSpec& operand = form.operands[i];
    if (operand.piped || !isa::rules::present(form, operand, form.choices)) continue;
    place[present++] = i;
    if (!operand.optional) ++required;
  }
  if (sizeof...(X) < required || sizeof...(X) > present) return false;
  std::size_t next = 0;
  const auto fits = [&]<class Source>(const Source*) {
    const isa::OperandSpec& operand = form.operands[place[next++]];
    if constexpr (requires { As<Source>::arg; }) return isa::rules::operand_fits(form, form.choices, operand, As<Source>::arg);
    return false;
  };
  return (fits(static_cast<const X*>(nullptr)) && ...);
}

/// The first whole form of a node whose operands the sources fit; else its first with a destination, whose own complaint is the
/// better one. `D` stands for the type where it is not none.
template <Type D, class Node, class... X>
consteval LetShape let_shape() {
  LetShape best;
  if constexpr (requires { Node::forms; }) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto look = [&](LetShape shape, bool fit) {
        if (!shape.exists || (best.exists && !fit)) return false;
        best = shape;
        return fit;
      };
      (void)(look(destination<Node::forms[I], Node::words>(), sources_fit<Node::forms[I], Node::words, X...>()) || ...);
    }(std::make_index_sequence<Node::forms.size()>());
  }
  if (D != Type::none) best.type = D;
  return best;
}

/// The registers of a destination.
template <LetShape shape>
auto make_fresh(write::Builder& builder, Where at) {
  const auto fresh = [&] { return write::keep_error(builder, builder.reg(shape.type, {}, at), shape.type); };
  if constexpr (shape.vector) {
    std::array<write::Reg, shape.count> regs;
    for (write::Reg& reg : regs) reg = fresh();
    return RegVec<shape.type, shape.count>(builder, regs);
  } else {
    return Reg<shape.type>(builder, fresh());
  }
}

}  // namespace ptx::dots

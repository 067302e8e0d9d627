// What `k.let(inst.fma.rn.f32, a, b, c)` finds while compiling: the type of the fresh register, as let.hpp finds it at run time.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "ptx/write/instruction.hpp"

namespace ptx {
namespace write {

/// What a `let` is given behind its sources: `k.let(inst.ld.global_.f32, addr(p), on(inside).other(0))`.
struct On {
  ptx::Reg<Type::pred> predicate;
  bool negated = false;
  std::optional<Source> instead{};
  /// What the register is to be where the predicate is false, moved in before: one `mov` more. Without it, the register has no
  /// value there.
  On other(const Source& value) && {
    instead = value;
    return std::move(*this);
  }
};
template <class X>
inline constexpr bool is_on = std::same_as<X, On>;
/// `mov` of the value into each register; an error is kept.
void preset(Builder& builder, std::span<const Reg> regs, const Source& value);

}  // namespace write

/// For the end of a `let`: only threads whose predicate is true execute the instruction, `@p` in front.
inline write::On on(Reg<Type::pred> p) { return {std::move(p)}; }
inline write::On on(NegatedPred p) { return {std::move(p.reg), true}; }
}  // namespace ptx

namespace ptx::dots {

/// The destination of an instruction; `exists` is false where a fresh register cannot be it.
struct LetShape {
  Type type = Type::none;
  std::size_t count = 1;
  bool vector = false, exists = false;
  Type second = Type::none;  ///< of `p` in `d|p`, where the instruction has both always
  friend constexpr bool operator==(const LetShape&, const LetShape&) = default;
};

template <isa::FormId F, Words W>
consteval LetShape destination() {
  constexpr const auto& form = chosen<F, W>;
  if (form.operands.size() == 0) return {};
  const isa::OperandSpec& d = form.operands[0];
  if (!isa::is_result(d)) return {};
  const Type type = isa::rules::type(form, d.type, form.choices);
  const int count = isa::rules::count(form, d.count, form.choices);
  if (type == Type::none || count < 1) return {};
  const bool vector = !d.count.empty() && (count > 1 || isa::rules::slot(form, d.count) < 0);
  Type second = Type::none;
  if (form.operands.size() > 1 && form.operands[1].piped && !form.operands[1].optional)
    second = isa::rules::type(form, form.operands[1].type, form.choices);
  return {type, static_cast<std::size_t>(count), vector, true, second};
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

/// A second destination, `d|p`, is one register.
template <LetShape shape>
inline constexpr bool is_pair = shape.second != Type::none;

/// The registers of a destination.
template <LetShape shape>
auto make_fresh(write::Builder& builder, SourceLocation at) {
  const auto fresh = [&](Type type) { return write::keep_error(builder, builder.reg(type, {}, at), type); };
  if constexpr (shape.vector) {
    std::array<write::Reg, shape.count> regs;
    for (write::Reg& reg : regs) reg = fresh(shape.type);
    return RegVec<shape.type, shape.count>(builder, regs);
  } else if constexpr (is_pair<shape>) {
    const write::Reg first = fresh(shape.type), second = fresh(shape.second);
    return std::pair(Reg<shape.type>(builder, first), Reg<shape.second>(builder, second));
  } else {
    return Reg<shape.type>(builder, fresh(shape.type));
  }
}

template <Type T>
std::array<write::Reg, 1> untyped_of(const Reg<T>& reg) {
  return {reg.untyped()};
}
template <Type T, std::size_t N>
std::array<write::Reg, N> untyped_of(const RegVec<T, N>& vec) {
  return vec.untyped();
}
template <Type T, Type U>
std::array<write::Reg, 2> untyped_of(const std::pair<Reg<T>, Reg<U>>& pair) {
  return {pair.first.untyped(), pair.second.untyped()};
}

}  // namespace ptx::dots

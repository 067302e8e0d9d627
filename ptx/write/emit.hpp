// The steps that helpers are made of: a fresh register, an instruction, what follows from it, a refusal. Internal to the room.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/write/builder.hpp"

namespace ptx::write {

/// Writes one instruction, its dots as text.
template <class... V>
Expected<void> emit(Builder& builder, std::string_view dots, const Guard& guard, SourceLocation where, const V&... operands) {
  const std::array<Value, sizeof...(V)> values = {operands...};
  return builder.emit(dots, values, guard, where);
}

/// `dots r, operands…` into a fresh register of `type`, which is the result.
template <class... V>
Expected<Reg> emit_fresh(Builder& builder, Type type, std::string_view dots, const Guard& guard, SourceLocation where,
                         const V&... operands) {
  Expected<Reg> fresh = builder.reg(type, {}, where);
  if (!fresh) return fresh;
  if (auto written = emit(builder, dots, guard, where, Value::of(*fresh), operands...); !written)
    return Unexpected{std::move(written).error()};
  return fresh;
}

/// What is done with what was made, or why it was not.
template <class T, class Do>
auto then(const Expected<T>& made, Do what) -> decltype(what(*made)) {
  if (!made) return Unexpected{made.error()};
  return what(*made);
}

/// An error at the author's line, with a hint.
inline Unexpected refuse(Kind kind, std::string message, SourceLocation where, std::string_view hint = {}) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  d.where = where;
  if (!hint.empty()) d.hint(cat(hint));
  return {std::move(d)};
}

}  // namespace ptx::write

#include "ptx/write/registers.hpp"

#include <array>

#include "ptx/base/base.hpp"

namespace ptx::write {

Reg keep_error(Builder& builder, Expected<Reg> expected, Type type) {
  if (expected) return *expected;
  builder.fail(std::move(expected).error());
  const Expected<Reg> stand_in = builder.reg(type);
  return stand_in ? *stand_in : Reg{{}, type};
}

Reg write_binary(Builder& builder, Operator op, const Value& a, const Value& b, Type result, SourceLocation at) {
  const Builder::Mark begin = builder.begin_value(std::array{a, b});
  const Reg made = keep_error(builder, binary(builder, op, a, b, at), result);
  builder.end_value(begin, made);
  return made;
}

void write_in_place(Builder& builder, Operator op, Reg a, const Value& b, SourceLocation at) {
  if (auto written = in_place(builder, op, a, b, at); !written) builder.fail(std::move(written).error());
}

Reg write_comparison(Builder& builder, Comparison cmp, const Value& a, const Value& b, SourceLocation at) {
  const Builder::Mark begin = builder.begin_value(std::array{a, b});
  const Reg made = keep_error(builder, compare(builder, cmp, a, b, at), Type::pred);
  builder.end_value(begin, made);
  return made;
}

Reg write_negated(Builder& builder, const Value& a, Type result, SourceLocation at) {
  const Builder::Mark begin = builder.begin_value({&a, 1});
  const Reg made = keep_error(builder, negated(builder, a, at), result);
  builder.end_value(begin, made);
  return made;
}
Reg write_absolute(Builder& builder, const Value& a, Type result, SourceLocation at) {
  const Builder::Mark begin = builder.begin_value({&a, 1});
  const Reg made = keep_error(builder, absolute(builder, a, at), result);
  builder.end_value(begin, made);
  return made;
}
Reg write_view(Builder& builder, Reg reg, Type type, SourceLocation at) {
  return keep_error(builder, view(builder, reg, type, at), type);
}

std::size_t checked_index(Builder& builder, const Index& index, std::size_t count, std::string_view what) {
  if (index.value >= 0 && index.value < static_cast<std::int64_t>(count)) return static_cast<std::size_t>(index.value);
  Diagnostic d;
  d.kind = Kind::bad_operator;
  d.message = cat("index ", index.value, " of an array of ", count, ' ', what);
  d.where = index.at;
  builder.fail(std::move(d).hint(cat("its ", what, " are numbered 0 to ", count - 1)));
  return 0;
}

}  // namespace ptx::write

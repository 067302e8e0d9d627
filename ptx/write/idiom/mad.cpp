#include "ptx/write/idiom/mad.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

std::optional<Type> type_of(const Value& value) {
  if (value.kind == Value::Kind::reg) return value.reg.type;
  if (value.kind == Value::Kind::special) return isa::specials()[value.special].type;
  return std::nullopt;
}

// The opcode with its modifiers, and the type of the result.
Expected<std::pair<std::string, Type>> mad_words(Type type, std::string_view mode, SourceLocation where) {
  if (isa::is_float(type)) {
    if (mode == "lo") return std::pair(cat("fma.rn.", isa::name(type)), type);
    return refuse(Kind::operand_mismatch, cat("`ptx.mad` of .", isa::name(type), " registers has no mode `", mode, '`'), where);
  }
  const bool sign = isa::kind(type) == isa::TypeKind::sint || (mode == "lo" && isa::bits(type) >= 32);
  std::string dots = cat("mad.", mode, sign ? ".s" : ".u", isa::bits(type));
  if (mode != "wide") return std::pair(std::move(dots), type);
  if (isa::bits(type) > 32)
    return refuse(Kind::operand_mismatch, cat("`mad.wide` of .", isa::name(type), " registers: what fits is 16 or 32 bits"),
                  where);
  const bool untyped = isa::kind(type) == isa::TypeKind::bits;
  return std::pair(std::move(dots), isa::widened(!untyped ? type : isa::bits(type) == 16 ? Type::u16 : Type::u32));
}

}  // namespace

Expected<Mad> begin_mad(Builder& builder, std::span<Value, 3> operands, std::string_view mode, SourceLocation where) {
  std::optional<Type> type;
  for (Value& operand : operands) {
    if (!type) type = type_of(operand);
    if (operand.kind != Value::Kind::special) continue;
    const Expected<Reg> copy = move_to_fresh(builder, isa::specials()[operand.special].type, operand, where);
    if (!copy) return Unexpected{copy.error()};
    operand = Value::of(*copy);
  }
  if (!type)
    return refuse(Kind::argument_kind,
                  "one of the operands of `ptx.mad(a, b, c)` has to be a register: the result is of its type", where);
  auto words = mad_words(*type, mode, where);
  if (!words) return Unexpected{std::move(words).error()};
  const Expected<Reg> result = builder.reg(words->second, {}, where);
  if (!result) return Unexpected{result.error()};
  return Mad{std::move(words->first), *result};
}

Expected<Reg> mad(Builder& builder, std::span<const Value, 3> operands, std::string_view mode, const Guard& guard,
                  SourceLocation where) {
  std::array<Value, 3> values{};
  std::copy(operands.begin(), operands.end(), values.begin());
  const Expected<Mad> begun = begin_mad(builder, values, mode, where);
  if (!begun) return Unexpected{begun.error()};
  if (auto e = emit(builder, begun->dots, guard, where, Value::of(begun->result), values[0], values[1], values[2]); !e)
    return Unexpected{std::move(e).error()};
  return begun->result;
}

}  // namespace ptx::write::idiom

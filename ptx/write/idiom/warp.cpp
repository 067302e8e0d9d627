#include "ptx/write/idiom/warp.hpp"

#include <array>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"

namespace ptx::write::idiom {

Expected<void> warp_reduce(Builder& builder, Reduction op, Reg value, int width, SourceLocation where) {
  if (width != 2 && width != 4 && width != 8 && width != 16 && width != 32)
    return refuse(Kind::immediate_range, cat("a warp reduction over ", width, " lanes; what fits is 2, 4, 8, 16 or 32"), where,
                  "a warp has 32 lanes");
  const bool is_float = value.type == Type::f32 || value.type == Type::tf32;
  if (!is_float && value.type != Type::b32 && value.type != Type::u32 && value.type != Type::s32)
    return refuse(Kind::bad_operator,
                  cat("a warp reduction of the .", isa::name(value.type), " register `", builder.name(value),
                      "`; what fits is b32, u32, s32, f32 or tf32"),
                  where, "reduce two 32-bit halves, or convert first");

  const Type computed = is_float ? Type::f32 : value.type == Type::s32 ? Type::s32 : Type::u32;
  constexpr std::array opcodes = {"add.", "max.", "min."};
  const std::string combine = cat(opcodes[static_cast<std::size_t>(op)], isa::name(computed));
  Reg sent, received, other;  // `other` is `received`, as a float
  for (Reg* reg : {&sent, &received}) {
    const Expected<Reg> made = builder.reg(Type::b32);
    if (!made) return Unexpected{made.error()};
    *reg = *made;
  }
  other = received;
  if (is_float) {
    const Expected<Reg> made = builder.reg(Type::f32);
    if (!made) return Unexpected{made.error()};
    other = *made;
  }
  for (int mask = width / 2; mask >= 1; mask /= 2) {
    if (auto e = emit(builder, "mov.b32", {}, where, Value::of(sent), Value::of(value)); !e) return e;
    if (auto e = emit(builder, "shfl.sync.bfly.b32", {}, where, Value::of(received), Value::of(sent), Value::of_integer(mask),
                      Value::of_integer(31), Value::of_integer(-1));
        !e)
      return e;
    if (is_float)
      if (auto e = emit(builder, "mov.b32", {}, where, Value::of(other), Value::of(received)); !e) return e;
    if (auto e = emit(builder, combine, {}, where, Value::of(value), Value::of(value), Value::of(other)); !e) return e;
  }
  return {};
}

}  // namespace ptx::write::idiom

#include "ptx/vgpu/ops/product_words.hpp"

#include <vector>

namespace ptx::vgpu {
namespace {

// The types in the order they are written: d, a, b, c; of wmma with f16 factors only d and c.
struct Types {
  Type d = Type::none, a = Type::f16, b = Type::f16, c = Type::none;
};
std::optional<Types> types_of(const Decoding& in) {
  std::vector<Type> found;
  for (std::size_t i = 0; i < in.form().slots.size(); ++i)
    if (const auto type = isa::type_from_name(in.form().chosen(in.choices(), static_cast<int>(i)))) found.push_back(*type);
  if (found.size() == 2) return Types{found[0], Type::f16, Type::f16, found[1]};
  if (found.size() == 3) return Types{found[0], found[1], found[2], found[0]};  // wgmma
  if (found.size() < 4) return std::nullopt;
  return Types{found[0], found[1], found[2], found[3]};
}

}  // namespace

std::optional<Factor> factor_of(Type type) {
  switch (type) {
    case Type::f16:
      return Factor{num::DotFormat::f16, 16, 0};
    case Type::bf16:
      return Factor{num::DotFormat::bf16, 16, 0};
    case Type::tf32:
      return Factor{num::DotFormat::tf32, 32, 0};
    case Type::e4m3:
      return Factor{num::DotFormat::e4m3, 8, 0};
    case Type::e5m2:
      return Factor{num::DotFormat::e5m2, 8, 0};
    case Type::e3m2:
      return Factor{num::DotFormat::e3m2, 8, 0};
    case Type::e2m3:
      return Factor{num::DotFormat::e2m3, 8, 0};
    case Type::e2m1:
      return Factor{num::DotFormat::e2m1, 8, 2};  // in the middle of its byte
    default:
      return std::nullopt;
  }
}

isa::MatrixShape shape_of(const Decoding& in) {
  for (std::size_t i = 0; i < in.form().slots.size(); ++i) {
    const isa::MatrixShape shape = isa::matrix_shape(in.form().chosen(in.choices(), static_cast<int>(i)));
    if (shape.m != 0 && shape.n != 0 && shape.k != 0) return shape;
  }
  return {};
}

std::optional<std::string> read_product(Decoding& in, Product& p) {
  const isa::MatrixShape shape = shape_of(in);
  const auto types = types_of(in);
  if (shape.m == 0 || !types) return "the executor does not know its shape or types";
  p.m = static_cast<std::uint16_t>(shape.m), p.n = static_cast<std::uint16_t>(shape.n), p.k = static_cast<std::uint16_t>(shape.k);
  p.c_half = types->c == Type::f16, p.d_half = types->d == Type::f16;
  if (types->a == Type::f64) {
    p.arithmetic = Arithmetic::doubles;
    p.bits = 64;
    p.rounding = in.has("rnd") ? in.rounding("rnd") : num::Rounding::rn;
    return std::nullopt;
  }
  if (types->a == Type::b1) {
    p.arithmetic = in.chosen("op") == "xor" ? Arithmetic::bits_xor : Arithmetic::bits_and;
    p.bits = 32;
    return std::nullopt;
  }
  if (const auto a = factor_of(types->a), b = factor_of(types->b); a && b) {
    p.a_format = a->format, p.b_format = b->format;
    p.bits = a->bits;
    p.a_shift = a->shift, p.b_shift = b->shift;
    const auto unit = unit_of(in.target(), a->format, p.d_half && p.c_half);
    if (!unit) return "this target has no tensor core for it";
    p.unit = unit->unit;
    p.arithmetic = unit->two_steps ? Arithmetic::two_steps : Arithmetic::blocks;
    in.is_product = true;
    return std::nullopt;
  }
  p.arithmetic = Arithmetic::integers;
  p.bits = static_cast<std::uint8_t>(isa::bits(types->a));
  p.a_signed = types->a == Type::s8 || types->a == Type::s4;
  p.b_signed = types->b == Type::s8 || types->b == Type::s4;
  p.satfinite = in.has("satfinite");
  return std::nullopt;
}

}  // namespace ptx::vgpu

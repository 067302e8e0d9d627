// SwiGLU and GeGLU, element by element, and their gradients.
//
//     gate ─→ sigmoid(gate) · gate ─┐
//     up ───────────────────────────┴→ · → y
//
// Bound by memory, and by the number of instructions a byte for 16-bit elements. Blocks are small (128 threads with 8 elements
// each) and go through a row in no loop: all loads come first, and a multiprocessor has 16 blocks at a time. GELU by tanh is g *
// sigmoid(2 u), u = sqrt(2 / pi) (g + 0.044715 g^3): the same code with another argument.
//
// A matrix without gaps is one row of M * N elements. Else block y and z count its rows.
#include <tuple>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

constexpr double log2_e = 1.4426950408889634, c1 = 0.7978845608028654, c3 = 0.044715;

/// g^2, or a number so large that it makes no difference: of infinity there would be a NaN.
Reg<Type::f32> squared(Kernel& k, const Reg<Type::f32>& g) { return k.let(inst.min.f32, k.let(inst.mul.f32, g, g), 1e30); }

/// -u * log2(e) where the activation is g * sigmoid(u).
Reg<Type::f32> exponent(Kernel& k, bool gelu, const Reg<Type::f32>& g) {
  if (!gelu) return k.let(inst.mul.f32, g, -log2_e);
  const auto square = squared(k, g);
  const auto factor = k.scalar<Type::f32>(-2 * c1 * log2_e);
  k << inst.fma.rn.f32(factor, square, -2 * c1 * c3 * log2_e, factor);
  return k.let(inst.mul.f32, g, factor);
}

/// 1 / (1 + 2^x). Of a large x the power is infinity, and its reciprocal 0, as it should be.
Reg<Type::f32> sigmoid(Kernel& k, const Reg<Type::f32>& x) {
  const auto s = k.let(inst.ex2.approx.ftz.f32, x);
  k << inst.add.f32(s, s, 1.0);
  k << inst.rcp.approx.ftz.f32(s, s);
  return s;
}

/// As e4m3, by scales.
Expected<Kernel> write_scaled(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  Rows rows = is_elementwise(recipe) ? Rows(k, recipe, Rows::Flat{}) : Rows(k, recipe);
  const auto [gate, up] = rows.pair_of("X", "GATE", "UP");
  const std::vector<Piece> gates = rows.load_all(gate), ups = rows.load_all(up);
  store_scaled(rows, recipe, [&](int i) {
    const Values gs = rows.floats(gates[static_cast<std::size_t>(i)]), us = rows.floats(ups[static_cast<std::size_t>(i)]);
    Values out;
    for (std::size_t j = 0; j < gs.size(); ++j) {
      const auto active = k.let(inst.mul.f32, gs[j], sigmoid(k, exponent(k, recipe.operation == Operation::geglu, gs[j])));
      out.push_back(k.let(inst.mul.f32, active, us[j]));
    }
    return out;
  });
  k << inst.ret();
  return k;
}

}  // namespace

Expected<Kernel> write_gated(const Recipe& recipe) {
  if (recipe.e4m3) return write_scaled(recipe);
  const bool gelu = recipe.operation == Operation::geglu || recipe.operation == Operation::geglu_backward;
  const bool backward = recipe.operation == Operation::swiglu_backward || recipe.operation == Operation::geglu_backward;
  Kernel k(spec_of(recipe));
  Rows rows(k, recipe, Rows::Flat{});
  const auto [gate, up] = rows.pair_of("X", "GATE", "UP");
  std::optional<Reg<Type::b64>> dy, y, dgate, dup;
  if (backward) {
    dy = rows.row_of("DY");
    std::tie(dgate, dup) = rows.pair_of("DX", "DGATE", "DUP");
  } else {
    y = rows.row_of("Y");
  }
  const std::vector<Piece> gates = rows.load_all(gate), ups = rows.load_all(up);
  const std::vector<Piece> gradients = backward ? rows.load_all(*dy) : std::vector<Piece>();
  for (int i = 0; i < rows.passes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Values gs = rows.floats(gates[at]), us = rows.floats(ups[at]);
    const Values ds = backward ? rows.floats(gradients[at]) : Values();
    Values out, of_up;
    for (std::size_t j = 0; j < gs.size(); ++j) {
      const auto& g = gs[j];
      const auto s = sigmoid(k, exponent(k, gelu, g));
      const auto active = k.let(inst.mul.f32, g, s);
      if (!backward) {
        out.push_back(k.let(inst.mul.f32, active, us[j]));
        continue;
      }
      of_up.push_back(k.let(inst.mul.f32, ds[j], active));
      // d(g sigmoid(u)) = sigmoid + (g sigmoid) (1 - sigmoid) u', u' = 1, or for GELU 2 c1 (1 + 3 c3 g^2)
      auto slope = k.let(inst.sub.f32, active, k.let(inst.mul.f32, active, s));
      if (gelu) {
        const auto inner = k.scalar<Type::f32>(2 * c1);
        k << inst.fma.rn.f32(inner, squared(k, g), 6 * c1 * c3, inner);
        slope = k.let(inst.mul.f32, slope, inner);
      }
      const auto derivative = k.let(inst.add.f32, s, slope);
      out.push_back(k.let(inst.mul.f32, k.let(inst.mul.f32, ds[j], us[j]), derivative));
    }
    rows.store(backward ? *dgate : *y, i, out);
    if (backward) rows.store(*dup, i, of_up);
  }
  k << inst.ret();
  return k;
}

// Gradients that were computed for a factor of 1 get another one: blocks end at once where it is 1.
Expected<Kernel> write_rescale(const Recipe& recipe) {
  Kernel k(spec_of(recipe));
  const auto [pointer] = k.global_ptrs("FACTOR");
  const auto factor = k.let(inst.ld.global_.nc.f32, addr(pointer));
  k << inst.ret().on(factor == 1.0);
  Rows rows(k, recipe, Rows::Flat{});
  const auto x = rows.row_of("X"), y = rows.row_of("Y");
  const std::vector<Piece> pieces = rows.load_all(x);
  for (int i = 0; i < rows.passes(); ++i) {
    Values out;
    for (const auto& value : rows.floats(pieces[static_cast<std::size_t>(i)])) out.push_back(k.let(inst.mul.f32, value, factor));
    rows.store(y, i, out);
  }
  k << inst.ret();
  return k;
}

}  // namespace ptx::kernels

// Floating-point arithmetic in f32 and f64 (manual: "Floating Point Instructions").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row floating[] = {
  row("add{.rnd}{.ftz}{.sat}.f32  d:=.f32, a:.f32, b:.f32 ; .rnd = { .rn, .rz, .rm @sm_20, .rp @sm_20 }",
      since(1,0), on(sm_10), Effect::pure, exec("add_f32"), doc("floating-point-instructions-add", "d = a + b, rounded once.")),
  row("add{.rnd}.f64  d:=.f64, a:.f64, b:.f64 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_13), Effect::pure, exec("add_f64"), doc("floating-point-instructions-add", "d = a + b, rounded once.")),
  row("sub{.rnd}{.ftz}{.sat}.f32  d:=.f32, a:.f32, b:.f32 ; .rnd = { .rn, .rz, .rm @sm_20, .rp @sm_20 }",
      since(1,0), on(sm_10), Effect::pure, exec("sub_f32"), doc("floating-point-instructions-sub", "d = a - b, rounded once.")),
  row("sub{.rnd}.f64  d:=.f64, a:.f64, b:.f64 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_13), Effect::pure, exec("sub_f64"), doc("floating-point-instructions-sub", "d = a - b, rounded once.")),
  row("mul{.rnd}{.ftz}{.sat}.f32  d:=.f32, a:.f32, b:.f32 ; .rnd = { .rn, .rz, .rm @sm_20, .rp @sm_20 }",
      since(1,0), on(sm_10), Effect::pure, exec("mul_f32"), doc("floating-point-instructions-mul", "d = a * b, rounded once.")),
  row("mul{.rnd}.f64  d:=.f64, a:.f64, b:.f64 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,0), on(sm_13), Effect::pure, exec("mul_f64"), doc("floating-point-instructions-mul", "d = a * b, rounded once.")),
  row("fma.rnd{.ftz}{.sat}.f32  d:=.f32, a:.f32, b:.f32, c:.f32 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(2,0), on(sm_20), Effect::pure, exec("fma_f32"), doc("floating-point-instructions-fma", "d = a * b + c, rounded once.")),
  row("fma.rnd.f64  d:=.f64, a:.f64, b:.f64, c:.f64 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,4), on(sm_13), Effect::pure, exec("fma_f64"), doc("floating-point-instructions-fma", "d = a * b + c, rounded once.")),
  row("min{.ftz}{.NaN}.f32  d:=.f32, a:.f32, b:.f32 ; .NaN = { .NaN @7.0 @sm_80 }",
      since(1,0), on(sm_10), Effect::pure, exec("min_f32"), doc("floating-point-instructions-min", "the smaller of a and b; a NaN loses, unless .NaN.")),
  row("max{.ftz}{.NaN}.f32  d:=.f32, a:.f32, b:.f32 ; .NaN = { .NaN @7.0 @sm_80 }",
      since(1,0), on(sm_10), Effect::pure, exec("max_f32"), doc("floating-point-instructions-max", "the larger of a and b; a NaN loses, unless .NaN.")),
  row("abs{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("abs_f32"), doc("floating-point-instructions-abs", "d = |a|.")),
  row("neg{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("neg_f32"), doc("floating-point-instructions-neg", "d = -a.")),
  row("div.approx{.ftz}.f32  d:=.f32, a:.f32, b:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("div_approx_f32"), doc("floating-point-instructions-div", "d = a / b within 2 ulp.")),
  row("div.full{.ftz}.f32  d:=.f32, a:.f32, b:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("div_full_f32"), doc("floating-point-instructions-div", "d = a / b within 2 ulp over the full range.")),
  row("div.rnd{.ftz}.f32  d:=.f32, a:.f32, b:.f32 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,4), on(sm_20), Effect::pure, exec("div_f32"), doc("floating-point-instructions-div", "d = a / b, rounded once.")),
  row("rcp.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("rcp_approx_f32"), doc("floating-point-instructions-rcp", "d = 1 / a within 1 ulp.")),
  row("rcp.rnd{.ftz}.f32  d:=.f32, a:.f32 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,4), on(sm_20), Effect::pure, exec("rcp_f32"), doc("floating-point-instructions-rcp", "d = 1 / a, rounded once.")),
  row("sqrt.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("sqrt_approx_f32"), doc("floating-point-instructions-sqrt", "the square root of a, approximately.")),
  row("sqrt.rnd{.ftz}.f32  d:=.f32, a:.f32 ; .rnd = { .rn, .rz, .rm, .rp }",
      since(1,4), on(sm_20), Effect::pure, exec("sqrt_f32"), doc("floating-point-instructions-sqrt", "the square root of a, rounded once.")),
  row("rsqrt.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("rsqrt_approx_f32"), doc("floating-point-instructions-rsqrt", "1 / the square root of a, approximately.")),
  row("sin.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("sin_approx_f32"), doc("floating-point-instructions-sin", "the sine of a, approximately.")),
  row("cos.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("cos_approx_f32"), doc("floating-point-instructions-cos", "the cosine of a, approximately.")),
  row("lg2.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("lg2_approx_f32"), doc("floating-point-instructions-lg2", "the binary logarithm of a, approximately.")),
  row("ex2.approx{.ftz}.f32  d:=.f32, a:.f32 ;",
      since(1,4), on(sm_10), Effect::pure, exec("ex2_approx_f32"), doc("floating-point-instructions-ex2", "2 to the power a, approximately.")),
  row("tanh.approx.f32  d:=.f32, a:.f32 ;",
      since(7,0), on(sm_75), Effect::pure, exec("tanh_approx_f32"), doc("floating-point-instructions-tanh", "the hyperbolic tangent of a, approximately.")),
};
// clang-format on

}  // namespace ptx::isa::table

// Operators, control flow and idioms, against the tables of operators.hpp, control.hpp and warp.hpp.
#include "ptx/write/operators.hpp"

#include <gtest/gtest.h>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "tests/write/written.hpp"

namespace ptx::write {
namespace {

using write_test::Lines;
using write_test::written;

constexpr SourceLocation line_9{"kernel.py", 9};
const Value five = Value::of_integer(5);
Value special(std::string_view name) { return Value::of_special(*isa::special_from_name(name)); }

// The lines that one operator writes, and the type of its result.
struct Written {
  Lines lines;
  Type type = Type::none;
  friend bool operator==(const Written&, const Written&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Written& w) {
    for (const std::string& line : w.lines) out << line << ' ';
    return out << isa::name(w.type);
  }
};
Written result_of(Builder& b, const Expected<Reg>& result) {
  if (!result) return {{std::string(name(result.error().kind))}, Type::none};
  return {written(b.module()), result->type};
}
Written do_binary(Operator op, Type left, std::optional<Type> right) {
  Builder b({.name = "k"});
  const Reg a = *b.reg(left);
  const Value other = right ? Value::of(*b.reg(*right)) : five;
  return result_of(b, binary(b, op, Value::of(a), other, line_9));
}
Written do_in_place(Operator op, Type left, std::optional<Type> right) {
  Builder b({.name = "k"});
  const Reg a = *b.reg(left);
  const Value other = right ? Value::of(*b.reg(*right)) : five;
  return result_of(b, in_place(b, op, a, other, line_9));
}

TEST(Binary, Sums) {
  EXPECT_EQ(do_binary(Operator::add, u32, u32), (Written{{"add.u32 %r2, %r0, %r1;"}, u32}));
  EXPECT_EQ(do_binary(Operator::add, b32, {}), (Written{{"add.u32 %r1, %r0, 5;"}, b32}));
  EXPECT_EQ(do_binary(Operator::add, s32, u32), (Written{{"add.s32 %r2, %r0, %r1;"}, s32}));
  EXPECT_EQ(do_binary(Operator::add, b64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "add.s64 %rd2, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_binary(Operator::add, u64, s32), (Written{{"cvt.s64.s32 %rd1, %r0;", "add.s64 %rd2, %rd0, %rd1;"}, u64}));
  EXPECT_EQ(do_binary(Operator::add, u32, b64), (Written{{"cvt.u64.u32 %rd1, %r0;", "add.s64 %rd2, %rd1, %rd0;"}, u64}));
  EXPECT_EQ(do_binary(Operator::add, s32, u64), (Written{{"cvt.s64.s32 %rd1, %r0;", "add.s64 %rd2, %rd1, %rd0;"}, u64}));
  EXPECT_EQ(do_binary(Operator::add, s64, {}), (Written{{"add.s64 %rd1, %rd0, 5;"}, s64}));
  EXPECT_EQ(do_binary(Operator::sub, u32, u32), (Written{{"sub.s32 %r2, %r0, %r1;"}, u32}));
  EXPECT_EQ(do_binary(Operator::sub, u64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "sub.s64 %rd2, %rd0, %rd1;"}, u64}));
  EXPECT_EQ(do_binary(Operator::sub, u32, u64).lines, (Lines{"bad_operator"}));
}

TEST(Binary, Products) {
  EXPECT_EQ(do_binary(Operator::mul, u32, {}), (Written{{"mul.lo.s32 %r1, %r0, 5;"}, u32}));
  EXPECT_EQ(do_binary(Operator::mul, u32, u32), (Written{{"mul.lo.u32 %r2, %r0, %r1;"}, u32}));
  EXPECT_EQ(do_binary(Operator::mul, u64, {}), (Written{{"mul.lo.u64 %rd1, %rd0, 5;"}, u64}));
  EXPECT_EQ(do_binary(Operator::mul, b64, s32), (Written{{"cvt.s64.s32 %rd1, %r0;", "mul.lo.u64 %rd2, %rd0, %rd1;"}, b64}));
}

TEST(Binary, Shifts) {
  EXPECT_EQ(do_binary(Operator::shl, s32, {}), (Written{{"shl.b32 %r1, %r0, 5;"}, s32}));
  EXPECT_EQ(do_binary(Operator::shl, u64, u32), (Written{{"shl.b64 %rd1, %rd0, %r0;"}, u64}));
  EXPECT_EQ(do_binary(Operator::shr, u32, {}), (Written{{"shr.u32 %r1, %r0, 5;"}, u32}));
  EXPECT_EQ(do_binary(Operator::shr, b32, {}), (Written{{"shr.u32 %r1, %r0, 5;"}, b32}));
  EXPECT_EQ(do_binary(Operator::shr, s32, {}), (Written{{"shr.s32 %r1, %r0, 5;"}, s32}));
  EXPECT_EQ(do_binary(Operator::shr, s64, {}), (Written{{"shr.s64 %rd1, %rd0, 5;"}, s64}));
  EXPECT_EQ(do_binary(Operator::shr, u64, {}), (Written{{"shr.u64 %rd1, %rd0, 5;"}, u64}));
  Builder b({.name = "k"});
  EXPECT_EQ(binary(b, Operator::shl, Value::of(*b.reg(u32)), Value::of_integer(-1), line_9).error().kind, Kind::bad_operator);
}

TEST(Binary, BitsAndMax) {
  EXPECT_EQ(do_binary(Operator::and_, u32, {}), (Written{{"and.b32 %r1, %r0, 5;"}, u32}));
  EXPECT_EQ(do_binary(Operator::or_, b64, u64), (Written{{"or.b64 %rd2, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_binary(Operator::xor_, s32, b32), (Written{{"xor.b32 %r2, %r0, %r1;"}, s32}));
  EXPECT_EQ(do_binary(Operator::and_, u64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "and.b64 %rd2, %rd0, %rd1;"}, u64}));
  EXPECT_EQ(do_binary(Operator::or_, b64, s32), (Written{{"cvt.s64.s32 %rd1, %r0;", "or.b64 %rd2, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_binary(Operator::xor_, u32, u64), (Written{{"cvt.u64.u32 %rd1, %r0;", "xor.b64 %rd2, %rd1, %rd0;"}, u64}));
  EXPECT_EQ(do_binary(Operator::and_, u32, f32), (Written{{"and.b32 %r1, %r0, %f0;"}, u32}));
  EXPECT_EQ(do_binary(Operator::or_, b32, bf16x2), (Written{{"or.b32 %r1, %r0, %hh0;"}, b32}));
  EXPECT_EQ(do_binary(Operator::xor_, u64, f64), (Written{{"xor.b64 %rd1, %rd0, %fd0;"}, u64}));
  EXPECT_EQ(do_binary(Operator::and_, u64, f32).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(do_binary(Operator::and_, f32, u32).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(do_binary(Operator::max, u32, {}), (Written{{"max.u32 %r1, %r0, 5;"}, u32}));
  EXPECT_EQ(do_binary(Operator::max, s32, {}), (Written{{"max.s32 %r1, %r0, 5;"}, s32}));
  EXPECT_EQ(do_binary(Operator::max, u64, {}).lines, (Lines{"bad_operator"}));
}

TEST(Binary, TypesWithoutOperators) {
  for (const Type type : {f16, u16, b8, pred, bf16x2})  // PTX has no number of f16
    EXPECT_EQ(do_binary(Operator::add, type, {}).lines, (Lines{"bad_operator"})) << isa::name(type);
  EXPECT_EQ(do_binary(Operator::or_, u32, pred).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(do_binary(Operator::add, u32, f32).lines, (Lines{"bad_operator"}));
  Builder b({.name = "k"});
  const Reg r = *b.reg(u32);
  EXPECT_EQ(binary(b, Operator::add, Value::of(r), Value::of_floating(1.5), line_9).error().kind, Kind::bad_operator);
  const auto zero = binary(b, Operator::div, Value::of(r), Value::of_integer(0), line_9);
  ASSERT_FALSE(zero);
  EXPECT_EQ(zero.error().where, line_9);
  EXPECT_EQ(b.size(), 0u);
}

TEST(Binary, Floats) {
  EXPECT_EQ(do_binary(Operator::add, f32, f32), (Written{{"add.rn.f32 %f2, %f0, %f1;"}, f32}));
  EXPECT_EQ(do_binary(Operator::sub, f32, {}), (Written{{"sub.rn.f32 %f1, %f0, 0f40A00000;"}, f32}));
  EXPECT_EQ(do_binary(Operator::mul, f64, {}), (Written{{"mul.rn.f64 %fd1, %fd0, 0d4014000000000000;"}, f64}));
  EXPECT_EQ(do_binary(Operator::true_div, f32, f32), (Written{{"div.rn.f32 %f2, %f0, %f1;"}, f32}));
  EXPECT_EQ(do_binary(Operator::add, bf16, bf16), (Written{{"add.rn.bf16 %h2, %h0, %h1;"}, bf16}));
  EXPECT_EQ(do_binary(Operator::mul, f16x2, f16x2), (Written{{"mul.rn.f16x2 %hh2, %hh0, %hh1;"}, f16x2}));
  EXPECT_EQ(do_binary(Operator::min, f32, {}), (Written{{"min.f32 %f1, %f0, 0f40A00000;"}, f32}));
  EXPECT_EQ(do_in_place(Operator::mul, f32, f32), (Written{{"mul.rn.f32 %f0, %f0, %f1;"}, f32}));
  for (const auto& [op, left, right] : {std::tuple(Operator::add, f32, f64),
                                        {Operator::add, f32, u32},
                                        {Operator::rem, f32, f32},
                                        {Operator::floor_div, f32, f32},
                                        {Operator::true_div, f16, f16},
                                        {Operator::shl, f32, u32}})
    EXPECT_EQ(do_binary(op, left, right).lines, (Lines{"bad_operator"})) << isa::name(left);
}

TEST(Binary, Divisions) {
  EXPECT_EQ(do_binary(Operator::floor_div, u32, {}), (Written{{"div.u32 %r1, %r0, 5;"}, u32}));
  EXPECT_EQ(do_binary(Operator::floor_rem, b64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "rem.u64 %rd2, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_binary(Operator::div, s32, s32), (Written{{"div.s32 %r2, %r0, %r1;"}, s32}));
  EXPECT_EQ(do_binary(Operator::rem, s64, {}), (Written{{"rem.s64 %rd1, %rd0, 5;"}, s64}));
  EXPECT_EQ(do_binary(Operator::floor_div, s32, {}).lines, (Lines{"bad_operator"}));  // Python rounds down
  EXPECT_EQ(do_binary(Operator::true_div, u32, {}).lines, (Lines{"bad_operator"}));
}

TEST(Unary, MinusAndAbsolute) {
  const auto of = [](Type type, auto function) {
    Builder b({.name = "k"});
    const Reg a = *b.reg(type);
    return result_of(b, function(b, Value::of(a), line_9));
  };
  EXPECT_EQ(of(u32, negated), (Written{{"neg.s32 %r1, %r0;"}, u32}));
  EXPECT_EQ(of(s64, negated), (Written{{"neg.s64 %rd1, %rd0;"}, s64}));
  EXPECT_EQ(of(bf16, negated), (Written{{"neg.bf16 %h1, %h0;"}, bf16}));
  EXPECT_EQ(of(s32, absolute), (Written{{"abs.s32 %r1, %r0;"}, s32}));
  EXPECT_EQ(of(f64, absolute), (Written{{"abs.f64 %fd1, %fd0;"}, f64}));
  EXPECT_EQ(of(u32, absolute).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(of(pred, negated).lines, (Lines{"bad_operator"}));
}

TEST(Binary, NumbersOnTheLeft) {
  Builder b({.name = "k"});
  const Value r = Value::of(*b.reg(u32));
  for (const Operator op : {Operator::add, Operator::mul, Operator::and_, Operator::or_, Operator::xor_})
    ASSERT_TRUE(binary(b, op, five, r, line_9));
  EXPECT_EQ(written(b.module()), (Lines{"add.u32 %r1, %r0, 5;", "mul.lo.s32 %r2, %r0, 5;", "and.b32 %r3, %r0, 5;",
                                        "or.b32 %r4, %r0, 5;", "xor.b32 %r5, %r0, 5;"}));
}

TEST(Binary, SpecialRegistersAreCopiedOnEitherSide) {
  Builder b({.name = "k"});
  ASSERT_TRUE(binary(b, Operator::add, special("%tid.x"), Value::of_integer(1), line_9));
  ASSERT_TRUE(binary(b, Operator::mul, special("%ctaid.x"), special("%ntid.x"), line_9));
  ASSERT_TRUE(in_place(b, Operator::add, *b.reg(u64), special("%laneid"), line_9));
  ASSERT_TRUE(compare(b, Comparison::lt, special("%tid.x"), special("%ntid.x"), line_9));
  EXPECT_EQ(written(b.module()),
            (Lines{"mov.u32 %r0, %tid.x;", "add.u32 %r1, %r0, 1;", "mov.u32 %r2, %ctaid.x;", "mov.u32 %r3, %ntid.x;",
                   "mul.lo.u32 %r4, %r2, %r3;", "mov.u32 %r5, %laneid;", "cvt.u64.u32 %rd1, %r5;", "add.s64 %rd0, %rd0, %rd1;",
                   "mov.u32 %r6, %tid.x;", "mov.u32 %r7, %ntid.x;", "setp.lt.u32 %p0, %r6, %r7;"}));
}

TEST(InPlace, WritesToItsLeftSide) {
  EXPECT_EQ(do_in_place(Operator::add, u32, {}), (Written{{"add.u32 %r0, %r0, 5;"}, u32}));
  EXPECT_EQ(do_in_place(Operator::add, b64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "add.s64 %rd0, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_in_place(Operator::add, u32, u64).lines, (Lines{"bad_operator"}));  // the sum has no room
  EXPECT_EQ(do_in_place(Operator::and_, b64, u32), (Written{{"cvt.u64.u32 %rd1, %r0;", "and.b64 %rd0, %rd0, %rd1;"}, b64}));
  EXPECT_EQ(do_in_place(Operator::or_, u32, u64).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(do_in_place(Operator::sub, s32, {}), (Written{{"sub.s32 %r0, %r0, 5;"}, s32}));
  EXPECT_EQ(do_in_place(Operator::mul, u32, {}), (Written{{"mul.lo.s32 %r0, %r0, 5;"}, u32}));
  EXPECT_EQ(do_in_place(Operator::shl, u32, {}), (Written{{"shl.b32 %r0, %r0, 5;"}, u32}));
  EXPECT_EQ(do_in_place(Operator::shr, s32, {}), (Written{{"shr.s32 %r0, %r0, 5;"}, s32}));
  EXPECT_EQ(do_in_place(Operator::xor_, b32, {}), (Written{{"xor.b32 %r0, %r0, 5;"}, b32}));
}

TEST(Compare, InTheLeftSidesType) {
  const auto of = [](Comparison cmp, Type left, Value right) {
    Builder b({.name = "k"});
    return result_of(b, compare(b, cmp, Value::of(*b.reg(left)), right, line_9));
  };
  EXPECT_EQ(of(Comparison::eq, u32, five), (Written{{"setp.eq.u32 %p0, %r0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::ne, b32, five), (Written{{"setp.ne.u32 %p0, %r0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::lt, s32, five), (Written{{"setp.lt.s32 %p0, %r0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::le, b64, five), (Written{{"setp.le.u64 %p0, %rd0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::gt, s64, five), (Written{{"setp.gt.s64 %p0, %rd0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::ge, u16, five), (Written{{"setp.ge.u16 %p0, %rs0, 5;"}, pred}));
  EXPECT_EQ(of(Comparison::lt, f32, Value::of_floating(0.5)), (Written{{"setp.lt.f32 %p0, %f0, 0f3F000000;"}, pred}));
  EXPECT_EQ(of(Comparison::lt, f64, five), (Written{{"setp.lt.f64 %p0, %fd0, 0d4014000000000000;"}, pred}));
  EXPECT_EQ(of(Comparison::eq, pred, five).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(of(Comparison::eq, f16, five).lines, (Lines{"bad_operator"}));  // PTX has no literal of f16
  EXPECT_EQ(of(Comparison::eq, e4m3, five).lines, (Lines{"bad_operator"}));
  for (const Type half : {f16, bf16}) {
    Builder halves({.name = "k"});
    const Value a = Value::of(*halves.reg(half)), b = Value::of(*halves.reg(half));
    EXPECT_EQ(result_of(halves, compare(halves, Comparison::lt, a, b, line_9)),
              (Written{{cat("setp.lt.", isa::name(half), " %p0, %h0, %h1;")}, pred}));
  }
  EXPECT_EQ(of(Comparison::eq, u32, Value::of_symbol("x")).lines, (Lines{"bad_operator"}));
  EXPECT_EQ(of(Comparison::eq, u32, Value::of_floating(1)).lines, (Lines{"operand_mismatch"}));
  Builder b({.name = "k"});
  EXPECT_EQ(result_of(b, compare(b, Comparison::lt, five, Value::of(*b.reg(u32)), line_9)),
            (Written{{"setp.gt.u32 %p0, %r0, 5;"}, pred}));
}

TEST(Scalar, StartsWithAMov) {
  const auto of = [](Type type, Value init) {
    Builder b({.name = "k"});
    return result_of(b, scalar(b, type, init, {}, line_9));
  };
  EXPECT_EQ(of(u32, five), (Written{{"mov.u32 %r0, 5;"}, u32}));
  EXPECT_EQ(of(f32, Value::of_floating(0)), (Written{{"mov.f32 %f0, 0f00000000;"}, f32}));
  EXPECT_EQ(of(f32, Value::of_integer(1)), (Written{{"mov.f32 %f0, 0f3F800000;"}, f32}));
  EXPECT_EQ(of(f64, Value::of_floating(1)), (Written{{"mov.f64 %fd0, 0d3FF0000000000000;"}, f64}));
  EXPECT_EQ(of(tf32, Value::of_floating(1)), (Written{{"mov.b32 %r0, 0f3F800000;"}, tf32}));
  EXPECT_EQ(of(tf32, Value::of_integer(1)), (Written{{"mov.b32 %r0, 0f3F800000;"}, tf32}));
  EXPECT_EQ(of(u8, five), (Written{{"mov.b32 %r0, 5;"}, u8}));
  EXPECT_EQ(of(bf16x2, Value::of_integer(0x3F803F80)), (Written{{"mov.b32 %hh0, 1065369472;"}, bf16x2}));
  EXPECT_EQ(of(f16, Value::of_integer(0)), (Written{{"mov.b16 %h0, 0;"}, f16}));
  EXPECT_EQ(of(e4m3, Value::of_integer(7)), (Written{{"mov.b16 %b0, 7;"}, e4m3}));
  EXPECT_EQ(of(f16, Value::of_floating(1)).lines, (Lines{"argument_kind"}));
  EXPECT_EQ(of(bf16, Value::of_integer(1)).lines, (Lines{"argument_kind"}));
  EXPECT_EQ(of(u16, Value::of_floating(1)).lines, (Lines{"argument_kind"}));
  for (const Type pair : {f16x2, bf16x2}) EXPECT_EQ(of(pair, Value::of_floating(1.5)).lines, (Lines{"argument_kind"}));
  EXPECT_EQ(of(u32, special("%tid.x")), (Written{{"mov.u32 %r0, %tid.x;"}, u32}));
  EXPECT_EQ(of(u32, Value::of_symbol("smem")), (Written{{"mov.u32 %r0, smem;"}, u32}));
  EXPECT_EQ(of(u64, special("%clock64")), (Written{{"mov.u64 %rd0, %clock64;"}, u64}));
  Builder b({.name = "k"});
  const Reg h = *b.reg(bf16);
  EXPECT_EQ(result_of(b, move_to_fresh(b, bf16, Value::of(h), line_9)), (Written{{"mov.b16 %h1, %h0;"}, bf16}));
}

TEST(Params, AreLoaded) {
  Builder b({.name = "k"});
  ASSERT_TRUE(b.param({}, "X", line_9));
  ir::Param n;
  n.type = f16;
  ASSERT_TRUE(b.param(n, "n", line_9));
  ASSERT_TRUE(global_ptr(b, "X", line_9));
  ASSERT_TRUE(load_param(b, f16, "n", line_9));
  ASSERT_TRUE(load_param(b, u64, "X", line_9));
  EXPECT_EQ(written(b.module()), (Lines{"ld.param.u64 %rd0, [X];", "cvta.to.global.u64 %rd0, %rd0;", "ld.param.b16 %h0, [n];",
                                        "ld.param.u64 %rd1, [X];"}));
  const auto missing = global_ptr(b, "x", line_9);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Kind::undefined_symbol);
  EXPECT_EQ(missing.error().message, "the kernel has no parameter `x`; it has `X` or `n`");
}

// ---- control flow

struct ControlTest : ::testing::Test {
  Builder b{{.name = "k"}};
  Reg p = *b.reg(Type::pred), r = *b.reg(Type::u32);
  void body(int n) { ASSERT_TRUE(b.emit("mov.u32", std::vector{Value::of(r), Value::of_integer(n)}, {}, line_9)); }
};

TEST_F(ControlTest, If) {
  const auto open = begin_if(b, Value::of(p), line_9);
  ASSERT_TRUE(open);
  body(1);
  ASSERT_TRUE(end_if(b, *open, line_9));
  EXPECT_EQ(written(b.module()), (Lines{"@!%p0 bra $_else_0;", "mov.u32 %r0, 1;", "bra $_endif_1;", "$_else_0:", "$_endif_1:"}));
  EXPECT_TRUE(b.finish());
}

TEST_F(ControlTest, IfElse) {
  Value not_p = Value::of(p);
  not_p.negated = true;
  const auto open = begin_if(b, not_p, line_9);
  body(1);
  ASSERT_TRUE(end_if(b, *open, line_9));
  const auto other = begin_else(b, line_9);
  ASSERT_TRUE(other);
  body(2);
  ASSERT_TRUE(end_else(b, *other, line_9));
  EXPECT_EQ(written(b.module()),
            (Lines{"@%p0 bra $_else_0;", "mov.u32 %r0, 1;", "bra $_endif_1;", "$_else_0:", "mov.u32 %r0, 2;", "$_endif_1:"}));
  EXPECT_TRUE(b.finish());
}

TEST_F(ControlTest, AnInnerIfDoesNotDisturbTheOuterElse) {
  const auto outer = begin_if(b, Value::of(p), line_9);
  const auto inner = begin_if(b, Value::of(p), line_9);
  body(1);
  ASSERT_TRUE(end_if(b, *inner, line_9));
  ASSERT_TRUE(end_if(b, *outer, line_9));
  const auto other = begin_else(b, line_9);
  ASSERT_TRUE(other);
  body(2);
  ASSERT_TRUE(end_else(b, *other, line_9));
  EXPECT_EQ(written(b.module()),
            (Lines{"@!%p0 bra $_else_0;", "@!%p0 bra $_else_2;", "mov.u32 %r0, 1;", "bra $_endif_3;",
                   "$_else_2:", "$_endif_3:", "bra $_endif_1;", "$_else_0:", "mov.u32 %r0, 2;", "$_endif_1:"}));
  EXPECT_TRUE(b.finish());
}

TEST_F(ControlTest, ElseOutOfPlace) {
  EXPECT_EQ(begin_else(b, line_9).error().kind, Kind::bad_control_flow);
  const auto open = begin_if(b, Value::of(p), line_9);
  EXPECT_EQ(begin_else(b, line_9).error().kind, Kind::bad_control_flow);
  ASSERT_TRUE(end_if(b, *open, line_9));
  body(1);  // between the two
  EXPECT_EQ(begin_else(b, line_9).error().kind, Kind::bad_control_flow);
}

TEST_F(ControlTest, IfTakesAPredicate) {
  EXPECT_EQ(begin_if(b, Value::of(r), line_9).error().kind, Kind::bad_guard);
  EXPECT_EQ(begin_if(b, five, line_9).error().kind, Kind::bad_guard);
  EXPECT_EQ(branch(b, "x", {r, false}, line_9).error().kind, Kind::bad_guard);
}

TEST_F(ControlTest, Loops) {
  ASSERT_TRUE(begin_loop(b, "top", line_9));
  body(1);
  ASSERT_TRUE(end_loop(b, "top", {p, false}, line_9));
  ASSERT_TRUE(begin_loop(b, "ever", line_9));
  ASSERT_TRUE(end_loop(b, "ever", {}, line_9));
  ASSERT_TRUE(ret(b, {p, true}, line_9));
  EXPECT_EQ(written(b.module()), (Lines{"top:", "mov.u32 %r0, 1;", "@%p0 bra top;", "ever:", "bra.uni ever;", "@!%p0 ret;"}));
}

TEST_F(ControlTest, Ranges) {
  const auto open = begin_range(b, Value::of_integer(0), Value::of(r), Value::of_integer(2), line_9);
  ASSERT_TRUE(open);
  body(1);
  ASSERT_TRUE(end_range(b, *open, line_9));
  EXPECT_EQ(written(b.module()), (Lines{"mov.s32 %ri0, 0;", "$_range_0:", "setp.ge.s32 %p1, %ri0, %r0;", "@%p1 bra $_endrange_1;",
                                        "mov.u32 %r0, 1;", "add.s32 %ri0, %ri0, 2;", "bra $_range_0;", "$_endrange_1:"}));
  const auto down = begin_range(b, special("%ntid.x"), Value::of_integer(0), Value::of_integer(-1), line_9);
  ASSERT_TRUE(down);
  ASSERT_TRUE(end_range(b, *down, line_9));
  EXPECT_EQ(written(b.module())[8], "mov.s32 %ri1, %ntid.x;");
  EXPECT_EQ(written(b.module())[10], "setp.le.s32 %p2, %ri1, 0;");
  EXPECT_EQ(begin_range(b, five, five, Value::of_integer(0), line_9).error().kind, Kind::bad_control_flow);
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(write_test::declared(*module), (Lines{".pred %p<3>", ".b32 %r<1>", ".b32 %ri<2>"}));
}

// ---- idioms

TEST(WarpReduce, FloatsGoThroughBits) {
  Builder b({.name = "k"});
  ASSERT_TRUE(idiom::warp_reduce(b, idiom::Reduction::sum, *b.reg(f32), 4, line_9));
  const Lines step2 = {"mov.b32 %r0, %f0;", "shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1;", "mov.b32 %f1, %r1;",
                       "add.f32 %f0, %f0, %f1;"};
  const Lines step1 = {"mov.b32 %r0, %f0;", "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;", "mov.b32 %f1, %r1;",
                       "add.f32 %f0, %f0, %f1;"};
  Lines all = step2;
  all.insert(all.end(), step1.begin(), step1.end());
  EXPECT_EQ(written(b.module()), all);
}

TEST(WarpReduce, IntegersKeepTheirSign) {
  const auto last = [](idiom::Reduction op, Type type) {
    Builder b({.name = "k"});
    EXPECT_TRUE(idiom::warp_reduce(b, op, *b.reg(type), 2, line_9));
    EXPECT_EQ(b.size(), 3u);
    return written(b.module()).back();
  };
  EXPECT_EQ(last(idiom::Reduction::sum, u32), "add.u32 %r0, %r0, %r2;");
  EXPECT_EQ(last(idiom::Reduction::max, b32), "max.u32 %r0, %r0, %r2;");
  EXPECT_EQ(last(idiom::Reduction::max, s32), "max.s32 %r0, %r0, %r2;");
  EXPECT_EQ(last(idiom::Reduction::min, s32), "min.s32 %r0, %r0, %r2;");
  EXPECT_EQ(last(idiom::Reduction::sum, s32), "add.s32 %r0, %r0, %r2;");
}

TEST(WarpReduce, WhatItRefuses) {
  Builder b({.name = "k"});
  const Reg f = *b.reg(f32);
  for (const int width : {0, 1, 3, 64, -2})
    EXPECT_EQ(idiom::warp_reduce(b, idiom::Reduction::sum, f, width, line_9).error().kind, Kind::immediate_range);
  for (const Type type : {f64, u64, f16, pred})
    EXPECT_EQ(idiom::warp_reduce(b, idiom::Reduction::sum, *b.reg(type), 32, line_9).error().kind, Kind::bad_operator);
  EXPECT_EQ(b.size(), 0u);
  ASSERT_TRUE(idiom::warp_reduce(b, idiom::Reduction::max, *b.reg(tf32), 32, line_9));
  EXPECT_EQ(b.size(), 20u);
}

}  // namespace
}  // namespace ptx::write

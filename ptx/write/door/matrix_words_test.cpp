// Warp matrix instructions: the words of every layout, the arithmetic of the accumulators' store, and what is refused.
#include "ptx/write/door/matrix.hpp"

#include <gtest/gtest.h>

#include "tests/write/written.hpp"

#include "ptx/ir/ir.hpp"

namespace ptx::write {
namespace {

using write_test::Lines;
using write_test::written;

using write_test::here;

struct Matrix : ::testing::Test {
  Builder b{{.name = "k", .target = Target::sm_100a}};
  Registers registers(Type type, std::uint32_t count, std::string_view name) {
    Registers all;
    const RegArray array = *b.array(type, count, name);
    for (std::uint32_t i = 0; i < count; ++i) all.regs.push_back(b.at(array, i));
    return all;
  }
  static Registers first(std::size_t count, const Registers& of) {
    Registers some = of;
    some.regs.resize(count);
    return some;
  }
  PlaceArg smem{nullptr, Place(Value::of(*b.reg(Type::u32, "s"))), here};
  // What a helper wrote, or why it did not.
  Expected<void> result() {
    if (auto failed = b.take_failure()) return Unexpected{*std::move(failed)};
    return {};
  }
  Expected<void> load(const LdmatrixOperands& operands) { return Ldmatrix(b)(operands, here), result(); }
  Expected<void> store(const StmatrixOperands& operands) { return Stmatrix(b)(operands, here), result(); }

  std::string last(const Expected<void>& done) { return done ? written(b.module()).back() : render(done.error()); }
  std::string refused(const Expected<void>& done) {
    EXPECT_EQ(b.size(), 0u);
    if (done) return "it was written";
    EXPECT_EQ(done.error().kind, Kind::operand_mismatch);
    EXPECT_EQ(done.error().where, here);
    return done.error().message;
  }
};

TEST_F(Matrix, LayoutsOfLdmatrix) {
  const Registers four = registers(Type::b32, 4, "a"), two = first(2, four), one = first(1, four);
  EXPECT_EQ(last(load({.dst = four, .src = smem})), "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [s];");
  EXPECT_EQ(last(load({.dst = two, .src = smem, .layout = "m8n8.x2", .trans = true})),
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {a0, a1}, [s];");
  EXPECT_EQ(last(load({.dst = one, .src = smem, .layout = "x1.trans"})),
            "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {a0}, [s];");
  EXPECT_EQ(last(load({.dst = two, .src = smem, .layout = "m16n16.x1.trans"})),
            "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {a0, a1}, [s];");
  EXPECT_EQ(last(load({.dst = two, .src = smem, .layout = "m8n16.x2", .source_format = "b4x16_p64"})),
            "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {a0, a1}, [s];");
  EXPECT_EQ(last(store({.smem = smem, .regs = two, .layout = "x2.trans", .shape = "m16n8"})),
            "stmatrix.sync.aligned.m16n8.x2.trans.shared::cta.b8 [s], {a0, a1};");
}

TEST_F(Matrix, LayoutsThatAreNot) {
  const Registers four = registers(Type::b32, 4, "a");
  EXPECT_EQ(refused(load({.dst = four, .src = smem, .layout = "x8"})),
            "the layout of `ptx.ldmatrix` is `x8`; what fits after `ldmatrix.sync.aligned.m8n8` is `x1`, `x2` or `x4`");
  EXPECT_EQ(refused(load({.dst = four, .src = smem, .layout = "4"})),
            "the shape of `ptx.ldmatrix` is `4`; what fits after `ldmatrix.sync.aligned` is `m8n8`, `m16n16` or `m8n16`");
  EXPECT_EQ(refused(load({.dst = four, .src = smem, .layout = "m16n16"})),
            "the layout of `ptx.ldmatrix` is `m16n16`; what fits after `ldmatrix.sync.aligned.m16n16` is `x1` or `x2`");
  EXPECT_EQ(refused(store({.smem = smem, .regs = four, .layout = "x1"})),
            "`regs` of `ptx.stmatrix` has 4 registers; what fits `stmatrix.sync.aligned.m8n8.x1.shared::cta.b16` is 1");
}

TEST_F(Matrix, AccumulatorsAsBf16) {
  const Registers frag = registers(Type::f32, 16, "f");
  Source lane(0, here);
  lane.value = Value::of(*b.reg(Type::u32, "lane"));
  StmatrixX4TransF32Bf16{b}({.frag = frag, .smem_base = smem, .lane = lane, .row_stride = 64}, here);
  ASSERT_TRUE(result());
  const Lines lines = written(b.module());
  ASSERT_EQ(lines.size(), 14u + 2 * 13);
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 15),
            (Lines{"and.b32 %r0, lane, 31;", "shr.u32 %r1, lane, 5;", "mul.lo.s32 %r2, %r1, 16;", "and.b32 %r3, %r0, 7;",
                   "mul.lo.s32 %r4, %r3, 64;", "add.u32 %r2, %r2, %r4;", "shr.u32 %r5, %r0, 4;", "mul.lo.s32 %r6, %r5, 8;",
                   "mul.lo.s32 %r7, %r6, 64;", "add.u32 %r2, %r2, %r7;", "and.b32 %r8, %r0, 8;", "add.u32 %r2, %r2, %r8;",
                   "mul.lo.s32 %r9, %r2, 2;", "add.u32 %r10, s, %r9;", "cvt.rn.bf16.f32 %rs0, f0;"}));
  EXPECT_EQ(lines[26], "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%r10], {%rarr0_0, %rarr0_1, %rarr0_2, %rarr0_3};");
  EXPECT_EQ(lines[38], "mov.b32 %rarr0_3, {%rs6, %rs7};");
  EXPECT_EQ(lines[39],
            "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%r10+2048], {%rarr0_0, %rarr0_1, %rarr0_2, %rarr0_3};");
}

struct Products : Matrix {
  Registers d = registers(Type::f32, 4, "d"), a = registers(Type::b32, 4, "a"), two = registers(Type::b32, 2, "b");
  Expected<void> sync() { return Mma(b).sync(mma, here), result(); }
  MmaOperands mma{.shape = {16, 8, 16},
                  .dtype_d = Type::f32,
                  .dtype_a = Type::bf16,
                  .dtype_b = Type::bf16,
                  .dtype_c = Type::f32,
                  .d = d,
                  .a = a,
                  .b = two,
                  .c = d};
  std::string hint(const Expected<void>& done) {
    return done || done.error().notes.empty() ? std::string() : notes_of(done.error()).front();
  }
};

TEST_F(Products, OneInstruction) {
  EXPECT_EQ(
      last(sync()),
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};");
}

TEST_F(Products, ShapesThatTheTypesDoNotHave) {
  mma.shape = {16, 8, 32};
  EXPECT_EQ(refused(sync()),
            "`dtype_a` of `ptx.mma.sync` is `bf16`; what fits after `mma.sync.aligned.m16n8k32.row.col.f32` is `e4m3` or `e5m2`");
  EXPECT_EQ(hint(sync()), "hint: with these layouts and types the shapes are `m16n8k8` or `m16n8k16`");
}

TEST_F(Products, FragmentsOfAnotherSize) {
  mma.a = two;
  EXPECT_EQ(
      refused(sync()),
      "the fragment `a` of `ptx.mma.sync` has 2 registers; what fits `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32` is 4");
}

TEST_F(Products, LayoutsThatAreNot) {
  mma.b_layout = "row";
  EXPECT_EQ(refused(sync()), "`b_layout` of `ptx.mma.sync` is `row`; what fits after `mma.sync.aligned.m16n8k16.row` is `col`");
  mma.b_layout = "rows";
  EXPECT_EQ(refused(sync()), "`b_layout` of `ptx.mma.sync` is `rows`; what fits is `row` or `col`");
}

}  // namespace
}  // namespace ptx::write

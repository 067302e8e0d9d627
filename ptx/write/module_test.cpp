// Modules of several kernels and functions, `let`, views, and the operators and control flow of the typed layer.
#include "ptx/write/module.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ptx/text/text.hpp"
#include "ptx/write/write.hpp"
#include "tests/write/kernels.hpp"

namespace ptx {
namespace {

using write_test::error_of;
using write_test::Lines;
using write_test::lines_of;
using write_test::make;
using write_test::written;

Func square(Module& m) {
  Func f(m, {.name = "square", .returns = {f32}, .params = {{"x", f32}}});
  const auto x = f.param<f32>("x");
  f.return_(x * x);
  return f;
}

TEST(TypedModule, AKernelHasWhatItsModuleDeclares) {
  Module m({.arch = sm_90a});
  const auto table = m.var({.name = "table", .type = f32, .shape = {2}, .init = write::Initial::list({1, 2.5})});
  m.var({.name = "where", .type = u64, .init = write::AddressOf{.symbol = "table", .offset = 4}});
  m.pragma("nounroll");
  const Func f = square(m);
  m.alias("squared", "square");
  Kernel k(m, {.name = "k"});
  const auto x = k.let(inst.ld.global_.f32, table + 4);
  const auto y = k.call<f32>(f, x);
  k << inst.st.global_.f32(table, k.call<f32>(f, 3));
  k << inst.st.global_.f32(table, y);
  k << inst.ret();
  const auto module = k.module();
  ASSERT_TRUE(module) << render(module.error());
  const std::string text = text::print(*module);
  EXPECT_EQ(text, R"(.version 8.5
.target sm_90a
.address_size 64

.global .f32 table[2] = {0f3F800000, 0f40200000};
.global .u64 where = generic(table)+4;
.pragma "nounroll";

.func (.reg .f32 %result) squared(
	.reg .f32 %x
);

.func (.reg .f32 %result) square(
	.reg .f32 %x
)
{
	.reg .f32 %f<1>;
	mul.rn.f32 %f0, %x, %x;
	mov.f32 %result, %f0;
	ret;
}

.alias squared, square;

.visible .entry k()
{
	.reg .f32 %f<3>;
	ld.global.f32 %f0, [table+4];
	call (%f1), square, (%f0);
	call (%f2), square, (0f40400000);
	st.global.f32 [table], %f2;
	st.global.f32 [table], %f1;
	ret;
}
)");
  const text::Parsed again = text::parse(text);
  EXPECT_TRUE(again.findings.empty());
  EXPECT_EQ(ir::difference(*module, again.module), "");
}

TEST(TypedModule, KernelsOfOneModuleAreLinkedTogether) {
  Module m;
  const Func f = square(m);
  Kernel a(m, {.name = "a"}), b(m, {.name = "b"});
  a << inst.ret();
  (void)b.call<f32>(f, 1.0f);
  const auto module = m.link(a, b);
  ASSERT_TRUE(module) << render(module.error());
  ASSERT_EQ(module->functions.size(), 3u);
  EXPECT_EQ(module->str(module->functions[2].name), "b");
}

TEST(TypedModule, AFunctionThatIsCalledBeforeItIsDefinedIsDeclared) {
  Module m;
  Func first(m, {.name = "first", .returns = {u32}, .params = {{"x", u32}}});
  Func second(m, {.name = "second", .returns = {u32}, .params = {{"x", u32}}});
  first.return_(first.call<u32>(second, first.param<u32>("x")));
  second.return_(second.param<u32>("x") + 1);
  Kernel k(m, {.name = "k"});
  (void)k.call<u32>(first, 1);
  const auto module = k.module();
  ASSERT_TRUE(module) << render(module.error());
  const std::string text = text::print(*module);
  EXPECT_NE(text.find(".func (.reg .b32 %result) second(\n\t.reg .b32 %x\n);"), std::string::npos) << text;
  EXPECT_EQ(text.find(".func (.reg .b32 %result) first(\n\t.reg .b32 %x\n);"), std::string::npos) << text;
}

TEST(TypedModule, TextIsPartOfIt) {
  Module m;
  m.append(text::parse(".version 8.5 .target sm_90a .address_size 64\n.const .align 4 .u32 n = 7;\n").module);
  m.append(text::parse(".version 8.5 .target sm_90a .address_size 64\n.const .align 4 .u32 n = 8;\n").module);
  Kernel k(m, {.name = "k"});
  EXPECT_EQ(k.module().error().kind, Kind::duplicate_symbol);
}

// The error that a module's kernel ends with.
template <class Write>
Diagnostic refused_in_module(Write write) {
  Module m;
  Kernel k(m, {.name = "k"});
  write(m, k);
  return error_of(k);
}

TEST(TypedModule, WhatDoesNotFit) {
  const auto call = [](auto write) {
    return refused_in_module([&](Module& m, Kernel& k) {
      const Func f = square(m);
      write(f, k);
    });
  };
  const Diagnostic type = call([](const Func& f, Kernel& k) { (void)k.call<f32>(f, k.scalar<u32>(1)); });
  EXPECT_EQ(type.kind, Kind::call_mismatch);
  EXPECT_EQ(type.message, "argument 1 of `square` is the .u32 register `%r0`; what fits is .f32");
  EXPECT_NE(std::string(type.where.file).find("module_test.cpp"), std::string::npos);
  EXPECT_EQ(call([](const Func& f, Kernel& k) { (void)k.call<f32>(f); }).kind, Kind::call_mismatch);
  EXPECT_EQ(call([](const Func& f, Kernel& k) { (void)k.call<u32>(f, 1.0f); }).kind, Kind::call_mismatch);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { m.var({.name = "x", .type = pred}); }).kind, Kind::bad_declaration);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { m.var({.name = "x", .type = u32, .space = ir::StateSpace::local}); }).kind,
            Kind::bad_declaration);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { m.var({.name = "x", .type = u32, .shape = {4, 0}}); }).kind,
            Kind::bad_declaration);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { m.pragma("a\"b"); }).kind, Kind::bad_declaration);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { m.alias("f", "nobody"); }).kind, Kind::undefined_symbol);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) { Func f(m, {.name = "f", .params = {{"p", pred}}}); }).kind,
            Kind::bad_declaration);
  EXPECT_EQ(refused_in_module([](Module& m, Kernel&) {
              Func f(m, {.name = "f", .returns = {u32}});
              f.return_();
            }).kind,
            Kind::call_mismatch);
}

TEST(TypedModule, AFunctionIsCalledInItsModuleAlone) {
  Module a({.arch = sm_90a}), b({.arch = sm_90a});
  const auto define = [](Module& m) {
    Func f(m, {.name = "f", .returns = {u32}, .params = {{"x", u32}}});
    f.return_(f.param<u32>("x"));
    return f;
  };
  Func first = define(a), second = define(b);
  const auto error_of = [](Kernel k, const Func& f) {
    (void)k.call<u32>(f, 1);
    k << inst.ret();
    const auto module = k.module();
    return module ? std::string() : module.error().message;
  };
  const std::string refused = "`f` is a function of another module than `k`, which calls it";
  EXPECT_EQ(error_of(Kernel(a, {.name = "k"}), first), "");
  EXPECT_EQ(error_of(Kernel(b, {.name = "k"}), second), "");
  EXPECT_EQ(error_of(Kernel(b, {.name = "k"}), first), refused);
  EXPECT_EQ(error_of(Kernel({.name = "k"}), first), refused);
}

TEST(TypedControl, WhatTheConditionOfElifComputesIsReadInItsBranchesAlone) {
  Kernel k = make();
  auto i = k.scalar<u32>();
  write::Builder& builder = k.builder();
  const auto line = [&](SourceLocation at = SourceLocation::current()) { return at; };
  auto open = write::begin_if(builder, write::Value::of((i < 8).untyped()), line());
  ASSERT_TRUE(open);
  ASSERT_TRUE(write::end_if(builder, *open, line()));
  const Reg<u32> between = i + 1;
  open = write::begin_elif(builder, line());
  ASSERT_TRUE(open);
  ASSERT_TRUE(write::test_elif(builder, *open, write::Value::of((between == 9).untyped()), line()));
  i += between;
  ASSERT_TRUE(write::end_if(builder, *open, line()));
  const auto read = static_cast<std::uint32_t>(__LINE__) + 1;
  i += between;
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::bad_control_flow);
  EXPECT_EQ(module.error().where.line, read);
}

TEST(TypedLet, TheRowSaysTheType) {
  Kernel k = make();
  const Reg<f32> a = k.let(inst.mov.f32, 1.0f);
  const Reg<f32> b = k.let(inst.fma.rn.f32, a, a, a);
  const Reg<u32> narrow = k.let<u32>(inst.ld.global_.u8, addr("x"));
  const RegVec<f32, 4> v = k.let(inst.ld.global_.v4.f32, addr("x"));
  const Reg<u64> wide = k.let(inst.mul.wide.u32, narrow, 4);
  const Reg<pred> p = k.let(inst.setp.lt.f32, a, v[1]);
  const Reg<b32> lane = k.let(inst.shfl.sync.bfly.b32, narrow, 1, 31, -1);
  (void)b, (void)wide, (void)p, (void)lane;
  EXPECT_EQ(lines_of(k), (Lines{"mov.f32 %f0, 0f3F800000;", "fma.rn.f32 %f1, %f0, %f0, %f0;", "ld.global.u8 %r0, [x];",
                                "ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [x];", "mul.wide.u32 %rd0, %r0, 4;",
                                "setp.lt.f32 %p0, %f0, %f3;", "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;"}));
}

TEST(TypedLet, AGuardAndWhatIsThereWithoutIt) {
  Kernel k = make();
  auto i = k.scalar<u32>();
  auto p = k.scalar<pred>();
  const Reg<f32> masked = k.let(inst.ld.global_.f32, addr("x"), on(p).other(-1.0f));
  const Reg<u32> wide = k.let<u32>(inst.ld.global_.u8, addr("x"), on(!p).other(i));
  const RegVec<f32, 2> v = k.let(inst.ld.global_.v2.f32, addr("x"), on(p).other(0));
  const Reg<f32> only = k.let(inst.fma.rn.f32, masked, masked, v[1], on(p));
  const Reg<b32> lane = k.let(inst.shfl.sync.bfly.b32, wide, 1, 31, -1, on(p));
  const auto [leader, elected] = k.let(inst.elect.sync, -1);
  (void)only, (void)lane, (void)leader, (void)elected;
  EXPECT_EQ(lines_of(k), (Lines{"mov.f32 %f0, 0fBF800000;", "@%p0 ld.global.f32 %f0, [x];", "mov.u32 %r1, %r0;",
                                "@!%p0 ld.global.u8 %r1, [x];", "mov.f32 %f1, 0f00000000;", "mov.f32 %f2, 0f00000000;",
                                "@%p0 ld.global.v2.f32 {%f1, %f2}, [x];", "@%p0 fma.rn.f32 %f3, %f0, %f0, %f2;",
                                "@%p0 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", "elect.sync %r3|%p1, -1;"}));
}

// C++ does not say which argument of a call is evaluated first; the text is that of their order.
TEST(TypedLet, WhatAGuardComputesStandsBehindTheSources) {
  Kernel k = make();
  auto i = k.scalar<u32>();
  auto base = k.scalar<u64>();
  auto sum = k.scalar<u32>();
  k << inst.add.u32(sum, k.let(inst.ld.global_.u32, addr(base + i * 4), on(i < 8).other(i + 1)),
                    k.let(inst.ld.global_.u32, addr(base + i * 8), on(!(i < 9))));
  EXPECT_EQ(lines_of(k),
            (Lines{"mul.lo.s32 %r2, %r0, 4;", "cvt.u64.u32 %rd1, %r2;", "add.s64 %rd2, %rd0, %rd1;", "setp.lt.u32 %p0, %r0, 8;",
                   "add.u32 %r3, %r0, 1;", "mov.u32 %r4, %r3;", "@%p0 ld.global.u32 %r4, [%rd2];", "mul.lo.s32 %r5, %r0, 8;",
                   "cvt.u64.u32 %rd3, %r5;", "add.s64 %rd4, %rd0, %rd3;", "setp.lt.u32 %p1, %r0, 9;",
                   "@!%p1 ld.global.u32 %r6, [%rd4];", "add.u32 %r1, %r4, %r6;"}));
}

TEST(TypedLet, AWrongValueForTheOthersIsAnErrorAtItsLine) {
  Kernel k = make();
  auto p = k.scalar<pred>();
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  (void)k.let(inst.ld.global_.u32, addr("x"), on(p).other(-1.5));
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().where.line, line);
  Kernel other = make();
  (void)other.let(inst.mov.u32, 1, on(p));
  EXPECT_FALSE(other.module());
}

TEST(TypedBlock, AReductionIsOverTheWholeBlock) {
  const auto error_of = [](const Extent& block, std::int64_t threads) {
    Kernel k({.name = "k", .block = block});
    block::reduce_sum(k.scalar<f32>(1), threads);
    const auto module = k.module();
    return module ? std::string() : module.error().message;
  };
  for (const int threads : {32, 64, 96, 1024}) EXPECT_EQ(error_of(threads, threads), "");
  EXPECT_EQ(error_of({8, 4, 2}, 64), "");
  EXPECT_EQ(error_of(128, 96), "a block reduction over 96 threads, in a kernel whose block has 128");
  EXPECT_EQ(error_of(48, 32), "a block reduction over 32 threads, in a kernel whose block has 48");
  EXPECT_EQ(error_of(48, 48), "a block reduction over 48 threads; what fits is a multiple of 32 up to 1024");
  EXPECT_EQ(error_of(Extent{}, 96), "") << "a text that others launch";
  EXPECT_EQ(error_of(1, 96), "a block reduction over 96 threads, in a kernel whose block has 1");
  Kernel unsaid({.name = "k", .out_specs = {{"Y", {96}, f32}}, .grid = 1});
  block::reduce_sum(unsaid.scalar<f32>(1), 96);
  EXPECT_EQ(unsaid.module().error().message, "a block reduction over 96 threads, in a kernel whose block has 1");
}

TEST(TypedView, IsTheSameRegister) {
  Kernel k = make();
  auto r = k.scalar<u32>(8);
  (void)(r.as<s32>() >> 1);
  (void)r.as<b32>();
  EXPECT_EQ(lines_of(k).back(), "shr.s32 %r1, %r0, 1;");
  EXPECT_EQ(r.as<s32>().name(), r.name());
  (void)k.scalar<f32>(1).as<u32>();
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::bad_operator);
  EXPECT_EQ(module.error().message, "`%f0` is declared .f32, which no instruction takes for a .u32");
}

TEST(TypedOperators, FloatsAndNumbersOnTheLeft) {
  Kernel k = make();
  auto x = k.scalar<f32>(), y = k.scalar<f32>();
  auto n = k.scalar<u32>();
  auto s = k.scalar<s32>();
  const auto twice = 2 * x, third = y / 3.0f;
  (void)(twice + third - 1), (void)-x, (void)x.max(0), (void)x.abs();
  x += y;
  (void)(63 - n), (void)(1 << n), (void)(n / 3), (void)(s % 3), (void)-s, (void)s.min(n);
  EXPECT_EQ(lines_of(k),
            (Lines{"mul.rn.f32 %f2, %f0, 0f40000000;", "div.rn.f32 %f3, %f1, 0f40400000;", "add.rn.f32 %f4, %f2, %f3;",
                   "sub.rn.f32 %f5, %f4, 0f3F800000;", "neg.f32 %f6, %f0;", "max.f32 %f7, %f0, 0f00000000;", "abs.f32 %f8, %f0;",
                   "add.rn.f32 %f0, %f0, %f1;", "sub.s32 %r2, 63, %r0;", "shl.b32 %r3, 1, %r0;", "div.u32 %r4, %r0, 3;",
                   "rem.s32 %r5, %r1, 3;", "neg.s32 %r6, %r1;", "min.s32 %r7, %r1, %r0;"}));
}

TEST(TypedOperators, Predicates) {
  Kernel k = make();
  auto p = k.scalar<pred>(), q = k.scalar<pred>();
  (void)(p & q), (void)(p ^ !q);
  p |= q;
  EXPECT_EQ(lines_of(k),
            (Lines{"and.pred %p2, %p0, %p1;", "not.pred %p3, %p1;", "xor.pred %p4, %p0, %p3;", "or.pred %p0, %p0, %p1;"}));
}

TEST(TypedControl, WhileAndElif) {
  Kernel k = make();
  auto i = k.scalar<u32>(0);
  k.while_([&] { return i < 8; }, [&] { i += 1; });
  k.if_else({{[&] { return i == 0; }, [&] { i += 2; }}, {[&] { return i == 1; }, [&] { i += 3; }}}, [&] { i += 4; });
  EXPECT_EQ(lines_of(k),
            (Lines{"mov.u32 %r0, 0;", "$_while_0:", "setp.lt.u32 %p0, %r0, 8;", "@!%p0 bra $_endwhile_1;", "add.u32 %r0, %r0, 1;",
                   "bra $_while_0;", "$_endwhile_1:", "setp.eq.u32 %p1, %r0, 0;", "@!%p1 bra $_else_2;", "add.u32 %r0, %r0, 2;",
                   "bra $_endif_3;", "$_else_2:", "setp.eq.u32 %p2, %r0, 1;", "@!%p2 bra $_else_4;", "add.u32 %r0, %r0, 3;",
                   "bra $_endif_3;", "$_else_4:", "add.u32 %r0, %r0, 4;", "$_endif_3:"}));
}

TEST(TypedControl, AnExceptionThatLeavesABodyIsNamed) {
  const auto error_of = [](auto construct) {
    Kernel k = make();
    try {
      construct(k);
    } catch (const std::runtime_error&) {  // what the author's own code does with it
    }
    const auto module = k.module();
    return module ? std::string() : module.error().message;
  };
  const auto leave = [] { throw std::runtime_error("of the author's own"); };
  EXPECT_EQ(error_of([&](Kernel& k) { k.if_(k.scalar<u32>(0) == 1, leave); }),
            "an exception left the body of `if_`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.if_(k.scalar<u32>(0) == 1, [] {}, leave); }),
            "an exception left the body of `if_`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.while_([&] { return k.scalar<u32>(0) == 1; }, leave); }),
            "an exception left the body of `while_`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.loop("forever", leave); }), "an exception left the body of `loop`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.range_(0, 4, 1, [&](const Reg<s32>&) { leave(); }); }),
            "an exception left the body of `range_`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.scope(leave); }), "an exception left the body of `scope`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) { k.if_else({{[&] { return k.scalar<u32>(0) == 1; }, [&] { leave(); }}}); }),
            "an exception left the body of `if_else`, which has no end now");
  EXPECT_EQ(error_of([&](Kernel& k) {
              k.if_(k.scalar<u32>(0) == 1, [&] {
                try {
                  leave();
                } catch (const std::runtime_error&) {
                }
              });
            }),
            "")
      << "one that the body itself catches";
}

TEST(TypedModule, AFunctionIsFinishedWhenItsModuleIs) {
  Module m({.arch = Target::sm_90a});
  Func f(m, {.name = "f"});
  f.return_<>();
  ASSERT_TRUE(m.link());
  ASSERT_TRUE(m.link()) << "as often as wanted";
  f << inst.exit();
  const auto again = m.link();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, Kind::no_active_trace);
  EXPECT_EQ(again.error().message, "this kernel or function is finished: the text of its module has been asked for");
}

}  // namespace
}  // namespace ptx

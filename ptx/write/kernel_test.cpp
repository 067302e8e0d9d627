// The typed layer: what a C++ kernel writes, at which of its own lines, and what it refuses when it ends.
#include "ptx/write/kernel.hpp"

#include <gtest/gtest.h>

#include "ptx/write/write.hpp"
#include "tests/write/kernels.hpp"

namespace ptx {
namespace {

using write_test::error_of;
using write_test::Lines;
using write_test::lines_of;
using write_test::make;
using write_test::written;

TEST(KernelTest, BoundaryAndParameters) {
  const int rows = 16, columns = 512;
  Kernel k({.name = "scale",
            .in_specs = {{"X", {rows, columns}, f32}, {"S", {"M"}, bf16, Layout::row}},
            .out_specs = {{"Y", {rows, columns}, f32}},
            .raw_params = {{"n", u32}},
            .grid = {rows, 2},
            .block = 128,
            .smem = 1024,
            .raw_directives = {{"maxntid", {128, 1, 1}}}});
  auto [px, py] = k.global_ptrs("X", "Y");
  auto n = k.param<u32>("n");
  k << inst.ret();
  EXPECT_EQ(lines_of(k), (Lines{"ld.param.u64 %rd0, [X];", "cvta.to.global.u64 %rd0, %rd0;", "ld.param.u64 %rd1, [Y];",
                                "cvta.to.global.u64 %rd1, %rd1;", "ld.param.u32 %r0, [n];", "ret;"}));
  EXPECT_EQ(px.name() + py.name() + n.name(), "%rd0%rd1%r0");
  const Boundary& boundary = k.boundary();
  EXPECT_EQ(boundary.tensor_names, (Lines{"X", "S", "Y"}));
  EXPECT_EQ(boundary.in_tiles[0].to_string(), "Tile(16, 512, f32)");
  EXPECT_EQ(boundary.in_tiles[1].to_string(), "Tile(M, bf16)");
  EXPECT_EQ(boundary.out_tiles.size(), 1u);
  EXPECT_EQ(boundary.grid, Extent(16, 2));
  EXPECT_EQ(boundary.block, Extent(128));
  const auto module = k.module();
  ASSERT_TRUE(module);
  ASSERT_EQ(module->functions[0].params.size(), 4u);
  EXPECT_EQ(module->str(module->functions[0].params[2].name), "Y");
  EXPECT_EQ(module->functions[0].params[3].type, u32);
  EXPECT_EQ(module->functions[0].directives[0].name, "maxntid");
  EXPECT_EQ(module->target, sm_90a);
}

TEST(KernelTest, WhatABoundaryCannotBe) {
  Kernel no_dims({.name = "k", .in_specs = {{"X", {}, f32}}});
  EXPECT_EQ(error_of(no_dims).kind, Kind::bad_tile);
  Kernel twice({.name = "k", .in_specs = {{"X", {1}, f32}}, .out_specs = {{"X", {1}, f32}}});
  EXPECT_EQ(error_of(twice).kind, Kind::duplicate_symbol);
  Kernel empty({.name = "k", .grid = {0, 1, 1}});
  const Diagnostic d = error_of(empty);
  EXPECT_EQ(d.kind, Kind::launch_config);
  EXPECT_EQ(d.message, "the grid of `k` has 0 in x");
  EXPECT_NE(std::string_view(d.where.file).find("kernel_test.cpp"), std::string_view::npos);
}

TEST(KernelTest, RegistersArraysAndVectors) {
  Kernel k = make();
  auto a = k.scalar<f32>();
  auto b = k.scalar<f32>(0.5);
  auto c = k.from_<u32>(special.tid.x());
  auto d = k.from_<s32>(c);
  auto named = k.reg<u64>("base");
  auto array = k.array<f32>(3);
  auto quad = k.vec<f32, 4>("q");
  k << inst.mov.u64(named, 1) << inst.st.shared.v4.f32(addr("smem"), quad) << inst.st.shared.v2.f32(addr("smem", 8), vec(a, b))
    << inst.st.shared.v2.f32(addr(d), array.vec<2>(1));
  for (const auto& r : array) k << inst.mov.f32(r, quad[3]);
  EXPECT_EQ(lines_of(k), (Lines{"mov.f32 %f1, 0f3F000000;", "mov.u32 %r0, %tid.x;", "mov.s32 %r1, %r0;", "mov.u64 base, 1;",
                                "st.shared.v4.f32 [smem], {q0, q1, q2, q3};", "st.shared.v2.f32 [smem+8], {%f0, %f1};",
                                "st.shared.v2.f32 [%r1], {%farr0_1, %farr0_2};", "mov.f32 %farr0_0, q3;", "mov.f32 %farr0_1, q3;",
                                "mov.f32 %farr0_2, q3;"}));
}

TEST(KernelTest, OperatorsOfEveryKind) {
  Kernel k = make();
  auto a = k.scalar<u32>(), b = k.scalar<u32>();
  auto p = k.scalar<b64>();
  auto s = k.scalar<s32>();
  (void)(a + b);
  (void)(a + 1u);
  (void)(2 + a);
  (void)(a - b);
  (void)(a * 4);
  (void)(4 * a);
  (void)(a * b);
  (void)(a << 2);
  (void)(a >> b);
  (void)(s >> 3);
  (void)(a & 7);
  (void)(7 | a);
  (void)(a ^ b);
  (void)(a + tid_x);
  (void)a.max(9);
  (void)(p + a);
  (void)(p - s);
  const Reg<u64> wide = a + p;
  a += 1;
  p += s;
  a -= b;
  a *= 3;
  a <<= 1;
  s >>= 1;
  a &= b;
  a |= 1;
  a ^= b;
  EXPECT_EQ(wide.name(), "%rd6");
  EXPECT_EQ(
      lines_of(k),
      (Lines{"add.u32 %r3, %r0, %r1;",    "add.u32 %r4, %r0, 1;",      "add.u32 %r5, %r0, 2;",      "sub.s32 %r6, %r0, %r1;",
             "mul.lo.s32 %r7, %r0, 4;",   "mul.lo.s32 %r8, %r0, 4;",   "mul.lo.u32 %r9, %r0, %r1;", "shl.b32 %r10, %r0, 2;",
             "shr.u32 %r11, %r0, %r1;",   "shr.s32 %r12, %r2, 3;",     "and.b32 %r13, %r0, 7;",     "or.b32 %r14, %r0, 7;",
             "xor.b32 %r15, %r0, %r1;",   "mov.u32 %r16, %tid.x;",     "add.u32 %r17, %r0, %r16;",  "max.u32 %r18, %r0, 9;",
             "cvt.u64.u32 %rd1, %r0;",    "add.s64 %rd2, %rd0, %rd1;", "cvt.s64.s32 %rd3, %r2;",    "sub.s64 %rd4, %rd0, %rd3;",
             "cvt.u64.u32 %rd5, %r0;",    "add.s64 %rd6, %rd5, %rd0;", "add.u32 %r0, %r0, 1;",      "cvt.s64.s32 %rd7, %r2;",
             "add.s64 %rd0, %rd0, %rd7;", "sub.s32 %r0, %r0, %r1;",    "mul.lo.s32 %r0, %r0, 3;",   "shl.b32 %r0, %r0, 1;",
             "shr.s32 %r2, %r2, 1;",      "and.b32 %r0, %r0, %r1;",    "or.b32 %r0, %r0, 1;",       "xor.b32 %r0, %r0, %r1;"}));
  EXPECT_TRUE(k.module());
}

TEST(KernelTest, Comparisons) {
  Kernel k = make();
  auto a = k.scalar<u32>();
  auto s = k.scalar<s32>();
  auto f = k.scalar<f32>();
  (void)(a == 0);
  (void)(a != s);
  (void)(s == a);
  (void)(s < -1);
  (void)(f <= 0.5);
  (void)(a > a);
  (void)(a >= tid_x);
  (void)(5 == a);
  (void)(5 < a);
  EXPECT_EQ(lines_of(k), (Lines{"setp.eq.u32 %p0, %r0, 0;", "setp.ne.u32 %p1, %r0, %r1;", "setp.eq.s32 %p2, %r1, %r0;",
                                "setp.lt.s32 %p3, %r1, -1;", "setp.le.f32 %p4, %f0, 0f3F000000;", "setp.gt.u32 %p5, %r0, %r0;",
                                "mov.u32 %r2, %tid.x;", "setp.ge.u32 %p6, %r0, %r2;", "setp.eq.u32 %p7, %r0, 5;",
                                "setp.gt.u32 %p8, %r0, 5;"}));
}

TEST(KernelTest, EveryLineIsTheAuthors) {
  Kernel k = make();
  const std::uint32_t first = __LINE__;
  auto a = k.from_<u32>(tid_x);
  auto b = a + 1;
  b += a;
  auto p = 3 * a == b;
  k << inst.mov.u32(a, b).on(p);
  warp::reduce_sum(a, 2);
  k << Label{"end"};
  auto module = k.module();
  ASSERT_TRUE(module);
  const std::uint32_t expected[] = {1, 2, 3, 4, 4, 5, 6, 6, 6, 7};
  const auto& body = module->functions[0].body;
  ASSERT_EQ(body.size(), std::size(expected));
  for (std::size_t i = 0; i < body.size(); ++i) {
    EXPECT_EQ(module->where(body[i]).line, first + expected[i]) << i;
    EXPECT_NE(std::string_view(module->where(body[i]).file).find("kernel_test.cpp"), std::string_view::npos);
  }
}

TEST(KernelTest, GuardsLabelsAndControlFlow) {
  Kernel k = make();
  auto r = k.scalar<u32>();
  auto p = r == 0;
  const Label done{"done"};
  k << inst.bra(done).on(p) << inst.ret().unless(p) << inst.bra("done").on(!p);
  k.if_(p, [&] { k << inst.mov.u32(r, 1); });
  k.if_(!p, [&] { k << inst.mov.u32(r, 2); }, [&] { k << inst.mov.u32(r, 3); });
  k.loop("top", [&] {
    r -= 1;
    return r != 0;
  });
  k.loop("ever", [&] { k << inst.bra(done); });
  k.range_(0, r, 4, [&](Reg<s32> i) { r += i; });
  k.scope([&] { (void)k.reg<f32>("t"); });
  k << done;
  EXPECT_EQ(lines_of(k), (Lines{"setp.eq.u32 %p0, %r0, 0;",
                                "@%p0 bra done;",
                                "@!%p0 ret;",
                                "@!%p0 bra done;",
                                "@!%p0 bra $_else_0;",
                                "mov.u32 %r0, 1;",
                                "bra $_endif_1;",
                                "$_else_0:",
                                "$_endif_1:",
                                "@%p0 bra $_else_2;",
                                "mov.u32 %r0, 2;",
                                "bra $_endif_3;",
                                "$_else_2:",
                                "mov.u32 %r0, 3;",
                                "$_endif_3:",
                                "top:",
                                "sub.s32 %r0, %r0, 1;",
                                "setp.ne.u32 %p1, %r0, 0;",
                                "@%p1 bra top;",
                                "ever:",
                                "bra done;",
                                "bra.uni ever;",
                                "mov.s32 %ri0, 0;",
                                "$_range_4:",
                                "setp.ge.s32 %p2, %ri0, %r0;",
                                "@%p2 bra $_endrange_5;",
                                "add.u32 %r0, %r0, %ri0;",
                                "add.s32 %ri0, %ri0, 4;",
                                "bra $_range_4;",
                                "$_endrange_5:",
                                "{",
                                ".reg .f32 t;",
                                "}",
                                "done:"}));
  EXPECT_TRUE(k.module());
}

TEST(KernelTest, AddressesAndSharedMemory) {
  Kernel k = make();
  auto smem = k.shared("tile", b8, 4096, 128);
  auto p = k.scalar<u64>();
  auto x = k.scalar<f32>();
  auto base = k.address_of<u32>("tile");
  k << inst.ld.global_.f32(x, p[16]) << inst.ld.global_.f32(x, p[16] + 4) << inst.st.shared.f32(smem + 8, x)
    << inst.st.shared.f32(addr(base, -4), x) << inst.ld.global_.f32(x, addr(p[8], 8));
  EXPECT_EQ(lines_of(k),
            (Lines{"mov.u32 %r0, tile;", "ld.global.f32 %f0, [%rd0+16];", "ld.global.f32 %f0, [%rd0+20];",
                   "st.shared.f32 [tile+8], %f0;", "st.shared.f32 [%r0+-4], %f0;", "ld.global.f32 %f0, [%rd0+16];"}));
  const auto module = k.module();
  ASSERT_TRUE(module);
  const ir::Variable& v = module->functions[0].variables[0];
  EXPECT_EQ(v.space, ir::StateSpace::shared);
  EXPECT_EQ(v.bytes(), 4096u);
  EXPECT_EQ(v.align, 128u);
}

// ---- errors come out at the end, with the author's line

template <class Body>
Diagnostic refused(Body body, Target arch = sm_90a) {
  Kernel k = make(arch);
  body(k);
  k << inst.ret();
  return error_of(k);
}

TEST(KernelErrors, KeepTheFirst) {
  std::uint32_t line = 0;
  const Diagnostic d = refused([&](Kernel& k) {
    auto r = k.scalar<u32>();
    line = __LINE__ + 1;
    k << inst.add.u32(r, r, 1LL << 40);
    k << inst.bra("nowhere");
  });
  EXPECT_EQ(d.kind, Kind::immediate_range);
  EXPECT_EQ(d.where.line, line);
}

TEST(KernelErrors, OfEveryKind) {
  EXPECT_EQ(refused([](Kernel& k) { (void)k.global_ptrs("X"); }).kind, Kind::undefined_symbol);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.param<u32>("n"); }).kind, Kind::undefined_symbol);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.scalar<bf16>(1.0); }).kind, Kind::argument_kind);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.array<f32>(0)[0]; }).kind, Kind::bad_declaration);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.array<f32>(4)[4]; }).kind, Kind::bad_operator);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.array<f32>(4)[-1]; }).kind, Kind::bad_operator);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.array<f32>(4).vec<4>(1); }).kind, Kind::bad_operator);
  EXPECT_EQ(refused([](Kernel& k) { k << inst.bra("nowhere"); }).kind, Kind::undefined_label);
  EXPECT_EQ(refused([](Kernel& k) { k << Label{"a"} << Label{"a"}; }).kind, Kind::duplicate_label);
  EXPECT_EQ(refused([](Kernel& k) { (void)(k.scalar<u32>() << -1); }).kind, Kind::bad_operator);
  EXPECT_EQ(refused([](Kernel& k) { warp::reduce_sum(k.scalar<f32>(), 5); }).kind, Kind::immediate_range);
  EXPECT_EQ(refused([](Kernel& k) { (void)k.shared("k", b8, 4); }).kind, Kind::duplicate_symbol);
  EXPECT_EQ(refused([](Kernel& k) { k << inst.wgmma.fence.sync.aligned(); }, sm_80).kind, Kind::target_lacks);
  EXPECT_EQ(refused([](Kernel& k) { k.range_(0, 4, 0, [](Reg<s32>) {}); }).kind, Kind::bad_control_flow);
}

TEST(KernelErrors, RegistersOfAnotherKernel) {
  Kernel other = make();
  const auto foreign = other.scalar<u32>();
  const auto p = foreign == 0;
  EXPECT_EQ(refused([&](Kernel& k) { k << inst.mov.u32(foreign, 1); }).kind, Kind::undefined_symbol);
  EXPECT_EQ(refused([&](Kernel& k) { k << inst.mov.u32(k.scalar<u32>(), foreign); }).kind, Kind::undefined_symbol);
  EXPECT_EQ(refused([&](Kernel& k) { k << inst.ret().on(p); }).kind, Kind::undefined_symbol);
}

TEST(KernelErrors, ASpentKernel) {
  Kernel k = make();
  ASSERT_TRUE(k.module());
  k << inst.ret();
  EXPECT_EQ(error_of(k).kind, Kind::no_active_trace);
}

TEST(KernelBoundary, a_launch_may_be_of_dimensions) {
  Kernel k({.name = "k", .in_specs = {{"X", {"M", "N"}, f32}}, .grid = {dim("M"), ceil_div(dim("N"), 128)}, .block = 128});
  ASSERT_TRUE(k.module());
  EXPECT_EQ(k.boundary().grid.resolve({{"M", 3}, {"N", 130}}, "grid").value(), (LaunchDims{3, 2, 1}));

  Kernel unknown({.name = "k", .in_specs = {{"X", {"rows"}, f32}}, .grid = dim("row")});
  const Diagnostic d = error_of(unknown);
  EXPECT_EQ(d.kind, Kind::dim_unbound);
  EXPECT_EQ(d.message, "the grid of `k` is of dimension `row`, which no tensor has");
  EXPECT_EQ(notes_of(d), Lines{"hint: did you mean `rows`?"});
  EXPECT_EQ(d.where.line, static_cast<std::uint32_t>(__LINE__) - 5);
}

TEST(KernelBoundary, what_it_names_is_there) {
  Kernel map({.name = "k", .in_specs = {{"X", {4}, f32}}, .tensor_maps = {{.tensor = "Y"}}});
  EXPECT_EQ(error_of(map).message, "`tensor_maps` names `Y`, which is not a tensor of kernel `k`");
  Kernel alias({.name = "k", .in_specs = {{"X", {4}, f32}}, .input_output_aliases = {{0, 0}}});
  EXPECT_EQ(error_of(alias).message, "`input_output_aliases` has output 0 at input 0; kernel `k` has 1 inputs and 0 outputs");
}

TEST(KernelBoundary, tensors_say_how_their_descriptors_copy) {
  Kernel k({.name = "k",
            .in_specs = {{"A", {256, 128}, bf16, Layout::tma_128b, {64, 128}, 3}, {.name = "B", .shape = {64}, .dtype = f32}},
            .out_specs = {
                {.name = "C", .shape = {256, 128}, .dtype = bf16, .tma_box = {64, 64}, .tma_rank = 3, .tma_padding = true}}});
  ASSERT_TRUE(k.module());
  const Boundary& boundary = k.boundary();
  EXPECT_EQ(boundary.in_tiles[0], Tile::make({256, 128}, bf16, Layout::tma_128b, std::vector<tile::Dim>{64, 128}, 3).value());
  EXPECT_EQ(boundary.in_tiles[1].tma_box(), std::nullopt);
  EXPECT_EQ(boundary.out_tiles[0], Tile::make({256, 128}, bf16, Layout::row, std::vector<tile::Dim>{64, 64}, 3, true).value());
}

}  // namespace
}  // namespace ptx

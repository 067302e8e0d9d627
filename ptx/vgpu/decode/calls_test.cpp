// Calls of device functions: what they compute, and what is not executed.
#include "ptx/vgpu/decode/calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::testing {
namespace {

constexpr std::string_view head = ".version 8.7\n.target sm_90a\n.address_size 64\n";

// What `out[thread]` is after a run of kernel `k(.param .u64 out)` with 8 threads.
std::vector<std::uint32_t> run(std::string_view text) {
  std::vector<std::uint32_t> out(8, 0xAAAAAAAA);
  const auto program = make_from_text(cat(head, text));
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return out;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(out.data());
  const auto report = (*program)->run(
      {.grid = {1, 1, 1}, .block = {8, 1, 1}}, std::as_bytes(std::span(&address, 1)),
      std::array{Region{.data = reinterpret_cast<std::byte*>(out.data()), .bytes = 32, .writable = true, .initialised = true}});
  if (!report) ADD_FAILURE() << render(report.error());
  return out;
}
Diagnostic refused(std::string_view text) {
  const auto program = make_from_text(cat(head, text));
  EXPECT_FALSE(program);
  return program ? Diagnostic{} : program.error();
}

// `r` of thread t in %r0 goes to out[t].
std::string kernel(std::string_view body) {
  return cat(
      ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p<2>;\n"
      "ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r0, 0;\n",
      body, "\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r0;\nret;\n}\n");
}

TEST(Calls, RegistersGoInAndOut) {
  const std::string f =
      ".func (.reg .u32 y) f (.reg .u32 x, .reg .f32 a)\n{\n.reg .u32 %r<2>;\nadd.u32 %r0, x, 1;\n"
      "cvt.rzi.u32.f32 %r1, a;\nmad.lo.u32 y, %r0, %r0, %r1;\nret;\n}\n";
  EXPECT_EQ(run(f + kernel("call (%r0), f, (%r1, 0f40000000);")), (std::vector<std::uint32_t>{3, 6, 11, 18, 27, 38, 51, 66}));
  // twice, and one inside of the other
  EXPECT_EQ(run(f +
                ".func (.reg .u32 y) g (.reg .u32 x)\n{\n.reg .u32 %r<2>;\ncall (%r0), f, (x, 0f00000000);\n"
                "call (%r1), f, (%r0, 0f3F800000);\nadd.u32 y, %r0, %r1;\n}\n" +
                kernel("call (%r0), g, (%r1);")),
            (std::vector<std::uint32_t>{6, 30, 110, 306, 702, 1406, 2550, 4290}));
}

TEST(Calls, GuardsAndEarlyReturns) {
  const std::string f =
      ".func (.reg .u32 y) f (.reg .u32 x)\n{\n.reg .pred %p<1>;\nmov.u32 y, 100;\nsetp.lt.u32 %p0, x, 6;\n"
      "@%p0 ret;\nmov.u32 y, 200;\nret;\n}\n";
  EXPECT_EQ(run(f + kernel("setp.gt.u32 %p0, %r1, 2;\n@%p0 call (%r0), f, (%r1);")),
            (std::vector<std::uint32_t>{0, 0, 0, 100, 100, 100, 200, 200}));
  EXPECT_EQ(run(f + kernel("setp.gt.u32 %p0, %r1, 2;\n@!%p0 call (%r0), f, (7);")),
            (std::vector<std::uint32_t>{200, 200, 200, 0, 0, 0, 0, 0}));
}

// As nvcc writes them.
TEST(Calls, ParametersInMemory) {
  const std::string f =
      ".func (.param .b32 ret0) f (.param .b32 p0, .param .align 8 .b8 p1[16])\n{\n.reg .u32 %r<4>;\n"
      "ld.param.u32 %r0, [p0];\nld.param.u32 %r1, [p1+4];\nadd.u32 %r2, %r0, %r1;\nst.param.b32 [ret0], %r2;\nret;\n}\n";
  const auto call = [](int n) {
    return cat("{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n.param .align 8 .b8 param1[16];\nst.param.b32 [param1+4], ",
               n,
               ";\n.param .b32 retval0;\ncall.uni (retval0), f, (param0, param1);\nld.param.b32 %r2, [retval0];\n}\n"
               "add.u32 %r0, %r0, %r2;\n");
  };
  EXPECT_EQ(run(f + kernel(call(10) + call(20))), (std::vector<std::uint32_t>{30, 32, 34, 36, 38, 40, 42, 44}));
}

// As clang writes them without optimisation: a structure by value, and its address in a register. The kernel's own parameters are
// elsewhere, where `.param` by a register means them.
TEST(Calls, ParametersInMemoryByTheirAddress) {
  for (const std::string_view word : {".param", ".param::func"}) {
    const std::string f =
        cat(".func (.param .b32 ret0) f (.param .align 8 .b8 p1[16])\n{\n.reg .u32 %r<4>;\n.reg .b64 %a;\nmov.b64 %a, p1;\nld",
            word, ".u32 %r1, [%a+4];\nst.param.b32 [ret0], %r1;\nret;\n}\n");
    EXPECT_EQ(run(f + kernel("{\n.param .align 8 .b8 param1[16];\nst.param.b32 [param1+4], 78;\n.param .b32 retval0;\n"
                             "call.uni (retval0), f, (param1);\nld.param.b32 %r2, [retval0];\n}\n"
                             "mov.b64 %rd2, out; ld.param.u64 %rd0, [%rd2]; add.u32 %r0, %r1, %r2;\n")),
              (std::vector<std::uint32_t>{78, 79, 80, 81, 82, 83, 84, 85}));
  }
}

TEST(Calls, NamesMeanWhatTheyMeanInTheCallee) {
  // `x` is the module's in f, and the kernel's own in k; f's own counter is one piece of memory however often it is called
  const std::string f =
      ".global .u32 x = 5;\n.func (.reg .u32 y) f ()\n{\n.shared .u32 s;\n.reg .u32 %r<3>;\n.reg .pred %p<1>;\n"
      "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p0, %r2, 0;\nld.global.u32 %r0, [x];\n@%p0 st.shared.u32 [s], %r0;\n"
      "bar.sync 0;\nld.shared.u32 y, [s];\nret;\n}\n";
  EXPECT_EQ(run(f + kernel(".shared .u32 x;\nst.shared.u32 [x], 9;\ncall (%r0), f;\nld.shared.u32 %r2, [x];\n"
                           "mad.lo.u32 %r0, %r0, 10, %r2;")),
            std::vector<std::uint32_t>(8, 59));
}

TEST(Calls, LoopsAndBranchesOfACallee) {
  const std::string f =
      ".func (.reg .u32 y) sum (.reg .u32 n)\n{\n.reg .u32 %r<1>;\n.reg .pred %p<1>;\nmov.u32 y, 0;\nmov.u32 %r0, 0;\n"
      "top:\nsetp.ge.u32 %p0, %r0, n;\n@%p0 bra done;\nadd.u32 y, y, %r0;\nadd.u32 %r0, %r0, 1;\nbra top;\ndone:\nret;\n}\n";
  EXPECT_EQ(
      run(f + kernel("top:\ncall (%r2), sum, (%r1);\nadd.u32 %r0, %r0, %r2;\ncall (%r2), sum, (%r1);\nadd.u32 %r0, %r0, %r2;")),
      (std::vector<std::uint32_t>{0, 0, 2, 6, 12, 20, 30, 42}));
}

TEST(Calls, AliasesAreFollowed) {
  EXPECT_EQ(run(".func (.reg .u32 y) g (.reg .u32 x);\n.func (.reg .u32 y) f (.reg .u32 x)\n{\nadd.u32 y, x, 1;\nret;\n}\n.alias "
                "g, f;\n" +
                kernel("call (%r0), g, (%r1);")),
            (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Calls, AFaultIsAtTheCalleesLine) {
  const auto program = make_from_text(
      cat(head, ".func f (.reg .u64 p)\n{\nst.global.u32 [p], 1;\nret;\n}\n", kernel("mov.u64 %rd2, 64;\ncall f, (%rd2);")));
  ASSERT_TRUE(program) << render(program.error());
  std::uint64_t address = 0;
  const auto report = (*program)->run({.grid = {1, 1, 1}, .block = {8, 1, 1}}, std::as_bytes(std::span(&address, 1)), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Kind::out_of_bounds);
  EXPECT_EQ(report.error().where.line, 6u);
  EXPECT_NE(render(report.error()).find("st.global.u32 [p], 1;"), std::string::npos) << render(report.error());
}

// ---- functions that call themselves

TEST(Recursion, InRegisters) {
  // Fibonacci numbers, two calls in each: lanes are at different depths
  const std::string fib =
      ".func (.reg .u32 y) fib (.reg .u32 n)\n{\n.reg .u32 %a<4>;\n.reg .pred %q;\nsetp.lt.u32 %q, n, 2;\nmov.u32 y, n;\n@%q "
      "ret;\n"
      "sub.u32 %a0, n, 1;\ncall (%a1), fib, (%a0);\nsub.u32 %a0, n, 2;\ncall (%a2), fib, (%a0);\nadd.u32 y, %a1, %a2;\nret;\n}\n";
  EXPECT_EQ(run(fib + kernel("add.u32 %r2, %r1, 3;\ncall (%r0), fib, (%r2);")),
            (std::vector<std::uint32_t>{2, 3, 5, 8, 13, 21, 34, 55}));
  EXPECT_EQ(run(fib + kernel("setp.gt.u32 %p0, %r1, 2;\n@%p0 call (%r0), fib, (12);")),
            (std::vector<std::uint32_t>{0, 0, 0, 144, 144, 144, 144, 144}));
}

TEST(Recursion, InMemoryWithVariablesOfItsOwn) {
  // the sum of digits, each kept in the frame's array meanwhile; parameters as nvcc writes them
  const std::string sum =
      ".func (.param .b32 r) sum (.param .b32 n, .param .b64 seen)\n{\n.local .align 4 .b8 mine[8];\n.reg .u32 %a<8>;\n.reg .u64 "
      "%b<4>;\n.reg .pred %q;\n"
      "ld.param.u32 %a0, [n];\nld.param.u64 %b0, [seen];\nsetp.eq.u32 %q, %a0, 0;\nmov.u32 %a3, 0;\n@%q bra DONE;\nrem.u32 %a1, "
      "%a0, 10;\n"
      "st.local.u32 [mine+4], %a1;\ndiv.u32 %a2, %a0, 10;\nld.u32 %a4, [%b0];\nadd.u32 %a4, %a4, 100;\nst.u32 [%b0], %a4;\n"
      "mov.u64 %b1, mine;\ncvta.local.u64 %b1, %b1;\nst.local.u32 [mine], 0;\n{\n.param .b32 p0;\nst.param.b32 [p0], "
      "%a2;\n.param .b64 p1;\n"
      "st.param.b64 [p1], %b1;\n.param .b32 ret0;\ncall.uni (ret0), sum, (p0, p1);\nld.param.b32 %a3, [ret0];\n}\n"
      "ld.local.u32 %a5, [mine+4];\nadd.u32 %a3, %a3, %a5;\nld.local.u32 %a6, [mine];\nadd.u32 %a3, %a3, "
      "%a6;\nDONE:\nst.param.b32 [r], %a3;\nret;\n}\n";
  const auto out = run(
      sum +
      kernel(
          ".local .align 4 .b32 top;\nst.local.u32 [top], 0;\nmov.u64 %rd2, top;\ncvta.local.u64 %rd2, %rd2;\n"
          "mul.lo.u32 %r2, %r1, 4567;\n{\n.param .b32 p0;\nst.param.b32 [p0], %r2;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n"
          ".param .b32 ret0;\ncall.uni (ret0), sum, (p0, p1);\nld.param.b32 %r0, [ret0];\n}\nld.local.u32 %r3, [top];\n"
          "mad.lo.u32 %r0, %r3, 1000, %r0;"));
  for (std::uint32_t t = 0; t < 8; ++t) {
    std::uint32_t digits = 0, count = 0;
    for (std::uint32_t n = t * 4567; n != 0; n /= 10) digits += n % 10, ++count;
    // each call but the first finds another one's variable, which it makes 100
    EXPECT_EQ(out[t], digits + (count == 0 ? 0 : (count - 1) * 100) + (count == 0 ? 0 : 100000)) << t;
  }
}

TEST(Recursion, ThroughEachOther) {
  const std::string both =
      ".func (.reg .u32 y) odd (.reg .u32 n);\n.func (.reg .u32 y) even (.reg .u32 n)\n{\n.reg .u32 %a;\n.reg .pred "
      "%q;\nsetp.eq.u32 %q, n, 0;\n"
      "mov.u32 y, 1;\n@%q ret;\nsub.u32 %a, n, 1;\ncall (y), odd, (%a);\nret;\n}\n.func (.reg .u32 y) odd (.reg .u32 n)\n{\n.reg "
      ".u32 %a;\n.reg .pred %q;\n"
      "setp.eq.u32 %q, n, 0;\nmov.u32 y, 0;\n@%q ret;\nsub.u32 %a, n, 1;\ncall (y), even, (%a);\nret;\n}\n";
  EXPECT_EQ(
      run(both +
          kernel("call (%r0), even, (%r1);\nmul.lo.u32 %r2, %r1, 7;\ncall (%r3), odd, (%r2);\nmad.lo.u32 %r0, %r3, 10, %r0;")),
      (std::vector<std::uint32_t>{1, 10, 1, 10, 1, 10, 1, 10}));
}

// As virtual functions of a tree's nodes do: each may be what the address in the other is of.
TEST(Recursion, ByAddress) {
  const std::string both =
      ".func (.reg .u32 y) odd (.reg .u32 n);\n.func (.reg .u32 y) even (.reg .u32 n);\n.global .align 8 .u64 table[2] = {even, "
      "odd};\n"
      ".func (.reg .u32 y) even (.reg .u32 n)\n{\n.reg .u32 %a;\n.reg .u64 %f;\n.reg .pred %q;\nsetp.eq.u32 %q, n, 0;\n"
      "mov.u32 y, 1;\n@%q ret;\nsub.u32 %a, n, 1;\nld.global.u64 %f, [table+8];\nP: .callprototype (.reg .u32 _) _ (.reg .u32 "
      "_);\ncall (y), %f, (%a), P;\nadd.u32 y, y, 2;\nret;\n}\n"
      ".func (.reg .u32 y) odd (.reg .u32 n)\n{\n.reg .u32 %a;\n.reg .u64 %f;\n.reg .pred %q;\nsetp.eq.u32 %q, n, 0;\n"
      "mov.u32 y, 0;\n@%q ret;\nsub.u32 %a, n, 1;\nld.global.u64 %f, [table];\nL: .calltargets even, odd;\ncall (y), %f, (%a), "
      "L;\nadd.u32 y, y, 2;\nret;\n}\n";
  EXPECT_EQ(run(both + kernel("call (%r0), even, (%r1);\ncall (%r2), odd, (%r1);\nmad.lo.u32 %r0, %r2, 100, %r0;")),
            (std::vector<std::uint32_t>{1, 302, 405, 706, 809, 1110, 1213, 1514}));
}

// Two calls in each of many functions: in their places there would be millions of instructions.
TEST(Calls, WhatIsCalledFromManyPlacesHasOneBody) {
  std::string functions = ".func (.reg .u32 y) f0 (.reg .u32 x)\n{\nadd.u32 y, x, 1;\nret;\n}\n";
  for (int i = 1; i < 24; ++i)
    functions += cat(".func (.reg .u32 y) f", i, " (.reg .u32 x)\n{\n.reg .u32 %a;\n.reg .pred %q;\nand.b32 %a, x, ", 1 << i % 3,
                     ";\nsetp.eq.u32 %q, %a, 0;\n@%q bra OTHER;\nadd.u32 %a, x, ", i, ";\ncall (y), f", i - 1,
                     ", (%a);\nret;\nOTHER:\ncall (y), f", i - 1, ", (x);\nret;\n}\n");
  const auto value = [](std::uint32_t x) {
    for (int i = 23; i > 0; --i) x += (x & (1u << i % 3)) != 0 ? static_cast<std::uint32_t>(i) : 0;
    return x + 1;
  };
  std::vector<std::uint32_t> expected;
  for (std::uint32_t t = 0; t < 8; ++t) expected.push_back(value(t) + 3 * value(t + 5));
  EXPECT_EQ(
      run(functions + kernel("call (%r0), f23, (%r1);\nadd.u32 %r1, %r1, 5;\ncall (%r2), f23, (%r1);\nsub.u32 %r1, %r1, 5;\n"
                             "mad.lo.u32 %r0, %r2, 3, %r0;")),
      expected);
}

TEST(Recursion, HasAnEnd) {
  const auto program = make_from_text(
      cat(head, ".func (.reg .u32 y) f (.reg .u32 x)\n{\n.reg .u32 %a;\nadd.u32 %a, x, 1;\ncall (y), f, (%a);\nret;\n}\n",
          kernel("call (%r0), f, (%r1);")));
  ASSERT_TRUE(program) << render(program.error());
  std::uint64_t address = 0;
  const auto report = (*program)->run({.grid = {1, 1, 1}, .block = {8, 1, 1}}, std::as_bytes(std::span(&address, 1)), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Kind::out_of_bounds);
  EXPECT_NE(report.error().message.find("the stack has room for 1024"), std::string::npos) << render(report.error());
}

// ---- callees in registers

constexpr std::string_view three =
    ".func (.reg .u32 y) f (.reg .u32 x)\n{\nadd.u32 y, x, 1;\nret;\n}\n.func (.reg .u32 y) g (.reg .u32 x)\n{\nmul.lo.u32 y, x, "
    "x;\n"
    "ret;\n}\n.func (.reg .u32 y) h (.reg .u32 x)\n{\n.reg .pred %p;\nmov.u32 y, 50;\nsetp.gt.u32 %p, x, 5;\n@%p ret;\nadd.u32 "
    "y, x, 1000;\nret;\n}\n";

TEST(IndirectCalls, EachLaneCallsItsFunction) {
  const std::string choose =
      "and.b32 %r2, %r1, 3;\nmov.u64 %rd2, f;\nsetp.eq.u32 %p0, %r2, 1;\n@%p0 mov.u64 %rd2, g;\nsetp.eq.u32 %p0, %r2, 2;\n@%p0 "
      "mov.u64 %rd2, h;\n";
  const std::vector<std::uint32_t> expected = {1, 1, 1002, 4, 5, 25, 50, 8};
  EXPECT_EQ(run(cat(three, kernel(choose + "L: .calltargets f, g, h;\ncall (%r0), %rd2, (%r1), L;"))), expected);
  EXPECT_EQ(run(cat(three, kernel(choose + "P: .callprototype (.reg .u32 _) _ (.reg .u32 _);\ncall (%r0), %rd2, (%r1), P;"))),
            expected);
  EXPECT_EQ(
      run(cat(
          three,
          kernel(
              choose +
              "P: .callprototype (.reg .u32 _) _ (.reg .u32 _);\nsetp.lt.u32 %p1, %r1, 3;\n@!%p1 call (%r0), %rd2, (%r1), P;"))),
      (std::vector<std::uint32_t>{0, 0, 0, 4, 5, 25, 50, 8}));
}

TEST(IndirectCalls, ThroughATableInMemory) {
  // as nvcc writes a call of a virtual function
  const std::string f =
      ".func (.param .b32 r) f (.param .b32 p)\n{\n.reg .u32 %r;\nld.param.u32 %r, [p];\nadd.u32 %r, %r, 7;\nst.param.b32 [r], "
      "%r;\nret;\n}\n"
      ".func (.param .b32 r) g (.param .b32 p)\n{\n.reg .u32 %r;\nld.param.u32 %r, [p];\nshl.b32 %r, %r, 4;\nst.param.b32 [r], "
      "%r;\nret;\n}\n"
      ".global .align 8 .u64 table[2] = {f, g};\n";
  EXPECT_EQ(
      run(f + kernel("and.b32 %r2, %r1, 1;\nmul.wide.u32 %rd1, %r2, 8;\nmov.u64 %rd2, table;\nadd.u64 %rd1, %rd1, %rd2;\n"
                     "ld.global.u64 %rd3, [%rd1];\n{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n.param .b32 retval0;\n"
                     "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (retval0), %rd3, (param0), proto;\n"
                     "ld.param.b32 %r0, [retval0];\n}\n")),
      (std::vector<std::uint32_t>{7, 16, 9, 48, 11, 80, 13, 112}));
}

TEST(IndirectCalls, ReachNothingThatOnlyCallsName) {
  // by its prototype the call in f could mean twice, which calls f: but nothing else than that call names it
  const std::string functions =
      ".func (.reg .u32 y) inc (.reg .u32 x)\n{\nadd.u32 y, x, 1;\nret;\n}\n"
      ".func (.reg .u32 y) f (.reg .u32 x)\n{\n.reg .b64 %a;\nmov.u64 %a, inc;\nP: .callprototype (.reg .u32 _) _ (.reg .u32 "
      "_);\ncall (y), %a, (x), P;\nret;\n}\n"
      ".func (.reg .u32 y) twice (.reg .u32 x)\n{\n.reg .u32 %t;\ncall (%t), f, (x);\ncall (y), f, (%t);\nret;\n}\n";
  EXPECT_EQ(run(functions + kernel("call (%r0), twice, (%r1);\ncall (%r2), f, (%r1);\nadd.u32 %r0, %r0, %r2;")),
            (std::vector<std::uint32_t>{3, 5, 7, 9, 11, 13, 15, 17}));
}

TEST(IndirectCalls, OfNoFunction) {
  const auto program = make_from_text(
      cat(head, three, kernel("mov.u64 %rd2, f;\nadd.u64 %rd2, %rd2, 1;\nL: .calltargets f, g;\ncall (%r0), %rd2, (%r1), L;")));
  ASSERT_TRUE(program) << render(program.error());
  std::uint64_t address = 0;
  const auto report = (*program)->run({.grid = {1, 1, 1}, .block = {8, 1, 1}}, std::as_bytes(std::span(&address, 1)), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Kind::out_of_bounds);
  EXPECT_NE(report.error().message.find("which is no function that it may call"), std::string::npos) << render(report.error());
}

// What is `.noreturn` may end its thread, or the run; what returns all the same is told (manual: undefined).
TEST(Calls, OfWhatDoesNotReturn) {
  const auto run = [](std::string_view body) {
    const auto program =
        make_from_text(cat(head, ".func dead(.reg .u32 x)\n.noreturn\n{\n.reg .pred %q;\nsetp.eq.u32 %q, x, 7;\n@%q ret;\n", body,
                           "\n}\n", kernel("call dead, (7);\n")));
    EXPECT_TRUE(program) << render(program.error());
    testing::Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(8)};
    const std::array regions{out.region()};
    return (*program)->run(block(1), params({out.address()}), regions, {});
  };
  for (const std::string_view body : {"exit;", "ret;"}) {
    const auto report = run(body);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, Kind::not_executed);
    EXPECT_NE(report.error().message.find("calls `dead`, which is `.noreturn` and returns"), std::string::npos)
        << render(report.error());
  }
}

// ---- functions of the driver, as nvcc calls them

constexpr std::string_view printer =
    ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);\n"
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n";
// A variable of the module with this text.
std::string text_variable(std::string_view name, std::string_view text) {
  std::string bytes;
  for (const char c : text) bytes += cat(static_cast<int>(c), ", ");
  return cat(".global .align 1 .b8 ", name, '[', text.size() + 1, "] = {", bytes, "0};\n");
}
std::string call_printf(std::string_view format, std::string_view buffer) {
  return cat("{\n.param .b64 param0;\n.param .b64 param1;\n.param .b32 retval0;\ncvta.global.u64 %rd2, ", format,
             ";\nst.param.b64 [param0+0], %rd2;\nst.param.b64 [param1+0], ", buffer,
             ";\ncall.uni (retval0), vprintf, (param0, param1);\nld.param.b32 %r0, [retval0+0];\n}\n");
}
struct Printed {
  std::vector<std::uint32_t> returned;
  std::vector<std::string> lines;
};
Printed print(std::string_view format, std::string_view stores, unsigned blocks = 1, unsigned workers = 1) {
  Printed result{std::vector<std::uint32_t>(8), {}};
  const auto program =
      make_from_text(cat(head, printer, text_variable("format", format), text_variable("word", "pear"),
                         kernel(cat(".local .align 8 .b8 buffer[72];\n", stores, "\ncvta.local.u64 %rd1, buffer;\n",
                                    call_printf("format", "%rd1"), blocks == 1 ? "" : "ret;\n"))));
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return result;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(result.returned.data());
  Options options;
  options.workers = workers;
  options.print = [&](std::string_view line) { result.lines.emplace_back(line); };
  const auto report = (*program)->run(
      {.grid = {blocks, 1, 1}, .block = {blocks == 1 ? 8u : 1u, 1, 1}}, std::as_bytes(std::span(&address, 1)),
      std::array{Region{
          .data = reinterpret_cast<std::byte*>(result.returned.data()), .bytes = 32, .writable = true, .initialised = true}},
      options);
  if (!report) ADD_FAILURE() << render(report.error());
  return result;
}

TEST(HostFunctions, PrintWhatCWould) {
  const Printed all =
      print("%d|%5u|%-6x|%+lld|%c|%s|%8.3f|%e|%%|%.2s|%*d",
            "st.local.u32 [buffer], %r1;\nst.local.u32 [buffer+4], 42;\nst.local.u32 [buffer+8], 255;\nst.local.u64 [buffer+16], "
            "5000000000;\nst.local.u32 [buffer+24], 65;\ncvta.global.u64 %rd3, word;\nst.local.u64 [buffer+32], %rd3;\n"
            "st.local.f64 [buffer+40], 0d400921FB54442D18;\nst.local.f64 [buffer+48], 0d40F86A0000000000;\nst.local.u64 "
            "[buffer+56], %rd3;\n"
            "st.local.u32 [buffer+64], 6;\nst.local.u32 [buffer+68], -7;");
  ASSERT_EQ(all.lines.size(), 8u);
  for (int t = 0; t < 8; ++t) {
    char expected[200];
    std::snprintf(expected, sizeof expected, "%d|%5u|%-6x|%+lld|%c|%s|%8.3f|%e|%%|%.2s|%*d", t, 42u, 255u, 5000000000LL, 'A',
                  "pear", 3.141592653589793, 100000.0, "pear", 6, -7);
    EXPECT_EQ(all.lines[static_cast<std::size_t>(t)], expected);
    EXPECT_EQ(all.returned[static_cast<std::size_t>(t)], 11u);
  }
  EXPECT_EQ(print("plain %q\n", "").lines[3], "plain %q\n");
  EXPECT_EQ(print("plain\n", "").returned[3], 0u);
  EXPECT_EQ(print("%hhd %s", "st.local.u32 [buffer], 300;\nst.local.u64 [buffer+8], 0;").lines[0], "44 (null)");
  EXPECT_EQ(print("%hd %hu %hx %hhx",
                  "st.local.u32 [buffer], 70000;\nst.local.u32 [buffer+4], 70000;\nst.local.u32 [buffer+8], 70000;\n"
                  "st.local.u32 [buffer+12], 300;")
                .lines[0],
            "4464 4464 1170 2c")
      << "as an H200 does";
}

TEST(HostFunctions, PrintFromSeveralWorkers) {
  Printed all = print("%d\n", "mov.u32 %r2, %ctaid.x;\nst.local.u32 [buffer], %r2;", 200, 4);
  ASSERT_EQ(all.lines.size(), 200u);
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) expected.push_back(cat(i, '\n'));
  std::sort(all.lines.begin(), all.lines.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all.lines, expected);
}

Diagnostic fault_of(std::string_view text) {
  const auto program = make_from_text(cat(head, printer, text));
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return {};
  }
  std::array<std::uint32_t, 8> out{};
  const auto address = reinterpret_cast<std::uintptr_t>(out.data());
  const auto report =
      (*program)->run({.grid = {1, 1, 1}, .block = {8, 1, 1}}, std::as_bytes(std::span(&address, 1)),
                      std::array{Region{.data = reinterpret_cast<std::byte*>(out.data()), .bytes = 32, .writable = true}});
  EXPECT_FALSE(report);
  return report ? Diagnostic{} : report.error();
}

TEST(HostFunctions, AnAssertionThatFails) {
  const Diagnostic d = fault_of(
      text_variable("message", "x < 5") + text_variable("file", "a.cu") + text_variable("name", "void k(int)") +
      kernel("setp.eq.u32 %p0, %r1, 6;\n@!%p0 bra FINE;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 p2;\n.param .b64 p3;\n"
             ".param .b64 p4;\ncvta.global.u64 %rd1, message;\nst.param.b64 [p0], %rd1;\ncvta.global.u64 %rd1, file;\n"
             "st.param.b64 [p1], %rd1;\nst.param.b32 [p2], 17;\ncvta.global.u64 %rd1, name;\nst.param.b64 [p3], %rd1;\n"
             "st.param.b64 [p4], 1;\ncall.uni __assertfail, (p0, p1, p2, p3, p4);\n}\nFINE:"));
  EXPECT_EQ(d.kind, Kind::trapped);
  EXPECT_NE(d.message.find("assertion `x < 5` failed at a.cu:17, in `void k(int)`"), std::string::npos) << render(d);
  EXPECT_TRUE(has_note(d, "thread: (6, 0, 0) of block (0, 0, 0) in kernel `k` (warp 0, lane 6)")) << render(d);
}

// ---- malloc and free

constexpr std::string_view heap =
    ".extern .func (.param .b64 r) malloc (.param .b64 bytes);\n.extern .func free (.param .b64 address);\n";
std::string call_malloc(std::string_view bytes, std::string_view result) {
  return cat("{\n.param .b64 p;\n.param .b64 r;\nst.param.b64 [p], ", bytes, ";\ncall.uni (r), malloc, (p);\nld.param.b64 ",
             result, ", [r];\n}\n");
}
std::string call_free(std::string_view address) {
  return cat("{\n.param .b64 p;\nst.param.b64 [p], ", address, ";\ncall.uni free, (p);\n}\n");
}

TEST(HostFunctions, ThreadsAllocate) {
  // each thread has memory of its own, which is there again once it is freed
  const std::string body = cat(call_malloc("4000", "%rd2"), "st.u32 [%rd2+3996], %r1;\nst.u32 [%rd2], 7;\nbar.sync 0;\n",
                               "ld.u32 %r0, [%rd2+3996];\n", call_free("%rd2"), call_malloc("8000000", "%rd3"),
                               "setp.ne.u64 %p0, %rd3, 0;\n@%p0 add.u32 %r0, %r0, 100;\n", call_free("%rd3"));
  std::vector<std::uint32_t> got = run(cat(heap, kernel(body)));
  EXPECT_EQ(std::count_if(got.begin(), got.end(), [](std::uint32_t x) { return x >= 100; }), 1);  // 8 MiB are one such piece
  for (std::uint32_t& x : got) x %= 100;
  EXPECT_EQ(got, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(run(cat(heap, kernel(cat(call_malloc("9000000", "%rd2"), call_free("%rd2"), "cvt.u32.u64 %r0, %rd2;")))),
            std::vector<std::uint32_t>(8, 0));
}

TEST(HostFunctions, FreeTakesWhatMallocGave) {
  for (const std::string& body : {cat(call_malloc("16", "%rd2"), call_free("%rd2"), call_free("%rd2")),
                                  cat(call_malloc("64", "%rd2"), "add.s64 %rd2, %rd2, 16;\n", call_free("%rd2"))}) {
    const Diagnostic d = fault_of(cat(heap, kernel(body)));
    EXPECT_EQ(d.kind, Kind::out_of_bounds);
    EXPECT_NE(d.message.find("where malloc() has given nothing"), std::string::npos) << render(d);
  }
  const Diagnostic beyond = fault_of(
      cat(heap,
          kernel(cat(call_malloc("8388608", "%rd2"), "setp.eq.u64 %p0, %rd2, 0;\n@%p0 exit;\n", "ld.u32 %r0, [%rd2+8388608];"))));
  EXPECT_NE(beyond.message.find("just past the end of `the heap of malloc`"), std::string::npos) << render(beyond);
}

TEST(HostFunctions, WhatTheyReadMustBeThere) {
  EXPECT_EQ(fault_of(text_variable("format", "%d") +
                     kernel(".local .align 8 .b8 buffer[8];\ncvta.local.u64 %rd1, buffer;\n" + call_printf("format", "%rd1")))
                .kind,
            Kind::uninitialised);
  EXPECT_EQ(fault_of(text_variable("format", "%s") + kernel(".local .align 8 .b8 buffer[8];\nst.local.u64 [buffer], 64;\n"
                                                            "cvta.local.u64 %rd1, buffer;\n" +
                                                            call_printf("format", "%rd1")))
                .kind,
            Kind::out_of_bounds);
}

TEST(Calls, WhatIsNotExecuted) {
  const Diagnostic absent = refused(".extern .func (.reg .u32 y) f (.reg .u32 x);\n" + kernel("call (%r0), f, (%r1);"));
  EXPECT_EQ(absent.kind, Kind::not_executed);
  EXPECT_NE(absent.message.find("no body of `f`"), std::string::npos) << absent.message;
}

}  // namespace
}  // namespace ptx::vgpu::testing

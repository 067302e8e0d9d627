// Calls of device functions: what they compute, and what is not executed.
#include "ptx/vgpu/calls.hpp"

#include <gtest/gtest.h>

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

TEST(Calls, WhatIsNotExecuted) {
  const Diagnostic recursive =
      refused(".func (.reg .u32 y) f (.reg .u32 x)\n{\ncall (y), f, (x);\nret;\n}\n" + kernel("call (%r0), f, (%r1);"));
  EXPECT_EQ(recursive.kind, Kind::not_executed);
  EXPECT_NE(recursive.message.find("`f` calls itself, and the executor"), std::string::npos) << recursive.message;
  const std::string g = ".func (.reg .u32 y) g (.reg .u32 x)";
  const Diagnostic in_turn = refused(cat(g, ";\n.func (.reg .u32 y) f (.reg .u32 x)\n{\ncall (y), g, (x);\nret;\n}\n", g,
                                         "\n{\ncall (y), f, (x);\nret;\n}\n", kernel("call (%r0), f, (%r1);")));
  EXPECT_NE(in_turn.message.find("`f` calls itself through `g`, and the executor"), std::string::npos) << in_turn.message;
  const Diagnostic absent = refused(".extern .func (.reg .u32 y) f (.reg .u32 x);\n" + kernel("call (%r0), f, (%r1);"));
  EXPECT_EQ(absent.kind, Kind::not_executed);
  EXPECT_NE(absent.message.find("no body of `f`"), std::string::npos) << absent.message;
}

}  // namespace
}  // namespace ptx::vgpu::testing

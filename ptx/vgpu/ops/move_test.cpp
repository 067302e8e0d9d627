// Moves of every width and shape, addresses and their spaces, advice to caches, the stack, and the rest of loads and stores.
#include <numeric>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

constexpr std::string_view head = ".version 8.8\n.target sm_100a\n.address_size 64\n";

// `body`: %r0 is the thread, %x0 the thread's 64 bytes of out; %x1 the first byte of in.
std::string kernel(std::string_view body, std::string_view before = "") {
  return cat(head, before,
             ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b128 %q<4>; .reg .b64 %x<12>; .reg .b32 %r<12>; .reg "
             ".b16 %h<8>; .reg .b8 %b<8>; .reg .pred %p<4>;\nld.param.u64 %x0, [out];\nld.param.u64 %x1, [in];\n"
             "mov.u32 %r0, %tid.x;\nmul.wide.u32 %x2, %r0, 64;\nadd.u64 %x0, %x0, %x2;\n",
             body, "\nret;\n}\n");
}
struct alignas(64) Out {
  std::array<std::uint64_t, 8> words{};
  [[nodiscard]] std::uint32_t half(std::size_t i) const { return static_cast<std::uint32_t>(words[i / 2] >> 32 * (i % 2)); }
};
struct alignas(128) In {
  std::array<std::uint64_t, 16> words{};
};
Buffer<In> input() {
  Buffer<In> in{"in", {In{}, In{}}};
  std::mt19937_64 random(17);
  for (In& line : in.data)
    for (std::uint64_t& word : line.words) word = random();
  return in;
}
std::vector<Out> run(std::string_view body, std::uint32_t threads, Buffer<In>& in, std::string_view before = "",
                     LaunchConfig config = {}, bool uninitialised = false) {
  Buffer<Out> out{"out", std::vector<Out>(threads)};
  const auto made = testing::make_from_text(kernel(body, before));
  if (!made) {
    ADD_FAILURE() << body << '\n' << render(made.error());
    return out.data;
  }
  if (config.block[0] == 1 && config.block[1] == 1) config.block[0] = threads;
  in.initialised = !uninitialised;
  testing::run(*made, config, params({out.address(), in.address()}), {out.region(), in.region()});
  return out.data;
}
Diagnostic faulty(std::string_view body, bool uninitialised = false) {
  Buffer<Out> out{"out", {Out{}}};
  Buffer<In> in = input();
  in.initialised = !uninitialised;
  const auto made = testing::make_from_text(kernel(body));
  if (!made) {
    ADD_FAILURE() << body << '\n' << render(made.error());
    return {};
  }
  return testing::fault(*made, block(1), params({out.address(), in.address()}), {out.region(), in.region()});
}

TEST(Moves, OfBytesAnd128Bits) {
  Buffer<In> in = input();
  const std::uint64_t a = in.data[0].words[0], b = in.data[0].words[1];
  const auto out =
      run("ld.global.v2.b64 {%x3, %x4}, [%x1];\nmov.b128 %q0, {%x3, %x4};\nmov.b128 %q1, %q0;\nmov.b128 {%x5, %x6}, %q1;\n"
          "st.global.v2.b64 [%x0], {%x6, %x5};\nmov.b128 {%r1, %r2, %r3, %r4}, %q1;\nmov.b128 %q2, {%r4, %r3, %r2, %r1};\n"
          "st.global.b128 [%x0+16], %q2;\nmov.b128 {_, %x7}, %q0;\nst.global.b64 [%x0+32], %x7;\n"
          "mov.b32 {%b0, %b1, %b2, %b3}, %r1;\nmov.b32 %r5, {%b3, %b1, %b2, %b0};\nst.global.b32 [%x0+40], %r5;\n"
          "mov.b16 %h0, {%b2, %b3};\nmov.b16 {%b4, %b5}, %h0;\nmov.b16 %h1, {%b5, %b4};\nst.global.b16 [%x0+44], %h1;\n"
          "setp.eq.u32 %p0, %r0, 1;\n@%p0 mov.b128 %q0, {%x4, %x3};\nst.global.b128 [%x0+48], %q0;",
          2, in);
  const auto low = static_cast<std::uint32_t>(a);
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(out[t].words[0], b);
    EXPECT_EQ(out[t].words[1], a);
    EXPECT_EQ(out[t].words[2], b >> 32 | b << 32);
    EXPECT_EQ(out[t].words[3], a >> 32 | a << 32);
    EXPECT_EQ(out[t].words[4], b);
    EXPECT_EQ(out[t].half(10), (low >> 24) | (low & 0x00FFFF00) | low << 24);
    EXPECT_EQ(out[t].half(11) & 0xFFFF, (low >> 24) | (low >> 8 & 0xFF00));
    EXPECT_EQ(out[t].words[6], t == 0 ? a : b);
    EXPECT_EQ(out[t].words[7], t == 0 ? b : a);
  }
}

TEST(Moves, OfVectors) {
  Buffer<In> in = input();
  const auto out =
      run("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%x1];\nmov.v4.b32 {%r1, %r2, %r3, %r4}, {%r4, %r1, %r2, %r3};\n"
          "st.global.v4.b32 [%x0], {%r1, %r2, %r3, %r4};\nmov.v2.u16 {%h0, %h1}, {%h2, 7};\nld.global.v2.b64 {%x3, %x4}, [%x1];\n"
          "mov.v2.b64 {%x3, %x4}, {%x4, %x3};\nst.global.v2.b64 [%x0+16], {%x3, %x4};\nst.global.b16 [%x0+32], %h1;",
          1, in);
  const auto& w = in.data[0].words;
  const auto half = [&](std::size_t i) { return static_cast<std::uint32_t>(w[i / 2] >> 32 * (i % 2)); };
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(out[0].half(i), half((i + 3) % 4));
  EXPECT_EQ(out[0].words[2], w[1]);
  EXPECT_EQ(out[0].words[3], w[0]);
  EXPECT_EQ(out[0].words[4], 7u);
}

TEST(Moves, OfSpecialRegisters) {
  Buffer<In> in = input();
  LaunchConfig config;
  config.block = {3, 2, 2};
  const std::string index =
      "mov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmad.lo.u32 %r3, %r2, 2, %r1;\nmad.lo.u32 %r3, %r3, 3, %r0;\n"
      "sub.u64 %x0, %x0, %x2;\nmul.wide.u32 %x2, %r3, 64;\nadd.u64 %x0, %x0, %x2;\n";
  const auto out = run(
      cat(index,
          "mov.v4.u32 {%r4, %r5, %r6, %r7}, %tid;\nst.global.v4.b32 [%x0], {%r4, %r5, %r6, %r7};\nmov.b128 %q0, %ntid;\n"
          "st.global.b128 [%x0+16], %q0;\nmov.u16 %h0, %tid.x;\nst.global.b16 [%x0+32], %h0;\n"
          "mov.pred %p0, %is_explicit_cluster;\nselp.u32 %r8, 1, 2, %p0;\nst.global.b32 [%x0+36], %r8;\nmov.u32 %r9, %tid.w;\n"
          "mov.u32 %r10, %pm3;\nadd.u32 %r9, %r9, %r10;\nmov.b32 %r10, %envreg7;\nadd.u32 %r9, %r9, %r10;\n"
          "mov.u64 %x3, %pm1_64;\nst.global.b32 [%x0+40], %r9;\nst.global.b64 [%x0+48], %x3;"),
      12, in, "", config);
  for (std::uint32_t t = 0; t < 12; ++t) {
    const std::array<std::uint32_t, 8> expected = {t % 3, t / 3 % 2, t / 6, 0, 3, 2, 2, 0};
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(out[t].half(i), expected[i]) << t << ' ' << i;
    EXPECT_EQ(out[t].half(8), t % 3);
    EXPECT_EQ(out[t].half(9), 2u) << "nobody asked for a cluster";
    EXPECT_EQ(out[t].half(10), 0u);
    EXPECT_EQ(out[t].words[6], 0u);
  }
}

TEST(Moves, OfAddresses) {
  Buffer<In> in = input();
  const auto out = run(
      ".shared .align 16 .b8 pad[48];\n.shared .align 16 .b8 tile[64];\nmov.u32 %r1, tile;\nmov.u16 %h0, tile;\ncvt.u32.u16 %r2, "
      "%h0;\n"
      "mov.b128 %q0, tile;\nmov.b128 {%x3, %x4}, %q0;\nst.global.v2.b32 [%x0], {%r1, %r2};\nst.global.v2.b64 [%x0+16], {%x3, "
      "%x4};\n"
      "st.shared.u32 [tile+4], 77;\ncvta.shared.u64 %x5, tile;\nld.u32 %r3, [%x5+4];\nst.global.b32 [%x0+8], %r3;\n"
      "cvta.global.u64 %x6, g;\nld.u32 %r4, [%x6];\nst.global.b32 [%x0+12], %r4;\ncvta.const.u64 %x7, c;\nld.u32 %r5, [%x7];\n"
      "st.global.b32 [%x0+32], %r5;\n.local .b32 mine;\nst.local.b32 [mine], 5;\ncvta.local.u64 %x8, mine;\nld.u32 %r6, [%x8];\n"
      "st.global.b32 [%x0+36], %r6;\ncvta.param.u64 %x9, in;\nld.u64 %x9, [%x9];\nsub.u64 %x9, %x9, %x1;\nst.global.b64 "
      "[%x0+40], %x9;",
      1, in, ".global .u32 g = 31;\n.const .u32 c = 32;\n");
  EXPECT_EQ(out[0].half(0), out[0].half(1));
  EXPECT_EQ(out[0].words[2], out[0].half(0));
  EXPECT_EQ(out[0].words[3], 0u);
  EXPECT_EQ(out[0].half(2), 77u);
  EXPECT_EQ(out[0].half(3), 31u);
  EXPECT_EQ(out[0].half(8), 32u);
  EXPECT_EQ(out[0].half(9), 5u);
  EXPECT_EQ(out[0].words[5], 0u);
}

// The space of addresses that a thread picks: of each space one, and the null pointer.
TEST(Addresses, KnowTheirSpace) {
  Buffer<In> in = input();
  constexpr std::string_view spaces[] = {"const",       "global",          "local", "shared",
                                         "shared::cta", "shared::cluster", "param", "param::entry"};
  std::string body =
      ".shared .b32 s;\n.local .b32 l;\nst.local.b32 [l], 1;\ncvta.const.u64 %x3, c;\ncvta.global.u64 %x4, g;\ncvta.local.u64 "
      "%x5, l;\n"
      "cvta.shared.u64 %x6, s;\ncvta.param.u64 %x7, in;\nmov.u64 %x8, %x1;\nmov.u64 %x9, 0;\nmov.u64 %x10, 0;\nadd.u64 %x10, "
      "%x10, %x9;\n";
  for (std::uint32_t i = 0; i < 6; ++i) body += cat("setp.eq.u32 %p0, %r0, ", i, ";\n@%p0 mov.u64 %x9, %x", 3 + i, ";\n");
  body += "mov.u32 %r2, 0;\n";
  for (std::size_t i = 0; i < std::size(spaces); ++i)
    body += cat("isspacep.", spaces[i], " %p1, %x9;\n@%p1 or.b32 %r2, %r2, ", 1u << i, ";\n");
  body += "mov.u32 %r3, 16;\nisspacep.shared %p1, %r3;\n@%p1 or.b32 %r2, %r2, 4096;\nst.global.b32 [%x0], %r2;";
  const auto out = run(body, 7, in, ".global .u32 g = 31;\n.const .u32 c = 32;\n");
  const std::uint32_t expected[] = {1, 2, 4, 8 | 16 | 32, 64 | 128, 2, 2};
  for (std::size_t t = 0; t < 7; ++t) EXPECT_EQ(out[t].half(0), expected[t]) << t;
}

TEST(Loads, UniformAndOfDevices) {
  Buffer<In> in = input();
  const auto out =
      run("ldu.global.u32 %r1, [%x1];\nldu.global.v2.s16 {%h0, %h1}, [%x1+8];\nmov.b32 %r2, {%h0, %h1};\nst.global.v2.b32 [%x0], "
          "{%r1, %r2};\n"
          "ldu.v2.u64 {%x3, %x4}, [%x1+16];\nst.global.v2.b64 [%x0+16], {%x3, %x4};\nldu.global.b128 %q0, [%x1+32];\n"
          "st.global.b128 [%x0+32], %q0;\nld.mmio.relaxed.sys.global.u32 %r3, [%x1+64];\nst.mmio.relaxed.sys.global.u32 [%x0+8], "
          "%r3;\n"
          "ld.mmio.relaxed.sys.global.s8 %r4, [%x1+72];\nst.mmio.relaxed.sys.b32 [%x0+12], %r4;\nprefetch.global.L1 "
          "[%x1];\nprefetch.L2 [%x1];\n"
          "prefetch.global.L2::evict_last [%x1];\nprefetch.tensormap [%x1];\nprefetchu.L1 "
          "[%x1];\napplypriority.global.L2::evict_normal [%x1], 128;\n"
          "mov.u64 %x5, 64;\nprefetch.global.L2 [%x5];",
          3, in);
  const auto& w = in.data[0].words;
  for (const Out& o : out) {
    EXPECT_EQ(o.half(0), static_cast<std::uint32_t>(w[0]));
    EXPECT_EQ(o.half(1), static_cast<std::uint32_t>(w[1]));
    EXPECT_EQ(o.words[2], w[2]);
    EXPECT_EQ(o.words[3], w[3]);
    EXPECT_EQ(o.words[4], w[4]);
    EXPECT_EQ(o.words[5], w[5]);
    EXPECT_EQ(o.half(2), static_cast<std::uint32_t>(w[8]));
    EXPECT_EQ(static_cast<std::int32_t>(o.half(3)), static_cast<std::int8_t>(w[9]));
  }
}

TEST(Caches, PoliciesAreAdvice) {
  Buffer<In> in = input();
  const auto out =
      run("createpolicy.fractional.L2::evict_first.b64 %x3, "
          "1.0;\ncreatepolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %x4, [%x1], 128, "
          "256;\ncreatepolicy.cvt.L2.b64 %x5, %x3;\ncreatepolicy.fractional.L2::evict_last.b64 "
          "%x6;\nld.global.L2::cache_hint.b64 %x7, [%x1], %x4;\n"
          "st.global.L2::cache_hint.b64 [%x0], %x7, %x5;\nred.global.add.L2::cache_hint.u32 [%x0], 1, %x6;\nst.global.v2.b64 "
          "[%x0+16], {%x3, %x6};\n"
          "st.global.b64 [%x0+32], %x5;",
          1, in);
  EXPECT_EQ(out[0].words[0],
            (in.data[0].words[0] & ~std::uint64_t{0xFFFFFFFF}) | static_cast<std::uint32_t>(in.data[0].words[0] + 1));
  EXPECT_EQ(out[0].words[2], 0x12F0000000000000u);
  EXPECT_EQ(out[0].words[3], 0x14F0000000000000u);
  EXPECT_EQ(out[0].words[4], out[0].words[2]);
}

TEST(Caches, WhatIsDiscardedHoldsNothing) {
  Buffer<In> in = input();
  const std::string write =
      "mov.u32 %r2, 0;\nTOP:\nmul.wide.u32 %x3, %r2, 8;\nadd.u64 %x3, %x3, %x1;\nst.global.u64 [%x3], %x3;\n"
      "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 32;\n@%p0 bra TOP;\n";
  const auto out = run(cat(write,
                           "discard.global.L2 [%x1], 128;\nst.global.u64 [%x1+8], 3;\nld.global.u64 %x4, [%x1+8];\n"
                           "ld.global.u64 %x5, [%x1];\nld.global.u64 %x6, [%x1+128];\nsub.u64 %x6, %x6, %x1;\nst.global.v2.b64 "
                           "[%x0], {%x4, %x6};"),
                       1, in, "", {}, true);
  EXPECT_EQ(out[0].words[0], 3u);
  EXPECT_EQ(out[0].words[1], 128u);
  EXPECT_EQ(
      faulty(cat(write, "discard.global.L2 [%x1], 128;\nld.global.u64 %x4, [%x1+120];\nst.global.u64 [%x0], %x4;"), true).kind,
      Kind::uninitialised);
  EXPECT_EQ(faulty("discard.global.L2 [%x1+64], 128;").kind, Kind::misaligned);
  EXPECT_EQ(faulty("discard.global.L2 [%x1+256], 128;").kind, Kind::out_of_bounds);
  EXPECT_EQ(faulty("applypriority.global.L2::evict_normal [%x1+64], 128;").kind, Kind::misaligned);
}

// ---- the stack

TEST(Stack, GivesEachThreadItsOwn) {
  Buffer<In> in = input();
  const auto out = run(
      ".local .align 4 .b8 mine[12];\nst.local.b32 [mine+8], 1234;\nstacksave.u64 %x3;\nadd.u32 %r1, %r0, 1;\nmul.wide.u32 %x4, "
      "%r1, 4;\n"
      "alloca.u64 %x5, %x4;\nalloca.u64 %x6, 16, 64;\nalloca.u32 %r2, 4;\nmov.u32 %r3, 0;\nTOP:\nmul.wide.u32 %x7, %r3, 4;\n"
      "add.u64 %x7, %x7, %x5;\nadd.u32 %r4, %r3, %r0;\nst.local.b32 [%x7], %r4;\nadd.u32 %r3, %r3, 1;\nsetp.le.u32 %p0, %r3, "
      "%r0;\n"
      "@%p0 bra TOP;\nst.local.b64 [%x6+8], %x0;\nst.local.b32 [%r2], %r0;\nmul.wide.u32 %x7, %r0, 4;\nadd.u64 %x7, %x7, %x5;\n"
      "ld.local.b32 %r5, [%x7];\nld.local.b32 %r6, [%r2];\nst.global.v2.b32 [%x0], {%r5, %r6};\nand.b64 %x8, %x6, 63;\n"
      "ld.local.b64 %x9, [%x6+8];\nsub.u64 %x9, %x9, %x0;\nadd.u64 %x8, %x8, %x9;\nst.global.b64 [%x0+8], %x8;\nld.local.b32 "
      "%r7, [mine+8];\n"
      "stackrestore.u64 %x3;\nstacksave.u32 %r8;\ncvt.u32.u64 %r9, %x3;\nsub.u32 %r8, %r8, %r9;\nst.global.v2.b32 [%x0+16], "
      "{%r7, %r8};\n"
      "alloca.u64 %x10, 8;\nsub.u64 %x10, %x10, %x3;\nst.global.b64 [%x0+24], %x10;",
      40, in);
  for (std::uint32_t t = 0; t < 40; ++t) {
    EXPECT_EQ(out[t].half(0), 2 * t);
    EXPECT_EQ(out[t].half(1), t);
    EXPECT_EQ(out[t].words[1], 0u);
    EXPECT_EQ(out[t].half(4), 1234u);
    EXPECT_EQ(out[t].half(5), 0u);
    EXPECT_LT(out[t].words[3], 8u) << "the same room again";
  }
}

TEST(Stack, HasItsBounds) {
  const Diagnostic full = faulty("TOP:\nalloca.u64 %x3, 1000;\nbra TOP;");
  EXPECT_EQ(full.kind, Kind::out_of_bounds);
  EXPECT_NE(full.message.find("takes 1000 bytes of the stack, of which 192 are left of 8192"), std::string::npos) << full.message;
  EXPECT_EQ(faulty("alloca.u64 %x3, -8;").kind, Kind::out_of_bounds);
  EXPECT_EQ(faulty("alloca.u64 %x3, 8;\nstackrestore.u64 %x1;").kind, Kind::out_of_bounds);
  // what is taken again was not written by its new owner
  EXPECT_EQ(faulty("stacksave.u64 %x4;\nalloca.u64 %x3, 8;\nst.local.b64 [%x3], 5;\nstackrestore.u64 %x4;\nalloca.u64 %x3, 8;\n"
                   "ld.local.b64 %x5, [%x3];\nst.global.b64 [%x0], %x5;")
                .kind,
            Kind::uninitialised);
  // and what is given back is nobody's
  EXPECT_EQ(faulty("stacksave.u64 %x4;\nalloca.u64 %x3, 8;\nst.local.b64 [%x3], 5;\nstackrestore.u64 %x4;\n"
                   "ld.local.b64 %x5, [%x3];\nst.global.b64 [%x0], %x5;")
                .kind,
            Kind::uninitialised);
}

// ---- flow of control

TEST(BranchLists, EachLaneGoesItsWay) {
  Buffer<In> in = input();
  const auto out =
      run("LIST: .branchtargets A, B, C, A;\nLIST2: .branchtargets A2, B2;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nTOP:\nadd.u32 %r1, "
          "%r0, %r5;\nand.b32 %r1, %r1, "
          "3;\nbrx.idx %r1, LIST;\n"
          "A:\nadd.u32 %r4, %r4, 1;\nbra JOIN;\nB:\nadd.u32 %r4, %r4, 100;\nbra JOIN;\nC:\nadd.u32 %r4, %r4, "
          "10000;\nJOIN:\nadd.u32 %r5, %r5, 1;\n"
          "setp.lt.u32 %p0, %r5, 3;\n@%p0 bra TOP;\nsetp.lt.u32 %p0, %r0, 20;\n@%p0 brx.idx.uni 1, LIST2;\n"
          "A2:\n"
          "add.u32 %r4, %r4, 1000000;\nB2:\nst.global.b32 [%x0], %r4;",
          50, in);
  const std::uint32_t worth[] = {1, 100, 10000, 1};
  for (std::uint32_t t = 0; t < 50; ++t)
    EXPECT_EQ(out[t].half(0), worth[t % 4] + worth[(t + 1) % 4] + worth[(t + 2) % 4] + (t < 20 ? 0 : 1000000)) << t;
  const Diagnostic outside = faulty("LIST: .branchtargets A, B;\nmov.u32 %r1, 2;\nbrx.idx %r1, LIST;\nA:\nB:\n");
  EXPECT_EQ(outside.kind, Kind::out_of_bounds);
  EXPECT_NE(outside.message.find("goes to label 2 of a list of 2"), std::string::npos) << outside.message;
}

TEST(Brkpt, IsAFaultWhereItIsReached) {
  Buffer<In> in = input();
  run("setp.gt.u32 %p0, %r0, 100;\n@%p0 brkpt;", 3, in);
  EXPECT_EQ(faulty("brkpt;").kind, Kind::trapped);
}

}  // namespace
}  // namespace ptx::vgpu

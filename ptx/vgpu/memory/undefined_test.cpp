// Undefined values: they may be moved, shuffled and dropped; what they decide is a fault, which leads back to where they come
// from.
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::has_note;
using testing::params;

// Between this and `end`: %r0 is the thread, %p0 is true in threads from 16 on, [%rd0] the thread's word of Y, %r1 that of shared
// memory, which nobody has written; %u is never written.
std::vector<std::string> kernel(std::vector<std::string> body) {
  std::vector<std::string> lines = {".visible .entry k",
                                    ".param .u64 y",
                                    ".reg .b32 %u",
                                    ".shared .align 16 .b8 tile[512]",
                                    "ld.param.u64 %rd0, [y]",
                                    "mov.u32 %r0, %tid.x",
                                    "mul.wide.u32 %rd1, %r0, 4",
                                    "add.u64 %rd0, %rd0, %rd1",
                                    "mov.u32 %r1, tile",
                                    "mad.lo.u32 %r1, %r0, 4, %r1",
                                    "setp.ge.u32 %p0, %r0, 16"};
  lines.insert(lines.end(), body.begin(), body.end());
  lines.emplace_back("ret");
  return lines;
}
constexpr std::uint32_t first_line = 12;  // of a body

std::vector<std::uint32_t> clean(const std::vector<std::string>& body, std::uint32_t threads = 32) {
  Buffer<std::uint32_t> y{"Y", std::vector<std::uint32_t>(threads)};
  testing::run(testing::program(kernel(body)), block(threads), params({y.address()}), {y.region()});
  return y.data;
}
// The fault, which must be one of an undefined value at line `line` (from 0) of the body and in this thread.
Diagnostic faulty(const std::vector<std::string>& body, std::uint32_t line, std::uint32_t thread, std::uint32_t threads = 32) {
  Buffer<std::uint32_t> y{"Y", std::vector<std::uint32_t>(threads)};
  const auto program = testing::program(kernel(body));
  const Diagnostic d = testing::fault(program, block(threads), params({y.address()}), {y.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised) << render(d);
  EXPECT_EQ(d.where.line, first_line + line) << render(d);
  EXPECT_TRUE(has_note(
      d, cat("thread: (", thread, ", 0, 0) of block (0, 0, 0) in kernel `k` (warp ", thread / 32, ", lane ", thread % 32, ')')))
      << render(d);
  Options unchecked;
  unchecked.check_initialised = false;
  if (program != nullptr) {
    const std::vector<Region> regions = {y.region()};
    const auto report = program->run(block(threads), params({y.address()}), regions, unchecked);
    EXPECT_TRUE(report || report.error().kind != Kind::uninitialised);
  }
  return d;
}

// ---- no fault: what nobody uses

TEST(Undefined, ValuesThatNobodyUsesAreNoFault) {
  clean({"ld.shared.b32 %r2, [%r1]"});
  clean({"ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [tile]", "st.shared.b32 [%r1+128], %r2"});
  clean({"add.u32 %r2, %u, 1", "mul.lo.u32 %r3, %r2, %r2", "cvt.rn.f32.u32 %f0, %r3", "sqrt.rn.f32 %f0, %f0"});
  clean({"setp.eq.u32 %p1, %u, 1", "selp.b32 %r2, 1, 2, %p1", "vote.sync.any.pred %p2, %p1, -1"});
  clean({"mov.b64 %rd2, {%u, %r0}", "mov.b64 {%r2, %r3}, %rd2"});
}

// What Triton writes for a reduction across warps: some lanes load what the warps have stored, all shuffle, one stores.
TEST(Undefined, ShufflesHandThemOn) {
  const auto y =
      clean({"setp.lt.u32 %p1, %r0, 8", "@%p1 st.shared.b32 [%r1], %r0", "bar.sync 0", "@%p1 ld.shared.b32 %r2, [%r1]",
             "shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1", "add.u32 %r2, %r2, %r3", "shfl.sync.bfly.b32 %r3, %r2, 2, 31, -1",
             "add.u32 %r2, %r2, %r3", "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", "add.u32 %r2, %r2, %r3",
             "setp.eq.u32 %p2, %r0, 0", "@%p2 st.global.b32 [%rd0], %r2"});
  EXPECT_EQ(y[0], 28u);
  // the lanes from 8 on have shuffled among themselves
  const Diagnostic d = faulty({"setp.lt.u32 %p1, %r0, 8", "mov.u32 %r9, 0", "@%p1 mov.u32 %r2, %r0",
                               "shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1", "add.u32 %r2, %r2, %r3", "st.global.b32 [%rd0], %r2"},
                              5, 8);
  EXPECT_EQ(d.message, "`st.global.b32` stores `%r2`, which nothing has written");
}

TEST(Undefined, OnlyTheLanesThatHaveThem) {
  // lane 5 alone has one: it goes to lane 4, and the others may use theirs
  const std::vector<std::string> from_lane_5 = {"setp.ne.u32 %p1, %r0, 5", "@%p1 mov.u32 %u, 7",
                                                "shfl.sync.bfly.b32 %r2, %u, 1, 31, -1", "setp.ne.u32 %p2, %r0, 4"};
  auto stored = from_lane_5;
  stored.emplace_back("@%p2 st.global.b32 [%rd0], %r2");
  const auto y = clean(stored);
  for (std::size_t t = 0; t < 32; ++t) EXPECT_EQ(y[t], t == 4 ? 0u : 7u);
  stored.back() = "st.global.b32 [%rd0], %r2";
  const Diagnostic d = faulty(stored, 4, 4);
  EXPECT_EQ(d.message, "`st.global.b32` stores `%r2`, whose value is undefined");
  EXPECT_TRUE(has_note(d, "it comes from `%u`, which nothing has written")) << render(d);
}

TEST(Undefined, SelpDropsWhatItDoesNotChoose) {
  const auto y = clean({"ld.shared.b32 %r2, [%r1]", "selp.b32 %r3, %r0, %r2, %p0", "@%p0 st.global.b32 [%rd0], %r3"});
  for (std::uint32_t t = 16; t < 32; ++t) EXPECT_EQ(y[t], t);
  clean({"selp.b32 %r3, 3, %u, %p0", "setp.eq.u32 %p1, %r0, 99", "selp.b32 %r3, 4, %r0, %p1", "st.global.b32 [%rd0], %r3"});
  faulty({"ld.shared.b32 %r2, [%r1]", "selp.b32 %r3, %r0, %r2, %p0", "st.global.b32 [%rd0], %r3"}, 2, 0);
  faulty({"setp.eq.u32 %p1, %u, 0", "selp.b32 %r3, 1, 2, %p1", "st.global.b32 [%rd0], %r3"}, 2, 0);
}

// What Triton writes where a thread has two elements and the conversion takes four.
TEST(Undefined, BytesThatAreNotPickedDoNotMatter) {
  clean({"prmt.b32 %r2, %r0, %u, 12816", "st.global.b32 [%rd0], %r2"});
  clean({"prmt.b32 %r2, %r0, %u, 30001", "prmt.b32 %r2, %r2, 0, 30576", "st.global.b32 [%rd0], %r2"});
  faulty({"prmt.b32 %r2, %r0, %u, 30292", "st.global.b32 [%rd0], %r2"}, 1, 0);
  faulty({"prmt.b32 %r2, %r0, %r0, %u", "st.global.b32 [%rd0], %r2"}, 1, 0);
}

TEST(Undefined, BitsGoTheirOwnWays) {
  // what is merged, and what of it is picked: defined bits may be used, the others are a fault in the last line
  struct Way {
    std::vector<std::string> merge;
    std::vector<std::string> defined, undefined;  // %r3
  };
  const Way ways[] = {
      {{"mov.b64 %rd2, {%r0, %u}"}, {"cvt.u32.u64 %r3, %rd2"}, {"shr.u64 %rd2, %rd2, 32", "cvt.u32.u64 %r3, %rd2"}},
      {{"mov.b64 %rd2, {%u, %r0}"}, {"mov.b64 {%r2, %r3}, %rd2"}, {"mov.b64 {%r3, %r2}, %rd2"}},
      {{"bfi.b32 %r2, %u, %r0, 8, 8"}, {"bfe.u32 %r3, %r2, 0, 8"}, {"bfe.u32 %r3, %r2, 4, 8"}},
      {{"bfi.b32 %r2, %u, %r0, 8, 8"}, {"and.b32 %r3, %r2, -65281"}, {"and.b32 %r3, %r2, 256"}},
      {{"bfi.b32 %r2, %u, %r0, 8, 8"}, {"or.b32 %r3, %r2, 65280", "and.b32 %r3, %r3, 255"}, {"or.b32 %r3, %r2, 255"}},
      {{"shf.l.wrap.b32 %r2, %u, %r0, 16"}, {"shr.u32 %r3, %r2, 16"}, {"and.b32 %r3, %r2, 32768"}},
      {{"prmt.b32 %r2, %r0, %u, 21520"}, {"and.b32 %r3, %r2, 65535"}, {"prmt.b32 %r3, %r2, 0, 17442"}},
      {{"shl.b32 %r2, %u, 8", "or.b32 %r2, %r2, %r0"}, {"cvt.u32.u8 %r3, %r2"}, {"cvt.u32.u16 %r3, %r2"}},
      {{"prmt.b32 %r2, %r0, %u, 21520"}, {"lop3.b32 %r3, %r2, 65535, 0, 192"}, {"lop3.b32 %r3, %r2, 65535, 0, 60"}},
      {{"bfi.b32 %r2, %u, %r0, 8, 8", "shfl.sync.idx.b32 %r2, %r2, %r0, 31, -1"},
       {"and.b32 %r3, %r2, 255"},
       {"shr.u32 %r3, %r2, 15"}},
      {{"bfi.b32 %r2, %r0, %u, 3, 5", "st.shared.b32 [%r1], %r2", "ld.shared.b32 %r2, [%r1]"},
       {"bfe.u32 %r3, %r2, 3, 5"},
       {"bfe.u32 %r3, %r2, 2, 5", "add.u32 %r3, %r3, 0"}},
      {{"st.shared.b8 [%r1], %r0", "ld.shared.b32 %r2, [%r1]"},
       {"and.b32 %r3, %r2, 255"},
       {"and.b32 %r3, %r2, 256", "add.u32 %r3, %r3, 0"}},
  };
  for (const Way& way : ways) {
    auto good = way.merge, bad = way.merge;
    good.insert(good.end(), way.defined.begin(), way.defined.end());
    bad.insert(bad.end(), way.undefined.begin(), way.undefined.end());
    good.emplace_back("st.global.b32 [%rd0], %r3");
    bad.emplace_back("st.global.b32 [%rd0], %r3");
    SCOPED_TRACE(way.merge[0] + " " + way.undefined[0]);
    const auto y = clean(good);
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(y[t], t);
    faulty(bad, static_cast<std::uint32_t>(bad.size() - 1), 0);
  }
  // neither operand knows what the other's bit is, and a bit that may be moved anywhere is nowhere
  faulty({"xor.b32 %r2, %u, %r9", "st.global.b32 [%rd0], %r2"}, 1, 0);
  faulty({"not.b32 %r2, %u", "st.global.b32 [%rd0], %r2"}, 1, 0);
  faulty({"shl.b32 %r2, %r0, %u", "st.global.b32 [%rd0], %r2"}, 1, 0);
  faulty({"bfi.b32 %r2, %r0, 0, %u, 3", "st.global.b32 [%rd0], %r2"}, 1, 0);
  clean({"shl.b32 %r2, %u, 32", "st.global.b32 [%rd0], %r2"});
}

TEST(Undefined, PartsOfPackedRegistersGoTheirOwnWays) {
  const std::vector<std::string> sum = {"prmt.b32 %r2, 0, %u, 21520", "add.f16x2 %r3, %r2, %r2"};
  auto low = sum, high = sum;
  low.insert(low.end(), {"and.b32 %r3, %r3, 65535", "st.global.b32 [%rd0], %r3"});
  high.insert(high.end(), {"shr.u32 %r3, %r3, 16", "st.global.b32 [%rd0], %r3"});
  clean(low);
  faulty(high, 3, 0);
  const std::vector<std::string> pair = {"mov.f32 %f1, 0f3F800000", "cvt.rn.f16x2.f32 %r3, %f2, %f1"};
  low = high = pair;
  low.insert(low.end(), {"and.b32 %r3, %r3, 65535", "st.global.b32 [%rd0], %r3"});
  high.insert(high.end(), {"shr.u32 %r3, %r3, 16", "st.global.b32 [%rd0], %r3"});
  EXPECT_EQ(clean(low)[3], 0x3C00u);
  faulty(high, 3, 0);
}

// { int a; /* 4 bytes that nobody writes */ long long b; }, as compilers copy it that keep everything in memory.
TEST(Undefined, StructuresOfAThread) {
  const auto with = [](std::vector<std::string> use) {
    std::vector<std::string> body = {"{", ".local .align 8 .b8 mine[16]", "st.local.b32 [mine], %r0",
                                     "st.local.b64 [mine+8], %rd0"};
    body.insert(body.end(), use.begin(), use.end());
    body.emplace_back("}");
    return body;
  };
  // the gap as a word of its own, by the byte, through other memory, between lanes
  clean(with({"ld.local.b32 %r2, [mine+4]", "st.local.b32 [mine+4], %r2", "st.global.b32 [%rd0], %r2"}));
  clean(with({"ld.local.b8 %r2, [mine+5]", "st.global.b8 [%rd0], %r2"}));
  clean(
      with({"ld.local.b32 %r2, [mine+4]", "st.shared.b32 [%r1], %r2", "ld.shared.b32 %r3, [%r1]", "st.global.b32 [%rd0], %r3"}));
  clean(with({"ld.local.b32 %r2, [mine+4]", "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", "st.global.b32 [%rd0], %r3"}));
  // together with what lies before it
  const auto y = clean(
      with({"ld.local.b64 %rd2, [mine]", "and.b32 %r4, %r0, 1", "setp.eq.u32 %p1, %r4, 0", "@%p1 st.global.b64 [%rd0], %rd2"}));
  for (std::uint32_t t = 0; t < 32; t += 2) EXPECT_EQ(y[t], t);
  // bits of a byte that is made piece by piece
  const auto field = clean(with({"ld.local.b8 %r2, [mine+4]", "bfi.b32 %r2, %r0, %r2, 0, 3", "st.local.b8 [mine+4], %r2",
                                 "ld.local.b8 %r3, [mine+4]", "and.b32 %r3, %r3, 7", "st.global.b32 [%rd0], %r3"}));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(field[t], t % 8);
  // uses
  faulty(with({"ld.local.b32 %r2, [mine+4]", "add.u32 %r2, %r2, 1", "st.global.b32 [%rd0], %r2"}), 6, 0);
  faulty(with({"ld.local.b32 %r2, [mine+4]", "setp.eq.u32 %p1, %r2, 0", "@%p1 st.global.b32 [%rd0], %r0"}), 6, 0);
  faulty(with({"ld.local.b32 %r2, [mine+4]", "add.u32 %r2, %r2, %r1", "ld.shared.b32 %r3, [%r2]"}), 6, 0);
  faulty(with({"ld.local.b64 %rd2, [mine]", "shr.u64 %rd2, %rd2, 32", "cvt.u32.u64 %r2, %rd2", "add.u32 %r2, %r2, 0",
               "st.global.b32 [%rd0], %r2"}),
         8, 0);
  faulty(with({"st.local.b32 [mine+4], %u", "ld.local.b32 %r2, [mine+4]", "st.global.b32 [%rd0], %r2"}), 6, 0);
}

TEST(Undefined, GapsInGlobalMemoryStayGaps) {
  auto lines = kernel({"{", ".local .align 8 .b8 mine[16]", "st.local.b32 [mine], %r0", "ld.local.b32 %r2, [mine+4]",
                       "st.global.b32 [%rd0], %r2", "ld.global.b32 %r3, [%rd0]", "setp.eq.u32 %p1, %r3, 0",
                       "@%p1 st.global.b32 [%rd0], %r0", "}"});
  Buffer<std::uint32_t> y{"Y", std::vector<std::uint32_t>(64), true, false};
  const Diagnostic d = testing::fault(testing::program(lines), block(32), params({y.address()}), {y.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised) << render(d);
  EXPECT_EQ(d.where.line, first_line + 7) << render(d);
}

TEST(Undefined, WhatOneOperandDecidesIsDefined) {
  clean({"mov.u32 %r2, 0", "and.b32 %r3, %u, %r2", "st.global.b32 [%rd0], %r3"});
  clean({"mov.u32 %r2, -1", "or.b32 %r3, %r2, %u", "st.global.b32 [%rd0], %r3"});
  clean({"xor.b32 %r3, %u, %u", "st.global.b32 [%rd0], %r3"});
  clean({"sub.u32 %r3, %u, %u", "st.global.b32 [%rd0], %r3"});
  // a test that is made before it may be: `i < n && x[i] > 0`
  clean({"setp.eq.u32 %p1, %u, 0", "setp.eq.u32 %p2, %r0, 99", "and.pred %p3, %p1, %p2", "@%p3 st.global.b32 [%rd0], %r0"});
  clean({"setp.eq.u32 %p1, %u, 0", "setp.ne.u32 %p2, %r0, 99", "or.pred %p3, %p2, %p1", "@!%p3 bra L", "L:"});
  faulty({"mov.u32 %r2, 1", "and.b32 %r3, %u, %r2", "st.global.b32 [%rd0], %r3"}, 2, 0);
  faulty({"setp.eq.u32 %p1, %u, 0", "setp.ne.u32 %p2, %r0, 7", "and.pred %p3, %p1, %p2", "@%p3 st.global.b32 [%rd0], %r0"}, 3, 0);
}

TEST(Undefined, EndWithTheValuesThatHadThem) {
  // once overwritten, nothing is left of them, however long the kernel goes on
  const auto y =
      clean({"ld.shared.b32 %r2, [%r1]", "add.u32 %r3, %r2, 1", "mov.u32 %r2, 0", "mov.u32 %r3, 0", "L:", "add.u32 %r2, %r2, 1",
             "setp.lt.u32 %p1, %r2, 5000", "@%p1 bra L", "add.u32 %r3, %r3, %r2", "st.global.b32 [%rd0], %r3"},
            64);
  for (const std::uint32_t sum : y) EXPECT_EQ(sum, 5000u);
}

// ---- faults: what they decide

TEST(Undefined, BranchesAndGuards) {
  EXPECT_EQ(faulty({"@%p5 bra L", "L:"}, 0, 0).message, "`bra` is guarded by `%p5`, which nothing has written");
  const Diagnostic d = faulty({"ld.shared.b32 %r2, [%r1]", "setp.gt.s32 %p1, %r2, 0", "@%p1 bra L", "L:"}, 2, 0);
  EXPECT_EQ(d.message, "`bra` is guarded by `%p1`, whose value is undefined");
  EXPECT_TRUE(has_note(d, "it comes from kernel.py:12, line 21: ld.shared.b32 %r2, [%r1];")) << render(d);
  EXPECT_TRUE(has_note(d, "which loads 4 bytes at shared address 0x400: nothing has written byte 0 of shared memory"))
      << render(d);
  faulty({"@%p0 mov.u32 %u, 3", "setp.eq.u32 %p1, %u, 3", "@%p1 add.u32 %r0, %r0, 1"}, 2, 0);
}

TEST(Undefined, Addresses) {
  const Diagnostic d = faulty({"ld.shared.b32 %r2, [%r1]", "add.u32 %r2, %r2, %r1", "@%p0 ld.shared.b32 %r3, [%r2]"}, 2, 16);
  EXPECT_EQ(d.message, "`ld.shared.b32` takes its address from `%r2`, whose value is undefined");
  faulty({"cvt.u64.u32 %rd2, %u", "add.u64 %rd2, %rd2, %rd0", "st.global.b32 [%rd2], %r0"}, 2, 0);
}

TEST(Undefined, StoresThatOthersSee) {
  EXPECT_EQ(faulty({"@%p0 mov.u32 %u, 1", "st.global.b32 [%rd0], %u"}, 1, 0).message,
            "`st.global.b32` stores `%u`, which nothing has written");
  // one element of several, through a generic address
  faulty({"ld.param.u64 %rd2, [y]", "st.v2.b32 [%rd2], {%r0, %u}"}, 1, 0);
  faulty({"add.u32 %r2, %u, 1", "st.volatile.global.b32 [%rd0], %r2"}, 1, 0);
}

TEST(Undefined, SharedMemoryRemembersThem) {
  const Diagnostic d = faulty({"@%p0 mov.u32 %u, 1", "st.shared.b32 [%r1], %u", "bar.sync 0", "sub.u32 %r3, %r1, 64",
                               "@%p0 ld.shared.b32 %r2, [%r3]", "@%p0 st.global.b32 [%rd0], %r2"},
                              5, 16);
  EXPECT_TRUE(
      has_note(d, "which loads 4 bytes at shared address 0x400: an undefined value was stored to byte 0 of shared memory"))
      << render(d);
  clean({"@%p0 mov.u32 %u, 1", "st.shared.b32 [%r1], %u", "bar.sync 0", "@%p0 ld.shared.b32 %r2, [%r1]",
         "@%p0 st.global.b32 [%rd0], %r2"});
  // a second store makes the byte good, also in another warp
  clean({"st.shared.b32 [%r1], %u", "bar.sync 0", "xor.b32 %r2, %r0, 32", "mov.u32 %r3, tile", "mad.lo.u32 %r3, %r2, 4, %r3",
         "st.shared.b32 [%r3], %r0", "bar.sync 0", "ld.shared.b32 %r4, [%r1]", "st.global.b32 [%rd0], %r4"},
        64);
  // one element of a vector
  const std::vector<std::string> element = {"mov.u32 %r2, tile", "mad.lo.u32 %r2, %r0, 8, %r2",
                                            "st.shared.v2.b32 [%r2], {%r0, %u}", "ld.shared.v2.b32 {%r3, %r4}, [%r2]"};
  auto first = element, second = element;
  first.emplace_back("st.global.b32 [%rd0], %r3");
  second.emplace_back("st.global.b32 [%rd0], %r4");
  clean(first);
  faulty(second, 4, 0);
}

TEST(Undefined, MemoryIsKnownByTheByte) {
  // thread t stores byte t; then every thread loads a word, and one byte of the last has nobody
  const Diagnostic d =
      faulty({"mov.u32 %r2, tile", "add.u32 %r3, %r2, %r0", "setp.eq.u32 %p1, %r0, 27", "@!%p1 st.shared.b8 [%r3], %r0",
              "bar.sync 0", "and.b32 %r4, %r0, 7", "mad.lo.u32 %r4, %r4, 4, %r2", "ld.shared.b32 %r5, [%r4]",
              "add.u32 %r5, %r5, 1", "st.global.b32 [%rd0], %r5"},
             9, 6);
  EXPECT_TRUE(has_note(d, "which loads 4 bytes at shared address 0x418: nothing has written byte 27 of shared memory"))
      << render(d);
}

TEST(Undefined, LocalMemoryIsEachLanesOwn) {
  std::vector<std::string> body = {"{",
                                   ".local .align 4 .b8 mine[8]",
                                   "@%p0 st.local.b32 [mine], %r0",
                                   "ld.local.b32 %r2, [mine]",
                                   "@%p0 st.global.b32 [%rd0], %r2",
                                   "}"};
  clean(body);
  body[4] = "st.global.b32 [%rd0], %r2";
  faulty(body, 4, 0);
}

TEST(Undefined, OutputsMayBeReadOnceWritten) {
  const auto lines = kernel({"st.global.b32 [%rd0], %r0", "ld.global.b32 %r3, [%rd0]", "ld.global.b32 %r4, [%rd0+4]",
                             "add.u32 %r4, %r3, %r4", "setp.eq.u32 %p1, %r4, 0", "@%p1 bra L", "L:"});
  Buffer<std::uint32_t> y{"Y", std::vector<std::uint32_t>(64), true, false};
  const Diagnostic d = testing::fault(testing::program(lines), block(32), params({y.address()}), {y.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised);
  EXPECT_TRUE(
      has_note(d, cat("which loads 4 bytes at address 0x", hex(y.address() + 128), ": nothing has written byte 128 of `Y`")))
      << render(d);
  EXPECT_TRUE(has_note(d, "thread: (31, 0, 0) of block (0, 0, 0) in kernel `k` (warp 0, lane 31)")) << render(d);
  // the same memory given once more as an input counts as initialised
  Region as_input = y.region();
  as_input.initialised = true;
  as_input.writable = false;
  as_input.name = "X";
  testing::run(testing::program(lines), block(32), params({y.address()}), {y.region(), as_input});
}

TEST(Undefined, ShufflesFromAbsentLanes) {
  const std::vector<std::string> body = {"shfl.sync.down.b32 %r2, %r0, 8, 31, -1", "setp.lt.u32 %p1, %r0, 8",
                                         "@%p1 st.global.b32 [%rd0], %r2"};
  const auto y = clean(body, 16);
  for (std::uint32_t t = 0; t < 8; ++t) EXPECT_EQ(y[t], t + 8);
  auto all = body;
  all[2] = "st.global.b32 [%rd0], %r2";
  clean(all, 32);
  const Diagnostic d = faulty(all, 2, 8, 16);
  EXPECT_TRUE(has_note(d, "it comes from kernel.py:12, line 21: shfl.sync.down.b32 %r2, %r0, 8, 31, -1;")) << render(d);
  EXPECT_TRUE(has_note(d, "which in lane 8 reads lane 16, which takes no part; the lanes that take part: lanes 0-15"))
      << render(d);
}

TEST(Undefined, VotesBallotsAndReductionsOfThem) {
  faulty({"@%p0 mov.u32 %u, 1", "redux.sync.add.u32 %r2, %u, -1", "st.global.b32 [%rd0], %r2"}, 2, 0);
  faulty({"setp.eq.u32 %p1, %u, 1", "vote.sync.ballot.b32 %r2, %p1, -1", "st.global.b32 [%rd0], %r2"}, 2, 0);
  // in the group of lanes that have it, and not in the other
  const std::vector<std::string> groups = {"@%p0 mov.u32 %u, 1", "mov.u32 %r2, 65535", "@%p0 mov.u32 %r2, 4294901760",
                                           "redux.sync.add.u32 %r3, %u, %r2"};
  auto good = groups, bad = groups;
  good.emplace_back("@%p0 st.global.b32 [%rd0], %r3");
  bad.emplace_back("st.global.b32 [%rd0], %r3");
  const auto y = clean(good);
  for (std::uint32_t t = 16; t < 32; ++t) EXPECT_EQ(y[t], 16u);
  faulty(bad, 4, 0);
}

TEST(Undefined, VotesThatOthersHaveSettledAreKnown) {
  // %p1 is undefined below lane 16, and what the others have there is the body's
  const auto vote = [](const std::string& others, const std::string& mode) -> std::vector<std::string> {
    return {"mov.u32 %r2, " + others,  "@%p0 mov.u32 %u, %r2",
            "setp.eq.u32 %p1, %u, 1",  "vote.sync." + mode + ".pred %p2, %p1, -1",
            "selp.b32 %r3, 7, 9, %p2", "st.global.b32 [%rd0], %r3"};
  };
  EXPECT_EQ(clean(vote("0", "all"))[3], 9u);
  EXPECT_EQ(clean(vote("1", "any"))[3], 7u);
  faulty(vote("1", "all"), 5, 0);
  faulty(vote("0", "any"), 5, 0);
  faulty(vote("1", "uni"), 5, 0);
}

// What CUB's segmented radix sort does: threads beyond a block's elements bring along what nobody has written, and what all
// threads are told decides only where it is known.
TEST(Undefined, ReductionsOverABarrierHandThemOn) {
  const auto body = [](const std::string& others, const std::string& reduction) -> std::vector<std::string> {
    return {"mov.u32 %r2, " + others, "@%p0 mov.u32 %u, %r2", "setp.eq.u32 %p1, %u, 1", reduction};
  };
  const auto stored = [&](const std::string& others, const std::string& op, bool stores) {
    auto lines = body(others, "barrier.red." + op + ".pred %p2, 0, %p1");
    lines.emplace_back("selp.b32 %r3, 7, 9, %p2");
    if (stores) lines.emplace_back("st.global.b32 [%rd0], %r3");
    return lines;
  };
  clean(stored("1", "and", false), 64);
  clean(body("1", "bar.red.popc.u32 %r3, 0, %p1"), 64);
  EXPECT_EQ(clean(stored("0", "and", true), 64)[3], 9u);
  EXPECT_EQ(clean(stored("1", "or", true), 64)[40], 7u);
  const Diagnostic own = faulty(stored("1", "and", true), 5, 0);
  EXPECT_TRUE(has_note(own, "it comes from `%u`, which nothing has written")) << render(own);
  // who comes last, and does not know that it holds anything undefined, is told too
  auto last = body("1", "bar.red.popc.u32 %r3, 0, %p1");
  last.emplace_back("setp.lt.u32 %p3, %r0, 32");
  last.emplace_back("@%p3 bra END");
  last.emplace_back("st.global.b32 [%rd0], %r3");
  last.emplace_back("END:");
  const Diagnostic of_others = faulty(last, 6, 32, 64);
  EXPECT_TRUE(has_note(of_others, "which reduces the predicates of 16 threads that are undefined, the first in lane 0 of warp 0"))
      << render(of_others);
}

TEST(Undefined, ShufflesBetweenDifferentPlaces) {
  // the undefined lanes wait at one shuffle, the others at another
  std::vector<std::string> body = {
      "@%p0 bra HIGH",  "shfl.sync.bfly.b32 %r2, %u, 16, 31, -1",  "bra JOIN", "HIGH:",
      "mov.u32 %r3, 5", "shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1", "JOIN:",    "@!%p0 st.global.b32 [%rd0], %r2"};
  const auto y = clean(body);
  for (std::size_t t = 0; t < 16; ++t) EXPECT_EQ(y[t], 5u);
  body.back() = "st.global.b32 [%rd0], %r2";
  faulty(body, 7, 16);
}

TEST(Undefined, WhatSynchronisesMustBeKnown) {
  EXPECT_EQ(faulty({"bar.sync %u"}, 0, 0).message, "`bar.sync` reads `%u`, which nothing has written");
  faulty({"shfl.sync.bfly.b32 %r2, %r0, 1, 31, %u"}, 0, 0);
  faulty({"shfl.sync.idx.b32 %r2, %r0, %u, 31, -1"}, 0, 0);
}

}  // namespace
}  // namespace ptx::vgpu

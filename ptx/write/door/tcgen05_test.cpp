// `k.tcgen05`: the same text as Python's `ptx.tcgen05`, and errors at the author's line.
#include "ptx/write/door/tcgen05.hpp"

#include <gtest/gtest.h>

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/kernels.hpp"

namespace ptx {
namespace {

using write_test::error_of;

Kernel make_blackwell() { return write_test::make(sm_100a); }

// The kernel of test_tcgen05.py's test_the_twin_in_cpp.
TEST(Tcgen05Door, WritesWhatPythonWrites) {
  Kernel k({.name = "tcgen05_twin", .out_specs = {{"Y", {128, 64}, f32}}, .block = 128, .arch = sm_100a});
  auto [y] = k.global_ptrs("Y");
  auto slot = k.smem.alloc<b32>(1);
  auto a = k.smem.alloc<bf16>({128, 64});
  auto done = k.smem.mbarrier(1);
  k.tcgen05.alloc(slot, 64);
  k.tcgen05.relinquish_alloc_permit();
  auto taddr = k.smem.load<b32>(slot);
  auto base = k.smem.base(a.name());
  auto desc = k.tcgen05.descriptor(base, {.byte_offset = 32, .stride_bytes = 1024});
  auto other = k.tcgen05.masked_descriptor(base);
  auto idesc = k.tcgen05.make_instr_desc_f16bf16_f32({.m = 128, .n = 64});
  auto first = k.from_<u32>(special.tid.x()) == 0;
  k.tcgen05.mma(taddr, desc, desc, idesc, {.pred_operand = false, .pred = first});
  k.tcgen05.mma(taddr, desc, other, idesc, {.collector_a = "fill", .pred = first});
  k.tcgen05.mma(taddr, addr(taddr, 64), other, idesc, {.enable_input_d = false, .a_is_tmem = true, .scale_c = 3, .pred = first});
  k.tcgen05.mma(taddr, desc, other, k.tcgen05.make_instr_desc_mxf8f6f4({.n = 64}),
                {.kind = "mxf8f6f4", .scale_d = !first, .scale_a = taddr, .scale_b = addr(taddr, 4), .pred = first});
  k.tcgen05.commit(done[0], {.pred = first});
  k.tcgen05.commit(done[0], {.multicast_mask = 3, .pred = first});
  k.tcgen05.fence_before_thread_sync();
  k.tcgen05.fence_after_thread_sync();
  auto columns = k.array<f32>(8);
  k.tcgen05.ld(columns, taddr, {.shape = "32x32b", .count = 8});
  k.tcgen05.wait_ld();
  k.tcgen05.st(addr(taddr, 8), columns, {.shape = "32x32b", .count = 8});
  k.tcgen05.wait_st();
  k.tcgen05.cp(taddr, desc, {.size = "128x128b"});
  k.tcgen05.shift(taddr);
  k << inst.st.global_.f32(addr(y), columns[0]);
  k.tcgen05.dealloc(taddr, 64);
  k << inst.ret();
  write_test::expect_golden(k, "tcgen05");
}

TEST(Tcgen05Door, InstructionDescriptorsAreTheKnownNumbers) {
  Kernel k = make_blackwell();
  EXPECT_EQ(k.tcgen05.make_instr_desc_f16bf16_f32(), 0x08400490u);
  EXPECT_EQ(k.tcgen05.make_instr_desc_f16bf16_f32({.ab_dtype = "f16"}), 0x08400010u);
  EXPECT_EQ(k.tcgen05.make_instr_desc_f16bf16_f32({.ab_dtype = "f16", .scale_a = -1}), 0x08402010u);
  EXPECT_EQ(k.tcgen05.make_instr_desc_f16bf16_f32({.ab_dtype = "tf32"}), 0x08400910u);
  EXPECT_EQ(k.tcgen05.make_instr_desc_tf32(), 0x08400910u);
  EXPECT_EQ(k.tcgen05.make_instr_desc_i8({.saturate = true}), 0x084004A8u);
  EXPECT_TRUE(k.module());
}

TEST(Tcgen05Door, KeepsTheFirstErrorWithTheAuthorsLine) {
  Kernel k = make_blackwell();
  const int line = __LINE__ + 1;
  EXPECT_EQ(k.tcgen05.make_instr_desc_f16bf16_f32({.m = 96}), 0u);
  const Diagnostic d = error_of(k);
  EXPECT_EQ(d.kind, Kind::bad_descriptor);
  EXPECT_EQ(static_cast<int>(d.where.line), line);
  Kernel other = make_blackwell();
  other.tcgen05.commit(other.smem.mbarrier(1)[0], {.multicast = true});
  EXPECT_EQ(error_of(other).message, "`ptx.tcgen05.commit` with `multicast` needs a `multicast_mask`");
}

TEST(Tcgen05Door, TheMaskedDefaultIsThatOfTheDescriptor) {
  EXPECT_EQ(write::Tcgen05MaskedDescriptor{}.const_bits,
            *layout::descriptor_bits(layout::Tcgen05Descriptor{.stride_bytes = 1024}));
}

}  // namespace
}  // namespace ptx

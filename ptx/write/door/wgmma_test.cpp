// `k.wgmma`: the same text as Python's `ptx.wgmma`, and errors at the author's line.
#include "ptx/write/door/wgmma.hpp"

#include <gtest/gtest.h>

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/kernels.hpp"

namespace ptx {
namespace {

using layout::Major;
using write_test::error_of;

// The kernel of test_wgmma.py's test_the_twin_in_cpp.
TEST(WgmmaDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "wgmma_twin", .out_specs = {{"Y", {64, 64}, f32}}, .block = 128});
  auto [y] = k.global_ptrs("Y");
  auto a = k.smem.wgmma_tile<bf16>({64, 64});
  auto b = k.smem.wgmma_tile<bf16>({64, 64}, Major::mn);
  auto acc = k.array<f32>(32);
  auto more = k.from_<u32>(special.tid.x()) < 128;
  k.wgmma.fence();
  for (int step = 0; step < 4; ++step)
    k.wgmma.mma_async({.shape = {64, 64, 16},
                       .dtype_d = f32,
                       .dtype_a = bf16,
                       .dtype_b = bf16,
                       .d = acc,
                       .a = a,
                       .b = b[0],
                       .scale_d = step > 0,
                       .trans_b = 1,
                       .a_k_offset = 32 * step,
                       .b_k_offset = 2048 * step});
  auto base = k.smem.base(a.name());
  auto desc_a = k.wgmma.make_descriptor(
      base,
      {.leading_byte_offset = 16, .stride_byte_offset = 1024, .swizzle = write::Wgmma::SWIZZLE_128B, .addr_byte_offset = 64});
  auto desc_b = k.wgmma.auto_descriptor(b, {.dtype = bf16, .shape = {64, 64}, .major = Major::mn});
  k.wgmma.mma_async({.shape = {64, 64, 16},
                     .dtype_d = f32,
                     .dtype_a = bf16,
                     .dtype_b = bf16,
                     .d = acc,
                     .a = desc_a,
                     .b = desc_b,
                     .scale_d = more,
                     .scale_a = -1,
                     .trans_b = 1});
  auto masked = k.wgmma.masked_descriptor(base, {.byte_offset = 128});
  k.wgmma.mma_async({.shape = {64, 64, 32},
                     .dtype_d = f32,
                     .dtype_a = e4m3,
                     .dtype_b = e5m2,
                     .d = acc,
                     .a = masked,
                     .b = masked,
                     .scale_d = !more});
  k.wgmma.commit_group();
  k.wgmma.wait_group(0);
  k << inst.st.global_.f32(addr(y), acc[0]) << inst.ret();
  write_test::expect_golden(k, "wgmma");
}

TEST(WgmmaDoor, KeepsTheFirstErrorWithTheAuthorsLine) {
  Kernel k({.name = "k"});
  auto tile = k.smem.alloc<bf16>({64, 64});
  auto acc = k.array<f32>(32);
  const int line = __LINE__ + 1;
  k.wgmma.mma_async({.shape = {64, 64, 16}, .dtype_d = f32, .dtype_a = bf16, .dtype_b = bf16, .d = acc, .a = tile, .b = tile});
  const Diagnostic d = error_of(k);
  EXPECT_EQ(d.message, "`a` of `ptx.wgmma.mma_async` is `smem_0`, shared memory without a layout of wgmma");
  EXPECT_EQ(static_cast<int>(d.where.line), line);
  EXPECT_EQ(d.kind, Kind::operand_mismatch);
}

TEST(WgmmaDoor, RefusesDescriptorsThatCannotBe) {
  Kernel k({.name = "k"});
  auto base = k.smem.base();
  (void)k.wgmma.make_descriptor(base, {.leading_byte_offset = 16, .stride_byte_offset = 1024, .swizzle = 4});
  const Diagnostic d = error_of(k);
  EXPECT_EQ(d.message, "`swizzle` of a wgmma descriptor is 4; what fits is 0 to 3");
  EXPECT_TRUE(d.where.known());
  Kernel other({.name = "k"});
  (void)other.wgmma.auto_descriptor(other.smem.base(), {.dtype = bf16, .shape = {64, 24}});
  EXPECT_EQ(error_of(other).kind, Kind::bad_tile);
}

TEST(WgmmaDoor, ConstantsAreWhatTheFieldsComeTo) {
  EXPECT_EQ(write::Wgmma::MASKED_DESC_B128,
            *layout::descriptor_bits(layout::WgmmaDescriptor{16, 1024, write::Wgmma::SWIZZLE_128B, 0}));
}

TEST(WgmmaDoor, AFragmentIsAThreadsShareOfAnAccumulator) {
  Kernel k({.name = "k"});
  EXPECT_EQ(k.wgmma_frag<f32>(64, 256).size(), 128u);
  EXPECT_EQ(k.wgmma_frag<f32>(64, 8u, "acc")[3].name(), "acc3");
  EXPECT_TRUE(k.module());
  for (const auto& [m, n] : {std::pair(3, 5), {0, 128}, {-64, -8}}) {
    Kernel wrong({.name = "k"});
    const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
    (void)wrong.wgmma_frag<f32>(m, n);
    const auto module = wrong.module();
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().message,
              cat("a fragment of ", m, " x ", n, " does not divide among the 128 threads of a warpgroup"));
    EXPECT_EQ(module.error().where.line, line);
  }
}

}  // namespace
}  // namespace ptx

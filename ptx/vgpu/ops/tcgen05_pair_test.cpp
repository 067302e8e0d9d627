// tcgen05.mma of two CTAs: factors put into the shared memory of both by the manual's description of the layouts, the product in
// whole numbers, and all of d compared. (No GPU has been asked: docs/facts.md.)
#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/kernel.hpp"
#include "ptx/vgpu/testing/numbers.hpp"
#include "ptx/vgpu/testing/shared_matrices.hpp"

namespace ptx::vgpu::products_of_pairs {
namespace {

using testing::Buffer;
using testing::pattern_of;
using testing::Placed;

// Two CTAs: each has half of the rows of a, and of the columns of b, in its shared memory; d is 1 everywhere before, a and b are
// whole numbers that say where they come from. Of a sparse a the first two of four elements are there; scales are powers of two,
// those of its rows in each CTA, those of all columns in both.
struct Pair {
  int m;
  bool sparse = false, scaled = false;
};
void expect_pair(const Pair& c) {
  const int m = c.m;
  constexpr int n = 64, e_column = 64, a_scale_column = 72, b_scale_column = 76;
  const int stored = c.scaled ? 32 : 16, k = c.sparse ? 2 * stored : stored, bits = c.scaled ? 8 : 16;
  const char* const type = c.scaled ? "e4m3" : "bf16";
  const auto a_power = [&](int row) { return c.scaled ? row % 3 - 1 : 0; };
  const auto b_power = [&](int column) { return c.scaled ? (column + column / 32) % 4 - 1 : 0; };
  const int rows = m / 2;
  const auto a = [&](int row, int at_k) { return row % 5 - 2 + (at_k == row % k ? 3 : 0); };
  const auto b = [&](int column, int at_k) { return column % 7 - 3 + (at_k == column % k ? 2 : 0); };
  const Placed place_a(32, bits, false, rows), place_b(k * bits / 8, bits, false, n / 2);
  constexpr std::uint64_t shared_start = 1024, bytes = 16384, b_at = 8192;
  Buffer<std::uint8_t> image{"image", std::vector<std::uint8_t>(2 * bytes)};
  for (int cta = 0; cta < 2; ++cta)
    for (int at_k = 0; at_k < k; ++at_k) {
      const auto put = [&](const Placed& placed, std::uint64_t base, int mn, int place, int value) {
        const std::uint64_t first = placed.bit(shared_start + base, mn, place) - shared_start * 8;
        testing::put_bits(image.data, first + bytes * 8 * static_cast<std::uint64_t>(cta), bits, pattern_of(type, value));
      };
      const bool is_stored = !c.sparse || at_k % 4 < 2;
      const int place = c.sparse ? at_k / 4 * 2 + at_k % 4 : at_k;
      for (int row = 0; is_stored && row < rows; ++row) put(place_a, 0, row, place, a(cta * rows + row, at_k));
      for (int column = 0; column < n / 2; ++column) put(place_b, b_at, column, at_k, b(cta * n / 2 + column, at_k));
    }
  const auto idesc =
      c.scaled
          ? layout::descriptor_bits(layout::ScaledMmaKind::mxf8f6f4,
                                    {.m = m, .n = n, .a_dtype = type, .b_dtype = type, .scale_dtype = "ue8m0"})
          : layout::descriptor_bits(layout::MmaKind::f16,
                                    {.m = m, .n = n, .d_dtype = "f32", .a_dtype = type, .b_dtype = type, .sparse = c.sparse});
  ASSERT_TRUE(idesc);
  std::string ones = "{%one", list = "{%c0";
  for (int i = 1; i < n; ++i) ones += ", %one", list += cat(", %c", i);
  ones += '}', list += '}';
  std::string body = cat(R"(.shared .align 1024 .b8 tile[16384]; .shared .b32 slot; .shared .b64 done;
.reg .b64 %x<8>; .reg .b64 %xa, %xb; .reg .b32 %r<8>; .reg .b32 %w<4>; .reg .b32 %c<64>; .reg .pred %p, %q; .reg .b32 %d, %one, %rank, %e, %sa, %sb;
ld.param.u64 %x0, [image]; ld.param.u64 %x2, [out];
mov.u32 %r0, %tid.x; mov.u32 %rank, %cluster_ctarank; mov.u32 %r1, tile; mov.b32 %one, 0x3F800000;
mul.wide.u32 %x4, %rank, 16384; add.u64 %x0, %x0, %x4;
mov.u32 %r2, 0; mul.wide.u32 %x4, %r0, 16; add.u64 %x4, %x4, %x0; shl.b32 %r3, %r0, 4; add.u32 %r3, %r3, %r1;
FILL:
ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x4]; st.shared.v4.b32 [%r3], {%w0, %w1, %w2, %w3};
add.u64 %x4, %x4, 2048; add.u32 %r3, %r3, 2048; add.u32 %r2, %r2, 2048; setp.lt.u32 %p, %r2, 16384;
@%p bra FILL;
setp.eq.u32 %q, %r0, 0;
@%q mbarrier.init.shared::cta.b64 [done], 1;
setp.ge.u32 %p, %r0, 32;
@%p bra TAKEN;
tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;
tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
TAKEN:
fence.proxy.async.shared::cta;
bar.sync 0;
ld.shared.b32 %d, [slot]; shr.u32 %r4, %r0, 5; shl.b32 %r4, %r4, 21; add.u32 %r4, %r4, %d;
tcgen05.st.sync.aligned.32x32b.x64.b32 [%r4], )",
                         ones, R"(;
and.b32 %r6, %r0, 31;
)");
  // of b: all columns in every quarter, a word for each 32; of 128 rows half of them in half of the lanes
  const std::string first_of_b = m == 256 ? "mov.b32 %r7, %r6;\n" : "shr.u32 %r7, %r0, 6; add.u32 %r7, %r7, %r6;\n";
  std::string beside = "{%c0";
  for (int i = 0; i < 16; ++i) {
    if (i != 0) beside += cat(", %c", i);
    const int column = e_column + i;
    const bool of_a = column >= a_scale_column && column < b_scale_column;
    body += column < a_scale_column ? cat("mov.b32 %c", i, ", 0x44444444;\n")
                                    : cat(of_a ? cat("mad.lo.u32 %r7, %rank, ", rows, ", %r6;\n") : first_of_b,
                                          "add.u32 %r7, %r7, ", of_a ? 32 * (column - a_scale_column) : column - b_scale_column,
                                          "; rem.u32 %r7, %r7, ", of_a ? 3 : 4, "; add.u32 %c", i, ", %r7, 126;\n");
  }
  body += cat("tcgen05.st.sync.aligned.32x32b.x16.b32 [%r4+", e_column, "], ", beside, R"(};
tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
tcgen05.fence::after_thread_sync;
setp.ne.u32 %q, %r0, 0; setp.ne.or.u32 %q, %rank, 0, %q;
@%q bra ISSUED;
and.b32 %r5, %r1, 0xFFFFFF; shr.u32 %r5, %r5, 4; cvt.u64.u32 %x5, %r5; mov.b64 %xa, )",
              place_a.tcgen05_descriptor(), "; add.u64 %xa, %xa, %x5; mov.b64 %xb, ", place_b.tcgen05_descriptor() + b_at / 16,
              "; add.u64 %xb, %xb, %x5;\nadd.u32 %e, %d, ", e_column, "; add.u32 %sa, %d, ", a_scale_column,
              "; add.u32 %sb, %d, ", b_scale_column, ";\n", "tcgen05.mma.", c.sparse ? "sp." : "",
              "cta_group::2.kind::", c.scaled ? "mxf8f6f4.block_scale" : "f16", " [%d], %xa, %xb, ", c.sparse ? "[%e], " : "",
              *idesc, c.scaled ? ", [%sa], [%sb]" : "", R"(, 1;
mov.b32 %r6, 3; cvt.u16.u32 %h, %r6;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [done], %h;
ISSUED:
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
@!%p bra WAIT;
tcgen05.fence::after_thread_sync;
tcgen05.ld.sync.aligned.32x32b.x64.b32 )",
              list, R"(, [%r4];
tcgen05.wait::ld.sync.aligned;
shl.b32 %r7, %rank, 7; add.u32 %r7, %r7, %r0; mul.wide.u32 %x3, %r7, 256; add.u64 %x2, %x2, %x3;
)");
  for (int i = 0; i < n; ++i) body += cat("st.global.b32 [%x2+", 4 * i, "], %c", i, ";\n");
  body += R"(tcgen05.fence::before_thread_sync;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
setp.ge.u32 %p, %r0, 32;
@%p bra END;
tcgen05.dealloc.cta_group::2.sync.aligned.b32 %d, 128;
END:
ret;)";
  auto made = testing::make_from_text(
      cat(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 out)\n",
          ".explicitcluster .reqnctapercluster 2, 1, 1\n{\n.reg .b16 %h;\n", body, "\n}\n"));
  ASSERT_TRUE(made) << render(made.error());
  Buffer<float> out{"out", std::vector<float>(256 * n)};
  LaunchConfig config = testing::block(128);
  config.grid = {2, 1, 1};
  testing::run(*made, config, testing::params({image.address(), out.address()}), {image.region(), out.region()});
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 1;
      for (int at_k = 0; at_k < k; ++at_k)
        if (!c.sparse || at_k % 4 < 2) sum += std::ldexp(a(row, at_k) * b(column, at_k), a_power(row) + b_power(column));
      // 256 rows: a lane each; 128: 64 lanes of each CTA, the columns beside each other in the other 64
      // and of a sparse a 16 of each 32 lanes
      const int lane = m == 256   ? row
                       : c.sparse ? row / 64 * 128 + row % 64 / 16 * 32 + row % 16
                                  : row / 64 * 128 + row % 64 + (column >= n / 2 ? 64 : 0);
      const int cell = m == 256 || c.sparse ? column : column % (n / 2);
      ASSERT_EQ(out.data[static_cast<std::size_t>(lane * n + cell)], static_cast<float>(sum)) << m
                                                                                              << (c.sparse   ? " sparse "
                                                                                                  : c.scaled ? " scaled "
                                                                                                             : " ")
                                                                                              << row << ' ' << column;
    }
}

TEST(Tcgen05Pair, Multiplies) {
  for (const Pair& c : {Pair{256}, Pair{128}, Pair{256, true}, Pair{128, true}, Pair{256, false, true}, Pair{128, false, true}})
    expect_pair(c);
}

}  // namespace
}  // namespace ptx::vgpu::products_of_pairs

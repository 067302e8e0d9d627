#include "ptx/launch/alignment.hpp"

#include <gtest/gtest.h>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

/// What a kernel of these instructions needs of its two tensors. `%p` and `%q` are their addresses, `%n` a number of the
/// caller's,
/// `%t` the thread's.
std::vector<std::uint32_t> needed(const std::string& body) {
  const std::string text =
      cat(".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 c)\n{\n"
          "  .reg .b64 %p, %q, %x, %y;\n  .reg .b32 %n, %t, %i;\n  .reg .f32 %f<4>;\n  .reg .f64 %d<2>;\n  .reg .pred %s;\n"
          "  ld.param.u64 %p, [a];\n  ld.param.u64 %q, [b];\n  ld.param.u32 %n, [c];\n  mov.u32 %t, %tid.x;\n",
          body, "  ret;\n}\n");
  auto accepted = check::accept(text::parse(text, "k.ptx").module);
  EXPECT_TRUE(accepted) << (accepted ? "" : render(accepted.error()));
  if (!accepted) return {};
  const std::vector<Alignment> found = alignments(accepted->module(), accepted->module().functions[0]);
  return {found[0].bytes, found[1].bytes};
}
using Bytes = std::vector<std::uint32_t>;

const std::string v4 = "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, ";

TEST(Alignment, an_access_needs_its_own_size) {
  EXPECT_EQ(needed(""), (Bytes{1, 1}));
  EXPECT_EQ(needed("  ld.global.f32 %f0, [%p];\n"), (Bytes{4, 1}));
  EXPECT_EQ(needed("  ld.global.v2.f32 {%f0, %f1}, [%q];\n"), (Bytes{1, 8}));
  EXPECT_EQ(needed(v4 + "[%p];\n  st.global.f64 [%q], %d0;\n"), (Bytes{16, 8}));
  EXPECT_EQ(needed("  red.global.add.f32 [%p], %f0;\n  ld.f64 %d0, [%q];\n"), (Bytes{4, 8}));
  EXPECT_EQ(needed("  ld.global.f32 %f0, [%p];\n" + v4 + "[%p+32];\n"), (Bytes{16, 1}));
}

TEST(Alignment, it_follows_the_address) {
  const std::string thread16 = "  mul.wide.u32 %x, %t, 16;\n  add.s64 %p, %p, %x;\n";
  EXPECT_EQ(needed(thread16 + v4 + "[%p];\n"), (Bytes{16, 1}));
  EXPECT_EQ(needed("  cvta.to.global.u64 %p, %p;\n" + thread16 + v4 + "[%p+48];\n"), (Bytes{16, 1}));
  EXPECT_EQ(needed("  shl.b32 %i, %t, 4;\n  cvt.u64.u32 %x, %i;\n  add.u64 %y, %x, %q;\n" + v4 + "[%y];\n"), (Bytes{1, 16}));
  EXPECT_EQ(needed("  mad.wide.u32 %x, %t, 32, %q;\n" + v4 + "[%x+16];\n"), (Bytes{1, 16}));
  EXPECT_EQ(needed("  mad.lo.u32 %i, %t, 8, %n;\n  mul.wide.u32 %x, %i, 16;\n  add.u64 %p, %x, %p;\n" + v4 + "[%p];\n"),
            (Bytes{16, 1}));
  EXPECT_EQ(needed("  and.b32 %i, %t, -4;\n  mul.wide.u32 %x, %i, 4;\n  add.u64 %p, %p, %x;\n" + v4 + "[%p];\n"), (Bytes{16, 1}));
  // A loop that goes on by 64 bytes a time.
  EXPECT_EQ(needed("  mov.u32 %i, 0;\nloop:\n" + v4 +
                   "[%p];\n  add.u64 %p, %p, 64;\n  add.u32 %i, %i, 1;\n"
                   "  setp.lt.u32 %s, %i, %n;\n  @%s bra loop;\n"),
            (Bytes{16, 1}));
}

TEST(Alignment, what_is_not_known_is_not_asked_for) {
  // The caller's number of floats may make up for an address between two multiples of 16.
  EXPECT_EQ(needed("  mul.wide.u32 %x, %n, 4;\n  add.u64 %p, %p, %x;\n" + v4 + "[%p];\n"), (Bytes{4, 1}));
  EXPECT_EQ(needed("  cvt.u64.u32 %x, %n;\n  add.u64 %p, %p, %x;\n" + v4 + "[%p];\n"), (Bytes{1, 1}));
  EXPECT_EQ(needed(v4 + "[%p+4];\n"), (Bytes{1, 1})) << "an address 12 bytes behind a multiple of 16 fits, no other";
  EXPECT_EQ(needed("  add.u64 %p, %p, 4;\n" + v4 + "[%p];\n"), (Bytes{4, 1}));
  EXPECT_EQ(needed("  mov.u32 %i, 0;\nloop:\n" + v4 +
                   "[%p];\n  add.u64 %p, %p, 4;\n  add.u32 %i, %i, 1;\n"
                   "  setp.lt.u32 %s, %i, %n;\n  @%s bra loop;\n"),
            (Bytes{4, 1}));
  // One of two tensors, nobody knows which; and the difference of two addresses.
  EXPECT_EQ(needed("  setp.eq.u32 %s, %n, 0;\n  selp.b64 %x, %p, %q, %s;\n" + v4 + "[%x];\n"), (Bytes{1, 1}));
  EXPECT_EQ(needed("  sub.u64 %x, %p, %q;\n  add.u64 %x, %x, %q;\n" + v4 + "[%x];\n"), (Bytes{1, 1}));
}

TEST(Alignment, a_kernel_that_looks_at_an_address_decides_by_itself) {
  EXPECT_EQ(
      needed("  and.b64 %x, %p, 15;\n  setp.ne.u64 %s, %x, 0;\n  @%s bra other;\n" + v4 + "[%p];\nother:\n" + v4 + "[%q];\n"),
      (Bytes{1, 16}));
  EXPECT_EQ(needed("  cvt.u32.u64 %i, %p;\n  rem.u32 %i, %i, 16;\n" + v4 + "[%p];\n"), (Bytes{1, 1}));
}

}  // namespace
}  // namespace ptx::launch

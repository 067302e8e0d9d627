// Elements of arrays as operands: g[1], g[%r1], g[%r1+1].
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

constexpr std::uint32_t threads_of_block = 64;

LaunchConfig block() {
  LaunchConfig config;
  config.block = {threads_of_block, 1, 1};
  return config;
}

// Each thread's word of y after `body`, which leaves it in %v. %t is the thread, %w and %h the same in 64 and 16 bits.
std::vector<std::uint32_t> run(std::string_view body, std::string_view parameters = {}, std::vector<std::byte> more = {}) {
  Buffer<std::uint32_t> y{"y", std::vector<std::uint32_t>(threads_of_block)};
  const auto program = testing::text_program(
      cat(".param .u64 y", parameters),
      cat(".reg .b64 %a, %b, %w, %d; .reg .b32 %t, %v, %u; .reg .b16 %h;\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %w, %t;\n"
          "cvt.u16.u32 %h, %t;\n",
          body, "\nld.param.u64 %a, [y];\nmul.wide.u32 %b, %t, 4;\nadd.u64 %a, %a, %b;\nst.global.u32 [%a], %v;\nret;"));
  std::vector<std::byte> all = params({y.address()});
  all.insert(all.end(), more.begin(), more.end());
  testing::run(program, block(), all, {y.region()});
  return y.data;
}

TEST(Elements, OfSharedMemoryByEveryKindOfIndex) {
  for (const std::string_view type : {"b8", "u16", "s32", "u64"})
    for (const std::string_view index : {"%t", "%w", "%h", "%t+0", "%t+(2-2)"}) {
      const std::string access = cat(".shared.", type == "b8" ? "u8" : type);
      const std::string_view narrow = type == "u64" ? "%d" : "%v";
      const auto y = run(cat(".shared .align 8 .", type, " s[64];\nmul.lo.u32 %v, %t, 3;\ncvt.u64.u32 %d, %v;\nst", access, " s[",
                             index, "], ", narrow, ";\nbar.sync 0;\nld", access, " ", narrow, ", s[", index, "];\n",
                             type == "u64" ? "cvt.u32.u64 %v, %d;" : ""));
      for (std::uint32_t i = 0; i < threads_of_block; ++i) ASSERT_EQ(y[i], 3 * i) << type << ' ' << index << ' ' << i;
    }
}

TEST(Elements, AddAConstantToTheIndex) {
  const auto y = run(R"(
    .shared .b32 s[66];
    .reg .pred %p;
    st.shared.b32 s[%t+1], %t;
    setp.eq.u32 %p, %t, 0;
    @%p st.shared.b32 s[0], 1000;
    @%p st.shared.b32 s[65], 2000;
    bar.sync 0;
    add.u32 %u, %t, 2;
    ld.shared.b32 %v, s[%u+-1];
    ld.shared.b32 %u, s[%t];
    add.u32 %v, %v, %u;
    ld.shared.b32 %u, s[64+1];
    add.u32 %v, %v, %u;)");
  for (std::uint32_t i = 0; i < threads_of_block; ++i) ASSERT_EQ(y[i], i + (i == 0 ? 1000 : i - 1) + 2000) << i;
}

TEST(Elements, HaveAddresses) {
  // of its space, moved in 32 and 64 bits, by a constant and by a register; rows of two dimensions count by their scalars
  const auto y = run(R"(
    .shared .align 4 .u16 s[4][32];
    st.shared.u16 s[%t], %h;
    bar.sync 0;
    mov.u32 %v, s[%t];
    mov.u64 %d, s[%t];
    cvt.u32.u64 %u, %d;
    sub.u32 %u, %u, %v;
    ld.shared.u16 %h, [%v];
    mov.u32 %v, s;
    sub.u32 %v, %v, %u;
    mov.u32 %u, s[5];
    sub.u32 %u, %u, %v;
    cvt.u32.u16 %v, %h;
    mad.lo.u32 %v, %u, 100, %v;)");
  for (std::uint32_t i = 0; i < threads_of_block; ++i) ASSERT_EQ(y[i], 1000 + i) << i;
}

TEST(Elements, OfOtherSpaces) {
  const auto local = run(".local .b32 l[8];\nst.local.b32 l[3], %t;\nmov.u32 %u, 3;\nld.local.b32 %v, l[%u];");
  const auto generic = run(".shared .b32 s[64];\nst.b32 s[%t], %t;\nbar.sync 0;\nld.b32 %v, s[%t];");
  std::vector<std::byte> more(16);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t value = 7 * i;
    std::memcpy(more.data() + 4 * i, &value, 4);
  }
  const auto parameter = run("and.b32 %u, %t, 3;\nld.param.b32 %v, p[%u];", ", .param .b32 p[4]", more);
  const auto constant = run("ld.param.b32 %v, p[2];", ", .param .b32 p[4]", more);
  for (std::uint32_t i = 0; i < threads_of_block; ++i) {
    ASSERT_EQ(local[i], i);
    ASSERT_EQ(generic[i], i);
    ASSERT_EQ(parameter[i], 7 * (i & 3));
    ASSERT_EQ(constant[i], 14u);
  }
}

TEST(Elements, CountOnlyTheLow32BitsOfAnIndex) {  // as ptxas computes them
  const auto y =
      run(".shared .b32 s[64];\nor.b64 %w, %w, 0x700000000;\nst.shared.b32 s[%w], %t;\nbar.sync 0;\nld.shared.b32 %v, s[%t];");
  for (std::uint32_t i = 0; i < threads_of_block; ++i) ASSERT_EQ(y[i], i);
}

TEST(Elements, OutsideAnArrayAreFound) {
  Buffer<std::uint32_t> y{"y", {0}};
  const auto program = testing::text_program(".param .u64 y", R"(
    .shared .b32 s[64];
    .reg .b32 %t, %v;
    mov.u32 %t, %tid.x;
    st.shared.b32 s[%t+1], %t;
    ret;)");
  const Diagnostic fault = testing::fault(program, block(), params({y.address()}), {y.region()});
  EXPECT_EQ(fault.kind, Kind::out_of_bounds) << render(fault);
}

}  // namespace
}  // namespace ptx::vgpu

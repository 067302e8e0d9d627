// What check learns is handed on: nobody asks again on the way to execution.
#include <gtest/gtest.h>

#include "ptx/check/check.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {
namespace {

// Operands that are left out, and rows with and without the others.
constexpr const char* handed_on_kernel = R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [x];
  mov.u32 %r0, %tid.x;
  mov.b32 %r1, 7;
L:
  shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;
  shfl.sync.bfly.b32 %r3|%p1, %r0, 2, 31, -1;
  setp.lt.s32 %p0, %r2, %r3;
  setp.lt.s32 %p0|%p2, %r2, %r3;
  add.s32 %r1, %r1, -1;
  setp.gt.s32 %p0, %r1, 0;
  @%p0 bra L;
  bar.sync 0;
  bar.sync 1, 32;
  st.global.u32 [%rd0], %r3;
  ret;
}
)";

TEST(HandedOn, OperandsAreMatchedOnceBetweenTextAndExecution) {
  text::Parsed parsed = text::parse(handed_on_kernel);
  ASSERT_TRUE(parsed.findings.empty()) << parsed.findings.front().message;
  std::uint64_t instructions = 0;
  for (const ir::Inst& item : parsed.module.functions[0].body) instructions += item.kind == ir::ItemKind::inst ? 1u : 0u;
  const std::uint64_t parsed_at = isa::fits_asked();
  const auto accepted = check::accept(std::move(parsed.module));
  ASSERT_TRUE(accepted) << accepted.error().message;
  const std::uint64_t checked_at = isa::fits_asked();
  EXPECT_GT(checked_at, parsed_at);
  EXPECT_LE(checked_at - parsed_at, instructions) << "once each at most: what is alike is matched together";
  const auto program = Program::make(*accepted, nullptr, "k");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(isa::fits_asked(), checked_at) << "the executor matches again what check has matched";
}

}  // namespace
}  // namespace ptx::vgpu

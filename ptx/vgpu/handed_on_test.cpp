// What check learns is handed on: nobody asks again on the way to execution.
#include <gtest/gtest.h>

#include <optional>

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

// What is asked on the way from the parser's module to execution. The parser itself asks where several rows have one spelling.
struct Asked {
  std::uint64_t instructions = 0, checking = 0, decoding = 0;
  std::optional<Diagnostic> refused;
};
Asked asked_of(const char* source) {
  Asked asked;
  text::Parsed parsed = text::parse(source);
  const std::uint64_t parsed_at = isa::fits_asked();
  for (const ir::Function& function : parsed.module.functions)
    for (const ir::Inst& item : function.body) asked.instructions += item.kind == ir::ItemKind::inst ? 1u : 0u;
  auto accepted = check::accept(std::move(parsed.module));
  const std::uint64_t checked_at = isa::fits_asked();
  if (!accepted) return {.refused = std::move(accepted).error()};
  const auto program = Program::make(*accepted, nullptr, "k");
  asked.checking = checked_at - parsed_at;
  asked.decoding = isa::fits_asked() - checked_at;
  if (!program) asked.refused = program.error();
  return asked;
}

TEST(HandedOn, InstructionsThatDifferAreMatchedOnceEach) {
  const Asked asked = asked_of(R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [x];
  mov.u32 %r0, %tid.x;
  add.u32 %r1, %r0, 7;
  mul.lo.u32 %r2, %r1, %r0;
  xor.b32 %r3, %r2, %r1;
  st.global.u32 [%rd0], %r3;
  ret;
}
)");
  ASSERT_FALSE(asked.refused) << asked.refused->message;
  EXPECT_EQ(asked.checking, asked.instructions);
  EXPECT_EQ(asked.decoding, 0u);
}

TEST(HandedOn, InstructionsOfCalledFunctionsAreNotMatchedAgain) {
  const Asked asked = asked_of(R"(.version 8.5
.target sm_90a
.address_size 64
.func (.param .b32 r) f(.param .b32 a)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  ld.param.b32 %r0, [a];
  shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;
  setp.lt.s32 %p0, %r1, %r0;
  st.param.b32 [r], %r1;
  ret;
}
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [x];
  mov.u32 %r0, %tid.x;
  {
    .param .b32 given, taken;
    st.param.b32 [given], %r0;
    call.uni (taken), f, (given);
    ld.param.b32 %r1, [taken];
  }
  st.global.u32 [%rd0], %r1;
  exit;
}
)");
  ASSERT_FALSE(asked.refused) << asked.refused->message;
  EXPECT_GT(asked.checking, 0u);
  EXPECT_EQ(asked.decoding, 0u);
}

TEST(HandedOn, OperandsThatCheckDidNotMatchAreNotGuessed) {
  const Asked asked = asked_of(R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b32 %r<2>;
  mov.u32 %r0, %tid.x;
  st.async.mbarrier::complete_tx::bytes.b32 [%r0], %r0;
  ret;
}
)");
  ASSERT_TRUE(asked.refused);
  EXPECT_EQ(asked.refused->kind, Kind::not_executed) << asked.refused->message;
  EXPECT_NE(asked.refused->message.find("its operands do not fit its row, though ptxas takes them"), std::string::npos)
      << asked.refused->message;
  EXPECT_EQ(asked.decoding, 0u);
}

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

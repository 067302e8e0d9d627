#include "ptx/write/idiom/wgmma.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/write/written.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::write::idiom {
namespace {

using write_test::written;

class WgmmaTest : public ::testing::Test {
 protected:
  Builder b{{.name = "k"}};
  SourceLocation here{.file = "author.py", .line = 7};
  std::vector<Reg> regs(Type type, std::uint32_t count) {
    const RegArray array = *b.array(type, count);
    std::vector<Reg> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(b.at(array, i));
    return all;
  }
};

// What the ISA has: K by the bits of the factors' elements, the registers of d by its type, the operands behind the predicate.
struct Form {
  Type d, a, b;
  std::int64_t k;
  std::uint32_t registers;  // of m64n32
  std::string_view behind_descriptors, behind_registers;
};
constexpr Form forms[] = {
    {Type::f32, Type::f16, Type::f16, 16, 16, ", 1, 1, 0, 0;", ", 1, 1, 0;"},
    {Type::f16, Type::f16, Type::f16, 16, 8, ", 1, 1, 0, 0;", ", 1, 1, 0;"},
    {Type::f32, Type::bf16, Type::bf16, 16, 16, ", 1, 1, 0, 0;", ", 1, 1, 0;"},
    {Type::f32, Type::tf32, Type::tf32, 8, 16, ", 1, 1;", ", 1, 1;"},
    {Type::f32, Type::e4m3, Type::e5m2, 32, 16, ", 1, 1;", ", 1, 1;"},
    {Type::f16, Type::e5m2, Type::e5m2, 32, 8, ", 1, 1;", ", 1, 1;"},
    {Type::s32, Type::s8, Type::u8, 32, 16, ", %p0;", ", %p0;"},
    {Type::s32, Type::u8, Type::u8, 32, 16, ", %p0;", ", %p0;"},
    {Type::s32, Type::b1, Type::b1, 256, 16, ", %p0;", ", %p0;"},
};

TEST_F(WgmmaTest, EveryPairOfTypesHasItsOperands) {
  const Reg predicate = *b.reg(Type::pred), descriptor = *b.reg(Type::u64);
  const std::vector<Reg> factor = regs(Type::b32, 4);
  for (const Form& form : forms) {
    const std::vector<Reg> d = regs(form.d == Type::f32 ? Type::f32 : Type::b32, form.registers);
    MmaAsync mma;
    mma.shape = {64, 32, form.k};
    mma.d_type = form.d;
    mma.a_type = form.a;
    mma.b_type = form.b;
    mma.d = d;
    mma.a = mma.b = WgmmaFactor::of(descriptor);
    mma.scale_d = Value::of(predicate);
    for (const bool in_registers : {false, true}) {
      if (in_registers) mma.a = WgmmaFactor::of(factor);
      const std::size_t before = b.size();
      const auto done = wgmma_mma_async(b, mma, {}, here);
      ASSERT_TRUE(done) << render(done.error());
      EXPECT_EQ(b.size(), before + 1);
      const std::string line = written(b.module()).back();
      const std::string words = cat("wgmma.mma_async.sync.aligned.m64n32k", form.k, '.', isa::name(form.d), '.',
                                    isa::name(form.a), '.', isa::name(form.b), form.a == Type::b1 ? ".and.popc {" : " {");
      EXPECT_EQ(line.rfind(words, 0), 0u) << line;
      EXPECT_TRUE(line.ends_with(in_registers ? form.behind_registers : form.behind_descriptors)) << line;
    }
    // one register more or less is refused, and nothing is written
    for (const std::int64_t change : {-1, 1}) {
      const std::vector<Reg> wrong = regs(Type::b32, static_cast<std::uint32_t>(form.registers + change));
      mma.d = wrong;
      const std::size_t before = b.size();
      const auto refused = wgmma_mma_async(b, mma, {}, here);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
      EXPECT_EQ(refused.error().where.line, 7u);
      EXPECT_EQ(b.size(), before);
    }
  }
}

TEST_F(WgmmaTest, OptionsThatTheFormHasNotAreRefusedBeforeAnythingIsWritten) {
  const std::vector<Reg> d = regs(Type::f32, 16);
  const std::string_view symbol = "tile";
  const auto layout = layout::pick_gmma_layout(4, 64, 32, layout::Major::k);
  MmaAsync mma;
  mma.shape = {64, 32, 8};
  mma.d_type = Type::f32;
  mma.a_type = mma.b_type = Type::tf32;
  mma.d = d;
  mma.a = mma.b = WgmmaFactor::of(Place(Value::of_symbol(symbol)), *layout);
  mma.trans_b = 1;
  const auto refused = wgmma_mma_async(b, mma, {}, here);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "`trans_b` of `ptx.wgmma.mma_async` is 1, but `wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32` has no such operand");
  EXPECT_EQ(b.size(), 0u);
  mma.trans_b = 0;
  ASSERT_TRUE(wgmma_mma_async(b, mma, {}, here));
  EXPECT_EQ(b.size(), 13u) << "two descriptors, a predicate, and the product";
}

}  // namespace
}  // namespace ptx::write::idiom

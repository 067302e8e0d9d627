// Instructions at the entry's start, written from wherever.
#include <gtest/gtest.h>

#include "ptx/ir/ir.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/operators.hpp"
#include "tests/write/written.hpp"

namespace ptx::write {
namespace {

using write_test::here;
using write_test::Lines;
using write_test::written;

struct Prologue : ::testing::Test {
  Builder b{{.name = "k"}};
  Reg n = *scalar(b, Type::u32, Value::of_integer(0), {}, here);
  Value p = Value::of(*compare(b, Comparison::eq, Value::of(n), Value::of_integer(0), here));
};

TEST_F(Prologue, DescriptorsComeFirstInTheOrderOfTheirFirstUse) {
  const If block = *begin_if(b, p, here);
  const Reg y = *b.tma_desc("Y", here);
  b.open_block(here);
  const Reg x = *b.tma_desc("X", here);
  EXPECT_TRUE(b.close_block(here));
  EXPECT_TRUE(end_if(b, block, here));
  EXPECT_EQ(*b.tma_desc("Y", here), y);
  EXPECT_NE(x, y);
  EXPECT_EQ(written(b.module()),
            (Lines{"ld.param.u64 %rd0, [Y_tma_desc];", "ld.param.u64 %rd1, [X_tma_desc];", "mov.u32 %r0, 0;",
                   "setp.eq.u32 %p0, %r0, 0;", "@!%p0 bra $_else_0;", "{", "}", "bra $_endif_1;", "$_else_0:", "$_endif_1:"}));
  ASSERT_EQ(b.function().params.size(), 2u);
  EXPECT_EQ(b.module().str(b.function().params[0].name), "Y_tma_desc");
  EXPECT_EQ(b.module().str(b.function().params[0].describes), "Y");
  EXPECT_EQ(b.module().str(b.function().params[1].describes), "X");
  EXPECT_EQ(std::vector<std::string>(b.tma_tensors().begin(), b.tma_tensors().end()), (std::vector<std::string>{"Y", "X"}));
}

TEST_F(Prologue, LabelsStayWhereTheyAre) {
  EXPECT_TRUE(b.label("top", here));
  EXPECT_TRUE(b.tma_desc("X", here));
  EXPECT_TRUE(branch(b, "top", {}, here));
  EXPECT_TRUE(b.label("behind", here));
  const auto module = b.finish();
  ASSERT_TRUE(module) << render(module.error());
  for (const ir::Label& label : module->functions[0].labels) {
    ASSERT_EQ(module->functions[0].body[label.item].kind, ir::ItemKind::label);
    EXPECT_EQ(module->functions[0].labels[module->functions[0].body[label.item].payload].name, label.name);
  }
}

TEST_F(Prologue, AnElseStillFollowsItsIf) {
  const If block = *begin_if(b, p, here);
  EXPECT_TRUE(end_if(b, block, here));
  EXPECT_TRUE(b.tma_desc("X", here));  // between the two, and yet not
  const auto otherwise = begin_else(b, here);
  ASSERT_TRUE(otherwise) << render(otherwise.error());
  EXPECT_TRUE(end_else(b, *otherwise, here));
  EXPECT_EQ(written(b.module()).back(), "$_endif_1:");
  EXPECT_TRUE(b.finish());
}

TEST_F(Prologue, ARegisterOfItsOwnIsNotRedirected) {
  const Reg to = *b.reg(Type::u64, {}, here);
  const Reg map = *b.tma_desc("X", here);
  EXPECT_FALSE(b.redirect(map, to));
  EXPECT_EQ(written(b.module()).front(), "ld.param.u64 %rd1, [X_tma_desc];");
}

TEST_F(Prologue, ANameThatIsTaken) {
  ir::Param param;
  EXPECT_TRUE(b.param(param, "X_tma_desc", here));
  const auto refused = b.tma_desc("X", here);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.tma_tensors().size(), 0u);
}

}  // namespace
}  // namespace ptx::write

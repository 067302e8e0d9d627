#include "ptx/write/idiom/descriptor.hpp"

#include <gtest/gtest.h>

#include "tests/write/written.hpp"

#include "ptx/ir/ir.hpp"

namespace ptx::write::idiom {
namespace {

using write_test::Lines;
using write_test::written;

class DescriptorTest : public ::testing::Test {
 protected:
  Builder b{{.name = "k"}};
  SourceLocation here{.file = "author.py", .line = 7};
  Value reg(Type type) { return Value::of(*b.reg(type)); }
  Lines lines() { return written(b.module()); }
};

constexpr std::uint64_t bits = std::uint64_t{1} << 62;
const Value zero = Value::of_integer(0);

TEST_F(DescriptorTest, OfASymbol) {
  const auto made = make_descriptor(b, Place(Value::of_symbol("tile")), zero, bits, here);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type, Type::u64);
  EXPECT_EQ(lines(), (Lines{"mov.u64 %rd0, tile;", "shr.u64 %rd1, %rd0, 4;", "and.b64 %rd1, %rd1, 16383;",
                            "mov.b64 %rd2, 4611686018427387904;", "or.b64 %rd1, %rd1, %rd2;"}));
}

TEST_F(DescriptorTest, OfAPartOfDynamicMemoryMovedOn) {
  ASSERT_TRUE(make_descriptor(b, Place(Value::of_symbol("dyn_smem"), 256), Value::of_integer(32), bits, here));
  EXPECT_EQ(lines()[0], "mov.u64 %rd0, dyn_smem;");
  EXPECT_EQ(lines()[1], "add.s64 %rd0, %rd0, 256;");
  EXPECT_EQ(lines()[2], "add.s64 %rd1, %rd0, 32;");
  EXPECT_EQ(lines()[3], "shr.u64 %rd2, %rd1, 4;");
}

TEST_F(DescriptorTest, OfRegisters) {
  const Value narrow = reg(Type::u32), wide = reg(Type::u64);
  ASSERT_TRUE(make_descriptor(b, Place(narrow), narrow, bits, here));
  EXPECT_EQ(lines()[0], "cvt.u64.u32 %rd1, %r0;");
  EXPECT_EQ(lines()[1], "cvt.u64.u32 %rd2, %r0;");
  EXPECT_EQ(lines()[2], "add.s64 %rd3, %rd1, %rd2;");
  const std::size_t before = lines().size();
  ASSERT_TRUE(make_descriptor(b, Place(wide), zero, bits, here));
  EXPECT_EQ(lines()[before], "shr.u64 %rd6, %rd0, 4;") << "the author's register is only read";
  const std::size_t again = lines().size();
  ASSERT_TRUE(make_descriptor(b, Place(wide, 16), zero, bits, here));
  EXPECT_EQ(lines()[again], "add.s64 %rd8, %rd0, 16;");
}

TEST_F(DescriptorTest, Masked) {
  const Value base = reg(Type::u32);
  ASSERT_TRUE(masked_descriptor(b, Place(base, 32), Value::of_integer(64), 0x3FF80, bits, here));
  EXPECT_EQ(lines(), (Lines{"add.u32 %r1, %r0, 96;", "and.b32 %r1, %r1, 262016;", "shr.u32 %r1, %r1, 4;",
                            "cvt.u64.u32 %rd0, %r1;", "or.b64 %rd0, %rd0, 4611686018427387904;"}));
  const std::size_t before = lines().size();
  const auto moved = moved_masked_descriptor(b, Place(Value::of_symbol("tile")), zero, 0x3FFF0, bits, here);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->type, Type::b64);
  EXPECT_EQ(lines()[before], "mov.u32 %r2, tile;");
  EXPECT_EQ(lines()[before + 1], "and.b32 %r3, %r2, 262128;");
  EXPECT_EQ(lines().back(), "mov.b64 %rd2, %rd1;");
  const auto refused = masked_descriptor(b, Place(base), zero, std::int64_t{1} << 32, bits, here);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::immediate_range);
  EXPECT_EQ(refused.error().where.line, 7u);
}

TEST_F(DescriptorTest, Predicates) {
  const Value p = reg(Type::pred), flag = reg(Type::b32);
  EXPECT_EQ(enable_predicate(b, p, "x", here)->reg, p.reg);
  Value negated = p;
  negated.negated = true;
  EXPECT_TRUE(enable_predicate(b, negated, "x", here)->negated);
  EXPECT_TRUE(lines().empty());
  ASSERT_TRUE(enable_predicate(b, Value::of_integer(7), "x", here));
  ASSERT_TRUE(enable_predicate(b, flag, "x", here));
  EXPECT_EQ(lines(), (Lines{"mov.u32 %r1, 1;", "setp.ne.b32 %p1, %r1, 0;", "setp.ne.b32 %p2, %r0, 0;"}));
  for (const Value& wrong : {reg(Type::u64), reg(Type::b16), Value::of_floating(1), Value::of_symbol("p")}) {
    const auto refused = enable_predicate(b, wrong, "scale_d", here);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::bad_guard);
    EXPECT_EQ(refused.error().message.rfind("`scale_d` is ", 0), 0u) << refused.error().message;
  }
}

}  // namespace
}  // namespace ptx::write::idiom

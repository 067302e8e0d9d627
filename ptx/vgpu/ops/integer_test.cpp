// Integer instructions against exact arithmetic in 128 bits.
#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

using testing::expect_like;
using testing::IntegerType;
using testing::Operands;
using testing::types;
using testing::untyped;
using testing::Wide;

// The product's bits from `from` on; 128 bits hold every product but those of two large u64.
Wide high_half(Wide a, Wide b, const IntegerType& t) {
  if (t.width < 64) return (a * b) >> t.width;
  const bool negative = (a < 0) != (b < 0);
  const auto x = static_cast<std::uint64_t>(a < 0 ? -a : a), y = static_cast<std::uint64_t>(b < 0 ? -b : b);
  const std::uint64_t x0 = x & 0xFFFFFFFF, x1 = x >> 32, y0 = y & 0xFFFFFFFF, y1 = y >> 32;
  const std::uint64_t low = x0 * y0, mid = x1 * y0 + (low >> 32), mid2 = x0 * y1 + (mid & 0xFFFFFFFF);
  const std::uint64_t high = x1 * y1 + (mid >> 32) + (mid2 >> 32), bottom = x * y;
  if (!negative) return static_cast<Wide>(high);
  return static_cast<Wide>(~high + (bottom == 0 ? 1 : 0));
}
Wide low_half(Wide a, Wide b) { return static_cast<Wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)); }

class IntegerOps : public ::testing::TestWithParam<std::size_t> {};

TEST_P(IntegerOps, AreExact) {
  const IntegerType& t = types[GetParam()];
  expect_like("add", t, 2, [](Wide a, Wide b, Wide) { return a + b; });
  expect_like("sub", t, 2, [](Wide a, Wide b, Wide) { return a - b; });
  expect_like("mul.lo", t, 2, [](Wide a, Wide b, Wide) { return low_half(a, b); });
  expect_like("mul.hi", t, 2, [&](Wide a, Wide b, Wide) { return high_half(a, b, t); });
  expect_like("mad.lo", t, 3, [](Wide a, Wide b, Wide c) { return low_half(a, b) + c; });
  expect_like("mad.hi", t, 3, [&](Wide a, Wide b, Wide c) { return high_half(a, b, t) + c; });
  expect_like("div", t, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; });
  expect_like("rem", t, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a % b; });
  expect_like("min", t, 2, [](Wide a, Wide b, Wide) { return std::min(a, b); });
  expect_like("max", t, 2, [](Wide a, Wide b, Wide) { return std::max(a, b); });
  if (t.is_signed) {
    expect_like("abs", t, 1, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; });
    expect_like("neg", t, 1, [](Wide a, Wide, Wide) { return -a; });
  }
  if (t.width < 64) {
    const IntegerType w = t.wide();
    expect_like(cat("mul.wide.", t.name, " %vd, %va, %vb"), {w.reg(), t.reg(), t.reg(), ""}, w, t, t, t,
                [](Wide a, Wide b, Wide) { return a * b; });
    expect_like(cat("mad.wide.", t.name, " %vd, %va, %vb, %vc"), {w.reg(), t.reg(), t.reg(), w.reg()}, w, t, t, w,
                [](Wide a, Wide b, Wide c) { return a * b + c; });
  }
}
INSTANTIATE_TEST_SUITE_P(All, IntegerOps, ::testing::Range<std::size_t>(0, types.size()),
                         [](const auto& which) { return types[which.param].name; });

TEST(IntegerOps, SaturateSumsOfS32) {
  const IntegerType s32 = types[4];
  const auto clamp = [](Wide v) { return std::clamp<Wide>(v, INT32_MIN, INT32_MAX); };
  expect_like("add.sat", s32, 2, [&](Wide a, Wide b, Wide) { return clamp(a + b); });
  expect_like("sub.sat", s32, 2, [&](Wide a, Wide b, Wide) { return clamp(a - b); });
}

TEST(IntegerOps, WorkOnBits) {
  for (const IntegerType& t : untyped) {
    expect_like("and", t, 2, [](Wide a, Wide b, Wide) { return a & b; });
    expect_like("or", t, 2, [](Wide a, Wide b, Wide) { return a | b; });
    expect_like("xor", t, 2, [](Wide a, Wide b, Wide) { return a ^ b; });
    expect_like("not", t, 1, [](Wide a, Wide, Wide) { return ~a; });
  }
  const IntegerType flag{"pred", 1, false};
  const std::array<std::string, 4> regs = {"pred", "pred", "pred", ""};
  const auto truth = [](Wide v) { return static_cast<std::uint32_t>(v) != 0; };
  const IntegerType word{"b32", 32, false};
  const auto as = [&](auto f) { return [=](Wide a, Wide b, Wide) { return static_cast<Wide>(f(truth(a), truth(b)) ? 1 : 0); }; };
  expect_like("and.pred %vd, %va, %vb", regs, flag, word, word, word, as([](bool a, bool b) { return a && b; }));
  expect_like("or.pred %vd, %va, %vb", regs, flag, word, word, word, as([](bool a, bool b) { return a || b; }));
  expect_like("xor.pred %vd, %va, %vb", regs, flag, word, word, word, as([](bool a, bool b) { return a != b; }));
  expect_like("not.pred %vd, %va", {"pred", "pred", "", ""}, flag, word, word, word, as([](bool a, bool) { return !a; }));
}

TEST(IntegerOps, NegatePredicatesAndTakeConstantOnes) {
  const std::vector<Operands> rows = {{1, 0, 0, 0}, {0, 0, 1, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}};
  const auto expect = [&](const std::string& instruction, bool (*truth)(bool, bool)) {
    const auto results = testing::run_rows(instruction, {"pred", "pred", "pred", ""}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(results[i], truth(rows[i].a != 0, rows[i].b != 0) ? 1u : 0u) << instruction << " row " << i;
  };
  expect("and.pred %vd, !%va, %vb", [](bool a, bool b) { return !a && b; });
  expect("or.pred %vd, %va, !%vb", [](bool a, bool b) { return a || !b; });
  expect("xor.pred %vd, !%va, !%vb", [](bool a, bool b) { return a != b; });
  expect("not.pred %vd, !%va", [](bool a, bool) { return a; });
  expect("mov.pred %vd, !%vb", [](bool, bool b) { return !b; });
  expect("and.pred %vd, %va, 1", [](bool a, bool) { return a; });
  expect("or.pred %vd, 0, %vb", [](bool, bool b) { return b; });
  expect("mov.pred %vd, 1", [](bool, bool) { return true; });
}

TEST(IntegerOps, ShiftWithAmountsOfAnySize) {
  const IntegerType amount{"u32", 32, false};
  for (const IntegerType& t : untyped)
    expect_like(cat("shl.", t.name, " %vd, %va, %vb"), {t.reg(), t.reg(), "b32", ""}, t, t, amount, t, [&](Wide a, Wide b, Wide) {
      return b >= t.width ? Wide{0} : low_half(a, static_cast<Wide>(std::uint64_t{1} << static_cast<int>(b)));
    });
  for (const auto* list : {&types, &untyped})
    for (const IntegerType& t : *list)
      expect_like(cat("shr.", t.name, " %vd, %va, %vb"), {t.reg(), t.reg(), "b32", ""}, t, t, amount, t,
                  [](Wide a, Wide b, Wide) { return a >> static_cast<int>(std::min<Wide>(b, 100)); });
}

TEST(IntegerOps, TakeImmediatesAndTheirOwnDestination) {
  const IntegerType u32 = types[1], s64 = types[5], s16 = types[3];
  expect_like("add.u32 %vd, %va, -3", {"b32", "b32", "", ""}, u32, u32, u32, u32, [](Wide a, Wide, Wide) { return a - 3; });
  expect_like("sub.s64 %vd, 5, %va", {"b64", "b64", "", ""}, s64, s64, s64, s64, [](Wide a, Wide, Wide) { return 5 - a; });
  expect_like("mul.lo.s16 %vd, %va, -7", {"b16", "b16", "", ""}, s16, s16, s16, s16, [](Wide a, Wide, Wide) { return a * -7; });
  expect_like("mad.lo.u32 %vd, %va, 3, %vd", {"b32", "b32", "", ""}, u32, u32, u32, u32,
              [](Wide a, Wide, Wide) { return a * 3 + 0x5A5A5A5A; });
}

// The low 24 bits of a 32-bit operand, with their sign for s32.
Wide low_24(Wide a, const IntegerType& t) {
  const Wide size = Wide{1} << 24, rest = ((a % size) + size) % size;
  return t.is_signed && rest >= size / 2 ? rest - size : rest;
}

TEST(IntegerOps, Multiply24Bits) {
  const IntegerType s32 = types[4];
  const auto clamp = [](Wide v) { return std::clamp<Wide>(v, INT32_MIN, INT32_MAX); };
  for (const IntegerType& t : {types[1], s32}) {
    const auto product = [&](Wide a, Wide b) { return low_24(a, t) * low_24(b, t); };
    expect_like("mul24.lo", t, 2, [&](Wide a, Wide b, Wide) { return product(a, b); });
    expect_like("mul24.hi", t, 2, [&](Wide a, Wide b, Wide) { return product(a, b) >> 16; });
    expect_like("mad24.lo", t, 3, [&](Wide a, Wide b, Wide c) { return product(a, b) + c; });
    expect_like("mad24.hi", t, 3, [&](Wide a, Wide b, Wide c) { return (product(a, b) >> 16) + c; });
  }
  expect_like("mad24.hi.sat", s32, 3, [&](Wide a, Wide b, Wide c) { return clamp((low_24(a, s32) * low_24(b, s32) >> 16) + c); });
  expect_like("mad.hi.sat", s32, 3, [&](Wide a, Wide b, Wide c) { return clamp(high_half(a, b, s32) + c); });
}

TEST(IntegerOps, SumUpDifferences) {
  for (const IntegerType& t : types) expect_like("sad", t, 3, [](Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); });
}

}  // namespace
}  // namespace ptx::vgpu

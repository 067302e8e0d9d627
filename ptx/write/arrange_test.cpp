// The order of what the arguments of a call write. `std::move` of a named register stands for an argument that the compiler has
// evaluated at that point, so that one compiler shows what every compiler may do.
#include <gtest/gtest.h>

#include "ptx/text/text.hpp"
#include "ptx/write/write.hpp"

namespace ptx {
namespace {

Kernel empty() { return Kernel({.name = "k"}); }

std::string text_of(Kernel& k) {
  k << inst.ret();
  auto module = k.module();
  return module ? text::print(*module) : render(module.error());
}

TEST(Arrange, OperandsOfAnInstructionAreWrittenInTheirOrder) {
  const auto write = [](bool left_first) {
    Kernel k = empty();
    auto t = k.from_<u32>(tid_x);
    auto d = k.scalar<u32>();
    if (left_first) {
      auto a = t * 3;
      auto b = t + 5;
      k << inst.add.u32(d, std::move(a), std::move(b));
    } else {
      auto b = t + 5;
      auto a = t * 3;
      k << inst.add.u32(d, std::move(a), std::move(b));
    }
    return text_of(k);
  };
  EXPECT_EQ(write(true), write(false));
  EXPECT_NE(write(true).find("mul.lo.s32 %r2, %r0, 3;\n\tadd.u32 %r3, %r0, 5;\n\tadd.u32 %r1, %r2, %r3;"), std::string::npos)
      << write(true);
}

// a*2 + b*3 inside a further call, each level in either order.
TEST(Arrange, ValuesInsideOneAnother) {
  const auto write = [](bool outer, bool inner) {
    Kernel k = empty();
    auto t = k.from_<u32>(tid_x);
    auto d = k.scalar<u32>();
    const auto sum = [&]() -> Reg<u32> {
      if (inner) {
        auto a = t * 2;
        auto b = k.from_<u32>(ctaid_x) * 3;
        return std::move(a) + std::move(b);
      }
      auto b = k.from_<u32>(ctaid_x) * 3;
      auto a = t * 2;
      return std::move(a) + std::move(b);
    };
    if (outer) {
      auto first = sum();
      auto second = t << 4;
      auto third = k.scalar<u32>(7);
      k << inst.mad.lo.u32(d, std::move(first), std::move(second), std::move(third));
    } else {
      auto third = k.scalar<u32>(7);
      auto first = sum();
      auto second = t << 4;
      k << inst.mad.lo.u32(d, std::move(first), std::move(second), std::move(third));
    }
    return text_of(k);
  };
  const std::string text = write(true, true);
  for (const bool outer : {true, false})
    for (const bool inner : {true, false}) EXPECT_EQ(write(outer, inner), text);
}

TEST(Arrange, VectorsAddressesAndComparisons) {
  const auto write = [](bool left_first) {
    Kernel k({.name = "k", .out_specs = {{"Y", {64}, u32}}});
    auto [y] = k.global_ptrs("Y");
    auto t = k.from_<u32>(tid_x);
    if (left_first) {
      auto at = y + (t & 7) * 8;
      auto a = t + 1;
      auto b = t * 2;
      k << inst.st.global_.v2.u32(addr(std::move(at)), vec(std::move(a), std::move(b)));
    } else {
      auto b = t * 2;
      auto a = t + 1;
      auto values = vec(std::move(a), std::move(b));
      auto at = y + (t & 7) * 8;
      k << inst.st.global_.v2.u32(addr(std::move(at)), std::move(values));
    }
    auto left = t - 1;
    auto right = t ^ 3;
    auto p = std::move(right) < std::move(left);  // written in the other order
    k << inst.trap().on(p);
    return text_of(k);
  };
  EXPECT_EQ(write(true), write(false));
  EXPECT_NE(write(true).find("xor.b32 %r5, %r0, 3;\n\tsub.s32 %r6, %r0, 1;\n\tsetp.lt.u32 %p0, %r5, %r6;"), std::string::npos)
      << write(true);
}

TEST(Arrange, StatementsStayWhereTheyStand) {
  Kernel k = empty();
  auto t = k.from_<u32>(tid_x);
  auto d = k.scalar<u32>();
  auto first = t + 1;
  auto second = t + 2;
  k << inst.add.u32(d, second, first);
  EXPECT_NE(text_of(k).find("add.u32 %r2, %r0, 1;\n\tadd.u32 %r3, %r0, 2;\n\tadd.u32 %r1, %r3, %r2;"), std::string::npos);
}

// What one needs of another, or of what is between them, is not torn apart.
TEST(Arrange, WhatDependsOnEachOtherKeepsItsOrder) {
  Kernel k = empty();
  auto t = k.from_<u32>(tid_x);
  auto d = k.scalar<u32>();
  auto first = t + 1;
  auto second = first * 2;
  k << inst.add.u32(d, std::move(second), std::move(first));
  auto third = t + 3;
  k << inst.membar.cta();
  auto fourth = t + 4;
  k << inst.add.u32(d, std::move(fourth), std::move(third));
  const std::string text = text_of(k);
  EXPECT_NE(text.find("add.u32 %r2, %r0, 1;\n\tmul.lo.s32 %r3, %r2, 2;\n\tadd.u32 %r1, %r3, %r2;"), std::string::npos) << text;
  EXPECT_LT(text.find("%r0, 3;"), text.find("membar"));
  EXPECT_LT(text.find("membar"), text.find("%r0, 4;"));
}

TEST(Arrange, ANameNeedNotOutliveTheCall) {
  Kernel k = empty();
  k << inst.bra(std::string("a_label_that_is_longer_than_a_short_string"));
  k << Label{"a_label_that_is_longer_than_a_short_string"};
  EXPECT_NE(text_of(k).find("bra a_label_that_is_longer_than_a_short_string;"), std::string::npos);
}

}  // namespace
}  // namespace ptx

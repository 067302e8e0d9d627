// Sums over several words, against sums in 128 bits; the flag where lanes part, and where nothing has written it.
#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

using testing::expect_pieces;
using testing::Inputs;
using testing::Piece;
__extension__ using UWide = unsigned __int128;

struct Number {
  std::string type;
  int width;
  bool is_signed;
  [[nodiscard]] UWide low(UWide v) const { return v & ((UWide{1} << width) - 1); }
  [[nodiscard]] UWide product(std::uint64_t a, std::uint64_t b) const {  // modulo 2^128
    const auto extend = [&](std::uint64_t v) {
      const UWide bits = low(v);
      return is_signed && (bits >> (width - 1)) != 0 ? bits - (UWide{1} << width) : bits;
    };
    return extend(a) * extend(b);
  }
};
const std::vector<Number> numbers = {{"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

TEST(CarryOps, AddAndSubtractLongNumbers) {
  for (const Number& n : numbers) {
    const std::string& t = n.type;
    // x = c:a and y = e:b in twice the width
    const auto x = [=](const Inputs& in) { return n.low(in.c) << n.width | n.low(in.a); };
    const auto y = [=](const Inputs& in) { return n.low(in.e) << n.width | n.low(in.b); };
    const auto upper = [=](UWide v) { return static_cast<std::uint64_t>(n.low(v >> n.width)); };
    // what flows out of the upper word, of a sum in 32 or 64 more bits
    const auto carries = [=](const Inputs& in) {
      return n.low(in.c) + n.low(in.e) + ((n.low(in.a) + n.low(in.b)) >> n.width) >= UWide{1} << n.width;
    };
    const auto borrows = [=](const Inputs& in) {
      const auto need = n.low(in.e) + (n.low(in.a) < n.low(in.b) ? 1 : 0);
      return n.low(in.c) < need;
    };
    const auto zero_or_one = [](bool one) { return std::uint64_t{one}; };
    const auto minus = [=](bool one) { return static_cast<std::uint64_t>(n.low(UWide{0} - UWide{one})); };
    expect_pieces(
        {{cat("add.cc.", t, " %d, %a, %b;"), [=](const Inputs& in) { return static_cast<std::uint64_t>(n.low(x(in) + y(in))); }},
         {cat("add.cc.", t, " %t, %a, %b; addc.", t, " %d, %c, %e;"), [=](const Inputs& in) { return upper(x(in) + y(in)); }},
         {cat("add.cc.", t, " %t, %a, %b; addc.cc.", t, " %d, %c, %e;"), [=](const Inputs& in) { return upper(x(in) + y(in)); }},
         {cat("add.cc.", t, " %t, %a, %b; addc.cc.", t, " %t, %c, %e; addc.", t, " %d, 0, 0;"),
          [=](const Inputs& in) { return zero_or_one(carries(in)); }},
         // the flag stays what it was behind an addc without .cc, and in what does not know it
         {cat("add.cc.", t, " %t, %a, %b; addc.", t, " %u, -1, 1; add.", t, " %u, %u, %u; addc.", t, " %d, %c, %e;"),
          [=](const Inputs& in) { return upper(x(in) + y(in)); }},
         {cat("sub.cc.", t, " %d, %a, %b;"), [=](const Inputs& in) { return static_cast<std::uint64_t>(n.low(x(in) - y(in))); }},
         {cat("sub.cc.", t, " %t, %a, %b; subc.", t, " %d, %c, %e;"), [=](const Inputs& in) { return upper(x(in) - y(in)); }},
         {cat("sub.cc.", t, " %t, %a, %b; subc.cc.", t, " %d, %c, %e;"), [=](const Inputs& in) { return upper(x(in) - y(in)); }},
         {cat("sub.cc.", t, " %t, %a, %b; subc.cc.", t, " %t, %c, %e; subc.", t, " %d, 0, 0;"),
          [=](const Inputs& in) { return minus(borrows(in)); }},
         // a destination that is a source
         {cat("mov.b", n.width, " %d, %a; add.cc.", t, " %d, %d, %b; addc.", t, " %d, %d, 0;"),
          [=](const Inputs& in) {
            return static_cast<std::uint64_t>(n.low(n.low(in.a + UWide{in.b}) + ((n.low(in.a) + n.low(in.b)) >> n.width)));
          }}},
        testing::make_inputs(1500), n.width);
  }
}

// The flag is an adder's carry: after a difference it says that nothing was borrowed, and a difference reads it so.
TEST(CarryOps, OneFlagForSumsAndDifferences) {
  for (const Number& n : numbers) {
    const std::string& t = n.type;
    expect_pieces({{cat("sub.cc.", t, " %t, %a, %b; addc.", t, " %d, 0, 0;"),
                    [=](const Inputs& in) { return std::uint64_t{n.low(in.a) >= n.low(in.b)}; }},
                   {cat("add.cc.", t, " %t, %a, %b; subc.", t, " %d, 5, 1;"),
                    [=](const Inputs& in) { return std::uint64_t{n.low(in.a) + n.low(in.b) >= UWide{1} << n.width ? 4u : 3u}; }}},
                  testing::make_inputs(1000), n.width);
  }
}

TEST(CarryOps, MultiplyLongNumbers) {
  for (const Number& n : numbers)
    for (const bool hi : {false, true}) {
      const std::string& t = n.type;
      const std::string half = hi ? "hi" : "lo";
      const auto product = [=](const Inputs& in) { return n.low(hi ? n.product(in.a, in.b) >> n.width : n.product(in.a, in.b)); };
      const auto sum = [=](const Inputs& in) { return product(in) + n.low(in.c); };
      // the flag from the lowest bit of e
      const std::string flag = cat("and.b", n.width, " %u, %e, 1; add.cc.", t, " %u, %u, -1; ");
      const auto with_flag = [=](const Inputs& in) { return sum(in) + (in.e & 1); };
      const auto out = [=](UWide v) { return static_cast<std::uint64_t>(v >> n.width); };
      const auto low = [=](UWide v) { return static_cast<std::uint64_t>(n.low(v)); };
      const std::string operands = cat(t, " %d, %a, %b, %c;"), show = cat(" addc.", t, " %d, 0, 0;");
      expect_pieces({{cat("mad.", half, ".cc.", operands), [=](const Inputs& in) { return low(sum(in)); }},
                     {cat("mad.", half, ".cc.", operands, show), [=](const Inputs& in) { return out(sum(in)); }},
                     {cat(flag, "madc.", half, '.', operands), [=](const Inputs& in) { return low(with_flag(in)); }},
                     {cat(flag, "madc.", half, '.', operands, show), [=](const Inputs& in) { return in.e & 1; }},
                     {cat(flag, "madc.", half, ".cc.", operands), [=](const Inputs& in) { return low(with_flag(in)); }},
                     {cat(flag, "madc.", half, ".cc.", operands, show), [=](const Inputs& in) { return out(with_flag(in)); }}},
                    testing::make_inputs(1500), n.width);
    }
}

TEST(CarryOps, LanesHaveTheirOwnFlags) {
  expect_pieces(
      {{"add.cc.u32 %t, -1, 1; setp.lt.u32 %p, %a, %b; @%p add.cc.u32 %t, 0, 0; addc.u32 %d, 0, 0;",
        [](const Inputs& in) { return std::uint64_t{static_cast<std::uint32_t>(in.a) >= static_cast<std::uint32_t>(in.b)}; }},
       {"setp.lt.u32 %p, %a, %b; add.cc.u32 %t, 0, 0; @%p bra L1; add.cc.u32 %t, %c, %c; L1: addc.u32 %d, 0, 0;",
        [](const Inputs& in) {
          return std::uint64_t{static_cast<std::uint32_t>(in.a) >= static_cast<std::uint32_t>(in.b) && (in.c >> 31 & 1) != 0};
        }}},
      testing::make_inputs(1000), 32);
}

constexpr std::string_view registers = ".reg .b32 %r<4>; .reg .b64 %rd0; .reg .pred %p;\nld.param.u64 %rd0, [out];\n";

TEST(CarryOps, AFlagThatNothingHasWrittenIsUndefined) {
  testing::Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  const auto made =
      testing::text_program(".param .u64 out", cat(registers, "addc.u32 %r0, 1, 2;\nst.global.u32 [%rd0], %r0;\nret;"));
  const Diagnostic d = testing::fault(made, testing::block(1), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised);
  EXPECT_NE(render(d).find("it comes from `CC.CF`, which nothing has written"), std::string::npos) << render(d);
}

TEST(CarryOps, TheFlagOfAnUndefinedSumIsUndefined) {
  testing::Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  // %r1 is undefined, and so are the sum and the flag; what is computed of the flag may not be stored
  const auto made = testing::text_program(
      ".param .u64 out", cat(registers, "add.cc.u32 %r0, %r1, 2;\naddc.u32 %r2, 0, 0;\nst.global.u32 [%rd0], %r2;\nret;"));
  const Diagnostic d = testing::fault(made, testing::block(1), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised);
  EXPECT_NE(render(d).find("`%r1`"), std::string::npos) << render(d);
  // a defined sum defines the flag again, and only the flag of a guarded one stays
  const auto again = testing::text_program(
      ".param .u64 out",
      cat(registers, "add.cc.u32 %r0, %r1, 2;\nadd.cc.u32 %r2, -1, 1;\naddc.u32 %r2, 3, 4;\nst.global.u32 [%rd0], %r2;\nret;"));
  testing::run(again, testing::block(1), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 8u);
}

}  // namespace
}  // namespace ptx::vgpu

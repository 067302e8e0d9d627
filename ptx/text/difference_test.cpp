// ir::difference tells texts apart that say different things, and no others.
#include <gtest/gtest.h>

#include "ptx/text/text.hpp"
#include "tests/support/header.hpp"

namespace ptx::text {
namespace {

std::string difference(std::string_view a, std::string_view b) {
  return ir::difference(parse(cat(testing::header, a)).module, parse(cat(testing::header, b)).module);
}
std::string of_bodies(std::string_view a, std::string_view b) {
  constexpr std::string_view head = ".entry k() { .reg .b32 %r<9>, x; .reg .pred %p<3>; .reg .b64 %rd<4>;";
  return difference(cat(head, a, "}"), cat(head, b, "}"));
}

TEST(Difference, IsNothingForSpacesCommentsAndNumbers) {
  EXPECT_EQ(of_bodies("mov.b32 %r1, %r2; mov.b32 %r2, %r1;", " /* x */ mov.b32\t%r1,%r02 ; // y\nmov.b32 %r2, %r1;"), "");
  EXPECT_EQ(of_bodies("ld.b32.global %r1, [%rd1];", "ld.global.b32 %r1, [%rd1];"), "");
  EXPECT_EQ(difference(".global .u32 a, b;", ".global .u32 a; .global .u32 b;"), "");
}

TEST(Difference, NamesTheFirst) {
  EXPECT_EQ(of_bodies("mov.b32 %r1, %r2;", "mov.b32 %r1, %r3;"),
            "function `k`, line 5: a register is `%r2` in one and `%r3` in the other");
  EXPECT_EQ(of_bodies("add.s32 %r1, %r2, 5;", "add.s32 %r1, %r2, 6;"),
            "function `k`, line 5: an integer is `5` in one and `6` in the other");
}

TEST(Difference, SeesEverything) {
  for (const auto& [a, b] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"ret;", "ret; ret;"},
           {"ret;", "exit;"},
           {"mov.b32 %r1, 5;", "mov.b32 %r1, 5U;"},
           {"mov.b32 %r1, 2+3;", "mov.b32 %r1, 3+2;"},
           {"mov.b32 %r1, 2+3;", "mov.b32 %r1, 5;"},
           {"mov.f32 %r1, 1.0;", "mov.f32 %r1, 0f3F800000;"},
           {"@%p1 ret;", "ret;"},
           {"@%p1 ret;", "@!%p1 ret;"},
           {"@%p1 ret;", "@%p2 ret;"},
           {"L: bra L;", "M: bra M;"},
           {"L: { L: bra L; }", "L: { bra L; L: }"},
           {"L: { L: } bra L;", "L: { } L: bra L;"},
           {"{ .reg .b32 x; mov.b32 x, 1; }", "{ mov.b32 x, 1; .reg .b32 x; }"},
           {".reg .b32 a, b;", ".reg .b32 b, a;"},
           {".reg .b32 a<3>;", ".reg .b32 a<4>;"},
           {".reg .b32 a;", ".reg .u32 a;"},
           {"ld.global.b32 %r1, [%rd1];", "ld.global.b32 %r1, [%rd1+0];"},
           {"mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.y;"},
           {".pragma \"a\";", ".pragma \"b\";"},
           {".loc 1 1 1", ".loc 1 1 2"},
           {"P: .callprototype _ (.param .b32 _);", "P: .callprototype _ (.param .b64 _);"},
           {"A: B: T: .branchtargets A, B;", "A: B: T: .branchtargets B, A;"},
           {"foo a;", "foo b;"}})
    EXPECT_NE(of_bodies(a, b), "") << a << "   " << b;
  for (const auto& [a, b] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {".global .u32 a;", ".global .u32 b;"},
           {".global .u32 a;", ".global .u32 a; .global .u32 b;"},
           {".global .u32 a;", ".const .u32 a;"},
           {".global .u32 a;", ".visible .global .u32 a;"},
           {".global .u32 a;", ".global .align 8 .u32 a;"},
           {".global .u32 a[2];", ".global .u32 a[3];"},
           {".global .u32 a[1];", ".global .u32 a;"},
           {".global .u32 a[2][2];", ".global .u32 a[2][3];"},
           {".global .u32 a[] = {1};", ".global .u32 a[1] = {1};"},
           {".global .u32 a = 1;", ".global .u32 a = 2;"},
           {".global .u64 a = {b};", ".global .u64 a = {generic(b)};"},
           {".global .attribute(.managed) .u32 a;", ".global .u32 a;"},
           {".entry k() { ret; }", ".func k() { ret; }"},
           {".func k() { ret; }", ".func k();"},
           {".entry k(.param .u64 x) { ret; }", ".entry k(.param .u64 .ptr x) { ret; }"},
           {".entry k() .maxntid 1 { ret; }", ".entry k() .maxntid 2 { ret; }"},
           {".file 1 \"a\"", ".file 1 \"b\""},
           {".section .a { .b8 1 }", ".section .a { .b8 2 }"},
           {".func f(); .func g(); .alias f, g;", ".func f(); .func g(); .alias g, f;"}})
    EXPECT_NE(difference(a, b), "") << a << "   " << b;
}

}  // namespace
}  // namespace ptx::text

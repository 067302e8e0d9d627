#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "ptx/text/text.hpp"
#include "tests/support/header.hpp"

namespace ptx::text {
namespace {

using ir::ItemKind;
using ir::ModuleItemKind;
using ir::OperandKind;

using testing::header;

Parsed whole(std::string_view text) {
  Parsed parsed = parse(std::string(text), "test.ptx");
  for (const Diagnostic& d : parsed.findings) ADD_FAILURE() << render(d) << "\nof\n" << text;
  EXPECT_EQ(restore(parsed), text);
  const std::string printed = print(parsed.module);
  const Parsed again = parse(printed, "printed.ptx");
  for (const Diagnostic& d : again.findings) ADD_FAILURE() << render(d) << "\nof\n" << printed;
  EXPECT_EQ(ir::difference(parsed.module, again.module), "") << printed;
  EXPECT_EQ(print(again.module), printed);
  return parsed;
}
Parsed module(std::string_view text) { return whole(cat(header, text)); }
Parsed body(std::string_view text) {
  return module(
      cat(".entry k(.param .u64 x)\n{\n.reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
          ".reg .f64 %fd<9>; .reg .pred %p<9>; .shared .b32 s[8];\n",
          text, "\n}\n"));
}
// How the statements behind the declarations print.
std::vector<std::string> statements(std::string_view text) {
  const Parsed parsed = body(text);
  const ir::Function& f = parsed.module.functions[0];
  std::vector<std::string> lines;
  for (std::size_t i = 7; i < f.body.size(); ++i) lines.push_back(print(parsed.module, f, f.body[i]));
  return lines;
}
std::string statement(std::string_view text) {
  const std::vector<std::string> lines = statements(text);
  EXPECT_EQ(lines.size(), 1u) << text;
  return lines.empty() ? "" : lines[0];
}
std::vector<std::string> variables(std::string_view text) {
  std::vector<std::string> lines;
  std::string printed = print(module(text).module);
  for (std::size_t at = printed.find("64\n\n") + 4; at < printed.size();) {
    const std::size_t end = printed.find('\n', at);
    lines.push_back(printed.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// ---- the header -------------------------------------------------------------------------------------------------------

TEST(Header, InAnySpelling) {
  const Parsed p = whole(".version 8.5 .target sm_80 , texmode_independent,debug\n.address_size 32");
  EXPECT_EQ(p.module.version, (Version{8, 5}));
  EXPECT_EQ(p.module.target, sm_80);
  EXPECT_EQ(p.module.target_options, (std::vector<std::string>{"texmode_independent", "debug"}));
  EXPECT_EQ(p.module.address_size, 32u);
}

TEST(Header, MayLackTheAddressSize) {
  const Parsed p = whole("// first a comment\n.version 7.0\n.target sm_80");
  EXPECT_EQ(p.module.address_size, 0u);
  EXPECT_EQ(print(p.module), ".version 7.0\n.target sm_80\n");
}

TEST(Header, LaterTargetsAreKept) {
  const Parsed p = whole(".version 9.0\n.target sm_90a\n.target sm_80\n");
  EXPECT_EQ(p.module.target, sm_90a);
  ASSERT_EQ(p.module.items.size(), 1u);
  EXPECT_EQ(p.module.items[0].kind, ModuleItemKind::raw);
}

// ---- lexical ----------------------------------------------------------------------------------------------------------

TEST(Lexical, CommentsStandAnywhere) {
  EXPECT_EQ(statement("@/*a*/!/*b*/%p1//c\nadd/*d*/.s32 /*;*/ %r1/**/,%r2 // , %r3;\n ,/* \n */ 5/**//**/;"),
            "@!%p1 add.s32 %r1, %r2, 5;");
}

TEST(Operands, NumbersAreNegatedByAMinus) {
  EXPECT_EQ(statement("vmad.s32.s32.s32 %r0, -%r1, %r2, %r3;"), "vmad.s32.s32.s32 %r0, -%r1, %r2, %r3;");
  EXPECT_EQ(statement("vmad.s32.s32.s32 %r0, - %r1.h1, %r2, %r3;"), "vmad.s32.s32.s32 %r0, -%r1.h1, %r2, %r3;");
  EXPECT_EQ(statement("selp.b32 %r0, %r1, -5, %p1;"), "selp.b32 %r0, %r1, -5, %p1;");
}

TEST(Opcodes, WhatPtxasOverlooksIsAWarning) {
  const auto findings = [](std::string_view statement) {
    return parse(cat(header, ".entry k()\n{\n.reg .f64 %fd<3>; .reg .b32 %r<3>; .reg .pred %p;\n", statement, "\n}\n"),
                 "test.ptx")
        .findings;
  };
  for (const std::string_view statement : {"rcp.rm.ftz.f64 %fd0, %fd1;", "wgmma.fence.sync;"}) {
    const Diagnostics found = findings(statement);
    ASSERT_EQ(found.size(), 1u) << statement;
    EXPECT_EQ(found[0].severity, Severity::warning) << render(found[0]);
  }
  const Diagnostics wrong = findings("vmad.s32.s32.s32 %r0, !%r1, %r2, %r0;");
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].severity, Severity::error);
}

TEST(Lexical, LinesEndAsTheyLike) {
  const Parsed p = whole(".version 9.0\r\n.target sm_90a\r\n.entry k()\r\n{\r\n\tret;\r\n}\r\n");
  EXPECT_EQ(p.module.where(p.module.functions[0].body[0]).line, 5u);
  EXPECT_EQ(p.module.where(p.module.functions[0].body[0]).column, 2u);
  whole(".version 9.0 .target sm_90a .entry k() { .reg .b32 a; mov.b32 a,1;ret; } // the end");
}

TEST(Lexical, WordsMayStandApartOrTogether) {
  EXPECT_EQ(statement("ld .global\n.f32 %f1,[%rd1];"), "ld.global.f32 %f1, [%rd1];");
  EXPECT_EQ(statements(".reg.b32 q,t<2>;")[0], ".reg .b32 q;");
  EXPECT_EQ(statements("L:M:N: ret;"), (std::vector<std::string>{"L:", "M:", "N:", "ret;"}));
  EXPECT_EQ(statements("L : bra L;"), (std::vector<std::string>{"L:", "bra L;"}));
}

TEST(Lexical, PlacesAreThoseOfStatements) {
  const Parsed p = body("  mov.b32 %r1, 5; @%p1 ret;\n\tL: ret;");
  const ir::Function& f = p.module.functions[0];
  const auto at = [&](std::size_t i) { return to_string(p.module.where(f.body[i])); };
  EXPECT_EQ(at(7), "test.ptx:7:3");
  EXPECT_EQ(at(8), "test.ptx:7:19");
  EXPECT_EQ(at(9), "test.ptx:8:2");
  EXPECT_EQ(at(10), "test.ptx:8:5");
}

TEST(Lexical, IntegersInEveryForm) {
  EXPECT_EQ(statement("mov.b32 %r1, 12;"), "mov.b32 %r1, 12;");
  EXPECT_EQ(statement("mov.b32 %r1, -5;"), "mov.b32 %r1, -5;");
  EXPECT_EQ(statement("mov.b32 %r1, - 5;"), "mov.b32 %r1, -5;");
  EXPECT_EQ(statement("mov.b32 %r1, 0XfF;"), "mov.b32 %r1, 0xff;");
  EXPECT_EQ(statement("mov.b32 %r1, 0xFFU;"), "mov.b32 %r1, 0xffU;");
  EXPECT_EQ(statement("mov.b32 %r1, 017;"), "mov.b32 %r1, 15;");
  EXPECT_EQ(statement("mov.b32 %r1, 0b101;"), "mov.b32 %r1, 5;");
  EXPECT_EQ(statement("mov.b32 %r1, 5U;"), "mov.b32 %r1, 5U;");
  EXPECT_EQ(statement("mov.b32 %r1, 0;"), "mov.b32 %r1, 0;");
  EXPECT_EQ(statement("mov.b64 %rd1, -9223372036854775808;"), "mov.b64 %rd1, -9223372036854775808;");
  EXPECT_EQ(statement("mov.b64 %rd1, 18446744073709551615;"), "mov.b64 %rd1, 18446744073709551615U;");
  EXPECT_EQ(statement("mov.b64 %rd1, 1234567890123456789;"), "mov.b64 %rd1, 1234567890123456789;");
  EXPECT_EQ(statement("mov.b32 %r1, -0x10;"), "mov.b32 %r1, -0x10;");
}

TEST(Lexical, FloatingPointNumbersInEveryForm) {
  EXPECT_EQ(statement("mov.f32 %f1, 0F3f80000a;"), "mov.f32 %f1, 0f3F80000A;");
  EXPECT_EQ(statement("mov.f64 %fd1, 0D3ff0000000000000;"), "mov.f64 %fd1, 0d3FF0000000000000;");
  const auto value = [](std::string_view literal) {
    const Parsed p = body(cat("mov.f64 %fd1, ", literal, ";"));
    return std::bit_cast<double>(p.module.functions[0].constants[0]);
  };
  EXPECT_EQ(value("1.5"), 1.5);
  EXPECT_EQ(value("1."), 1.0);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("-1.5"), -1.5);
  EXPECT_EQ(value("1e5"), 1e5);
  EXPECT_EQ(value("1E+5"), 1e5);
  EXPECT_EQ(value("12.5e-3"), 12.5e-3);
  EXPECT_EQ(value("09.5"), 9.5);
  EXPECT_EQ(value("1.0 + 2.0 * 3.0"), 7.0);
}

// ---- constant expressions ---------------------------------------------------------------------------------------------

std::int64_t value_of(std::string_view expression) {
  const Parsed p = body(cat("mov.b64 %rd1, ", expression, ";"));
  const ir::Function& f = p.module.functions[0];
  return f.integer(f.operands_of(f.body[7])[1]);
}

TEST(Expressions, ComeToWhatTheManualSays) {
  EXPECT_EQ(value_of("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of("(2 + 3) * 4"), 20);
  EXPECT_EQ(value_of("((128>>4)<<16)"), 8 << 16);
  EXPECT_EQ(value_of("7 - 2 - 1"), 4);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 3"), 0);
  EXPECT_EQ(value_of("1 << 2 + 1"), 8);
  EXPECT_EQ(value_of("1 | 2 ^ 3 & 6"), 1);
  EXPECT_EQ(value_of("5 & 3 == 3"), 1);
  EXPECT_EQ(value_of("1 < 2 == 1"), 1);
  EXPECT_EQ(value_of("0 && 1 || 1"), 1);
  EXPECT_EQ(value_of("3 > 2 ? 5 : 6"), 5);
  EXPECT_EQ(value_of("0 ? 2 : 0 ? 4 : 5"), 5);
  EXPECT_EQ(value_of("~5"), ~5);
  EXPECT_EQ(value_of("!5"), 0);
  EXPECT_EQ(value_of("+5"), 5);
  EXPECT_EQ(value_of("- -5"), 5);
  EXPECT_EQ(value_of("WARP_SZ * 2"), 64);
  EXPECT_EQ(value_of("1.5 < 2.0"), 1);
}

TEST(Expressions, AreSignedOrNot) {
  EXPECT_EQ(value_of("-1 < 0"), 1);
  EXPECT_EQ(value_of("-1 < 0U"), 0) << "an unsigned side makes it an unsigned comparison";
  EXPECT_EQ(value_of("-8 >> 1"), -4);
  EXPECT_EQ(value_of("(.u64)-8 >> 1"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(value_of("(.s64)0xFFFFFFFFFFFFFFF8 >> 1"), -4);
  EXPECT_EQ(value_of("-6 / 2U"), 0x7FFFFFFFFFFFFFFD);
  EXPECT_EQ(value_of("1 << 64"), 1) << "ptxas shifts as its machine does";
  EXPECT_EQ(value_of("-1 >> 100"), -1);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), std::numeric_limits<std::int64_t>::min());
}

TEST(Expressions, KeepTheirText) {
  EXPECT_EQ(statement("mov.b32 %r1, ( 1 <<4 )/*x*/| 3;"), "mov.b32 %r1, ( 1 <<4 ) | 3;");
  EXPECT_EQ(statement("ld.shared.b32 %r1, [s+4*2];"), "ld.shared.b32 %r1, [s+4*2];");
  const Parsed p = body("add.s32 %r1, %r2, 4*2;");
  const ir::Function& f = p.module.functions[0];
  EXPECT_EQ(f.operands_of(f.body[7])[2].kind, OperandKind::expression);
}

TEST(Expressions, NestToAPoint) {
  for (const auto& [open, close] : {std::pair("(", ")"), std::pair("-", ""), std::pair("~", ""), std::pair("1 ? ", ": 0")}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    deep += "1";
    for (int i = 0; i < 100'000; ++i) deep += close;
    const Parsed p = parse(cat(header, ".entry k() { .reg .b32 a; mov.b32 a, ", deep, "; ret; }"));
    ASSERT_EQ(p.findings.size(), 1u);
    EXPECT_NE(p.findings[0].message.find("nests more than"), std::string::npos) << p.findings[0].message;
    EXPECT_EQ(p.module.functions[0].body.size(), 2u) << "reading goes on";
  }
}

// ---- declarations -------------------------------------------------------------------------------------------------------

TEST(Registers, FamiliesSinglesAndVectors) {
  EXPECT_EQ(statements(".reg .pred p, q; .reg .b32 a, b<4>, c; .reg .v4 .f32 v, w<2>;"),
            (std::vector<std::string>{".reg .pred p;", ".reg .pred q;", ".reg .b32 a;", ".reg .b32 b<4>;", ".reg .b32 c;",
                                      ".reg .v4 .f32 v;", ".reg .v4 .f32 w<2>;"}));
  EXPECT_EQ(statements(".reg .v4 .f32 v<3>; mov.f32 %f1, v1.x;")[1], "mov.f32 %f1, v1.x;");
}

TEST(Registers, AreNumbersBehindABase) {
  EXPECT_EQ(statement("mov.b32 %r03, %r019;"), "mov.b32 %r3, %r19;");
  const Parsed p = body("mov.b32 %r1, %r2; mov.b32 %r2, %r1;");
  EXPECT_EQ(p.module.functions[0].regs.size(), 2u);
}

TEST(Registers, OfAHugeFamilyTakeNoMemory) {
  const Parsed p = body(".reg .b32 h<4000000000>; mov.b32 h3999999999, h7; mov.b32 h7, h3999999999; mov.b32 h0, h1000;");
  EXPECT_EQ(p.module.functions[0].regs.size(), 4u);
}

TEST(Registers, OfTheInnermostBlock) {
  const Parsed p =
      body(".reg .b32 a; { .reg .b32 a; .reg .b32 %r<2>; mov.b32 a, %r1; mov.b32 %r1, %r5; { mov.b32 a, 1; } } mov.b32 a, %r1;");
  const ir::Function& f = p.module.functions[0];
  const auto decl = [&](std::size_t item, std::size_t operand) {
    const ir::Operand o = f.operands_of(f.body[item])[operand];
    return f.regs[o.payload].decl.index;
  };
  // items: 7 a, 8 {, 9 a, 10 %r<2>, 11 mov, 12 mov, 13 {, 14 mov, 15 }, 16 }, 17 mov
  const std::uint32_t outer_a = f.body[7].payload, inner_a = f.body[9].payload, inner_r = f.body[10].payload;
  EXPECT_EQ(decl(11, 0), inner_a);
  EXPECT_EQ(decl(11, 1), inner_r);
  EXPECT_EQ(decl(12, 0), inner_r);
  EXPECT_EQ(decl(12, 1), f.body[1].payload) << "%r5 is none of the inner family's two";
  EXPECT_EQ(decl(14, 0), inner_a);
  EXPECT_EQ(decl(17, 0), outer_a);
  EXPECT_EQ(decl(17, 1), f.body[1].payload);
}

TEST(Registers, ASingleOneMayLookLikeAMember) {
  const Parsed p = body("{ .reg .b32 %r7; mov.b32 %r7, %r8; } mov.b32 %r7, 1;");
  const ir::Function& f = p.module.functions[0];
  EXPECT_NE(f.operands_of(f.body[9])[0].payload, f.operands_of(f.body[11])[0].payload);
}

TEST(Registers, VariablesHideThem) {
  const Parsed p = body(".reg .b32 a; { .shared .b32 a; mov.u32 %r1, a; } mov.b32 %r1, a;");
  const ir::Function& f = p.module.functions[0];
  EXPECT_EQ(f.operands_of(f.body[10])[1].kind, OperandKind::symbol);
  EXPECT_EQ(f.operands_of(f.body[12])[1].kind, OperandKind::reg);
}

TEST(Variables, InEveryShape) {
  EXPECT_EQ(
      variables(".global .u32 a, b[3], c = 5;.align 4 .global .v4.f32 d[2];.visible .const .b8 e[2][3][4];"
                ".extern .shared .align 16 .b8 f[];.weak .global .u64 g;.common .global .u32 h;.global .u32 i[WARP_SZ];"
                ".global .attribute(.managed) .u32 j;.global .attribute( .managed,.unified ( 19 , 0x5f ) ) .u32 l;"
                ".global .texref m;.global .samplerref n;.global .surfref o[4];.tex .u32 p;"),
      (std::vector<std::string>{".global .u32 a;", ".global .u32 b[3];", ".global .u32 c = 5;", ".global .align 4 .v4 .f32 d[2];",
                                ".visible .const .b8 e[2][3][4];", ".extern .shared .align 16 .b8 f[];", ".weak .global .u64 g;",
                                ".common .global .u32 h;", ".global .u32 i[32];", ".global .attribute(.managed) .u32 j;",
                                ".global .attribute(.managed, .unified(19, 95)) .u32 l;", ".global .texref m;",
                                ".global .samplerref n;", ".global .surfref o[4];", ".tex .u32 p;"}));
}

TEST(Variables, WithInitialisers) {
  EXPECT_EQ(
      variables(".global .u32 a[][2] = { {1,2}, {-3,0x4F} };.global .f32 b[2] = {1.0, 0f3F800000};"
                ".global .u64 c[7] = {a, a+4, a+-4, a + (4*2), generic(a), generic( a )+8, 0xFFFFFFFFFFFFFFFF};"
                ".global .u8 d[4] = {0xFF(a), 0xFF00(b+4), 0xff0000(generic(a)), 0xFF(generic(a)+4)};"
                ".global .u32 e[4] = {};.global .u32 f[2] = {{},{}};.global .u32 g = 1+2*3;"
                ".global .samplerref h = { addr_mode_0 = clamp_to_border, filter_mode=nearest, force_unnormalized_coords = 1};"),
      (std::vector<std::string>{
          ".global .u32 a[][2] = {{1, 2}, {-3, 0x4f}};", ".global .f32 b[2] = {0d3FF0000000000000, 0f3F800000};",
          ".global .u64 c[7] = {a, a+4, a+-4, a+8, generic(a), generic(a)+8, 0xffffffffffffffff};",
          ".global .u8 d[4] = {0xff(a), 0xff00(b+4), 0xff0000(generic(a)), 0xff(generic(a)+4)};", ".global .u32 e[4] = {};",
          ".global .u32 f[2] = {{}, {}};", ".global .u32 g = 7;",
          ".global .samplerref h = {addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1};"}));
}

TEST(Variables, InitialisersNestToAPoint) {
  const Parsed p =
      parse(cat(header, ".global .u32 a = ", std::string(100'000, '{'), "1", std::string(100'000, '}'), ";\n.global .u32 b;\n"));
  ASSERT_GE(p.findings.size(), 1u);
  EXPECT_NE(p.findings[0].message.find("nests more than"), std::string::npos);
}

// ---- functions ----------------------------------------------------------------------------------------------------------

TEST(Functions, HeadsInEveryShape) {
  const Parsed p = module(
      ".extern .func (.param .b32 r) vprintf ( .param .b64 a , .param .b64 b ) ;\n"
      ".func f;\n.func g() .noreturn;\n.weak .func (.reg .b32 r) h (.reg .b32 a, .reg .v2 .f32 b) { mov.b32 r, a; ret; }\n"
      ".visible .func (.param .align 16 .b8 r[16]) i (.param .b8 x[]) .noreturn .abi_preserve 4 { ret; }\n"
      ".func .attribute(.unified(1, 2)) j() { ret; }\n.alias f, g;\n"
      ".visible .entry k(.param .u64 .ptr.global.align 16 p, .param .align 8 .b8 q[16], .param.u32 r, .param .b8 .align 4 s[4],"
      ".param .u64 .ptr t, .param .texref u)\n.maxntid 1,2,3 .minnctapersm 1\n.pragma \"a\",\"b\"; .reqnctapercluster 2 "
      ".explicitcluster { ret; }\n"
      ".entry l { ret; }\n.extern .entry m();\n");
  const std::vector<ir::Function>& f = p.module.functions;
  ASSERT_EQ(f.size(), 9u);
  EXPECT_EQ(f[0].linkage, ir::Linkage::extern_);
  EXPECT_FALSE(f[0].has_body);
  EXPECT_FALSE(f[0].is_entry);
  EXPECT_EQ(f[0].returns.size(), 1u);
  EXPECT_EQ(f[3].params[1].vector, 2);
  EXPECT_TRUE(f[3].params[0].in_register);
  EXPECT_EQ(f[3].operands_of(f[3].body[0])[1].payload, f[3].params[0].reg.index);
  EXPECT_TRUE(f[4].params[0].unsized);
  EXPECT_EQ(f[4].directives[1].values, std::vector<std::uint32_t>{4});
  EXPECT_EQ(f[5].attributes, std::vector<std::string>{"unified(1, 2)"});
  EXPECT_EQ(f[6].params[0].ptr_align, 16u);
  EXPECT_EQ(f[6].params[0].ptr_space, ir::StateSpace::global);
  EXPECT_EQ(f[6].params[3].align, 4u);
  EXPECT_TRUE(f[6].params[4].is_ptr);
  EXPECT_EQ(f[6].directives.size(), 5u);
  EXPECT_EQ(f[6].directives[2].text, "\"a\", \"b\"");
  EXPECT_EQ(p.module.find("f"), &f[1]);
}

TEST(Functions, ParametersThatDescribeTensorsAreNamedAfterThem) {
  const auto described = [](std::string_view params) {
    const Parsed parsed = module(cat(".entry k(", params, ") {\nret;\n}\n"));
    std::string found;
    for (const ir::Param& param : parsed.module.functions[0].params) found += cat(parsed.module.str(param.describes), ',');
    return found;
  };
  EXPECT_EQ(described(".param .u64 X, .param .u64 Y, .param .u64 Y_tma_desc, .param .u64 X_tma_desc"), ",,Y,X,");
  EXPECT_EQ(described(".param .u64 X, .param .align 128 .b8 X_tma_desc[128]"), ",X,");
  EXPECT_EQ(described(".param .u64 X, .param .align 32 .b8 X_tma_desc[128]"), ",,") << "not aligned";
  EXPECT_EQ(described(".param .u64 X, .param .u32 X_tma_desc"), ",,") << "no address";
  EXPECT_EQ(described(".param .u64 X_tma_desc, .param .u64 X"), ",,") << "the tensor comes first";
}

TEST(Functions, AreNamedWhereTheyStand) {
  const Parsed p = module(".visible .entry\n  k() { ret; }");
  EXPECT_EQ(to_string(p.module.where(p.module.functions[0].where)), "test.ptx:5:3");
}

// ---- bodies ---------------------------------------------------------------------------------------------------------------

TEST(Labels, OfTheInnermostBlock) {
  const Parsed p = body("bra L; { bra L; L: bra L; { bra L; } } { L: bra L; } L: bra L;");
  const ir::Function& f = p.module.functions[0];
  std::vector<std::uint32_t> goes_to;
  for (const ir::Inst& inst : f.body)
    if (inst.kind == ItemKind::inst) {
      const ir::Operand o = f.operands_of(inst)[0];
      EXPECT_EQ(o.kind, OperandKind::label);
      goes_to.push_back(f.labels[o.payload].item - 7);
    }
  // 0 bra, 1 {, 2 bra, 3 L:, 4 bra, 5 {, 6 bra, 7 }, 8 }, 9 {, 10 L:, 11 bra, 12 }, 13 L:, 14 bra
  EXPECT_EQ(goes_to, (std::vector<std::uint32_t>{13, 3, 3, 3, 10, 13}));
}

TEST(Labels, OfABranchAreLabelsThoughNothingDefinesThem) {
  const Parsed p = body("bra NOWHERE; @%p1 bra NOWHERE;");
  const ir::Function& f = p.module.functions[0];
  const ir::Operand a = f.operands_of(f.body[7])[0], b = f.operands_of(f.body[8])[0];
  EXPECT_EQ(a.kind, OperandKind::label);
  EXPECT_EQ(a.payload, b.payload);
  EXPECT_EQ(f.labels[a.payload].item, 0xFFFFFFFFu);
}

TEST(Bodies, OtherLines) {
  EXPECT_EQ(statements(".pragma \"a\", \"b\"; .loc 1 12 5\n.loc 1 13 5 , function_name $L__info+4,inlined_at 1 12 5\n.loc 2 1 1, "
                       "function_name a"
                       ", inlined_at 1 2 3 .param .align 8 .b8 p0[16];\nret;"),
            (std::vector<std::string>{".pragma \"a\";", ".pragma \"b\";", ".loc 1 12 5",
                                      ".loc 1 13 5, function_name $L__info+4, inlined_at 1 12 5",
                                      ".loc 2 1 1, function_name a, inlined_at 1 2 3", ".param .align 8 .b8 p0[16];", "ret;"}));
}

TEST(Bodies, DebugDataOfOldVersions) {
  const std::string old = ".version 1.4\n.target sm_13\n@@DWARF .byte 1, 2  \n.entry k()\n{\n@@DWARF .byte 3\nret;\n}\n";
  const Parsed parsed = parse(old, "old.ptx");
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_EQ(restore(parsed), old);
  EXPECT_NE(parse(".version 2.0" + old.substr(12), "new.ptx").syntax_errors, 0u);
}

TEST(Modules, LinesOfAPreprocessorAreBlanks) {
  const std::string text =
      cat("# 1 \"kernel.cu\" 1 3\n", header, "#line 7 \"kernel.cu\"\n.visible .entry # 8 \"kernel.cu\"\n k()\n{\n",
          "# 9 \"kernel.cu\"\nret;\n}\n");
  const Parsed parsed = parse(text, "lines.ptx");
  for (const Diagnostic& d : parsed.findings) ADD_FAILURE() << render(d);
  EXPECT_EQ(restore(parsed), text);
  for (const std::string_view other : {"# 1\n", "# x \"a\"\n", "# 1 \"a\n", "# 1 \"a\" b\n", "# 1 \"a\"", "#\n"})
    EXPECT_NE(parse(cat(header, other), "other.ptx").syntax_errors, 0u) << other;
}

TEST(Modules, NamelessDeclarationsStayInTheText) {
  const std::string text = cat(header, ".global .u32;\n.visible .entry k()\n{\n.reg .b32 ;\n.shared .align 4 .b8;\nret;\n}\n");
  const Parsed parsed = parse(text, "nameless.ptx");
  EXPECT_EQ(parsed.findings.size(), 3u);
  for (const Diagnostic& d : parsed.findings) EXPECT_EQ(d.severity, Severity::warning) << render(d);
  EXPECT_EQ(restore(parsed), text);
  EXPECT_EQ(print(parsed.module).find(".global"), std::string::npos);
}

TEST(Operands, ElementsOfArrays) {
  const std::string text =
      cat(header,
          ".global .u32 g[4];\n.visible .entry k()\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, g[1];\nst.global.u32 g [ %r1 + -1 ], "
          "%r0;\nld.global.u32 %r2, g[2*1];\nret;\n}\n");
  const Parsed parsed = parse(text, "elements.ptx");
  for (const Diagnostic& d : parsed.findings) ADD_FAILURE() << render(d);
  EXPECT_EQ(restore(parsed), text);
  const std::string printed = print(parsed.module);
  for (const std::string_view line : {"ld.global.u32 %r0, g[1];", "st.global.u32 g[%r1+-1], %r0;", "ld.global.u32 %r2, g[2*1];"})
    EXPECT_NE(printed.find(line), std::string::npos) << line << "\nin\n" << printed;
  EXPECT_EQ(ir::difference(parsed.module, parse(printed, "printed.ptx").module), "");
}

TEST(Bodies, RangesOfLabels) {
  const Parsed p = module(".entry k() { .reg .b32 a; T: .branchtargets N<2>, E, M<1>; brx.idx a, T; N0: N1: M0: E: ret; }\n");
  for (const Diagnostic& d : p.findings) ADD_FAILURE() << render(d);
  EXPECT_NE(print(p.module).find("T:\n\t.branchtargets N0, N1, E, M0;"), std::string::npos) << print(p.module);
}

TEST(Bodies, CallsOfEveryKind) {
  const Parsed p = module(
      ".func f() { ret; }\n.func (.reg .b32 r) g (.reg .b32 a) { mov.b32 r, a; ret; }\n.entry k() { .reg .b32 a; .reg .b64 p;\n"
      "call f; call f, (); call (), f, (); call.uni (a), g, (3);\n"
      "P: .callprototype ( .param .b32 _ ) _ ( .param .b64 _ , .param .align 4 .b8 q[16] ) .noreturn; call p, P;\n"
      "Q: .callprototype _; call p, Q; T: .calltargets f, g; call p, (), T;\n"
      "B: .branchtargets X, Y; brx.idx a, B; X: ret; Y: ret; }\n");
  const ir::Function& f = p.module.functions[2];
  ASSERT_EQ(f.prototypes.size(), 2u);
  EXPECT_EQ(f.prototypes[0].params[1].elements, 16u);
  EXPECT_EQ(f.prototypes[0].directives.size(), 1u);
  ASSERT_EQ(f.target_lists.size(), 2u);
  EXPECT_EQ(f.target_lists[0][0].kind, OperandKind::symbol);
  EXPECT_EQ(f.target_lists[1][1].kind, OperandKind::label);
  std::vector<std::string> calls;
  for (const ir::Inst& inst : f.body)
    if (inst.kind == ItemKind::inst) calls.push_back(print(p.module, f, inst));
  EXPECT_EQ(calls, (std::vector<std::string>{"call f;", "call f, ();", "call (), f, ();", "call.uni (a), g, (3);", "call p, P;",
                                             "call p, Q;", "call p, (), T;", "brx.idx a, B;", "ret;", "ret;"}));
}

TEST(Operands, OfEveryKind) {
  EXPECT_EQ(statement("setp.eq.s32 %p1 | %p2, %r1, %r2;"), "setp.eq.s32 %p1|%p2, %r1, %r2;");
  EXPECT_EQ(statement("selp.b32 %r1, %r2, %r3, ! %p1;"), "selp.b32 %r1, %r2, %r3, !%p1;");
  EXPECT_EQ(statement("mov.b64 {%r1,_}, %rd1;"), "mov.b64 {%r1, _}, %rd1;");
  EXPECT_EQ(statement("mov.u32 %r1, %tid.x;"), "mov.u32 %r1, %tid.x;");
  EXPECT_EQ(statement("mov.u32 %r1, s+4;"), "mov.u32 %r1, s+4;");
  EXPECT_EQ(statement("ld.shared.b32 %r1, [ s + -4 ];"), "ld.shared.b32 %r1, [s+-4];");
  EXPECT_EQ(statement("ld.local.b32 %r1, [16];"), "ld.local.b32 %r1, [16];");
  EXPECT_EQ(statement("ld.global.b32 %r1, [%rd1+0x10];"), "ld.global.b32 %r1, [%rd1+0x10];");
  EXPECT_EQ(statement("vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1;"), "vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1;");
  EXPECT_EQ(statement("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1,{%r1}];"),
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];");
  EXPECT_EQ(statement("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, %rd2, {%f5,%f6}];"),
            "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];");
}

TEST(Operands, AnOffsetThatIsARegisterIsForCheckToRefuse) {
  const Parsed p = parse(cat(header, ".entry k() { .reg .b32 a; .reg .b64 b; ld.global.b32 a, [b+a]; }"));
  EXPECT_TRUE(p.findings.empty());
  EXPECT_EQ(ir::spell(p.module, p.module.functions[0], p.module.functions[0].body[2]), "ld.global.b32 a, [b+a];");
}

// ---- modifiers ------------------------------------------------------------------------------------------------------------

TEST(Modifiers, InAnyOrder) {
  EXPECT_EQ(statement("ld.global.volatile.b32 %r1, [%rd1];"), "ld.volatile.global.b32 %r1, [%rd1];");
  EXPECT_EQ(statement("ld.b32.global %r1, [%rd1];"), "ld.global.b32 %r1, [%rd1];");
  EXPECT_EQ(statement("fma.f32.ftz.rn %f1, %f1, %f1, %f1;"), "fma.rn.ftz.f32 %f1, %f1, %f1, %f1;");
  EXPECT_EQ(statement("setp.s32.lt %p1, %r1, %r2;"), "setp.lt.s32 %p1, %r1, %r2;");
}

TEST(Modifiers, ThatCouldChangePlacesKeepTheirOrder) {
  EXPECT_EQ(statement("cvt.f32.s32.rn %f1, %r1;"), "cvt.rn.f32.s32 %f1, %r1;");
  EXPECT_EQ(statement("cvt.s32.rzi.f32 %r1, %f1;"), "cvt.rzi.s32.f32 %r1, %f1;");
  EXPECT_EQ(statement("cvt.u16.u32 %rs1, %r1;"), "cvt.u16.u32 %rs1, %r1;");
}

TEST(Modifiers, ChooseTheFormByItsOperands) {
  const Parsed p = body("mov.u32 %r1, 5; mov.u32 %r1, %tid.x; mov.u32 %r1, s; mov.u32 %r1, %r2;");
  const ir::Function& f = p.module.functions[0];
  EXPECT_NE(f.body[7].form, f.body[8].form);
  EXPECT_NE(f.body[8].form, f.body[9].form);
}

TEST(Modifiers, ByTheValueOfAnIntegerWhereAFormLooksAtIt) {
  // for a predicate the integers 0 and 1 stand, and no others
  EXPECT_EQ(statements("selp.b32 %r1, 7, 8, 1; selp.b32 %r1, 7, 8, %p1;").size(), 2u);
}

// ---- what the table does not know -------------------------------------------------------------------------------------------

TEST(Unknown, StatementsAreKeptWhole) {
  const std::string text = cat(header, ".entry k() {\n  foo.bar /* why */ {%a,\n %b}, \"x ; y\" ;\n  ret;\n}\n");
  const Parsed p = parse(text, "test.ptx");
  ASSERT_EQ(p.findings.size(), 1u);
  EXPECT_EQ(p.findings[0].kind, Kind::unknown_opcode);
  EXPECT_EQ(to_string(p.findings[0].where), "test.ptx:5:3");
  EXPECT_FALSE(p.broken());
  const ir::Function& f = p.module.functions[0];
  ASSERT_EQ(f.body.size(), 2u);
  EXPECT_EQ(f.body[0].kind, ItemKind::raw);
  EXPECT_EQ(print(p.module, f, f.body[0]), "foo.bar {%a, %b}, \"x ; y\" ;");
  EXPECT_EQ(restore(p), text);
  const Parsed again = parse(print(p.module));
  EXPECT_EQ(ir::difference(p.module, again.module), "");
}

TEST(Unknown, OneFindingForEachRegisterOfAFunction) {
  const Parsed p =
      parse(cat(header, ".entry k() { .reg .b32 a; mov.b32 a, %x; mov.b32 %x, a; }\n.entry l() { .reg .b32 a; mov.b32 a, %x; }"));
  ASSERT_EQ(p.findings.size(), 2u);
  EXPECT_EQ(p.findings[0].kind, Kind::undefined_symbol);
  EXPECT_EQ(p.module.functions[0].body.size(), 3u);
}

TEST(ParseVariables, NumberedOnesAreVariablesOfTheirOwn) {
  const Parsed parsed = module(".shared .align 8 .u32 x<3>, y;\n.global .u8 z<1>;\n");
  std::vector<std::string> names;
  for (const ir::Variable& v : parsed.module.variables) names.push_back(cat(parsed.module.str(v.name), ':', v.align));
  EXPECT_EQ(names, (std::vector<std::string>{"x0:8", "x1:8", "x2:8", "y:8", "z0:0"}));
  for (const std::string_view wrong : {"x<0>", "x<65537>", "x<2>[2]", "x<2> = 1", "x<-1>", "x<2", "x<4,5>"})
    EXPECT_FALSE(parse(cat(header, ".global .u32 ", wrong, ";\n"), "test.ptx").findings.empty()) << wrong;
}

TEST(ParseOperands, AParenthesisedWarpSizeIsANumber) {
  for (const std::string_view number : {"(WARP_SZ)", "(WARP_SZ + 1)", "(WARP_SZ >= 0)", "((WARP_SZ))", "(1 + WARP_SZ)"}) {
    const Parsed parsed = body(cat("add.u32 %r1, %r2, ", number, ";"));
    const ir::Function& f = parsed.module.functions[0];
    EXPECT_EQ(f.operands_of(f.body.back()).back().kind, OperandKind::expression) << number;
  }
}

}  // namespace
}  // namespace ptx::text

#include <gtest/gtest.h>

#include "ptx/text/text.hpp"

namespace ptx::text {
namespace {

constexpr std::string_view source =
    "// a kernel\n"
    ".version 9.0\n"
    ".target sm_90a   // Hopper\n"
    ".address_size 64\n"
    "\n"
    ".global .u32 a, b;  // two\n"
    "\n"
    "/* the entry */ .visible .entry k( .param .u64 x )\n"
    "{\n"
    "    .reg .b32   %r<4>, q;   // registers\n"
    "\n"
    "    mov.b32     %r1, 0xFF;  // first\n"
    "    // between\n"
    "    add.s32 %r2,%r1,1; add.s32 %r3, %r2, 2;\n"
    "L:  bra         L ;\n"
    "}\n"
    "// the end\n";

Parsed parsed() {
  Parsed p = parse(std::string(source));
  for (const Diagnostic& d : p.findings) ADD_FAILURE() << render(d);
  return p;
}
// The source with one piece of it exchanged.
std::string with(std::string_view old_piece, std::string_view new_piece) {
  std::string text(source);
  const std::size_t at = text.find(old_piece);
  EXPECT_NE(at, std::string::npos) << old_piece;
  return text.replace(at, old_piece.size(), new_piece);
}

TEST(Restore, NothingChanged) { EXPECT_EQ(restore(parsed()), source); }

// items: 0 %r<4>, 1 q, 2 mov, 3 add, 4 add, 5 L:, 6 bra
TEST(Restore, AChangedInstructionChangesAlone) {
  Parsed p = parsed();
  ir::Function& f = p.module.functions[0];
  f.constants[f.operands_of(f.body[3])[2].payload] = 7;
  EXPECT_EQ(restore(p), with("add.s32 %r2,%r1,1;", "add.s32 %r2, %r1, 7;"));
}

TEST(Restore, ADeletedInstructionTakesItsLine) {
  Parsed p = parsed();
  p.module.functions[0].body.erase(p.module.functions[0].body.begin() + 6);
  EXPECT_EQ(restore(p), with("L:  bra         L ;", "L:  "));
  p = parsed();
  p.module.functions[0].body.erase(p.module.functions[0].body.begin() + 3, p.module.functions[0].body.begin() + 5);
  EXPECT_EQ(restore(p), with("    add.s32 %r2,%r1,1; add.s32 %r3, %r2, 2;\n", ""));
}

TEST(Restore, ADeletedInstructionLeavesItsComment) {
  Parsed p = parsed();
  p.module.functions[0].body.erase(p.module.functions[0].body.begin() + 2);
  EXPECT_EQ(restore(p), with("mov.b32     %r1, 0xFF;", ""));
}

TEST(Restore, AnInsertedInstructionHasALineOfItsOwn) {
  Parsed p = parsed();
  ir::Function& f = p.module.functions[0];
  ir::Inst added = f.body[2];
  added.where = ir::WhereId::absent;
  f.body.insert(f.body.begin() + 3, added);
  EXPECT_EQ(restore(p), with("  // first\n", "  // first\n    mov.b32 %r1, 0xff;\n"));
  p = parsed();
  p.module.functions[0].body.push_back(added);
  EXPECT_EQ(restore(p), with("L ;\n", "L ;\nmov.b32 %r1, 0xff;\n"));
  p = parsed();
  p.module.functions[0].body.insert(p.module.functions[0].body.begin(), added);
  EXPECT_EQ(restore(p), with("{\n", "{\n\tmov.b32 %r1, 0xff;\n"));
}

TEST(Restore, AnInstructionBetweenTwoOfOneLine) {
  Parsed p = parsed();
  ir::Function& f = p.module.functions[0];
  ir::Inst added = f.body[2];
  added.where = ir::WhereId::absent;
  f.body.insert(f.body.begin() + 4, added);
  const std::string text = restore(p);
  const Parsed again = parse(text);
  EXPECT_EQ(ir::difference(p.module, again.module), "") << text;
}

TEST(Restore, ARenamedLabelChangesAllThatNameIt) {
  Parsed p = parsed();
  p.module.functions[0].labels[0].name = p.module.intern("LOOP");
  EXPECT_EQ(restore(p), with("L:  bra         L ;", "LOOP:  bra LOOP;"));
}

TEST(Restore, ADeclarationOfSeveralChangesAsOne) {
  Parsed p = parsed();
  p.module.functions[0].reg_decls[0].count = 9;
  EXPECT_EQ(restore(p), with(".reg .b32   %r<4>, q;", ".reg .b32 %r<9>;\n    .reg .b32 q;"));
  p = parsed();
  p.module.items.erase(p.module.items.begin());
  EXPECT_EQ(restore(parse(restore(p))), restore(p));
}

TEST(Restore, TheHeader) {
  Parsed p = parsed();
  p.module.version = {8, 0};
  p.module.target_options = {"debug"};
  EXPECT_EQ(restore(p),
            std::string(source).replace(source.find("9.0"), 3, "8.0").replace(source.find("sm_90a"), 6, "sm_90a, debug"));
  p = parsed();
  p.module.address_size = 0;
  EXPECT_EQ(restore(p), with(".address_size 64\n", ""));
}

TEST(Restore, AHeaderInAnotherOrder) {
  const std::string text = ".target sm_90a\n.address_size 64\n.global .u32 a;\n.version 9.0\n";
  Parsed p = parse(text);
  EXPECT_EQ(restore(p), text);
  EXPECT_EQ(restore(parse(".address_size 64\n.global .u32 a;\n.version 9.0\n")),
            ".address_size 64\n.global .u32 a;\n.version 9.0\n");
  p.module.version = {8, 5};
  EXPECT_EQ(restore(p), ".target sm_90a\n.address_size 64\n.global .u32 a;\n.version 8.5\n");
}

TEST(Restore, AHeadAndADirective) {
  Parsed p = parsed();
  p.module.functions[0].directives.push_back({"maxntid", {128}, {}});
  EXPECT_EQ(restore(p), with(".visible .entry k( .param .u64 x )\n{", ".visible .entry k(\n\t.param .u64 x\n)\n.maxntid 128\n{"));
}

TEST(Restore, AFunctionTakesAllOfItself) {
  Parsed p = parsed();
  p.module.items.pop_back();
  p.module.functions.clear();
  const std::size_t begin = source.find(".visible"), end = source.find("}\n") + 1;
  EXPECT_EQ(restore(p), std::string(source).erase(begin, end - begin));
}

TEST(Restore, AFunctionThatIsNew) {
  Parsed p = parsed();
  ir::Function& f = p.module.functions.emplace_back();
  f.name = p.module.intern("new");
  const std::string text = restore(p);
  EXPECT_NE(text.find(".visible .entry new()\n{\n}"), std::string::npos) << text;
  EXPECT_EQ(ir::difference(parse(text).module, p.module), "") << text;
}

TEST(Restore, WhatMovedIsPrintedWhereItIs) {
  Parsed p = parsed();
  std::swap(p.module.functions[0].body[2], p.module.functions[0].body[3]);
  const std::string text = restore(p);
  EXPECT_EQ(ir::difference(parse(text).module, p.module), "") << text;
}

TEST(Restore, TextThatIsNoPtxStays) {
  const std::string broken = with("add.s32 %r2,%r1,1;", "add.s32 %r2 %r1,1; ?? ");
  Parsed p = parse(broken);
  EXPECT_TRUE(p.broken());
  EXPECT_EQ(restore(p), broken);
  p.module.functions[0].body.pop_back();
  EXPECT_NE(restore(p).find("add.s32 %r2 %r1,1; ?? "), std::string::npos);
}

TEST(Restore, AModuleWithoutASourceIsPrinted) {
  Parsed p;
  p.module.address_size = 64;
  EXPECT_EQ(restore(p), print(p.module));
}

}  // namespace
}  // namespace ptx::text

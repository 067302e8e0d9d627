// The scalar half in C++: the program that tests/python/test_scalar.py writes too, and what the untyped layer refuses.
#include "ptx/write/door/scalar.hpp"

#include "ptx/text/text.hpp"
#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/written.hpp"

namespace ptx {
namespace {

using write_test::written;

TEST(ScalarDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "scalar", .raw_params = {{"n", u32}}, .arch = sm_90a});
  auto n = k.param<u32>("n");
  auto sum = k.alloc<f32>();
  auto parts = k.alloc_array<u32>(2);
  auto tab = k.var("tab", {.space = ir::StateSpace::local, .type = b32, .align = 16, .elements = 4});
  k.file_(1, "scalar.cu");
  k.loc(1, 12, 5);
  k << inst.mov.f32(sum, 0.0);
  k << inst.st.local.b32(tab, n);
  k.pragma("nounroll");
  k.kloop(n, {.unroll = 4}, [&] { k << inst.add.f32(sum, sum, 1.0); });
  k.kloop(2, {.unroll = 4}, [&] { k << inst.add.u32(parts[0], n, 2); });
  k.kloop(n, {.unroll = 2, .loop_label = "again"}, [&] { k << inst.add.u32(parts[1], n, 3); });
  k.comment("the end");
  k.raw("exit;");
  write_test::expect_golden(k, "scalar");
}

TEST(Mad, IsChosenByTheTypeOfItsOperands) {
  Kernel k({.name = "k"});
  auto i = k.scalar<u32>();
  auto f = k.scalar<f32>();
  auto s = k.scalar<s32>();
  k.mad(i, 2, i);
  k.mad(i, i, 3, {.mode = "hi", .pred = k.reg<pred>()});
  k.mad_wide(i, 4, k.scalar<u64>());
  k.mad_wide(s, s, 1);
  k.mad(f, f, f);
  EXPECT_EQ(
      written(k.builder().module()),
      (write_test::Lines{"mad.lo.s32 %r2, %r0, 2, %r0;", "@%p0 mad.hi.u32 %r3, %r0, %r0, 3;", "mad.wide.u32 %rd1, %r0, 4, %rd0;",
                         "mad.wide.s32 %rd2, %r1, %r1, 1;", "fma.rn.f32 %f1, %f0, %f0, %f0;"}));
  Kernel wrong({.name = "k"});
  auto g = wrong.scalar<f32>();
  wrong.mad(g, g, g, {.mode = "hi"});
  ASSERT_FALSE(wrong.module());
  EXPECT_EQ(wrong.module().error().message, "`ptx.mad` of .f32 registers has no mode `hi`");
}

write::Builder builder() { return write::Builder({.name = "k"}); }

TEST(Kloop, IsWrittenOutForANumber) {
  Kernel k({.name = "k"});
  auto r = k.scalar<u32>();
  k.kloop(3, {.unroll = 1}, [&] { r += 1; });
  k.kloop(0, {.unroll = 8}, [&] { r += 2; });
  EXPECT_EQ(written(k.builder().module()), write_test::Lines(3, "add.u32 %r0, %r0, 1;"));
}

TEST(Kloop, RefusesOtherUnrollingsAndTotals) {
  for (const int unroll : {0, 3, -4, 2048}) {
    Kernel k({.name = "k"});
    auto r = k.scalar<u32>();
    k.kloop(r, {.unroll = unroll}, [] {});
    auto m = k.module();
    ASSERT_FALSE(m);
    EXPECT_EQ(m.error().kind, Kind::immediate_range);
    EXPECT_NE(m.error().message.find("power of two"), std::string::npos);
  }
  Kernel k({.name = "k"});
  k.kloop(-1, {.unroll = 2}, [] {});
  EXPECT_EQ(k.module().error().kind, Kind::immediate_range);
  Kernel f({.name = "k"});
  f.kloop(f.scalar<f32>(), {.unroll = 2}, [] {});
  EXPECT_EQ(f.module().error().kind, Kind::bad_operator);
  Kernel g({.name = "k"});
  g.kloop(1.5, {.unroll = 2}, [] {});
  EXPECT_EQ(g.module().error().kind, Kind::argument_kind);
}

TEST(Kloop, GivesASecondLoopAnotherLabel) {
  Kernel k({.name = "k"});
  auto r = k.scalar<u32>();
  k.kloop(r, {.unroll = 1}, [&] { k.kloop(r, {.unroll = 1}, [] {}); });
  k << inst.ret();
  const auto m = k.module();
  ASSERT_TRUE(m) << render(m.error());
  const std::string text = text::print(*m);
  EXPECT_NE(text.find("\nkloop:"), std::string::npos);
  EXPECT_NE(text.find("\n$_kloop_"), std::string::npos);

  Kernel named({.name = "k"});
  auto s = named.scalar<u32>();
  named.kloop(s, {.unroll = 1, .loop_label = "L"}, [] {});
  named.kloop(s, {.unroll = 1, .loop_label = "L"}, [] {});
  EXPECT_EQ(named.module().error().kind, Kind::duplicate_label);
}

TEST(Alloc, CountsByType) {
  auto b = builder();
  EXPECT_EQ(b.name(*b.alloc(b32)), "%ar0");
  EXPECT_EQ(b.name(*b.alloc(u32)), "%au0");
  EXPECT_EQ(b.name(*b.alloc(b32)), "%ar1");
  EXPECT_EQ(b.name(*b.reg(b32)), "%r0");
  EXPECT_EQ(b.name(b.at(*b.alloc_array(f32, 2), 1)), "%afarr0_1");
  EXPECT_EQ(b.name(b.at(*b.alloc_array(f32, 2), 1)), "%afarr1_1");
  EXPECT_EQ(b.alloc_array(f32, 0).error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.alloc(Type::e2m1).error().kind, Kind::bad_declaration);
}

TEST(Alloc, KeepsNamesApartThatTwoFamiliesCouldGive) {
  auto b = builder();
  EXPECT_EQ(b.name(*b.alloc(u8)), "%au80");
  std::string last;
  for (int i = 0; i <= 80; ++i) last = b.name(*b.alloc(u32));
  EXPECT_EQ(last, "%au81");
}

TEST(Directives, OfFilesAndPragmas) {
  auto b = builder();
  ASSERT_TRUE(b.file(1, "a.cu"));
  EXPECT_TRUE(b.file(1, "a.cu")) << "the same again says nothing new";
  EXPECT_EQ(b.file(1, "b.cu").error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.file(2, "a\"b").error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.pragma("a\"b").error().kind, Kind::bad_declaration);
  ASSERT_TRUE(b.pragma("nounroll"));
  b.loc(1, 3, 0);
  const auto m = b.finish();
  ASSERT_TRUE(m);
  const std::string text = text::print(*m);
  EXPECT_NE(text.find(".file 1 \"a.cu\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\t.pragma \"nounroll\";\n\t.loc 1 3 0\n"), std::string::npos) << text;
}

// ---- splice: what text::parse made of a body becomes part of another ------------------------------------------------------

text::Parsed parsed(const std::string& declarations, const std::string& body) {
  return text::parse(".version 8.5\n.target sm_90a\n.address_size 64\n.entry t()\n{\n" + declarations + body + "\n}\n");
}

TEST(Splice, FindsRegistersAndMakesTheOthers) {
  auto b = builder();
  const auto r = b.reg(u32);
  ASSERT_TRUE(r);
  const auto visible = b.visible_registers();
  ASSERT_EQ(visible.size(), 1u);
  const auto text =
      parsed(".reg .b32 %r<1>;\n", ".reg .b32 t;\nL: add.u32 t, %r0, 0x10;\n{ .reg .b32 %r<2>; mov.b32 %r1, t; }\nbra L;");
  ASSERT_TRUE(text.findings.empty());
  ir::Function& f = const_cast<ir::Function&>(text.module.functions.front());
  f.body.erase(f.body.begin());
  for (const ir::Inst& item : f.body) {
    if (item.kind != ir::ItemKind::inst) continue;
    EXPECT_TRUE(b.accepts(text.module, f, item));
  }
  ASSERT_TRUE(b.inline_parsed(text.module, f, visible));
  EXPECT_EQ(written(b.module()),
            (write_test::Lines{"L:", "add.u32 t, %r0, 0x10;", "{", ".reg .b32 %r<2>;", "mov.b32 %r1, t;", "}", "bra L;"}));
  EXPECT_EQ(b.inline_parsed(text.module, f, visible).error().kind, Kind::duplicate_symbol) << "`t` is declared already";
  EXPECT_EQ(b.size(), 7u) << "and nothing was written";
  EXPECT_EQ(b.name(*b.reg(u32)), "%r1") << "the block's family is not the kernel's";
}

TEST(Splice, HoldsInstructionsToTheTargetAndTheirOperands) {
  write::Builder old({.name = "k", .target = Target::sm_80});
  const auto text = parsed(
      "", ".reg .b32 a; .reg .b64 w; .reg .pred p;\nsetmaxnreg.inc.sync.aligned.u32 232;\nadd.u32 a, w, a;\n@a bra X;\nX: ret;");
  std::vector<Kind> kinds;
  for (const ir::Inst& item : text.module.functions.front().body)
    if (item.kind == ir::ItemKind::inst)
      if (const auto ok = old.accepts(text.module, text.module.functions.front(), item); !ok) kinds.push_back(ok.error().kind);
  EXPECT_EQ(kinds, (std::vector{Kind::target_lacks, Kind::operand_mismatch, Kind::bad_guard}));
}

}  // namespace
}  // namespace ptx

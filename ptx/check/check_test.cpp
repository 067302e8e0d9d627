#include "ptx/check/check.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "ptx/check/declarations.hpp"
#include "ptx/check/names.hpp"
#include "ptx/flow/flow.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/script.hpp"

namespace ptx::check {
namespace {

using testing::Script;

TEST(Accept, TakesACleanModuleAndKeepsItsWarnings) {
  const auto accepted = accept(Script::module({"mov.u16 %rs0, 65536", "ret"}));
  ASSERT_TRUE(accepted) << render(accepted.error());
  ASSERT_EQ(accepted->warnings().size(), 1u);
  EXPECT_EQ(accepted->warnings()[0].kind, Kind::immediate_range);
  EXPECT_EQ(accepted->warnings()[0].severity, Severity::warning);
  EXPECT_EQ(accepted->module().functions.size(), 1u);
  const std::shared_ptr<const ir::Module> shared = accepted->share();
  EXPECT_EQ(shared.get(), &accepted->module());
}

TEST(Accept, HandsOnWhatItLearned) {
  const auto accepted = accept(text::parse(R"(.version 8.5
.target sm_90a
.address_size 64
.func f() { ret; }
.visible .entry k()
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
L:
  shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;
  shfl.sync.bfly.b32 %r3|%p1, %r0, 2, 31, -1;
  setp.lt.and.s32 %p2, %r2, %r3, %p1;
  @%p2 bra L;
  bar.sync 0;
  bar.sync 1, 32;
  exit;
}
)")
                                   .module);
  ASSERT_TRUE(accepted) << render(accepted.error());
  const ir::Module& module = accepted->module();
  int left_out = 0;
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    const ir::Function& function = module.functions[f];
    EXPECT_EQ(accepted->graph(f).size(), flow::Graph::of(function).size());
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const ir::Inst& inst = function.body[i];
      const auto found = accepted->row_operands(f, i);
      if (inst.kind != ir::ItemKind::inst) {
        EXPECT_TRUE(found.empty());
        continue;
      }
      std::deque<std::vector<isa::Arg>> parts;
      std::vector<isa::Arg> args;
      for (const ir::Operand& operand : function.operands_of(inst)) args.push_back(ir::arg_of(module, function, operand, parts));
      const isa::Form& form = isa::form(inst.form);
      const auto fit = isa::match(form, inst.choices, args);
      ASSERT_TRUE(fit) << fit.error().message;
      EXPECT_EQ(std::vector(found.begin(), found.end()),
                std::vector(fit->operand_of.begin(), fit->operand_of.begin() + inst.operand_count))
          << ir::spell(module, function, inst);
      left_out += inst.operand_count != form.operands.size();
    }
  }
  EXPECT_GT(left_out, 0) << "each instruction has every operand of its row";
  EXPECT_EQ(accepted->graph(1).successors(0).size(), 2u);
}

TEST(Accept, GivesTheFirstErrorAndTheOthersAsNotes) {
  std::vector<std::string> lines = {"mov.u16 %rs0, 65536", "add.f32 %f0, %f1, %rd0"};
  for (int i = 0; i < 10; ++i) lines.push_back(cat("bra L", i));
  const auto refused = accept(Script::module(lines, "k.py", 1));
  ASSERT_FALSE(refused);
  const Diagnostic& error = refused.error();
  EXPECT_EQ(error.kind, Kind::operand_mismatch) << "a warning before it must not come first";
  EXPECT_EQ(to_string(error.where), "k.py:2");
  std::size_t also = 0;
  for (const std::string& note : notes_of(error)) also += note.starts_with("also: ");
  EXPECT_EQ(also, 8u);
  EXPECT_EQ(error.notes.back().text, "and 2 more errors");
}

TEST(Check, ShowsTheInstructionThePlaceAndTheManual) {
  const ir::Module module = Script::module(
      {".version 8.6", "setp.eq.u32 %p0, 1, 1", "@!%p0 wgmma.wait_group.sync.aligned 1", ".target sm_90"}, "gemm.cpp", 87);
  const Diagnostics found = check(module);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(render(found[0]),
            cat("error: `wgmma.wait_group.sync.aligned` needs `sm_90a`; this kernel targets `sm_90`  [target_lacks]\n"
                "  --> gemm.cpp:89\n"
                "  = ptx: @!%p0 wgmma.wait_group.sync.aligned 1;\n"
                "  = manual: ",
                isa::manual(isa::form(module.functions[0].body[1].form)),
                "\n  = hint: set the kernel's target to `sm_90a`: only targets with a suffix have such features"));
}

TEST(Check, FindsTheSameInASecondInstructionOfTheSameKind) {
  // A signature is remembered only when it is clean: the second mistake is reported as the first was.
  const Diagnostics found =
      check(Script::module({"add.f32 %f0, %f1, %rd0", "add.f32 %f2, %f3, %rd1", "add.f32 %f2, %f3, %f1", "ret"}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[1].message.find("`%rd1`"), std::string::npos) << found[1].message;
}

TEST(Check, TellsRegistersOfDifferentTypesApart) {
  const Diagnostics findings = check(text::parse(R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .f32 x, .param .f64 y)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .f64 %fd<2>;
  ld.param.f32 %f0, [x];
  ld.param.f64 %fd0, [y];
  setp.lt.f32 %p0, %f0, %f0;
  add.rn.f32 %f1, %f0, %f0;
  add.rn.f32 %f1, %f0, %fd0;
  add.rn.f32 %f2, %f0, %f1;
  add.rz.f32 %f2, %fd0, %f1;
  @%p0 add.rn.f32 %f3, %f0, %f1;
  @%f0 add.rn.f32 %f3, %f0, %f1;
  ret;
}
)")
                                         .module);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].where.line, 13u);
  EXPECT_EQ(findings[1].where.line, 15u);
  EXPECT_EQ(findings[2].where.line, 17u);
  EXPECT_EQ(findings[2].kind, Kind::bad_guard);
}

TEST(Check, TellsIntegersOfDifferentWidthApart) {
  // 255 and 65535 are clean in .u16, 65536 is cut: one signature for all three would lose the warning.
  const Diagnostics found = check(Script::module({"mov.u16 %rs0, 255", "mov.u16 %rs0, 65535", "mov.u16 %rs0, 65536",
                                                  "mov.u16 %rs0, -32768", "mov.u16 %rs0, -32769", "mov.u16 %rs0, 0", "ret"},
                                                 "k", 1));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].where.line, 3u);
  EXPECT_EQ(found[1].where.line, 5u);
}

TEST(Check, ReportsARegisterThatAnInnerOneHides) {
  // Not to be had from text: inside the block, `%x` is the block's. An IR that means the outer one would print as something else.
  ir::Module module = Script::module({".reg .b32 %x", "{", ".reg .b32 %x", "mov.b32 %x, 1", "}", "ret"}, "k", 1);
  ir::Function& f = module.functions[0];
  ASSERT_EQ(f.regs.size(), 1u);
  f.regs[0].decl = ir::RegDeclId(0);
  const Diagnostics found = check(module);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::duplicate_symbol);
  EXPECT_EQ(found[0].where.line, 4u);
}

TEST(Check, ReportsALabelThatAnInnerOneHides) {
  ir::Module module = Script::module({"setp.eq.u32 %p0, 1, 1", "L:", "{", "M:", "@%p0 bra L", "}", "ret"}, "k", 1);
  ir::Function& f = module.functions[0];
  for (ir::Label& label : f.labels) label.name = module.intern("L");
  const Diagnostics found = check(module);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::duplicate_label);
  EXPECT_EQ(found[0].where.line, 5u);
}

TEST(Names, ResolveFromTheInnermostScopeOutwards) {
  ir::Module module;
  Names names(module);
  const ir::StringId x = module.intern("x");
  names.open();
  EXPECT_EQ(names.find(x), nullptr);
  EXPECT_FALSE(names.declare({.meaning = Meaning::variable, .name = x, .index = 1}));
  names.open();
  EXPECT_EQ(names.find(x)->index, 1u);
  EXPECT_EQ(names.find_innermost(x), nullptr);
  EXPECT_FALSE(names.declare({.meaning = Meaning::variable, .name = x, .index = 2})) << "an inner scope may hide";
  EXPECT_EQ(names.find(x)->index, 2u);
  EXPECT_TRUE(names.declare({.meaning = Meaning::reg, .name = x, .index = 3})) << "one scope has a name once";
  names.close();
  EXPECT_EQ(names.find(x)->index, 1u);
  names.close();
  EXPECT_EQ(names.find(x), nullptr);
}

TEST(Names, KnowTheMembersOfAFamily) {
  ir::Module module;
  Names names(module);
  const auto family = [&](std::string_view base, std::uint32_t count) {
    return Entity{.meaning = Meaning::reg, .family = true, .count = count, .name = module.intern(base)};
  };
  const auto single = [&](std::string_view name) { return Entity{.meaning = Meaning::reg, .name = module.intern(name)}; };
  names.open();
  EXPECT_FALSE(names.declare(family("%r", 20)));
  EXPECT_TRUE(names.declare(single("%r19")));
  EXPECT_FALSE(names.declare(single("%r20")));
  EXPECT_TRUE(names.declare(single("%r03"))) << "ptxas reads the digits as a number";
  EXPECT_FALSE(names.declare(single("%rx1")));
  EXPECT_TRUE(names.declare(family("%r", 2)));
  EXPECT_FALSE(names.declare(family("%r1", 5))) << "%r10 to %r14 are in both, and ptxas does not mind";
  EXPECT_FALSE(names.declare(family("%r3", 5))) << "%r30 is not in %r<20>";
  EXPECT_FALSE(names.declare(single("q7")));
  EXPECT_TRUE(names.declare(family("q", 8)));
}

TEST(Names, AreIdentifiers) {
  for (const std::string_view good : {"x", "X1", "_a", "$_else_3", "%r1", "a$b", "mov"}) EXPECT_TRUE(is_identifier(good)) << good;
  for (const std::string_view bad : {"", "_", "%", "$", "1x", "a-b", "a b", "a.b"}) EXPECT_FALSE(is_identifier(bad)) << bad;
}

TEST(SharedMemory, LimitsAreThoseOfPtxas) {
  EXPECT_EQ(static_shared_limit(sm_80), 0xc000u);
  EXPECT_EQ(static_shared_limit(sm_90), 0xc000u);
  EXPECT_EQ(static_shared_limit(sm_90a), 0x38c00u);
  EXPECT_EQ(static_shared_limit(sm_100f), 0xc000u);
  EXPECT_EQ(static_shared_limit(sm_103a), 0x38c00u);
  EXPECT_EQ(static_shared_limit(sm_120a), 0x18c00u);
}

}  // namespace
}  // namespace ptx::check

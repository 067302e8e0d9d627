#include "ptx/isa/describe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// The first form of this syntax.
const Form& form_of(std::string_view syntax) {
  for (const Form& form : forms())
    if (form.syntax() == syntax) return form;
  ADD_FAILURE() << "no form " << syntax;
  return forms().front();
}

const OperandSpec& operand_of(const Form& form, std::string_view name) {
  return *std::find_if(form.operands.begin(), form.operands.end(), [&](const OperandSpec& o) { return o.name == name; });
}

// A form of its own, from a row as it would stand in the table.
Form made(const Row& row) {
  const ParsedForm parsed = parse_form(row.form);
  Form form{.row = &row, .opcode = parsed.opcode};
  for (const Slot& slot : parsed.slots)
    form.slots.push_back({slot.name, slot.optional, slot.literal, {slot.choices.begin(), slot.choices.end()}});
  form.operands.assign(parsed.operands.begin(), parsed.operands.end());
  return form;
}

TEST(Describe, FamiliesAreTheManualsChapters) {
  EXPECT_EQ(family(form_of("fma.rnd.f64 d, a, b, c")), "Floating Point Instructions");
  std::set<std::string> families;
  for (const Form& form : forms()) families.insert(family(form));
  EXPECT_TRUE(families.contains("Data Movement and Conversion Instructions"));
  EXPECT_TRUE(families.contains("Tensor Core 5th Generation Instructions"));
  for (const std::string& title : families) EXPECT_TRUE(title.ends_with(" Instructions")) << title;
}

TEST(Describe, Availability) {
  EXPECT_EQ(available({2, 0}, node(sm_20)), "PTX 2.0, `sm_20` or newer");
  EXPECT_EQ(available({8, 6}, node(sm_100a) | node(sm_101a)), "PTX 8.6, `sm_100a` or `sm_101a`");
  EXPECT_EQ(available({0, 0}, node(sm_90a)), "`sm_90a`");
  EXPECT_EQ(available({7, 8}, 0), "PTX 7.8");
  static constexpr Row gone = row("x.y ;", since(1, 0), on(sm_20), also(6, 0, sm_30), removed(6, 4, sm_70), Effect::pure,
                                  not_executed("no"), doc("a", "b"));
  EXPECT_EQ(available(made(gone)), "PTX 1.0, `sm_20` or newer; PTX 6.0, `sm_30` or newer; removed from `sm_70` in PTX 6.4");
}

TEST(Describe, ChoicesSayOnceWhatSeveralOfThemNeed) {
  static constexpr Row r = row("x.t  d:=.t ; .t = { .b8, .b16, .b32 @8.3 @sm_70, .b64 @8.3 @sm_70, .u8 }", since(1, 0), on(sm_10),
                               Effect::pure, not_executed("no"), doc("a", "b"));
  EXPECT_EQ(list_words(made(r).slots[0]), "`.b8` `.b16`; `.b32` `.b64` (PTX 8.3, `sm_70` or newer); `.u8`");
}

TEST(Describe, Operands) {
  static constexpr Row r =
      row("x{.space}.vec.t{.l2}  d:=?.vec.t, p:!.pred, [a:.space], n:#.u32=0..15, m:#.u32=24..256/8, w:.t+, k:+.f32, e:.x4.b32"
          " {, y:.u64 @.l2} {, z:.b32} ; .space = { .global } .vec = { .v2, .v4 } .t = { .b32, .u32 } .l2 = { .L2::cache_hint }",
          since(1, 0), on(sm_10), Effect::pure, not_executed("no"), doc("a", "b"));
  const Form form = made(r);
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"d", "vector, as long as `.vec` says, as `.t` says each, written, or `_`"},
      {"p", "register or immediate, `.pred`, `!` negates"},
      {"a", "address in `.space`, generic without it"},
      {"n", "immediate, `.u32`, 0 to 15"},
      {"m", "immediate, `.u32`, 24 to 256 in steps of 8"},
      {"w", "register or immediate, as `.t` says, or wider"},
      {"k", "register, `.f32`, read and written"},
      {"e", "vector of 4, `.b32` each"},
      {"y", "register or immediate, `.u64`; with `.l2`"},
      {"z", "register or immediate, `.b32`; may be left out"},
  };
  for (const auto& [name, text] : expected) EXPECT_EQ(describe(form, operand_of(form, name)), text) << name;
}

TEST(Describe, Effects) {
  using Words = std::vector<std::string>;
  static constexpr Row pure = row("x.y ;", since(1, 0), on(sm_10), Effect::pure, not_executed("no"), doc("a", "b"));
  EXPECT_EQ(describe_effects(made(pure)), Words());
  static constexpr Row copy = row("x{.aligned}.scope  [a:.global], [b:.shared], [mbar:.shared] ; .scope = { .cta }", since(1, 0),
                                  on(sm_10), reads("a b"), writes("a"), async(Proxy::async, Event::mbarrier), signals("mbar"),
                                  syncs(Sync::access, Scope::gpu), converged(Converged::warp), not_executed("no"), doc("a", "b"));
  EXPECT_EQ(describe_effects(made(copy)),
            (Words{"reads memory at `a` and `b` through the async proxy", "writes memory at `a` through the async proxy",
                   "completes later, and tells the mbarrier `mbar`", "takes part in the order of memory in the GPU",
                   "all threads of the warp execute it together with `.aligned`"}));
  static constexpr Row wait = row("x.y ;", since(1, 0), on(sm_10), syncs(Sync::grid, Scope::gpu), waits(Event::grid),
                                  Effect::volatile_, not_executed("no"), doc("a", "b"));
  EXPECT_EQ(describe_effects(made(wait)),
            (Words{"may wait for the grid ahead", "orders grids in the GPU", "has an effect that no operand names"}));
  EXPECT_EQ(describe_effects(form_of("cp.async.bulk.commit_group")), (Words{"closes a group of bulk copies"}));
  EXPECT_EQ(describe_effects(form_of("exit")), (Words{"changes the flow of control"}));
}

TEST(Describe, CallsAreSpelledAsAuthorsWriteThem) {
  const Form& fma = form_of("fma.rnd{.ftz}{.sat}.f32 d, a, b, c");
  EXPECT_EQ(spell_call(fma), "inst.fma.rn.f32(d, a, b, c)");
  Choices choices{};
  choices[0] = 2;
  choices[1] = 1;
  EXPECT_EQ(spell_call(fma, choices), "inst.fma.rz.ftz.f32(d, a, b, c)");
}

// Whatever a row holds, it can be said, and what is said names no word of the notation.
TEST(Describe, EveryForm) {
  for (const Form& form : forms()) {
    EXPECT_FALSE(family(form).empty());
    EXPECT_TRUE(available(form).starts_with("PTX ")) << form.syntax();
    EXPECT_TRUE(spell_call(form).starts_with(cat("inst.", identifier(form.opcode)))) << form.syntax();
    for (const OperandSpec& o : form.operands) {
      const std::string text = describe(form, o);
      EXPECT_EQ(text.find("``"), std::string::npos) << form.syntax() << ": " << o.name << ": " << text;
      EXPECT_EQ(text.find(" ,"), std::string::npos) << form.syntax() << ": " << o.name << ": " << text;
    }
  }
}

}  // namespace
}  // namespace ptx::isa

#include "ptx/isa/row.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// ---- the notation, read while compiling -----------------------------------------------------------------------------

constexpr ParsedForm fma = parse_form(
    "fma.rnd{.ftz}{.sat}.f32  d:=.f32, a:.f32, b:.f32, c:.f32 ; .rnd = { .rn, .rz @8.6, .rm @sm_100a|sm_103a, .rp @7.8 @sm_90 }");
static_assert(fma.opcode == "fma" && fma.slots.size() == 4 && fma.operands.size() == 4);
static_assert(fma.slots[0].name == "rnd" && !fma.slots[0].optional && !fma.slots[0].literal && fma.slots[0].choices.size() == 4);
static_assert(fma.slots[0].choices[0].word == "rn" && fma.slots[0].choices[0].since == Version{0, 0} &&
              fma.slots[0].choices[0].on == 0);
static_assert(fma.slots[0].choices[1].since == Version{8, 6} && fma.slots[0].choices[1].on == 0);
static_assert(fma.slots[0].choices[2].on == (node(Target::sm_100a) | node(Target::sm_103a)));
static_assert(fma.slots[0].choices[3].since == Version{7, 8} && fma.slots[0].choices[3].on == node(Target::sm_90));
static_assert(fma.slots[1].optional && fma.slots[1].literal && fma.slots[1].choices[0].word == "ftz");
static_assert(!fma.slots[3].optional && fma.slots[3].literal);
static_assert(fma.operands[0].access == Access::write && fma.operands[0].role == Role::reg && fma.operands[0].type == "f32");
static_assert(fma.operands[1].access == Access::read && fma.operands[1].role == Role::value && fma.operands[1].name == "a");

constexpr ParsedForm roles = parse_form(
    "op.type  d:+.wgmma_d.dreg, a:%.b64, n:#.s32, p:!.pred, [addr:.space], [generic], t:label, s:symbol, r:special.u32, x:=_, "
    "w:=?.x4.type+ ;"
    " .type = { .f32 }");
static_assert(roles.operands[0].access == Access::read_write && roles.operands[0].count == "wgmma_d" &&
              roles.operands[0].type == "dreg");
static_assert(roles.operands[1].role == Role::reg && roles.operands[1].access == Access::read);
static_assert(roles.operands[2].role == Role::imm);
static_assert(roles.operands[3].negatable && roles.operands[3].role == Role::value);
static_assert(roles.operands[4].role == Role::address && roles.operands[4].space == "space" && roles.operands[4].name == "addr");
static_assert(roles.operands[5].role == Role::address && roles.operands[5].space.empty());
static_assert(roles.operands[6].role == Role::label && roles.operands[7].role == Role::symbol);
static_assert(roles.operands[8].role == Role::special && roles.operands[8].type == "u32");
static_assert(roles.operands[9].role == Role::sink && roles.operands[9].access == Access::write);
static_assert(roles.operands[10].sink && roles.operands[10].wider && roles.operands[10].count == "x4" &&
              roles.operands[10].type == "type");

constexpr ParsedForm groups = parse_form(
    "op{.mc}{.mode}.dim  d:=.b32{|p:=.pred}, [map:.tensor, c:.dim.s32] {, b:.u32} {, mask:.u16 @.mc} {, x:.u32, y:.u32 "
    "@.mode=one|two::three} ;"
    " .mc = { .mc } .mode = { .one, .two::three, .four } .dim = { .1d, .2d }");
static_assert(groups.operands[1].piped && groups.operands[1].optional && !groups.operands[1].conditional);
static_assert(groups.operands[2].role == Role::tensor && groups.operands[2].coords_count == "dim" &&
              groups.operands[2].coords_type == "s32");
static_assert(groups.operands[3].optional && !groups.operands[3].conditional);
static_assert(groups.operands[4].conditional && !groups.operands[4].optional && groups.operands[4].when_slot == "mc");
static_assert(groups.operands[5].when_slot == "mode" && groups.operands[5].when_choices == "one|two::three");
static_assert(groups.operands[6].when_slot == "mode" && groups.operands[6].conditional && !groups.operands[6].optional);
static_assert(groups.slots[1].choices[1].word == "two::three" && groups.slots[2].choices[0].word == "1d");

constexpr ParsedForm forced_pipe = parse_form("elect.sync  d:=?.b32|p:=.pred, m:.u32 ;");
static_assert(forced_pipe.operands[1].piped && !forced_pipe.operands[1].optional);

constexpr ParsedForm bare = parse_form("exit ;");
static_assert(bare.slots.size() == 0 && bare.operands.size() == 0);

// Slots of one name are defined in turn; a name that is defined nowhere is itself.
constexpr ParsedForm twice = parse_form("op.t.t  a:.u32 ; .t = { .u8 } .t = { .s8 }");
static_assert(twice.slots[0].choices[0].word == "u8" && twice.slots[1].choices[0].word == "s8");

// ---- what is malformed ----------------------------------------------------------------------------------------------

std::string refusal(std::string_view form) {
  try {
    static_cast<void>(parse_form(form));
  } catch (const char* why) {
    return why;
  }
  return "";
}

TEST(RowNotation, RefusesMalformedForms) {
  EXPECT_EQ(refusal("add.u32  d:=.u32 ;"), "");
  EXPECT_EQ(refusal("add.u32  d:=.u32"), "a form ends with ;");
  EXPECT_EQ(refusal(""), "expected a word in this row's form");
  EXPECT_EQ(refusal("add..u32  d:=.u32 ;"), "expected a word in this row's form");
  EXPECT_EQ(refusal("add{.sat.u32  d:=.u32 ;"), "missing } after an optional modifier");
  EXPECT_EQ(refusal("add.u32  d=.u32 ;"), "an operand needs ':' (read), ':=' (written) or ':+' (both)");
  EXPECT_EQ(refusal("add.u32  d:u32 ;"), "an operand's type starts with '.'");
  EXPECT_EQ(refusal("add.u32  d:=.u32 a:.u32 ;"), "missing , between operands");
  EXPECT_EQ(refusal("ld.u32  d:=.u32, [a:.global ;"), "missing ] after an address operand");
  EXPECT_EQ(refusal("ld.u32  d:=.u32, [a:global] ;"), "an address space starts with '.'");
  EXPECT_EQ(refusal("cp  [m:.tensor] ;"), "a tensor operand has coordinates: [map:.tensor, c:.dim.s32]");
  EXPECT_EQ(refusal("cp  [m:.tensor, c] ;"), "coordinates need a type");
  EXPECT_EQ(refusal("bar  a:.u32 {, b:.u32 ;"), "missing } after an optional operand");
  EXPECT_EQ(refusal("bar  a:.u32 { b:.u32} ;"), "an optional operand starts with ','");
  EXPECT_EQ(refusal("bar  {, b:.u32} ;"), "an optional group comes after an operand");
  EXPECT_EQ(refusal("bar  a:.u32 {, b:.u32 @c} ;"), "a condition names a slot: @.slot");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; rnd = { .rn }"), "expected '.slot = { … }' behind the ;");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd { .rn }"), "expected '=' after a slot's name");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = .rn"), "expected '{' after a slot's name");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { rn }"), "choices start with '.'");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { .rn "), "missing } after the choices of a slot");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rounding = { .rn }"), "a slot is defined that the form does not use");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { .rn } .rnd = { .rz }"), "a slot is defined that the form does not use");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { .rn @8 }"), "a version is major.minor");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { .rn @8.x }"), "expected a number");
  EXPECT_EQ(refusal("fma.rnd  d:=.f32 ; .rnd = { .rn @sm_42 }"), "unknown target behind @");
  std::string many = "op";
  for (std::size_t i = 0; i <= max_slots; ++i) many += cat(".m", i);
  EXPECT_EQ(refusal(many + " ;"), "too many entries in this row");
}

std::string invalid(Row row) {
  try {
    detail::validate(row, parse_form(row.form));
  } catch (const char* why) {
    return why;
  }
  return "";
}

TEST(RowNotation, RefusesRowsThatDoNotHoldTogether) {
  const Row good = {.form = "add.type  d:=.type, a:.wide ; .type = { .u32, .u64 }",
                    .on = node(Target::sm_80),
                    .exec = "add",
                    .anchor = "a",
                    .doc = "b"};
  EXPECT_EQ(invalid(good), "");
  Row row = good;
  row.form = "add.type  d:=.kind ; .type = { .u32 }";
  EXPECT_EQ(invalid(row), "an operand's type is neither a type nor a slot of types");
  row.form = "add.mode  d:=.mode ; .mode = { .lo }";
  EXPECT_EQ(invalid(row), "an operand's type is neither a type nor a slot of types");
  row.form = "add.u32  d:=.u32 {, m:.b16 @.mc} ;";
  EXPECT_EQ(invalid(row), "an operand's condition names no slot of the form");
  row = good;
  row.effects.reads = "a b";
  EXPECT_EQ(invalid(row), "reads(…), writes(…) and signals(…) name operands of the form");
  row = good;
  row.on = 0;
  EXPECT_EQ(invalid(row), "a row says on which targets it exists: on(…)");
  row = good;
  row.exec = {};
  EXPECT_EQ(invalid(row), "a row says exec(…) or not_executed(why)");
  row = good;
  row.anchor = {};
  EXPECT_EQ(invalid(row), "a row cites the manual: doc(anchor, sentence)");
}

TEST(RowNotation, ColumnsComeInAnyOrder) {
  static constexpr Row made = row("exit ;", doc("anchor", "a sentence."), rule("odd"), Effect::control, syncs(Sync::fence),
                                  exec("exit"), since(1, 2), on(Target::sm_80, Target::sm_90a));
  EXPECT_EQ(made.form, "exit ;");
  EXPECT_EQ(made.since, (Version{1, 2}));
  EXPECT_EQ(made.on, node(Target::sm_80) | node(Target::sm_90a));
  EXPECT_TRUE(made.effects.control && made.effects.sync == Sync::fence && !made.effects.is_async() && !made.effects.volatile_);
  EXPECT_EQ(made.exec, "exit");
  EXPECT_EQ(made.rule, "odd");
  EXPECT_EQ(made.doc, "a sentence.");
}

}  // namespace
}  // namespace ptx::isa

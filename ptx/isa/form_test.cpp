#include "ptx/isa/form.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// The form and choices that the words spell, the first whole one.
struct Spelled {
  const Form* form;
  Choices choices;
};
Spelled spelled(std::initializer_list<std::string_view> words) {
  const ModifierTree* dots = &ModifierTree::root();
  for (const std::string_view word : words) {
    dots = dots->follow(word);
    if (dots == nullptr) {
      ADD_FAILURE() << "no such instruction: " << word;
      return {&forms()[0], {}};
    }
  }
  EXPECT_FALSE(dots->complete().empty()) << dots->path();
  return {&form(dots->complete().front().form), dots->complete().front().choices};
}

const OperandSpec& operand(const Form& form, std::string_view name) {
  for (const OperandSpec& o : form.operands)
    if (o.name == name) return o;
  ADD_FAILURE() << form.syntax() << " has no operand " << name;
  return form.operands.front();
}

TEST(Identifier, OfEveryWordOfTheTableGoesToAndFro) {
  std::set<std::string_view> words;
  for (const Form& f : forms()) {
    words.insert(f.opcode);
    for (const FormSlot& slot : f.slots)
      for (const Choice& choice : slot.choices) words.insert(choice.word);
  }
  EXPECT_GT(words.size(), 200u);
  std::set<std::string> identifiers;
  for (const std::string_view word : words) {
    const std::string id = identifier(word);
    EXPECT_EQ(word_of(id), word);
    EXPECT_TRUE(identifiers.insert(id).second) << id << " stands for two words";
  }
}

TEST(Identifier, FollowsTheOneRuleOfBothLanguages) {
  EXPECT_EQ(identifier("shared::cta"), "shared__cta");
  EXPECT_EQ(identifier("mbarrier::complete_tx::bytes"), "mbarrier__complete_tx__bytes");
  EXPECT_EQ(identifier("2d"), "_2d");
  for (const std::string_view word : {"global", "and", "or", "not", "xor", "const", "volatile", "async"}) {
    EXPECT_EQ(identifier(word), cat(word, '_'));
    EXPECT_EQ(word_of(cat(word, '_')), word);
  }
  EXPECT_EQ(word_of("global"), "global");
  EXPECT_EQ(word_of("_128x256b"), "128x256b");
  EXPECT_EQ(word_of("_"), "_");
}

TEST(Form, SpellsItsChoices) {
  const auto [form, choices] = spelled({"ld", "global", "v4", "f32"});
  EXPECT_EQ(spell(*form, choices), "ld.global.v4.f32");
  EXPECT_EQ(form->chosen(choices, "ss"), "global");
  EXPECT_EQ(form->chosen(choices, "cop"), "");
  EXPECT_TRUE(form->has(choices, "vec"));
  EXPECT_FALSE(form->has(choices, "l2"));
  EXPECT_EQ(form->slot("no such slot"), -1);
  EXPECT_EQ(form->chosen(choices, "no such slot"), "");
  EXPECT_EQ(manual(*form), "#data-movement-and-conversion-instructions-ld");
}

TEST(Form, ShowsItsSyntax) {
  EXPECT_EQ(spelled({"fma", "rn", "f32"}).form->syntax(), "fma.rnd{.ftz}{.sat}.f32 d, a, b, c");
  EXPECT_EQ(spelled({"bar", "sync"}).form->syntax(), "bar{.cta}.sync a{, b}");
  EXPECT_EQ(spelled({"shfl", "sync", "up", "b32"}).form->syntax(), "shfl.sync.mode.b32 d{|p}, a, b, c, membermask");
  EXPECT_EQ(spelled({"elect", "sync"}).form->syntax(), "elect.sync d|p, membermask");
  EXPECT_EQ(spelled({"selp", "b32"}).form->syntax(), "selp.type d, a, b, {!}c");
  EXPECT_EQ(spelled({"exit"}).form->syntax(), "exit");
}

TEST(Form, OperandTypesAreLiteralOrChosenOrDerived) {
  const auto wide = spelled({"mul", "wide", "u16"});
  EXPECT_EQ(wide.form->type(operand(*wide.form, "a").type, wide.choices), Type::u16);
  EXPECT_EQ(wide.form->type(operand(*wide.form, "d").type, wide.choices), Type::u32);
  const auto mad = spelled({"mad", "wide", "s32"});
  EXPECT_EQ(mad.form->type(operand(*mad.form, "c").type, mad.choices), Type::s64);
  const auto fma = spelled({"fma", "rn", "f64"});
  EXPECT_EQ(fma.form->type(operand(*fma.form, "d").type, fma.choices), Type::f64);
  EXPECT_EQ(fma.form->type("", fma.choices), Type::none);
}

TEST(Form, VectorLengths) {
  const auto scalar = spelled({"ld", "shared", "f32"});
  EXPECT_EQ(scalar.form->count(operand(*scalar.form, "d").count, scalar.choices), 1);
  const auto v2 = spelled({"ld", "shared", "v2", "f32"});
  EXPECT_EQ(v2.form->count(operand(*v2.form, "d").count, v2.choices), 2);
  const auto v8 = spelled({"st", "global", "v8", "f32"});
  EXPECT_EQ(v8.form->count(operand(*v8.form, "b").count, v8.choices), 8);
  const auto tma = spelled({"cp", "async", "bulk", "tensor", "3d", "shared::cluster", "global", "mbarrier::complete_tx::bytes"});
  EXPECT_EQ(tma.form->count(operand(*tma.form, "tensorMap").coords_count, tma.choices), 3);
}

TEST(Form, FragmentsOfWgmma) {
  const auto f32_256 = spelled({"wgmma", "mma_async", "sync", "aligned", "m64n256k16", "f32", "bf16", "bf16"});
  const OperandSpec& d = operand(*f32_256.form, "d");
  EXPECT_EQ(f32_256.form->count(d.count, f32_256.choices), 128);
  EXPECT_EQ(f32_256.form->type(d.type, f32_256.choices), Type::f32);
  EXPECT_EQ(d.access, Access::read_write);
  const auto f16_256 = spelled({"wgmma", "mma_async", "sync", "aligned", "m64n256k16", "f16", "f16", "f16"});
  EXPECT_EQ(f16_256.form->count(operand(*f16_256.form, "d").count, f16_256.choices), 64);
  EXPECT_EQ(f16_256.form->type(operand(*f16_256.form, "d").type, f16_256.choices), Type::f16x2) << "pairs";
  const auto f32_8 = spelled({"wgmma", "mma_async", "sync", "aligned", "m64n8k16", "f32", "f16", "f16"});
  EXPECT_EQ(f32_8.form->count(operand(*f32_8.form, "d").count, f32_8.choices), 4);
}

TEST(Form, FragmentsOfTheOthers) {
  const auto none = [](std::string_view) { return std::string_view(); };
  EXPECT_EQ(fragment_count("no such word", none), 0);
  const auto tcgen05 = [](std::string_view shape, std::string_view num) {
    return fragment_count("tcgen05_n", [=](std::string_view slot) { return slot == "shape" ? shape : slot == "num" ? num : ""; });
  };
  EXPECT_EQ(tcgen05("32x32b", "x16"), 16);
  EXPECT_EQ(tcgen05("16x64b", "x128"), 128);
  EXPECT_EQ(tcgen05("16x128b", "x8"), 16);
  EXPECT_EQ(tcgen05("16x256b", "x4"), 16);
  const auto im2col =
      spelled({"cp", "async", "bulk", "tensor", "5d", "shared::cluster", "global", "im2col", "mbarrier::complete_tx::bytes"});
  EXPECT_EQ(im2col.form->count(operand(*im2col.form, "offsets").count, im2col.choices), 3);
  const auto pair = spelled({"tcgen05", "mma", "cta_group::2", "kind::f16"});
  EXPECT_EQ(pair.form->count(operand(*pair.form, "disable").count, pair.choices), 8);
  const auto one = spelled({"tcgen05", "mma", "cta_group::1", "kind::f16"});
  EXPECT_EQ(one.form->count(operand(*one.form, "disable").count, one.choices), 4);
}

TEST(Form, OperandsUnderACondition) {
  const auto plain = spelled({"ld", "global", "f32"});
  EXPECT_FALSE(plain.form->present(operand(*plain.form, "policy"), plain.choices));
  const auto hinted = spelled({"ld", "global", "L2::cache_hint", "f32"});
  EXPECT_TRUE(hinted.form->present(operand(*hinted.form, "policy"), hinted.choices));
  EXPECT_EQ(plain.form->space(operand(*plain.form, "a"), plain.choices), "global");
  const auto generic = spelled({"ld", "f32"});
  EXPECT_EQ(generic.form->space(operand(*generic.form, "a"), generic.choices), "");
}

TEST(Form, AvailabilityIsTheRowsAndThatOfItsChoices) {
  const auto plain = spelled({"ld", "shared", "f32"});
  EXPECT_EQ(version_needed(*plain.form, plain.choices), (Version{1, 0}));
  const auto cluster = spelled({"ld", "shared::cluster", "f32"});
  EXPECT_EQ(version_needed(*cluster.form, cluster.choices), (Version{7, 8}));
  const auto needed = targets_needed(*cluster.form, cluster.choices);
  ASSERT_EQ(needed.size(), 2u);
  EXPECT_EQ(needed[0].what, "");
  EXPECT_EQ(needed[1].what, "shared::cluster");
  EXPECT_EQ(needed[1].on, node(Target::sm_90));
  const auto i8 = spelled({"tcgen05", "mma", "cta_group::1", "kind::i8"});
  const auto i8_needs = targets_needed(*i8.form, i8.choices);
  const auto runs = [&](Target t) {
    return std::all_of(i8_needs.begin(), i8_needs.end(), [&](const Availability& a) { return allows(t, a.on); });
  };
  EXPECT_TRUE(runs(Target::sm_100a) && runs(Target::sm_110a));
  EXPECT_FALSE(runs(Target::sm_103a) || runs(Target::sm_100f) || runs(Target::sm_120a));
}

TEST(Form, SomeRowsComeEarlierOnOtherTargetsOrGo) {
  const auto fp8 = spelled({"cvt", "rn", "satfinite", "e4m3x2", "f32"});
  EXPECT_EQ(version_needed(*fp8.form, fp8.choices), (Version{7, 8}));
  EXPECT_EQ(version_needed(*fp8.form, fp8.choices, Target::sm_90a), (Version{7, 8}));
  EXPECT_EQ(version_needed(*fp8.form, fp8.choices, Target::sm_89), (Version{8, 1}));
  EXPECT_TRUE(allows(Target::sm_89, targets_needed(*fp8.form, fp8.choices)[0].on));
  EXPECT_FALSE(allows(Target::sm_86, targets_needed(*fp8.form, fp8.choices)[0].on));
  const auto shfl = spelled({"shfl", "up", "b32"});
  EXPECT_FALSE(removed(*shfl.form, Target::sm_75, {6, 3}));
  EXPECT_TRUE(removed(*shfl.form, Target::sm_75, {6, 4}));
  EXPECT_FALSE(removed(*shfl.form, Target::sm_60, {9, 0}));
}

TEST(Form, RangesHoldTheirIntegers) {
  const auto holds = [](std::string_view range, std::int64_t n) { return rules::in_range(n, range); };
  EXPECT_TRUE(holds("0..15", 0) && holds("0..15", 15) && !holds("0..15", 16) && !holds("0..15", -1));
  EXPECT_TRUE(holds("-1|1", -1) && holds("-1|1", 1) && !holds("-1|1", 0));
  EXPECT_TRUE(holds("24..256/8", 32) && !holds("24..256/8", 36) && !holds("24..256/8", 16));
  EXPECT_TRUE(holds("0../16", 1 << 20) && !holds("0../16", 8) && !holds("0../16", -16));
  EXPECT_TRUE(holds("32..512*2", 128) && !holds("32..512*2", 96) && !holds("32..512*2", 1024));
  EXPECT_EQ(detail::range_of("0|2:0..3", 0), "0|2");
  EXPECT_EQ(detail::range_of("0|2:0..3", 5), "0..3");
}

}  // namespace
}  // namespace ptx::isa

#include "ptx/isa/match.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

const ModifierTree& dots(std::string_view spelling) {
  const ModifierTree* at = &ModifierTree::root();
  while (!spelling.empty()) {
    const std::size_t dot = spelling.find('.');
    const ModifierTree* next = at->follow(spelling.substr(0, dot));
    if (next == nullptr) {
      ADD_FAILURE() << at->explain(spelling.substr(0, dot)).message;
      return *at;
    }
    at = next;
    spelling = dot == std::string_view::npos ? std::string_view() : spelling.substr(dot + 1);
  }
  return *at;
}

// ---- arguments ------------------------------------------------------------------------------------------------------

Arg reg(Type type) { return {.kind = ArgKind::reg, .type = type, .shown = "%r"}; }
Arg negated(Arg arg) { return arg.negated = true, arg; }
Arg piped(Arg arg) { return arg.piped = true, arg; }
Arg integer(std::int64_t value) { return {.kind = ArgKind::integer, .integer = value}; }
Arg number() { return {.kind = ArgKind::floating, .shown = "1.5"}; }
Arg symbol() { return {.kind = ArgKind::symbol, .shown = "smem"}; }
Arg sink() { return {.kind = ArgKind::sink}; }
Arg special(std::string_view name) {
  return {.kind = ArgKind::special, .type = specials()[*special_from_name(name)].type, .shown = name};
}

// Keeps what arguments point at.
class Match : public ::testing::Test {
 protected:
  Arg group(ArgKind kind, std::vector<Arg> parts) {
    kept_.push_back(std::move(parts));
    return {.kind = kind, .authored = kind == ArgKind::address, .elements = kept_.back()};
  }
  Arg vector(std::vector<Arg> parts) { return group(ArgKind::vector, std::move(parts)); }
  Arg vector(std::size_t count, Type type) { return vector(std::vector<Arg>(count, reg(type))); }
  Arg at(Arg base) { return group(ArgKind::address, {base}); }
  Arg at(Arg base, Arg offset) { return group(ArgKind::address, {base, offset}); }
  Arg tensor(Arg base, std::size_t coordinates) { return group(ArgKind::tensor, {base, vector(coordinates, Type::s32)}); }

  static Expected<isa::Match> fit(std::string_view spelling, std::vector<Arg> args) { return isa::match(dots(spelling), args); }

  static void fits(std::string_view spelling, std::vector<Arg> args) {
    const auto result = fit(spelling, std::move(args));
    EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  }
  // The kind, and words that the rendered diagnostic holds.
  static void refuses(std::string_view spelling, std::vector<Arg> args, Kind kind, std::string_view words = {}) {
    const auto result = fit(spelling, std::move(args));
    ASSERT_FALSE(result) << spelling;
    EXPECT_EQ(name(result.error().kind), name(kind));
    EXPECT_NE(render(result.error()).find(words), std::string::npos) << render(result.error());
  }

 private:
  std::deque<std::vector<Arg>> kept_;
};

TEST_F(Match, PicksTheFormAndSaysWhichOperandEachArgumentFilled) {
  const auto result = fit("fma.rn.f32", {reg(Type::f32), reg(Type::f32), number(), reg(Type::f32)});
  ASSERT_TRUE(result);
  EXPECT_EQ(spell(*result->form, result->choices), "fma.rn.f32");
  EXPECT_EQ(result->operand_of[0], 0);
  EXPECT_EQ(result->operand_of[3], 3);
  EXPECT_FALSE(result->truncated);
}

TEST_F(Match, RegistersByTypeAndWidth) {
  fits("add.u32", {reg(Type::u32), reg(Type::s32), reg(Type::b32)});
  refuses("add.u32", {reg(Type::u32), reg(Type::u32), reg(Type::f32)}, Kind::operand_mismatch, "a .f32 register `%r`");
  refuses("add.u32", {reg(Type::u32), reg(Type::u64), reg(Type::u32)}, Kind::operand_mismatch, "operand 2 `a` of `add.u32`");
  refuses("add.f32", {reg(Type::f32), reg(Type::pred), reg(Type::f32)}, Kind::operand_mismatch, "what fits is a .f32 register");
  fits("add.f32", {reg(Type::b32), reg(Type::f32), reg(Type::tf32)});
  fits("mov.b32", {reg(Type::f16x2), reg(Type::bf16x2)});
}

TEST_F(Match, SaysHowA64BitRegisterIsMadeToFit) {
  refuses("add.u32", {reg(Type::u32), reg(Type::u64), reg(Type::u32)}, Kind::operand_mismatch, "hint: `cvt.u32.u64` narrows");
  refuses("add.u64", {reg(Type::u64), reg(Type::u32), reg(Type::u64)}, Kind::operand_mismatch, "hint: `cvt.u64.u32` widens");
}

TEST_F(Match, WiderRegistersWhereTheRowAllowsThem) {
  fits("ld.global.u8", {reg(Type::u32), at(reg(Type::u64))});
  fits("ld.global.b8", {reg(Type::f32), at(reg(Type::u64))});
  fits("st.global.b16", {at(reg(Type::u64)), reg(Type::b64)});
  refuses("ld.global.u8", {reg(Type::f32), at(reg(Type::u64))}, Kind::operand_mismatch, "(or wider)");
  refuses("ld.global.u32", {reg(Type::u16), at(reg(Type::u64))}, Kind::operand_mismatch);
  refuses("add.u16", {reg(Type::u32), reg(Type::u16), reg(Type::u16)}, Kind::operand_mismatch);
}

TEST_F(Match, Immediates) {
  fits("add.u32", {reg(Type::u32), integer(1), integer(-1)});
  fits("add.f32", {reg(Type::f32), number(), reg(Type::f32)});
  fits("mov.b32", {reg(Type::b32), number()});
  refuses("add.u32", {reg(Type::u32), number(), reg(Type::u32)}, Kind::operand_mismatch, "the floating-point number `1.5`");
  refuses("add.f32", {reg(Type::f32), integer(1), reg(Type::f32)}, Kind::operand_mismatch, "the integer 1");
  refuses("add.u32", {integer(1), reg(Type::u32), reg(Type::u32)}, Kind::operand_mismatch, "operand 1 `d`");
  refuses("setmaxnreg.inc.sync.aligned.u32", {reg(Type::u32)}, Kind::operand_mismatch, "an integer immediate of .u32");
  fits("setmaxnreg.inc.sync.aligned.u32", {integer(64)});
}

TEST_F(Match, AnImmediateThatItsTypeCannotHoldIsReported) {
  const auto result = fit("add.u16", {reg(Type::u16), reg(Type::u16), integer(70000)});
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->truncated);
  EXPECT_EQ(result->truncated->kind, Kind::immediate_range);
  EXPECT_NE(result->truncated->message.find("70000"), std::string::npos);
  EXPECT_FALSE(fit("add.u16", {reg(Type::u16), reg(Type::u16), integer(-1)})->truncated) << "a bit pattern";
  EXPECT_FALSE(fit("add.u16", {reg(Type::u16), reg(Type::u16), integer(65535)})->truncated);
  EXPECT_FALSE(fit("add.u64", {reg(Type::u64), reg(Type::u64), integer(-1)})->truncated);
}

TEST_F(Match, Predicates) {
  fits("selp.b32", {reg(Type::b32), reg(Type::b32), reg(Type::b32), reg(Type::pred)});
  fits("selp.b32", {reg(Type::b32), reg(Type::b32), reg(Type::b32), negated(reg(Type::pred))});
  fits("mov.pred", {reg(Type::pred), integer(1)});
  fits("mov.pred", {reg(Type::pred), integer(2)});  // of a text; an author's is 0 or 1
  refuses("mov.pred", {reg(Type::pred), {.kind = ArgKind::integer, .authored = true, .integer = 2}}, Kind::operand_mismatch);
  refuses("mov.pred", {reg(Type::pred), reg(Type::b32)}, Kind::operand_mismatch, "a predicate register");
  refuses("add.u32", {reg(Type::u32), negated(reg(Type::u32)), reg(Type::u32)}, Kind::operand_mismatch);
  refuses("mov.pred", {negated(reg(Type::pred)), reg(Type::pred)}, Kind::operand_mismatch);
}

TEST_F(Match, SecondDestinationsBehindABar) {
  fits("setp.lt.f32", {reg(Type::pred), reg(Type::f32), reg(Type::f32)});
  fits("setp.lt.f32", {reg(Type::pred), piped(reg(Type::pred)), reg(Type::f32), reg(Type::f32)});
  fits("setp.lt.f32", {sink(), piped(reg(Type::pred)), reg(Type::f32), reg(Type::f32)});
  refuses("setp.lt.f32", {reg(Type::pred), reg(Type::pred), reg(Type::f32), reg(Type::f32)}, Kind::operand_mismatch);
  fits("elect.sync", {sink(), piped(reg(Type::pred)), integer(-1)});
  refuses("elect.sync", {reg(Type::b32), integer(-1)}, Kind::operand_count, "`elect.sync` takes 3 operands, 2 given");
}

TEST_F(Match, Sinks) {
  fits("mbarrier.arrive.expect_tx.shared.b64", {sink(), at(reg(Type::u32)), integer(64)});
  fits("mbarrier.arrive.expect_tx.shared::cluster.b64", {sink(), at(reg(Type::u32)), integer(64)});
  refuses("mbarrier.arrive.expect_tx.shared::cluster.b64", {reg(Type::b64), at(reg(Type::u32)), integer(64)},
          Kind::operand_mismatch, "what fits is the sink `_`");
  refuses("add.u32", {sink(), reg(Type::u32), reg(Type::u32)}, Kind::operand_mismatch, "the sink `_`");
  fits("mov.b64", {vector({sink(), reg(Type::b32)}), reg(Type::b64)});
}

TEST_F(Match, Vectors) {
  fits("ld.global.v4.f32", {vector(4, Type::f32), at(reg(Type::u64))});
  refuses("ld.global.v4.f32", {vector(3, Type::f32), at(reg(Type::u64))}, Kind::operand_mismatch, "a vector of 3 .f32 registers");
  refuses("ld.global.v4.f32", {reg(Type::f32), at(reg(Type::u64))}, Kind::operand_mismatch,
          "what fits is a vector of 4 .f32 registers");
  refuses("ld.global.f32", {vector(2, Type::f32), at(reg(Type::u64))}, Kind::operand_mismatch);
  fits("mov.b64", {reg(Type::b64), vector(2, Type::f32)});
  fits("mov.b64", {reg(Type::b64), vector(4, Type::b16)});
  refuses("mov.b64", {reg(Type::b64), vector(3, Type::b16)}, Kind::operand_mismatch);
  refuses("ld.global.v2.b8", {vector({reg(Type::b16), reg(Type::b32)}), at(reg(Type::u64))}, Kind::operand_mismatch);
}

TEST_F(Match, Addresses) {
  fits("ld.global.f32", {reg(Type::f32), at(reg(Type::u64), integer(16))});
  fits("ld.shared.f32", {reg(Type::f32), at(reg(Type::u32))});
  fits("ld.shared.f32", {reg(Type::f32), at(symbol())});
  fits("ld.param.u64", {reg(Type::u64), at(symbol())});
  refuses("ld.global.f32", {reg(Type::f32), at(reg(Type::u32))}, Kind::operand_mismatch,
          "what fits is an address in .global `[…]`");
  refuses("ld.f32", {reg(Type::f32), at(reg(Type::u32))}, Kind::operand_mismatch, "what fits is an address `[…]`");
  Arg narrow_in_text = at(reg(Type::u32));
  narrow_in_text.authored = false;
  fits("ld.global.f32", {reg(Type::f32), narrow_in_text});
  refuses("ld.global.f32", {reg(Type::f32), reg(Type::u64)}, Kind::operand_mismatch, "hint: wrap a register in an address");
  refuses("ld.shared.f32", {reg(Type::f32), at(reg(Type::f32))}, Kind::operand_mismatch);
  refuses("ld.global.f32", {reg(Type::f32), at(reg(Type::u64), reg(Type::u64))}, Kind::operand_mismatch);
}

TEST_F(Match, OptionalAndConditionalOperands) {
  fits("bar.sync", {integer(0)});
  fits("bar.sync", {integer(0), integer(64)});
  refuses("bar.sync", {integer(0), integer(64), integer(1)}, Kind::operand_count, "`bar.sync` takes 1 to 2 operands, 3 given");
  refuses("bar.sync", {}, Kind::operand_count);
  fits("ld.global.L2::cache_hint.f32", {reg(Type::f32), at(reg(Type::u64)), reg(Type::u64)});
  refuses("ld.global.L2::cache_hint.f32", {reg(Type::f32), at(reg(Type::u64))}, Kind::operand_count);
  refuses("ld.global.f32", {reg(Type::f32), at(reg(Type::u64)), reg(Type::u64)}, Kind::operand_count);
}

TEST_F(Match, OperandsThatAreLeftOutInTheMiddle) {
  const std::vector<Arg> least = {at(reg(Type::b32)), reg(Type::u64), reg(Type::u64), reg(Type::b32), reg(Type::pred)};
  fits("tcgen05.mma.cta_group::1.kind::f16", least);
  std::vector<Arg> masked = least;
  masked.insert(masked.end() - 1, vector(4, Type::b32));
  fits("tcgen05.mma.cta_group::1.kind::f16", masked);
  refuses("tcgen05.mma.cta_group::2.kind::f16", masked, Kind::operand_mismatch, "a vector of 8");
  std::vector<Arg> scaled = masked;
  scaled.push_back(integer(3));
  fits("tcgen05.mma.cta_group::1.kind::f16", scaled);
  refuses("tcgen05.mma.cta_group::1.kind::i8", scaled, Kind::operand_count);
  std::vector<Arg> from_tmem = least;
  from_tmem[1] = at(reg(Type::b32));
  fits("tcgen05.mma.cta_group::1.kind::f16", from_tmem);
  fits("tcgen05.mma.cta_group::1.kind::f16.ashift", from_tmem);
  refuses("tcgen05.mma.cta_group::1.kind::f16.ashift", least, Kind::operand_mismatch, "an address in .tmem");
}

TEST_F(Match, TensorMaps) {
  constexpr std::string_view load = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes";
  fits(load, {at(reg(Type::u32)), tensor(reg(Type::u64), 2), at(reg(Type::u32))});
  refuses(load, {at(reg(Type::u32)), tensor(reg(Type::u64), 3), at(reg(Type::u32))}, Kind::operand_mismatch,
          "what fits is a tensor map with 2 coordinates");
  refuses(load, {at(reg(Type::u32)), tensor(reg(Type::u32), 2), at(reg(Type::u32))}, Kind::operand_mismatch);
  refuses(load, {at(reg(Type::u32)), at(reg(Type::u64)), at(reg(Type::u32))}, Kind::operand_mismatch, "an address");
}

TEST_F(Match, SpecialRegistersAreReadByMovAndCvtAlone) {
  fits("mov.u32", {reg(Type::u32), special("%tid.x")});
  fits("mov.u64", {reg(Type::u64), special("%clock64")});
  fits("cvt.u64.u32", {reg(Type::u64), special("%tid.x")});
  fits("mov.pred", {reg(Type::pred), special("%is_explicit_cluster")});
  refuses("mov.u64", {reg(Type::u64), special("%tid.x")}, Kind::operand_mismatch, "`%tid.x`");
  refuses("add.u32", {reg(Type::u32), special("%tid.x"), reg(Type::u32)}, Kind::operand_mismatch,
          "hint: only `mov` and `cvt` read special registers");
}

TEST_F(Match, SymbolsAndLabels) {
  fits("mov.u32", {reg(Type::u32), symbol()});
  fits("bra", {symbol()});
  refuses("bra", {integer(4)}, Kind::operand_mismatch, "what fits is a label");
  refuses("add.u32", {reg(Type::u32), symbol(), reg(Type::u32)}, Kind::operand_mismatch, "`smem`");
}

TEST_F(Match, WgmmasAccumulator) {
  constexpr std::string_view mma = "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16";
  const std::vector<Arg> rest = {reg(Type::u64), reg(Type::u64), integer(1), integer(1), integer(-1), integer(0), integer(1)};
  std::vector<Arg> args = {vector(128, Type::f32)};
  args.insert(args.end(), rest.begin(), rest.end());
  fits(mma, args);
  args[0] = vector(64, Type::f32);
  refuses(mma, args, Kind::operand_mismatch, "a vector of 128 .f32 registers");
  args[0] = vector(128, Type::f32);
  args[1] = vector(4, Type::b32);
  refuses(mma, args, Kind::operand_mismatch, "what fits is a .u64 register");
  args.pop_back();
  fits(mma, args);
}

TEST_F(Match, WgmmasFactorInRegistersIsWhatItIs) {
  const auto product = [&](std::string_view type, Type factor) {
    const std::string spelling =
        cat("wgmma.mma_async.sync.aligned.m64n8", type == "tf32" ? "k8" : "k16", ".f32.", type, '.', type);
    std::vector<Arg> args = {vector(4, Type::f32), vector(4, factor), reg(Type::u64), reg(Type::pred), integer(1), integer(1)};
    if (type != "tf32") args.push_back(integer(0));
    return std::pair(spelling, args);
  };
  for (const auto& [type, factor] :
       {std::pair("f16", Type::f16x2), std::pair("bf16", Type::bf16x2), std::pair("tf32", Type::tf32),
        std::pair("f16", Type::b32), std::pair("bf16", Type::b32), std::pair("tf32", Type::b32)})
    std::apply(fits, product(type, factor));
  for (const char* type : {"bf16", "tf32"}) std::apply(fits, product(type, Type::f16x2));  // so ptxas calls it, whatever it is
  for (const auto& [type, factor, words] :
       {std::tuple("f16", Type::bf16x2, "a vector of 4 .f16x2"), std::tuple("bf16", Type::tf32, "a vector of 4 .bf16x2"),
        std::tuple("tf32", Type::bf16x2, ""), std::tuple("bf16", Type::u32, "a vector of 4 .bf16x2")}) {
    const auto [spelling, args] = product(type, factor);
    refuses(spelling, args, Kind::operand_mismatch, words);
  }
}

TEST_F(Match, AMissingModifierIsNamed) {
  refuses("fma.rn", {reg(Type::f32)}, Kind::missing_modifier, "`fma.rn` is incomplete: it needs");
}

TEST_F(Match, TheFormThatGotFurthestExplainsAndTheOthersAreNamed) {
  const auto result = fit("mov.b64", {reg(Type::b64), vector(3, Type::b32)});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("operand 2"), std::string::npos);
  EXPECT_NE(render(result.error()).find("or: mov.b64"), std::string::npos) << render(result.error());
}

TEST_F(Match, OneFormWithItsChoicesMade) {
  const ModifierTree::State state = dots("add.u32").complete().front();
  const std::vector<Arg> good = {reg(Type::u32), reg(Type::u32), integer(4)}, bad = {reg(Type::u32), reg(Type::f32), integer(4)};
  EXPECT_TRUE(isa::match(form(state.form), state.choices, good));
  EXPECT_FALSE(isa::match(form(state.form), state.choices, bad));
}

TEST(Describe, NamesArguments) {
  EXPECT_EQ(describe(reg(Type::u32)), "a .u32 register `%r`");
  EXPECT_EQ(describe(negated(reg(Type::pred))), "a negated .pred register `%r`");
  EXPECT_EQ(describe(integer(-5)), "the integer -5");
  EXPECT_EQ(describe(number()), "the floating-point number `1.5`");
  EXPECT_EQ(describe(symbol()), "the name `smem`");
  EXPECT_EQ(describe(sink()), "the sink `_`");
  EXPECT_EQ(describe(special("%laneid")), "the special register `%laneid`");
}

// ---- the type rules -------------------------------------------------------------------------------------------------

TEST(Types, FitEachOther) {
  const auto all = [] {
    std::vector<Type> types;
    for (std::size_t i = 1; i < std::size(detail::type_infos); ++i) types.push_back(static_cast<Type>(i));
    return types;
  }();
  for (const Type type : all) {
    EXPECT_TRUE(fits(type, type)) << name(type);
    EXPECT_TRUE(type == Type::pred || fits(register_type(type), type))
        << name(type) << " is declared " << name(register_type(type));
    for (const Type other : all) {
      EXPECT_TRUE(!fits(type, other) || fits_wider(type, other)) << name(type) << ' ' << name(other);
      EXPECT_TRUE(type == other || type == Type::pred || other != Type::pred || !fits(type, other));
    }
    EXPECT_EQ(type_from_name(name(type)), type);
    EXPECT_EQ(type_from_name(cat('.', name(type))), type);
  }
  EXPECT_TRUE(fits(Type::u32, Type::s32) && fits(Type::b32, Type::f32) && fits(Type::f64, Type::b64));
  EXPECT_FALSE(fits(Type::f32, Type::u32) || fits(Type::u32, Type::u64) || fits(Type::f16x2, Type::u32) ||
               fits(Type::bf16, Type::u16));
  EXPECT_TRUE(fits_wider(Type::b64, Type::f32) && fits_wider(Type::f32, Type::b8) && fits_wider(Type::s64, Type::u8));
  EXPECT_FALSE(fits_wider(Type::f64, Type::f32) || fits_wider(Type::f32, Type::u8) || fits_wider(Type::u8, Type::u16));
  EXPECT_EQ(widened(Type::s16), Type::s32);
  EXPECT_EQ(widened(Type::f32), Type::none);
}

// ---- ranges, parts, lists, textures ---------------------------------------------------------------------------------

TEST_F(Match, AnIntegerOutsideItsRangeIsRefusedWithWhatFits) {
  const auto refused = [&](std::string_view spelling, std::vector<Arg> args, std::string_view words) {
    refuses(spelling, std::move(args), Kind::immediate_range, words);
  };
  fits("setmaxnreg.inc.sync.aligned.u32", {integer(256)});
  refused("setmaxnreg.inc.sync.aligned.u32", {integer(25)},
          "`n` of `setmaxnreg.inc.sync.aligned.u32` is 25; what fits is 24 to 256 in steps of 8");
  fits("bar.sync", {integer(15), integer(64)});
  refused("bar.sync", {integer(16)}, "what fits is 0 to 15");
  refused("bar.sync", {integer(0), integer(48)}, "what fits is a multiple of 32");
  const Arg shared = at(reg(Type::u32)), global = at(reg(Type::u64));
  fits("cp.async.ca.shared.global", {shared, global, integer(8)});
  refused("cp.async.ca.shared.global", {shared, global, integer(12)}, "a power of two from 4 to 16");
  refused("cp.async.cg.shared.global", {shared, global, integer(8)}, "what fits is 16");
  fits("bar.sync", {reg(Type::u32)});
}

TEST_F(Match, ElementsOfAVectorHaveRangesOfTheirOwn) {
  const std::string_view spelling =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0";
  const auto with = [&](std::int64_t byte, std::int64_t thread) -> std::vector<Arg> {
    return {vector(4, Type::f32), vector(4, Type::b32),
            vector(2, Type::b32), vector(4, Type::f32),
            vector(1, Type::b32), vector({integer(byte), integer(thread)}),
            vector(1, Type::b32), vector({integer(0), integer(3)})};
  };
  fits(spelling, with(2, 1));
  refuses(spelling, with(1, 1), Kind::immediate_range, "is 1; what fits is 0 or 2");
  refuses(spelling, with(2, 2), Kind::immediate_range, "is 2; what fits is 0 to 1");
}

TEST_F(Match, PartsOfRegistersInVideoInstructions) {
  const auto part = [&](std::string_view which) {
    Arg arg = group(ArgKind::part, {reg(Type::u32)});
    arg.shown = which;
    return arg;
  };
  const Arg r = reg(Type::u32);
  fits("vadd.u32.u32.u32", {part(".b3"), part(".h1"), r, r});
  refuses("vadd.u32.u32.u32", {part(".b3"), r, r}, Kind::operand_count, "the operand `c` that the result is put into is missing");
  refuses("vadd.u32.u32.u32", {r, part(".b4"), r}, Kind::operand_mismatch, "the part `.b4`");
  refuses("vadd.u32.u32.u32.add", {part(".b0"), r, r, r}, Kind::operand_mismatch);
  fits("vadd2.u32.u32.u32", {part(".h10"), part(".h32"), part(".h00"), r});
  refuses("vadd2.u32.u32.u32", {part(".h01"), r, r, r}, Kind::operand_mismatch);
  fits("vadd4.u32.u32.u32", {part(".b310"), part(".b7654"), r, r});
  refuses("vadd4.u32.u32.u32", {r, part(".b0"), r, r}, Kind::operand_mismatch, "or a part of it");
  refuses("add.u32", {r, part(".b0"), r}, Kind::operand_mismatch);
}

TEST_F(Match, ElementsOfVectorRegisters) {
  const Arg r = reg(Type::u32);
  const auto element = [&](const Arg& base, std::string_view which) {
    Arg arg = group(ArgKind::part, {base});
    arg.shown = which;
    return arg;
  };
  const Arg v = group(ArgKind::vector, {r, r});
  fits("mov.b32", {r, element(v, ".x")});
  fits("add.u32", {element(v, ".y"), element(v, ".x"), r});
  refuses("mov.b32", {r, element(r, ".x")}, Kind::operand_mismatch, "the part `.x` of a .u32 register");
  refuses("mov.b32", {r, element(v, ".b0")}, Kind::operand_mismatch);
  refuses("mov.b64", {r, element(v, ".x")}, Kind::operand_mismatch);
  refuses("vadd.u32.u32.u32", {r, element(v, ".x"), r}, Kind::operand_mismatch);
}

TEST_F(Match, AVectorHasOneSort) {
  const Arg integer = reg(Type::u32), floating = reg(Type::f32), bits = reg(Type::b32), pair = reg(Type::f16x2);
  const auto packed = [&](const Arg& a, const Arg& b) { return group(ArgKind::vector, {a, b}); };
  fits("mov.b64", {reg(Type::b64), packed(bits, floating)});
  fits("mov.b64", {reg(Type::b64), packed(reg(Type::s32), integer)});
  refuses("mov.b64", {reg(Type::b64), packed(integer, floating)}, Kind::operand_mismatch);
  refuses("mov.b64", {reg(Type::b64), packed(pair, floating)}, Kind::operand_mismatch);
  refuses("mov.b64", {packed(pair, integer), reg(Type::b64)}, Kind::operand_mismatch);
}

TEST_F(Match, CallsTakeListsAndTables) {
  const Arg list = group(ArgKind::list, {symbol(), symbol()});
  fits("call", {list, symbol(), list});
  fits("call.uni", {symbol()});
  fits("call", {symbol(), list});
  fits("call", {list, reg(Type::u64), list, symbol()});
  fits("call", {reg(Type::b64), symbol()});
  refuses("call", {reg(Type::u64)}, Kind::operand_mismatch);
  refuses("call", {list, reg(Type::f32), list, symbol()}, Kind::operand_mismatch, "what fits is a .b64 register");
  refuses("add.u32", {reg(Type::u32), list, reg(Type::u32)}, Kind::operand_mismatch, "a parenthesised list of 2");
  fits("brx.idx", {reg(Type::u32), symbol()});
}

TEST_F(Match, TexturesTakeASamplerAndScalarCoordinates) {
  const Arg handle = reg(Type::u64), x = reg(Type::f32);
  const Arg d = vector(4, Type::f32);
  fits("tex.2d.v4.f32.f32", {d, group(ArgKind::tensor, {symbol(), vector(2, Type::f32)})});
  fits("tex.2d.v4.f32.f32", {d, group(ArgKind::tensor, {handle, symbol(), vector(2, Type::f32)})});
  fits("tex.1d.v4.f32.f32", {d, group(ArgKind::tensor, {symbol(), x})});
  refuses("tex.1d.v4.f32.f32", {d, group(ArgKind::tensor, {symbol(), symbol(), x})}, Kind::operand_mismatch);
  refuses("tex.2d.v4.f32.f32", {d, group(ArgKind::tensor, {symbol(), vector(1, Type::f32)})}, Kind::operand_mismatch,
          "a texture with 2 coordinates `[texture{, sampler}, {…}]`");
  refuses("suld.b.1d.b32.trap", {reg(Type::b32), group(ArgKind::tensor, {symbol(), symbol(), vector(1, Type::s32)})},
          Kind::operand_mismatch, "a surface with 1 coordinates");
}

TEST_F(Match, ASymbolMustLieInTheSpaceWhenItIsKnown) {
  Arg shared = symbol(), global = symbol();
  shared.space = "shared", global.space = "global";
  fits("cvta.shared::cta.u64", {reg(Type::u64), shared});
  fits("cvta.shared.u64", {reg(Type::u64), symbol()});
  refuses("cvta.shared.u64", {reg(Type::u64), global}, Kind::operand_mismatch, "the name of a variable in .shared");
  fits("mov.u64", {reg(Type::u64), global});
}

TEST_F(Match, RegistersOfDifferentTypesInAVectorAreUntypedBits) {
  const Arg d = vector(4, Type::f32), c = vector(4, Type::f32), b = vector(2, Type::b32);
  const std::string_view mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  fits(mma, {d, vector({reg(Type::u32), reg(Type::b32), reg(Type::b32), reg(Type::s32)}), b, c});
  refuses(mma, {d, vector(4, Type::u32), b, c}, Kind::operand_mismatch);
  refuses(mma, {d, vector({reg(Type::u32), reg(Type::f32), reg(Type::b32), reg(Type::b32)}), b, c}, Kind::operand_mismatch);
}

// ---- messages -------------------------------------------------------------------------------------------------------

// Every operand of every form, given each of many things: what was given is never called what would fit.
TEST_F(Match, MessagesDoNotContradictThemselves) {
  const auto fitting = [&](const Form& f, const Choices& c, const OperandSpec& o) -> Arg {
    const Type type = f.type(o.type, c);
    const auto n = static_cast<std::size_t>(std::max(1, f.count(o.count, c)));
    Arg arg = o.role == Role::address  ? at(reg(Type::b64))
              : o.role == Role::tensor ? tensor(reg(Type::b64), static_cast<std::size_t>(std::max(1, f.count(o.coords_count, c))))
              : o.role == Role::imm    ? integer(1)
              : o.role == Role::label || o.role == Role::symbol ? symbol()
              : !o.count.empty()                                ? vector(n, type)
                                                                : reg(type);
    arg.piped = o.piped;
    return arg;
  };
  std::size_t refused = 0, turn = 0;
  for (const Form& f : forms()) {
    Choices c{};
    for (std::size_t k = 0; k < f.slots.size(); ++k) c[k] = f.slots[k].optional ? 0 : 1;
    std::vector<Arg> args;
    for (const OperandSpec& o : f.operands)
      if (f.present(o, c) && !o.optional) args.push_back(fitting(f, c, o));
    std::size_t i = 0;
    for (const OperandSpec& o : f.operands) {
      if (!f.present(o, c) || o.optional) continue;
      const Arg good = args[i];
      std::vector<Arg> wrong = {integer(1),   number(),           symbol(),    sink(),       at(reg(Type::b64)),
                                at(symbol()), at(reg(Type::b16)), piped(good), negated(good)};
      for (const Type type : {Type::b8, Type::b16, Type::b32, Type::b64, Type::f32, Type::f64, Type::pred, f.type(o.type, c)}) {
        wrong.push_back(reg(type));
        for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{4}, good.elements.size()}) {
          wrong.push_back(vector(n, type));
          std::vector<Arg> mixed(n, reg(f.type(o.type, c)));
          if (n > 1) mixed.back() = reg(type);
          wrong.push_back(vector(mixed));
          if (n != 0) wrong.push_back(group(ArgKind::tensor, {reg(Type::b64), vector(mixed)}));
        }
      }
      for (Arg& arg : wrong) {
        if (++turn % 4 != 0) continue;  // each kind of thing meets hundreds of operands; there are 105 or 113 of them
        if (arg.kind == ArgKind::reg) arg.shown = {};
        args[i] = arg;
        const auto result = isa::match(f, c, args);
        if (result || result.error().kind != Kind::operand_mismatch) continue;
        ++refused;
        const std::string& message = result.error().message;
        const std::size_t is = message.find("` is "), fits = message.find("; what fits is ");
        ASSERT_NE(fits, std::string::npos) << message;
        const std::string given = message.substr(is + 5, fits - is - 5), wanted = message.substr(fits + 15);
        EXPECT_FALSE(wanted.starts_with(given)) << message;
      }
      args[i++] = good;
    }
  }
  EXPECT_GT(refused, 12500u);
}

}  // namespace
}  // namespace ptx::isa

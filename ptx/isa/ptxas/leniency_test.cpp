#include "ptx/isa/ptxas/leniency.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

Arg plain(Type type) { return {.kind = ArgKind::reg, .type = type}; }
Arg address(const Arg& base) { return {.kind = ArgKind::address, .elements = {&base, 1}}; }
Arg vector(std::span<const Arg> elements) { return {.kind = ArgKind::vector, .elements = elements}; }

// The first form of the spelling, in the table's order of modifiers, and what ptxas overlooks of these operands.
std::string_view seen(std::initializer_list<std::string_view> words, std::span<const Arg> args, Target target) {
  const ModifierTree* dots = &ModifierTree::root();
  for (const std::string_view word : words) dots = dots->follow(word);
  EXPECT_FALSE(match(*dots, args)) << "the manual has it";
  for (const ModifierTree::State& state : dots->complete())
    if (const std::string_view what = leniency(form(state.form), state.choices, args, target); !what.empty()) return what;
  return {};
}

TEST(Overlooked, AVectorForBf16) {
  const std::vector<Arg> pair = {plain(Type::b16), plain(Type::b16)}, floats = {plain(Type::f32), plain(Type::f32)};
  const auto add = [&](std::span<const Arg> b) {
    const std::vector<Arg> args = {plain(Type::b16), plain(Type::b16), vector(b)};
    return seen({"add", "rn", "bf16"}, args, sm_90);
  };
  EXPECT_NE(add(pair), "");
  EXPECT_EQ(add(floats), "");
}

TEST(Overlooked, StAsyncWithoutItsMbarrier) {
  const Arg base = plain(Type::b64);
  const std::vector<Arg> without = {address(base), plain(Type::b32)}, more = {address(base), plain(Type::b32), plain(Type::b32)};
  EXPECT_EQ(seen({"st", "async", "mbarrier::complete_tx::bytes", "b32"}, without, sm_90), "it without its mbarrier");
  EXPECT_EQ(seen({"st", "async", "mbarrier::complete_tx::bytes", "b32"}, more, sm_90), "");
}

TEST(Overlooked, AnAuthorIsHeldToTheManual) {
  const Arg base = plain(Type::b64);
  std::vector<Arg> args = {address(base), plain(Type::b32)};
  args[1].authored = true;
  EXPECT_EQ(seen({"st", "async", "mbarrier::complete_tx::bytes", "b32"}, args, sm_90), "");
}

TEST(Overlooked, PredicatesWhereTheTargetHasTheMma) {
  const std::vector<Arg> d(4, plain(Type::f32)), a = {plain(Type::pred), plain(Type::b32)}, b(2, plain(Type::b32));
  const Arg zero = {.kind = ArgKind::integer, .integer = 0};
  const std::vector<Arg> args = {vector(d), vector(a), vector(b), vector(d), plain(Type::b32), zero};
  const auto mma = [&](Target target) {
    return seen({"mma", "sp", "sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32"}, args, target);
  };
  EXPECT_NE(mma(sm_90), "");
  EXPECT_EQ(mma(sm_120), "") << "ptxas makes it of another one there";
}

TEST(Overlooked, ModifiersThatSayNothing) {
  const auto passed_over = [](std::string_view spelling, std::string_view word) {
    std::vector<std::string_view> words;
    for (std::string_view rest = spelling;;) {
      words.push_back(rest.substr(0, rest.find('.')));
      if (rest.find('.') == std::string_view::npos) break;
      rest.remove_prefix(rest.find('.') + 1);
    }
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] == word) return is_overlooked(spelling, words, i);
    return false;
  };
  EXPECT_TRUE(passed_over("rcp.rm.ftz.f64", "ftz"));
  EXPECT_FALSE(passed_over("rcp.approx.ftz.ftz.f64", "ftz")) << "ptxas: duplicate";
  EXPECT_TRUE(passed_over("tcgen05.mma.cta_group::1.kind::f16.b8x16", "b8x16"));
  EXPECT_FALSE(passed_over("tcgen05.cp.cta_group::1.128x256b.b8x16", "b8x16")) << "half of a conversion";
  EXPECT_TRUE(passed_over("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16.u4", "u4"));
  EXPECT_FALSE(passed_over("mma.sync.aligned.u4.m8n8k4.row.col.f16.f16.f16.f16", "u4")) << "ptxas: not here";
  EXPECT_FALSE(passed_over("fence.sync_restrict::shared::cta.proxy.alias", "sync_restrict::shared::cta"));
  EXPECT_TRUE(passed_over("add.f32.acc::f16", "acc::f16"));
  EXPECT_FALSE(passed_over("multimem.ld_reduce.acc::f16.v2.bf16", "acc::f16")) << "a word of its own";
  EXPECT_TRUE(passed_over("shl.b2.b32", "b2"));
  EXPECT_FALSE(passed_over("add.b2.u32", "b2")) << "ptxas reads a type there";
  EXPECT_TRUE(passed_over("add.pred.u32", "pred"));
  EXPECT_FALSE(passed_over("shl.pred.b32", "pred"));
  EXPECT_EQ(stands_for("mapa.s32", "s32"), "u32");
  EXPECT_EQ(stands_for("mapa.b32", "b32"), "");
  EXPECT_EQ(stands_for("st.async.shared::cta.b32", "shared::cta"), "shared::cluster");
  EXPECT_EQ(stands_for("st.shared::cta.b32", "shared::cta"), "");
  EXPECT_EQ(may_be_missing("wgmma.fence.sync"), "aligned");
  EXPECT_EQ(may_be_missing("st.async.mmio.sys.b32"), "");
  EXPECT_EQ(may_be_missing("shfl.idx.b32"), "");
}

TEST(Overlooked, WhatRealProgramsHaveAndTheManualDoesNot) {
  EXPECT_TRUE(is_undescribed("multimem.red.relaxed.gpu.global.min.v4.f16x2", sm_90));
  EXPECT_TRUE(is_undescribed("multimem.red.max.v2.bf16", sm_100));
  EXPECT_FALSE(is_undescribed("multimem.red.max.v2.bf16", sm_80)) << "no multimem there";
  EXPECT_FALSE(is_undescribed("multimem.red.max.v2.f32", sm_90)) << "ptxas: .add alone";
  EXPECT_FALSE(is_undescribed("multimem.red.max.f16x2", sm_90)) << "vectors alone";
  EXPECT_FALSE(is_undescribed("multimem.red.max.v2.v2.f16", sm_90));
  EXPECT_FALSE(is_undescribed("multimem.reduce.max.v2.f16", sm_90));
}

}  // namespace
}  // namespace ptx::isa

#include "ptx/isa/legal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// Where each of these words is chosen at a slot, in their order, and nothing else is.
struct Written {
  const Form* form = nullptr;
  Choices choices{};
};
Written written(std::string_view text) {
  for (const Form& form : forms()) {
    Choices choices{};
    std::string_view rest = text;
    if (!rest.starts_with(form.opcode)) continue;
    rest.remove_prefix(form.opcode.size());
    for (std::size_t s = 0; s < form.slots.size(); ++s)
      for (std::size_t c = 0; c < form.slots[s].choices.size(); ++c) {
        const std::string word = cat('.', form.slots[s].choices[c].word);
        if (choices[s] != 0 || !rest.starts_with(word) || (rest.size() > word.size() && rest[word.size()] != '.')) continue;
        choices[s] = static_cast<std::uint8_t>(c + 1);
        rest.remove_prefix(word.size());
      }
    bool all = rest.empty();
    for (std::size_t s = 0; s < form.slots.size(); ++s) all = all && (form.slots[s].optional || choices[s] != 0);
    if (all) return {&form, choices};
  }
  ADD_FAILURE() << text;
  return {&forms()[0], {}};
}

std::vector<std::string> messages(const std::vector<Diagnostic>& all) {
  std::vector<std::string> out;
  for (const Diagnostic& d : all) out.push_back(d.message);
  return out;
}
using Messages = std::vector<std::string>;

TEST(Legal, SaysWhatThePlatformLacks) {
  const auto [form, choices] = written("wgmma.fence.sync.aligned");
  EXPECT_EQ(messages(lacks(*form, choices, {sm_90a, {8, 0}})), Messages());
  EXPECT_EQ(messages(lacks(*form, choices, {sm_100a, {8, 6}})),
            Messages({"`wgmma.fence.sync.aligned` needs `sm_90a`; this kernel targets `sm_100a`"}));
  EXPECT_EQ(messages(lacks(*form, choices, {sm_90a, {7, 8}})),
            Messages({"`wgmma.fence.sync.aligned` needs PTX 8.0; this module says `.version 7.8`"}));
  const auto [fence, cluster] = written("fence.acq_rel.cluster");
  EXPECT_EQ(messages(lacks(*fence, cluster, {sm_80, {7, 0}})),
            Messages({"`.cluster` of `fence` needs `sm_90` or newer; this kernel targets `sm_80`",
                      "`.cluster` of `fence` needs PTX 7.8; this module says `.version 7.0`"}));
}

TEST(Legal, LooksForSpecialRegistersAmongTheOperands) {
  const Arg rank{.kind = ArgKind::special, .type = Type::u32, .shown = "%cluster_ctarank"};
  const Arg plain{.kind = ArgKind::reg, .type = Type::u32};
  const std::array inner{plain, rank};
  const std::array args{plain, Arg{.kind = ArgKind::vector, .elements = inner}};
  EXPECT_EQ(messages(lacks(args, {sm_80, {8, 0}})),
            Messages({"`%cluster_ctarank` needs `sm_90` or newer; this kernel targets `sm_80`"}));
  EXPECT_EQ(messages(lacks(args, {sm_90, {8, 0}})), Messages());
}

TEST(Legal, JudgesAllOfAnInstruction) {
  const auto [form, choices] = written("setmaxnreg.inc.sync.aligned.u32");
  const std::array fits{Arg{.kind = ArgKind::integer, .integer = 232}};
  EXPECT_EQ(legal(*form, choices, fits, {sm_90a, {8, 0}}).error(), nullptr);
  const Judgement elsewhere = legal(*form, choices, fits, {sm_80, {8, 0}});
  ASSERT_NE(elsewhere.error(), nullptr);
  EXPECT_EQ(elsewhere.error()->kind, Kind::target_lacks);
  const std::array odd{Arg{.kind = ArgKind::integer, .integer = 233}};
  const Judgement mismatch = legal(*form, choices, odd, {sm_80, {8, 0}});
  EXPECT_FALSE(mismatch.match.has_value());
  EXPECT_EQ(mismatch.lacking.size(), 1u) << "said beside what is wrong with the operands";
  EXPECT_EQ(mismatch.error(), &mismatch.match.error());
}

TEST(Legal, AppliesTheRuleOfTheRow) {
  const auto [form, choices] = written("createpolicy.fractional.L2::evict_last.b64");
  const Arg policy{.kind = ArgKind::reg, .type = Type::b64};
  const auto fraction = [&](float value) {
    const std::array args{policy,
                          Arg{.kind = ArgKind::floating, .type = Type::f32, .integer = std::bit_cast<std::int32_t>(value)}};
    return legal(*form, choices, args, {sm_80, {8, 0}});
  };
  EXPECT_EQ(fraction(0.5f).error(), nullptr);
  const Judgement none = fraction(0.0f);
  ASSERT_NE(none.error(), nullptr);
  EXPECT_EQ(none.error()->kind, Kind::immediate_range);
}

TEST(Legal, ARulesWarningIsNoError) {
  const auto [form, choices] = written("mbarrier.init.shared.b64");
  const Arg base{.kind = ArgKind::reg, .type = Type::b32};
  const std::array args{Arg{.kind = ArgKind::address, .elements = std::span(&base, 1)},
                        Arg{.kind = ArgKind::integer, .integer = 0}};
  const Judgement judged = legal(*form, choices, args, {sm_90a, {8, 0}});
  ASSERT_TRUE(judged.broken);
  EXPECT_EQ(judged.broken->severity, Severity::warning);
  EXPECT_EQ(judged.error(), nullptr);
}

}  // namespace
}  // namespace ptx::isa

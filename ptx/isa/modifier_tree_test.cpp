#include "ptx/isa/modifier_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

const ModifierTree* follow(std::initializer_list<std::string_view> words) {
  const ModifierTree* dots = &ModifierTree::root();
  for (const std::string_view word : words)
    if (dots != nullptr) dots = dots->follow(word);
  return dots;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string text(const Diagnostic& diagnostic) { return render(diagnostic); }

TEST(ModifierTree, FollowWords) {
  const ModifierTree* dots = follow({"fma", "rn", "ftz", "f32"});
  ASSERT_NE(dots, nullptr);
  EXPECT_EQ(dots->path(), "fma.rn.ftz.f32");
  ASSERT_EQ(dots->complete().size(), 1u);
  EXPECT_EQ(spell(form(dots->complete()[0].form), dots->complete()[0].choices), "fma.rn.ftz.f32");
  EXPECT_EQ(follow({"fma", "rn", "ftz", "f32"}), dots) << "nodes are made once";
  EXPECT_EQ(ModifierTree::root().path(), "");
}

TEST(ModifierTree, StopAtWordsThatCannotStandThere) {
  EXPECT_EQ(follow({"fmaa"}), nullptr);
  EXPECT_EQ(follow({"fma", "f32"}), nullptr) << "the rounding mode is required";
  EXPECT_EQ(follow({"fma", "ftz"}), nullptr);
  EXPECT_EQ(follow({"fma", "rn", "f32", "ftz"}), nullptr) << "modifiers have an order";
  EXPECT_EQ(follow({"fma", "rn", "rn"}), nullptr);
  EXPECT_EQ(follow({"exit", "now"}), nullptr);
}

TEST(ModifierTree, AreWholeOnlyWithEveryRequiredModifier) {
  EXPECT_TRUE(follow({"fma", "rn"})->complete().empty());
  EXPECT_FALSE(follow({"ret"})->complete().empty());
  EXPECT_FALSE(follow({"ret", "uni"})->complete().empty());
  EXPECT_TRUE(follow({"ld", "global", "v4"})->complete().empty());
}

TEST(ModifierTree, ForksKeepEveryFormThatFits) {
  const ModifierTree* mov = follow({"mov", "u32"});
  EXPECT_GE(mov->complete().size(), 3u) << "a value, a special register, a symbol";
  for (const ModifierTree::State& state : mov->complete()) EXPECT_EQ(spell(form(state.form), state.choices), "mov.u32");
}

TEST(ModifierTree, SayWhatMayComeNext) {
  const auto opcodes = ModifierTree::root().next_words();
  EXPECT_TRUE(has(opcodes, "ld") && has(opcodes, "tcgen05") && !has(opcodes, "global"));
  EXPECT_EQ(std::set<std::string>(opcodes.begin(), opcodes.end()).size(), opcodes.size());
  const auto after_fma = follow({"fma"})->next_words();
  EXPECT_EQ(after_fma, (std::vector<std::string>{"rn", "rz", "rm", "rp"}));
  const auto after_rn = follow({"fma", "rn"})->next_words();
  EXPECT_TRUE(has(after_rn, "ftz") && has(after_rn, "sat") && has(after_rn, "f32") && has(after_rn, "f64") &&
              !has(after_rn, "rz"));
  EXPECT_TRUE(follow({"exit"})->next_words().empty());
}

TEST(ModifierTree, ExplainAnUnknownOpcode) {
  const Diagnostic d = ModifierTree::root().explain("fmaa");
  EXPECT_EQ(d.kind, Kind::unknown_opcode);
  EXPECT_NE(text(d).find("there is no PTX instruction `fmaa`"), std::string::npos) << text(d);
  EXPECT_NE(text(d).find("did you mean `fma`?"), std::string::npos) << text(d);
  EXPECT_EQ(text(ModifierTree::root().explain("zzzzzzzz")).find("did you mean"), std::string::npos);
}

TEST(ModifierTree, ExplainAnUnknownModifier) {
  const Diagnostic d = follow({"ld", "global"})->explain("v3");
  EXPECT_EQ(d.kind, Kind::unknown_modifier);
  EXPECT_NE(d.message.find("`ld.global` cannot be followed by `.v3`"), std::string::npos) << d.message;
  EXPECT_NE(text(d).find("did you mean `.v"), std::string::npos) << text(d);
  EXPECT_NE(text(d).find("form: ld"), std::string::npos);
  EXPECT_NE(text(d).find("manual: #data-movement-and-conversion-instructions-ld"), std::string::npos);
  EXPECT_NE(follow({"exit"})->explain("now").message.find("takes no further modifier"), std::string::npos);
}

TEST(ModifierTree, ExplainAWordOutOfOrder) {
  const Diagnostic d = follow({"fma", "rn", "sat"})->explain("ftz");
  EXPECT_NE(text(d).find("modifiers have an order: `fma.rnd{.ftz}{.sat}.f32"), std::string::npos) << text(d);
}

TEST(ModifierTree, ExplainWhatIsMissing) {
  const Diagnostic d = follow({"fma"})->explain_incomplete();
  EXPECT_EQ(d.kind, Kind::missing_modifier);
  EXPECT_NE(d.message.find("`fma` is incomplete: it needs `.rn`, `.rz`, `.rm` or `.rp`"), std::string::npos) << d.message;
}

// Every choice of every slot of every form can be reached, and what is reached spells what was followed.
// The word is there, and one in front of it is missing: another type is no help.
TEST(ModifierTree, NameWhatWasLeftOut) {
  const std::pair<std::vector<std::string_view>, std::string_view> cases[] = {
      {{"div", "f32"}, "hint: in front of `.f32` stands `.approx`, `.full`, "},
      {{"mul", "u32"}, "hint: in front of `.u32` stands `.lo`, `.hi` or `.wide`"},
      {{"cvt", "f16", "f32"}, "hint: in front of `.f16` stands `.rn`, "},
      {{"cvt", "f16x2"}, "hint: in front of `.f16x2` stands `.rn`, "},
  };
  for (const auto& [words, said] : cases) {
    const ModifierTree* dots = &ModifierTree::root();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) dots = dots->follow(words[i]);
    const std::string explained = text(dots->explain(words.back()));
    EXPECT_NE(explained.find(said), std::string::npos) << explained;
    EXPECT_EQ(explained.find("did you mean"), std::string::npos) << explained;
  }
  EXPECT_EQ(text(follow({"fma"})->explain("f32")).find("hint:"), std::string::npos) << "the message itself says it";
  EXPECT_NE(text(follow({"div", "rn"})->explain("f33")).find("did you mean `.f32`?"), std::string::npos);
}

TEST(ModifierTree, ReachEveryChoiceOfTheTable) {
  for (const Form& f : forms())
    for (std::size_t slot = 0; slot < std::max<std::size_t>(f.slots.size(), 1); ++slot)
      for (std::size_t choice = 0; choice < (f.slots.empty() ? 1 : f.slots[slot].choices.size()); ++choice) {
        Choices choices{};
        for (std::size_t i = 0; i < f.slots.size(); ++i) choices[i] = f.slots[i].optional ? 0 : 1;
        if (!f.slots.empty()) choices[slot] = static_cast<std::uint8_t>(choice + 1);
        const ModifierTree* dots = ModifierTree::root().follow(f.opcode);
        for (std::size_t i = 0; i < f.slots.size() && dots != nullptr; ++i)
          if (choices[i] != 0) dots = dots->follow(f.chosen(choices, static_cast<int>(i)));
        ASSERT_NE(dots, nullptr) << spell(f, choices);
        EXPECT_EQ(dots->path(), spell(f, choices));
        EXPECT_TRUE(std::any_of(dots->complete().begin(), dots->complete().end(), [&](const ModifierTree::State& s) {
          return s.form == f.id && s.choices == choices;
        })) << spell(f, choices);
      }
}

// Random walks by next_words never get stuck, and words that are not among them never lead on.
TEST(ModifierTree, NextWordsAreExactlyThoseThatLeadOn) {
  std::mt19937 random(7);
  for (int walk = 0; walk < 300; ++walk) {
    const ModifierTree* dots = &ModifierTree::root();
    for (auto words = dots->next_words(); !words.empty(); words = dots->next_words()) {
      EXPECT_EQ(dots->follow("no_such_word"), nullptr);
      const ModifierTree* next = dots->follow(words[random() % words.size()]);
      ASSERT_NE(next, nullptr);
      dots = next;
    }
    EXPECT_FALSE(dots->complete().empty()) << dots->path();
  }
}

TEST(ModifierTree, MayBeFollowedByManyThreadsAtOnce) {
  constexpr int threads = 8;
  std::atomic<int> ready = 0;
  std::vector<std::vector<const ModifierTree*>> found(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (const std::string_view type : {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"})
        for (const std::string_view from : {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"})
          found[static_cast<std::size_t>(t)].push_back(follow({"cvt", type, from}));
    });
  for (std::thread& thread : running) thread.join();
  for (const auto& nodes : found) {
    EXPECT_EQ(nodes, found[0]) << "all threads see the same nodes";
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), nullptr), 0);
  }
}

}  // namespace
}  // namespace ptx::isa

// What rows say of their effects, held to what their forms show by themselves.
#include "ptx/isa/effects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

const Form& spelled(std::string_view syntax) {
  const auto found = std::find_if(forms().begin(), forms().end(), [&](const Form& f) { return f.syntax().starts_with(syntax); });
  EXPECT_NE(found, forms().end()) << syntax;
  return *found;
}

// What stands at each slot that must have something; a word of those wanted where a slot has it.
Choices chosen_in(const Form& f, const std::set<std::string_view>& wanted = {}) {
  Choices choices = first_choices(f);
  for (std::size_t i = 0; i < f.slots.size(); ++i) {
    choices[i] = f.slots[i].optional ? 0 : 1;
    for (std::size_t c = 0; c < f.slots[i].choices.size(); ++c)
      if (wanted.contains(f.slots[i].choices[c].word)) choices[i] = static_cast<std::uint8_t>(c + 1);
  }
  return choices;
}

bool has_choice(const Form& f, std::string_view start) {
  return std::any_of(f.slots.begin(), f.slots.end(), [&](const FormSlot& slot) {
    return std::any_of(slot.choices.begin(), slot.choices.end(), [&](const Choice& c) { return c.word.starts_with(start); });
  });
}

TEST(Effects, EveryAddressIsOfMemoryThatIsReadWrittenOrSignalled) {
  for (const Form& f : forms()) {
    const Effects& does = f.row->effects;
    // a handle, not an address; a policy for a range of memory
    if (f.traits.has_any(Trait::texture_handle | Trait::surface_handle) || f.opcode == "createpolicy") continue;
    for (const OperandSpec& o : f.operands)
      EXPECT_TRUE((o.role != Role::address && o.role != Role::tensor) || does.reads_at(o.name) || does.writes_at(o.name) ||
                  does.signals == o.name || does.volatile_)
          << o.name << " of " << f.row->form << "\n  only what is said of a cache names memory and does nothing with it";
  }
}

TEST(Effects, MemoryIsNamedByAddressesTensorsAndDescriptors) {
  for (const Form& f : forms()) {
    const Effects& does = f.row->effects;
    for (const OperandSpec& o : f.operands) {
      if (o.role == Role::address || o.role == Role::tensor) continue;
      EXPECT_FALSE(does.writes_at(o.name) || does.signals == o.name) << o.name << " of " << f.row->form;
      if (!does.reads_at(o.name)) continue;
      EXPECT_TRUE(is_descriptor(f, o) && o.type == "u64" && does.proxy == Proxy::async) << o.name << " of " << f.row->form;
    }
    EXPECT_TRUE(does.proxy == Proxy::generic || !does.reads.empty() || !does.writes.empty() || does.is_async() ||
                does.sync == Sync::proxy_fence)
        << f.row->form << " goes through a proxy to nothing";
  }
}

// manual: "The .mbarrier::complete_tx::bytes qualifier indicates that the completion mechanism is an mbarrier"; ".bulk_group".
TEST(Effects, CompletionIsWhatTheModifierSays) {
  for (const Form& f : forms()) {
    const Effects& does = f.row->effects;
    EXPECT_EQ(does.completes == Event::mbarrier, !does.signals.empty()) << f.row->form;
    EXPECT_TRUE(!(has_choice(f, "mbarrier::complete_tx")) || does.completes == Event::mbarrier) << f.row->form;
    EXPECT_TRUE(!(has_choice(f, "bulk_group")) || does.completes == Event::bulk_group) << f.row->form;
    for (const OperandSpec& o : f.operands) EXPECT_TRUE(!(o.name == "mbar") || does.signals == "mbar") << f.row->form;
    EXPECT_TRUE(!(f.slot("commit_group") >= 0 || f.slot("commit") >= 0) || does.commits != Event::none) << f.row->form;
    EXPECT_TRUE(!(f.slot("wait_group") >= 0 || f.slot("wait_all") >= 0 || f.slot("try_wait") >= 0 || f.slot("wait") >= 0) ||
                does.waits != Event::none)
        << f.row->form;
    EXPECT_TRUE((f.slot("async") < 0 && f.slot("mma_async") < 0) || does.is_async() || does.sync == Sync::proxy_fence ||
                does.commits != Event::none || does.waits != Event::none)
        << f.row->form;
  }
}

TEST(Effects, WhatCompletesIsWaitedFor) {
  std::set<Event> completes, commits, waits;
  for (const Row& row : rows()) {
    completes.insert(row.effects.completes);
    commits.insert(row.effects.commits);
    waits.insert(row.effects.waits);
  }
  for (const Event event : completes)
    EXPECT_TRUE(event == Event::untold || waits.contains(event) || commits.contains(event)) << static_cast<int>(event);
  for (const Event group : {Event::copy_group, Event::bulk_group, Event::wgmma_group}) {
    EXPECT_TRUE(completes.contains(group) && commits.contains(group) && waits.contains(group)) << static_cast<int>(group);
  }
}

// manual: "The mandatory .aligned qualifier indicates that all threads in the warp must execute the same … instruction".
TEST(Effects, AlignedInstructionsAreExecutedTogether) {
  for (const Form& f : forms()) {
    const Effects& does = f.row->effects;
    const bool bar = f.opcode == "bar" && f.slot("warp") < 0;  // manual: "bar is equivalent to barrier.aligned"
    EXPECT_EQ(does.converged != Converged::none, f.slot("aligned") >= 0 || bar) << f.row->form;
    EXPECT_EQ(does.converged == Converged::warpgroup, f.opcode == "wgmma" || f.opcode == "setmaxnreg") << f.row->form;
  }
  const Form& barrier = spelled("barrier{.cta}.sync{.aligned}");
  EXPECT_EQ(converged_by(barrier, chosen_in(barrier)), Converged::none);
  EXPECT_EQ(converged_by(barrier, chosen_in(barrier, {"aligned"})), Converged::warp);
  const Form& bar = spelled("bar{.cta}.sync");
  EXPECT_EQ(converged_by(bar, chosen_in(bar)), Converged::warp);
}

// manual, of shfl.sync, vote.sync, match.sync, redux.sync, elect.sync: "will cause executing thread to wait until all non-exited
// threads corresponding to membermask have executed" it.
TEST(Effects, MemberLanesWaitForEachOther) {
  for (const Form& f : forms()) {
    const bool members =
        std::any_of(f.operands.begin(), f.operands.end(), [](const OperandSpec& o) { return o.name == "membermask"; });
    EXPECT_EQ(f.row->effects.waits == Event::lanes, members) << f.row->form;
  }
}

TEST(Effects, OrdersHaveAKindAndAScope) {
  for (const Form& f : forms()) {
    const Effects& does = f.row->effects;
    EXPECT_TRUE(!(f.slot("sem") >= 0 || f.slot("scope") >= 0) || does.sync != Sync::none) << f.row->form;
    const bool access = does.sync == Sync::access || does.sync == Sync::mbarrier;
    EXPECT_TRUE(!access || !does.reads.empty() || !does.writes.empty()) << f.row->form;
    EXPECT_TRUE(!(access || does.sync == Sync::fence || does.sync == Sync::barrier) || scope(f, chosen_in(f)) != Scope::none)
        << f.row->form;
  }
  const Form& atom = spelled("atom{.sem}{.scope}");
  EXPECT_EQ(scope(atom, chosen_in(atom)), Scope::gpu) << "manual: atom: \"If no scope is specified … .gpu\"";
  EXPECT_EQ(scope(atom, chosen_in(atom, {"sys"})), Scope::system);
  const Form& membar = spelled("membar.level");
  EXPECT_EQ(scope(membar, chosen_in(membar, {"gl"})), Scope::gpu);
}

TEST(Effects, LabelsAreForControl) {
  for (const Form& f : forms()) {
    const bool label =
        std::any_of(f.operands.begin(), f.operands.end(), [](const OperandSpec& o) { return o.role == Role::label; });
    EXPECT_TRUE(!label || f.row->effects.control) << f.row->form;
    EXPECT_TRUE(!f.row->effects.control || f.row->effects.reads.empty()) << f.row->form;
  }
}

TEST(Effects, EachIsOfSomeRow) {
  std::set<Proxy> proxies;
  std::set<Event> events;
  std::set<Sync> syncs;
  std::set<Scope> scopes;
  std::set<Converged> converged;
  for (const Row& row : rows()) {
    proxies.insert(row.effects.proxy);
    for (const Event event : {row.effects.completes, row.effects.commits, row.effects.waits}) events.insert(event);
    syncs.insert(row.effects.sync);
    scopes.insert(row.effects.scope);
    converged.insert(row.effects.converged);
  }
  EXPECT_EQ(proxies.size(), static_cast<std::size_t>(Proxy::fabric) + 1);
  EXPECT_EQ(events.size(), static_cast<std::size_t>(Event::grid) + 1);
  EXPECT_EQ(syncs.size(), static_cast<std::size_t>(Sync::grid) + 1);
  EXPECT_EQ(converged.size(), static_cast<std::size_t>(Converged::warpgroup) + 1);
  EXPECT_EQ(scopes.size(), static_cast<std::size_t>(Scope::system)) << "all but one: that of the system is a modifier's alone";
}

TEST(Effects, AccessesHaveTheirSpaces) {
  const auto of = [](const Form& f, const std::set<std::string_view>& wanted) {
    return memory_accesses(f, chosen_in(f, wanted));
  };
  const MemoryAccesses load = of(spelled("ld{.weak}.ss"), {"param"});
  ASSERT_EQ(load.size(), 1u);
  EXPECT_TRUE(load[0].reads && !load[0].writes && !load[0].signals);
  EXPECT_EQ(load[0].space, "param");
  EXPECT_EQ(load[0].proxy, Proxy::generic);
  const MemoryAccesses generic = of(spelled("st{.weak}{.ss}{.cop}"), {});
  ASSERT_EQ(generic.size(), 1u);
  EXPECT_TRUE(generic[0].writes);
  EXPECT_EQ(generic[0].space, "");
  const MemoryAccesses copy = of(spelled("cp.async.bulk{.weak}.dst.src.completion{.multicast}"), {});
  ASSERT_EQ(copy.size(), 3u);
  EXPECT_TRUE(copy[0].writes && copy[0].space == "shared::cluster" && copy[0].proxy == Proxy::async);
  EXPECT_TRUE(copy[1].reads && copy[1].space == "global");
  EXPECT_TRUE(copy[2].signals && !copy[2].reads && copy[2].space == "shared");
  const MemoryAccesses mma = of(spelled("wgmma.mma_async.sync.aligned.shape.dtype.f16.f16"), {});
  ASSERT_EQ(mma.size(), 2u);
  EXPECT_TRUE(mma[0].reads && mma[0].space == "shared" && mma[1].reads);
  const MemoryAccesses tex = of(spelled("tex{.base}.geom.v4"), {});
  ASSERT_EQ(tex.size(), 1u);
  EXPECT_TRUE(tex[0].space == "texture" && tex[0].proxy == Proxy::texture);
}

TEST(Words, MeanWhatTheySay) {
  EXPECT_EQ(meaning_of("rzi"), Word::to_zero);
  EXPECT_EQ(meaning_of("hi"), Word::high_half);
  EXPECT_EQ(meaning_of("rna"), Word::other);
  EXPECT_EQ(meaning_of(""), Word::other);
}

}  // namespace
}  // namespace ptx::isa

// The table as a whole: what must hold for every row.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// Anchors of the manual (parallel-thread-execution), each looked up there. A row that cites another one adds it here.
const std::set<std::string_view> anchors = {
    "asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group",
    "asynchronous-warpgroup-level-matrix-instructions-wgmma-fence",
    "asynchronous-warpgroup-level-matrix-instructions-wgmma-mma",
    "asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp",
    "asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group",
    "comparison-and-selection-instructions-selp",
    "comparison-and-selection-instructions-set",
    "comparison-and-selection-instructions-setp",
    "comparison-and-selection-instructions-slct",
    "control-flow-instructions-bra",
    "control-flow-instructions-brx-idx",
    "control-flow-instructions-call",
    "control-flow-instructions-exit",
    "control-flow-instructions-ret",
    "data-movement-and-conversion-instructions-applypriority",
    "data-movement-and-conversion-instructions-cp-async",
    "data-movement-and-conversion-instructions-cp-async-bulk",
    "data-movement-and-conversion-instructions-cp-async-bulk-commit-group",
    "data-movement-and-conversion-instructions-cp-async-bulk-prefetch",
    "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor",
    "data-movement-and-conversion-instructions-cp-async-bulk-tensor",
    "data-movement-and-conversion-instructions-cp-async-bulk-wait-group",
    "data-movement-and-conversion-instructions-cp-async-commit-group",
    "data-movement-and-conversion-instructions-cp-async-wait-group",
    "data-movement-and-conversion-instructions-cp-async-wait-group-cp-async-wait-all",
    "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
    "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor",
    "data-movement-and-conversion-instructions-createpolicy",
    "data-movement-and-conversion-instructions-cvt",
    "data-movement-and-conversion-instructions-cvt-pack",
    "data-movement-and-conversion-instructions-cvta",
    "data-movement-and-conversion-instructions-discard",
    "data-movement-and-conversion-instructions-getctarank",
    "data-movement-and-conversion-instructions-isspacep",
    "data-movement-and-conversion-instructions-ld",
    "data-movement-and-conversion-instructions-ld-global-nc",
    "data-movement-and-conversion-instructions-ldu",
    "data-movement-and-conversion-instructions-mapa",
    "data-movement-and-conversion-instructions-mov",
    "data-movement-and-conversion-instructions-mov-2",
    "data-movement-and-conversion-instructions-multimem",
    "data-movement-and-conversion-instructions-multimem-cp-async-bulk",
    "data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk",
    "data-movement-and-conversion-instructions-multimem-st-async",
    "data-movement-and-conversion-instructions-prefetch-prefetchu",
    "data-movement-and-conversion-instructions-prmt",
    "data-movement-and-conversion-instructions-shfl-deprecated",
    "data-movement-and-conversion-instructions-shfl-sync",
    "data-movement-and-conversion-instructions-st",
    "data-movement-and-conversion-instructions-st-async",
    "data-movement-and-conversion-instructions-st-bulk",
    "data-movement-and-conversion-instructions-tensormap-replace",
    "extended-precision-arithmetic-instructions-add-cc",
    "extended-precision-arithmetic-instructions-addc",
    "extended-precision-arithmetic-instructions-mad-cc",
    "extended-precision-arithmetic-instructions-madc",
    "extended-precision-arithmetic-instructions-sub-cc",
    "extended-precision-arithmetic-instructions-subc",
    "fabric-instructions",
    "floating-point-instructions-abs",
    "floating-point-instructions-add",
    "floating-point-instructions-copysign",
    "floating-point-instructions-cos",
    "floating-point-instructions-div",
    "floating-point-instructions-ex2",
    "floating-point-instructions-fma",
    "floating-point-instructions-lg2",
    "floating-point-instructions-mad",
    "floating-point-instructions-max",
    "floating-point-instructions-min",
    "floating-point-instructions-mul",
    "floating-point-instructions-neg",
    "floating-point-instructions-rcp",
    "floating-point-instructions-rcp-approx-ftz-f64",
    "floating-point-instructions-rsqrt",
    "floating-point-instructions-rsqrt-approx-ftz-f64",
    "floating-point-instructions-sin",
    "floating-point-instructions-sqrt",
    "floating-point-instructions-sub",
    "floating-point-instructions-tanh",
    "floating-point-instructions-testp",
    "half-precision-comparison-instructions-set",
    "half-precision-comparison-instructions-setp",
    "half-precision-floating-point-instructions-abs",
    "half-precision-floating-point-instructions-add",
    "half-precision-floating-point-instructions-ex2",
    "half-precision-floating-point-instructions-fma",
    "half-precision-floating-point-instructions-max",
    "half-precision-floating-point-instructions-min",
    "half-precision-floating-point-instructions-mul",
    "half-precision-floating-point-instructions-neg",
    "half-precision-floating-point-instructions-sub",
    "half-precision-floating-point-instructions-tanh",
    "integer-arithmetic-instructions-abs",
    "integer-arithmetic-instructions-add",
    "integer-arithmetic-instructions-bfe",
    "integer-arithmetic-instructions-bfi",
    "integer-arithmetic-instructions-bfind",
    "integer-arithmetic-instructions-bmsk",
    "integer-arithmetic-instructions-brev",
    "integer-arithmetic-instructions-clmad",
    "integer-arithmetic-instructions-clz",
    "integer-arithmetic-instructions-div",
    "integer-arithmetic-instructions-dp2a",
    "integer-arithmetic-instructions-dp4a",
    "integer-arithmetic-instructions-fns",
    "integer-arithmetic-instructions-mad",
    "integer-arithmetic-instructions-mad24",
    "integer-arithmetic-instructions-max",
    "integer-arithmetic-instructions-min",
    "integer-arithmetic-instructions-mul",
    "integer-arithmetic-instructions-mul24",
    "integer-arithmetic-instructions-neg",
    "integer-arithmetic-instructions-popc",
    "integer-arithmetic-instructions-rem",
    "integer-arithmetic-instructions-sad",
    "integer-arithmetic-instructions-sub",
    "integer-arithmetic-instructions-szext",
    "logic-and-shift-instructions-and",
    "logic-and-shift-instructions-cnot",
    "logic-and-shift-instructions-lop3",
    "logic-and-shift-instructions-not",
    "logic-and-shift-instructions-or",
    "logic-and-shift-instructions-shf",
    "logic-and-shift-instructions-shl",
    "logic-and-shift-instructions-shr",
    "logic-and-shift-instructions-xor",
    "miscellaneous-instructions-brkpt",
    "miscellaneous-instructions-nanosleep",
    "miscellaneous-instructions-pmevent",
    "miscellaneous-instructions-setmaxnreg",
    "miscellaneous-instructions-trap",
    "mixed-precision-floating-point-instructions-add",
    "mixed-precision-floating-point-instructions-fma",
    "mixed-precision-floating-point-instructions-sub",
    "parallel-synchronization-and-communication-instructions-activemask",
    "parallel-synchronization-and-communication-instructions-atom",
    "parallel-synchronization-and-communication-instructions-bar",
    "parallel-synchronization-and-communication-instructions-bar-warp-sync",
    "parallel-synchronization-and-communication-instructions-barrier-cluster",
    "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel",
    "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel",
    "parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive",
    "parallel-synchronization-and-communication-instructions-elect-sync",
    "parallel-synchronization-and-communication-instructions-griddepcontrol",
    "parallel-synchronization-and-communication-instructions-match-sync",
    "parallel-synchronization-and-communication-instructions-mbarrier-arrive",
    "parallel-synchronization-and-communication-instructions-mbarrier-arrive-drop",
    "parallel-synchronization-and-communication-instructions-mbarrier-check-layout",
    "parallel-synchronization-and-communication-instructions-mbarrier-complete-tx",
    "parallel-synchronization-and-communication-instructions-mbarrier-expect-tx",
    "parallel-synchronization-and-communication-instructions-mbarrier-init",
    "parallel-synchronization-and-communication-instructions-mbarrier-inval",
    "parallel-synchronization-and-communication-instructions-mbarrier-pending-count",
    "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait",
    "parallel-synchronization-and-communication-instructions-membar",
    "parallel-synchronization-and-communication-instructions-multimem-red-async",
    "parallel-synchronization-and-communication-instructions-red",
    "parallel-synchronization-and-communication-instructions-red-async",
    "parallel-synchronization-and-communication-instructions-redux-sync",
    "parallel-synchronization-and-communication-instructions-tensormap-cp-fenceproxy",
    "parallel-synchronization-and-communication-instructions-vote-deprecated",
    "parallel-synchronization-and-communication-instructions-vote-sync",
    "scalar-video-instructions-vadd-vsub-vabsdiff-vmin-vmax",
    "scalar-video-instructions-vmad",
    "scalar-video-instructions-vset",
    "scalar-video-instructions-vshl-vshr",
    "simd-video-instructions-vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2",
    "simd-video-instructions-vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4",
    "simd-video-instructions-vset2",
    "simd-video-instructions-vset4",
    "stack-manipulation-instructions-alloca",
    "stack-manipulation-instructions-stackrestore",
    "stack-manipulation-instructions-stacksave",
    "surface-instructions-suld",
    "surface-instructions-suq",
    "surface-instructions-sured",
    "surface-instructions-sust",
    "tcgen-async-sync-operations-commit",
    "tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit",
    "tcgen05-instructions-tcgen05-cp",
    "tcgen05-instructions-tcgen05-ld",
    "tcgen05-instructions-tcgen05-shift",
    "tcgen05-instructions-tcgen05-st",
    "tcgen05-instructions-tcgen05-wait",
    "tcgen05-mma-instructions-mma",
    "tcgen05-mma-instructions-mma-sp",
    "tcgen05-mma-instructions-mma-ws",
    "tcgen05-mma-instructions-mma-ws-sp",
    "tcgen05-special-sync-operations-fence",
    "texture-instructions-istypep",
    "texture-instructions-tex",
    "texture-instructions-tld4",
    "texture-instructions-txq",
    "warp-level-matrix-instructions-ldmatrix",
    "warp-level-matrix-instructions-mma",
    "warp-level-matrix-instructions-movmatrix",
    "warp-level-matrix-instructions-sparse-mma",
    "warp-level-matrix-instructions-stmatrix",
    "warp-level-matrix-instructions-wmma-ld",
    "warp-level-matrix-instructions-wmma-mma",
    "warp-level-matrix-instructions-wmma-st",
};

bool is_identifier(std::string_view word) {
  return !word.empty() && !(word[0] >= '0' && word[0] <= '9') && std::all_of(word.begin(), word.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

TEST(Table, FormsAreTheirRowsInOrder) {
  ASSERT_EQ(forms().size(), rows().size());
  for (std::size_t i = 0; i < forms().size(); ++i) {
    EXPECT_EQ(forms()[i].id, i);
    EXPECT_EQ(forms()[i].row, &rows()[i]);
    EXPECT_EQ(&form(static_cast<FormId>(i)), &forms()[i]);
  }
}

TEST(Table, NoTwoRowsAreTheSame) {
  std::map<std::string_view, const Row*> seen;
  for (const Row& row : rows()) EXPECT_TRUE(seen.emplace(row.form, &row).second) << row.form;
}

TEST(Table, EveryRowSaysHowItRunsAndWhereItIsDescribed) {
  for (const Row& row : rows()) {
    EXPECT_NE(row.exec.empty(), row.not_executed.empty()) << row.form;
    EXPECT_TRUE(row.exec.empty() || is_identifier(row.exec)) << row.exec;
    EXPECT_TRUE(row.rule.empty() || is_identifier(row.rule)) << row.rule;
    EXPECT_TRUE(anchors.contains(row.anchor)) << row.anchor << " is no anchor of the manual, or none that this test knows";
    EXPECT_TRUE(row.doc.ends_with('.')) << row.doc;
    EXPECT_FALSE(row.doc.empty());
  }
}

TEST(Table, ChoicesNarrowTheirRowsAvailability) {
  for (const Form& f : forms()) {
    EXPECT_GE(f.row->since, (Version{1, 0})) << f.row->form;
    EXPECT_LE(f.row->since, (Version{9, 5})) << f.row->form;
    for (const FormSlot& slot : f.slots) {
      std::set<std::string_view> words;
      for (const Choice& choice : slot.choices) {
        EXPECT_TRUE(words.insert(choice.word).second) << choice.word << " twice in " << f.row->form;
        if (choice.on == 0) continue;
        bool somewhere = false;
        for (std::size_t t = 0; t < target_count; ++t)
          somewhere = somewhere || (allows(static_cast<Target>(t), choice.on) && allows(static_cast<Target>(t), f.row->on));
        EXPECT_TRUE(somewhere) << choice.word << " of " << f.row->form << " exists on no target";
      }
    }
  }
}

TEST(Table, EveryOperandHasATypeOrALengthUnderEveryChoice) {
  for (const Form& f : forms())
    for (const FormSlot& slot : f.slots)
      for (std::size_t c = slot.optional ? 0 : 1; c <= slot.choices.size(); ++c) {
        Choices choices{};
        for (std::size_t i = 0; i < f.slots.size(); ++i) choices[i] = f.slots[i].optional ? 0 : 1;
        choices[static_cast<std::size_t>(&slot - f.slots.data())] = static_cast<std::uint8_t>(c);
        for (const OperandSpec& o : f.operands) {
          if (!f.present(o, choices)) continue;
          if (o.role == Role::value || o.role == Role::reg || o.role == Role::imm || o.role == Role::special) {
            EXPECT_NE(f.type(o.type, choices), Type::none) << o.name << " of " << spell(f, choices);
            EXPECT_GE(f.count(o.count, choices), 1) << o.name << " of " << spell(f, choices);
          }
          EXPECT_TRUE(o.role != Role::tensor || f.count(o.coords_count, choices) >= 1) << spell(f, choices);
        }
      }
}

TEST(Table, SpecialRegistersAreListedOnce) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < specials().size(); ++i) {
    const Special& special = specials()[i];
    EXPECT_TRUE(names.insert(special.name).second) << special.name;
    EXPECT_TRUE(special.name.starts_with('%'));
    EXPECT_EQ(special_from_name(special.name), static_cast<SpecialId>(i));
    EXPECT_NE(special.on, 0u);
    EXPECT_FALSE(special.doc.empty());
  }
  EXPECT_EQ(special_from_name("%dtid"), std::nullopt);
  EXPECT_EQ(specials()[*special_from_name("%tid")].type, Type::b128) << "a whole vector";
}

TEST(RulesTest, RowsAndRulesNameEachOther) {
  std::set<RowRule> used;
  for (const Row& row : rows()) {
    if (row.rule.empty()) continue;
    const RowRule rule = find_rule(row.rule);
    EXPECT_NE(rule, nullptr) << "the row `" << row.form << "` names the rule " << row.rule;
    used.insert(rule);
  }
  for (const std::string_view name : rule_names())
    EXPECT_TRUE(used.contains(find_rule(name))) << "no row names the rule " << name;
  EXPECT_EQ(find_rule("no_such_rule"), nullptr);
}

TEST(RulesTest, InstructionsAreNamedWithoutWhatVaries) {
  std::vector<std::string> names;
  for (const Form& form : forms()) names.push_back(short_name(form));
  for (const std::string_view wanted : {"fma", "ld", "tcgen05.mma", "cp.async.bulk.tensor", "wgmma.mma_async.sync.aligned"})
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
}

}  // namespace
}  // namespace ptx::isa

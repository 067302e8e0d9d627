// Modifiers that ptxas takes, passes over or does without although the manual does not have it so.
#include <algorithm>
#include <array>

#include "ptx/isa/implied.hpp"
#include "ptx/isa/ptxas/leniency.hpp"
#include "ptx/isa/ptxas/modifier_order.hpp"
#include "ptx/isa/rules.hpp"

namespace ptx::isa {
namespace {

struct Modifiers {
  std::string_view spelling, words;  // the first words of the spelling; words: between spaces
  bool at_the_end = false;           // nowhere else
};
constexpr std::array passed_over = {
    Modifiers{"fence.mbarrier_init", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.alias", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.async", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.async::generic",
              " global shared::cta shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.tensormap::generic",
              " global shared::cta shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"mma", " b1 u4 s4 bf16 ", true},
    Modifiers{"multimem.red", " acc::f16 acc::f32 "},
    Modifiers{"multimem.st", " acc::f16 acc::f32 "},
    Modifiers{"rcp", " ftz "},
    Modifiers{"tcgen05", " b8x16 b6x16_p32 b4x16_p64 "},  // tcgen05.cp has them
    Modifiers{"tensormap.cp_fenceproxy",
              " global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode "
              "swizzle_atomicity fill_mode "},
};
// Words of single instructions, which ptxas passes over in all others.
constexpr std::string_view words_of_others =
    " acc::f16 acc::f32 b8x16 b6x16_p32 b4x16_p64 global_address rank box_dim global_dim global_stride element_stride elemtype "
    "interleave_layout swizzle_mode swizzle_atomicity fill_mode finite infinite normal notanumber number subnormal ";
// Types that ptxas passes over where the instruction's own type stands, too; in all other instructions it passes over .b2.
constexpr std::string_view types_of_others = " pred texref surfref samplerref ";
constexpr std::string_view passes_over_types =
    " abs add atom cos cvt ex2 fma lg2 max min mul multimem neg rcp red rsqrt set setp sin sqrt sub tanh ";

bool is_word_of(std::string_view opcode, std::string_view word) {
  return std::any_of(forms().begin(), forms().end(), [&](const Form& form) {
    return form.opcode == opcode && std::any_of(form.slots.begin(), form.slots.end(), [&](const FormSlot& slot) {
             return std::any_of(slot.choices.begin(), slot.choices.end(), [&](const Choice& c) { return c.word == word; });
           });
  });
}

constexpr std::array missing = {
    Modifiers{"st.async", "release"},
    Modifiers{"tcgen05.ld", "aligned"},
    Modifiers{"tcgen05.st", "aligned"},
    Modifiers{"wgmma", "aligned"},
};

struct Instead {
  std::string_view spelling, word, meant;
};
constexpr std::array instead = {
    Instead{"getctarank", "s32", "u32"},
    Instead{"getctarank", "s64", "u64"},
    Instead{"mapa", "s32", "u32"},
    Instead{"mapa", "s64", "u64"},
    Instead{"setmaxnreg", "s32", "u32"},
    Instead{"st.async", "shared", "shared::cluster"},
    Instead{"st.async", "shared::cta", "shared::cluster"},
};

// An eviction priority of L2 on a volatile access of 32 bytes; on others ptxas refuses it.
bool is_volatile_of_32_bytes(std::span<const std::string_view> words) {
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const auto has_one_of = [&](std::string_view list) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return rules::is_one_of(w, list); });
  };
  return (words[0] == "ld" || words[0] == "st") && has("volatile") &&
         (has("v8") ? has_one_of(" b32 u32 s32 f32 ") : has("v4") && has_one_of(" b64 u64 s64 f64 "));
}

bool begins(std::string_view spelling, std::string_view with) {
  return spelling.starts_with(with) && (spelling.size() == with.size() || spelling[with.size()] == '.');
}

}  // namespace

bool is_overlooked(std::string_view spelling, std::span<const std::string_view> words, std::size_t at) {
  const std::string_view word = words[at];
  if (std::count(words.begin(), words.end(), word) != 1) return false;
  for (std::size_t i = at + 1; i < words.size(); ++i)
    if (is_name_word(words[0], words[i])) return false;
  if (rules::is_one_of(word, " L2::evict_first L2::evict_last L2::evict_normal ") && is_volatile_of_32_bytes(words)) return true;
  // neither mul with its half nor red.async, which are of other sorts
  const auto wrote = [&](std::string_view w) { return std::find(words.begin(), words.end(), w) != words.end(); };
  if (rules::is_one_of(word, types_of_others) && (wrote("hi") || wrote("lo") || wrote("wide") || wrote("async"))) return false;
  const bool passes_over_b2 = !rules::is_one_of(words[0], passes_over_types);
  const bool passes_over_types_of_others = !passes_over_b2 || (words[0] == "wmma" && wrote("mma"));
  const bool other = (passes_over_types_of_others && rules::is_one_of(word, types_of_others)) || (passes_over_b2 && word == "b2");
  if ((other || rules::is_one_of(word, words_of_others)) && !is_word_of(words[0], word)) return true;
  const bool acquires = spelling.starts_with("fence.proxy.tensormap") && std::count(words.begin(), words.end(), "acquire") != 0;
  return std::any_of(passed_over.begin(), passed_over.end(), [&](const Modifiers& m) {
    return begins(spelling, m.spelling) && !spelling.starts_with("tcgen05.cp") && !acquires && rules::is_one_of(word, m.words) &&
           (!m.at_the_end || at + 1 == words.size());
  });
}

std::string_view stands_for(std::string_view spelling, std::string_view word) {
  for (const Instead& i : instead)
    if (i.word == word && begins(spelling, i.spelling)) return i.meant;
  return {};
}

std::string_view may_be_missing(std::string_view spelling) {
  if (spelling.find(".mmio") != std::string_view::npos) return {};
  for (const Modifiers& m : missing)
    if (begins(spelling, m.spelling)) return m.words;
  return {};
}

// multimem.red….min.v4.f16x2: the manual has .add alone for vectors of halves.
bool is_undescribed(std::string_view spelling, Target target) {
  if (!begins(spelling, "multimem.red") || !allows(target, node(sm_90))) return false;
  bool operation = false, vector = false, halves = false, others = false;
  for (std::string_view rest = spelling.substr(std::string_view("multimem.red").size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('.'));
    rest.remove_prefix(word.size());
    const auto is = [&](bool& seen, std::string_view words) {
      const bool one = rules::is_one_of(word, words);
      others |= one && seen;
      seen |= one;
      return one;
    };
    const bool known = is(operation, " min max ") || is(vector, " v2 v4 v8 ") || is(halves, " f16 f16x2 bf16 bf16x2 ") ||
                       rules::is_one_of(word, " relaxed release cta cluster gpu sys global ");
    others |= !known;
  }
  return operation && vector && halves && !others;
}

}  // namespace ptx::isa

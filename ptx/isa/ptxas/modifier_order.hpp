// In which order an instruction's modifiers may be written. The table has one order, and what we print has it; ptxas takes
// nearly any, and programs rely on that. What ptxas 13.0 holds to (seen by `ptx_oracle --orders`, which moves every modifier of
// every form): words of the instruction's name stand right behind the opcode, and words of one kind keep their order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ptx/isa/type.hpp"

namespace ptx::isa {

namespace detail {
struct NameWords {
  std::string_view opcode, words;  ///< words: between spaces
};
inline constexpr std::array name_words = {
    NameWords{"bar", " cta sync arrive red warp "},
    NameWords{"barrier", " cta cluster arrive red wait "},
    NameWords{"brx", " idx "},
    NameWords{"clusterlaunchcontrol", " try_cancel async query_cancel "},
    NameWords{"cp", " async reduce bulk tensor prefetch wait_group wait_all commit_group mbarrier arrive "},
    NameWords{"createpolicy", " fractional range cvt "},
    NameWords{"cvt", " pack "},
    NameWords{"cvta", " to "},
    NameWords{"div", " full "},
    NameWords{"dp2a", " lo hi "},
    NameWords{"fence", " proxy "},
    NameWords{"mad", " wide hi lo "},
    NameWords{"mad24", " lo hi "},
    NameWords{"madc", " lo hi "},
    NameWords{"mbarrier",
              " init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait parity pending_count check_layout "},
    NameWords{"membar", " proxy "},
    NameWords{"mul", " wide hi lo "},
    NameWords{"mul24", " lo hi "},
    NameWords{"multimem", " ld_reduce st red cp reduce async bulk "},
    NameWords{"red", " async "},
    NameWords{"setmaxnreg", " inc dec "},
    NameWords{"shf", " l r "},
    NameWords{"st", " async bulk "},
    NameWords{"suld", " b "},
    NameWords{"sured", " b p "},
    NameWords{"sust", " b p "},
    NameWords{"tcgen05", " mma ld st cp shift alloc dealloc relinquish_alloc_permit commit wait::ld wait::st ws red "},
    NameWords{"tensormap", " replace cp_fenceproxy "},
    NameWords{"tex", " base level grad "},
    NameWords{"txq", " level "},
    NameWords{"wgmma", " mma_async fence commit_group wait_group "},
    NameWords{"wmma", " load store mma a b c d "},
};
}  // namespace detail

/// True when ptxas counts this modifier among the instruction's name, as in `mbarrier.arrive.expect_tx`: it stands behind the
/// opcode and the other words of the name, in the order of the row.
constexpr bool is_name_word(std::string_view opcode, std::string_view word) {
  for (const detail::NameWords& of : detail::name_words) {
    if (of.opcode != opcode) continue;
    for (std::size_t at = of.words.find(word); at != std::string_view::npos; at = of.words.find(word, at + 1))
      if (of.words[at - 1] == ' ' && of.words[at + word.size()] == ' ') return true;
    return false;
  }
  return false;
}

/// The kinds of modifiers that keep their order among themselves: `cvt.f32.s32` is not `cvt.s32.f32`.
enum class OrderKind : std::uint8_t { free, type, space, layout, priority, logic, format };

constexpr OrderKind order_kind(std::string_view word) {
  if (type_from_name(word) || word == "u2" || word == "s2") return OrderKind::type;
  if (word == "row" || word == "col") return OrderKind::layout;
  if (word == "and" || word == "or" || word == "xor" || word == "popc") return OrderKind::logic;
  if (word.starts_with("L2::evict_")) return OrderKind::priority;
  if (word == "b8x16" || word == "b6x16_p32" || word == "b4x16_p64") return OrderKind::format;
  for (const std::string_view space : {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"})
    if (word == space) return OrderKind::space;
  return OrderKind::free;
}

/// True for the modifiers that ptxas overlooks when they stand twice, as in `add.sat.sat.s32`; of all others it wants each once.
constexpr bool may_be_repeated(std::string_view word) {
  for (const std::string_view repeatable : {"NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"})
    if (word == repeatable) return true;
  return false;
}

}  // namespace ptx::isa

// What ptxas takes although the manual does not have it. The table and `fit` hold to the manual, so that an author is held to it
// and nothing else has to know of such operands; who reads other people's PTX asks here before it refuses, and warns instead.
// All of it was seen with ptxas 13.0 (`ptx_oracle`), which is why each entry says what ptxas does rather than what is right.
#pragma once

#include <span>
#include <string_view>

#include "ptx/isa/match.hpp"

namespace ptx::isa {

/// What ptxas overlooks about operands that do not fit this form, as in "a vector where one bf16 stands"; "" when it refuses
/// them, too.
std::string_view leniency(const Form& form, const Choices& choices, std::span<const Arg> args, Target target);

/// True for a modifier that ptxas passes over where the instruction has no use for it: without it, the instruction is the same.
/// `spelling` is all of the opcode and its modifiers, `words` its words.
bool is_overlooked(std::string_view spelling, std::span<const std::string_view> words, std::size_t at);

/// The modifier that ptxas reads where `word` stands and the manual has another one, as `.u32` for `.s32` in `mapa.s32`: the
/// instruction is the same. "" when there is none.
std::string_view stands_for(std::string_view spelling, std::string_view word);

/// The modifier that the manual demands and ptxas does without: with it, the instruction is the same. "" when there is none.
std::string_view may_be_missing(std::string_view spelling);

/// True for an instruction that real programs have and ptxas compiles, although the manual does not have it: neither does the
/// table, so that nobody checks its operands.
bool is_undescribed(std::string_view spelling, Target target);

}  // namespace ptx::isa

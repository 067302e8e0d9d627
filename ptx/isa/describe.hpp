// What a row says, in words: for the pages of docs/isa and for `ptxkit isa` on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/form.hpp"

namespace ptx::isa {

/// The manual's chapter, from the form's anchor: "Floating Point Instructions".
std::string family(const Form& form);

/// "PTX 8.0, `sm_90a`"; "PTX 2.0, `sm_20` or newer". A version or a set that is not there is left out.
std::string available(Version since, TargetSet on);
/// The form's own availability, with what its further and lost targets have: "PTX 6.0, `sm_70` or newer; removed from … in
/// PTX 8.0".
std::string available(const Form& form);

/// The choices of a slot, with what some need beyond their form: "`.b8` `.b16`; `.b128` (PTX 8.3, `sm_70` or newer)".
std::string list_words(const FormSlot& slot);

/// The integers of an operand's range: "0 to 15", "4, 8 or 16", "24 to 256 in steps of 8", "a multiple of 16".
std::string describe_range(std::string_view range);

/// What an operand takes, whether the instruction writes it, and what it means: "register, `.f32`, written".
std::string describe(const Form& form, const OperandSpec& operand);

/// What the instructions of a form do besides computing: {"reads memory at a", "may wait for an mbarrier's phase"}; empty for
/// pure ones.
std::vector<std::string> describe_effects(const Form& form);

/// One instruction of the form as Python and C++ spell it, with these choices, and the first one of every other slot that must
/// have one: "inst.fma.rn.f32(d, a, b, c)".
std::string spell_call(const Form& form, const Choices& chosen = {});

}  // namespace ptx::isa

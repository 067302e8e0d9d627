// What an operand means, where its name does not say it: for help, `ptxkit isa` and the pages of docs/isa.
#pragma once

#include <span>
#include <string_view>

#include "ptx/isa/form.hpp"

namespace ptx::isa {

struct Meaning {
  std::string_view path;  ///< the instruction's first words, "cp.async.bulk"; "" for every instruction with such an operand
  std::string_view operand;
  std::string_view words;
};

/// All of them; of several that fit an operand, the one with the longest path counts.
std::span<const Meaning> meanings();

/// Of one operand of a form: "bytes of copies that the phase also waits for"; "" where the row's sentence says it all.
std::string_view meaning(const Form& form, std::string_view operand);

}  // namespace ptx::isa

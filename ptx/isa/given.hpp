// Traits and quirks as they are written down: by the names of instructions.
#pragma once

#include <span>
#include <string_view>

#include "ptx/isa/form.hpp"

namespace ptx::isa {

/// What forms of a name have in common. The words of the name lead the form's own: "wgmma.fence" is the opcode and its first
/// modifier.
template <class Enum>
struct Given {
  std::string_view name;
  Flags<Enum> what;
  std::string_view with = {};     ///< only forms that have all of these slots: "async completion"
  std::string_view without = {};  ///< and none of these
};

/// True for a form that leads with this name, and has the slots of `with` and none of `without`.
bool goes_by(const Form& form, std::string_view name, std::string_view with = {}, std::string_view without = {});

template <class Enum>
Flags<Enum> given(const Form& form, std::span<const Given<Enum>> known) {
  Flags<Enum> flags;
  for (const Given<Enum>& one : known)
    if (goes_by(form, one.name, one.with, one.without)) flags |= one.what;
  return flags;
}

/// All that is written down of traits, and of quirks.
std::span<const Given<Trait>> given_traits();
std::span<const Given<Quirk>> given_quirks();

}  // namespace ptx::isa

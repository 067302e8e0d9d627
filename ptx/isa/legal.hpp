// Is an instruction legal here? One answer for authoring (at the author's line), for text that is taken over and for the checker:
// whether its operands fit, whether the target and the PTX version have it, and the rule of its row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/isa/form.hpp"
#include "ptx/isa/match.hpp"
#include "ptx/isa/target.hpp"

namespace ptx::isa {

/// For what a module is written.
struct Platform {
  Target target;
  Version version;
};

/// What the platform lacks: the form or some of its modifiers, in the order of the slots; nothing when it has all of them.
std::vector<Diagnostic> lacks(const Form& form, const Choices& choices, const Platform& platform);
/// The same of a special register.
std::vector<Diagnostic> lacks(const Special& special, const Platform& platform);
/// And of all that are among these operands.
std::vector<Diagnostic> lacks(std::span<const Arg> args, const Platform& platform);

/// What the rule of the form's row says; nothing when it is kept, or there is none. May be a warning.
std::optional<Diagnostic> breaks_rule(const Form& form, const Choices& choices, std::span<const Arg> args,
                                      const Platform& platform);

/// All of it, of one instruction.
struct Judgement {
  Expected<Match> match;
  std::vector<Diagnostic> lacking;
  std::optional<Diagnostic> broken;  ///< the rule; asked where the operands fit

  /// The first error, if there is one.
  [[nodiscard]] const Diagnostic* error() const;
};
Judgement legal(const Form& form, const Choices& choices, std::span<const Arg> args, const Platform& platform);

/// "`sm_90` or newer" for a base target, which every later one includes; a list for family and exact targets.
std::string say_needed(TargetSet on);

}  // namespace ptx::isa

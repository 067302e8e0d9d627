// The rules that a row names in its `rule` column: what binds several slots or operands and is too odd for the notation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {

/// An instruction as its rule sees it. Of the operands a rule may read kinds, types and numbers that are not inside an address.
struct RuleInput {
  const isa::Form& form;
  const isa::Choices& choices;
  std::span<const isa::Arg> args;
  Target target;
  Version version;
};

/// What is wrong, or nothing.
using Rule = std::optional<Diagnostic> (*)(const RuleInput& input);

/// The rule of that name, or nullptr. Every name that a row uses is there: a test holds the table to it.
Rule find_rule(std::string_view name);
std::vector<std::string_view> rule_names();

/// "tcgen05.mma", "ld", "cp.async.bulk.tensor": an instruction without the modifiers that vary.
std::string short_name(const isa::Form& form);

}  // namespace ptx::check

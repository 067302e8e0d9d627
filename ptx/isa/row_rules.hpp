// The rules that a row names in its `rule` column: what binds several slots or operands and is too odd for the notation. They
// stand beside the rows (table/rules.cpp), for whoever makes an instruction or looks at one (legal.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/form.hpp"

namespace ptx::isa {

/// An instruction as its rule sees it. Of the operands a rule may read kinds, types and numbers that are not inside an address.
struct RuleInput {
  const Form& form;
  const Choices& choices;
  std::span<const Arg> args;
  Target target;
  Version version;
};

/// What is wrong, or nothing.
using RowRule = std::optional<Diagnostic> (*)(const RuleInput& input);

/// The rule of that name, or nullptr. Every name that a row uses is there: a test holds the table to it.
RowRule find_rule(std::string_view name);
std::vector<std::string_view> rule_names();

/// "tcgen05.mma", "ld", "cp.async.bulk.tensor": an instruction without the modifiers that vary.
std::string short_name(const Form& form);

}  // namespace ptx::isa

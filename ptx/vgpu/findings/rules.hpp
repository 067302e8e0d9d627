// The rules that the executor holds kernels to: what breaks one ends a run (a fault), or is a finding of its checks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::vgpu {

/// A rule by its id, with an underscore for the dash: R_ww is R-ww. The list is rules.def, once.
enum class Rule : std::uint8_t {
#define PTX_RULE(name, ...) name,
#include "ptx/vgpu/rules.def"
#undef PTX_RULE
};

/// What is known of a rule.
struct RuleRow {
  Rule rule{};
  std::string_view id;  ///< "P-01"
  Kind kind{};          ///< of its diagnostics; a fault may have a nearer one
  Severity severity = Severity::error;
  std::string_view summary;  ///< what goes wrong, as part of a sentence
  std::string_view mend;     ///< what would be right
  std::string_view section;  ///< of the PTX manual
};

/// All of them, in the order of rules.def.
std::span<const RuleRow> all_rules();
const RuleRow& row(Rule rule);
inline std::string_view id(Rule rule) { return row(rule).id; }
/// How closely a run is looked at for it to be found: a word of words_of_checks().
std::string_view level_of(Rule rule);
/// Its page, from the root of the repository on: "docs/rules/P-01.md".
std::string page(Rule rule);
/// The page's address, where the environment's PYPTX_DOCS says where the documentation stands ("https://example.org/pyptx"); else
/// empty.
std::string page_address(Rule rule);
/// By its id, whatever its case; nothing where there is none.
std::optional<Rule> rule_from_id(std::string_view id);
/// The rule that a fault of this kind breaks where the place that finds it says no other; nothing for kinds that break none:
/// trapped, step_limit.
std::optional<Rule> usual_rule(Kind kind);

/// The kernel that shows a rule, PTX text. Lines that end in `// mistake` are in it alone, lines that end in `// mend` are not.
/// Empty where a rule has none.
std::string example(Rule rule);
/// The same with the mistake mended.
std::string mended_example(Rule rule);
/// The words behind `ptxkit run FILE` that run both: "--block 64 --arg u32[64]=0".
std::string example_arguments(Rule rule);
/// Below each other: what goes wrong, the kernel, its mend as a difference, the manual's section.
std::string explain(Rule rule);

}  // namespace ptx::vgpu

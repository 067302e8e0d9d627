#include "ptx/check/rules.hpp"

#include <array>
#include <utility>

namespace ptx::check {
namespace {

Diagnostic error(Kind kind, std::string message) { return {kind, Severity::error, std::move(message), {}, {}}; }

// Loads and stores move at most 16 bytes, and 32 (.v8 of 32-bit, .v4 of 64-bit types) in global memory from sm_100 on (manual:
// ld, st; ptxas 13.0 speaks of the "256 bit wide load/store").
std::optional<Diagnostic> vector_bytes(const RuleInput& in) {
  const int elements = in.form.count("vec", in.choices);
  const Type type = in.form.type("type", in.choices);
  const int bytes = elements * isa::bits(type) / 8;
  if (bytes <= 16) return std::nullopt;
  const std::string vector = cat("`.v", elements, '.', isa::name(type), "` of `", in.form.opcode, "` is ", bytes, " bytes");
  const std::string_view space = in.form.chosen(in.choices, "ss");
  if (bytes > 32 || isa::bits(type) > 64 || !(space.empty() || space == "global"))
    return error(Kind::unknown_modifier, cat(vector, "; the widest vector is 16 bytes",
                                             bytes > 32 || isa::bits(type) > 64 ? "" : ", and 32 in `.global` alone"));
  if (!isa::allows(in.target, isa::node(sm_100)))
    return error(Kind::target_lacks,
                 cat(vector, ", which needs `sm_100` or newer; this kernel targets `", isa::name(in.target), '`'))
        .note("hint: older targets move 16 bytes: `.v4` of 32-bit or `.v2` of 64-bit types");
  if (in.version < Version{8, 8})
    return error(Kind::version_lacks,
                 cat(vector, ", which needs PTX 8.8; this module says `.version ", to_string(in.version), '`'));
  return std::nullopt;
}

// manual: setmaxnreg, "imm-reg-count … in the range 24 to 256 (both inclusive) and must be in multiples of 8".
std::optional<Diagnostic> setmaxnreg_count(const RuleInput& in) {
  if (in.args.empty() || in.args[0].kind != isa::ArgKind::integer) return std::nullopt;
  const std::int64_t count = in.args[0].integer;
  if (count >= 24 && count <= 256 && count % 8 == 0) return std::nullopt;
  return error(Kind::immediate_range, cat("`setmaxnreg` takes 24 to 256 registers in steps of 8; ", count, " was given"));
}

// manual: bar, "Operand a … has range 0 to 15", "operand b … must be a multiple of the warp size", "non-zero … for
// barrier.arrive".
std::optional<Diagnostic> barrier_operands(const RuleInput& in) {
  const auto immediate = [&](std::size_t i) { return i < in.args.size() && in.args[i].kind == isa::ArgKind::integer; };
  if (immediate(0) && (in.args[0].integer < 0 || in.args[0].integer > 15))
    return error(Kind::immediate_range, cat("a CTA has the barriers 0 to 15; ", in.args[0].integer, " was given"));
  const bool arrives = in.form.slot("arrive") >= 0;
  if (immediate(1) && (in.args[1].integer < 0 || in.args[1].integer % 32 != 0 || (arrives && in.args[1].integer == 0)))
    return error(Kind::immediate_range,
                 cat("a barrier waits for whole warps, a multiple of 32 threads; ", in.args[1].integer, " was given"));
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, Rule>, 3> rules = {{
    {"vector_bytes", vector_bytes},
    {"setmaxnreg_count", setmaxnreg_count},
    {"barrier_operands", barrier_operands},
}};

}  // namespace

Rule find_rule(std::string_view name) {
  for (const auto& [rule_name, rule] : rules)
    if (rule_name == name) return rule;
  return nullptr;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, rule] : rules) names.push_back(name);
  return names;
}

std::string short_name(const isa::Form& form) {
  std::string out(form.opcode);
  for (const isa::FormSlot& slot : form.slots) {
    if (!slot.literal || slot.optional || isa::type_from_name(slot.name)) break;
    out += cat('.', slot.name);
  }
  return out;
}

}  // namespace ptx::check

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

// The integer at argument `index`, or nothing.
std::optional<std::int64_t> integer_at(const RuleInput& in, std::size_t index) {
  if (index >= in.args.size() || in.args[index].kind != isa::ArgKind::integer) return std::nullopt;
  return in.args[index].integer;
}

// manual: cp.async: "src-size … must be less than or equal to cp-size"; behind it only a policy may stand.
std::optional<Diagnostic> cp_async_source_size(const RuleInput& in) {
  const auto size = integer_at(in, 2), source = integer_at(in, 3);
  if (in.args.size() != (in.form.has(in.choices, "l2") ? 5u : 4u) || !size || !source || (*source >= 0 && *source <= *size))
    return std::nullopt;
  return error(Kind::immediate_range, cat("the source size of `", short_name(in.form), "` is 0 to ", *size,
                                          ", the bytes that are copied; ", *source, " was given"));
}

// manual: tensormap.replace: the numbers that each property has.
std::optional<Diagnostic> tensormap_field(const RuleInput& in) {
  const std::string_view field = in.form.chosen(in.choices, "field");
  const auto exists = [&](Target target, Version since) {
    return isa::allows(in.target, isa::node(target)) && in.version >= since;
  };
  std::int64_t most = 3;
  if (field == "elemtype") most = exists(sm_100, {8, 7}) ? 15 : 12;
  if (field == "interleave_layout") most = 2;
  if (field == "swizzle_mode") most = exists(sm_103a, {8, 8}) ? 4 : 3;
  if (field == "fill_mode") most = 1;
  if (const auto number = integer_at(in, 1); number && (*number < 0 || *number > most))
    return error(Kind::immediate_range, cat("`.", field, "` of a tensor map is 0 to ", most, "; ", *number, " was given"));
  return std::nullopt;
}

// manual: %tid, %ntid, %ctaid, %nctaid, "legacy PTX code still accesses … using 16-bit mov"; ptxas takes no others.
std::optional<Diagnostic> special_in_16_bits(const RuleInput& in) {
  if (in.args.size() < 2) return std::nullopt;
  const std::string_view name = in.args[1].shown;
  for (const std::string_view one : {"%tid.", "%ntid.", "%ctaid.", "%nctaid."})
    if (name.starts_with(one)) return std::nullopt;
  return error(Kind::operand_mismatch,
               cat('`', name, "` is not read in 16 bits; only `%tid`, `%ntid`, `%ctaid` and `%nctaid` are"));
}

constexpr std::array<std::pair<std::string_view, Rule>, 4> rules = {{
    {"special_in_16_bits", special_in_16_bits},
    {"vector_bytes", vector_bytes},
    {"cp_async_source_size", cp_async_source_size},
    {"tensormap_field", tensormap_field},
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

#include "ptx/isa/row_rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ptx/isa/implied.hpp"

namespace ptx::isa {
namespace {

Diagnostic error(Kind kind, std::string message) { return {kind, Severity::error, std::move(message), {}, {}}; }

// Loads and stores move at most 16 bytes, and 32 (.v8 of 32-bit, .v4 of 64-bit types) in global memory from sm_100 on (manual:
// ld, st; ptxas 13.0 speaks of the "256 bit wide load/store").
std::optional<Diagnostic> vector_bytes(const RuleInput& in) {
  const int elements = in.form.count("vec", in.choices);
  const Type type = in.form.type("type", in.choices);
  const int bytes = elements * bits(type) / 8;
  if (bytes <= 16) return std::nullopt;
  const std::string vector = cat("`.v", elements, '.', name(type), "` of `", in.form.opcode, "` is ", bytes, " bytes");
  const std::string_view space = in.form.chosen(in.choices, "ss");
  if (bytes > 32 || bits(type) > 64 || !(space.empty() || space == "global"))
    return error(Kind::unknown_modifier, cat(vector, "; the widest vector is 16 bytes",
                                             bytes > 32 || bits(type) > 64 ? "" : ", and 32 only in `.global`"));
  if (!allows(in.target, node(sm_100)))
    return error(Kind::target_lacks, cat(vector, ", which needs `sm_100` or newer; this kernel targets `", name(in.target), '`'))
        .hint("older targets move 16 bytes: `.v4` of 32-bit or `.v2` of 64-bit types");
  if (in.version < Version{8, 8})
    return error(Kind::version_lacks,
                 cat(vector, ", which needs PTX 8.8; this module says `.version ", to_string(in.version), '`'));
  return std::nullopt;
}

// The integer at argument `index`, or nothing.
std::optional<std::int64_t> integer_at(const RuleInput& in, std::size_t index) {
  if (index >= in.args.size() || in.args[index].kind != ArgKind::integer) return std::nullopt;
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
  const auto exists = [&](Target target, Version since) { return allows(in.target, node(target)) && in.version >= since; };
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
  if (name == "%gridid") return std::nullopt;
  for (const std::string_view one : {"%tid.", "%ntid.", "%ctaid.", "%nctaid."})
    if (name.starts_with(one)) return std::nullopt;
  return error(Kind::operand_mismatch,
               cat('`', name, "` is not read in 16 bits; only `%tid`, `%ntid`, `%ctaid`, `%nctaid` and `%gridid` are"));
}

// manual: vmad: "only one of a or b, or c, may be negated", and .po "cannot be used with" negation.
std::optional<Diagnostic> vmad_negation(const RuleInput& in) {
  if (in.args.size() != 4) return std::nullopt;
  const bool factors = in.args[1].negated || in.args[2].negated, sum = in.args[3].negated;
  if (factors && sum) return error(Kind::operand_mismatch, "`vmad` negates its product or its summand, not both");
  if ((factors || sum) && in.form.has(in.choices, "po"))
    return error(Kind::operand_mismatch, "`.po` of `vmad` adds 1 and takes no negated operand; one is negated here");
  return std::nullopt;
}

bool has_element(const Arg& vector, bool (*test)(const Arg&)) {
  return std::any_of(vector.elements.begin(), vector.elements.end(), test);
}
bool is_sink(const Arg& arg) { return arg.kind == ArgKind::sink; }

bool is_number(const Arg& arg) { return arg.kind == ArgKind::integer || arg.kind == ArgKind::floating; }
Diagnostic number_in_wmma(const RuleInput& in) {
  return error(Kind::target_lacks,
               cat("a number is among the registers of `", short_name(in.form), "`, which `", name(in.target), "` does not take"))
      .hint("put it into a register");
}

// Seen with ptxas 13.0: before sm_90 4-bit integers have no numbers among their registers.
std::optional<Diagnostic> wmma_of_4_bits(const RuleInput& in) {
  if (in.args.size() < 3 || allows(in.target, node(sm_90))) return std::nullopt;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (is_number(in.args[i]) || has_element(in.args[i], is_number)) return number_in_wmma(in);
  return std::nullopt;
}

// Seen with ptxas 13.0: the first tensor cores have no wmma that discards elements.
std::optional<Diagnostic> wmma_discards(const RuleInput& in) {
  if (in.args.size() < 3 || allows(in.target, node(sm_80))) return std::nullopt;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (has_element(in.args[i], is_number)) return number_in_wmma(in);
  if (!has_element(in.args[0], is_sink) ||
      (in.form.has(in.choices, "f16") && in.form.has(in.choices, "f32") && in.args[0].elements.size() == 4))
    return std::nullopt;
  return error(Kind::target_lacks,
               cat("an element of `d` of `wmma.mma` is discarded, which needs `sm_80` or newer; this kernel targets `",
                   name(in.target), '`'))
      .hint("name a register that nothing reads");
}

// Seen with ptxas 13.0: from sm_90 to sm_110 mma of 8-bit floats is made of other instructions, which are stricter.
std::optional<Diagnostic> mma_of_8_bit_floats(const RuleInput& in) {
  const bool native = !allows(in.target, node(sm_90)) || allows(in.target, node(sm_120));
  if (native || in.args.size() < 4) return std::nullopt;
  const auto strict = [&](std::string_view what) {
    return error(Kind::target_lacks, cat("`mma` of 8-bit floats ", what, " on `", name(in.target), '`'))
        .hint("this target makes it of other instructions; sm_89 and sm_120 do without");
  };
  if (has_element(in.args[0], is_sink)) return strict("discards no element of `d`");
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}}) {
    const std::span<const Arg> elements = in.args[i].elements;
    const auto holds_bits = [](const Arg& e) { return e.kind == ArgKind::reg && (e.type == Type::b32 || e.type == Type::f16x2); };
    const bool alike = std::all_of(elements.begin(), elements.end(),
                                   [&](const Arg& e) { return e.kind == ArgKind::reg && e.type == elements[0].type; });
    if (in.form.type(in.form.operands[i].type, in.choices) == Type::f16x2)
      if (!alike && !std::all_of(elements.begin(), elements.end(), holds_bits))
        return strict("takes registers of one type in `d` and in `c`");
  }
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (has_element(in.args[i], [](const Arg& e) { return e.kind == ArgKind::floating && e.type != Type::f32; }))
      return strict("does not take a 64-bit number among its 32-bit registers");
  if (in.args.size() > 4 && (in.args[4].kind == ArgKind::floating || is_float(in.args[4].type)))
    return strict("takes its metadata in an integer register");
  return std::nullopt;
}

// Seen with ptxas 13.0: from sm_100 on it makes these of smaller ones.
std::optional<Diagnostic> mma_of_f64(const RuleInput& in) {
  if (in.args.empty() || !allows(in.target, node(sm_100)) || in.form.chosen(in.choices, "shape") == "m8n8k4") return std::nullopt;
  const auto strict = [&](std::string_view what) {
    return error(Kind::target_lacks, cat("`mma` of f64 ", what, " on `", name(in.target), '`'))
        .hint("from sm_100 on it is made of smaller ones, which write `.f64` or `.b64` registers");
  };
  if (has_element(in.args[0], is_sink)) return strict("discards no element of `d`");
  if (has_element(in.args[0], [](const Arg& e) { return e.kind == ArgKind::reg && is_integer(e.type); }))
    return strict("does not write integer registers");
  return std::nullopt;
}

// ptxas: "expected to be in range (0.000000 .. 1.000000]".
std::optional<Diagnostic> policy_fraction(const RuleInput& in) {
  if (in.args.size() < 2 || in.args[1].kind != ArgKind::floating) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(in.args[1].integer);
  const double fraction = in.args[1].type == Type::f32
                              ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                              : std::bit_cast<double>(bits);
  if (fraction > 0.0 && fraction <= 1.0) return std::nullopt;
  return error(Kind::immediate_range,
               cat("the fraction of `createpolicy.fractional` is above 0.0 and at most 1.0; `", in.args[1].shown, "` was given"));
}

// ptxas: "must be less than or equal to".
std::optional<Diagnostic> policy_range(const RuleInput& in) {
  if (in.args.size() != 4) return std::nullopt;
  const auto primary = integer_at(in, 2), total = integer_at(in, 3);
  if (!primary || !total || static_cast<std::uint64_t>(*primary) <= static_cast<std::uint64_t>(*total)) return std::nullopt;
  return error(Kind::immediate_range, cat("the primary size of `createpolicy.range` is at most the total size; ", *primary,
                                          " and ", *total, " were given"));
}

// manual: mbarrier: "the range of … counts is 1 to 2^20 - 1"; ptxas looks at none of them but 0.
std::optional<Diagnostic> mbarrier_count(const RuleInput& in) {
  for (const Arg& arg : in.args)
    if (arg.kind == ArgKind::integer && (arg.integer < 1 || arg.integer > 1048575)) {
      Diagnostic d =
          error(Kind::immediate_range, cat("a count of arrivals at an mbarrier is 1 to 1048575; ", arg.integer, " was given"));
      d.severity = Severity::warning;
      return d;
    }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, RowRule>, 12> all_row_rules = {{
    {"vmad_negation", vmad_negation},
    {"wmma_discards", wmma_discards},
    {"wmma_of_4_bits", wmma_of_4_bits},
    {"mma_of_8_bit_floats", mma_of_8_bit_floats},
    {"mma_of_f64", mma_of_f64},
    {"policy_fraction", policy_fraction},
    {"policy_range", policy_range},
    {"mbarrier_count", mbarrier_count},
    {"special_in_16_bits", special_in_16_bits},
    {"vector_bytes", vector_bytes},
    {"cp_async_source_size", cp_async_source_size},
    {"tensormap_field", tensormap_field},
}};

}  // namespace

RowRule find_rule(std::string_view name) {
  for (const auto& [rule_name, rule] : all_row_rules)
    if (rule_name == name) return rule;
  return nullptr;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, rule] : all_row_rules) names.push_back(name);
  return names;
}

std::string short_name(const Form& form) {
  std::string out(form.opcode);
  for (const FormSlot& slot : form.slots) {
    if (!slot.literal || slot.optional || type_from_name(slot.name)) break;
    out += cat('.', slot.name);
  }
  return out;
}

}  // namespace ptx::isa

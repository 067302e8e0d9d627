#include "ptx/isa/match.hpp"

#include <algorithm>
#include <optional>

#include "ptx/isa/describe.hpp"
#include "ptx/isa/rules.hpp"

namespace ptx::isa {
namespace {

std::string shown_or(const Arg& arg, std::string_view text) {
  return arg.shown.empty() ? std::string(text) : cat(text, " `", arg.shown, '`');
}

std::string wanted(const Form& f, const Choices& c, const OperandSpec& o) {
  switch (o.role) {
    case Role::address: {
      const std::string_view space = f.space(o, c);
      return space.empty() ? "an address `[…]`" : cat("an address in .", space, " `[…]`");
    }
    case Role::tensor:
      if (o.space == "texture")
        return cat("a texture with ", f.count(o.coords_count, c), " coordinates `[texture{, sampler}, {…}]`");
      if (o.space == "surface") return cat("a surface with ", f.count(o.coords_count, c), " coordinates `[surface, {…}]`");
      return cat("a tensor map with ", f.count(o.coords_count, c), " coordinates `[map, {…}]`");
    case Role::list:
      return o.access == Access::write ? "the results of a call `(…)`" : "the arguments of a call `(…)`";
    case Role::label:
      return "a label";
    case Role::symbol:
      return o.space.empty() ? "the name of a variable, parameter or function"
                             : cat("the name of a variable in .", f.space(o, c));
    case Role::special:
      return "a special register";
    case Role::sink:
      return "the sink `_`";
    default:
      break;
  }
  const Type type = rules::factor_type(f, f.type(o.type, c));
  if (type == Type::pred) return o.negatable ? "a predicate register, which `~` may negate" : "a predicate register";
  const int n = f.count(o.count, c);
  const std::string wide = cat(o.wider ? " (or wider)" : "", o.part.empty() ? "" : " or a part of it");
  const bool braces = n != 1 || (o.count != "one" && !rules::operand_fits(f, c, o, {.kind = ArgKind::reg, .type = type}));
  if (!o.count.empty() && braces) return cat("a vector of ", n, " .", name(type), n == 1 ? " register" : " registers", wide);
  if (o.role == Role::imm)
    return cat("an integer immediate of .", name(type), o.range.empty() ? std::string() : cat(": ", describe_range(o.range)));
  if (o.role == Role::reg) return cat("a .", name(type), " register", wide);
  if (is_float(type) && bits(type) < 32) return cat("a .", name(type), " register");
  return cat("a .", name(type), " register", wide, is_float(type) ? " or a floating-point number" : " or an integer");
}

std::string list_elements(std::span<const Arg> elements) {
  std::string out;
  for (const Arg& e : elements) {
    const std::string_view sort = e.kind == ArgKind::reg ? (e.negated ? "!." : ".") : "";
    const std::string text = e.kind == ArgKind::reg      ? cat(sort, name(e.type))
                             : e.kind == ArgKind::vector ? list_elements(e.elements)
                                                         : describe(e);
    out += cat(out.empty() ? "{" : ", ", text);
  }
  return out + "}";
}

// What was given, beside what is wanted: with as much detail as it takes to tell the two apart.
std::string contrast(const Arg& arg, bool piped, const std::string& wanted) {
  const std::string given = describe(arg);
  Arg bare = arg;
  bare.shown = {};
  if (!wanted.starts_with(describe(bare))) return given;
  if (arg.piped != piped) return cat(given, arg.piped ? " after a `|`" : " without a `|` before it");
  switch (arg.kind) {
    case ArgKind::vector:
      return cat("the vector ", list_elements(arg.elements));
    case ArgKind::tensor:
      return cat(given, ": ", list_elements(arg.elements));
    case ArgKind::address:
      return cat(given, " that holds ", list_elements(arg.elements));
    default:
      return cat(given, arg.space.empty() ? "" : cat(" in .", arg.space), ", which PTX does not take here");
  }
}

thread_local std::uint64_t asked = 0;

struct Miss {
  Diagnostic diagnostic;
  // twice how many operands fitted before the miss, and a little more: the form that got furthest explains best
  int reached = -1;
};

std::string ordinal(std::size_t i) { return cat("operand ", i + 1); }

std::optional<Diagnostic> truncation(const Form& f, const Choices& c, const OperandSpec& o, const Arg& arg, std::size_t index) {
  if (o.role != Role::value && o.role != Role::imm) return std::nullopt;
  const Type type = f.type(o.type, c);
  if (is_float(type)) return std::nullopt;
  // every number but 0 is a true predicate
  auto outside = [&](const Arg& a) {
    return a.kind == ArgKind::integer && type != Type::pred && !rules::in_range(a.integer, type);
  };
  const Arg* bad = outside(arg) ? &arg : nullptr;
  if (arg.kind == ArgKind::vector)
    for (const Arg& e : arg.elements)
      if (outside(e)) bad = &e;
  if (bad == nullptr) return std::nullopt;
  Diagnostic d{.kind = Kind::immediate_range,
               .severity = Severity::error,
               .message = cat(ordinal(index), " `", o.name, "` of `", spell(f, c), "` is ", bad->integer, ", which .", name(type),
                              " cannot hold"),
               .where = {},
               .notes = {}};
  d.hint(cat(".", name(type), " holds ", -(std::int64_t{1} << (bits(type) - 1)), " to ", (std::int64_t{1} << bits(type)) - 1));
  return d;
}

// An integer that is outside the operand's range, and the range.
struct Outside {
  std::int64_t integer;
  std::string_view range;
};
std::optional<Outside> outside_range(const OperandSpec& o, const Arg& arg) {
  if (o.range.empty()) return std::nullopt;
  const auto outside = [&](const Arg& a, std::size_t element) -> std::optional<Outside> {
    const std::string_view range = detail::range_of(o.range, element);
    if (a.kind != ArgKind::integer || rules::in_range(a.integer, range)) return std::nullopt;
    return Outside{a.integer, range};
  };
  if (arg.kind != ArgKind::vector) return outside(arg, 0);
  for (std::size_t i = 0; i < arg.elements.size(); ++i)
    if (const auto found = outside(arg.elements[i], i)) return found;
  return std::nullopt;
}

// What an author may do about an argument that its operand does not take.
std::string_view hint_about(const Form& f, const Choices& c, const OperandSpec& o, const Arg& arg) {
  const auto narrows = [&](int from, int to) {
    return arg.kind == ArgKind::reg && bits(arg.type) == from && bits(f.type(o.type, c)) == to;
  };
  if (arg.kind == ArgKind::special) return "only `mov` and `cvt` read special registers; copy it first";
  if (arg.kind == ArgKind::reg && o.role == Role::address) return "wrap a register in an address: `ptx.addr(r)`";
  if (narrows(64, 32)) return "`cvt.u32.u64` narrows a 64-bit register";
  if (narrows(32, 64)) return "`cvt.u64.u32` widens a 32-bit register";
  if (arg.kind == ArgKind::floating && o.role == Role::value && is_float(f.type(o.type, c)))
    return "PTX has no 16-bit floating-point literals; convert an f32 with `cvt.rn`, or move the bits with `mov.b16`";
  if (arg.kind == ArgKind::address && o.role == Role::address && arg.elements.size() > 1 && arg.elements[1].kind == ArgKind::reg)
    return "PTX adds only constants inside `[…]`; add the register to the base first";
  return {};
}

// Nothing when the arguments fit. Otherwise the miss, with its diagnostic only when it is to be explained: most forms are tried
// in vain while another one of the same spelling fits, and building their messages would be most of the cost of writing an
// instruction.
std::optional<Miss> try_form(const Form& f, const Choices& c, std::span<const Arg> args, bool explain, Match& fit) {
  auto miss = [&](Kind kind, auto message, std::size_t reached, bool right_sort = false) {
    Miss m{{}, static_cast<int>(2 * reached + right_sort)};  // right_sort: a name where a name is due, though not this one
    if (!explain) return m;
    m.diagnostic.kind = kind;
    m.diagnostic.message = message();
    m.diagnostic.form(cat(f.syntax()));
    m.diagnostic.manual(cat(manual(f)));
    return m;
  };
  std::size_t required_left = 0, most = 0;  // required_left: operands behind the one in hand that must be there
  for (const OperandSpec& o : f.operands)
    if (f.present(o, c)) {
      required_left += !o.optional;
      ++most;
    }
  const std::size_t least = required_left;
  if (args.size() < least || args.size() > most) {
    return miss(
        Kind::operand_count,
        [&] {
          const std::string takes = least == most ? cat(least) : cat(least, " to ", most);
          return cat('`', spell(f, c), "` takes ", takes, most == 1 ? " operand, " : " operands, ", args.size(), " given");
        },
        0);
  }
  fit.form = &f;
  fit.choices = c;
  fit.truncated.reset();
  std::size_t next = 0, operands_left = most;
  for (std::size_t i = 0; i < f.operands.size(); ++i) {
    const OperandSpec& o = f.operands[i];
    if (!f.present(o, c)) continue;
    --operands_left;
    if (o.optional && !o.piped) {
      const std::size_t args_left = args.size() - next;
      if (args_left <= required_left) continue;
      // left out, when the operands behind it can take what is there and it cannot
      if (args_left <= operands_left && !rules::operand_fits(f, c, o, args[next])) continue;
    }
    if (o.piped && o.optional && (next >= args.size() || !args[next].piped)) continue;
    required_left -= !o.optional;
    if (next >= args.size())
      return miss(Kind::operand_count, [&] { return cat('`', spell(f, c), "` lacks its operand `", o.name, '`'); }, next + 1);
    const Arg& arg = args[next];
    // a scalar video instruction puts its result into a byte or half of a further operand, which is then there
    const bool part_of_nothing =
        o.part == "lane" && o.access == Access::write && arg.kind == ArgKind::part && args.size() == least && most > least;
    if (part_of_nothing)
      return miss(
          Kind::operand_count,
          [&] {
            return cat(ordinal(next), " `", o.name, "` of `", spell(f, c), "` is ", describe(arg), ", and the operand `",
                       f.operands.back().name, "` that the result is put into is missing");
          },
          next + 1);
    if (arg.piped != o.piped || !rules::operand_fits(f, c, o, arg)) {
      auto m = miss(
          Kind::operand_mismatch,
          [&] {
            const std::string fits = wanted(f, c, o);
            return cat(ordinal(next), " `", o.name, "` of `", spell(f, c), "` is ", contrast(arg, o.piped, fits),
                       "; what fits is ", fits);
          },
          next + 1, arg.kind == ArgKind::symbol && o.role == Role::symbol);
      if (!explain) return m;
      if (const std::string_view hint = hint_about(f, c, o, arg); !hint.empty()) m.diagnostic.hint(std::string(hint));
      return m;
    }
    if (const auto bad = outside_range(o, arg))
      return miss(
          Kind::immediate_range,
          [&] {
            return cat(ordinal(next), " `", o.name, "` of `", spell(f, c), "` is ", bad->integer, "; what fits is ",
                       describe_range(bad->range));
          },
          next + 1);
    if (auto t = truncation(f, c, o, arg, next); t && !fit.truncated) fit.truncated = std::move(t);
    fit.operand_of[next++] = static_cast<std::uint8_t>(i);
  }
  if (next != args.size())
    return miss(
        Kind::operand_count, [&] { return cat('`', spell(f, c), "` has no operand for ", describe(args[next])); }, next + 1);
  return std::nullopt;
}

}  // namespace

std::string describe(const Arg& arg) {
  switch (arg.kind) {
    case ArgKind::reg:
      return shown_or(arg, cat(arg.negated ? "a negated ." : "a .", name(arg.type), " register"));
    case ArgKind::special:
      return shown_or(arg, "the special register");
    case ArgKind::integer:
      return cat("the integer ", arg.integer);
    case ArgKind::floating:
      return shown_or(arg, "the floating-point number");
    case ArgKind::symbol:
      return shown_or(arg, "the name");
    case ArgKind::vector: {
      if (arg.elements.empty()) return "an empty vector";
      const Arg& e = arg.elements[0];
      return cat("a vector of ", arg.elements.size(),
                 e.kind == ArgKind::reg ? cat(" .", name(e.type), " registers") : std::string(" values"));
    }
    case ArgKind::address:
      if (!arg.elements.empty() && arg.elements[0].kind == ArgKind::reg)
        return shown_or(arg, cat("an address in a .", name(arg.elements[0].type), " register"));
      return shown_or(arg, "the address");
    case ArgKind::tensor:
      if (arg.elements.size() < 2) return "a tensor map";
      return cat("a ", arg.elements.size() == 2 ? "tensor map" : "texture and sampler", " with ",
                 std::max<std::size_t>(arg.elements.back().elements.size(), 1), " coordinates");
    case ArgKind::sink:
      return "the sink `_`";
    case ArgKind::text:
      return shown_or(arg, "the expression");
    case ArgKind::list:
      return cat("a parenthesised list of ", arg.elements.size());
    case ArgKind::element:
      return shown_or(arg, "the array element");
    case ArgKind::part:
      return arg.elements.empty() ? shown_or(arg, "a part of a register")
                                  : cat("the part `", arg.shown, "` of ", describe(arg.elements[0]));
  }
  return "an operand";
}

std::uint64_t fits_asked() { return asked; }

Expected<Match> match(const Form& form, const Choices& choices, std::span<const Arg> args) {
  ++asked;
  Match result;
  if (auto miss = try_form(form, choices, args, true, result)) return Unexpected{std::move(miss->diagnostic)};
  return result;
}

Expected<Match> match(const ModifierTree& dots, std::span<const Arg> args) {
  ++asked;
  Match result;
  for (const ModifierTree::State& state : dots.complete())
    if (!try_form(form(state.form), state.choices, args, false, result)) return result;
  if (dots.complete().empty()) return Unexpected{dots.explain_incomplete()};
  // The form that got furthest explains best; the others are named.
  std::optional<Miss> best;
  const Form* best_form = nullptr;
  for (const ModifierTree::State& state : dots.complete()) {
    auto miss = try_form(form(state.form), state.choices, args, true, result);
    if (!best || miss->reached > best->reached) best = std::move(miss), best_form = &form(state.form);
  }
  constexpr std::size_t max_notes = 6;
  std::vector<std::string> said = {best_form->syntax()};  // forms may be spelled alike, and differ in what fits
  for (const ModifierTree::State& state : dots.complete()) {
    std::string syntax = form(state.form).syntax();
    if (best->diagnostic.notes.size() >= max_notes) break;
    if (std::find(said.begin(), said.end(), syntax) != said.end()) continue;
    best->diagnostic.note(cat("or: ", syntax));
    said.push_back(std::move(syntax));
  }
  return Unexpected{std::move(best->diagnostic)};
}

}  // namespace ptx::isa

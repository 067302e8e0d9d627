// What an operand of a form accepts under the choices made: its type, vector length and state space, whether it is there, and
// whether an argument fits it. Templates over Form, which the program uses, and ParsedForm, which the C++ dots use while
// compiling, so that both give one answer.
#pragma once

#include <string_view>

#include "ptx/isa/fragment.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa::rules {

/// Index of the slot of that name, or -1.
template <class F>
constexpr int slot(const F& form, std::string_view name) {
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    const std::string_view of = form.slots[i].name;
    if (of.size() == name.size() && !name.empty() && of[0] == name[0] && of == name) return static_cast<int>(i);
  }
  return -1;
}

/// The word chosen at a slot, "" when none is.
template <class F>
constexpr std::string_view chosen(const F& form, const Choices& choices, int slot) {
  if (slot < 0) return {};
  const auto index = static_cast<std::size_t>(slot);
  return choices[index] == 0 ? std::string_view() : form.slots[index].choices[choices[index] - 1u].word;
}
template <class F>
constexpr std::string_view chosen(const F& form, const Choices& choices, std::string_view slot_name) {
  return chosen(form, choices, slot(form, slot_name));
}

/// True when the operand is there under these choices (an optional one counts as there).
template <class F>
constexpr bool present(const F& form, const OperandSpec& operand, const Choices& choices) {
  if (!operand.conditional) return true;
  const std::string_view word = chosen(form, choices, operand.when_slot);
  if (word.empty()) return false;
  if (operand.when_choices.empty()) return true;
  for (std::string_view rest = operand.when_choices; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == word) return true;
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return false;
}

/// The instruction type that a type word means: a literal type, a slot's choice, `wide` or `dreg`.
template <class F>
constexpr Type type(const F& form, std::string_view word, const Choices& choices) {
  if (word.empty()) return Type::none;
  if (word == "wide") return widened(type(form, "type", choices));
  if (word == "dreg") {
    const Type dtype = type(form, "dtype", choices);
    return bits(dtype) == 32 ? dtype : Type::f16x2;
  }
  if (const int s = slot(form, word); s >= 0) {
    // A literal slot may share its spelling with a type: `.f32` in `fma.rn.f32` is both.
    return type_from_name(chosen(form, choices, s)).value_or(type_from_name(word).value_or(Type::none));
  }
  return type_from_name(word).value_or(Type::none);
}

/// The vector length that a count word means: 1 for "", a slot's choice (v4, x2, 3d), a fixed one, or a fragment's size; 0
/// unknown.
template <class F>
constexpr int count(const F& form, std::string_view word, const Choices& choices) {
  if (word.empty()) return 1;
  if (const int s = slot(form, word); s >= 0) {
    word = chosen(form, choices, s);
    if (word.empty()) return 1;  // an optional .vec that is not written
  }
  std::string_view digits = word;
  if (digits.starts_with('v') || digits.starts_with('x')) digits.remove_prefix(1);
  if (digits.ends_with('d')) digits.remove_suffix(1);
  int n = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9')
      return fragment_count(word, [&](std::string_view slot_name) { return chosen(form, choices, slot_name); });
    n = 10 * n + (c - '0');
  }
  return n;
}

/// The state space that an address operand lies in ("global", "shared::cta", …); "" for generic.
template <class F>
constexpr std::string_view space(const F& form, const OperandSpec& operand, const Choices& choices) {
  if (const int s = slot(form, operand.space); s >= 0) return chosen(form, choices, s);
  return operand.space;
}

// ---- does an argument fit? ------------------------------------------------------------------------------------------

// A register without a type is one of which nothing but its name is known: any type will do.
constexpr bool register_fits(const Arg& arg, Type type, bool wider) {
  return arg.kind == ArgKind::reg && (arg.type == Type::none || (wider ? fits_wider(arg.type, type) : fits(arg.type, type)));
}
constexpr bool is_wide(Type type, int width) { return type == Type::none || bits(type) == width; }

/// True for the parts that `word` allows: of a register of a scalar video instruction (lane: a byte b0 to b3, a half h0 or h1),
/// the halves or bytes that a SIMD one reads from a pair of registers (select2, select4) or writes (mask2, mask4: highest first).
constexpr bool part_fits(std::string_view word, std::string_view part) {
  if (part.starts_with('.')) part.remove_prefix(1);
  if (part.empty()) return false;
  const bool halves = part[0] == 'h';
  const std::string_view digits = part.substr(1);
  if ((!halves && part[0] != 'b') || digits.empty()) return false;
  const bool lane = word == "lane", mask = word.starts_with("mask");
  if (!lane && halves != word.ends_with('2')) return false;
  const std::size_t most_digits = lane ? 1 : halves ? 2 : 4;
  if (mask || lane ? digits.size() > most_digits : digits.size() != most_digits) return false;
  const int lanes = (halves ? 2 : 4) * (mask || lane ? 1 : 2);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] < '0' || digits[i] >= '0' + lanes) return false;
    if (mask && i != 0 && digits[i] >= digits[i - 1]) return false;
  }
  return true;
}

/// True for an element, `.x` to `.w` or `.r` to `.a`, of a vector register that fits. Other registers have none.
constexpr bool element_fits(const Arg& arg, Type type, bool wider) {
  if (arg.kind != ArgKind::part || arg.elements.empty() || arg.elements[0].kind != ArgKind::vector) return false;
  std::string_view name = arg.shown;
  if (name.starts_with('.')) name.remove_prefix(1);
  return name.size() == 1 && std::string_view("xyzwrgba").find(name[0]) != std::string_view::npos &&
         register_fits(arg.elements[0].elements[0], type, wider);
}

// ptxas looks less closely at operands of the instruction's own type than at those whose type is fixed, as a mask's: there it
// takes the name of a function, whose value is its address, and a pair of f16 for any 32-bit integer.
constexpr bool loosely_fits(const Arg& arg, Type type, const OperandSpec& o) {
  if (arg.kind == ArgKind::reg && arg.type == Type::f16x2 && o.role != Role::imm)
    return type == Type::u16x2 || type == Type::s16x2 || (is_integer(type) && (o.wider ? bits(type) <= 32 : bits(type) == 32));
  if (o.role != Role::value) return false;
  if (arg.kind == ArgKind::symbol)
    return arg.space == "function" && type != Type::pred && type != Type::bf16 && type != Type::bf16x2;
  return false;
}
constexpr bool is_one_of(std::string_view word, std::string_view list) {  // list: between spaces
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1))
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  return false;
}
template <class F>
constexpr bool is_loose(const F& form, const OperandSpec& o) {
  if (is_one_of(form.opcode, " redux nanosleep cp ")) return false;
  return (o.type == "wide" || slot(form, o.type) >= 0) && !(o.access == Access::read && is_one_of(form.opcode, " bar barrier "));
}

// ptxas lowers these to functions, or to other instructions, on some target at least: neither takes names.
template <class F>
constexpr bool is_lowered(const F& form, Type type) {
  if (form.opcode == "div" || form.opcode == "rem") return bits(type) == 64 || is_float(type);
  return is_one_of(form.opcode, " bar barrier match redux shfl sqrt vote ") ||
         ((form.opcode == "red" || form.opcode == "st") && slot(form, "async") >= 0 && slot(form, "completion") < 0);
}

// A name and an offset, wherever ptxas wants a number and does not need to know it.
template <class F>
constexpr bool text_fits(const F& form, Type type, const OperandSpec& o) {
  if (is_lowered(form, type) || is_one_of(form.opcode, " createpolicy istypep tcgen05 wgmma ")) return false;
  return o.role == Role::value && o.name != "policy" && o.name != "state" && o.part.empty() && type != Type::pred &&
         !is_float(type) && kind(type) != TypeKind::packed;
}

template <class F>
constexpr bool scalar_fits(const F& form, const Arg& arg, Type type, const OperandSpec& o) {
  if (arg.negated && !(type == Type::pred ? o.negatable : o.minus)) return false;
  // in the author's hands a whole number may stand for a float: it is encoded as one
  const bool encodes = o.role == Role::value && bits(type) >= 32 && is_float(type);
  switch (arg.kind) {
    case ArgKind::reg:
      if (o.name == "rbits" && arg.type != Type::b32) return false;  // ptxas: random bits have no other type
      return o.role != Role::imm && register_fits(arg, type, o.wider);
    case ArgKind::part:
      if (arg.elements.empty() || o.role == Role::imm) return false;
      if (o.part.empty()) return element_fits(arg, type, o.wider);  // ptxas: a video instruction reads none
      return part_fits(o.part, arg.shown) && register_fits(arg.elements[0], type, o.wider);
    case ArgKind::sink:
      return o.sink;
    case ArgKind::integer:
      if (arg.authored && encodes) return true;
      if (type == Type::pred)
        return o.role == Role::value && ((!arg.authored && form.opcode != "wgmma") || arg.integer == 0 || arg.integer == 1);
      return o.role != Role::reg && type != Type::pred && !is_float(type) && kind(type) != TypeKind::packed;
    case ArgKind::text:
      return text_fits(form, type, o);
    case ArgKind::floating:
      if (encodes) return true;
      if (o.name == "rbits") return false;
      // ptxas takes .f32 among the registers alone, too, where it counts them as pairs of halves
      if (o.role == Role::reg) return o.access == Access::read && arg.type == Type::f32 && type == Type::b32;
      return o.role == Role::value && kind(type) == TypeKind::bits &&
             (arg.type == Type::none ? bits(type) == 32 || bits(type) == 64 : bits(type) == bits(arg.type));
    default:
      return false;
  }
}

// ptxas gives a vector the type of its registers when they have one, and that of untyped bits when they differ or numbers stand
// among them; but integers, floats and pairs do not go together.
constexpr bool mixed(std::span<const Arg> elements) {
  Type first = Type::none;
  bool different = false, numbers = false, integers = false, floats = false, pairs = false;
  for (const Arg& e : elements) {
    numbers |= e.kind == ArgKind::integer || e.kind == ArgKind::text || e.kind == ArgKind::floating;
    floats |= e.kind == ArgKind::floating;
    if (e.kind != ArgKind::reg) continue;
    if (e.type == Type::pred) return false;
    integers |= is_integer(e.type);
    floats |= is_float(e.type);
    pairs |= kind(e.type) == TypeKind::packed;
    if (first == Type::none) first = e.type;
    different |= e.type != first;
  }
  return first != Type::none && (different || numbers) && integers + floats + pairs <= 1;
}

// Numbers among the registers of a matrix or of a vector that is stored: those of its type, and bits beside registers.
constexpr bool constant_fits(std::string_view opcode, const Arg& arg, Type type, bool untyped, bool alone) {
  if (arg.authored || (alone && bits(type) == 32 && arg.kind == ArgKind::floating)) return false;
  if (type == Type::f16x2 && is_one_of(opcode, " atom red multimem ")) return false;
  if ((opcode == "st" || opcode == "sust") && type == Type::b8 && arg.kind == ArgKind::floating) return false;
  if (opcode == "tcgen05" && arg.kind == ArgKind::floating && arg.type != Type::f32) return false;
  if (arg.kind != ArgKind::integer && (arg.kind != ArgKind::floating || arg.type == Type::none)) return false;
  if (untyped && !(is_float(type) && type != Type::bf16)) return true;
  if (arg.kind == ArgKind::integer) return is_integer(type) && !alone;
  return bits(arg.type) == bits(type) && (is_float(type) || kind(type) == TypeKind::bits);
}

// The operands behind a texture's coordinates are overlooked when they are not used: ptxas takes a vector for a level of detail,
// and an integer, as if it were an offset, where the depth of a cube map is compared.
template <class F>
constexpr bool texture_extra_fits(const F& form, const Choices& choices, const Arg& arg, Type type, const OperandSpec& o) {
  if (o.name == "compare")
    return (arg.kind == ArgKind::integer || arg.kind == ArgKind::text) && chosen(form, choices, "geom").ends_with("cube");
  if (o.name != "lod" || arg.kind != ArgKind::vector) return false;
  if (arg.elements.size() != 1 && arg.elements.size() != 2 && arg.elements.size() != 4) return false;
  for (const Arg& e : arg.elements)
    if (e.kind != ArgKind::reg || bits(e.type) != bits(type) || (is_float(e.type) && !is_float(type))) return false;
  return true;
}

// Vectors that ptxas does not take although each element would do: registers of both kinds in a matrix of f64, registers of
// several types in the second one of tf32.
constexpr bool elements_agree(std::string_view opcode, std::string_view operand, std::string_view shape, Type type,
                              std::span<const Arg> elements) {
  for (const Arg& e : elements)
    if (e.negated) return false;
  if (opcode != "mma" && opcode != "wmma") return true;
  if (opcode == "mma" && shape == "m8n8k16" && elements.size() == 1)
    if (const Arg& e = elements[0]; e.kind == ArgKind::floating || is_float(e.type) || kind(e.type) == TypeKind::packed)
      return false;
  bool floats = false, integers = false, different = false;
  for (const Arg& e : elements) {
    floats |= e.kind == ArgKind::reg && is_float(e.type);
    integers |= e.kind == ArgKind::integer || (e.kind == ArgKind::reg && is_integer(e.type));
    different |= e.kind != ArgKind::reg || e.type != elements[0].type;
  }
  if (bits(type) == 64 && floats && integers) return false;
  return !(opcode == "wmma" && operand == "b" && type == Type::tf32 && different);
}

// The registers and numbers of a vector are integers, floats, pairs of halves, or untyped bits beside one of these: ptxas finds
// no type for others together. A number in an author's hands is encoded as its place needs.
constexpr bool one_sort(std::span<const Arg> elements) {
  bool integers = false, floats = false, pairs = false;
  for (const Arg& e : elements) {
    const bool number = !e.authored;
    integers |= e.kind == ArgKind::reg ? is_integer(e.type) : number && (e.kind == ArgKind::integer || e.kind == ArgKind::text);
    floats |= e.kind == ArgKind::reg ? is_float(e.type) : number && e.kind == ArgKind::floating;
    pairs |= e.kind == ArgKind::reg && kind(e.type) == TypeKind::packed;
  }
  return integers + floats + pairs <= 1;
}

// True when all registers have one type.
constexpr bool alike(std::span<const Arg> elements) {
  for (const Arg& e : elements)
    if (e.kind == ArgKind::reg && e.type != elements[0].type) return false;
  return true;
}

/// True for the spaces whose windows 32 bits do not span: the global one and the generic one, which is "".
constexpr bool needs_wide_address(std::string_view space) {
  return !space.starts_with("shared") && !space.starts_with("local") && !space.starts_with("param") &&
         !space.starts_with("const") && space != "tmem";
}

/// True for g[1], g[%r1] and g[%r1+1] where ptxas takes elements of arrays: as the address of a plain load or store, and as an
/// address that is moved or made generic (manual: "Arrays as Operands").
template <class F>
constexpr bool element_fits(const F& f, const OperandSpec& o, const Arg& arg) {
  if (arg.kind != ArgKind::element || arg.elements.size() < 2) return false;
  const bool moved = o.role == Role::symbol && is_one_of(f.opcode, " mov cvta mapa ");
  const bool accessed =
      o.role == Role::address && is_one_of(f.opcode, " ld ldu st ") && slot(f, "async") < 0 && slot(f, "bulk") < 0;
  const Arg& index = arg.elements[1];
  if (!moved && !accessed) return false;
  if (index.kind != ArgKind::reg) return index.kind == ArgKind::integer;
  return index.type != Type::pred && bits(index.type) <= 64 && !is_float(index.type) && kind(index.type) != TypeKind::packed;
}

template <class F>
constexpr bool operand_fits(const F& f, const Choices& c, const OperandSpec& o, const Arg& arg) {
  switch (o.role) {
    case Role::address: {
      if (arg.kind == ArgKind::element) return element_fits(f, o, arg);
      if (arg.kind != ArgKind::address || arg.elements.empty()) return false;
      // PTX adds only constants inside the brackets
      if (arg.elements.size() > 1 && arg.elements[1].kind != ArgKind::integer && arg.elements[1].kind != ArgKind::text)
        return false;
      const Arg& base = arg.elements[0];
      if (f.opcode == "txq" || f.opcode == "suq")  // not an address: the handle of a texture or surface
        return arg.elements.size() == 1 &&
               (base.kind == ArgKind::symbol || (base.kind == ArgKind::reg && is_wide(base.type, 64) && !is_float(base.type)));
      if (base.kind == ArgKind::symbol)
        return f.opcode != "prefetchu" || base.space != "shared";  // ptxas: shared memory has another
      const std::string_view where = space(f, o, c);
      if (base.kind == ArgKind::integer || base.kind == ArgKind::text) return where == "local";  // ptxas: nowhere else
      if (base.kind != ArgKind::reg || is_float(base.type) || base.type == Type::pred) return false;
      if (where == "tmem") return is_wide(base.type, 32) && kind(base.type) != TypeKind::packed;
      if (f.opcode == "tcgen05" && base.type != Type::none && bits(base.type) < 32)
        return false;                                                                            // ptxas does not extend it here
      if (f.opcode == "multimem" && slot(f, "red") >= 0 && bits(base.type) != 64) return false;  // ptxas does not extend it here
      // ptxas takes any integer, and extends it with zeros; an author's may be narrow where the window fits in 32 bits
      if (!arg.authored) return bits(base.type) <= 64 && kind(base.type) != TypeKind::packed;
      return bits(base.type) == 64 || (bits(base.type) == 32 && !needs_wide_address(where));
    }
    case Role::tensor: {
      const bool texture = o.space == "texture";
      if (arg.kind != ArgKind::tensor || (arg.elements.size() != 2 && !(texture && arg.elements.size() == 3))) return false;
      const Arg& coords = arg.elements[arg.elements.size() - 1];
      const int n = count(f, o.coords_count, c);
      const Type coords_type = type(f, o.coords_type, c);
      // the index into an array of textures is an integer, and ptxas does not make a float of one
      const bool array = !o.space.empty() && chosen(f, c, "geom").starts_with("a");
      const bool decimal = is_float(coords_type) || (texture && (chosen(f, c, "ctype") == "f32" || f.opcode == "tld4"));
      const auto coordinate_fits = [&](const Arg& e, bool index) {
        if (e.kind == ArgKind::integer) return e.authored || index || !decimal;
        return (!e.negated && register_fits(e, coords_type, false)) || element_fits(e, coords_type, false) ||
               (e.kind == ArgKind::floating && decimal && !index);
      };
      if (coords.kind != ArgKind::vector) {  // ptxas: one register alone, when there is no sampler
        if (o.space.empty() || n != 1 || arg.elements.size() != 2 || coords.negated || !register_fits(coords, coords_type, false))
          return false;
      } else {
        // ptxas overlooks coordinates beyond those of a texture's or surface's geometry; its vectors have 1, 2 or 4 elements
        const auto given = static_cast<int>(coords.elements.size());
        if (given != n && (o.space.empty() || given < n || (given != 2 && given != 4))) return false;
        for (std::size_t i = 0; i < coords.elements.size(); ++i)
          if (!coordinate_fits(coords.elements[i], array && i == 0)) return false;
        if (texture && array && coords.elements[0].kind == ArgKind::reg && is_float(coords.elements[0].type)) return false;
      }
      for (const Arg& handle : arg.elements.first(arg.elements.size() - 1))
        if (handle.kind != ArgKind::symbol &&
            !(handle.kind == ArgKind::reg && is_wide(handle.type, 64) && !is_float(handle.type)))
          return false;
      return true;
    }
    case Role::label:
      return arg.kind == ArgKind::symbol;
    case Role::symbol: {
      if (arg.kind == ArgKind::text) return true;  // a name and an offset
      if (arg.kind == ArgKind::element ? !element_fits(f, o, arg) : arg.kind != ArgKind::symbol) return false;
      const std::string_view of = arg.kind == ArgKind::element ? arg.elements[0].space : arg.space;
      return o.space.empty() || of.empty() || space(f, o, c).starts_with(of);
    }
    case Role::list:
      return arg.kind == ArgKind::list;
    case Role::sink:
      return arg.kind == ArgKind::sink;
    case Role::special:
      // %gridid was a 16-bit and a 32-bit register once, and mov still reads it as one (manual: "Special Registers: %gridid")
      if (f.opcode == "mov" && arg.kind == ArgKind::special && arg.shown == "%gridid" && bits(type(f, o.type, c)) <= 32)
        return type(f, o.type, c) != Type::pred;
      return arg.kind == ArgKind::special &&
             (o.wider && bits(arg.type) <= 64 ? fits_wider(arg.type, type(f, o.type, c)) : fits(arg.type, type(f, o.type, c)));
    default:
      break;
  }
  const Type wanted = type(f, o.type, c);
  // most operands: an answer before anything else is worked out, since C++ authors have it worked out while compiling
  if (o.count.empty() && arg.kind == ArgKind::reg && f.opcode != "cvt" && f.opcode != "red" && scalar_fits(f, arg, wanted, o))
    return true;
  const int n = count(f, o.count, c);
  const int length_slot = slot(f, o.count);
  // one register, with or without braces: `ld.global.b32 {%r0}, [%rd0]` is what Triton writes
  const bool one = o.count == "one" || (length_slot >= 0 && chosen(f, c, length_slot).empty());
  // ptxas makes the unsigned sum of vadd4 and vsub4 of dp4a, which looks closely
  const auto dp4a = [&] {
    return o.name == "c" && is_one_of(f.opcode, " vadd4 vsub4 ") && slot(f, "add") >= 0 && chosen(f, c, "dtype") == "u32" &&
           chosen(f, c, "atype") == "u32" && chosen(f, c, "btype") == "u32";
  };
  const auto loosely = [&](const Arg& a) { return is_loose(f, o) && !dp4a() && loosely_fits(a, wanted, o); };
  if (!arg.authored && texture_extra_fits(f, c, arg, wanted, o)) return true;
  if (arg.kind == ArgKind::sink && o.sink && f.opcode == "atom") return true;  // all of the vector
  // ptxas takes wider registers for floats of two widths, but not while it flushes or clamps
  if (f.opcode == "cvt" && arg.kind == ArgKind::reg && is_float(wanted) && slot(f, "f32") >= 0 && slot(f, "f64") >= 0)
    if (o.access == Access::read ? bits(arg.type) == 128 && (!chosen(f, c, "ftz").empty() || !chosen(f, c, "sat").empty())
                                 : bits(arg.type) > bits(wanted) && !chosen(f, c, "ftz").empty())
      return false;
  // ptxas makes it a call with integers
  if (f.opcode == "red" && slot(f, "async") >= 0 && slot(f, "completion") < 0 &&
      (chosen(f, c, "scope") == "sys" || chosen(f, c, "op") == "and") &&
      (arg.kind == ArgKind::floating || (arg.kind == ArgKind::reg && is_float(arg.type))))
    return false;
  if (o.count.empty() || (one && arg.kind != ArgKind::vector)) {
    if (arg.kind == ArgKind::symbol && (is_lowered(f, wanted) || f.opcode == "tld4")) return false;
    return scalar_fits(f, arg, wanted, o) || loosely(arg);
  }
  const bool offset = o.count == "tex_offset";  // ptxas: more are overlooked, and one alone will do
  if (offset && arg.kind != ArgKind::vector) return scalar_fits(f, arg, wanted, o);
  const auto given = static_cast<int>(arg.elements.size());
  if (arg.kind != ArgKind::vector || (given != n && !(offset && given > n && (given == 2 || given == 4)))) return false;
  if (one && o.count != "one" && f.opcode == "multimem" && slot(f, "red") >= 0) return false;  // lowered to red, which has none
  if (!one_sort(arg.elements)) return false;
  if (!elements_agree(f.opcode, o.name, chosen(f, c, "shape"), wanted, arg.elements)) return false;
  const bool untyped = mixed(arg.elements);
  int width = 0;  // of the registers so far: wider ones may be used, but not side by side with others
  for (const Arg& e : arg.elements) {
    const bool sink = e.kind == ArgKind::sink && o.access == Access::write && !(f.opcode == "tex" && wanted == Type::f16x2) &&
                      !(f.opcode == "wmma" && (given == 1 || (slot(f, "tf32") >= 0 && slot(f, "mma") >= 0))) &&
                      f.opcode != "tcgen05";
    const bool same_width = untyped && e.kind == ArgKind::reg && bits(e.type) == bits(register_type(wanted));
    if (e.kind == ArgKind::text) return false;  // ptxas reads no name with an offset here
    if (!sink && !same_width && !scalar_fits(f, e, wanted, o) && !(alike(arg.elements) && loosely(e)) &&
        !(o.access == Access::read && constant_fits(f.opcode, e, wanted, untyped, given == 1)))
      return false;
    if (e.kind != ArgKind::reg) continue;
    if (width != 0 && width != bits(e.type)) return false;
    width = bits(e.type);
  }
  return true;
}

/// True when an integer immediate fits the width of `type`. A negative number may stand for its bit pattern in an unsigned type:
/// the mask of shfl.sync is written -1.
constexpr bool in_range(std::int64_t value, Type type) {
  const int n = bits(type);
  if (n >= 64 || n == 0) return true;
  return value >= -(std::int64_t{1} << (n - 1)) && value <= (std::int64_t{1} << n) - 1;
}

}  // namespace ptx::isa::rules

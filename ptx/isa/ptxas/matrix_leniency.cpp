// What ptxas overlooks about the registers of matrices, textures and surfaces, and about coordinates.
#include "ptx/isa/ptxas/mismatch.hpp"

#include <vector>

#include "ptx/isa/rules.hpp"

namespace ptx::isa::ptxas {

// Registers of matrices.
std::string_view Mismatch::matrix() const {
  if (opcode_is("movmatrix") &&
      ((is_reg(arg_, Type::pred) && (reads() || !arg_.negated)) || (reads() && arg_.kind == ArgKind::text)))
    return "a predicate or an address for packed halves";
  if (opcode_is("stmatrix", "tcgen05") && reads() && !scalar()) return constants(opcode_is("stmatrix"));
  if (!opcode_is("mma", "wmma") || scalar() || !reads()) return {};
  const int n = form_.count(spec_.count, choices_);
  if (form_has("e") && is_native_mma() && arg_.kind == ArgKind::vector && static_cast<int>(arg_.elements.size()) == n &&
      (type_ == Type::tf32 || type_ == Type::bf16x2) && all_of_type(arg_, Type::f32))
    return "f32 registers for those of a sparse matrix";
  if (type_ == Type::tf32 && !(opcode_is("wmma") && spec_.name == "b")) return constants(true);
  if (type_ == Type::f32 && opcode_is("wmma") && has("store")) return constants(false);
  return {};
}

// Numbers among registers of untyped bits.
std::string_view Mismatch::constants(bool wide) const {
  if (arg_.kind != ArgKind::vector || static_cast<int>(arg_.elements.size()) != form_.count(spec_.count, choices_)) return {};
  bool numbers = false, registers = false;
  for (const Arg& e : arg_.elements) {
    const bool number = e.kind == ArgKind::integer || (e.kind == ArgKind::floating && (wide || e.type == Type::f32));
    numbers |= number;
    registers |= is_untyped(e, 32);
    if (!number && !is_untyped(e, 32)) return {};
  }
  return numbers && registers ? "a number among the registers of a matrix" : "";
}

// Which of a sparse matrix's elements are there, and the sparse matrix itself.
std::string_view Mismatch::sparse() const {
  if (!opcode_is("mma", "wgmma") || !reads() || !form_has("e")) return {};
  if (opcode_is("mma") && !is_native_mma()) return {};
  const bool word = arg_.kind == ArgKind::reg && (arg_.type == Type::pred || (!arg_.negated && bits(arg_.type) == 32));
  const bool number = arg_.kind == ArgKind::text || (arg_.kind == ArgKind::floating && arg_.type == Type::f32);
  if (spec_.name == "e" && scalar()) {
    const auto words = [](const Arg& e) { return e.kind == ArgKind::reg && e.type != Type::pred && bits(e.type) == 32; };
    const bool takes = is_reg(arg_, Type::pred) || arg_.kind == ArgKind::text || is_vector(arg_, words);
    return takes || (opcode_is("wgmma") && number) ? "anything for the metadata of a sparse matrix" : "";
  }
  if (spec_.name == "a" && wrote("sp::ordered_metadata") && !scalar() && wrote("s32") && (word || number))
    return "one value for the vector of a sparse matrix";
  return {};
}

std::string_view Mismatch::surface() const {
  if (!opcode_is("sust", "suld") || spec_.role == Role::tensor) return {};
  const int width = bits(type_);
  if (scalar()) {
    if (arg_.kind != ArgKind::vector || (arg_.elements.size() != 2 && arg_.elements.size() != 4)) return {};
    return total_bits(arg_) >= width ? "a vector for the one value of a surface" : "";
  }
  if (!reads() || arg_.kind == ArgKind::vector) return {};
  const bool reg =
      arg_.kind == ArgKind::reg && !arg_.negated && arg_.type != Type::pred && bits(arg_.type) >= std::max(width, 16);
  const bool floating =
      arg_.kind == ArgKind::floating && (width == 64 ? arg_.type != Type::f32 : width == 32 && arg_.type == Type::f32);
  return reg || is_number(arg_) || is_function(arg_) || floating ? "one value for the vector of a surface" : "";
}

std::string_view Mismatch::texture() const {
  if (!opcode_is("tex", "tld4") || arg_.kind == ArgKind::tensor) return {};
  if (spec_.name == "d" && type_ == Type::f32 && arg_.kind == ArgKind::vector && arg_.elements.size() == 4) {
    const bool integers = all_of_type(arg_, Type::s32) || all_of_type(arg_, Type::u32);
    if (integers) return "integer registers for the f32 of a texture";
  }
  if (!wrote("cube") && !wrote("acube")) return {};
  if (spec_.name == "compare" && (is_reg(arg_, Type::u32) || is_reg(arg_, Type::s32)))
    return "an offset, which a cube map does not take";
  if (spec_.name.starts_with("dPd") && arg_.elements.size() < 4 &&
      is_vector(arg_, [](const Arg& e) { return is_untyped(e, 32) || is_reg(e, Type::f32); }))
    return "short vectors for the gradients of a cube map";
  return {};
}

// In a vector or in coordinates: special registers, and bytes and halves of registers.
std::string_view Mismatch::register_in_disguise() const {
  if (arg_.kind != ArgKind::vector && arg_.kind != ArgKind::tensor) return {};
  const Elements elements = arg_.kind == ArgKind::vector ? arg_.elements : arg_.elements.back().elements;
  const auto has_kind = [&](ArgKind sought) {
    return std::any_of(elements.begin(), elements.end(), [&](const Arg& e) { return e.kind == sought; });
  };
  const bool specials = has_kind(ArgKind::special), selectors = has_kind(ArgKind::part), names = has_kind(ArgKind::symbol);
  if (names && arg_.kind == ArgKind::tensor) return {};
  if (((specials || names) && refuses_specials()) || (selectors && refuses_selectors(elements.size())) || !fits_unmasked())
    return {};
  if (specials && !reads()) return "a special register for a result, which is then lost";
  if (names) return "the name of a variable where a register of its type stands";
  return specials ? "a special register here" : selectors ? "a byte or half of a register here, and reads all of it" : "";
}

// Where it makes other instructions of this one.
bool Mismatch::refuses_specials() const {
  if (arg_.kind == ArgKind::tensor) return false;
  if (opcode_is("tcgen05") || packs_halves()) return true;
  if (opcode_is("mma")) {
    // of a lowered mma the factors of 8 bits everywhere, those of 4 bits before sm_90
    const bool factor = (spec_.name == "a" || spec_.name == "b") && !wrote("sp") &&
                        (wrote("e4m3") || wrote("e5m2") || ((wrote("s4") || wrote("u4")) && !has_target(sm_90)));
    return (wrote("m8n8k4") && wrote("f16") && has_target(sm_80)) || (reads() && !is_native_mma() && !factor);
  }
  if (!opcode_is("wmma")) return false;
  return !has("mma") || wrote("s4") || wrote("u4") || wrote("b1");
}

bool Mismatch::refuses_selectors(std::size_t elements) const {
  if (opcode_is("tcgen05") || packs_halves()) return true;
  const bool factor_of_halves =
      opcode_is("wmma") && has("mma") && type_ == Type::f16x2 && (spec_.name == "a" || spec_.name == "b");
  const bool stored = (opcode_is("st") && !has("async")) || (opcode_is("multimem") && has("st"));
  if (reads() && opcode_is("tex", "tld4", "suld")) return true;  // ptxas crashes
  if (reads())
    return arg_.kind == ArgKind::vector && (elements < 2 || !(opcode_is("stmatrix", "sust") || stored || factor_of_halves));
  if (opcode_is("mma")) return !is_native_mma();
  if (!opcode_is("wmma")) return false;
  return !has("mma") || wrote("tf32") || (!has_target(sm_80) && !wrote("s8") && !wrote("u8"));
}

// Bytes and halves as video instructions select them, in any number.
bool Mismatch::is_selector(std::string_view part) {
  if (part.starts_with('.')) part.remove_prefix(1);
  if (part.size() < 2 || part.size() > 5 || (part[0] != 'b' && part[0] != 'h')) return false;
  const char end = part[0] == 'b' ? '8' : '4';
  return std::all_of(part.begin() + 1, part.end(), [&](char digit) { return digit >= '0' && digit < end; });
}

// True when it fits with plain registers in those places.
bool Mismatch::fits_unmasked() const {
  const auto unmasked = [](Elements elements) {
    std::vector<Arg> plain(elements.begin(), elements.end());
    for (Arg& e : plain)
      if (e.kind == ArgKind::special && (bits(e.type) == 32 || bits(e.type) == 64))
        e = {.kind = ArgKind::reg, .type = bits(e.type) == 32 ? Type::b32 : Type::b64};
      else if (is_typed_name(e))
        e = {.kind = ArgKind::reg, .type = e.type};
      else if (e.kind == ArgKind::part && e.elements[0].kind == ArgKind::reg && e.elements[0].type != Type::pred &&
               bits(e.elements[0].type) == 32 && is_selector(e.shown))
        e = e.elements[0];
    return plain;
  };
  Arg plain = arg_;
  std::vector<Arg> parts(arg_.elements.begin(), arg_.elements.end()), inner;
  if (arg_.kind != ArgKind::tensor) {
    parts = unmasked(parts);
  } else if (parts.back().kind == ArgKind::vector) {
    inner = unmasked(parts.back().elements);
    parts.back().elements = inner;
  }
  plain.elements = parts;
  return rules::operand_fits(form_, choices_, spec_, plain);
}

// Coordinates whose types differ count as untyped bits beside a register of such, as long as integers and floats do not meet.
std::string_view Mismatch::coordinates() const {
  if (arg_.kind != ArgKind::tensor || arg_.elements.back().kind != ArgKind::vector) return {};
  if (opcode_is("tex") && has("grad") && wrote("acube")) return {};
  const Arg& given = arg_.elements.back();
  const auto is_word = [](const Arg& e) {
    if (e.kind == ArgKind::reg) return !e.negated && (e.type == Type::pred || bits(e.type) == 32);
    return is_typed_name(e) && bits(e.type) == 32;
  };
  const bool untyped = std::any_of(given.elements.begin(), given.elements.end(),
                                   [&](const Arg& e) { return is_word(e) && kind(e.type) == TypeKind::bits; });
  std::vector<Arg> plain(given.elements.begin(), given.elements.end());
  bool integers = false, floats = false, pairs = false;
  for (Arg& e : plain) {
    const bool number = untyped && e.kind == ArgKind::floating;
    integers |= e.kind == ArgKind::integer && spec_.space != "surface";
    if (!is_word(e) && !number) continue;
    integers |= !number && is_integer(e.type);
    floats |= number ? spec_.space != "surface" : is_float(e.type);
    pairs |= !number && kind(e.type) == TypeKind::packed;
    e = {.kind = ArgKind::reg, .type = untyped ? Type::b32 : e.type};
  }
  if (integers + floats + pairs > 1) return {};
  Arg vector = given;
  vector.elements = plain;
  std::vector<Arg> parts(arg_.elements.begin(), arg_.elements.end());
  parts.back() = vector;
  Arg tensor = arg_;
  tensor.elements = parts;
  return rules::operand_fits(form_, choices_, spec_, tensor) ? "any 32 bits, and predicates, for a coordinate" : "";
}

// {%u1, 3}: what stands behind the first element is not looked at.
std::string_view Mismatch::level_of_detail() const {
  if (spec_.name != "lod" || !opcode_is("tex", "txq") || arg_.kind != ArgKind::vector) return {};
  const std::size_t n = arg_.elements.size();
  if (n != 1 && n != 2 && n != 4) return {};
  bool floats = false, integers = false, untyped = false;
  for (const Arg& e : arg_.elements) {
    const bool word =
        e.kind == ArgKind::reg && !e.negated && e.type != Type::pred && bits(e.type) == 32 && kind(e.type) != TypeKind::packed;
    if (!word && e.kind != ArgKind::integer && e.kind != ArgKind::floating) return {};
    untyped |= word && kind(e.type) == TypeKind::bits;
    floats |= is_float(e.type) && e.kind != ArgKind::integer;
    integers |= e.kind == ArgKind::integer || (word && is_integer(e.type));
  }
  if (floats && integers) return {};
  return untyped || floats == is_float(type_) ? "a vector for a level of detail" : "";
}

}  // namespace ptx::isa::ptxas

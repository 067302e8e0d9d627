#include "ptx/isa/overlooked.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ptx/isa/implied.hpp"
#include "ptx/isa/order.hpp"
#include "ptx/isa/rules.hpp"

namespace ptx::isa {
namespace {

using Elements = std::span<const Arg>;

bool is_reg(const Arg& arg, Type type) { return arg.kind == ArgKind::reg && arg.type == type; }
bool is_untyped(const Arg& arg, int width) {
  return arg.kind == ArgKind::reg && !arg.negated && kind(arg.type) == TypeKind::bits && bits(arg.type) == width;
}
bool is_number(const Arg& arg) { return arg.kind == ArgKind::integer || arg.kind == ArgKind::text; }
bool is_function(const Arg& arg) { return arg.kind == ArgKind::symbol && arg.space == "function"; }
// A variable or parameter that is neither an array nor a vector: its name has the type of a register.
bool is_typed_name(const Arg& arg) {
  return arg.kind == ArgKind::symbol && arg.type != Type::none && kind(arg.type) != TypeKind::opaque;
}
bool is_variable(const Arg& arg) {
  if (arg.kind == ArgKind::element) return is_variable(arg.elements[0]);
  return arg.kind == ArgKind::symbol && (arg.space == "shared" || arg.space == "global" || arg.space == "const");
}

template <class Test>
bool is_vector(const Arg& arg, Test test) {
  const std::size_t n = arg.elements.size();
  return arg.kind == ArgKind::vector && (n == 1 || n == 2 || n == 4) &&
         std::all_of(arg.elements.begin(), arg.elements.end(), test);
}
bool all_of_type(const Arg& arg, Type type) {
  return std::all_of(arg.elements.begin(), arg.elements.end(), [&](const Arg& e) { return is_reg(e, type); });
}
int total_bits(const Arg& arg) {
  int total = 0;
  for (const Arg& e : arg.elements) total += e.kind == ArgKind::reg && e.type != Type::pred ? bits(e.type) : -10000;
  return total;
}

// One operand of one form under its choices, and what stands there instead.
class Misfit {
 public:
  Misfit(const Form& form, const Choices& choices, const OperandSpec& spec, const Arg& arg, Target target)
      : form_(form), choices_(choices), spec_(spec), arg_(arg), target_(target), type_(form.type(spec.type, choices)) {}

  // What ptxas overlooks, or "".
  std::string_view overlooked() const {
    using Quirk = std::string_view (Misfit::*)() const;
    for (const Quirk quirk : {&Misfit::without_brackets,
                              &Misfit::policy_for_mbarrier,
                              &Misfit::integers_for_floats,
                              &Misfit::vector_for_bf16,
                              &Misfit::integers_for_bf16,
                              &Misfit::predicate_among_words,
                              &Misfit::not_a_predicate,
                              &Misfit::number_too_wide,
                              &Misfit::mov,
                              &Misfit::count_of_mbarrier,
                              &Misfit::matrix,
                              &Misfit::sparse,
                              &Misfit::tensor_map,
                              &Misfit::special_for_address,
                              &Misfit::register_in_disguise,
                              &Misfit::coordinates,
                              &Misfit::fence,
                              &Misfit::part_of_halves,
                              &Misfit::surface,
                              &Misfit::texture,
                              &Misfit::asynchronous_store,
                              &Misfit::name_with_offset,
                              &Misfit::level_of_detail,
                              &Misfit::floats_for_halves,
                              &Misfit::policy})
      if (const std::string_view what = (this->*quirk)(); !what.empty()) return what;
    return {};
  }

 private:
  bool opcode_is(std::string_view a, std::string_view b = {}, std::string_view c = {}) const {
    return form_.opcode == a || form_.opcode == b || form_.opcode == c;
  }
  bool has(std::string_view slot) const { return form_.slot(slot) >= 0; }
  bool form_has(std::string_view operand) const {
    return std::any_of(form_.operands.begin(), form_.operands.end(), [&](const OperandSpec& o) { return o.name == operand; });
  }
  bool wrote(std::string_view word) const {
    for (std::size_t i = 0; i < form_.slots.size(); ++i)
      if (form_.chosen(choices_, static_cast<int>(i)) == word) return true;
    return false;
  }
  bool scalar() const { return spec_.count.empty() || form_.count(spec_.count, choices_) == 1; }
  bool has_target(Target target) const { return allows(target_, node(target)); }
  // An mma that the target has, and not one that ptxas makes of others: those are stricter.
  bool is_native_mma() const {
    if (wrote("s4") || wrote("u4") || (wrote("sp") && has_target(sm_120))) return false;
    return !(wrote("e4m3") || wrote("e5m2")) || !has_target(sm_90) || has_target(sm_120);
  }
  bool reads() const { return spec_.access == Access::read; }

  // cp.async.bulk.tensor … %r1 for [%r1]: the machine code is the same.
  std::string_view without_brackets() const {
    if (!opcode_is("cp") || !has("tensor") || spec_.role != Role::address) return {};
    if (!form_.space(spec_, choices_).starts_with("shared")) return {};
    const bool shared = arg_.kind == ArgKind::symbol && arg_.space == "shared";
    const bool integer = arg_.kind == ArgKind::reg && !arg_.negated && bits(arg_.type) <= 64 &&
                         (kind(arg_.type) == TypeKind::bits || is_integer(arg_.type));
    if (integer || arg_.kind == ArgKind::text || shared) return "an address without its brackets";
    const bool anything = arg_.kind == ArgKind::reg || arg_.kind == ArgKind::floating;
    return anything && spec_.name == "srcMem" ? "anything for the address of what is copied to global memory" : "";
  }

  // A copy between shared memories may have a policy where others have the mbarrier.
  std::string_view policy_for_mbarrier() const {
    if (!opcode_is("cp") || !has("bulk") || has("tensor") || spec_.name != "mbar") return {};
    for (const std::string_view slot : {"l2", "multicast", "ignore_oob"})
      if (!form_.chosen(choices_, form_.slot(slot)).empty()) return {};
    const bool policy = arg_.kind == ArgKind::reg && bits(arg_.type) == 64 && !is_float(arg_.type);
    return policy || arg_.kind == ArgKind::integer ? "a policy for the mbarrier, which the copy then lacks" : "";
  }

  // ld.v2.f64 {%u1, %u2}: one register alone must be a float.
  std::string_view integers_for_floats() const {
    if (!opcode_is("ld", "ldu", "st") && !opcode_is("mov")) return {};
    if ((type_ != Type::f32 && type_ != Type::f64) || scalar() || arg_.kind != ArgKind::vector) return {};
    if (static_cast<int>(arg_.elements.size()) != form_.count(spec_.count, choices_)) return {};
    const bool fitting = std::all_of(arg_.elements.begin(), arg_.elements.end(), [&](const Arg& e) {
      return e.kind == ArgKind::reg && is_integer(e.type) && bits(e.type) == bits(type_);
    });
    return fitting ? "integer registers for the floats of a vector" : "";
  }

  std::string_view vector_for_bf16() const {
    if (!scalar() || (type_ != Type::bf16 && type_ != Type::bf16x2) || opcode_is("atom", "red", "multimem") || opcode_is("ex2"))
      return {};
    if (opcode_is("tanh") && type_ == Type::bf16x2) return {};
    if (is_vector(arg_, [&](const Arg& e) { return is_untyped(e, bits(type_)); }))
      return "a vector where one bf16 or a pair of bf16 stands";
    return {};
  }

  std::string_view integers_for_bf16() const {
    constexpr std::string_view integers = "16-bit integers for bf16, which newer versions refuse";
    if (type_ == Type::bf16 && scalar()) {
      const bool register_fits = is_reg(arg_, Type::u16) || is_reg(arg_, Type::s16);
      if (opcode_is("set") && !reads() && register_fits) return integers;
      if (opcode_is("add", "sub", "fma") && has("f32") && reads() && (register_fits || arg_.kind == ArgKind::integer))
        return integers;
    }
    const bool scales = opcode_is("cvt") && wrote("ue8m0x2") && bits(type_) == 32 && !is_float(type_);
    const bool pair = type_ == Type::bf16x2 || scales ||
                      (opcode_is("multimem") && type_ == Type::b32 && (wrote("bf16x2") || wrote("e4m3x4") || wrote("e5m2x4")));
    if (!pair || !scalar() || arg_.negated) return {};
    const auto word = [](const Arg& e) { return e.kind == ArgKind::reg && (e.type == Type::pred || bits(e.type) == 32); };
    if ((scales || (opcode_is("set") && !reads())) &&
        (word(arg_) || (is_vector(arg_, word) && all_of_type(arg_, arg_.elements[0].type))))
      return "any 32 bits, and predicates, for a pair of bf16";
    if (scales && reads() && (arg_.kind == ArgKind::text || (arg_.kind == ArgKind::floating && arg_.type == Type::f32)))
      return "a number for a pair of bf16";
    if (opcode_is("multimem") && !reads() && is_reg(arg_, Type::pred)) return "a predicate for a pair of bf16";
    return {};
  }

  // {%p1, %r2}: a vector whose registers differ counts as one of untyped bits, whatever the others are.
  std::string_view predicate_among_words() const {
    if (arg_.kind != ArgKind::vector || arg_.elements.size() < 2) return {};
    if (!opcode_is("mov", "ld", "st") && !opcode_is("atom", "red", "multimem") && !opcode_is("mma", "wmma") &&
        !opcode_is("ldmatrix", "stmatrix", "wgmma") && !opcode_is("sust"))
      return {};
    if ((opcode_is("mma") && !is_native_mma()) ||
        (opcode_is("wmma") && (has("load") || (spec_.name == "b" && type_ == Type::tf32))))
      return {};
    if (opcode_is("mov") && spec_.count.empty() && !(type_ == Type::b64 && arg_.elements.size() == 2)) return {};
    const bool words =
        opcode_is("mov") ||
        (bits(type_) == 32 && (kind(type_) == TypeKind::bits || kind(type_) == TypeKind::packed || type_ == Type::tf32));
    if (!words) return {};
    bool predicates = false, others = false;
    for (const Arg& e : arg_.elements) {
      if (is_reg(e, Type::pred) && !e.negated)
        predicates = true;
      else if (is_untyped(e, 32))
        others = true;
      else
        return {};
    }
    return predicates && others ? "a predicate among the 32-bit registers of a vector" : "";
  }

  std::string_view not_a_predicate() const {
    if (type_ != Type::pred || form_.slot(spec_.type) < 0 || !scalar()) return {};
    const bool logic = opcode_is("and", "or", "xor") || opcode_is("not", "mov");
    const bool lowered = opcode_is("vote") || (opcode_is("bar", "barrier") && !reads());
    if (!logic && !(lowered && has_target(sm_90))) return {};
    if (is_reg(arg_, Type::f16x2)) return "a pair of f16 for a predicate";
    return reads() && is_function(arg_) ? "the name of a function for a predicate" : "";
  }

  // The number of a barrier and the size of a copy are cut to 32 bits before they are looked at.
  std::string_view number_too_wide() const {
    const bool barrier = opcode_is("bar", "barrier") && spec_.name == "a",
               size = opcode_is("cp") && spec_.name == "size" && !has("prefetch");
    if (arg_.kind != ArgKind::integer || !(barrier || size)) return {};
    return rules::in_range(arg_.integer & 0xFFFFFFFF, spec_.range)
               ? "a number of more than 32 bits, of which it takes the low ones"
               : "";
  }

  std::string_view mov() const {
    if (!opcode_is("mov")) return {};
    if (!reads() && type_ == Type::b128 && form_.operands.back().role == Role::special) return {};
    if (spec_.role == Role::special)
      return arg_.kind == ArgKind::special && arg_.shown == "%gridid" && form_.slot("vec") >= 0
                 ? "%gridid for a special register of four elements"
                 : "";
    if (const int vec = form_.slot("vec"); vec >= 0) return reads() ? mov_to_vector() : "";
    if (!scalar()) {
      const auto is_element = [&](const Arg& e) { return e.kind == ArgKind::sink || e.kind == ArgKind::reg; };
      const auto is_sink = [](const Arg& e) { return e.kind == ArgKind::sink; };
      if (!reads() || !is_vector(arg_, is_element)) return {};
      const auto sinks = static_cast<std::size_t>(std::count_if(arg_.elements.begin(), arg_.elements.end(), is_sink));
      const int width = bits(type_);
      if (width * static_cast<int>(arg_.elements.size()) != 32) return {};
      for (const Arg& e : arg_.elements)
        if (!is_sink(e) && (e.type == Type::pred || bits(e.type) != width)) return {};
      if (sinks == 0 || sinks == arg_.elements.size() ||
          static_cast<int>(arg_.elements.size()) != form_.count(spec_.count, choices_))
        return {};
      return "a sink among the packed values, whose bits are then 0";
    }
    if (kind(type_) != TypeKind::bits && kind(type_) != TypeKind::uint && kind(type_) != TypeKind::sint) return {};
    const bool unpacks = form_.operands.size() == 2 && !form_.operands[0].count.empty();
    const bool packs = form_.operands.size() == 2 && !form_.operands[1].count.empty();
    if (kind(type_) == TypeKind::bits && !unpacks && !packs && arg_.kind == ArgKind::vector && arg_.elements.size() == 1 &&
        arg_.elements[0].kind == ArgKind::reg && rules::register_fits(arg_.elements[0], type_, false))
      return "a vector of one for its element";
    if (!reads()) return {};
    if (unpacks && (is_variable(arg_) ||
                    (arg_.kind == ArgKind::special && (bits(type_) == 32 || bits(type_) == 64) && fits(arg_.type, type_))))
      return "an address or a special register where bits are unpacked";
    if (is_variable(arg_) && (bits(type_) != 32 && bits(type_) != 64)) return "an address in 16 or 128 bits";
    return {};
  }

  // mov.v4.u32 {…}, %r1
  std::string_view mov_to_vector() const {
    const bool decimal = is_float(type_);
    const auto fitting = [&](Type type) { return fits(type, type_) || (type == Type::f16x2 && bits(type_) == 32 && !decimal); };
    constexpr std::string_view one = "one value for a whole vector";
    if (arg_.kind == ArgKind::reg && !arg_.negated && arg_.type != Type::pred && fitting(arg_.type)) return one;
    if (arg_.kind == ArgKind::special && fits(arg_.type, type_)) return one;
    if (arg_.kind == ArgKind::floating)
      return decimal || (kind(type_) == TypeKind::bits && bits(type_) == (arg_.type == Type::f32 ? 32 : 64)) ? one : "";
    if (is_function(arg_)) return one;
    if (!decimal && (is_number(arg_) || is_variable(arg_))) return one;
    if (arg_.kind != ArgKind::vector || type_ != Type::b32 || arg_.elements[0].kind != ArgKind::sink) return {};
    return static_cast<int>(arg_.elements.size()) == form_.count("vec", choices_) &&
                   std::all_of(arg_.elements.begin() + 1, arg_.elements.end(),
                               [&](const Arg& e) { return e.kind == ArgKind::reg && fits(e.type, type_); })
               ? "a sink among values that are read"
               : "";
  }

  std::string_view count_of_mbarrier() const {
    if (!opcode_is("mbarrier") || spec_.name != "count" || has("init")) return {};
    const bool number = arg_.kind == ArgKind::vector && arg_.elements.size() == 1 && arg_.elements[0].kind == ArgKind::integer;
    return number || is_vector(arg_, [](const Arg& e) { return is_untyped(e, 32); }) ? "a vector for a count" : "";
  }

  // Registers of matrices.
  std::string_view matrix() const {
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
  std::string_view constants(bool wide) const {
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
  std::string_view sparse() const {
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

  std::string_view surface() const {
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

  std::string_view texture() const {
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

  std::string_view policy() const {
    if (!opcode_is("createpolicy") || !has("cvt") || reads() || !has_target(sm_90) || arg_.kind != ArgKind::integer) return {};
    return "a number where a policy is written";
  }

  // Where ptxas makes other instructions of this one. Elsewhere it refuses a special register for an address, or crashes; in `ld`
  // as soon as anybody reads what was loaded.
  std::string_view special_for_address() const {
    if (arg_.kind != ArgKind::address || arg_.elements.empty() || arg_.elements[0].kind != ArgKind::special) return {};
    const Arg& base = arg_.elements[0];
    const bool has_dot = base.shown.find('.') != std::string_view::npos;  // ptxas reads `[%tid` and then none
    const bool asynchronous = opcode_is("st", "red") && has("async");
    const bool made_of_others = opcode_is("cp", "ldmatrix", "stmatrix") || opcode_is("wmma", "tensormap", "fence") ||
                                opcode_is("createpolicy", "clusterlaunchcontrol") || (opcode_is("multimem") && !has("st")) ||
                                (opcode_is("prefetch") && has("tensormap"));
    const bool extended = opcode_is("cp") && has_target(sm_120) && wrote("shared::cluster") &&
                          form_.space(spec_, choices_).starts_with("shared");  // there ptxas adds to the address
    if (has_dot || extended || !(made_of_others || asynchronous)) return {};
    return fits_unmasked() ? "a special register here" : "";
  }

  // In a vector or in coordinates: special registers, and bytes and halves of registers.
  std::string_view register_in_disguise() const {
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
  bool packs_halves() const { return opcode_is("tex") && !reads() && type_ == Type::f16x2; }
  // Where it makes other instructions of this one.
  bool refuses_specials() const {
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
  bool refuses_selectors(std::size_t elements) const {
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
  // vsub2 %r0, %x1.h10, … where %x1 is a pair of f16
  std::string_view part_of_halves() const {
    if (arg_.kind != ArgKind::part || spec_.part.empty() || !is_reg(arg_.elements[0], Type::f16x2)) return {};
    const std::array word = {Arg{.kind = ArgKind::reg, .type = Type::b32}};
    Arg plain = arg_;
    plain.elements = word;
    return rules::operand_fits(form_, choices_, spec_, plain) ? "a pair of f16 for a word" : "";
  }

  // Bytes and halves as video instructions select them, in any number.
  static bool is_selector(std::string_view part) {
    if (part.starts_with('.')) part.remove_prefix(1);
    if (part.size() < 2 || part.size() > 5 || (part[0] != 'b' && part[0] != 'h')) return false;
    const char end = part[0] == 'b' ? '8' : '4';
    return std::all_of(part.begin() + 1, part.end(), [&](char digit) { return digit >= '0' && digit < end; });
  }
  // True when it fits with plain registers in those places.
  bool fits_unmasked() const {
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
  std::string_view coordinates() const {
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

  // A name and an offset where ptxas reads the operand like those of `add`: of a barrier, and, where it makes other instructions
  // of them, of what the lanes of a warp do together.
  std::string_view name_with_offset() const {
    if (arg_.kind != ArgKind::text || !reads() || !scalar() || is_float(type_) || type_ == Type::pred) return {};
    const bool barrier =
        (opcode_is("bar", "barrier") && !has("warp")) && (opcode_is("bar") || wrote("aligned") || has_target(sm_90));
    const bool lanes = (opcode_is("shfl", "vote", "match") || opcode_is("redux") || (opcode_is("bar") && has("warp")));
    return barrier || (lanes && has_target(sm_90)) ? "a name with an offset here" : "";
  }

  // {%u1, 3}: what stands behind the first element is not looked at.
  std::string_view level_of_detail() const {
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

  // red.v4.f16 [a], {%h1, 1.0, …}
  std::string_view floats_for_halves() const {
    const bool stores = opcode_is("multimem") && has("st"), reduces = opcode_is("red") || (opcode_is("multimem") && has("red"));
    if (!(stores || reduces) || !reads() || scalar() || arg_.kind != ArgKind::vector) return {};
    if (type_ != Type::f16 && type_ != Type::f16x2) return {};
    if (static_cast<int>(arg_.elements.size()) != form_.count(spec_.count, choices_) || arg_.elements[0].kind != ArgKind::reg)
      return {};
    for (const Arg& e : arg_.elements) {
      const bool half = type_ == Type::f16 ? is_reg(e, Type::f16) || is_untyped(e, 16) : is_untyped(e, 32);
      if (!(half && !e.negated) && e.kind != ArgKind::floating) return {};
    }
    return "a number among the halves of a vector";
  }

  // fence.proxy.tensormap … [anything]
  std::string_view fence() const {
    if (!opcode_is("fence") || spec_.role != Role::address || arg_.kind != ArgKind::address || arg_.elements.size() != 1)
      return {};
    const Arg& base = arg_.elements[0];
    const bool anything = base.kind == ArgKind::integer || (base.kind == ArgKind::reg && !base.negated && bits(base.type) <= 64);
    return anything ? "anything for the address of the tensor map" : "";
  }

  // Any register for the address of a tensor map.
  std::string_view tensor_map() const {
    if (spec_.role != Role::tensor || !spec_.space.empty() || arg_.kind != ArgKind::tensor || arg_.elements.size() != 2)
      return {};
    if (arg_.elements[0].kind != ArgKind::reg) return {};
    const Arg address{.kind = ArgKind::reg, .type = Type::b64};
    const std::array parts = {address, arg_.elements[1]};
    Arg tensor = arg_;
    tensor.elements = parts;
    return rules::operand_fits(form_, choices_, spec_, tensor) ? "any register for the address of a tensor map" : "";
  }

  std::string_view asynchronous_store() const {
    if (!opcode_is("st") || !has("async") || !has("vec") || spec_.name != "b") return {};
    const auto fitting = [&](const Arg& e) {
      return e.kind == ArgKind::reg && !e.negated &&
             (fits(e.type, type_) || (e.type == Type::f16x2 && bits(type_) == 32 && !is_float(type_)));
    };
    if (scalar())
      return kind(type_) != TypeKind::bits && arg_.kind == ArgKind::vector && arg_.elements.size() > 1 && is_vector(arg_, fitting)
                 ? "a vector for the one value of st.async"
                 : "";
    const bool decimal = is_float(type_);
    const bool floating = arg_.kind == ArgKind::floating &&
                          (decimal || (kind(type_) == TypeKind::bits && bits(type_) == (arg_.type == Type::f32 ? 32 : 64)));
    if (fitting(arg_) || floating || (!decimal && (is_number(arg_) || is_function(arg_))))
      return "one value for the vector of st.async";
    return {};
  }

  const Form& form_;
  const Choices& choices_;
  const OperandSpec& spec_;
  const Arg& arg_;
  Target target_;
  Type type_;
};

// Matches operands and arguments in order.
class Match {
 public:
  Match(const Form& form, const Choices& choices, std::span<const Arg> args, Target target)
      : form_(form), choices_(choices), args_(args), target_(target) {}

  bool from(std::size_t spec, std::size_t arg) {
    const auto& specs = form_.operands;
    while (spec < specs.size() && !form_.present(specs[spec], choices_)) ++spec;
    if (spec == specs.size()) return arg == args_.size();
    const OperandSpec& o = specs[spec];
    if (arg < args_.size() && args_[arg].piped == o.piped) {
      const bool fits = rules::operand_fits(form_, choices_, o, args_[arg]) && in_range(o, args_[arg]);
      const std::string_view what = fits ? std::string_view() : Misfit(form_, choices_, o, args_[arg], target_).overlooked();
      if ((fits || !what.empty()) && from(spec + 1, arg + 1)) {
        if (!what.empty()) what_ = what;
        return true;
      }
    }
    if (o.optional) return from(spec + 1, arg);
    // st.async and red.async without the mbarrier that their completion names
    if (o.name != "mbar" || form_.slot("async") < 0 || (form_.opcode != "st" && form_.opcode != "red")) return false;
    if (form_.slot("vec") >= 0 && !form_.chosen(choices_, form_.slot("vec")).empty()) return false;
    if (!from(spec + 1, arg)) return false;
    what_ = "it without its mbarrier";
    return true;
  }
  [[nodiscard]] std::string_view what() const { return what_; }

 private:
  static bool in_range(const OperandSpec& o, const Arg& arg) {
    const auto fits = [&](const Arg& a, std::size_t element) {
      return a.kind != ArgKind::integer || rules::in_range(a.integer, detail::range_of(o.range, element));
    };
    if (o.range.empty() || arg.kind != ArgKind::vector) return fits(arg, 0);
    for (std::size_t i = 0; i < arg.elements.size(); ++i)
      if (!fits(arg.elements[i], i)) return false;
    return true;
  }

  const Form& form_;
  const Choices& choices_;
  std::span<const Arg> args_;
  Target target_;
  std::string_view what_;
};

struct Modifiers {
  std::string_view spelling, words;  // the first words of the spelling; words: between spaces
  bool at_the_end = false;           // nowhere else
};
constexpr std::array passed_over = {
    Modifiers{"fence.mbarrier_init", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.alias", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.async", " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.async::generic",
              " global shared::cta shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"fence.proxy.tensormap::generic",
              " global shared::cta shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster "},
    Modifiers{"mma", " b1 u4 s4 bf16 ", true},
    Modifiers{"multimem.red", " acc::f16 acc::f32 "},
    Modifiers{"multimem.st", " acc::f16 acc::f32 "},
    Modifiers{"rcp", " ftz "},
    Modifiers{"tcgen05", " b8x16 b6x16_p32 b4x16_p64 "},  // tcgen05.cp has them
    Modifiers{"tensormap.cp_fenceproxy",
              " global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode "
              "swizzle_atomicity fill_mode "},
};
// Words of single instructions, which ptxas passes over in all others.
constexpr std::string_view words_of_others =
    " acc::f16 acc::f32 b8x16 b6x16_p32 b4x16_p64 global_address rank box_dim global_dim global_stride element_stride elemtype "
    "interleave_layout swizzle_mode swizzle_atomicity fill_mode finite infinite normal notanumber number subnormal ";
// Types that ptxas passes over where the instruction's own type stands, too; in all other instructions it passes over .b2.
constexpr std::string_view types_of_others = " pred texref surfref samplerref ";
constexpr std::string_view passes_over_types =
    " abs add atom cos cvt ex2 fma lg2 max min mul multimem neg rcp red rsqrt set setp sin sqrt sub tanh ";

bool is_word_of(std::string_view opcode, std::string_view word) {
  return std::any_of(forms().begin(), forms().end(), [&](const Form& form) {
    return form.opcode == opcode && std::any_of(form.slots.begin(), form.slots.end(), [&](const FormSlot& slot) {
             return std::any_of(slot.choices.begin(), slot.choices.end(), [&](const Choice& c) { return c.word == word; });
           });
  });
}

constexpr std::array missing = {
    Modifiers{"st.async", "release"},
    Modifiers{"tcgen05.ld", "aligned"},
    Modifiers{"tcgen05.st", "aligned"},
    Modifiers{"wgmma", "aligned"},
};

struct Instead {
  std::string_view spelling, word, meant;
};
constexpr std::array instead = {
    Instead{"getctarank", "s32", "u32"},
    Instead{"getctarank", "s64", "u64"},
    Instead{"mapa", "s32", "u32"},
    Instead{"mapa", "s64", "u64"},
    Instead{"setmaxnreg", "s32", "u32"},
    Instead{"st.async", "shared", "shared::cluster"},
    Instead{"st.async", "shared::cta", "shared::cluster"},
};

// An eviction priority of L2 on a volatile access of 32 bytes; on others ptxas refuses it.
bool is_volatile_of_32_bytes(std::span<const std::string_view> words) {
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const auto has_one_of = [&](std::string_view list) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return rules::is_one_of(w, list); });
  };
  return (words[0] == "ld" || words[0] == "st") && has("volatile") &&
         (has("v8") ? has_one_of(" b32 u32 s32 f32 ") : has("v4") && has_one_of(" b64 u64 s64 f64 "));
}

bool begins(std::string_view spelling, std::string_view with) {
  return spelling.starts_with(with) && (spelling.size() == with.size() || spelling[with.size()] == '.');
}

}  // namespace

std::string_view overlooked(const Form& form, const Choices& choices, std::span<const Arg> args, Target target) {
  for (const Arg& arg : args)
    if (arg.authored) return {};
  Match match(form, choices, args, target);
  if (match.from(0, 0)) return match.what();
  if (args.size() > 1 && args[0].kind == ArgKind::reg && args[1].kind == ArgKind::sink && args[1].piped) {
    std::vector<Arg> others(args.begin(), args.end());
    others.erase(others.begin() + 1);
    if (Match one(form, choices, others, target); one.from(0, 0))
      return one.what().empty() ? "a sink beside the only result" : one.what();
  }
  if (form.opcode != "tex" && form.opcode != "tld4") return {};
  // a further operand in front of a texture, or one where other textures have an offset
  std::size_t required = 0;
  for (const OperandSpec& o : form.operands) required += form.present(o, choices) && !o.optional;
  const bool cube = form.chosen(choices, form.slot("geom")).ends_with("cube");
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    const bool reg = arg.kind == ArgKind::reg && !arg.piped && !arg.negated;
    const bool handle = reg && bits(arg.type) == 64 && !is_float(arg.type) && i + 1 < args.size() &&
                        args[i + 1].kind == ArgKind::tensor && !cube && form.chosen(choices, form.slot("geom")) != "3d";
    const bool offset = cube && i + 2 == args.size() && args.size() == required + (args[1].piped ? 3u : 2u) &&
                        (is_number(arg) || (reg && (arg.type == Type::s32 || arg.type == Type::u32)));
    if (!handle && !offset) continue;
    std::vector<Arg> others(args.begin(), args.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (Match(form, choices, others, target).from(0, 0))
      return handle ? "a further operand in front of a texture" : "an offset, which a cube map does not take";
  }
  return {};
}

bool is_overlooked(std::string_view spelling, std::span<const std::string_view> words, std::size_t at) {
  const std::string_view word = words[at];
  if (std::count(words.begin(), words.end(), word) != 1) return false;
  for (std::size_t i = at + 1; i < words.size(); ++i)
    if (is_name_word(words[0], words[i])) return false;
  if (rules::is_one_of(word, " L2::evict_first L2::evict_last L2::evict_normal ") && is_volatile_of_32_bytes(words)) return true;
  // neither mul with its half nor red.async, which are of other sorts
  const auto wrote = [&](std::string_view w) { return std::find(words.begin(), words.end(), w) != words.end(); };
  if (rules::is_one_of(word, types_of_others) && (wrote("hi") || wrote("lo") || wrote("wide") || wrote("async"))) return false;
  const bool passes_over_b2 = !rules::is_one_of(words[0], passes_over_types);
  const bool passes_over_types_of_others = !passes_over_b2 || (words[0] == "wmma" && wrote("mma"));
  const bool other = (passes_over_types_of_others && rules::is_one_of(word, types_of_others)) || (passes_over_b2 && word == "b2");
  if ((other || rules::is_one_of(word, words_of_others)) && !is_word_of(words[0], word)) return true;
  const bool acquires = spelling.starts_with("fence.proxy.tensormap") && std::count(words.begin(), words.end(), "acquire") != 0;
  return std::any_of(passed_over.begin(), passed_over.end(), [&](const Modifiers& m) {
    return begins(spelling, m.spelling) && !spelling.starts_with("tcgen05.cp") && !acquires && rules::is_one_of(word, m.words) &&
           (!m.at_the_end || at + 1 == words.size());
  });
}

std::string_view stands_for(std::string_view spelling, std::string_view word) {
  for (const Instead& i : instead)
    if (i.word == word && begins(spelling, i.spelling)) return i.meant;
  return {};
}

std::string_view may_be_missing(std::string_view spelling) {
  if (spelling.find(".mmio") != std::string_view::npos) return {};
  for (const Modifiers& m : missing)
    if (begins(spelling, m.spelling)) return m.words;
  return {};
}

// multimem.red….min.v4.f16x2: the manual has .add alone for vectors of halves.
bool is_undescribed(std::string_view spelling, Target target) {
  if (!begins(spelling, "multimem.red") || !allows(target, node(sm_90))) return false;
  bool operation = false, vector = false, halves = false, others = false;
  for (std::string_view rest = spelling.substr(std::string_view("multimem.red").size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('.'));
    rest.remove_prefix(word.size());
    const auto is = [&](bool& seen, std::string_view words) {
      const bool one = rules::is_one_of(word, words);
      others |= one && seen;
      seen |= one;
      return one;
    };
    const bool known = is(operation, " min max ") || is(vector, " v2 v4 v8 ") || is(halves, " f16 f16x2 bf16 bf16x2 ") ||
                       rules::is_one_of(word, " relaxed release cta cluster gpu sys global ");
    others |= !known;
  }
  return operation && vector && halves && !others;
}

}  // namespace ptx::isa

// What ptxas overlooks about single values, vectors and addresses.
#include "ptx/isa/ptxas/mismatch.hpp"

#include <array>

#include "ptx/isa/rules.hpp"

namespace ptx::isa::ptxas {

// What ptxas overlooks, or "".
std::string_view Mismatch::leniency() const {
  using Test = std::string_view (Mismatch::*)() const;
  for (const Test test : {&Mismatch::without_brackets,
                          &Mismatch::policy_for_mbarrier,
                          &Mismatch::integers_for_floats,
                          &Mismatch::vector_for_bf16,
                          &Mismatch::integers_for_bf16,
                          &Mismatch::predicate_among_words,
                          &Mismatch::not_a_predicate,
                          &Mismatch::number_too_wide,
                          &Mismatch::mov,
                          &Mismatch::count_of_mbarrier,
                          &Mismatch::matrix,
                          &Mismatch::sparse,
                          &Mismatch::tensor_map,
                          &Mismatch::special_for_address,
                          &Mismatch::register_in_disguise,
                          &Mismatch::coordinates,
                          &Mismatch::fence,
                          &Mismatch::part_of_halves,
                          &Mismatch::surface,
                          &Mismatch::texture,
                          &Mismatch::asynchronous_store,
                          &Mismatch::name_with_offset,
                          &Mismatch::level_of_detail,
                          &Mismatch::floats_for_halves,
                          &Mismatch::policy})
    if (const std::string_view what = (this->*test)(); !what.empty()) return what;
  return {};
}

// cp.async.bulk.tensor … %r1 for [%r1]: the machine code is the same.
std::string_view Mismatch::without_brackets() const {
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
std::string_view Mismatch::policy_for_mbarrier() const {
  if (!opcode_is("cp") || !has("bulk") || has("tensor") || spec_.name != "mbar") return {};
  for (const std::string_view slot : {"l2", "multicast", "ignore_oob"})
    if (!form_.chosen(choices_, form_.slot(slot)).empty()) return {};
  const bool policy = arg_.kind == ArgKind::reg && bits(arg_.type) == 64 && !is_float(arg_.type);
  return policy || arg_.kind == ArgKind::integer ? "a policy for the mbarrier, which the copy then lacks" : "";
}

// ld.v2.f64 {%u1, %u2}: one register alone must be a float.
std::string_view Mismatch::integers_for_floats() const {
  if (!opcode_is("ld", "ldu", "st") && !opcode_is("mov")) return {};
  if ((type_ != Type::f32 && type_ != Type::f64) || scalar() || arg_.kind != ArgKind::vector) return {};
  if (static_cast<int>(arg_.elements.size()) != form_.count(spec_.count, choices_)) return {};
  const bool fitting = std::all_of(arg_.elements.begin(), arg_.elements.end(), [&](const Arg& e) {
    return e.kind == ArgKind::reg && is_integer(e.type) && bits(e.type) == bits(type_);
  });
  return fitting ? "integer registers for the floats of a vector" : "";
}

std::string_view Mismatch::vector_for_bf16() const {
  if (!scalar() || (type_ != Type::bf16 && type_ != Type::bf16x2) || opcode_is("atom", "red", "multimem") || opcode_is("ex2"))
    return {};
  if (opcode_is("tanh") && type_ == Type::bf16x2) return {};
  if (is_vector(arg_, [&](const Arg& e) { return is_untyped(e, bits(type_)); }))
    return "a vector where one bf16 or a pair of bf16 stands";
  return {};
}

std::string_view Mismatch::integers_for_bf16() const {
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
std::string_view Mismatch::predicate_among_words() const {
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

std::string_view Mismatch::not_a_predicate() const {
  if (type_ != Type::pred || form_.slot(spec_.type) < 0 || !scalar()) return {};
  const bool logic = opcode_is("and", "or", "xor") || opcode_is("not", "mov");
  const bool lowered = opcode_is("vote") || (opcode_is("bar", "barrier") && !reads());
  if (!logic && !(lowered && has_target(sm_90))) return {};
  if (is_reg(arg_, Type::f16x2)) return "a pair of f16 for a predicate";
  return reads() && is_function(arg_) ? "the name of a function for a predicate" : "";
}

// The number of a barrier and the size of a copy are cut to 32 bits before they are looked at.
std::string_view Mismatch::number_too_wide() const {
  const bool barrier = opcode_is("bar", "barrier") && spec_.name == "a",
             size = opcode_is("cp") && spec_.name == "size" && !has("prefetch");
  if (arg_.kind != ArgKind::integer || !(barrier || size)) return {};
  return rules::in_range(arg_.integer & 0xFFFFFFFF, spec_.range) ? "a number of more than 32 bits, of which it takes the low ones"
                                                                 : "";
}

std::string_view Mismatch::mov() const {
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
std::string_view Mismatch::mov_to_vector() const {
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

std::string_view Mismatch::count_of_mbarrier() const {
  if (!opcode_is("mbarrier") || spec_.name != "count" || has("init")) return {};
  const bool number = arg_.kind == ArgKind::vector && arg_.elements.size() == 1 && arg_.elements[0].kind == ArgKind::integer;
  return number || is_vector(arg_, [](const Arg& e) { return is_untyped(e, 32); }) ? "a vector for a count" : "";
}

std::string_view Mismatch::policy() const {
  if (!opcode_is("createpolicy") || !has("cvt") || reads() || !has_target(sm_90) || arg_.kind != ArgKind::integer) return {};
  return "a number where a policy is written";
}

// Where ptxas makes other instructions of this one. Elsewhere it refuses a special register for an address, or crashes; in `ld`
// as soon as anybody reads what was loaded.
std::string_view Mismatch::special_for_address() const {
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

// vsub2 %r0, %x1.h10, … where %x1 is a pair of f16
std::string_view Mismatch::part_of_halves() const {
  if (arg_.kind != ArgKind::part || spec_.part.empty() || !is_reg(arg_.elements[0], Type::f16x2)) return {};
  const std::array word = {Arg{.kind = ArgKind::reg, .type = Type::b32}};
  Arg plain = arg_;
  plain.elements = word;
  return rules::operand_fits(form_, choices_, spec_, plain) ? "a pair of f16 for a word" : "";
}

// A name and an offset where ptxas reads the operand like those of `add`: of a barrier, and, where it makes other instructions
// of them, of what the lanes of a warp do together.
std::string_view Mismatch::name_with_offset() const {
  if (arg_.kind != ArgKind::text || !reads() || !scalar() || is_float(type_) || type_ == Type::pred) return {};
  const bool barrier =
      (opcode_is("bar", "barrier") && !has("warp")) && (opcode_is("bar") || wrote("aligned") || has_target(sm_90));
  const bool lanes = (opcode_is("shfl", "vote", "match") || opcode_is("redux") || (opcode_is("bar") && has("warp")));
  return barrier || (lanes && has_target(sm_90)) ? "a name with an offset here" : "";
}

// red.v4.f16 [a], {%h1, 1.0, …}
std::string_view Mismatch::floats_for_halves() const {
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
std::string_view Mismatch::fence() const {
  if (!opcode_is("fence") || spec_.role != Role::address || arg_.kind != ArgKind::address || arg_.elements.size() != 1) return {};
  const Arg& base = arg_.elements[0];
  const bool anything = base.kind == ArgKind::integer || (base.kind == ArgKind::reg && !base.negated && bits(base.type) <= 64);
  return anything ? "anything for the address of the tensor map" : "";
}

// Any register for the address of a tensor map.
std::string_view Mismatch::tensor_map() const {
  if (spec_.role != Role::tensor || !spec_.space.empty() || arg_.kind != ArgKind::tensor || arg_.elements.size() != 2) return {};
  if (arg_.elements[0].kind != ArgKind::reg) return {};
  const Arg address{.kind = ArgKind::reg, .type = Type::b64};
  const std::array parts = {address, arg_.elements[1]};
  Arg tensor = arg_;
  tensor.elements = parts;
  return rules::operand_fits(form_, choices_, spec_, tensor) ? "any register for the address of a tensor map" : "";
}

std::string_view Mismatch::asynchronous_store() const {
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

}  // namespace ptx::isa::ptxas

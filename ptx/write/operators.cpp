#include "ptx/write/operators.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"

namespace ptx::write {
namespace {

struct OperatorInfo {
  std::string_view symbol, opcode;
};
constexpr std::array operator_infos = {OperatorInfo{"+", "add"},   OperatorInfo{"-", "sub"},  OperatorInfo{"*", "mul"},
                                       OperatorInfo{"<<", "shl"},  OperatorInfo{">>", "shr"}, OperatorInfo{"&", "and"},
                                       OperatorInfo{"|", "or"},    OperatorInfo{"^", "xor"},  OperatorInfo{"max", "max"},
                                       OperatorInfo{"min", "min"}, OperatorInfo{"/", "div"},  OperatorInfo{"%", "rem"},
                                       OperatorInfo{"//", "div"},  OperatorInfo{"%", "rem"},  OperatorInfo{"/", "div"}};
const OperatorInfo& info(Operator op) { return operator_infos[static_cast<std::size_t>(op)]; }

struct ComparisonInfo {
  std::string_view symbol, word;
  Comparison mirrored;  // a < b is b > a
};
constexpr std::array comparison_infos = {ComparisonInfo{"==", "eq", Comparison::eq}, ComparisonInfo{"!=", "ne", Comparison::ne},
                                         ComparisonInfo{"<", "lt", Comparison::gt},  ComparisonInfo{"<=", "le", Comparison::ge},
                                         ComparisonInfo{">", "gt", Comparison::lt},  ComparisonInfo{">=", "ge", Comparison::le}};
const ComparisonInfo& info(Comparison cmp) { return comparison_infos[static_cast<std::size_t>(cmp)]; }

bool is_reg(const Value& value) { return value.kind == Value::Kind::reg; }
bool is_number(const Value& value) { return value.kind == Value::Kind::integer || value.kind == Value::Kind::floating; }

// Types that operators compute in.
bool is_word(Type type, int width) {
  return isa::bits(type) == width && (isa::is_integer(type) || isa::kind(type) == isa::TypeKind::bits);
}

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2; }
// Floats that operators compute in.
bool is_computed_float(Type type) { return type == Type::f32 || type == Type::f64 || is_half(type); }

std::string describe(const Builder& builder, const Value& value) {
  switch (value.kind) {
    case Value::Kind::reg:
      return cat("the .", isa::name(value.reg.type), " register `", builder.name(value.reg), '`');
    case Value::Kind::integer:
      return cat("the integer ", value.spelled());
    case Value::Kind::floating:
      return "a floating-point number";
    case Value::Kind::symbol:
    case Value::Kind::label:
      return cat("the name `", value.text, '`');
    default:
      return "an operand that is neither a register nor a number";
  }
}

// A 32-bit register in 64 bits, with its sign if it has one.
Expected<Value> widened(Builder& builder, Reg narrow, SourceLocation where) {
  const Expected<Reg> wide = builder.reg(Type::u64);
  if (!wide) return Unexpected{wide.error()};
  const std::array operands = {Value::of(*wide), Value::of(narrow)};
  const bool sign = isa::kind(narrow.type) == isa::TypeKind::sint;
  if (auto written = builder.emit(sign ? "cvt.s64.s32" : "cvt.u64.u32", operands, {}, where); !written)
    return Unexpected{std::move(written).error()};
  return Value::of(*wide);
}

std::string_view spelled(Operator op, Type left, bool by_number) {
  const bool wide = isa::bits(left) == 64, sign = isa::kind(left) == isa::TypeKind::sint;
  switch (op) {
    case Operator::add:
      return wide ? "add.s64" : sign ? "add.s32" : "add.u32";
    case Operator::sub:
      return wide ? "sub.s64" : "sub.s32";
    case Operator::mul:
      return wide ? "mul.lo.u64" : by_number ? "mul.lo.s32" : "mul.lo.u32";
    case Operator::shl:
      return wide ? "shl.b64" : "shl.b32";
    case Operator::shr:
      return wide ? (sign ? "shr.s64" : "shr.u64") : (sign ? "shr.s32" : "shr.u32");
    case Operator::and_:
      return wide ? "and.b64" : "and.b32";
    case Operator::or_:
      return wide ? "or.b64" : "or.b32";
    case Operator::xor_:
      return wide ? "xor.b64" : "xor.b32";
    case Operator::max:
      return sign ? "max.s32" : "max.u32";
    case Operator::min:
      return sign ? "min.s32" : "min.u32";
    case Operator::div:
    case Operator::floor_div:
      return wide ? (sign ? "div.s64" : "div.u64") : sign ? "div.s32" : "div.u32";
    case Operator::rem:
    case Operator::floor_rem:
      return wide ? (sign ? "rem.s64" : "rem.u64") : sign ? "rem.s32" : "rem.u32";
    case Operator::true_div:
      break;
  }
  return {};
}

struct Operation {
  std::string dots;
  Value a, b;
  Type result;
};

bool is_bitwise(Operator op) { return op == Operator::and_ || op == Operator::or_ || op == Operator::xor_; }

// A register on the right side: integers of both widths, and for operators of bits a float of the left side's width.
bool takes_right(Operator op, Type left, Type right) {
  if (is_word(right, 32) || is_word(right, 64)) return true;
  return is_bitwise(op) && right != Type::pred && isa::bits(right) == isa::bits(left);
}

bool is_extremum(Operator op) { return op == Operator::max || op == Operator::min; }
bool divides(Operator op) {
  return op == Operator::div || op == Operator::rem || op == Operator::floor_div || op == Operator::floor_rem;
}

// The instruction of two floats; "" when the operator has none for them.
std::string float_dots(Operator op, Type type) {
  const bool rounds = op == Operator::add || op == Operator::sub || op == Operator::mul;
  const bool divided = (op == Operator::true_div || op == Operator::div) && !is_half(type);
  if (!rounds && !divided && !is_extremum(op)) return {};
  return cat(info(op).opcode, rounds || divided ? ".rn." : ".", isa::name(type));
}

// `and.pred` and its like.
std::string predicate_dots(Operator op, bool in_place) {
  const bool exists = op == Operator::and_ || op == Operator::xor_ || (op == Operator::or_ && in_place);
  return exists ? cat(info(op).opcode, ".pred") : std::string();
}

// A predicate as an instruction reads it that takes no `!`.
Expected<Value> plain_predicate(Builder& builder, Value value, SourceLocation where) {
  if (!is_reg(value) || !value.negated) return value;
  value.negated = false;
  const Expected<Reg> made = emit_fresh(builder, Type::pred, "not.pred", {}, where, value);
  if (!made) return Unexpected{made.error()};
  return Value::of(*made);
}

// Both sides are of one type, which is no integer: floats, predicates.
Expected<Operation> prepare_alike(Builder& builder, Operator op, const Value& left, const Value& right, bool in_place,
                                  SourceLocation where) {
  const Type type = is_reg(left) ? left.reg.type : right.reg.type;
  const std::string shown = cat('`', info(op).symbol, in_place ? "=`" : "`");
  const Value& other = is_reg(left) ? right : left;
  const std::string dots = type == Type::pred ? predicate_dots(op, in_place) : float_dots(op, type);
  const std::string advice =
      cat("write the instruction: `ptx.inst.", isa::identifier(info(op).opcode), "…` for .", isa::name(type));
  if (dots.empty())
    return refuse(Kind::bad_operator, cat(shown, " does not exist for ", describe(builder, is_reg(left) ? left : right)), where,
                  (op == Operator::floor_div && isa::is_float(type)) ? "`/` divides floats" : advice);
  if (is_number(other) && is_half(type))
    return refuse(
        Kind::bad_operator,
        cat("one side of ", shown, " is ", describe(builder, other), "; PTX has no literals of type .", isa::name(type)), where,
        "put it into a register first: convert one that holds it as .f32");
  const bool number = is_number(other) && type != Type::pred;
  if (!number && !(is_reg(other) && other.reg.type == type))
    return refuse(Kind::bad_operator,
                  cat("the sides of ", shown, " are ", describe(builder, left), " and ", describe(builder, right),
                      "; what fits is a .", isa::name(type), type == Type::pred ? " register" : " register or a number"),
                  where, type == Type::pred ? advice : cat("convert it first: `ptx.let.cvt…", isa::name(type), "…`"));
  Expected<Value> a = plain_predicate(builder, left, where);
  if (!a) return Unexpected{a.error()};
  Expected<Value> b = plain_predicate(builder, right, where);
  if (!b) return Unexpected{b.error()};
  return Operation{dots, *a, *b, type};
}

// What there is in place of a division of signed integers.
std::string signed_division(Operator op, Type type) {
  return cat("`ptx.let.", info(op).opcode, '.', isa::name(type),
             "(a, b)` is PTX's; a register that is never negative can be viewed: `r.as_(u", isa::bits(type), ")`");
}

// Python's division of signed integers rounds down, and PTX's towards zero.
std::optional<Diagnostic> refuse_floor(Operator op, Type type, SourceLocation where) {
  if ((op != Operator::floor_div && op != Operator::floor_rem) || isa::kind(type) != isa::TypeKind::sint) return std::nullopt;
  Diagnostic d;
  d.kind = Kind::bad_operator;
  d.message = cat('`', info(op).symbol, "` rounds down in Python, and PTX divides .", isa::name(type), " towards zero");
  d.where = where;
  return std::move(d).hint(signed_division(op, type));
}

// Numbers left of an operator that cannot turn its sides: `63 - r`, `1 << r`. They have the type of the right side.
bool takes_number_left(Operator op) { return op == Operator::sub || op == Operator::shl || op == Operator::shr || divides(op); }

// A number that its register holds, as its bits: `add.s64` serves .u64 too.
Value bits_of(Value number, Type type) {
  number.above = number.above && !number.fits(type);
  return number;
}

// Stages and widens the two sides and chooses the instruction.
Expected<Operation> prepare(Builder& builder, Operator op, const Value& left, const Value& right, bool in_place,
                            SourceLocation where) {
  auto a = readable(builder, left, where);
  if (!a) return Unexpected{std::move(a).error()};
  auto b = readable(builder, right, where);
  if (!b) return Unexpected{std::move(b).error()};
  const bool is_sum = op == Operator::add || op == Operator::sub || op == Operator::mul || divides(op);
  const bool is_shift = op == Operator::shl || op == Operator::shr;
  const auto advice = [&](Type type) {
    return cat("write the instruction: `ptx.inst.", isa::identifier(info(op).opcode), "…` for .", isa::name(type));
  };
  const auto shown = [&] { return cat('`', info(op).symbol, in_place ? "=`" : "`"); };

  const auto is_alike = [](const Value& side) {
    return is_reg(side) && (side.reg.type == Type::pred || is_computed_float(side.reg.type));
  };
  if (is_alike(*a) || (is_alike(*b) && is_number(*a))) return prepare_alike(builder, op, *a, *b, in_place, where);
  if (is_reg(*b) && a->kind == Value::Kind::integer && takes_number_left(op)) {
    const Type type = b->reg.type;
    if (!is_word(type, 32) && (is_shift || !is_word(type, 64)))
      return refuse(Kind::bad_operator, cat(shown(), " does not exist for ", describe(builder, *b), " on its right"), where,
                    advice(type));
    if (auto floors = refuse_floor(op, type, where)) return Unexpected{std::move(*floors)};
    return Operation{std::string(spelled(op, type, false)), bits_of(*a, type), *b, type};
  }
  if (!is_reg(*a)) {
    return refuse(Kind::bad_operator,
                  cat("the left side of ", shown(), " is ", describe(builder, *a), ", and must be a register"), where,
                  "put the number into a register first: `reg.scalar(u32, init=…)`");
  }
  const Type type = a->reg.type;
  if (!(is_word(type, 32) || is_word(type, 64)) || (is_extremum(op) && isa::bits(type) == 64) || op == Operator::true_div)
    return refuse(Kind::bad_operator, cat(shown(), " does not exist for ", describe(builder, *a)), where,
                  op != Operator::true_div ? advice(type)
                  : isa::kind(type) == isa::TypeKind::sint
                      ? cat("PTX divides .", isa::name(type), " towards zero: ", signed_division(op, type))
                      : std::string("`//` divides integers"));
  if (auto floors = refuse_floor(op, type, where)) return Unexpected{std::move(*floors)};
  if (divides(op) && b->kind == Value::Kind::integer && b->integer == 0)
    return refuse(Kind::bad_operator, cat("the right side of ", shown(), " is 0"), where);
  if (!is_reg(*b) && b->kind != Value::Kind::integer) {
    return refuse(
        Kind::bad_operator,
        cat("the right side of ", shown(), " is ", describe(builder, *b), "; what fits is an integer register or an integer"),
        where, advice(type));
  }
  if (is_shift && b->kind == Value::Kind::integer && b->integer < 0 && !b->above)
    return refuse(Kind::bad_operator,
                  cat("the right side of ", shown(), " is ", b->integer, ", but a shift amount cannot be negative"), where,
                  "shift the other way");
  Operation operation{std::string(spelled(op, type, !is_reg(*b))), *a, is_shift ? *b : bits_of(*b, type), type};
  if (!is_reg(*b)) return operation;
  const Type other = b->reg.type;
  if (!takes_right(op, type, other))
    return refuse(
        Kind::bad_operator,
        cat("the right side of ", shown(), " is ", describe(builder, *b), "; what fits is an integer register or an integer"),
        where, advice(other));
  if (isa::bits(other) == isa::bits(type) || (is_shift && isa::bits(other) == 32)) return operation;
  if ((is_sum || is_bitwise(op)) && isa::bits(other) == 32) {
    auto wide = widened(builder, b->reg, where);
    if (!wide) return Unexpected{std::move(wide).error()};
    operation.b = *wide;
    return operation;
  }
  if ((op == Operator::add || is_bitwise(op)) && !in_place) {
    auto wide = widened(builder, a->reg, where);
    if (!wide) return Unexpected{std::move(wide).error()};
    operation.a = *wide;
    operation.dots = spelled(op, Type::u64, false);
    operation.result = Type::u64;
    return operation;
  }
  return refuse(Kind::bad_operator,
                cat("the sides of ", shown(), " differ in width: ", describe(builder, *a), " and ", describe(builder, *b)), where,
                isa::bits(other) == isa::bits(type) ? std::string()
                : isa::bits(other) > isa::bits(type)
                    ? cat("`cvt` widens the left side: `ptx.let.cvt.", isa::name(other), '.', isa::name(type), '`')
                    : cat("`cvt` widens the right side: `ptx.let.cvt.", isa::name(type), '.', isa::name(other), '`'));
}

Expected<Reg> write(Builder& builder, std::string_view dots, Reg d, const Value& a, const Value& b, SourceLocation where) {
  const std::array operands = {Value::of(d), a, b};
  if (auto written = builder.emit(dots, operands, {}, where); !written) return Unexpected{std::move(written).error()};
  return d;
}

bool commutes(Operator op) {
  return op == Operator::add || op == Operator::mul || op == Operator::and_ || op == Operator::or_ || op == Operator::xor_;
}

// `neg` and `abs`: signed integers, whose bits an unsigned one has as well for `-`, and floats.
Expected<Reg> unary(Builder& builder, std::string_view opcode, std::string_view shown, const Value& value, SourceLocation where) {
  const auto a = readable(builder, value, where);
  if (!a) return Unexpected{a.error()};
  const Type type = is_reg(*a) ? a->reg.type : Type::none;
  const bool integer = (is_word(type, 32) || is_word(type, 64)) && (opcode == "neg" || isa::kind(type) == isa::TypeKind::sint);
  if (a->negated || (!integer && !is_computed_float(type)))
    return refuse(
        Kind::bad_operator, cat('`', shown, "` does not exist for ", describe(builder, *a)), where,
        type == Type::pred ? std::string("`~p` is the other way round") : cat("write the instruction: `ptx.inst.", opcode, "…`"));
  const std::string dots = integer ? cat(opcode, ".s", isa::bits(type)) : cat(opcode, '.', isa::name(type));
  return emit_fresh(builder, type, dots, {}, where, *a);
}

}  // namespace

Expected<Reg> binary(Builder& builder, Operator op, Value a, Value b, SourceLocation where) {
  if (is_number(a) && !is_number(b) && commutes(op)) std::swap(a, b);
  const auto operation = prepare(builder, op, a, b, false, where);
  if (!operation) return Unexpected{operation.error()};
  const Expected<Reg> result = builder.reg(operation->result);
  if (!result) return Unexpected{result.error()};
  return write(builder, operation->dots, *result, operation->a, operation->b, where);
}

Expected<Reg> in_place(Builder& builder, Operator op, Reg a, Value b, SourceLocation where) {
  const auto operation = prepare(builder, op, Value::of(a), b, true, where);
  if (!operation) return Unexpected{operation.error()};
  return write(builder, operation->dots, a, operation->a, operation->b, where);
}

Expected<Reg> negated(Builder& builder, Value a, SourceLocation where) { return unary(builder, "neg", "-", a, where); }
Expected<Reg> absolute(Builder& builder, Value a, SourceLocation where) { return unary(builder, "abs", "abs", a, where); }

Expected<Reg> view(const Builder& builder, Reg reg, Type type, SourceLocation where) {
  if (reg.id.index >= builder.function().regs.size())
    return refuse(Kind::undefined_symbol, "a view is of a register of another kernel", where);
  const Type declared = builder.function().reg(reg.id).type;
  const Type held = isa::register_type(type);
  const bool as_byte = isa::bits(type) == 8 && isa::bits(declared) >= 8;  // bytes lie in wider registers
  if (type != Type::none && declared == Type::pred ? type == Type::pred : as_byte || isa::fits(declared, held))
    return Reg{reg.id, type};
  const std::string name = builder.name(reg);
  const bool same_width = isa::bits(declared) == isa::bits(held);
  return refuse(
      Kind::bad_operator,
      cat('`', name, "` is declared .", isa::name(declared), ", which no instruction takes for a .", isa::name(type)), where,
      same_width && declared != Type::pred ? cat("copy its bits: `mov.b", isa::bits(declared), "` into a register of that type")
                                           : "`cvt` converts between widths, `selp` makes a number of a predicate");
}

// Whether a register of the integer type can have this value.
bool is_value_of(std::int64_t value, Type type) {
  const int bits = isa::bits(type);
  if (isa::kind(type) == isa::TypeKind::uint) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}

Expected<Reg> compare(Builder& builder, Comparison cmp, Value a, Value b, SourceLocation where) {
  if (is_number(a) && !is_number(b)) {
    std::swap(a, b);
    cmp = info(cmp).mirrored;
  }
  auto left = readable(builder, a, where);
  if (!left) return Unexpected{std::move(left).error()};
  auto right = readable(builder, b, where);
  if (!right) return Unexpected{std::move(right).error()};
  const auto shown = [cmp] { return cat('`', info(cmp).symbol, '`'); };
  const auto advice = [cmp] { return cat("write the instruction: `ptx.inst.setp.", info(cmp).word, "…`"); };
  if (!is_reg(*left))
    return refuse(Kind::bad_operator,
                  cat("the left side of ", shown(), " is ", describe(builder, *left), ", and must be a register"), where,
                  advice());
  Type type = left->reg.type;
  if (type == Type::b16) type = Type::u16;
  if (type == Type::b32) type = Type::u32;
  if (type == Type::b64) type = Type::u64;
  const bool half = type == Type::f16 || type == Type::bf16;
  if (!(isa::is_integer(type) && isa::bits(type) >= 16) && !half && type != Type::f32 && type != Type::f64)
    return refuse(Kind::bad_operator, cat(shown(), " does not exist for ", describe(builder, *left)), where, advice());
  if (half && is_number(*right))
    return refuse(
        Kind::bad_operator,
        cat("the right side of ", shown(), " is ", describe(builder, *right), "; PTX has no literals of type .", isa::name(type)),
        where, cat("put it into a register first: `cvt.rn.", isa::name(type), ".f32` of one that holds it as .f32"));
  if (!is_reg(*right) && !is_number(*right))
    return refuse(Kind::bad_operator,
                  cat("the right side of ", shown(), " is ", describe(builder, *right), "; what fits is a register or a number"),
                  where, advice());
  // As a pattern of bits it would fit, and compare as another number.
  const bool orders = cmp != Comparison::eq && cmp != Comparison::ne;
  if (orders && right->kind == Value::Kind::integer && !isa::is_float(type) && !is_value_of(right->integer, type))
    return refuse(Kind::immediate_range,
                  cat("the right side of ", shown(), " is ", right->integer, ", which no .", isa::name(type), " is"), where,
                  "compare with a number of that type, or convert the register to a wider one");
  const Expected<Reg> result = builder.reg(Type::pred);
  if (!result) return Unexpected{result.error()};
  return write(builder, cat("setp.", info(cmp).word, '.', isa::name(type)), *result, *left, *right, where);
}

// ---- registers that start with a value --------------------------------------------------------------------------------

namespace {

// `mov` exists for whole registers: bytes lie in 32 bits, other formats are moved as bits.
Type moved_as(Type type) {
  if (type == Type::f32 || type == Type::f64 || type == Type::pred) return type;
  if (isa::bits(type) == 8 && isa::kind(type) != isa::TypeKind::packed) return Type::b32;
  if (isa::is_integer(type)) return type;
  switch (isa::bits(type)) {
    case 8:  // fp8 values lie in 16 bits
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    case 64:
      return Type::b64;
    default:
      return type;
  }
}

}  // namespace

Expected<Reg> move_into(Builder& builder, Reg destination, const Value& source, SourceLocation where) {
  const Type type = destination.type;
  if (source.kind == Value::Kind::integer && isa::is_integer(type) && !source.fits(type))
    return refuse(Kind::immediate_range, cat("a .", isa::name(type), " register cannot hold the integer ", source.spelled()),
                  where);
  const bool half = type == Type::f16 || type == Type::bf16;
  if ((half && source.kind == Value::Kind::integer && source.integer != 0) ||
      (isa::bits(type) < 32 && source.kind == Value::Kind::floating))
    return refuse(Kind::argument_kind,
                  cat("a .", isa::name(type), " register cannot start as a number: PTX has no literals of that type"), where,
                  half ? cat("convert an f32 register: `cvt.rn.", isa::name(type), ".f32`")
                       : std::string("start from an integer of the bits"));
  const bool pair = isa::kind(type) == isa::TypeKind::packed;
  if (pair && source.kind == Value::Kind::floating)
    return refuse(
        Kind::argument_kind,
        cat("a .", isa::name(type), " register holds two numbers and cannot start as one: PTX has no literals of that type"),
        where, cat("start from the bits of both, or pack two f32 registers: `cvt.rn.", isa::name(type), ".f32`"));
  const Type as = moved_as(type);
  Value value = source;
  if (type == Type::tf32 && value.kind == Value::Kind::integer)  // it moves as bits, and means a number all the same
    value = Value::of_floating(value.as_double());
  // the same register, read as what `mov` moves
  if (is_reg(value) && isa::fits(value.reg.type, type)) value.reg.type = as;
  const std::array operands = {Value::of(Reg{destination.id, as}), value};
  if (auto written = builder.emit(cat("mov.", isa::name(as)), operands, {}, where); !written)
    return Unexpected{std::move(written).error()};
  return destination;
}

Expected<Reg> move_to_fresh(Builder& builder, Type type, Value source, SourceLocation where) {
  return scalar(builder, type, source, {}, where);
}

Expected<Value> readable(Builder& builder, const Value& value, SourceLocation where) {
  if (value.kind != Value::Kind::special) return value;
  const Expected<Reg> copy = move_to_fresh(builder, isa::specials()[value.special].type, value, where);
  if (!copy) return Unexpected{copy.error()};
  return Value::of(*copy);
}

Expected<Reg> scalar(Builder& builder, Type type, std::optional<Value> init, std::string_view name, SourceLocation where) {
  Expected<Reg> reg = builder.reg(type, name, where);
  if (!reg || !init) return reg;
  return move_into(builder, *reg, *init, where);
}

namespace {

// Nothing when the entry has that parameter.
std::optional<Diagnostic> unknown_param(const Builder& builder, std::string_view name, SourceLocation where) {
  std::vector<std::string> params;
  for (const ir::Param& p : builder.function().params) params.emplace_back(builder.module().str(p.name));
  if (std::find(params.begin(), params.end(), name) != params.end()) return std::nullopt;
  Diagnostic d;
  d.kind = Kind::undefined_symbol;
  d.message =
      cat("the kernel has no parameter `", name, '`', params.empty() ? std::string() : cat("; it has ", list_choices(params)));
  d.where = where;
  if (const std::string near = nearest(name, params); !near.empty()) d.hint(cat("did you mean `", near, "`?"));
  return d;
}

// Parameters are loaded as registers hold them: f16 as .b16, tf32 as .b32.
Type loaded_as(Type type) {
  if (isa::kind(type) == isa::TypeKind::bits || isa::is_integer(type) || type == Type::f32 || type == Type::f64) return type;
  return moved_as(type);
}

}  // namespace

Expected<Reg> load_param(Builder& builder, Type type, std::string_view name, SourceLocation where) {
  if (auto unknown = unknown_param(builder, name, where)) return Unexpected{std::move(*unknown)};
  const Expected<Reg> reg = builder.reg(type, {}, where);
  if (!reg) return reg;
  const Type as = loaded_as(type);
  const Value base = Value::of_symbol(name);
  const std::array load = {Value::of(Reg{reg->id, as}), Value::address_of({&base, 1})};
  if (auto written = builder.emit(cat("ld.param.", isa::name(as)), load, {}, where); !written)
    return Unexpected{std::move(written).error()};
  return reg;
}

Expected<Reg> global_ptr(Builder& builder, std::string_view param, SourceLocation where) {
  if (auto unknown = unknown_param(builder, param, where)) return Unexpected{std::move(*unknown)};
  const Expected<Reg> reg = builder.reg(Type::b64);
  if (!reg) return reg;
  const Value base = Value::of_symbol(param);
  const std::array load = {Value::of(*reg), Value::address_of({&base, 1})};
  if (auto written = builder.emit("ld.param.u64", load, {}, where); !written) return Unexpected{std::move(written).error()};
  const std::array convert = {Value::of(*reg), Value::of(*reg)};
  if (auto written = builder.emit("cvta.to.global.u64", convert, {}, where); !written)
    return Unexpected{std::move(written).error()};
  return reg;
}

}  // namespace ptx::write

#include "ptx/write/operators.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/write/put.hpp"

namespace ptx::write {
namespace {

struct OperatorInfo {
  std::string_view symbol, opcode;
};
constexpr std::array operator_infos = {OperatorInfo{"+", "add"},  OperatorInfo{"-", "sub"},  OperatorInfo{"*", "mul"},
                                       OperatorInfo{"<<", "shl"}, OperatorInfo{">>", "shr"}, OperatorInfo{"&", "and"},
                                       OperatorInfo{"|", "or"},   OperatorInfo{"^", "xor"},  OperatorInfo{"max", "max"}};
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

std::string describe(const Builder& builder, const Value& value) {
  switch (value.kind) {
    case Value::Kind::reg:
      return cat("the .", isa::name(value.reg.type), " register `", builder.name(value.reg), '`');
    case Value::Kind::integer:
      return cat("the integer ", value.integer);
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
Expected<Value> widened(Builder& builder, Reg narrow, Where where) {
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
  }
  return {};
}

struct Operation {
  std::string_view dots;
  Value a, b;
  Type result;
};

bool is_bitwise(Operator op) { return op == Operator::and_ || op == Operator::or_ || op == Operator::xor_; }

// A register on the right side: integers of both widths, and for operators of bits a float of the left side's width.
bool takes_right(Operator op, Type left, Type right) {
  if (is_word(right, 32) || is_word(right, 64)) return true;
  return is_bitwise(op) && right != Type::pred && isa::bits(right) == isa::bits(left);
}

// Stages and widens the two sides and chooses the instruction.
Expected<Operation> prepare(Builder& builder, Operator op, const Value& left, const Value& right, bool in_place, Where where) {
  auto a = readable(builder, left, where);
  if (!a) return Unexpected{std::move(a).error()};
  auto b = readable(builder, right, where);
  if (!b) return Unexpected{std::move(b).error()};
  const bool is_sum = op == Operator::add || op == Operator::sub || op == Operator::mul;
  const bool is_shift = op == Operator::shl || op == Operator::shr;
  const auto advice = [&](Type type) {
    return cat("write the instruction: `ptx.inst.", isa::identifier(info(op).opcode), "…` for .", isa::name(type));
  };
  const auto shown = [&] { return cat('`', info(op).symbol, in_place ? "=`" : "`"); };

  if (!is_reg(*a)) {
    return refuse(Kind::bad_operator,
                  cat("the left side of ", shown(), " is ", describe(builder, *a), ", and must be a register"), where,
                  "put the number into a register first: `reg.scalar(u32, init=…)`");
  }
  const Type type = a->reg.type;
  if (!(is_word(type, 32) || is_word(type, 64)) || (op == Operator::max && isa::bits(type) == 64))
    return refuse(Kind::bad_operator, cat(shown(), " does not exist for ", describe(builder, *a)), where, advice(type));
  if (!is_reg(*b) && b->kind != Value::Kind::integer) {
    return refuse(
        Kind::bad_operator,
        cat("the right side of ", shown(), " is ", describe(builder, *b), "; what fits is an integer register or an integer"),
        where, advice(type));
  }
  if (is_shift && b->kind == Value::Kind::integer && b->integer < 0)
    return refuse(Kind::bad_operator,
                  cat("the right side of ", shown(), " is ", b->integer, ", but a shift amount cannot be negative"), where,
                  "shift the other way");
  Operation operation{spelled(op, type, !is_reg(*b)), *a, *b, type};
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
                isa::bits(other) == 64 ? "`cvt.u32.u64` narrows the right side, `cvt.u64.u32` widens the left one"
                                       : "`cvt.u64.u32` widens the right side");
}

Expected<Reg> write(Builder& builder, std::string_view dots, Reg d, const Value& a, const Value& b, Where where) {
  const std::array operands = {Value::of(d), a, b};
  if (auto written = builder.emit(dots, operands, {}, where); !written) return Unexpected{std::move(written).error()};
  return d;
}

bool commutes(Operator op) { return op != Operator::sub && op != Operator::shl && op != Operator::shr && op != Operator::max; }

}  // namespace

Expected<Reg> binary(Builder& builder, Operator op, Value a, Value b, Where where) {
  if (is_number(a) && !is_number(b) && commutes(op)) std::swap(a, b);
  const auto operation = prepare(builder, op, a, b, false, where);
  if (!operation) return Unexpected{operation.error()};
  const Expected<Reg> result = builder.reg(operation->result);
  if (!result) return Unexpected{result.error()};
  return write(builder, operation->dots, *result, operation->a, operation->b, where);
}

Expected<Reg> in_place(Builder& builder, Operator op, Reg a, Value b, Where where) {
  const auto operation = prepare(builder, op, Value::of(a), b, true, where);
  if (!operation) return Unexpected{operation.error()};
  return write(builder, operation->dots, a, operation->a, operation->b, where);
}

Expected<Reg> compare(Builder& builder, Comparison cmp, Value a, Value b, Where where) {
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

Expected<Reg> move_into(Builder& builder, Reg destination, const Value& source, Where where) {
  const Type type = destination.type;
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
    value = Value::of_floating(static_cast<double>(value.integer));
  // the same register, read as what `mov` moves
  if (is_reg(value) && isa::fits(value.reg.type, type)) value.reg.type = as;
  const std::array operands = {Value::of(Reg{destination.id, as}), value};
  if (auto written = builder.emit(cat("mov.", isa::name(as)), operands, {}, where); !written)
    return Unexpected{std::move(written).error()};
  return destination;
}

}  // namespace

Expected<Reg> move_to_fresh(Builder& builder, Type type, Value source, Where where) {
  return scalar(builder, type, source, {}, where);
}

Expected<Value> readable(Builder& builder, const Value& value, Where where) {
  if (value.kind != Value::Kind::special) return value;
  const Expected<Reg> copy = move_to_fresh(builder, isa::specials()[value.special].type, value, where);
  if (!copy) return Unexpected{copy.error()};
  return Value::of(*copy);
}

Expected<Reg> scalar(Builder& builder, Type type, std::optional<Value> init, std::string_view name, Where where) {
  Expected<Reg> reg = builder.reg(type, name, where);
  if (!reg || !init) return reg;
  return move_into(builder, *reg, *init, where);
}

namespace {

// Nothing when the entry has that parameter.
std::optional<Diagnostic> unknown_param(const Builder& builder, std::string_view name, Where where) {
  std::vector<std::string> params;
  for (const ir::Param& p : builder.function().params) params.emplace_back(builder.module().str(p.name));
  if (std::find(params.begin(), params.end(), name) != params.end()) return std::nullopt;
  Diagnostic d;
  d.kind = Kind::undefined_symbol;
  d.message =
      cat("the kernel has no parameter `", name, '`', params.empty() ? std::string() : cat("; it has ", list_choices(params)));
  d.where = where;
  if (const std::string near = nearest(name, params); !near.empty()) d.note(cat("hint: did you mean `", near, "`?"));
  return d;
}

// Parameters are loaded as registers hold them: f16 as .b16, tf32 as .b32.
Type loaded_as(Type type) {
  if (isa::kind(type) == isa::TypeKind::bits || isa::is_integer(type) || type == Type::f32 || type == Type::f64) return type;
  return moved_as(type);
}

}  // namespace

Expected<Reg> load_param(Builder& builder, Type type, std::string_view name, Where where) {
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

Expected<Reg> global_ptr(Builder& builder, std::string_view param, Where where) {
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

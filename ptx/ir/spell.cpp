// Instructions and operands as PTX spells them. Everything is appended to one string: the printer spends its time here.
#include <array>
#include <charconv>

#include "ptx/ir/ir.hpp"

namespace ptx::ir {
namespace {

class Speller {
 public:
  Speller(const Module& module, const Function& function, std::string& out) : module_(module), function_(function), out_(out) {}

  void instruction(const Inst& inst) {
    if (inst.guard_id().valid()) {
      out_ += inst.guard_negated ? "@!" : "@";
      module_.reg_name(function_, inst.guard_id(), out_);
      out_ += ' ';
    }
    isa::spell(isa::form(inst.form), inst.choices, out_);
    const std::span<const Operand> operands = function_.operands_of(inst);
    if (!operands.empty()) out_ += ' ';
    list(operands);
    out_ += ';';
  }

  void operand(const Operand& o) {
    if (o.negated) out_ += is_number(o) ? '-' : '!';
    switch (o.kind) {
      case OperandKind::reg:
        module_.reg_name(function_, id<RegId>(o), out_);
        break;
      case OperandKind::special:
        out_ += isa::specials()[o.payload].name;
        break;
      case OperandKind::integer:
        integer(function_.constants[o.payload], static_cast<IntegerFormat>(o.count));
        break;
      case OperandKind::floating:
        floating(function_.constants[o.payload], o.count);
        break;
      case OperandKind::symbol:
      case OperandKind::text:
        out_ += module_.str(id<StringId>(o));
        break;
      case OperandKind::label:
        out_ += module_.str(function_.labels[o.payload].name);
        break;
      case OperandKind::vector:
        out_ += '{';
        list(function_.parts(o));
        out_ += '}';
        break;
      case OperandKind::address: {
        const std::span<const Operand> parts = function_.parts(o);
        out_ += '[';
        operand(parts[0]);
        if (parts.size() == 2) {
          out_ += '+';  // a negative offset follows its plus sign: ptxas reads [%rd0+-8] and refuses [%rd0-8]
          operand(parts[1]);
        }
        out_ += ']';
        if (o.unified) out_ += ".unified";
        break;
      }
      case OperandKind::tensor: {
        const std::span<const Operand> parts = function_.parts(o);
        out_ += '[';
        list(parts);
        out_ += ']';
        break;
      }
      case OperandKind::sink:
        out_ += '_';
        break;
      case OperandKind::list:
        out_ += '(';
        list(function_.parts(o));
        out_ += ')';
        break;
      case OperandKind::part:
        operand(function_.parts(o)[0]);
        operand(function_.parts(o)[1]);
        break;
      case OperandKind::expression:
        operand(function_.parts(o)[1]);
        break;
    }
  }

 private:
  // Predicates are negated by `!`, the numbers of vmad by `-`.
  bool is_number(const Operand& o) const {
    if (o.kind == OperandKind::part) return is_number(function_.parts(o)[0]);
    return o.kind == OperandKind::reg && function_.regs[o.payload].type != Type::pred;
  }
  template <class IdType>
  static IdType id(const Operand& o) {
    IdType result;
    result.index = o.payload;
    return result;
  }

  void list(std::span<const Operand> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i != 0) out_ += operands[i].piped ? "|" : ", ";
      operand(operands[i]);
    }
  }

  template <class Integer>
  void number(Integer value, int base = 10) {
    std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    out_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr);
  }

  void integer(std::uint64_t value, IntegerFormat format) {
    const bool hexadecimal = format == IntegerFormat::hexadecimal || format == IntegerFormat::hexadecimal_unsigned;
    if (format == IntegerFormat::decimal) return number(static_cast<std::int64_t>(value));
    if (hexadecimal) out_ += "0x";
    number(value, hexadecimal ? 16 : 10);
    if (format != IntegerFormat::hexadecimal) out_ += 'U';
  }

  void floating(std::uint64_t bits, int width) {
    out_ += width == 64 ? "0d" : "0f";
    for (int shift = width - 4; shift >= 0; shift -= 4) out_ += "0123456789ABCDEF"[bits >> shift & 15];
  }

  const Module& module_;
  const Function& function_;
  std::string& out_;
};

}  // namespace

void spell(const Module& module, const Function& function, const Inst& inst, std::string& out) {
  Speller(module, function, out).instruction(inst);
}
std::string spell(const Module& module, const Function& function, const Inst& inst) {
  std::string out;
  spell(module, function, inst, out);
  return out;
}
void spell(const Module& module, const Function& function, const Operand& operand, std::string& out) {
  Speller(module, function, out).operand(operand);
}

}  // namespace ptx::ir

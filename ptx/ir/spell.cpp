// Instructions and operands as PTX spells them. The printer spends its time here.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::ir {

using namespace std::string_view_literals;

namespace {

// Spells as asked for: each thing by itself.
struct Afresh {
  void reg(const Module& module, const Function& function, RegId id, TextBuffer& out) { module.reg_name(function, id, out); }
  void opcode(const Inst& inst, TextBuffer& out) { isa::spell(isa::form(inst.form), inst.choices, out); }
};

template <class Known>
class Speller {
 public:
  Speller(const Module& module, const Function& function, Known& known, TextBuffer& out)
      : module_(module), function_(function), known_(known), out_(out) {}

  void instruction(const Inst& inst) {
    if (inst.guard_id().valid()) {
      out_.add('@');
      if (inst.guard_negated) out_.add('!');
      known_.reg(module_, function_, inst.guard_id(), out_);
      out_.add(' ');
    }
    known_.opcode(inst, out_);
    const std::span<const Operand> operands = function_.operands_of(inst);
    if (!operands.empty()) out_.add(' ');
    list(operands);
    out_.add(';');
  }

  void operand(const Operand& o) {
    if (o.negated) out_.add(is_number(o) ? '-' : '!');
    switch (o.kind) {
      case OperandKind::reg:
        known_.reg(module_, function_, id<RegId>(o), out_);
        break;
      case OperandKind::special:
        out_.add(isa::specials()[o.payload].name);
        break;
      case OperandKind::integer:
        integer(function_.constants[o.payload], static_cast<IntegerFormat>(o.count));
        break;
      case OperandKind::floating:
        floating(function_.constants[o.payload], o.count);
        break;
      case OperandKind::symbol:
      case OperandKind::text:
        out_.add(module_.str(id<StringId>(o)));
        break;
      case OperandKind::label:
        out_.add(module_.str(function_.labels[o.payload].name));
        break;
      case OperandKind::vector:
        out_.add('{');
        list(function_.parts(o));
        out_.add('}');
        break;
      case OperandKind::address: {
        const std::span<const Operand> parts = function_.parts(o);
        out_.add('[');
        operand(parts[0]);
        if (parts.size() == 2) {
          out_.add('+');  // a negative offset follows its plus sign: ptxas reads [%rd0+-8] and refuses [%rd0-8]
          operand(parts[1]);
        }
        out_.add(']');
        if (o.unified) out_.add(".unified");
        break;
      }
      case OperandKind::tensor: {
        const std::span<const Operand> parts = function_.parts(o);
        out_.add('[');
        list(parts);
        out_.add(']');
        break;
      }
      case OperandKind::sink:
        out_.add('_');
        break;
      case OperandKind::list:
        out_.add('(');
        list(function_.parts(o));
        out_.add(')');
        break;
      case OperandKind::part:
        operand(function_.parts(o)[0]);
        operand(function_.parts(o)[1]);
        break;
      case OperandKind::expression:
        operand(function_.parts(o)[1]);
        break;
      case OperandKind::element: {
        const std::span<const Operand> parts = function_.parts(o);
        operand(parts[0]);
        out_.add('[');
        operand(parts[1]);
        if (parts.size() == 3) {
          out_.add('+');
          operand(parts[2]);
        }
        out_.add(']');
        break;
      }
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
      if (i != 0) out_.add(operands[i].piped ? "|"sv : ", "sv);
      const Operand& o = operands[i];
      if (o.kind == OperandKind::reg && !o.negated)  // as most are
        known_.reg(module_, function_, id<RegId>(o), out_);
      else
        operand(o);
    }
  }

  void integer(std::uint64_t value, IntegerFormat format) {
    const bool hexadecimal = format == IntegerFormat::hexadecimal || format == IntegerFormat::hexadecimal_unsigned;
    if (format == IntegerFormat::decimal) return out_.number(static_cast<std::int64_t>(value));
    if (hexadecimal) out_.add("0x");
    out_.number(value, hexadecimal ? 16 : 10);
    if (format != IntegerFormat::hexadecimal) out_.add('U');
  }

  void floating(std::uint64_t bits, int width) {
    out_.add(width == 64 ? "0d"sv : "0f"sv);
    for (int shift = width - 4; shift >= 0; shift -= 4) out_.add("0123456789ABCDEF"[bits >> shift & 15]);
  }

  const Module& module_;
  const Function& function_;
  Known& known_;
  TextBuffer& out_;
};

}  // namespace

// What a function's instructions have in common: the names of its registers, and opcodes with their modifiers. Looked up, a piece
// of text is a few stores; what is too long to be kept is spelled each time.
struct FunctionSpeller::Known {
  struct Name {
    std::array<char, 16> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): up to its size
    std::uint8_t size = 0;      // 0: not known yet
  };
  struct Opcode {
    isa::FormId form = isa::no_form;
    isa::Choices choices{};
    std::uint8_t size = 0;
    std::array<char, 46> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): up to its size
  };

  explicit Known(std::size_t registers) : names(registers) {}

  void reg(const Module& module, const Function& function, RegId id, TextBuffer& out) {
    Name& name = names[id.index];
    if (name.size == 0 && !learn(name, module, function, function.reg(id))) return module.reg_name(function, id, out);
    out.add_of_sixteen(name.text.data(), name.size);
  }
  // False for a name that is too long.
  static bool learn(Name& name, const Module& module, const Function& function, const Register& reg) {
    const RegDecl& decl = function.reg_decls[reg.decl.index];
    const std::string_view base = module.str(decl.base);
    if (base.size() > name.text.size()) return false;
    char* end = std::copy(base.begin(), base.end(), name.text.data());
    if (decl.count) {
      const auto [behind, error] = std::to_chars(end, name.text.data() + name.text.size(), reg.index);
      if (error != std::errc()) return false;
      end = behind;
    }
    name.size = static_cast<std::uint8_t>(end - name.text.data());
    return true;
  }
  void opcode(const Inst& inst, TextBuffer& out) {
    std::uint64_t first = 0;
    std::memcpy(&first, inst.choices.data(), sizeof first);
    Opcode& known = opcodes[(first * 0x9E3779B97F4A7C15u ^ inst.form * 0xC2B2AE3D27D4EB4Fu) >> 57];
    if (known.form != inst.form || !isa::same(known.choices, inst.choices)) {
      const std::string spelled = isa::spell(isa::form(inst.form), inst.choices);
      if (spelled.size() > known.text.size()) return out.add(spelled);
      std::copy(spelled.begin(), spelled.end(), known.text.begin());
      known.form = inst.form;
      known.choices = inst.choices;
      known.size = static_cast<std::uint8_t>(spelled.size());
    }
    out.add(std::string_view(known.text.data(), known.size));
  }

  std::vector<Name> names;            // by RegId
  std::array<Opcode, 128> opcodes{};  // by a hash: the last of those that share one
};

FunctionSpeller::FunctionSpeller(const Module& module, const Function& function)
    : module_(module), function_(function), known_(std::make_unique<Known>(function.regs.size())) {}
FunctionSpeller::~FunctionSpeller() = default;

void FunctionSpeller::add_lines(std::span<const Inst> instructions, std::size_t indentation, std::string& out) {
  TextBuffer buffer(out);
  Speller speller(module_, function_, *known_, buffer);
  for (const Inst& inst : instructions) {
    for (std::size_t i = 0; i < indentation; ++i) buffer.add('\t');
    speller.instruction(inst);
    buffer.add('\n');
  }
}

void spell(const Module& module, const Function& function, const Inst& inst, std::string& out) {
  Afresh afresh;
  TextBuffer buffer(out);
  Speller(module, function, afresh, buffer).instruction(inst);
}
std::string spell(const Module& module, const Function& function, const Inst& inst) {
  std::string out;
  spell(module, function, inst, out);
  return out;
}
void spell(const Module& module, const Function& function, const Operand& operand, std::string& out) {
  Afresh afresh;
  TextBuffer buffer(out);
  Speller(module, function, afresh, buffer).operand(operand);
}

}  // namespace ptx::ir

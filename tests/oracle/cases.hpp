// What the oracle asks about: instructions made from the rows, each with its choices and operands, as items of a module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::oracle {

/// How one operand differs from the plain register (or address, or number) that the row asks for.
struct Change {
  enum class Kind : std::uint8_t { none, integer, floating, negate, sink, type, special, part, symbol, scalar };
  int operand = -1;
  Kind kind = Kind::none;
  Type type = Type::none;      ///< Kind::type: a register of this type instead
  std::int64_t integer = 0;    ///< Kind::integer: this number instead
  std::string_view part;       ///< Kind::part: this part of the register; Kind::symbol: this name instead
  isa::SpecialId special = 0;  ///< Kind::special: this special register instead
};

/// One instruction to ask about.
struct Case {
  isa::FormId form = isa::no_form;
  isa::Choices choices{};
  std::uint32_t optional = 0;  ///< which of the optional operands are there, a bit each
  Change change;
};

/// How many choices of a form are tried together.
enum class Depth : std::uint8_t {
  operands,  ///< every choice once of the slots that shape the operands, the other slots at their defaults
  each,      ///< every choice of every slot once, the other slots at their defaults
  pairs,     ///< every pair of choices; all combinations where they are few
};

/// True when the instruction names a .b128 register.
bool uses_b128(const Case& c);

/// Every combination of choices that `depth` asks for, each once.
std::vector<isa::Choices> combinations(const isa::Form& form, Depth depth);
/// Cases for the choices of a form, with and without optional operands.
std::vector<Case> choice_cases(const isa::Form& form, Depth depth);
/// Cases that change one operand of a form at a time into everything that might fit.
std::vector<Case> operand_cases(const isa::Form& form);

/// A module of one entry, with declarations of whatever an instruction may name. The instruction of each case carries the case's
/// number as the line of its place, from 1.
class Kernel {
 public:
  Kernel(Target target, Version version);
  /// Appends the instruction; false when its operands fit no form of that spelling: `refusal` then says why.
  bool add(const Case& c, std::uint32_t number, std::string* refusal = nullptr);
  /// Ends the body. The module may then be printed and checked.
  ir::Module finish() &&;

 private:
  ir::Operand reg(Type type, std::uint32_t index);
  ir::Operand integer(std::int64_t value);
  ir::Operand group(ir::OperandKind kind, const std::vector<ir::Operand>& parts);
  ir::Operand symbol(std::string_view name);
  ir::Operand operand(const isa::Form& form, const Case& c, std::size_t index);
  ir::Operand scalar(const isa::OperandSpec& spec, Type type, const Change& change, std::uint32_t index, std::int64_t immediate);
  ir::Operand address(std::string_view space, bool stores);

  ir::Module module_;
  ir::Function function_;
  ir::LabelId end_;
  std::map<Type, ir::RegDeclId> decls_;
  std::map<std::pair<Type, std::uint32_t>, ir::RegId> regs_;
};

}  // namespace ptx::oracle

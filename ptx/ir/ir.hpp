// ir (floor 2): a PTX module as data. Flat stores and typed ids; an instruction is 32 bytes. Made by write (authoring) and by
// text (parsing), read by check, text (printing), vgpu and port. What the table does not know is kept as `raw` text and prints
// back whole.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::ir {

using StringId = Id<struct StringTag>;      ///< in Module
using WhereId = Id<struct WhereTag>;        ///< in Module
using RegDeclId = Id<struct RegDeclTag>;    ///< in Function
using RegId = Id<struct RegTag>;            ///< in Function
using VariableId = Id<struct VariableTag>;  ///< in Function or Module, see Symbol
using LabelId = Id<struct LabelTag>;        ///< in Function
using OperandId = Id<struct OperandTag>;    ///< in Function
using InstId = Id<struct InstTag>;          ///< in Function: index into `body`

// ---- operands -------------------------------------------------------------------------------------------------------

enum class OperandKind : std::uint8_t {
  reg,       ///< payload: RegId; `negated` for !p
  special,   ///< payload: isa::SpecialId
  integer,   ///< payload: index into Function::constants, a 64-bit two's complement value; prints in decimal
  floating,  ///< payload: index into Function::constants, the bits; `count` is the width: 32 prints 0f…, 64 prints 0d…
  symbol,    ///< payload: StringId of a variable, parameter or function
  label,     ///< payload: LabelId
  vector,    ///< payload: first of `count` consecutive operands
  address,   ///< payload: first of `count` (1 or 2) consecutive operands: base, and an integer or register offset
  tensor,    ///< payload: first of 2 consecutive operands: base, vector of coordinates
  sink,      ///< _
  text,      ///< payload: StringId of a constant expression, printed as it is
};

struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated = false;  ///< !p
  bool piped = false;    ///< printed after the operand before it with `|` instead of `, `
  std::uint8_t count = 0;
  std::uint32_t payload = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};
static_assert(sizeof(Operand) == 8);

// ---- instructions and other lines of a body ---------------------------------------------------------------------

enum class ItemKind : std::uint8_t {
  inst,      ///< an instruction of the table
  label,     ///< `payload`: LabelId
  open,      ///< {
  close,     ///< }
  reg_decl,  ///< `payload`: RegDeclId of a block-local declaration
  variable,  ///< `payload`: VariableId of a variable of the body (.shared, .local, …)
  comment,   ///< `payload`: StringId, printed as `// text`
  pragma,    ///< `payload`: StringId
  raw,       ///< `payload`: StringId of a whole statement the table does not know, printed as it is
};

/// One line of a function's body. An instruction is whole: form, choices, operands, guard, and where the author wrote it.
struct Inst {
  ItemKind kind = ItemKind::inst;
  bool guard_negated = false;  ///< @!p
  isa::FormId form = isa::no_form;
  std::uint32_t payload = 0;              ///< inst: first OperandId; else see ItemKind
  std::uint32_t guard = RegId::absent;    ///< RegId
  std::uint32_t where = WhereId::absent;  ///< WhereId
  std::uint8_t operand_count = 0;
  isa::Choices choices{};

  [[nodiscard]] RegId guard_id() const {
    RegId id;
    id.index = guard;
    return id;
  }
};
static_assert(sizeof(Inst) == 32);

// ---- declarations ---------------------------------------------------------------------------------------------------

/// `.reg .type base<count>;` or, without a count, `.reg .type base;`. The type is the declared, fundamental one.
struct RegDecl {
  StringId base;
  Type type = Type::none;
  std::optional<std::uint32_t> count;
  bool block_local = false;  ///< printed where an ItemKind::reg_decl stands, not at the top of the body
};

/// A register in use: one element of a declaration.
struct Register {
  RegDeclId decl;
  std::uint32_t index = 0;  ///< 0 when the declaration has no count
  Type type = Type::none;
};

enum class StateSpace : std::uint8_t { reg, global, shared, local, const_, param };
std::string_view name(StateSpace space);  ///< without the dot
enum class Linkage : std::uint8_t { none, visible, extern_, weak, common };
std::string_view name(Linkage linkage);

/// A variable: `.shared .align 128 .b8 smem_0[4096];`, `.extern .shared .align 128 .b8 dyn_smem[];`
struct Variable {
  StringId name;
  StateSpace space = StateSpace::global;
  Linkage linkage = Linkage::none;
  Type type = Type::b8;
  std::uint32_t align = 0;                ///< bytes; 0: not written
  std::optional<std::uint64_t> elements;  ///< array length; nothing: a scalar
  bool unsized = false;                   ///< `name[]`
  [[nodiscard]] std::uint64_t bytes() const {
    return unsized ? 0 : elements.value_or(1) * ((static_cast<std::uint64_t>(isa::bits(type)) + 7) / 8);
  }
};

/// A parameter of an entry or function: `.param .u64 x`, `.param .align 64 .b8 map[128]`, `.param .u64 .ptr .global .align 16 p`.
struct Param {
  StringId name;
  Type type = Type::u64;
  std::uint32_t align = 0;                ///< bytes; 0: not written
  std::optional<std::uint64_t> elements;  ///< array length
  bool is_ptr = false;
  std::optional<StateSpace> ptr_space;
  std::uint32_t ptr_align = 0;
  [[nodiscard]] std::uint64_t bytes() const {
    return elements.value_or(1) * ((static_cast<std::uint64_t>(isa::bits(type)) + 7) / 8);
  }
  /// The parameter's alignment in the parameter block, bytes.
  [[nodiscard]] std::uint32_t alignment() const {
    return align != 0 ? align : static_cast<std::uint32_t>((isa::bits(type) + 7) / 8);
  }
};

/// `.reqntid 128, 1, 1` and the like: the name without the dot, and its values.
struct Directive {
  std::string name;
  std::vector<std::uint32_t> values;
};

struct Label {
  StringId name;
  std::uint32_t item = 0xFFFFFFFFu;  ///< index into body of its definition
};

/// An entry or a device function. Owns the stores that its ids point into.
struct Function {
  StringId name;
  bool is_entry = true;
  Linkage linkage = Linkage::visible;
  std::vector<Param> params;
  std::vector<Directive> directives;
  std::vector<RegDecl> reg_decls;
  std::vector<Register> regs;
  std::vector<Variable> variables;
  std::vector<Label> labels;
  std::vector<Inst> body;
  std::vector<Operand> operands;
  std::vector<std::uint64_t> constants;

  [[nodiscard]] const Register& reg(RegId id) const { return regs[id.index]; }
  [[nodiscard]] std::span<const Operand> operands_of(const Inst& inst) const {
    return std::span(operands).subspan(inst.payload, inst.operand_count);
  }
  /// The parts of a vector, address or tensor operand.
  [[nodiscard]] std::span<const Operand> parts(const Operand& operand) const {
    return std::span(operands).subspan(operand.payload, operand.kind == OperandKind::tensor ? 2u : operand.count);
  }
  [[nodiscard]] std::int64_t integer(const Operand& operand) const {
    return static_cast<std::int64_t>(constants[operand.payload]);
  }
};

/// A module: header, module-level variables, functions, and the strings and places that they share.
class Module {
 public:
  Version version{8, 5};
  Target target = Target::sm_90a;
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;

  StringId intern(std::string_view text);
  [[nodiscard]] std::string_view str(StringId id) const {
    return id.valid() ? std::string_view(strings_[id.index]) : std::string_view();
  }
  WhereId add(Where where);
  [[nodiscard]] Where where(WhereId id) const { return id.valid() ? wheres_[id.index] : Where{}; }
  [[nodiscard]] Where where(const Inst& inst) const {
    WhereId id;
    id.index = inst.where;
    return where(id);
  }
  /// "%r3": the register's name as PTX spells it.
  [[nodiscard]] std::string reg_name(const Function& function, RegId id) const;
  void reg_name(const Function& function, RegId id, std::string& out) const;
  /// The function of that name, or nullptr.
  [[nodiscard]] const Function* find(std::string_view function_name) const;

  Module() = default;
  Module(Module&&) = default;             // NOLINT(performance-noexcept-move-constructor): a deque's is not
  Module& operator=(Module&&) = default;  // NOLINT(performance-noexcept-move-constructor)
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 private:
  std::deque<std::string> strings_;  // a deque: interned views must not move
  std::unordered_map<std::string_view, StringId> index_;
  std::vector<Where> wheres_;
};

/// A module as text, and on which line of it (from 1) each body item of the entry stands: what a report or a log needs to lead
/// back to the author. Made by text::list, read by vgpu and launch, which do not see each other's rooms.
struct Listing {
  std::string text;
  std::vector<std::vector<std::uint32_t>> line_of;  ///< [function][item] -> line, 0: not printed
  /// The text of a line, without indentation; "" when there is no such line.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;
};

/// An instruction as PTX spells it, appended to `out`: `@%p1 fma.rn.f32 %f2, %f1, %f1, %f2;`. The printer's lines and the `ptx:`
/// notes of diagnostics are made of it. For items of kind inst alone.
void spell(const Module& module, const Function& function, const Inst& inst, std::string& out);
std::string spell(const Module& module, const Function& function, const Inst& inst);
/// One operand: `{%f0, %f1}`, `[%rd0+16]`, `0f3F800000`.
void spell(const Module& module, const Function& function, const Operand& operand, std::string& out);

/// What an operand is, for isa::fit. `scratch` keeps the parts alive.
isa::Arg arg_of(const Module& module, const Function& function, const Operand& operand,
                std::deque<std::vector<isa::Arg>>& scratch);

}  // namespace ptx::ir

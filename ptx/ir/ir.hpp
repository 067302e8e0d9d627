// ir (floor 2): a PTX module as data. Flat stores and typed ids; an instruction is 32 bytes. Made by write (authoring) and by
// text (parsing), read by check, text (printing), vgpu and port. What the table does not know is kept as `raw` text and prints
// back whole.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/brief.hpp"
#include "ptx/isa/brief.hpp"

namespace ptx::ir {

// ---- operands -------------------------------------------------------------------------------------------------------

enum class OperandKind : std::uint8_t {
  reg,       ///< payload: RegId; `negated` for !p and, in vmad, -r
  special,   ///< payload: isa::SpecialId
  integer,   ///< payload: index into Function::constants, a 64-bit two's complement value; `count`: an IntegerFormat
  floating,  ///< payload: index into Function::constants, the bits; `count` is the width: 32 prints 0f…, 64 prints 0d…
  symbol,    ///< payload: StringId of a variable, parameter or function
  label,     ///< payload: LabelId
  vector,    ///< payload: first of `count` consecutive operands
  address,   ///< payload: first of `count` (1 or 2) consecutive operands: base, and an integer or register offset
  tensor,    ///< payload: first of `count` (2 or 3) consecutive operands: base, perhaps a sampler, and the coordinates, a vector
             ///< or one scalar: `[map, {%r0, %r1}]`, `[tex, sampler, {%f0, %f1}]`
  sink,      ///< _
  text,      ///< payload: StringId of a constant expression whose value is not known here, printed as it is
  list,      ///< payload: first of `count` consecutive operands: `(a, b)` of a call
  part,      ///< payload: first of 2 consecutive operands: a register, and a text that selects in it: `%r1.h10`, `v.x`
  expression,  ///< payload: first of 2 consecutive operands: the integer that a constant expression comes to, and its text
  element,     ///< payload: first of `count` (2 or 3) consecutive operands: a symbol, the index, which is a number or a register,
               ///< and a number added to that register: `g[1]`, `g[%r1]`, `g[%r1+1]`
};

/// True for those whose payload is the first of consecutive operands.
constexpr bool has_parts(OperandKind kind) {
  switch (kind) {
    case OperandKind::vector:
    case OperandKind::address:
    case OperandKind::tensor:
    case OperandKind::list:
    case OperandKind::part:
    case OperandKind::expression:
    case OperandKind::element:
      return true;
    default:
      return false;
  }
}

/// How an integer operand was written and prints. The value is the same.
enum class IntegerFormat : std::uint16_t {
  decimal,           ///< -8
  hexadecimal,       ///< 0xff
  decimal_unsigned,  ///< 18446744073709551615, 5U: values that are not signed
  hexadecimal_unsigned,
};

struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated : 1 = false;  ///< !p
  bool piped : 1 = false;    ///< printed after the operand before it with `|` instead of `, `
  bool unified : 1 = false;  ///< of an address: `[a].unified`
  std::uint16_t count = 0;   ///< see OperandKind
  std::uint32_t payload = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};
static_assert(sizeof(Operand) == 8);

// ---- instructions and other lines of a body ---------------------------------------------------------------------

enum class ItemKind : std::uint8_t {
  inst,            ///< an instruction of the table
  label,           ///< `payload`: LabelId
  open,            ///< {
  close,           ///< }
  reg_decl,        ///< `payload`: RegDeclId of a block-local declaration
  variable,        ///< `payload`: VariableId of a variable of the body (.shared, .local, …)
  comment,         ///< `payload`: StringId, printed as `// text`
  pragma,          ///< `payload`: StringId
  raw,             ///< `payload`: StringId of a whole statement the table does not know, printed as it is
  loc,             ///< `payload`: index into Function::locs
  prototype,       ///< `payload`: index into Function::prototypes; the label before it names it
  branch_targets,  ///< `payload`: index into Function::target_lists; the label before it names it
  call_targets,    ///< the same, of functions
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
  bool block_local =
      false;  ///< printed where an ItemKind::reg_decl stands, not at the top of the body: all those of a parsed text
  std::uint8_t vector = 1;  ///< 2 or 4: `.reg .v4 .f32 v;`, whose elements are parts
  bool is_param = false;    ///< a `.reg` parameter of a device function: declared by the signature alone
  WhereId where;
};

/// A register in use: one element of a declaration.
struct Register {
  RegDeclId decl;
  std::uint32_t index = 0;  ///< 0 when the declaration has no count
  Type type = Type::none;
  std::uint8_t vector = 1;  ///< 2 or 4: a whole vector, as `.reg .v4 .f32 v;` declares it
};

/// One element of an initialiser, in the order of the text: `{ {1, 2}, {tab+4, 0xFF(generic(x))} }`. A nested list is an `open`,
/// its elements and a `close`; a missing one is not written out. A list of one number needs no braces (manual: "Initializers").
enum class InitKind : std::uint8_t {
  open,      ///< {
  close,     ///< }
  integer,   ///< value: two's complement
  floating,  ///< value: the bits; `width` 32 or 64
  symbol,    ///< the address of `symbol` in its space, plus value
  generic,   ///< generic(symbol) + value
  field,     ///< `symbol = value` of a sampler or texture: `symbol` names the field, the next element is its value
  word,      ///< a name that is a value: clamp_to_edge, nearest
};
struct Init {
  InitKind kind = InitKind::integer;
  std::uint8_t width = 0;      ///< floating: 32 or 64; integer: 1 when written as hexadecimal
  std::uint8_t mask_byte = 0;  ///< symbol, generic: 1 + the byte that a mask picks, `0xFF00(x)` is 2; 0: no mask
  StringId symbol;
  std::uint64_t value = 0;
  friend bool operator==(const Init&, const Init&) = default;
};
static_assert(sizeof(Init) == 16);

/// A variable: `.shared .align 128 .b8 smem_0[4096];`, `.extern .shared .align 128 .b8 dyn_smem[];`
struct Variable {
  StringId name;
  StateSpace space = StateSpace::global;
  Linkage linkage = Linkage::none;
  Type type = Type::b8;
  std::uint32_t align = 0;                ///< bytes; 0: not written
  std::optional<std::uint64_t> elements;  ///< array length, of the first dimension; nothing: a scalar
  bool unsized = false;                   ///< `name[]`: the first dimension is not written
  std::uint8_t vector = 1;                ///< 2 or 4: `.v4 .f32`
  std::vector<std::uint64_t> inner;       ///< the dimensions behind the first: `[2][3][4]` has 3, 4
  std::vector<Init> initialiser;          ///< empty: none. A single number stands alone, all else between open and close
  std::vector<std::string> attributes;    ///< of `.attribute(…)`: "managed", "unified(19, 95)"
  WhereId where;

  /// Bytes of one scalar; 0 for a texture, a sampler or a surface, which lies in no memory that a kernel reads.
  [[nodiscard]] std::uint64_t scalar_bytes() const { return (static_cast<std::uint64_t>(isa::bits(type)) + 7) / 8; }
  /// Scalars of one element of the first dimension.
  [[nodiscard]] std::uint64_t scalars_of_element() const {
    std::uint64_t n = vector;
    for (const std::uint64_t d : inner) n = multiply_sizes(n, d);
    return n;
  }
  /// Elements of the first dimension: those written, or as many as an initialiser gives; of `x[]` alone none.
  [[nodiscard]] std::uint64_t element_count() const;
  /// The largest number where the product has more digits.
  [[nodiscard]] std::uint64_t bytes() const {
    return multiply_sizes(element_count(), multiply_sizes(scalars_of_element(), scalar_bytes()));
  }
  /// Bytes, 1 at least: as written, or that of an element.
  [[nodiscard]] std::uint64_t alignment() const {
    const std::uint64_t natural = vector * scalar_bytes();
    return align != 0 ? align : natural != 0 ? natural : 1;
  }
};

/// A parameter of an entry or function: `.param .u64 x`, `.param .align 64 .b8 map[128]`, `.param .u64 .ptr .global .align 16 p`.
struct Param {
  StringId name;  ///< "_" in a prototype
  Type type = Type::u64;
  std::uint32_t align = 0;                ///< bytes; 0: not written
  std::optional<std::uint64_t> elements;  ///< array length
  bool unsized = false;                   ///< `name[]`: the last parameter of a variadic device function
  std::uint8_t vector = 1;                ///< 2 or 4
  RegId reg;                              ///< valid: a `.reg` parameter of a device function, this register in its body
  bool in_register = false;               ///< `.reg`, also in prototypes and declarations, which have no registers
  WhereId where;
  bool is_ptr = false;
  std::optional<StateSpace> ptr_space;
  std::uint32_t ptr_align = 0;
  /// Valid: what a launch passes is the TMA descriptor of the tensor whose parameter has this name, or that descriptor's address,
  /// as the type says.
  StringId describes;
  [[nodiscard]] std::uint64_t bytes() const {
    return multiply_sizes(elements.value_or(1), vector * ((static_cast<std::uint64_t>(isa::bits(type)) + 7) / 8));
  }
  /// The parameter's alignment in the parameter block, bytes.
  [[nodiscard]] std::uint32_t alignment() const {
    return align != 0 ? align : static_cast<std::uint32_t>((isa::bits(type) + 7) / 8);
  }
};

/// What a parameter that describes a tensor is called: the tensor's name and this. Text has no other way to say it, so the parser
/// reads it there; everything else reads `Param::describes`.
inline constexpr std::string_view descriptor_suffix = "_tma_desc";
/// Bytes of a TMA descriptor, and the least alignment of a parameter that is one.
inline constexpr std::uint32_t descriptor_bytes = 128, least_descriptor_alignment = 64;

/// Where each parameter of an entry lies in its parameter block, and behind them the block's size.
std::vector<std::uint64_t> param_offsets(std::span<const Param> params);

/// `.callprototype (.param .b32 _) _ (.param .b64 _)`: how an indirect call passes its arguments.
struct Prototype {
  std::vector<Param> returns, params;
  std::vector<Directive> directives;  ///< .noreturn, .abi_preserve 4
};

/// `.loc 1 12 5`, `.loc 2 8 3, function_name $L__info+4, inlined_at 1 12 5` (manual: ".loc").
struct Loc {
  std::uint32_t file = 0, line = 0, column = 0;
  StringId function_name;  ///< a label of a debug section; absent: not inlined
  std::uint32_t function_offset = 0;
  std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
  /// What LLVM writes behind it of code that was inlined and has no inlined_at, "a.py:3:5 @[ b.py:7:1 @[ c.py:9:2 ] ]": where it
  /// is from, then the calls, innermost first. A comment: it does not print, and does not count in `difference`.
  StringId callers;
  friend bool operator==(const Loc&, const Loc&) = default;
};

struct Label {
  StringId name;
  std::uint32_t item = 0xFFFFFFFFu;  ///< index into body of its definition
};

/// An entry or a device function. Owns the stores that its ids point into.
struct Function {
  StringId name;
  bool is_entry = true;
  bool has_body = true;  ///< false: a declaration, `.func f (…);`
  Linkage linkage = Linkage::visible;
  std::vector<Param> returns;  ///< of a device function
  std::vector<Param> params;
  std::vector<std::string> attributes;  ///< of `.attribute(…)`: "unified(19, 95)"
  std::vector<Directive> directives;
  std::vector<RegDecl> reg_decls;
  Store<Register> regs;
  std::vector<Variable> variables;
  std::vector<Label> labels;
  Store<Inst> body;
  Store<Operand> operands;
  Store<std::uint64_t> constants;
  std::vector<Loc> locs;
  std::vector<Prototype> prototypes;
  std::vector<std::vector<Operand>> target_lists;  ///< labels of .branchtargets, symbols of .calltargets
  WhereId where;                                   ///< of its name

  [[nodiscard]] const Register& reg(RegId id) const { return regs[id.index]; }
  [[nodiscard]] std::span<const Operand> operands_of(const Inst& inst) const {
    return std::span(operands).subspan(inst.payload, inst.operand_count);
  }
  /// The parts of an operand that has some: vector, address, tensor, list, part, expression, element.
  [[nodiscard]] std::span<const Operand> parts(const Operand& operand) const {
    return std::span(operands).subspan(operand.payload, operand.count);
  }
  /// The value of an integer or expression operand.
  [[nodiscard]] std::int64_t integer(const Operand& operand) const {
    const Operand& number = operand.kind == OperandKind::expression ? operands[operand.payload] : operand;
    return static_cast<std::int64_t>(constants[number.payload]);
  }
};

enum class ModuleItemKind : std::uint8_t {
  variable,  ///< `payload`: index into Module::variables
  function,  ///< `payload`: index into Module::functions
  file,      ///< `payload`: StringId of what stands behind `.file`: `1 "a.cu"`
  section,   ///< `payload`: index into Module::sections
  pragma,    ///< `payload`: StringId of what stands behind `.pragma`: `"nounroll", "x"`
  alias,     ///< `payload`: StringId of what stands behind `.alias`: `f, g`
  raw,       ///< `payload`: StringId of a statement that is kept as it is
};
/// One thing of the module, in the order of the text.
struct ModuleItem {
  ModuleItemKind kind = ModuleItemKind::raw;
  std::uint32_t payload = 0;
  WhereId where;
};

/// `.section .debug_info { … }`: debug data, one directive or label a line, as they print.
struct Section {
  std::string name;  ///< with its dot
  std::string lines;
};

/// The text that a module was parsed from: places lead back to it, and so do the trivia that text keeps beside.
struct Source {
  const char* file = "";  ///< interned
  std::string text;
  std::vector<std::uint32_t> line_starts;  ///< offset of each line
  [[nodiscard]] SourceLocation where(std::uint32_t offset) const;
};

/// A module: header, module-level variables, functions, and the strings and places that they share.
class Module {
 public:
  Version version{8, 5};
  Target target = Target::sm_90a;
  std::vector<std::string> target_options;  ///< further words of `.target`: texmode_independent, debug, map_f64_to_f32
  unsigned address_size = 64;               ///< 0: not written
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Section> sections;
  /// The order of the text. Variables that no item places stand before the others, functions behind them.
  std::vector<ModuleItem> items;
  std::shared_ptr<const Source> source;  ///< of a parsed module

  /// The id of a text; equal texts have one id. The text is kept and does not move.
  StringId intern(std::string_view text);
  /// The same, of a text that is there already; else an absent id.
  [[nodiscard]] StringId interned(std::string_view text) const;
  [[nodiscard]] std::string_view str(StringId id) const { return id.valid() ? strings_[id.index] : std::string_view(); }
  /// How many texts there are: ids lie below.
  [[nodiscard]] std::size_t string_count() const { return strings_.size(); }
  WhereId add(SourceLocation where);
  /// The place at an offset of `source`. It costs nothing until somebody asks where it is.
  static WhereId at(std::uint32_t offset) { return WhereId(offset | source_bit); }
  /// The offset in `source`, of a place made by `at`.
  static std::optional<std::uint32_t> offset(WhereId id) {
    return id.valid() && (id.index & source_bit) != 0 ? std::optional(id.index & ~source_bit) : std::nullopt;
  }
  [[nodiscard]] SourceLocation where(WhereId id) const {
    if (!id.valid()) return {};
    if ((id.index & source_bit) != 0) return source ? source->where(id.index & ~source_bit) : SourceLocation{};
    return wheres_[id.index];
  }
  [[nodiscard]] SourceLocation where(const Inst& inst) const {
    WhereId id;
    id.index = inst.where;
    return where(id);
  }
  /// "%r3": the register's name as PTX spells it.
  [[nodiscard]] std::string reg_name(const Function& function, RegId id) const;
  void reg_name(const Function& function, RegId id, TextBuffer& out) const;
  /// The function of that name, its definition rather than a declaration; or nullptr.
  [[nodiscard]] const Function* find(std::string_view function_name) const;

  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 private:
  static constexpr std::uint32_t source_bit = 0x80000000u;  // sources are shorter than 2 GiB
  static std::uint32_t hash(std::string_view text);
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  std::string_view keep(std::string_view text);
  void grow();

  // Open addressing: half of a parser's work on names is finding them here.
  struct Slot {
    std::uint32_t hash = 0, id = StringId::absent;
  };
  std::vector<std::string_view> strings_;  // into blocks_
  std::vector<Slot> slots_;                // a power of two, at most half full
  // What is free of the last block. A module that was moved from has none.
  struct Free {
    char* at = nullptr;
    std::size_t left = 0;
    Free() = default;
    Free(Free&& other) noexcept : at(std::exchange(other.at, nullptr)), left(std::exchange(other.left, 0)) {}
    Free& operator=(Free&& other) noexcept {
      at = std::exchange(other.at, nullptr);
      left = std::exchange(other.left, 0);
      return *this;
    }
  };
  std::vector<std::unique_ptr<char[]>> blocks_;
  Free free_;
  Store<SourceLocation> wheres_;
};

/// All items of a module in the order in which they print: variables that `items` does not place, `items`, and the functions that
/// it does not place.
std::vector<ModuleItem> items_in_order(const Module& module);

/// What a body prints before its first item: the declarations that no item places. Registers first, the families of automatic
/// registers before the others (docs/decisions/0002), then variables.
struct Leading {
  std::vector<std::uint32_t> reg_decls, variables;  ///< indices
};
Leading leading_declarations(const Module& module, const Function& function);

/// Nothing when two modules say the same in the same order; else the first difference in words. Places, comments and how things
/// are numbered do not count.
std::string difference(const Module& a, const Module& b);

/// Where an item of a body is from, as the `.loc` in front of it says: the place first, then the calls through which it was
/// inlined, innermost first. Nothing without a `.loc`.
std::vector<SourceLocation> debug_places(const Module& module, const Function& function, std::size_t item);

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

/// Spells many instructions of one function: it remembers what they share.
class FunctionSpeller {
 public:
  FunctionSpeller(const Module& module, const Function& function);
  FunctionSpeller(const FunctionSpeller&) = delete;
  FunctionSpeller& operator=(const FunctionSpeller&) = delete;
  ~FunctionSpeller();
  /// Appends instructions to `out`, as spell does, each on a line of its own behind so many tabs.
  void add_lines(std::span<const Inst> instructions, std::size_t indentation, std::string& out);

 private:
  struct Known;
  const Module& module_;
  const Function& function_;
  std::unique_ptr<Known> known_;
};

/// What an operand is, for isa::match. `scratch` keeps the parts alive.
isa::Arg arg_of(const Module& module, const Function& function, const Operand& operand,
                std::deque<std::vector<isa::Arg>>& scratch);

}  // namespace ptx::ir

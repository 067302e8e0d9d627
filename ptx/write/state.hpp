// What a Builder holds. Internal to the room: builder.cpp declares and finishes, emit.cpp writes instructions.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/names.hpp"

namespace ptx::write {

/// A family of automatic registers: one declaration at the top of the entry, `.reg .b32 %r<12>;` (docs/decisions/0002).
struct Family {
  std::string_view base;    ///< "%r"
  std::string_view arrays;  ///< bases of later arrays: "%rarr" -> "%rarr0_"
  Type declared;
};
inline constexpr std::array families = {
    Family{"%p", "%parr", Type::pred},  Family{"%rs", "%rsarr", Type::b16}, Family{"%r", "%rarr", Type::b32},
    Family{"%rd", "%rdarr", Type::b64}, Family{"%f", "%farr", Type::f32},   Family{"%fd", "%fdarr", Type::f64},
    Family{"%h", "%harr", Type::b16},   Family{"%hh", "%hharr", Type::b32}, Family{"%rq", "%rqarr", Type::b128},
    Family{"%b", "%barr", Type::b16},   Family{"%ri", "%riarr", Type::b32}};
/// Index into `families` of the one that registers of this type come from; nothing for a type that no register has.
std::optional<std::size_t> family_of(Type type);
/// The family of loop counters, `%ri`.
inline constexpr std::size_t counter_family = 10;

/// Calls visit(RegId) for every register that the operand names.
template <class Visit>
void each_register(const ir::Function& function, const ir::Operand& operand, const Visit& visit) {
  if (operand.kind == ir::OperandKind::reg) visit(operand.payload);
  if (ir::has_parts(operand.kind))
    for (const ir::Operand& part : function.parts(operand)) each_register(function, part, visit);
}

/// A finding about an instruction, with its syntax in front of what else is known.
inline Diagnostic with_form(Diagnostic d, const isa::Form& form) {
  d.notes.insert(d.notes.begin(), {NoteKind::form, form.syntax(), {}});
  return d;
}

/// An instruction as it was asked for: by dots, or by a pattern.
struct Spelling {
  const isa::ModifierTree* dots = nullptr;
  const Pattern* pattern = nullptr;
};

/// What a spelling and the kinds and types of its operands come to: found by isa::match once, remembered for the rest of the
/// trace.
struct Resolved {
  isa::FormId form = isa::no_form;
  isa::Choices choices{};
  static constexpr std::size_t max_operands = 14;
  std::array<Type, max_operands> types{};       ///< by operand: how numbers are encoded
  std::array<isa::Role, max_operands> roles{};  ///< by operand
  bool reads_integers = false;                  ///< nothing but that: there is one for each sequence of integers, by a longer key
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

struct Builder::State {
  explicit State(KernelHeader header);

  ir::Module module;  // functions[0] is the entry
  std::optional<Diagnostic> failure;
  bool finished = false;
  [[nodiscard]] ir::Function& entry() { return module.functions.front(); }
  void fail(Diagnostic diagnostic) {
    if (!failure) failure = std::move(diagnostic);
  }

  // -- scopes: [0] is the entry
  struct Scope {
    std::vector<ir::RegDeclId> decls;                        // declared in this block: out of reach when it closes
    std::map<std::string, ir::LabelId, std::less<>> labels;  // defined or named here
    SourceLocation opened;
  };
  std::vector<Scope> scopes{1};
  Names names;
  std::vector<bool> closed;  // by RegDeclId: its block has been closed
  bool some_closed = false;

  // -- registers
  std::array<std::uint32_t, families.size()> next_array{};
  struct {
    std::size_t items = 0, operands = 0;
  } newest_reg;  // how much had been written when the newest register was made
  Reg add_register(ir::RegDeclId decl, std::uint32_t index, Type type);
  std::vector<Type> result_types;  // of a device function, as they were asked for
  /// A parameter or result of a device function, in a register.
  Expected<Reg> passed(std::vector<ir::Param> ir::Function::* list, Type type, std::string_view name, SourceLocation where);
  ir::RegDeclId declare(std::string_view base, Type declared, std::optional<std::uint32_t> count, SourceLocation where);
  /// The family whose registers are called `base` and a number; nothing for any other base.
  [[nodiscard]] std::optional<std::size_t> family_called(std::string_view base) const;
  /// The family and place that a name like `%r7` means; nothing for any other name.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::uint32_t>> family_place(std::string_view name) const;
  /// Gives the name of a family to registers of `declared`, which the author calls so: the family gets another one. False when it
  /// has registers already, or is of that type itself.
  bool rename_family(std::size_t family, Type declared);

  TextMap<std::uint32_t> allocated;  // alloc.cpp: how many of each family
  Expected<std::string> next_allocated(Type type, std::uint32_t count, SourceLocation where);

  // -- shared memory (shared.cpp)
  bool dynamic_shared = false;
  struct {
    std::uint64_t bytes = 0;  // so far, with the gaps that alignments leave
    std::uint32_t allocations = 0, mbarriers = 0;
    bool declared = false;                        // the dynamic array
    std::size_t variable = 0;                     // its index in the module
    std::uint32_t align = SharedRequest{}.align;  // its, bytes: the largest that was asked for
  } shared;
  Expected<void> declare_dynamic_shared();
  [[nodiscard]] std::optional<Diagnostic> too_much_static_shared() const;

  // -- labels
  struct LabelInfo {
    SourceLocation first_use;
    ir::LabelId same_as;  // valid: this one was named in a block that does not define it, and stands for an outer one
  };
  std::vector<LabelInfo> label_infos;  // by LabelId
  std::uint32_t next_label = 0;
  ir::LabelId label_named(std::string_view name, SourceLocation where);
  void close_labels(Scope& inner, Scope& outer);
  Expected<void> resolve_labels();
  struct EndedIf {
    std::size_t items = 0, registers = 0;  // how many there were when it ended: the end label is the last item
    std::string label;
  };
  std::optional<EndedIf> ended_if;
  /// A value that the condition of an `elif_` computes, and the end of its branches (branches.cpp).
  struct Conditional {
    std::uint32_t reg = 0;
    ir::LabelId end;
  };
  std::vector<Conditional> conditional;
  /// The first of them that is read behind its branches.
  [[nodiscard]] std::optional<Diagnostic> conditional_values();

  std::uint64_t block_threads = 0;  // of a launch; 0: not known
  const void* owner = nullptr;      // the module that it is written into

  // -- the entry's start (prologue.cpp)
  bool tma_by_value = false;  // what the entry takes: descriptors, or their addresses
  std::size_t prologue = 0;   // how many items of the body belong to it
  TextMap<Reg> tma_descriptors;
  std::vector<std::string> tma_tensors;
  TextMap<std::uint64_t> box_bytes;  // of a tensor's descriptor, where they are known
  void move_to_prologue();           // the last item

  // -- the author's lines
  std::vector<const CallSite*> helpers;  // those being written in, outermost first
  /// A place as the module keeps it: with the helpers that it lies in, when it does not know them itself.
  [[nodiscard]] ir::WhereId place(SourceLocation where) {
    if (where.from == nullptr && !helpers.empty()) where.from = helpers.back();
    return module.add(where);
  }

  // -- instructions (emit.cpp)
  TextMap<const isa::ModifierTree*> dots_by_text;
  KeyMap<Resolved> resolved;
  std::unordered_map<const Pattern*, Resolved> resolved_patterns;  // those that decide alone
  struct Recent {
    const Pattern* pattern = nullptr;
    const Resolved* resolved = nullptr;
  };
  std::array<Recent, 64> recent{};  // of resolved_patterns, by a hash
  /// The last instruction of these dots whose operands were all registers: most are, and are compared before a key is made.
  struct OfRegisters {
    const isa::ModifierTree* dots = nullptr;
    std::size_t operands = 0;
    std::array<Type, 6> types{};
    Resolved resolved;
  };
  std::array<OfRegisters, 64> of_registers{};  // by a hash
  static std::size_t slot_of(const isa::ModifierTree& dots);
  [[nodiscard]] const Resolved* like_the_last(const isa::ModifierTree& dots, std::span<const Value> values) const;
  void remember(const isa::ModifierTree& dots, std::span<const Value> values, const Resolved& resolved);
  Key key;
  [[nodiscard]] const Resolved* known(const Spelling& spelling, std::span<const Value> values);
  [[nodiscard]] Expected<const Resolved*> look_up(const Spelling& spelling, std::span<const Value> values, const Guard& guard);
  Expected<void> emit(const Spelling& spelling, std::span<const Value> values, const Guard& guard, const SourceLocation& where);
  Expected<Resolved> resolve(const Spelling& spelling, std::span<const Value> values);
  /// Whether the kernel's target and version have the instruction, with its modifiers and special registers, and the rule of its
  /// row is kept.
  Expected<void> check_legal(const isa::Form& form, const isa::Choices& choices, std::span<const isa::Arg> args) const;
  void begin(const Resolved& instruction, std::size_t operands, const Guard& guard, const SourceLocation& where);
  bool append_registers(const Resolved& instruction, std::span<const Value> values, const Guard& guard,
                        const SourceLocation& where);
  void append(const Resolved& instruction, std::span<const Value> values, const Guard& guard, const SourceLocation& where);
  bool add_to_key(const Value& value);
  bool add_register_to_key(Reg reg, std::uint64_t word = static_cast<unsigned>(Value::Kind::reg)) {
    key.add(word | static_cast<std::uint64_t>(reg.type) << 16);
    return usable(reg);
  }
  void add_integers_to_key(std::span<const Value> values);
  bool end_key_with_integers(std::span<const Value> values);  // whether there are some
  [[nodiscard]] bool usable(Reg reg) const {
    const ir::Function& f = module.functions.front();
    return reg.id.index < f.regs.size() && !(some_closed && closed[f.regs[reg.id.index].decl.index]);
  }
  [[nodiscard]] bool usable(std::span<const Value> values) const;
  [[nodiscard]] bool usable(std::span<const Value> values, const Guard& guard) const;
  [[nodiscard]] Diagnostic unusable(std::span<const Value> values, const Guard& guard) const;
  std::vector<ir::Operand> lowered;  // parts that are not in the entry's store yet
  ir::Operand lower(const Value& value, Type type, isa::Role role, const SourceLocation& where);
  ir::Operand lower_floating(const Value& value, Type type);
  ir::Operand lower_integer(const Value& value, Type type);
  ir::Operand lower_name(const Value& value, isa::Role role, const SourceLocation& where);
  ir::Operand lower_address(const Value& value, const SourceLocation& where);
  ir::Operand lower_parts(ir::OperandKind kind, std::span<const Value> parts, Type type, const SourceLocation& where);
  [[nodiscard]] std::uint32_t constant(std::uint64_t bits);

  // -- values that calls make (arrange.cpp): the last ones, each up to the next one's begin
  struct Made {
    ir::RegId result;
    Mark begin;
  };
  std::vector<Made> made;
  Mark made_end;                  // of the last one; when more has been written since, none of them counts
  std::size_t made_prologue = 0;  // `prologue` then: a longer one has moved them
  [[nodiscard]] Mark written() const { return {module.functions.front().body.size(), module.functions.front().regs.size()}; }
  std::size_t arrange(std::span<const Value> operands);
  [[nodiscard]] bool independent(std::size_t first) const;
  void reorder(std::size_t first, std::span<const std::size_t> order);

  void add_item(ir::ItemKind kind, std::uint32_t payload, SourceLocation where = {});
  class ParsedInliner;  // inline_parsed.cpp
};

}  // namespace ptx::write

// The builder: where authored instructions become IR. Untyped: Python and the typed C++ layer (kernel.hpp) both write through it,
// so that what they emit is the same by construction. Every call checks what it is given at once and is whole or absent.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/brief.hpp"
#include "ptx/ir/brief.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/write/shared.hpp"

namespace ptx::write {

/// A register as the author sees it: its IR id and the type it was asked for. The declared type may be another one (bf16 is
/// declared .b16; u32 and s32 share the family `%r` declared .b32), see docs/decisions.
struct Reg {
  ir::RegId id;
  Type type = Type::none;
  friend bool operator==(const Reg&, const Reg&) = default;
};

/// `count` registers base0, base1, …: their ids follow each other from `first`.
struct RegArray {
  ir::RegDeclId decl;
  std::uint32_t first = 0, count = 0;
  Type type = Type::none;
};

/// An operand as the author gives it. A view: parts and text must live until the call returns.
struct Value {
  enum class Kind : std::uint8_t { reg, special, integer, floating, symbol, label, vector, address, tensor, sink, list };
  Kind kind = Kind::sink;
  bool negated = false;  ///< !p
  bool piped = false;    ///< `d|p`: joined to the value before it
  bool fresh = false;    ///< a register that a call has just made, and that has no name yet (typed callers, see begin_value)
  Reg reg;
  isa::SpecialId special = 0;
  bool above = false;  ///< an integer of 2^63 or more: `integer` has its bits
  std::int64_t integer = 0;
  double floating = 0;
  /// Symbol, label. Integer: its spelling, when it is to print as the author wrote it (`0xFF`). Floating: `0f7F800001`, whose
  /// bits a double does not keep.
  std::string_view text;
  /// Vector, list: elements. Address: base and, if there, offset. Tensor: base, coordinates (a vector).
  std::span<const Value> parts;

  static Value of(Reg r) {
    Value v;
    v.kind = Kind::reg;
    v.reg = r;
    return v;
  }
  static Value of_integer(std::int64_t i) {
    Value v;
    v.kind = Kind::integer;
    v.integer = i;
    return v;
  }
  /// One that may be above what std::int64_t holds.
  static Value of_unsigned(std::uint64_t i) {
    Value v = of_integer(static_cast<std::int64_t>(i));
    v.above = v.integer < 0;
    return v;
  }
  template <std::integral I>
  static Value of_number(I i) {
    if constexpr (std::unsigned_integral<I>)
      return of_unsigned(i);
    else
      return of_integer(i);
  }
  /// The number that an integer is.
  [[nodiscard]] double as_double() const {
    return above ? static_cast<double>(static_cast<std::uint64_t>(integer)) : static_cast<double>(integer);
  }
  [[nodiscard]] std::string spelled() const;
  /// True when the type's width holds the integer; a negative one may stand for its bits in an unsigned type.
  [[nodiscard]] bool fits(Type type) const {
    return above ? isa::bits(type) >= 64 && isa::kind(type) != isa::TypeKind::sint : isa::rules::in_range(integer, type);
  }
  static Value of_floating(double f) {
    Value v;
    v.kind = Kind::floating;
    v.floating = f;
    return v;
  }
  static Value of_symbol(std::string_view s) {
    Value v;
    v.kind = Kind::symbol;
    v.text = s;
    return v;
  }
  static Value of_label(std::string_view s) {
    Value v;
    v.kind = Kind::label;
    v.text = s;
    return v;
  }
  static Value of_special(isa::SpecialId s) {
    Value v;
    v.kind = Kind::special;
    v.special = s;
    return v;
  }
  static Value vector_of(std::span<const Value> e) {
    Value v;
    v.kind = Kind::vector;
    v.parts = e;
    return v;
  }
  /// `(a, b)`: the arguments or results of a call.
  static Value list_of(std::span<const Value> e) {
    Value v;
    v.kind = Kind::list;
    v.parts = e;
    return v;
  }
  static Value address_of(std::span<const Value> base_and_offset) {
    Value v;
    v.kind = Kind::address;
    v.parts = base_and_offset;
    return v;
  }
  static Value tensor_of(std::span<const Value> base_and_coords) {
    Value v;
    v.kind = Kind::tensor;
    v.parts = base_and_coords;
    return v;
  }
};

/// @p or @!p in front of an instruction; none by default.
struct Guard {
  std::optional<Reg> predicate;
  bool negated = false;
};

/// What a kernel is besides its body.
struct KernelHeader {
  std::string name;
  Target target = Target::sm_90a;
  std::optional<Version> version;  ///< nothing: default_version(target)
  std::vector<ir::Directive> directives;
  bool dynamic_shared = false;  ///< shared memory is parts of one dynamic array, see shared.hpp
  bool tma_by_value = false;    ///< TMA descriptors are parameters themselves, not addresses of descriptors
  bool is_entry = true;         ///< false: a device function, `.func`
  ir::Linkage linkage = ir::Linkage::visible;
  std::vector<std::string> module_names = {};  ///< what the module declares already: no name of the body hides one of these
};

/// The `.version` a kernel for this target gets when its author names none: 8.5, 8.8 for sm_100* and sm_101*, or the first
/// version that knows the target if that is newer.
Version default_version(Target target);

/// Builds one entry or device function. Not thread-safe; one builder per trace.
/// An instruction but for which registers, numbers and names it has.
struct Pattern {
  isa::FormId form = isa::no_form;
  isa::Choices choices{};
  /// Kinds, types and lengths of its operands are always the same: what is found of it once holds for all that are written.
  bool same_operands = false;
};

class Builder {
 public:
  explicit Builder(KernelHeader header);
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  // -- declarations. Kinds: bad_declaration, duplicate_symbol. Named registers and arrays of a block are declared where they are
  // made; all others at the top of the entry.
  /// One register; unnamed ones come from the family of their type: %r0, %rd0, %f0, %p0 … A name of that form takes that place of
  /// the family.
  Expected<Reg> reg(Type type, std::string_view name = {}, SourceLocation where = {});
  /// `count` registers in a row. Unnamed, the first of a family takes the family's own name (%f0, %f1, …), a later one a base of
  /// its own
  /// (%farr0_0, %farr0_1, …).
  Expected<RegArray> array(Type type, std::uint32_t count, std::string_view name = {}, SourceLocation where = {});
  /// Element `index` of an array.
  Reg at(const RegArray& array, std::uint32_t index);
  /// One register of the name families apart, which no other call counts in (reg.alloc): `%ar0`, `%af0` …, see alloc.cpp.
  Expected<Reg> alloc(Type type, SourceLocation where = {});
  /// `count` registers of those families: `%ararr0_0` …
  Expected<RegArray> alloc_array(Type type, std::uint32_t count, SourceLocation where = {});
  /// The type that result `index` was asked for.
  [[nodiscard]] Type result_type(std::size_t index) const;
  /// A variable of the body, for example static shared memory. Returns its name.
  Expected<std::string_view> variable(const ir::Variable& variable, std::string_view name, SourceLocation where = {});
  /// A variable of the module (`.extern .shared`, `.global`).
  Expected<std::string_view> module_variable(const ir::Variable& variable, std::string_view name, SourceLocation where = {});
  /// Shared memory, static or dynamic as the header says. Kinds: bad_declaration, duplicate_symbol, and shared_memory_size when
  /// the total passes what the target has.
  Expected<SharedRegion> allocate_shared(const SharedRequest& request, SourceLocation where = {});
  /// Bytes of shared memory allocated so far, gaps for alignment included.
  [[nodiscard]] std::uint64_t shared_bytes() const;
  /// Whether they are parts of the dynamic array.
  [[nodiscard]] bool has_dynamic_shared() const;
  /// The address of a tensor's TMA descriptor. The first call appends the parameter `<tensor>_tma_desc` and puts `ld.param.u64 r,
  /// [<tensor>_tma_desc];` at the entry's start, so that it comes before every use; later calls give the same register. Items
  /// written before move on by one. By value, the parameter is `.align 128 .b8 <tensor>_tma_desc[128]` and its address is made by
  /// two instructions, `mov.b64 r, <tensor>_tma_desc; cvta.param.u64 r, r;`.
  Expected<Reg> tma_desc(std::string_view tensor, SourceLocation where = {});
  /// What one copy by the tensor's descriptor takes of shared memory, for who knows it; and what is known of the map that a copy
  /// is given.
  void set_box_bytes(std::string_view tensor, std::uint64_t bytes);
  [[nodiscard]] std::optional<std::uint64_t> box_bytes(const Value& map) const;
  /// How many items at the entry's start were put there by tma_desc().
  [[nodiscard]] std::uint32_t prologue_items() const;
  /// The tensors whose descriptors the entry takes, in the order of its parameters.
  [[nodiscard]] std::span<const std::string> tma_tensors() const;
  /// Appends a parameter of the entry.
  Expected<void> param(ir::Param param, std::string_view name, SourceLocation where = {});
  /// Appends a parameter of a device function, a register of its body: `.reg .f32 %x`. It is called `%name`, with a `_` behind it
  /// for each such register there is already. Kind bad_declaration for types that no call passes: predicates and bytes.
  Expected<Reg> function_param(Type type, std::string_view name, SourceLocation where = {});
  /// The same for a result.
  Expected<Reg> function_result(Type type, std::string_view name, SourceLocation where = {});

  // -- instructions
  /// One instruction: the form is found from the dots and the operands, and the target and version must have it. Numbers are
  /// encoded by the operand's type: a float as its exact bits, an integer in place of a float as that float. Errors carry
  /// `where`; kinds: missing_modifier, operand_count, operand_mismatch, immediate_range, bad_guard, target_lacks, version_lacks,
  /// undefined_symbol.
  Expected<void> emit(const isa::ModifierTree& dots, std::span<const Value> operands, const Guard& guard = {},
                      SourceLocation where = {});
  /// Whether that would succeed; writes nothing.
  [[nodiscard]] Expected<void> can_emit(const isa::ModifierTree& dots, std::span<const Value> operands, const Guard& guard,
                                        SourceLocation where);
  /// Emits dots that are text, "fma.rn.f32".
  Expected<void> emit(std::string_view dots, std::span<const Value> operands, const Guard& guard = {}, SourceLocation where = {});
  /// The same for a form already chosen (the C++ dots choose while compiling). The pattern outlives the builder.
  Expected<void> emit(const Pattern& pattern, std::span<const Value> operands, const Guard& guard = {},
                      SourceLocation where = {});

  /// Takes back the newest register, which nothing names: false, and nothing done, when something was made or written since.
  bool release(Reg newest);

  // -- values that calls make (arrange.cpp). C++ does not say in which order the arguments of a call are evaluated, and each of
  // them may write instructions: what they wrote is put in the order in which the arguments stand, so that a source gives the
  // same text whatever compiles it.
  /// How much had been written.
  struct Mark {
    std::size_t items = 0, regs = 0;
    friend bool operator==(Mark, Mark) = default;
  };
  /// What those among the operands that are fresh wrote stands in their order, as far as they are the last things written.
  void arrange(std::span<const Value> operands);
  /// A value of these operands begins: they are arranged, and what they wrote counts in.
  Mark begin_value(std::span<const Value> operands);
  /// It ends; `result` may be an operand of the next.
  void end_value(Mark begin, Reg result);

  /// Makes the last instruction write to `to` in place of `from`, and gives `from` back: only when `from` is that instruction's
  /// destination, none of its other operands, and the register made last. False, and nothing done, otherwise.
  bool redirect(Reg from, Reg to);

  // -- labels and structure
  /// Defines a label here. Labels belong to the block that defines them; branches may name them before. Kind duplicate_label.
  Expected<void> label(std::string_view name, SourceLocation where = {});
  /// A label name nobody else uses: "$_else_3".
  std::string fresh_label(std::string_view stem);
  void open_block(SourceLocation where = {});
  Expected<void> close_block(SourceLocation where = {});
  void comment(std::string_view text);
  /// A whole statement as text, kept as it is.
  void raw(std::string_view statement, SourceLocation where = {});
  /// `.pragma "text";` in the body. Kind bad_declaration for a text with quotes.
  Expected<void> pragma(std::string_view text, SourceLocation where = {});
  /// `.loc file line column` in the body.
  void loc(std::uint32_t file, std::uint32_t line, std::uint32_t column, SourceLocation where = {});
  /// `.file number "name"` of the module. Kind bad_declaration when the number stands for another file.
  Expected<void> file(std::uint32_t number, std::string_view name, SourceLocation where = {});

  // -- statements read from text (inline_parsed.cpp)
  /// The register declarations in sight here: what a text that is to be taken in has to know.
  [[nodiscard]] std::vector<ir::RegDeclId> visible_registers() const;
  /// Whether an instruction of another module could be written here: its operands fit, and the target and version have it.
  Expected<void> accepts(const ir::Module& from, const ir::Function& function, const ir::Inst& inst) const;
  /// Appends the body of a function of another module, whose first declarations stand for those of this one that are named. Its
  /// further declarations, labels and blocks become ones of this body. Kinds: duplicate_symbol, duplicate_label, bad_declaration.
  Expected<void> inline_parsed(const ir::Module& from, const ir::Function& function, std::span<const ir::RegDeclId> declared,
                               SourceLocation where = {});

  /// A fresh .s32 register of the family of loop counters, `%ri`.
  Reg loop_counter();
  /// For control.hpp. An `if_` block has ended with this label, and an `else_` may take it back while nothing has been written
  /// behind it.
  void end_if_with(std::string_view label);
  /// Takes the end label of the `if_` block just ended out of the body; nothing when there is none, or something was written
  /// since. With `keep_condition`, instructions that write nothing but registers made since may have been, and stay.
  std::optional<std::string> reopen_if(bool keep_condition = false);

  /// From here to leave_helper(), what is written lies in `function`, a helper of the author's that was called at `at`.
  void enter_helper(std::string_view function, SourceLocation at);
  void leave_helper();

  /// Instructions, labels, braces and comments written so far.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Target target() const;
  [[nodiscard]] const ir::Module& module() const;
  [[nodiscard]] const ir::Function& function() const;
  [[nodiscard]] std::string name(Reg reg) const;  ///< "%r3"

  /// How many threads a block is launched with; 0 while nobody has said so. What assumes another number is an error.
  void set_block_threads(std::uint64_t threads);
  [[nodiscard]] std::uint64_t block_threads() const;
  /// The module that this is written into, as an identity alone; nullptr: one of its own.
  void set_owner(const void* module);
  [[nodiscard]] const void* owner() const;

  /// An error that a typed call could not return (C++ `k << …`): the first is kept, and returned by finish().
  void fail(Diagnostic diagnostic);
  /// That error, or nullptr.
  [[nodiscard]] const Diagnostic* failure() const;
  /// The same, which the builder forgets: for callers that raise it at once.
  std::optional<Diagnostic> take_failure();
  /// The module; the builder is spent. Labels are resolved here: an undefined one is an error at the branch's line. Kind
  /// shared_memory_size: more than 48 KiB of static shared memory.
  Expected<ir::Module> finish();

 private:
  struct State;
  Owned<State> state_;
};

/// The builder of the kernel being traced on this thread, or nullptr (Python's ambient kernel).
Builder* current();
/// Makes a builder current on this thread for a scope; nests.
class Tracing {
 public:
  explicit Tracing(Builder& builder);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  Builder* outer_;
};

/// Builder::enter_helper for a scope: `const auto in = k.helper("load_tile", at);`
class Helper {
 public:
  Helper(Builder& builder, std::string_view function, SourceLocation at) : builder_(builder) {
    builder_.enter_helper(function, at);
  }
  ~Helper() { builder_.leave_helper(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  Builder& builder_;
};

}  // namespace ptx::write

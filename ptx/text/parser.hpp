// The parser's state and its parts. One pass over the bytes: the cursor goes from token to token, and what is read goes straight
// into the module. Functions that read return false when the text is not PTX; they have reported why, and the loop over
// statements goes on behind the next `;`.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/text/literals.hpp"
#include "ptx/text/names.hpp"
#include "ptx/text/opcodes.hpp"
#include "ptx/text/text.hpp"
#include "ptx/text/trivia.hpp"

namespace ptx::text {

class Parser {
 public:
  Parser(std::shared_ptr<const ir::Source> source, std::size_t max_findings);
  /// A text without a header, of a module of this target and version.
  void make_part_of(Target target, Version version);
  Parsed run() &&;

 private:
  // ---- findings (parser.cpp) --------------------------------------------------------------------------------------------
  /// Reports at a place of the text; the message is put together only while findings are still listed.
  template <class... Parts>
  bool error(Kind kind, const char* at, const Parts&... parts) {
    if (listed(kind)) list({.kind = kind, .message = cat(parts...)}, at);
    return false;
  }
  template <class... Parts>
  bool syntax(const char* at, const Parts&... parts) {
    return error(Kind::syntax, at, parts...);
  }
  /// "`,` or `;` is expected here, `mov` stands here".
  bool expected(std::string_view what);
  bool constant_error(const ConstantError& why) { return syntax(why.at, why.message); }
  bool listed(Kind kind);
  void list(Diagnostic diagnostic, const char* at);
  void hint(std::string_view text);  ///< a note on the finding just listed
  [[nodiscard]] std::string seen(const char* at) const;

  /// Goes on behind a statement that could not be read: behind the next `;`, or before a `}` or a directive.
  void recover(const char* from);
  /// True at the end of a statement; a `;` that is missing at the end of a line is reported and taken as there.
  bool end_statement();
  [[nodiscard]] bool on_new_line() const;

  // ---- small things (parser.cpp) ----------------------------------------------------------------------------------------
  bool name(ir::StringId& id, std::string_view what);
  bool number(std::uint64_t& value, std::uint64_t most, std::string_view what);
  bool number(std::uint32_t& value, std::string_view what);
  bool string(std::string_view& literal, std::string_view what);  ///< with its quotes
  bool constant(Constant& value);
  static std::optional<ir::StateSpace> space_of(std::string_view word);
  static ir::Linkage linkage_of(std::string_view word);  ///< none: no linkage directive
  void piece(const char* from, const Fingerprint& fingerprint);

  // ---- the module (module.cpp) ------------------------------------------------------------------------------------------
  void encoding();
  void module();
  bool header_of_part(std::string_view word, const char* from);
  bool statement();
  bool version(const char* from);
  bool target(const char* from);
  void unusual_target(const char* at, std::string_view word, bool is_second);
  bool address_size(const char* from);
  bool file(const char* from);
  bool alias(const char* from);
  bool pragma(const char* from);
  bool section(const char* from);
  bool dwarf(const char* from);
  void dwarf_is_known(const char* from);
  bool names_section(const char* at, const char* end);
  bool section_line(std::string& lines);
  void bytes_of_a_row(std::string& lines);
  bool section_value(Type type, std::string& lines);
  void item(ir::ModuleItemKind kind, std::size_t payload, const char* from);
  void place(const char* from, std::int32_t& header, const Fingerprint& fingerprint);
  bool strings(std::string& text);

  // ---- declarations (declarations.cpp) ------------------------------------------------------------------------------------
  bool registers(const char* from);
  bool nameless(const char* from);
  bool family_size(std::optional<std::uint32_t>& count);
  bool variables(const char* from, ir::Linkage linkage, bool in_body);
  bool attributes(std::vector<std::string>& list);
  bool align(std::uint32_t& bytes);
  bool type_with_vector(Type& type, std::uint8_t& vector, std::string_view of);
  bool dimensions(ir::Variable& variable);
  bool numbered_variables(std::vector<ir::Variable>& list);
  bool initialiser(ir::Variable& variable);
  bool init_list(ir::Variable& variable);
  bool init_element(ir::Variable& variable);
  bool init_number(ir::Variable& variable);
  bool init_symbol(ir::Init& init);
  bool offset(std::uint64_t& value);
  bool param(ir::Param& param, bool of_entry);
  bool params(std::vector<ir::Param>& list, bool of_entry = false);

  // ---- functions (functions.cpp) --------------------------------------------------------------------------------------------
  bool function(const char* from, ir::Linkage linkage, bool is_entry);
  bool directives(std::vector<ir::Directive>& list, std::string_view after);
  void declare_params(std::vector<ir::Param>& list);
  void body();
  bool body_directive(const char* from);
  bool loc(const char* from);
  bool prototype(const char* from);
  bool targets(const char* from, bool of_branch);
  void find_descriptors(std::span<ir::Param> params) const;
  void finish_function();
  void finish_labels();
  void end_body(const char* from);
  [[nodiscard]] bool begins_function() const;
  bool dwarf_in_body(const char* from);
  void add(ir::ItemKind kind, std::size_t payload, const char* from);
  void add_raw(const char* from);
  bool label_or_instruction(const char* from);

  // ---- instructions (instructions.cpp) ----------------------------------------------------------------------------------------
  bool instruction(const char* from);
  bool guard(ir::Inst& inst);
  Opcode& opcode();
  bool unknown(const char* from, const char* at, const Opcode& opcode);
  bool operands(const Opcode& opcode);
  bool operand(ir::Operand& operand, const Opcode& opcode);
  bool negated_operand(ir::Operand& operand, char mark);
  bool name_operand(ir::Operand& operand);
  bool element(ir::Operand& operand, std::string_view name);
  bool name_part(ir::Operand& operand, std::string_view name, std::optional<ir::RegId> reg);
  bool constant_operand(ir::Operand& operand);
  bool address(ir::Operand& operand, const Opcode& opcode);
  bool list(ir::Operand& operand, ir::OperandKind kind, char close, const Opcode& opcode);
  bool undeclared(std::string_view name);
  void integer(ir::Operand& operand, std::uint64_t value, ir::IntegerFormat format);
  void flush(ir::Operand& operand, ir::OperandKind kind, std::size_t mark);
  void choose(ir::Inst& inst, Opcode& opcode);

  // A signature: what decides which form fits, as bytes.
  enum Mark : char {
    negated_mark = 1,
    piped_mark,
    special_mark,
    integer_mark,
    floating_mark,
    symbol_mark,
    sink_mark,
    text_mark,
    element_mark
  };
  void sign(char byte) { signature_.push_back(byte); }
  void sign_reg(ir::RegId reg) {
    const ir::Register& r = function_.regs[reg.index];
    if (r.vector != 1) sign(static_cast<char>(r.vector));
    sign(static_cast<char>(0x80 | static_cast<unsigned>(r.type)));
  }
  void sign_integer(std::uint64_t value);

  std::shared_ptr<const ir::Source> source_;
  std::size_t max_findings_;
  Parsed parsed_;
  ir::Module& module_;
  Cursor c_;
  Names names_;
  Opcodes::Borrowed opcodes_ = Opcodes::borrow();
  std::size_t unknown_ = 0;  // instructions so far
  std::string spelled_;      // an opcode that is written with spaces between its words

  ir::Function function_;           // the one being read
  std::vector<ir::Operand> stack_;  // operands whose list is not at its end
  std::string signature_;
  bool exact_integers_ = false;                              // of the opcode in hand
  bool has_symbol_ = false;                                  // among the operands of the instruction in hand
  bool names_decide_ = false;                                // what a name means may decide its form, not the signature alone
  bool undeclared_ = false;                                  // a register of the instruction in hand is not declared
  std::unordered_map<std::uint32_t, std::size_t> reported_;  // name -> function in which it was reported as not declared
  bool seen_version_ = false, seen_target_ = false;
  bool is_part_ = false;  // of a module that has its header elsewhere
};

/// Directives of entries and functions that stand behind their parameters.
bool is_function_directive(std::string_view word);
/// Directives that begin a statement, anywhere.
bool is_statement_directive(std::string_view word);

}  // namespace ptx::text

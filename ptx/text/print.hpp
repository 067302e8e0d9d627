// The printer: a module as canonical PTX. One string, appended to; instructions are spelled by ir::spell.
#pragma once

#include "ptx/text/line_table.hpp"
#include "ptx/text/text.hpp"

namespace ptx::text {

class Printer {
 public:
  explicit Printer(const ir::Module& module, LineTable* lines = nullptr) : module_(module), source_lines_(lines) {}

  ir::Listing run() &&;

  // Single things, without indentation around them and without a newline at their end.
  void version();
  void target();
  void address_size();
  void item(const ir::ModuleItem& item);    ///< of a function: its head and body
  void head(const ir::Function& function);  ///< up to the `{` or `;`
  void statement(const ir::Function& function, const ir::Inst& item);
  void declare(const ir::RegDecl& decl);
  void declare(const ir::Variable& variable);

  [[nodiscard]] std::string& text() { return listing_.text; }

 private:
  void add(std::string_view text) { listing_.text += text; }
  void add(char c) { listing_.text += c; }
  void number(std::uint64_t value);
  void end_line() {
    listing_.text += '\n';
    ++line_;
  }
  void indent() { listing_.text.append(depth_, '\t'); }
  [[nodiscard]] std::size_t estimate() const;

  void function(const ir::Function& function);
  void leading(const ir::Function& function);
  void body(const ir::Function& function);
  void section(const ir::Section& section);
  void lines(std::string_view text, std::string_view prefix);
  [[nodiscard]] std::string_view string(std::uint32_t id) const { return module_.str(ir::StringId(id)); }

  void linkage(ir::Linkage linkage);
  void vector(std::uint8_t length);
  void type(Type type);
  void align(std::uint32_t bytes);
  void attributes(const std::vector<std::string>& list);
  void initialiser(const ir::Variable& variable);
  void element(const ir::Init& init);
  void declare(const ir::Param& param);
  void declare(const ir::Directive& directive);
  void params(const std::vector<ir::Param>& list);
  void loc(const ir::Loc& loc);
  void prototype(const ir::Prototype& prototype);
  void targets(const ir::Function& function, const ir::Inst& item);

  void source_line(const ir::Inst& item);
  void source_files();

  const ir::Module& module_;
  LineTable* source_lines_;  // nullptr: the text says nothing of the author's lines
  ir::Listing listing_;
  std::uint32_t line_ = 1;
  std::size_t depth_ = 0;
};

}  // namespace ptx::text

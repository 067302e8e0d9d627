// Operands and instructions as nodes, from the tokens of a statement: nodes keep the spelling of their author, and an opcode that
// the table does not know is an instruction like any other.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/binding/text/tokens.hpp"

namespace ptx::python {

/// Makes nodes; equal texts of one module share one.
class Statements {
 public:
  Statements(const std::string& source, nanobind::handle classes);

  /// The statement as an Instruction; nothing when it does not have that shape.
  std::optional<nanobind::object> instruction(const std::vector<Token>& tokens, nanobind::handle formatting);

 private:
  using Object = std::optional<nanobind::object>;

  [[nodiscard]] std::string text(std::uint32_t begin, std::uint32_t end) const;
  [[nodiscard]] char kind(std::size_t ahead = 0) const { return tokens_->at(std::min(at_ + ahead, tokens_->size() - 1)).kind; }
  [[nodiscard]] const Token& token() const { return (*tokens_)[at_]; }
  [[nodiscard]] const Token& last() const { return (*tokens_)[at_ - 1]; }
  /// The index of the bracket that closes the one at `at_`; the end when none does.
  [[nodiscard]] std::size_t closing() const;

  Object operand();
  Object primary();
  Object list(nanobind::handle node_class, char close);
  Object address();
  Object expression();
  Object shared(std::string_view text, nanobind::handle node_class);

  const std::string& source_;
  nanobind::object instruction_, predicate_, register_, immediate_, label_, vector_, address_, parenthesized_, negated_, pipe_;
  const std::vector<Token>* tokens_ = nullptr;
  std::size_t at_ = 0;
  bool is_call_ = false;
  std::unordered_map<std::string, nanobind::object> operands_;                              // by what they say
  std::unordered_map<std::string, std::pair<nanobind::object, nanobind::object>> opcodes_;  // opcode and modifiers
};

}  // namespace ptx::python

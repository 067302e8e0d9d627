#include "python/binding/text/statement.hpp"

#include <nanobind/stl/string.h>

#include "ptx/text/cursor.hpp"

namespace nb = nanobind;

namespace ptx::python {

Statements::Statements(const std::string& source, nb::handle classes)
    : source_(source),
      instruction_(classes.attr("Instruction")),
      predicate_(classes.attr("Predicate")),
      register_(classes.attr("RegisterOperand")),
      immediate_(classes.attr("ImmediateOperand")),
      label_(classes.attr("LabelOperand")),
      vector_(classes.attr("VectorOperand")),
      address_(classes.attr("AddressOperand")),
      parenthesized_(classes.attr("ParenthesizedOperand")),
      negated_(classes.attr("NegatedOperand")),
      pipe_(classes.attr("PipeOperand")) {}

std::string Statements::text(std::uint32_t begin, std::uint32_t end) const {
  return text::one_line(std::string_view(source_).substr(begin, end - begin));
}

std::size_t Statements::closing() const {
  int depth = 0;
  for (std::size_t i = at_; i < tokens_->size(); ++i) {
    const char k = (*tokens_)[i].kind;
    if (k == '(' || k == '[' || k == '{') ++depth;
    if (k == ')' || k == ']' || k == '}')
      if (--depth == 0) return i;
  }
  return tokens_->size() - 1;
}

Statements::Object Statements::shared(std::string_view text, nb::handle node_class) {
  // A text belongs to one class: names begin as names do, all else is an immediate.
  const auto [it, fresh] = operands_.try_emplace(std::string(text));
  if (fresh) it->second = node_class(nb::str(text.data(), text.size()));
  return it->second;
}

Statements::Object Statements::instruction(const std::vector<Token>& tokens, nb::handle formatting) {
  tokens_ = &tokens;
  at_ = 0;
  nb::object guard = nb::none();
  if (kind() == '@') {
    ++at_;
    const bool negated = kind() == '!';
    at_ += negated;
    if (kind() != 'r' && kind() != 'n') return std::nullopt;
    guard = predicate_(text(token().begin, token().end), negated);
    ++at_;
  }
  if (kind() != 'n') return std::nullopt;
  const std::size_t first = at_++;
  while (kind() == 'd') ++at_;
  const std::string spelled = text(tokens[first].begin, last().end);
  auto known = opcodes_.find(spelled);
  if (known == opcodes_.end()) {
    nb::list modifiers;
    for (std::size_t i = first + 1; i < at_; ++i) modifiers.append(text(tokens[i].begin, tokens[i].end));
    const nb::object opcode = nb::cast(text(tokens[first].begin, tokens[first].end));
    known = opcodes_.emplace(spelled, std::pair(opcode, nb::object(nb::tuple(modifiers)))).first;
  }
  is_call_ = spelled.starts_with("call");
  nb::list operands;
  while (kind() != ';' && kind() != 'e') {
    if (operands.size() != 0) {
      if (kind() != ',') return std::nullopt;
      ++at_;
    }
    const Object one = operand();
    if (!one) return std::nullopt;
    operands.append(*one);
  }
  return instruction_(known->second.first, known->second.second, nb::tuple(operands), guard, formatting);
}

Statements::Object Statements::operand() {
  Object left = primary();
  while (left && kind() == '|') {
    ++at_;
    const Object right = primary();
    if (!right) return std::nullopt;
    left = pipe_(*left, *right);
  }
  return left;
}

Statements::Object Statements::primary() {
  const auto ends = [](char k) { return k == ',' || k == ';' || k == '|' || k == '}' || k == ')' || k == ']' || k == 'e'; };
  switch (kind()) {
    case '{':
      return list(vector_, '}');
    case '[':
      return address();
    case '(': {
      // A list of a call, or a constant expression.
      const std::size_t close = closing();
      const bool whole = ends((*tokens_)[std::min(close + 1, tokens_->size() - 1)].kind);
      const bool names = kind(1) == 'r' || kind(1) == 'n' || kind(1) == ')';
      return whole && (is_call_ || names) ? list(parenthesized_, ')') : expression();
    }
    case '!':
      if (kind(1) == 'r' || kind(1) == 'n') {
        ++at_;
        const Object inner = primary();
        return inner ? Object(negated_(*inner)) : std::nullopt;
      }
      return expression();
    case 'r':
    case 'n': {
      const std::size_t words = kind(1) == 'd' ? 2 : 1;  // an element of a vector: `v.x`
      if (!ends(kind(words))) return expression();
      const bool is_register = kind() == 'r';
      const std::uint32_t begin = token().begin;
      at_ += words;
      return shared(text(begin, last().end), is_register ? register_ : label_);
    }
    default:
      return expression();
  }
}

Statements::Object Statements::list(nb::handle node_class, char close) {
  ++at_;
  nb::list elements;
  while (kind() != close) {
    if (elements.size() != 0) {
      if (kind() != ',') return std::nullopt;
      ++at_;
    }
    const Object one = operand();
    if (!one) return std::nullopt;
    elements.append(*one);
  }
  ++at_;
  return node_class(nb::tuple(elements));
}

// [base], [base+offset], [base, {x, y}], [128+4]
Statements::Object Statements::address() {
  const std::size_t close = closing();
  if ((*tokens_)[close].kind != ']' || close == at_ + 1) return std::nullopt;
  const std::size_t open = at_++;
  if (kind() == 'r' || kind() == 'n') {
    ++at_;
    if (kind() == 'd') ++at_;
  } else {
    for (int depth = 0; at_ < close && (depth != 0 || kind() != ','); ++at_) depth += kind() == '(' ? 1 : kind() == ')' ? -1 : 0;
  }
  const std::string base = text((*tokens_)[open + 1].begin, last().end);
  nb::object offset = nb::none();
  if (at_ != close) {
    if (kind() != '+' && kind() != '-' && kind() != ',') return std::nullopt;
    if (kind() == '+') ++at_;
    if (at_ == close) return std::nullopt;
    offset = nb::cast(text(token().begin, (*tokens_)[close - 1].end));
  }
  at_ = close + 1;
  std::string suffix;
  for (; kind() == 'd'; ++at_) suffix += text(token().begin, token().end);
  return address_(base, offset, suffix);
}

// A constant expression: everything up to the next comma or bracket outside of its own parentheses. A bar goes on with it when a
// number stands behind.
Statements::Object Statements::expression() {
  const std::size_t first = at_;
  for (int depth = 0;; ++at_) {
    const char k = kind();
    if (k == 'e' || k == ';') break;
    if (depth == 0) {
      if (k == ',' || k == '}' || k == ']' || k == ')') break;
      if (k == '|' && (kind(1) == 'r' || kind(1) == 'n' || kind(1) == '!')) break;
    }
    if (k == '{' || k == '[' || k == 's' || k == '@') return std::nullopt;
    if (k == '(') ++depth;
    if (k == ')') --depth;
  }
  if (at_ == first) return std::nullopt;
  return shared(text((*tokens_)[first].begin, last().end), immediate_);
}

}  // namespace ptx::python

// The text as tokens, for `pyptx.parser.lexer` and for the operands of nodes. Characters and numbers are those of ptx/text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::python {

/// The kind is a punctuation mark itself, or a letter: i(nteger) f(loat) s(tring) n(ame) r(egister) d(irective) \n c(omment)
/// o(ther) e(nd).
struct Token {
  char kind = 'e';
  std::uint32_t begin = 0, end = 0;  ///< bytes of the text
};

/// What Python's TokenKind calls the kind: "integer", "{".
std::string_view kind_name(const char& kind);

/// Every token, newlines and comments too, and the end. No text is refused.
std::vector<Token> tokenize(const std::string& text);
/// The tokens of a piece of the text without newlines and comments, the end last.
std::vector<Token> tokenize_piece(const std::string& text, std::uint32_t begin, std::uint32_t end);

}  // namespace ptx::python

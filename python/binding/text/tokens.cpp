#include "python/binding/text/tokens.hpp"

#include "ptx/text/cursor.hpp"
#include "ptx/text/literals.hpp"

namespace ptx::python {
namespace {

using text::digit_class;
using text::follow_class;
using text::is;
using text::start_class;
using text::word_class;

class Lexer {
 public:
  Lexer(const std::string& text, std::uint32_t begin, std::uint32_t end)
      : begin_(text.data()), at_(begin_ + begin), end_(begin_ + end), text_end_(begin_ + text.size()) {}

  std::vector<Token> run(bool whole) && {
    for (;;) {
      while (at_ < end_ && is(*at_, text::space_class) && *at_ != '\n') ++at_;
      const char* from = at_;
      if (at_ >= end_) break;
      const char kind = take();
      if (at_ > end_) at_ = end_;
      if (whole || (kind != 'c' && kind != '\n'))
        tokens_.push_back({kind, static_cast<std::uint32_t>(from - begin_), static_cast<std::uint32_t>(at_ - begin_)});
    }
    const auto last = static_cast<std::uint32_t>(end_ - begin_);
    tokens_.push_back({'e', last, last});
    return std::move(tokens_);
  }

 private:
  // Behind a name or a word, `.5` is a modifier; elsewhere a number.
  [[nodiscard]] bool behind_word() const { return at_ > begin_ && is(at_[-1], follow_class); }

  char take() {
    const char c = *at_;
    if (c == '\n') return ++at_, '\n';
    if (c == '/' && (at_[1] == '/' || at_[1] == '*')) return comment();
    if (c == '"') return string();
    if (is(c, digit_class) || (c == '.' && is(at_[1], digit_class) && !behind_word())) return number();
    if (c == '.' && is(at_[1], word_class)) return at_ = text::Cursor::word_end(at_ + 1), 'd';
    if (c == '%' ? is(at_[1], start_class | follow_class) : is(c, start_class)) return name();
    ++at_;
    if (std::string_view("{}()[],;:@!+-|<>=*/~&^?%").find(c) != std::string_view::npos) return c;
    while (at_ < end_ && (static_cast<unsigned char>(*at_) & 0xC0) == 0x80) ++at_;  // a letter of several bytes is one token
    return 'o';
  }
  char comment() {
    const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    const bool line = rest[1] == '/';
    const std::size_t close = line ? rest.find('\n') : rest.find("*/", 2);
    at_ = close == std::string_view::npos ? end_ : at_ + close + (line ? 0 : 2);
    return 'c';
  }
  char string() {
    const char* const close = text::Cursor(std::string_view(at_, static_cast<std::size_t>(text_end_ - at_))).string_end();
    if (close == nullptr) return ++at_, 'o';
    return at_ = close, 's';
  }
  char number() {
    text::Cursor cursor(std::string_view(at_, static_cast<std::size_t>(text_end_ - at_)));
    text::Constant value;
    text::ConstantError error;
    if (text::read_number(cursor, value, error)) return at_ = cursor.last, value.is_integer() ? 'i' : 'f';
    if (*at_ == '.') return at_ = text::Cursor::word_end(at_ + 1), 'd';
    do ++at_;
    while (at_ < end_ && is(*at_, follow_class));
    return 'o';
  }
  // `%tid.x` is one token, `v.x` two.
  char name() {
    const bool special = *at_ == '%';
    do ++at_;
    while (is(*at_, follow_class));
    if (!special) return 'n';
    while (*at_ == '.' && is(at_[1], start_class)) {
      ++at_;
      while (is(*at_, follow_class)) ++at_;
    }
    return 'r';
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* text_end_;
  std::vector<Token> tokens_;
};

}  // namespace

std::string_view kind_name(const char& kind) {
  switch (kind) {
    case 'i':
      return "integer";
    case 'f':
      return "float";
    case 's':
      return "string";
    case 'n':
      return "identifier";
    case 'r':
      return "register";
    case 'd':
      return "directive";
    case '\n':
      return "newline";
    case 'c':
      return "comment";
    case 'o':
      return "other";
    case 'e':
      return "eof";
    default:
      return {&kind, 1};
  }
}

std::vector<Token> tokenize(const std::string& text) { return Lexer(text, 0, static_cast<std::uint32_t>(text.size())).run(true); }
std::vector<Token> tokenize_piece(const std::string& text, std::uint32_t begin, std::uint32_t end) {
  return Lexer(text, begin, end).run(false);
}

}  // namespace ptx::python

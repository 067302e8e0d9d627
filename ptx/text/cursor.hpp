// The characters of PTX: classes, and a cursor that goes from token to token. It always stands on the first character of a token;
// the spaces and comments behind a token are skipped as it is taken.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ptx::text {

/// What some editors write in front of a text that is UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

enum CharClass : std::uint8_t {
  space_class = 1,   ///< blank, tab, line feed, carriage return, vertical tab, form feed
  start_class = 2,   ///< may begin a name: letters, `_`, `$`, `%`
  follow_class = 4,  ///< may go on in a name: letters, digits, `_`, `$`
  digit_class = 8,   ///< 0 to 9
  word_class = 16,   ///< may stand in a modifier or directive: letters, digits, `_`
};

inline constexpr std::array<std::uint8_t, 256> char_classes = [] {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\n', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = space_class;
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = start_class | follow_class | word_class;
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = follow_class | digit_class | word_class;
  classes['_'] = start_class | follow_class | word_class;
  classes['$'] = start_class | follow_class;
  classes['%'] = start_class;
  return classes;
}();
constexpr bool is(char c, std::uint8_t classes) { return (char_classes[static_cast<unsigned char>(c)] & classes) != 0; }

class Cursor {
 public:
  /// `text` is followed by a NUL.
  explicit Cursor(std::string_view text) : begin(text.data()), at(begin), end(begin + text.size()), last(begin) { skip(); }

  const char* begin;
  const char* at;
  const char* end;
  const char* last;                    ///< behind the last token taken
  const char* open_comment = nullptr;  ///< a `/*` without its end: all the rest is comment

  [[nodiscard]] char peek() const { return *at; }  ///< a NUL at the end
  [[nodiscard]] bool done() const { return at == end; }
  [[nodiscard]] bool is_at(char c) const { return *at == c; }

  /// Takes what lies before `to`.
  void take(const char* to) {
    last = at = to;
    skip();
  }
  bool eat(char c) {
    if (*at != c) return false;
    take(at + 1);
    return true;
  }
  /// Takes a name of these letters, not one that begins with them.
  bool eat_word(std::string_view word) {
    if (!starts_with(word) || is(at[word.size()], follow_class)) return false;
    take(at + word.size());
    return true;
  }
  [[nodiscard]] bool starts_with(std::string_view text) const {
    return static_cast<std::size_t>(end - at) >= text.size() && std::memcmp(at, text.data(), text.size()) == 0;
  }

  /// The end of the name that begins at `at`, or `at` when none does.
  [[nodiscard]] const char* name_end() const {
    const char* p = at;
    if (!is(*p, start_class)) return p;
    ++p;
    while (is(*p, follow_class)) ++p;
    return p;
  }
  std::string_view take_name() {
    const char* from = at;
    const char* to = name_end();
    take(to);
    return {from, static_cast<std::size_t>(to - from)};
  }
  /// The end of the word that begins at p: letters, digits, `_`, and `::` between them.
  static const char* word_end(const char* p) {
    for (;;) {
      while (is(*p, word_class)) ++p;
      if (*p != ':' || p[1] != ':' || !is(p[2], word_class)) return p;
      p += 2;
    }
  }
  /// The word of a directive, `.align`, without its dot; nothing, and nothing taken, when none stands here.
  std::string_view peek_directive() const {
    if (*at != '.' || !is(at[1], word_class)) return {};
    return {at + 1, static_cast<std::size_t>(word_end(at + 1) - at - 1)};
  }
  void take_directive(std::string_view word) { take(at + 1 + word.size()); }
  bool eat_directive(std::string_view word) {
    if (*at != '.' || peek_directive() != word) return false;
    take_directive(word);
    return true;
  }

  /// The end of the string literal that begins at `at`, behind its quote; nullptr when it does not end on its line.
  [[nodiscard]] const char* string_end() const {
    for (const char* p = at + 1; p < end && *p != '\n'; ++p)
      if (*p == '"') return p + 1;  // a backslash is a character like others
    return nullptr;
  }
  /// The end of one that goes over several lines, if what stands behind its quote may follow a string: a quote that is missing
  /// shall not take all the text up to the next string.
  [[nodiscard]] const char* string_end_on_another_line() const;

  [[nodiscard]] std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - begin); }
  [[nodiscard]] std::uint32_t offset() const { return offset(at); }
  [[nodiscard]] static std::string_view between(const char* from, const char* to) {
    return {from, static_cast<std::size_t>(to - from)};
  }

 private:
  void skip() {
    if (!is(*at, space_class) && *at != '/' && *at != '#') return;
    for (;;) {
      while (is(*at, space_class)) ++at;
      if (*at == '#' ? !skip_line_marker() : *at != '/' || !skip_comment()) return;
    }
  }
  bool skip_line_marker();
  bool skip_comment() {
    if (at[1] == '/') {
      const void* line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      at = line_end == nullptr ? end : static_cast<const char*>(line_end);
      return true;
    }
    if (at[1] != '*') return false;
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const std::size_t close = rest.find("*/", 2);
    if (close == std::string_view::npos) open_comment = at;
    at = close == std::string_view::npos ? end : at + close + 2;
    return true;
  }
};

/// A piece of text on one line: what lies between its tokens becomes one blank, comments go.
std::string one_line(std::string_view text);

}  // namespace ptx::text

// Colours of a terminal, and text in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::tool {

enum class Colour { plain, bold, red, green, yellow, blue, dim };

/// The text in a colour, where colours are shown.
class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string operator()(Colour colour, std::string_view text) const {
    constexpr std::string_view codes[] = {"", "1", "1;31", "1;32", "1;33", "1;34", "2"};
    if (!colour_ || colour == Colour::plain || text.empty()) return std::string(text);
    return cat("\x1b[", codes[static_cast<std::size_t>(colour)], 'm', text, "\x1b[0m");
  }

 private:
  bool colour_;
};

/// "1 error", "3 errors".
inline std::string plural(std::size_t n, std::string_view word) { return cat(n, ' ', word, n == 1 ? "" : "s"); }

/// The number of characters that a UTF-8 text shows.
std::size_t width(std::string_view text);
/// The lines of a source, found once; of a text that lives as long.
class SourceLines {
 public:
  explicit SourceLines(std::string_view source);
  /// The line with this number, from 1, without its end; "" when there is none.
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const;

 private:
  std::string_view source_;
  std::vector<std::size_t> begins_;
};
/// A finding for a person, as in tool.hpp.
std::string render(const Diagnostic& finding, const SourceLines& source, bool colour);
/// The end of the word at `place` of a line: what a finding there is about.
std::size_t word_end(std::string_view line, std::size_t place);
/// How wide help and lists are.
inline constexpr std::size_t columns = 100;
/// The words of a text on lines of at most `width` characters, the lines behind the first indented by more.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent);

}  // namespace ptx::tool

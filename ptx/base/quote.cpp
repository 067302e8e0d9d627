#include "ptx/base/quote.hpp"

#include "ptx/base/strings.hpp"

namespace ptx {
namespace {

// The length of the UTF-8 sequence at the start of `text`, 0 when it is none.
std::size_t sequence(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  if (length == 3 && ((first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F))) return 0;  // overlong, surrogates
  if (length == 4 && ((first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F))) return 0;  // overlong, too large
  return length;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    const char c = text[0];
    if (length == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      out += cat('\\', c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (length == 1 && (c < 0x20 || c == 0x7f))
      out += cat("\\u", hex(static_cast<unsigned char>(c), 4));
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

}  // namespace ptx

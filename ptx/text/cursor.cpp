#include "ptx/text/cursor.hpp"

#include <algorithm>

namespace ptx::text {

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool blank = false;
  const auto put = [&](std::string_view piece) {
    if (blank && !out.empty()) out += ' ';
    blank = false;
    out += piece;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (is(text[i], space_class)) {
      blank = true;
      ++i;
    } else if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      blank = true;
    } else if (text.substr(i).starts_with("/*")) {
      const std::size_t close = text.find("*/", i + 2);
      i = close == std::string_view::npos ? text.size() : close + 2;
      blank = true;
    } else if (text[i] == '"') {
      std::size_t to = i + 1;
      while (to < text.size() && text[to] != '"' && text[to] != '\n') to += text[to] == '\\' ? 2 : 1;
      to = std::min(to + 1, text.size());
      put(text.substr(i, to - i));
      i = to;
    } else {
      put(text.substr(i, 1));
      ++i;
    }
  }
  return out;
}

}  // namespace ptx::text

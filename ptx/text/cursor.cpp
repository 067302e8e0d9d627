#include "ptx/text/cursor.hpp"

#include <algorithm>
#include <cstring>

namespace ptx::text {

// # 12 "kernel.cu" 3: what a preprocessor leaves, `#line` too. ptxas passes over it, wherever a blank may stand.
bool Cursor::skip_line_marker() {
  const auto blanks = [](const char* p) {
    while (*p == ' ' || *p == '\t') ++p;
    return p;
  };
  const auto digits = [](const char* p) {
    while (is(*p, digit_class)) ++p;
    return p;
  };
  const char* p = blanks(at + 1);
  if (std::strncmp(p, "line", 4) == 0) p = blanks(p + 4);
  const char* to = digits(p);
  if (to == p || blanks(to) == to) return false;
  p = blanks(to);
  if (*p != '"') return false;
  for (++p; p < end && *p != '"' && *p != '\n'; ++p) {
  }
  if (*p != '"') return false;
  for (++p; (to = blanks(p)) != p && is(*to, digit_class);) p = digits(to);
  p = blanks(p);
  if (*p == '\r') ++p;
  if (*p != '\n') return false;
  at = p;
  return true;
}

const char* Cursor::string_end_on_another_line() const {
  const void* quote = std::memchr(at + 1, '"', static_cast<std::size_t>(end - at - 1));
  if (quote == nullptr) return nullptr;
  const char* p = static_cast<const char*>(quote) + 1;
  const char* next = p;
  while (*next == ' ' || *next == '\t' || *next == '\r') ++next;
  return *next == ',' || *next == ';' || *next == '\n' || next == end ? p : nullptr;
}

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

// What the world does to a text of PTX: the mutations of texts that fuzzers begin with.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "tests/fuzz/hostile.hpp"

namespace ptx::fuzz {

inline bool is_text(std::string_view input) { return input.find(".version") != std::string_view::npos; }

inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '.' || c == '$';
}

struct Span {
  std::size_t begin, end;
};

// The tokens of a text: words, and single characters that are no space.
inline std::vector<Span> tokens(std::string_view text) {
  std::vector<Span> found;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    found.push_back({at, end});
    at = end;
  }
  return found;
}

// As the world gets PTX wrong: another number, another word of the same text, a line more or less.
inline std::string mutated(const std::string& text, std::minstd_rand& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::vector<Span> all = tokens(text);
  if (all.empty()) return text;
  const Span token = all[below(all.size())];
  const std::string_view word(text.data() + token.begin, token.end - token.begin);
  const auto with = [&](std::string_view other) { return cat(text.substr(0, token.begin), other, text.substr(token.end)); };
  switch (below(6)) {
    case 0: {  // a line again elsewhere, or gone
      const std::size_t begin = text.rfind('\n', token.begin) + 1,
                        end = std::min(text.find('\n', token.begin), text.size() - 1) + 1;
      const std::string line = text.substr(begin, end - begin);
      if (below(2) == 0) return text.substr(0, begin) + text.substr(end);
      const std::size_t there = text.find('\n', all[below(all.size())].begin);
      if (there == std::string::npos) return text;
      return text.substr(0, there + 1) + line + text.substr(there + 1);
    }
    case 1:
    case 2:  // a hostile number for a number
      for (const Span each : all)
        if (each.begin >= token.begin && std::isdigit(static_cast<unsigned char>(text[each.begin])) != 0) {
          return cat(text.substr(0, each.begin), hostile_numbers[below(std::size(hostile_numbers))], text.substr(each.end));
        }
      return with(hostile_numbers[below(std::size(hostile_numbers))]);
    case 3:  // a word that begins alike
      for (int attempt = 0; attempt < 20; ++attempt) {
        const Span other = all[below(all.size())];
        if (text[other.begin] == word[0]) return with(std::string_view(text).substr(other.begin, other.end - other.begin));
      }
      return text;
    case 4:
      return with(
          std::array<std::string_view, 8>{".global", ".shared", ".local", ".const", ".v2", ".v4", ".b64", ".x"}[below(8)]);
    default: {
      const Span other = all[below(all.size())];
      return with(std::string_view(text).substr(other.begin, other.end - other.begin));
    }
  }
}

}  // namespace ptx::fuzz

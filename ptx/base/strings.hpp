// The few string helpers that several rooms need.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptx {

namespace detail {
/// A piece of text, or, without characters, a number.
struct Part {
  const char* characters = nullptr;
  std::uint64_t value = 0;  ///< of text: how many characters
  bool negative = false;

  template <class Given>
  static Part of(const Given& given) {
    if constexpr (std::same_as<Given, char>) {
      return {&given, 1};
    } else if constexpr (std::same_as<Given, bool>) {
      return given ? Part{"true", 4} : Part{"false", 5};
    } else if constexpr (std::integral<Given>) {
      return {nullptr, static_cast<std::uint64_t>(given), std::signed_integral<Given> && given < Given{}};
    } else {
      const std::string_view text(given);
      return {text.data() == nullptr ? "" : text.data(), text.size()};
    }
  }
};
std::string join(const Part* first, std::size_t count);
}  // namespace detail

/// Joins views, strings, characters and integers into one string. Messages are made everywhere: each place lists its pieces, and
/// one function puts them together.
template <class... Given>
std::string cat(const Given&... given) {
  const detail::Part parts[] = {detail::Part::of(given)...};
  return detail::join(parts, sizeof...(given));
}

/// Lower-case hexadecimal, `digits` wide at least: hex(255, 8) is "000000ff".
std::string hex(std::uint64_t value, int digits = 0);
/// The 64-bit pattern as the 8 or 16 upper-case digits of a PTX float literal.
std::string hex_upper(std::uint64_t value, int digits);

}  // namespace ptx

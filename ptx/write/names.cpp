#include "ptx/write/names.hpp"

#include <algorithm>
#include <charconv>

#include "ptx/base/base.hpp"

namespace ptx::write {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || name == "WARP_SZ") return false;  // the one predefined name without `%`
  const auto follows = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; };
  if (!std::all_of(name.begin() + 1, name.end(), follows)) return false;
  if (is_letter(name[0])) return true;
  return (name[0] == '_' || name[0] == '$' || name[0] == '%') && name.size() > 1;
}

SplitName split_number(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  SplitName split{name, -1};
  const bool leading_zero = digits + 1 < name.size() && name[digits] == '0';
  if (digits == name.size() || digits == 0 || leading_zero || name.size() - digits > 9) return split;
  split.base = name.substr(0, digits);
  std::from_chars(name.data() + digits, name.data() + name.size(), split.number);
  return split;
}

bool Names::taken(std::string_view name) const {
  for (const Scope& scope : scopes_) {
    if (scope.single.contains(name)) return true;
    if (scope.arrays.empty()) continue;
    // "a12" may be element 12 of `a` or element 2 of `a1`
    for (std::size_t cut = name.size(); cut-- > 1 && is_digit(name[cut]);) {
      if (name[cut] == '0' && cut + 1 < name.size()) continue;
      const auto it = scope.arrays.find(name.substr(0, cut));
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(name.data() + cut, name.data() + name.size(), number);
      if (it != scope.arrays.end() && error == std::errc() && number < it->second) return true;
    }
  }
  return false;
}

bool Names::array_taken(std::string_view base, std::uint32_t count) const {
  for (const Scope& scope : scopes_)
    if (scope.arrays.contains(base)) return true;
  for (std::uint32_t i = 0; i < count; ++i)
    if (taken(cat(base, i))) return true;
  return false;
}

std::vector<std::string> Names::all() const {
  std::vector<std::string> names;
  for (const Scope& scope : scopes_) names.insert(names.end(), scope.single.begin(), scope.single.end());
  return names;
}

}  // namespace ptx::write

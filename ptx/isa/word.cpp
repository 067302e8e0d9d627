#include "ptx/isa/word.hpp"

#include "ptx/isa/table/words.hpp"

namespace ptx::isa {

Word meaning_of(std::string_view word) {
  for (const auto& [spelled, means] : table::words)
    if (spelled == word) return means;
  return Word::other;
}

Scope scope_of(std::string_view word) {
  for (const auto& [spelled, scope] : table::scopes)
    if (spelled == word) return scope;
  return Scope::none;
}

std::string_view name(Proxy proxy) { return table::proxy_names[static_cast<std::size_t>(proxy)]; }
std::string_view name(Scope scope) { return table::scope_names[static_cast<std::size_t>(scope)]; }

}  // namespace ptx::isa

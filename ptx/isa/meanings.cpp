#include "ptx/isa/meanings.hpp"

#include "ptx/isa/table/meanings.hpp"

namespace ptx::isa {
namespace {

// Whether the instruction's spelling begins with these words.
bool syntax_begins(std::string_view syntax, std::string_view path) {
  if (path.empty()) return true;
  if (!syntax.starts_with(path)) return false;
  const std::string_view rest = syntax.substr(path.size());
  return rest.empty() || rest.front() == '.' || rest.front() == '{' || rest.front() == ' ';
}

}  // namespace

std::string_view meaning(const Form& form, std::string_view operand) {
  const std::string syntax = form.syntax();
  const Meaning* best = nullptr;
  for (const Meaning& m : table::all_meanings)
    if (m.operand == operand && syntax_begins(syntax, m.path) && (best == nullptr || m.path.size() > best->path.size()))
      best = &m;
  return best == nullptr ? std::string_view() : best->words;
}

std::span<const Meaning> meanings() { return table::all_meanings; }

}  // namespace ptx::isa

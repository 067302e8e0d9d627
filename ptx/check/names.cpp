#include "ptx/check/names.hpp"

#include <algorithm>

namespace ptx::check {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool ends_in_digit(std::string_view name) { return !name.empty() && is_digit(name.back()); }

// True when `name` is `base` and a number below `count`. ptxas reads the digits as a number: %r03 is %r3.
bool is_member(std::string_view name, std::string_view base, std::uint64_t count) {
  if (!name.starts_with(base) || name.size() == base.size()) return false;
  std::uint64_t number = 0;
  for (const char c : name.substr(base.size())) {
    if (!is_digit(c) || number >= count) return false;
    number = 10 * number + static_cast<std::uint64_t>(c - '0');
  }
  return number < count;
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty()) return false;
  const bool marked = name[0] == '_' || name[0] == '$' || name[0] == '%';
  if (marked ? name.size() < 2 : !is_letter(name[0])) return false;
  return std::all_of(name.begin() + 1, name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; });
}

std::string describe(const ir::Module& module, const Entity& e) {
  const std::string_view spelled = module.str(e.name);
  switch (e.meaning) {
    case Meaning::variable:
      return cat("the .", name(e.space), " variable `", spelled, '`');
    case Meaning::parameter:
      return cat(e.result ? "the result `" : "the parameter `", spelled, '`');
    case Meaning::function:
      return cat("the function `", spelled, '`');
    case Meaning::reg:
      return e.family ? cat("the registers `", spelled, '<', e.count, ">`") : cat("the register `", spelled, '`');
  }
  return std::string(spelled);
}

bool Names::clash(const Entity& a, const Entity& b) const {
  const std::string_view x = module_.str(a.name), y = module_.str(b.name);
  // Families clash when they have one base; ptxas lets `%r1<5>` stand beside `%r<20>`, although both have a %r13.
  if (a.family && b.family) return x == y;
  if (a.family) return is_member(y, x, a.count);
  if (b.family) return is_member(x, y, b.count);
  return x == y;
}

Names::Kin& Names::kin(const Entity& entity) {
  std::string_view base = module_.str(entity.name);
  while (ends_in_digit(base)) base.remove_suffix(1);
  return kin_[base];
}

std::optional<Entity> Names::declare(Entity entity) {
  const std::size_t scope = scopes_.empty() ? 0 : scopes_.back();
  Index& index = entity.family ? families_ : singles_;
  if (const Entity* same = at(index, entity.name); same != nullptr && static_cast<std::size_t>(same - entities_.data()) >= scope)
    return *same;
  const bool numbered = entity.family || ends_in_digit(module_.str(entity.name));
  if (numbered) {
    Kin& near = kin(entity);
    for (const std::uint32_t i : entity.family ? near.singles : near.families)
      if (i >= scope && clash(entity, entities_[i])) return entities_[i];
    (entity.family ? near.families : near.singles).push_back(static_cast<std::uint32_t>(entities_.size()));
  }
  if (entity.name.index >= index.size()) index.resize(entity.name.index + 1);
  entity.outer = index[entity.name.index];
  entities_.push_back(entity);
  index[entity.name.index] = static_cast<std::uint32_t>(entities_.size());
  return std::nullopt;
}

void Names::close() {
  while (entities_.size() > scopes_.back()) {
    const Entity& last = entities_.back();
    (last.family ? families_ : singles_)[last.name.index] = last.outer;
    if (last.family)
      kin(last).families.pop_back();
    else if (ends_in_digit(module_.str(last.name)))
      kin(last).singles.pop_back();
    entities_.pop_back();
  }
  scopes_.pop_back();
}

const Entity* Names::find_innermost(ir::StringId name) const {
  const Entity* found = find(name);
  return found != nullptr && static_cast<std::size_t>(found - entities_.data()) >= scopes_.back() ? found : nullptr;
}

const Entity* Names::find(std::string_view name) {
  if (module_names_.empty()) {
    for (const ir::Variable& v : module_.variables) module_names_.emplace(module_.str(v.name), v.name);
    for (const ir::Function& f : module_.functions) module_names_.emplace(module_.str(f.name), f.name);
  }
  const auto found = module_names_.find(name);
  return found != module_names_.end() ? find(found->second) : nullptr;
}

std::vector<std::string> Names::symbols() const {
  std::vector<std::string> names;
  for (const Entity& e : entities_)
    if (e.meaning != Meaning::reg) names.emplace_back(module_.str(e.name));
  return names;
}

}  // namespace ptx::check

#include "ptx/check/names.hpp"

#include <algorithm>

namespace ptx::check {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

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
      return cat("the parameter `", spelled, '`');
    case Meaning::function:
      return cat("the function `", spelled, '`');
    case Meaning::reg:
      return e.family ? cat("the registers `", spelled, '<', e.count, ">`") : cat("the register `", spelled, '`');
  }
  return std::string(spelled);
}

bool Names::clash(const Entity& a, const Entity& b) const {
  const std::string_view x = module_.str(a.name), y = module_.str(b.name);
  if (a.family && b.family) {
    // `%r1<5>` begins with %r10: two families may share names although their bases differ
    return x == y || is_member(cat(y, '0'), x, a.count) || is_member(cat(x, '0'), y, b.count);
  }
  if (a.family) return is_member(y, x, a.count);
  if (b.family) return is_member(x, y, b.count);
  return x == y;
}

std::optional<Entity> Names::declare(Entity entity) {
  const std::size_t scope = scopes_.empty() ? 0 : scopes_.back();
  Index& index = entity.family ? families_ : singles_;
  if (const Entity* same = at(index, entity.name); same != nullptr && static_cast<std::size_t>(same - entities_.data()) >= scope)
    return *same;
  // Spelled differently, only families can clash: with each other, and with a name that ends in a digit.
  if (entity.family) {
    for (std::size_t i = scope; i < entities_.size(); ++i)
      if (clash(entity, entities_[i])) return entities_[i];
    family_places_.push_back(entities_.size());
  } else if (const std::string_view name = module_.str(entity.name); !name.empty() && is_digit(name.back())) {
    for (const std::size_t i : family_places_)
      if (i >= scope && clash(entity, entities_[i])) return entities_[i];
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
    if (last.family) family_places_.pop_back();
    entities_.pop_back();
  }
  scopes_.pop_back();
}

const Entity* Names::find_innermost(ir::StringId name) const {
  const Entity* found = find(name);
  return found != nullptr && static_cast<std::size_t>(found - entities_.data()) >= scopes_.back() ? found : nullptr;
}

std::vector<std::string> Names::symbols() const {
  std::vector<std::string> names;
  for (const Entity& e : entities_)
    if (e.meaning != Meaning::reg) names.emplace_back(module_.str(e.name));
  return names;
}

}  // namespace ptx::check

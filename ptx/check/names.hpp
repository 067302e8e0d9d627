// What a name means at a place of the module: PTX's scopes (manual: "Identifiers", "Scoping"): the module, a function, each
// block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::check {

enum class Meaning : std::uint8_t { variable, parameter, function, reg };

/// A declared name.
struct Entity {
  Meaning meaning = Meaning::variable;
  ir::StateSpace space = ir::StateSpace::reg;  ///< of a variable
  bool family = false;                         ///< a register declaration with a count: base0, base1, …
  std::uint32_t count = 0;                     ///< of a family
  ir::StringId name;                           ///< a family's is its base
  std::uint32_t index = 0;                     ///< RegDeclId or index among the variables
  std::uint32_t outer = 0;                     ///< what the name meant outside this scope: 1 + its place, 0: nothing
  bool result = false;                         ///< a parameter that the function returns
  bool array = false;                          ///< a variable or parameter that is declared with a dimension
  Type type = Type::none;                      ///< of a variable or parameter that is no vector
};

/// "the parameter `x`", "the .shared variable `tile`", "the registers `%f<4>`".
std::string describe(const ir::Module& module, const Entity& entity);

/// The scopes that are open, innermost last. A lookup is two loads, for most operands are names.
class Names {
 public:
  explicit Names(const ir::Module& module) : module_(module) {}

  void open() { scopes_.push_back(entities_.size()); }
  void close();
  /// Adds a name to the innermost scope. Returns what already has one of its names there; then nothing is added.
  std::optional<Entity> declare(Entity entity);

  /// What a name means here, or nullptr.
  [[nodiscard]] const Entity* find(ir::StringId name) const { return at(singles_, name); }
  /// The same for the name of a function or variable of the module that is no StringId.
  [[nodiscard]] const Entity* find(std::string_view name);
  /// The name, which is declared in the innermost scope, now means that function: its definition.
  void redefine(ir::StringId name, std::uint32_t index) { entities_[singles_[name.index] - 1].index = index; }
  /// The family of that base, or nullptr.
  [[nodiscard]] const Entity* find_family(ir::StringId base) const { return at(families_, base); }
  /// What has this name in the innermost scope itself, or nullptr.
  [[nodiscard]] const Entity* find_innermost(ir::StringId name) const;
  /// Every name but registers that can be used here: what a misspelled one may have meant.
  [[nodiscard]] std::vector<std::string> symbols() const;

 private:
  using Index = std::vector<std::uint32_t>;  // by StringId: 1 + place in entities_, 0: undeclared

  const Entity* at(const Index& index, ir::StringId name) const {
    const std::uint32_t place = name.index < index.size() ? index[name.index] : 0;
    return place == 0 ? nullptr : &entities_[place - 1];
  }
  // Names that are equal but for the digits at their end: only these can clash although they are spelled differently.
  struct Kin {
    std::vector<std::uint32_t> singles, families;  // places in entities_; singles that end in a digit
  };

  [[nodiscard]] bool clash(const Entity& a, const Entity& b) const;
  Kin& kin(const Entity& entity);

  const ir::Module& module_;
  std::vector<Entity> entities_;
  std::vector<std::size_t> scopes_;  // where each open scope begins in entities_
  std::unordered_map<std::string_view, Kin> kin_;
  Index singles_, families_;
  std::unordered_map<std::string_view, ir::StringId> module_names_;  // of functions and variables, once somebody asks
};

/// Letters, digits, `_` and `$` after a letter or one of `_$%` (manual: "Identifiers").
bool is_identifier(std::string_view name);

}  // namespace ptx::check

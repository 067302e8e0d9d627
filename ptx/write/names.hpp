// Names in scope while a kernel is written: the entry and the blocks open in it. Internal to the room.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::write {

/// A PTX identifier (manual: "Identifiers").
bool is_identifier(std::string_view name);

/// "%r12" split into its base and number; `number` is -1 when the name does not end in one (or in one with a leading zero).
struct SplitName {
  std::string_view base;
  std::int64_t number = -1;
};
SplitName split_number(std::string_view name);

/// The names declared in every open scope. A register, a variable and a parameter may not share a name, and an inner scope may
/// not hide an outer name: a register made outside would silently become another one inside.
class Names {
 public:
  Names() : scopes_(1) {}
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  [[nodiscard]] bool taken(std::string_view name) const;
  /// base0 … base<count-1>
  [[nodiscard]] bool array_taken(std::string_view base, std::uint32_t count) const;
  void add(std::string_view name) { scopes_.back().single.emplace(name); }
  void add_array(std::string_view base, std::uint32_t count) { scopes_.back().arrays[std::string(base)] = count; }
  /// Adds to the outermost scope, for what is declared at the top of the entry or in the module.
  void add_global(std::string_view name) { scopes_.front().single.emplace(name); }

  /// Every single name in scope, for "did you mean".
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  struct Scope {
    std::set<std::string, std::less<>> single;
    std::map<std::string, std::uint32_t, std::less<>> arrays;
  };
  std::vector<Scope> scopes_;
};

}  // namespace ptx::write

// The brief door of ir: the names of its things, for headers that authors compile often. What a module is stands in ir.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/brief.hpp"

namespace ptx::ir {

class Module;
struct Function;
struct Inst;
struct Param;
struct Variable;

using StringId = Id<struct StringTag>;      ///< in Module
using WhereId = Id<struct WhereTag>;        ///< in Module
using RegDeclId = Id<struct RegDeclTag>;    ///< in Function
using RegId = Id<struct RegTag>;            ///< in Function
using VariableId = Id<struct VariableTag>;  ///< in Function or Module, see Symbol
using LabelId = Id<struct LabelTag>;        ///< in Function
using OperandId = Id<struct OperandTag>;    ///< in Function
using InstId = Id<struct InstTag>;          ///< in Function: index into `body`

enum class StateSpace : std::uint8_t { reg, global, shared, local, const_, param, sreg, tex };
std::string_view name(StateSpace space);  ///< without the dot
enum class Linkage : std::uint8_t { none, visible, extern_, weak, common };
std::string_view name(Linkage linkage);

/// `.reqntid 128, 1, 1` and the like: the name without the dot, and its values. `.pragma "a", "b"` has text.
struct Directive {
  std::string name{};
  std::vector<std::uint32_t> values{};
  std::string text{};  ///< what stands behind the name, for those that take no numbers: `"nounroll"`
  /// Its values as x, y and z, of a launch bound: what is not written is 1.
  [[nodiscard]] std::array<std::uint32_t, 3> dims() const {
    std::array<std::uint32_t, 3> all{1, 1, 1};
    for (std::size_t i = 0; i < all.size() && i < values.size(); ++i) all[i] = values[i];
    return all;
  }
};

}  // namespace ptx::ir

// A module that several kernels and device functions are written into: what it declares besides them, and how they come to be one
// text. Untyped, as Builder is; Python's `Module` and C++'s `ptx::Module` (module.hpp) both stand on it.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/write/builder.hpp"

namespace ptx::write {

/// The address of a variable or function, `generic` unless said otherwise, as an initial value.
struct AddressOf {
  std::string symbol;
  std::int64_t offset = 0;
  bool generic = true;
};
/// An initial value: a number, an address, or a list of them for an array.
struct Initial {
  std::variant<std::int64_t, double, AddressOf, std::vector<Initial>> value;

  // NOLINTBEGIN(google-explicit-constructor)
  template <std::integral I>
  Initial(I number) : value(static_cast<std::int64_t>(number)) {}
  template <std::floating_point F>
  Initial(F number) : value(static_cast<double>(number)) {}
  Initial(AddressOf address) : value(std::move(address)) {}
  // NOLINTEND(google-explicit-constructor)
  static Initial list(std::vector<Initial> elements) { return Initial(std::move(elements)); }

 private:
  explicit Initial(std::vector<Initial> elements) : value(std::move(elements)) {}
};

/// A variable of a module: `.global .align 4 .f32 table[16] = {…};`
struct VariableSpec {
  std::string name;
  Type type = Type::none;
  std::vector<std::uint64_t> shape = {};  ///< empty: a scalar. A first dimension of 0: `name[]`, as many as `init` has
  ir::StateSpace space = ir::StateSpace::global;
  std::optional<Initial> init = std::nullopt;
  std::uint32_t align = 0;  ///< bytes; 0: not written
  std::uint8_t vector = 1;  ///< 2 or 4: `.v4 .f32`
  ir::Linkage linkage = ir::Linkage::none;
  std::vector<std::string> attributes = {};  ///< "managed"
};

/// A device function as its callers see it. What it takes and gives is in registers, see Builder::function_param.
struct Callee {
  std::string name;
  std::vector<Type> returns, params;
  const void* owner = nullptr;  ///< its module, as Builder::owner has it; nullptr: any that has such a function
};

/// `call (r, …), f, (a, …);` with fresh registers for the results, which it gives. Kinds: call_mismatch (another number of
/// arguments, or of another type), and what Builder::emit says.
Expected<std::vector<Reg>> call(Builder& builder, const Callee& callee, std::span<const Value> arguments, const Guard& guard,
                                SourceLocation where);
/// `mov` into the results of the function being written, and `ret;`. Kind call_mismatch.
Expected<void> give_back(Builder& builder, std::span<const Value> results, SourceLocation where);

/// What a module declares, in the order of the calls. Not thread-safe.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(Target target, std::optional<Version> version = std::nullopt);
  ModuleBuilder(ModuleBuilder&&) = default;
  ModuleBuilder(const ModuleBuilder&) = delete;
  ModuleBuilder& operator=(ModuleBuilder&&) = default;
  ModuleBuilder& operator=(const ModuleBuilder&) = delete;
  ~ModuleBuilder() = default;

  /// Kinds: bad_declaration, duplicate_symbol. What initial values fit is for the checker to say.
  Expected<void> variable(const VariableSpec& spec, SourceLocation where = {});
  /// `.pragma "text";`
  Expected<void> pragma(std::string_view text, SourceLocation where = {});
  /// Another name for a function: `.alias name, function;` behind its definition.
  Expected<void> alias(std::string_view name, std::string_view function, SourceLocation where = {});
  /// `.section .name { lines }`, debug data.
  Expected<void> section(std::string_view name, std::string_view lines, SourceLocation where = {});
  /// What a text declares, as text::parse read it.
  Expected<void> append(const ir::Module& parsed, SourceLocation where = {});
  /// A place for a function, which `define` fills before the module is linked. Gives its number.
  Expected<std::size_t> declare(std::string_view name, SourceLocation where = {});
  /// A module of that function alone, as Builder::finish gives it.
  void define(std::size_t number, ir::Module function);

  [[nodiscard]] Target target() const { return target_; }
  [[nodiscard]] Version version() const { return version_; }
  /// Everything declared so far, for KernelHeader::module_names.
  [[nodiscard]] std::vector<std::string> names() const { return names_; }

  /// The module with these kernels behind what it declares. It may be linked any number of times.
  [[nodiscard]] Expected<ir::Module> link(std::span<const ir::Module* const> kernels) const;

 private:
  struct Part {
    ir::Module module;
    bool defined = true;
    std::string function;  // of a place that is not defined yet
    SourceLocation where;
  };
  struct Alias {
    std::string name, function;
    std::size_t part;  // the last one before it
    SourceLocation where;
  };
  Expected<void> add_name(std::string_view name, std::string_view what, SourceLocation where);
  ir::Module& declarations();  // the last part, when it is none of a function
  [[nodiscard]] Expected<void> place_alias(ir::Module& module, const Alias& alias) const;

  Target target_;
  Version version_;
  std::vector<Part> parts_;
  std::vector<Alias> aliases_;
  std::vector<std::string> names_;
};

}  // namespace ptx::write

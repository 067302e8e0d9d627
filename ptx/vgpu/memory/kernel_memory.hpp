// Which variables a kernel's names mean, and where those lie: each scope has its own, and only what the kernel uses takes room.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ptx/vgpu/decode/calls.hpp"
#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// A variable or parameter: its space, and its address there.
struct Symbol {
  Space space{};
  std::int64_t address = 0;
  std::uint32_t scalar_bytes = 1;  ///< of an array's elements: what an index counts
};

class KernelMemory {
 public:
  /// Fills the sizes of `code` and places what its function names. Kinds: not_executed, for more than any GPU has.
  static Expected<KernelMemory> make(Code& code, const Instance& instance, const Expanded* calls = nullptr);
  /// What a symbol operand of the function means; nothing when it has no memory in the executor.
  [[nodiscard]] std::optional<Symbol> symbol(const ir::Function& function, const ir::Operand& operand) const;

  /// Where a variable of the function lies.
  [[nodiscard]] std::optional<Symbol> variable(std::uint32_t index) const { return of_function_[index]; }

 private:
  KernelMemory(Code& code, const Instance& instance, const Expanded* calls);
  // What a name means: index into the module's variables, the function's, its parameters, or the module's functions.
  struct Meaning {
    enum class Of : std::uint8_t { nothing, module, function, param, code } of = Of::nothing;
    std::uint32_t index = 0;
  };
  [[nodiscard]] bool is_own(std::uint32_t variable) const;
  [[nodiscard]] std::span<std::byte> memory_of(const ir::Function* function, std::size_t variable) const;
  void resolve();
  void resolve(const ir::Operand& operand, const std::unordered_map<ir::StringId, Meaning>& names);
  Expected<void> place();
  Expected<void> place(const ir::Variable& v, std::vector<const ir::Variable*>& unsized, Symbol& symbol);

  Code& code_;
  const Instance& instance_;
  const Expanded* calls_;         // nullptr: the function calls nothing
  std::vector<Meaning> meaning_;  // by operand of the function
  std::vector<bool> used_;        // by variable of the module
  std::vector<std::optional<Symbol>> of_module_, of_function_, of_params_;
};

}  // namespace ptx::vgpu

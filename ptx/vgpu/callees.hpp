// Which functions a call may mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ptx/vgpu/calls.hpp"

namespace ptx::vgpu {

class Callees {
 public:
  explicit Callees(const ir::Module& module);
  /// The number of the function with a body that a name means, an alias followed.
  [[nodiscard]] std::optional<std::size_t> named(ir::StringId name) const;
  /// Whether a function calls itself, perhaps through others.
  [[nodiscard]] bool is_recursive(std::size_t function) const;
  /// A function of the driver, when it is declared with the parameters that it has.
  [[nodiscard]] std::optional<HostFunction> of_driver(ir::StringId name) const;
  /// The functions that the list of targets of a call by address names; or all that its prototype could mean, of those whose
  /// address the module names somewhere, but for those that run already.
  [[nodiscard]] std::vector<std::size_t> of_call(const ir::Function& caller, const ir::Inst& call,
                                                 std::span<const std::size_t> running) const;

 private:
  const ir::Module& module_;
  std::vector<bool> has_address_;  // by function: something else than a call names it
};

}  // namespace ptx::vgpu

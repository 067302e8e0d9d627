// Which functions a call may mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/vgpu/decode/calls.hpp"

namespace ptx::vgpu {

/// Whether an item of a body is a call.
bool is_call(const ir::Inst& item);

class Callees {
 public:
  explicit Callees(const ir::Module& module);
  /// The number of the function with a body that a name means, an alias followed.
  [[nodiscard]] std::optional<std::size_t> named(ir::StringId name) const;
  /// Whether a function calls itself by its name, perhaps through others.
  [[nodiscard]] bool is_recursive(std::size_t function) const { return recursive_[function]; }
  /// Whether a kernel's calls cannot each have the body of what they call in their place: there would be more than `most`
  /// instructions, or a call by address may be of a function that runs already.
  [[nodiscard]] bool need_one_body(std::size_t kernel, std::size_t most) const;
  /// A function of the driver, when it is declared with the parameters that it has.
  [[nodiscard]] std::optional<HostFunction> of_driver(ir::StringId name) const;
  /// The functions that the list of targets of a call by address names; or all that its prototype could mean, of those whose
  /// address the module names somewhere.
  [[nodiscard]] std::vector<std::size_t> of_call(const ir::Function& caller, const ir::Inst& call) const;

 private:
  // A call's callee, or one of those that an address may be of.
  struct Edge {
    std::size_t callee;
    bool by_address;
  };
  void find_edges();
  void find_recursive();

  const ir::Module& module_;
  std::unordered_map<std::string_view, std::size_t> bodies_;  // functions with a body, by name
  std::unordered_map<std::string_view, std::string_view> aliases_;
  std::vector<bool> has_address_;  // by function: something else than a call names it
  std::vector<bool> recursive_;
  std::vector<std::vector<Edge>> edges_;  // by function, a call after the other
};

}  // namespace ptx::vgpu

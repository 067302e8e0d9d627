// Calls of device functions: the executor runs a callee in place. Before a kernel is decoded its calls are replaced by the bodies
// of what they call, each with registers of its own, so that decoding, divergence and reports know of no calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::vgpu {

/// A kernel with its calls expanded.
struct Expanded {
  /// Where an item, or a variable, of the expanded body comes from: a function of the module, and the index there.
  struct Origin {
    std::uint32_t function = 0, index = 0;
  };
  /// A parameter or result in .param space: its name in the callee, and the variable that it is.
  struct Binding {
    ir::StringId name;
    std::uint32_t variable = 0;
  };
  /// The body of one call, from an `open` whose payload is 1 + its index to the `close` of that: in it names mean what they mean
  /// in the callee.
  struct Frame {
    std::vector<Binding> bindings;
    std::vector<std::uint32_t> variables;  ///< of the callee, declared at its top
  };
  ir::Function function;
  std::vector<Origin> items, variables;
  std::vector<Frame> frames;
  std::map<std::uint32_t, std::string> refused;  ///< by item: why a call is not executed
  ir::Listing listing;                           ///< the module's, with the lines of this body in place of the kernel's own
};

/// The function with its calls expanded; nullptr when it has none. The listing may be absent.
std::shared_ptr<const Expanded> expand_calls(const ir::Module& module, std::size_t function, const ir::Listing* listing);

}  // namespace ptx::vgpu

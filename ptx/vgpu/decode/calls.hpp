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

/// What the executor does itself at a call. The first are functions that every GPU's driver has, and that a module declares.
enum class HostFunction : std::uint8_t {
  print,           ///< vprintf(format, arguments)
  fail_assertion,  ///< __assertfail(message, file, line, function, bytes of a character)
  allocate,        ///< malloc(bytes)
  release,         ///< free(address)
  is_callee,       ///< no function: whether the address in a register is that of a function
  no_callee,       ///< no function: a fault, since it is none
  enter,           ///< no function: a call of one whose body stands elsewhere
  leave,           ///< no function: the end of one that other calls enter
  no_return,       ///< no function: a fault, since a function that is `.noreturn` has returned
};
constexpr bool is_of_driver(HostFunction function) { return function <= HostFunction::release; }
struct HostCall {
  HostFunction function{};
  std::uint64_t address = 0;    ///< is_callee: of the function
  ir::RegId result{};           ///< is_callee: a predicate
  std::uint32_t recursive = 0;  ///< enter, leave: of Expanded::recursive; no_return: the function, of the module's
};

/// Where a function of a module lies, by the first function of its name: nobody has memory there.
std::uint64_t function_address(const ir::Module& module, ir::StringId name);

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
  /// A function whose body other calls enter, as one that calls itself: where it begins, and what its parameters and results are
  /// there, registers or variables.
  struct Recursive {
    struct Place {
      bool in_memory = false;
      std::uint32_t index = 0;
      ir::Param param;
    };
    std::uint32_t begin = 0;  ///< a label
    std::vector<Place> params, returns;
  };
  ir::Function function;
  std::vector<Origin> items, variables;
  std::vector<Frame> frames;
  std::vector<Recursive> recursive;
  std::map<std::uint32_t, std::string> refused;  ///< by item: why a call is not executed
  std::map<std::uint32_t, HostCall> host_calls;  ///< by item: a call that the executor does itself
  ir::Listing listing;                           ///< the module's, with the lines of this body in place of the kernel's own
};

/// The function with its calls expanded; nullptr when it has none. The listing may be absent.
std::shared_ptr<const Expanded> expand_calls(const ir::Module& module, std::size_t function, const ir::Listing* listing);

}  // namespace ptx::vgpu

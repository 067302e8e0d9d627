// check (floor 3): is this module right? Form, operands, types, target, version, labels, declarations, shared memory. The
// executor and the launcher take check::Accepted, which only accept() makes: unchecked code cannot run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::flow {
class Graph;
}

namespace ptx::check {

/// Every finding on a module, errors and warnings, in the order of the source.
Diagnostics check(const ir::Module& module);

/// A module that passed, and what check learned of it. Immutable and shared: images, executors and listings hold the same one.
class Accepted {
 public:
  [[nodiscard]] const ir::Module& module() const;
  [[nodiscard]] std::shared_ptr<const ir::Module> share() const;
  /// What check found short of an error.
  [[nodiscard]] const Diagnostics& warnings() const;
  /// Where control goes in a function, by its index in the module.
  [[nodiscard]] const flow::Graph& graph(std::size_t function) const;
  /// For each operand of an instruction, which operand of its row it is (isa::Form::operands). Empty for one that fits no row,
  /// though ptxas takes it: then a warning says so.
  [[nodiscard]] std::span<const std::uint8_t> row_operands(std::size_t function, std::uint32_t item) const;
  /// Registers of a thread when a kernel starts, where its setmaxnreg counts; nothing where ptxas passes over it.
  [[nodiscard]] std::optional<std::uint32_t> start_registers(std::size_t function) const;

 private:
  friend Expected<Accepted> accept(ir::Module module);
  Accepted() = default;
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

/// The module, accepted; or its first error, with the others as notes.
Expected<Accepted> accept(ir::Module module);

}  // namespace ptx::check

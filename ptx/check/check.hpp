// check (floor 3): is this module right? Form, operands, types, target, version, labels, declarations, shared memory. The
// executor and the launcher take check::Accepted, which only accept() makes: unchecked code cannot run.
#pragma once

#include <memory>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::check {

/// Every finding on a module, errors and warnings, in the order of the source.
Diagnostics check(const ir::Module& module);

/// A module that passed. Immutable and shared: images, executors and listings hold the same one.
class Accepted {
 public:
  [[nodiscard]] const ir::Module& module() const { return *module_; }
  [[nodiscard]] std::shared_ptr<const ir::Module> share() const { return module_; }
  /// What check found short of an error.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }

 private:
  friend Expected<Accepted> accept(ir::Module module);
  Accepted() = default;
  std::shared_ptr<const ir::Module> module_;
  Diagnostics warnings_;
};

/// The module, accepted; or its first error, with the others as notes.
Expected<Accepted> accept(ir::Module module);

}  // namespace ptx::check

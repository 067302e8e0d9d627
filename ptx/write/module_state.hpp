// What the handles of one module share. Internal to the room.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/write/module_builder.hpp"

namespace ptx::write {

struct ModuleState {
  ModuleState(Target target, std::optional<Version> version) : parts(target, version) {}

  struct Open {
    std::size_t number = 0;
    std::shared_ptr<Builder> builder;
    bool finished = false;
  };
  ModuleBuilder parts;
  std::vector<Open> open;
  std::set<std::string, std::less<>> names;  // of variables: what addresses view
  std::optional<Diagnostic> failure;

  void fail(Diagnostic diagnostic) {
    if (!failure) failure = std::move(diagnostic);
  }
  void keep(Expected<void> done) {
    if (!done) fail(std::move(done).error());
  }
  /// Finishes the functions and links them with these kernels.
  [[nodiscard]] Expected<ir::Module> link(std::span<const ir::Module* const> kernels);
};

/// What a body keeps alive. Others share it: a module finishes the functions that are written into it.
struct Held {
  std::shared_ptr<Builder> builder;
  std::shared_ptr<ModuleState> module;  ///< of a kernel; null: it is a module of its own
};

}  // namespace ptx::write

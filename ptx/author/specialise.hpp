// Kernels that are written for the sizes of a call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ptx/author/compile.hpp"
#include "ptx/base/base.hpp"
#include "ptx/launch/brief.hpp"
#include "ptx/write/write.hpp"

namespace ptx {

/// Writes what a kernel does for these sizes of its dimensions.
using SizedBody = std::function<void(Kernel& k, const Sizes& sizes)>;

/// A kernel whose body is written anew for each set of sizes, and compiled once for each: loops over a dimension can be unrolled,
/// and a size is a number in the text. A value: copies share everything. Thread-safe, when the body is.
class Specialised {
 public:
  /// The kernel for these sizes, written at the first call with them; all dimensions of the tensors. Kinds: dim_unbound,
  /// argument_kind for a name that is no dimension, and those of `compile`.
  [[nodiscard]] Expected<Compiled> at(const Sizes& sizes) const;
  /// Runs the kernel for the sizes of the call's memory. Errors: those of Compiled::run and of at().
  [[nodiscard]] Expected<void> run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs,
                                   SourceLocation at = SourceLocation::current()) const;
  /// How many sets of sizes it was written for.
  [[nodiscard]] std::size_t size() const;

 private:
  friend Expected<Specialised> specialise(KernelSpec spec, SizedBody body, std::vector<launch::Scalar> scalars,
                                          SourceLocation at);
  struct State;
  explicit Specialised(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Kinds: bad_tile, launch_config, dim_unbound, bad_declaration: what no kernel can be, at the author's line. The body is not
/// called yet. `scalars` as in `compile`.
///     auto kernel = specialise({.name = "rms_norm", .in_specs = {{"X", {"B", "N"}, f32}}, …, .grid = dim("B")},
///                              [](Kernel& k, const Sizes& sizes) { const auto n = sizes.at("N"); … });
[[nodiscard]] Expected<Specialised> specialise(KernelSpec spec, SizedBody body, std::vector<launch::Scalar> scalars = {},
                                               SourceLocation at = SourceLocation::current());

}  // namespace ptx

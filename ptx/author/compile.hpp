// From a kernel as its author writes it to one that runs.
#pragma once

#include <functional>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/brief.hpp"
#include "ptx/write/write.hpp"

namespace ptx {

/// Checks a kernel that knows its tensors and its launch. `scalars` are the values of its raw parameters: of all of them, or of
/// all that are not named as a dimension of the tensors, whose size the others are. Kinds: what its writing met first;
/// launch_config for a kernel without a grid; argument_count; and those of compile(ir::Module).
[[nodiscard]] Expected<Compiled> compile(Kernel kernel, std::vector<launch::Scalar> scalars = {});

/// Writes what a kernel does.
using KernelBody = std::function<void(Kernel& k)>;

/// Writes the kernel and checks it. When it allocates more shared memory than every target has statically (48 KiB), it is written
/// again with all of it in dynamic memory, of which its launch then has as much. So the body may be called twice, and must do the
/// same each time.
///     auto kernel = compile({.name = "scale", …}, [&](Kernel& k) { … k << inst.ret(); });
[[nodiscard]] Expected<Compiled> compile(const KernelSpec& spec, const KernelBody& body, std::vector<launch::Scalar> scalars = {},
                                         SourceLocation at = SourceLocation::current());

}  // namespace ptx

// What a launch must know of a kernel's module, asked of the module once, when its image is made.
#pragma once

#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/spec.hpp"

namespace ptx::launch {

/// Whether the entry is one that this launch fits: its parameters, `.reqntid` and `.maxntid`, which bind the driver and the
/// executor alike, and, for a launch ahead of its turn, that the module waits. Kinds: param_layout, launch_config.
Expected<void> check_fits(const check::Accepted& accepted, const ir::Function& entry, const LaunchSpec& spec);

/// Whether the module waits for the grid that is launched ahead of it.
bool waits_for_grid_ahead(const ir::Module& module);

}  // namespace ptx::launch

// A fault as its reader sees it.
#pragma once

#include "ptx/vgpu/machine.hpp"

namespace ptx::vgpu {

/// The diagnostic of a fault: the instruction and what it did, the author's line, the PTX line, the thread, and how to run it
/// again.
Diagnostic report(const Warp& warp, const Fault& fault);
/// The same of the fault that the warp has recorded.
Diagnostic report(const Warp& warp);

/// Where the text that was read says an item is from (`.loc`), as notes.
void add_debug_places(const Code& code, std::uint32_t item, Diagnostic& to);

}  // namespace ptx::vgpu

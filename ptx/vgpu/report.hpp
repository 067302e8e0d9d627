// A fault as its reader sees it.
#pragma once

#include "ptx/vgpu/machine.hpp"

namespace ptx::vgpu {

/// The diagnostic of a fault: the instruction and what it did, the author's line, the PTX line, the thread, and how to run it
/// again.
Diagnostic report(const Cta& cta, const Warp& warp, const Fault& fault);

}  // namespace ptx::vgpu

// setmaxnreg: the registers of a CTA, which its warps give back and take (manual: "Instruction Set: setmaxnreg").
#pragma once

#include <string>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// Whether every warp of a warpgroup has executed as many setmaxnreg as the others, when the CTA's last warp is gone. False: a
/// fault was recorded.
bool all_have_set_registers(Warp& last);

/// "232 registers a thread: it has 168, and its block has 0 to spare for each of its threads": what a warp waits for.
std::string say_awaited_registers(const Warp& warp);

}  // namespace ptx::vgpu

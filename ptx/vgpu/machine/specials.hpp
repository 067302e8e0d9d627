// Special registers (manual: "Special Registers"): what they read as.
#pragma once

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

struct SpecialValue {
  std::string_view name;
  bool by_lane = false;  ///< differs between the lanes of a warp
  bool clock = false;    ///< changes while the warp runs: read by a handler, not from a slot
  /// The value in a lane. Clocks are asked for the time at a step.
  std::uint64_t (*value)(const Warp& warp, std::uint32_t lane) = nullptr;
};

/// How a special register is read, or nullptr when the executor does not have it.
const SpecialValue* special_value(isa::SpecialId id);

/// Whether a kernel asks where the shared memory lies that the system keeps, and so uses it: cooperative groups do.
bool reads_reserved_memory(const Code& code);

/// Fills the slots of the special registers that the kernel reads and that stay as they are while the warp runs.
void fill_specials(Warp& warp);

/// Instructions that the CTA has run at this step: the executor's clock, the same in every run.
std::uint64_t time_at(const Warp& warp, const Step& step);

}  // namespace ptx::vgpu

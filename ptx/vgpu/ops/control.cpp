// Flow of control (rows: ptx/isa/table/control.hpp).
#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/helper_steps.hpp"

namespace ptx::vgpu::op {

Handler bra(Decoding&) { return helper::jump(); }  // the decoder fills in the target
Handler ret(Decoding&) { return helper::exit_lanes(); }
Handler exit(Decoding&) { return helper::exit_lanes(); }

// What it calls stands behind it (calls.hpp).
Handler call(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

Handler trap(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    return warp.fail(step, lowest_lane(mask), Kind::trapped, "ends the kernel");
  };
}

// Time is counted in instructions: sleeping takes none.
Handler nanosleep(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

}  // namespace ptx::vgpu::op

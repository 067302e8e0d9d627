#include "ptx/vgpu/helper_steps.hpp"

#include "ptx/vgpu/code.hpp"
#include "ptx/vgpu/schedule.hpp"

namespace ptx::vgpu::helper {
namespace {

struct Narrow {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* from = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int l) { return static_cast<std::uint32_t>(from[l]); });
    return Outcome::next;
  }
};

template <class Narrower>
struct Widen {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* from = warp.slot<std::uint32_t>(step.x[1]);
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask,
                [=](int l) { return static_cast<std::uint64_t>(static_cast<Narrower>(from[l])); });
    return Outcome::next;
  }
};

}  // namespace

Handler narrow() { return Compiled<Narrow>::handler(); }
Handler widen(bool with_sign) {
  return with_sign ? Compiled<Widen<std::int32_t>>::handler() : Compiled<Widen<std::uint32_t>>::handler();
}

Handler check_defined() {
  return [](Warp& warp, const Step& step, Mask mask) {
    const Mask undefined = mask & ~warp.pred(step.x[0]);
    if (undefined == 0 || !warp.cta->launch->options.check_initialised) return Outcome::next;
    const Code& code = warp.cta->launch->code;
    ir::RegId reg;
    reg.index = static_cast<std::uint32_t>(step.imm);
    return warp.fail(step, lowest_lane(undefined), Kind::uninitialised,
                     cat("reads `", code.module->reg_name(*code.function, reg), "`, which nothing has written"));
  };
}

Handler mark_defined() {
  return [](Warp& warp, const Step& step, Mask mask) {
    warp.pred(step.x[0]) |= mask;
    return Outcome::next;
  };
}

Handler jump() {
  return [](Warp& warp, const Step& step, Mask mask) {
    if (mask == warp.active) {
      warp.pc = step.target;
      return Outcome::jumped;
    }
    return split(warp, step, mask, step.target);
  };
}

Handler exit_lanes() {
  return [](Warp& warp, const Step& step, Mask mask) { return retire(warp, step, mask); };
}

}  // namespace ptx::vgpu::helper

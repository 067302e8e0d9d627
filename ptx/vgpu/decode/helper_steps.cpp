#include "ptx/vgpu/decode/helper_steps.hpp"

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/rows_run.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"

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

struct Element {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    const auto* index = warp.slot<std::uint32_t>(step.x[1]);
    const auto* base = warp.slot<std::uint64_t>(step.x[3]);
    const auto added = static_cast<std::uint32_t>(step.imm), size = step.x[2];
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [=](int l) {
      const std::uint32_t offset = (index[l] + added) * size;  // 32 bits wide, as on a GPU
      return base[l] + offset;
    });
    return Outcome::next;
  }
};

struct FullAddress {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    auto* to = warp.slot<std::uint64_t>(step.x[0]);
    if (step.x[2] != 0) {
      const auto* base = warp.slot<std::uint32_t>(step.x[1]);
      write_lanes(to, mask, [=, add = static_cast<std::uint32_t>(step.imm)](int l) { return std::uint64_t{base[l] + add}; });
    } else {
      const auto* base = warp.slot<std::uint64_t>(step.x[1]);
      write_lanes(to, mask, [=, add = static_cast<std::uint64_t>(step.imm)](int l) { return base[l] + add; });
    }
    return Outcome::next;
  }
};

}  // namespace

Handler full_address() { return Compiled<FullAddress>::handler(); }
Handler element() { return Compiled<Element>::handler(); }
Handler narrow() { return Compiled<Narrow>::handler(); }
Handler widen(bool with_sign) {
  return with_sign ? Compiled<Widen<std::int32_t>>::handler() : Compiled<Widen<std::uint32_t>>::handler();
}

Handler check_defined() {
  return [](Warp& warp, const Step& step, Mask mask) {
    const Mask unwritten = mask & ~warp.pred(step.x[0]);
    if (unwritten == 0 || !warp.cta->launch->options.check_initialised) return Outcome::next;
    const bool was_traced = warp.traced;
    note_unwritten(warp, step, static_cast<std::uint32_t>(step.imm));
    return was_traced ? Outcome::next : go_on_behind(warp, step);
  };
}

Handler check_all_defined() {
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto all = operands_of(warp.cta->launch->code, step);
    Mask written = all_lanes;
    for (std::size_t i = 0; i < all.size(); i += 2) written &= warp.pred(all[i]);
    if ((mask & ~written) == 0 || !warp.cta->launch->options.check_initialised) return Outcome::next;
    const bool was_traced = warp.traced;
    std::size_t first = 0;
    while ((mask & ~warp.pred(all[first])) == 0) first += 2;
    note_unwritten(warp, step, all[first + 1]);  // for all of them
    return was_traced ? Outcome::next : go_on_behind(warp, step);
  };
}

Handler mark_all_defined() {
  return [](Warp& warp, const Step& step, Mask mask) {
    for (const std::uint32_t slot : operands_of(warp.cta->launch->code, step)) warp.pred(slot) |= mask;
    return Outcome::next;
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

Handler note_row() {
  return [](Warp&, const Step& step, Mask) {
    rows_run::note(step.x[0]);
    return Outcome::next;
  };
}

}  // namespace ptx::vgpu::helper

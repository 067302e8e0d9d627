// Barriers and fences (rows: ptx/isa/table/sync.hpp).
#include <atomic>

#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/ops/collective.hpp"
#include "ptx/vgpu/schedule.hpp"
#include "ptx/vgpu/waiting.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = barrier, x[1] = count of threads, zeros for all. Both are the same for every thread of a warp.
template <bool aligned, bool waits>
Outcome barrier(Warp& warp, const Step& step, Mask mask) {
  const auto* ids = warp.slot<std::uint32_t>(step.x[0]);
  const std::uint32_t id = ids[lowest_lane(mask)];
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); ids[lane] != id)
      return warp.fail(step, lane, Kind::barrier_misuse,
                       cat("names barrier ", ids[lane], " here and ", id, " in another lane of its warp"));
  if (step.x[1] != zero_offset) {
    const auto* counts = warp.slot<std::uint32_t>(step.x[1]);
    const std::uint32_t count = counts[lowest_lane(mask)];
    for (Mask left = mask; left != 0; left &= left - 1)
      if (const int lane = lowest_lane(left); counts[lane] != count || count == 0)
        return warp.fail(step, lane, Kind::barrier_misuse,
                         count == 0 ? std::string("counts 0 threads: no barrier of them completes")
                                    : cat("counts ", counts[lane], " threads here and ", count, " in another lane of its warp"));
  }
  // Lanes that branch elsewhere may exit before they would come here; those that a guard leaves out have come, and go by.
  if (const Mask left_out = warp.active & ~mask; aligned && left_out != 0)
    return warp.fail(step, lowest_lane(mask), Kind::divergent,
                     cat("needs all live threads of warp ", warp.index, " together; its guard leaves out ", say_lanes(left_out)));
  if (mask != warp.live) return aligned ? park(warp, step, mask, Wait::converge) : park(warp, step, mask, Wait::barrier, id);
  return come_to_barrier(warp, step, mask, id, barrier_threads(warp, step, mask), waits);
}

Handler barrier(Decoding& in, Handler handler) {
  in.step.x[0] = in.read("a", Type::u32);
  if (in.given("b")) {
    in.step.x[1] = in.read("b", Type::u32);
    // a count of 0 written out is not "all": no barrier of 0 threads can complete
    if (in.immediate("b") == 0) return in.refuse("a barrier of 0 threads never completes");
  } else {
    in.step.x[1] = zero_offset;
  }
  return handler;
}

// Nothing to exchange: the lanes only meet.
constexpr Collective meeting = {[](Warp&, const Step&, Mask, Exchange&) {},
                                [](Warp&, const Step&, Mask, const Exchange&) { return true; }};

}  // namespace

namespace op {

Handler bar_sync(Decoding& in) {
  const bool aligned = isa::converged_by(in.form(), in.choices()) != isa::Converged::none;
  return barrier(in, aligned ? &vgpu::barrier<true, true> : &vgpu::barrier<false, true>);
}
Handler bar_arrive(Decoding& in) { return barrier(in, &vgpu::barrier<true, false>); }
Handler bar_warp_sync(Decoding& in) { return collective<meeting>(in); }

// Every fence reads and writes one word: fences are then ordered among each other, and with them what stands before and behind.
// (std::atomic_thread_fence would do; ThreadSanitizer does not understand it.)
// The warps of a CTA take turns on one thread of the host, so among them there is nothing to order.
Handler membar(Decoding& in) {
  if (isa::scope(in.form(), in.choices()) == isa::Scope::cta) return [](Warp&, const Step&, Mask) { return Outcome::next; };
  return [](Warp&, const Step&, Mask) {
    static std::atomic<std::uint32_t> order{0};
    order.fetch_add(1, std::memory_order_seq_cst);
    return Outcome::next;
  };
}

// The executor runs one grid after the other: those before have ended, those behind begin when this one has.
Handler griddepcontrol(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

}  // namespace op
}  // namespace ptx::vgpu

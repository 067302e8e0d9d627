// Barriers and fences (rows: ptx/isa/table/sync.hpp).
#include <atomic>

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/ops/collective.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

// Whether the warp is together at an instruction that all its live lanes execute; nothing when it is. Lanes that branch elsewhere
// may exit before they would come; those that a guard leaves out have come, and go by.
template <bool aligned>
std::optional<Outcome> come_together(Warp& warp, const Step& step, Mask mask, std::uint32_t key) {
  if (const Mask left_out = warp.active & ~mask; aligned && left_out != 0)
    return warp.fail(step, lowest_lane(mask), Kind::divergent,
                     cat("needs all live threads of warp ", warp.index, " together; its guard leaves out ", say_lanes(left_out)));
  if (mask == warp.live) return std::nullopt;
  return aligned ? park(warp, step, mask, Wait::converge) : park(warp, step, mask, Wait::barrier, key);
}

// x[0] = barrier, x[1] = count of threads, zeros for all, x[5] = whether it waits. Both are the same for every thread of a warp.
template <bool aligned>
Outcome barrier(Warp& warp, const Step& step, Mask mask) {
  const auto* ids = warp.slot<std::uint32_t>(step.x[0]);
  const std::uint32_t id = ids[lowest_lane(mask)];
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); ids[lane] != id)
      return warp.fail(step, lane, Rule::B_02,
                       cat("names barrier ", ids[lane], " here and ", id, " in another lane of its warp"));
  if (step.x[1] != zero_offset) {
    const auto* counts = warp.slot<std::uint32_t>(step.x[1]);
    const std::uint32_t count = counts[lowest_lane(mask)];
    for (Mask left = mask; left != 0; left &= left - 1)
      if (const int lane = lowest_lane(left); counts[lane] != count || count == 0)
        return warp.fail(step, lane, Rule::B_02,
                         count == 0 ? std::string("counts 0 threads: no barrier of them completes")
                                    : cat("counts ", counts[lane], " threads here and ", count, " in another lane of its warp"));
  }
  if (id < barrier_count)  // any other is a fault
    if (const auto apart = come_together<aligned>(warp, step, mask, id)) return *apart;
  return come_to_barrier(warp, step, mask, id, barrier_threads(warp, step, mask), step.x[waits_slot] != 0);
}

Handler barrier(Decoding& in, bool waits) {
  in.step.x[0] = in.read("a", Type::u32);
  in.step.x[waits_slot] = waits ? 1 : 0;
  if (in.given("b")) {
    in.step.x[1] = in.read("b", Type::u32);
    // a count of 0 written out is not "all": no barrier of 0 threads can complete
    if (in.immediate("b") == 0) return in.refuse("a barrier of 0 threads never completes");
  } else {
    in.step.x[1] = zero_offset;
  }
  const bool aligned = isa::converged_by(in.form(), in.choices()) != isa::Converged::none;
  return aligned ? &vgpu::barrier<true> : &vgpu::barrier<false>;
}

// ---- reductions over a barrier: x[2] = d, x[3] = c, x[4] = its flip

void give_vote(Warp& warp, const Step& step, Mask mask, Exchange& exchange) {
  exchange.pred |= (warp.pred(step.x[3]) ^ step.x[4]) & mask;
}
bool take_count(Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
  write_lanes(warp.slot<std::uint32_t>(step.x[2]), mask, [&](int) { return exchange.value[0]; });
  return true;
}
template <bool all>
bool take_truth(Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
  Mask& d = warp.pred(step.x[2]);
  d = (d & ~mask) | ((all ? exchange.value[0] == exchange.value[1] : exchange.value[0] != 0) ? mask : 0);
  return true;
}
constexpr Collective count_over_barrier = {give_vote, take_count};
constexpr Collective all_over_barrier = {give_vote, take_truth<true>, false, SettledBy::one_false};
constexpr Collective any_over_barrier = {give_vote, take_truth<false>, false, SettledBy::one_true};

// ---- the cluster's barrier

template <bool aligned>
Outcome arrive_at_cluster(Warp& warp, const Step& step, Mask mask) {
  if (const auto apart = come_together<aligned>(warp, step, mask, cluster_arrival)) return *apart;
  return come_to_cluster_barrier(warp, step, mask);
}
template <bool aligned>
Outcome wait_at_cluster(Warp& warp, const Step& step, Mask mask) {
  if (const auto apart = come_together<aligned>(warp, step, mask, cluster_wait)) return *apart;
  return wait_at_cluster_barrier(warp, step, mask);
}

// Nothing to exchange: the lanes only meet.
constexpr Collective meeting = {[](Warp&, const Step&, Mask, Exchange&) {},
                                [](Warp& warp, const Step&, Mask, const Exchange& exchange) {
                                  if (warp.races != nullptr) warp.races->meet(warp, exchange.members);
                                  return true;
                                }};

}  // namespace

namespace op {

Handler bar_sync(Decoding& in) { return barrier(in, true); }
Handler bar_arrive(Decoding& in) { return barrier(in, false); }
Handler bar_red(Decoding& in) {
  const bool counts = !in.has("op");
  in.step.x[2] = counts ? in.write("d", Type::u32) : in.write_pred("d");
  const Decoding::Pred c = in.read_pred("c");
  in.step.x[3] = c.offset;
  in.step.x[4] = c.flip;
  in.step.collective = counts ? &count_over_barrier : in.chosen("op") == "and" ? &all_over_barrier : &any_over_barrier;
  return barrier(in, true);
}
Handler barrier_cluster_arrive(Decoding& in) {
  const bool aligned = isa::converged_by(in.form(), in.choices()) != isa::Converged::none;
  return aligned ? &arrive_at_cluster<true> : &arrive_at_cluster<false>;
}
Handler barrier_cluster_wait(Decoding& in) {
  in.step.x[waits_slot] = 1;
  const bool aligned = isa::converged_by(in.form(), in.choices()) != isa::Converged::none;
  return aligned ? &wait_at_cluster<true> : &wait_at_cluster<false>;
}
Handler bar_warp_sync(Decoding& in) { return collective<meeting>(in); }

// Every fence reads and writes one word: fences are then ordered among each other, and with them what stands before and behind.
// (std::atomic_thread_fence would do; ThreadSanitizer does not understand it.)
// The warps of a CTA take turns on one thread of the host, so among them there is nothing to order. All ways to memory are one
// here: a fence between two of them orders what a fence of its scope does.
Handler membar(Decoding& in) {
  if (isa::scope(in.form(), in.choices()) == isa::Scope::cta)
    return [](Warp& warp, const Step& step, Mask mask) {
      if (warp.races != nullptr) warp.races->fence(warp, step, mask);
      return Outcome::next;
    };
  return [](Warp& warp, const Step& step, Mask mask) {
    if (warp.races != nullptr) warp.races->fence(warp, step, mask);
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

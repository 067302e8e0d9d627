// mbarriers (rows: ptx/isa/table/mbarrier.hpp). What they are: ptx/vgpu/async/mbarrier.hpp. Operations on them order memory as
// they are told; the warps of a CTA take turns on one thread of the host, so there is nothing to do for that.
#include "ptx/vgpu/async/mbarrier.hpp"

#include "ptx/vgpu/async/queue.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// x[8], imm = address
void read_mbarrier(Decoding& in) {
  const auto address = in.read_address("addr");
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("addr");
}

// Calls `operate` for each lane, one after the other; false ends it.
template <class Operate>
Outcome each_lane(Warp& warp, const Step& step, Mask mask, Operate operate) {
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    if (!operate(mbarrier::Operator{warp, step, lane, step.space, address[static_cast<std::size_t>(lane)]}))
      return Outcome::fault;
  }
  return Outcome::next;
}

// x[0] = a number of 32 bits, or no_slot
std::optional<std::uint32_t> number(const Warp& warp, std::uint32_t slot, int lane) {
  if (slot == no_slot) return std::nullopt;
  return warp.slot<std::uint32_t>(slot)[lane];
}
std::uint32_t read_number(Decoding& in, std::string_view name) { return in.given(name) ? in.read(name, Type::u32) : no_slot; }

// The lanes as one operator, where they name one mbarrier, `alike(lane)` is the same in all of them, and nobody wants to be told
// of each.
template <class Alike>
std::optional<mbarrier::Operator> all_at_once(Warp& warp, const Step& step, Mask mask, Alike alike) {
  if ((mask & (mask - 1)) == 0 || warp.observer != nullptr || warp.exploration != nullptr) return std::nullopt;
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  const int first = lowest_lane(mask);
  for (Mask left = mask & (mask - 1); left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    if (address[static_cast<std::size_t>(lane)] != address[static_cast<std::size_t>(first)] || alike(lane) != alike(first))
      return std::nullopt;
  }
  return mbarrier::Operator{warp, step, first, step.space, address[static_cast<std::size_t>(first)], mask & (mask - 1)};
}

// x[0] = state, x[1] = count, x[2] = bytes, x[3] = drops, x[4] = may complete
Outcome arrive(Warp& warp, const Step& step, Mask mask) {
  if (step.x[0] == discard_offset && step.x[2] == no_slot && step.x[3] == 0 && step.x[4] != 0) {
    const auto count = [&](int lane) { return number(warp, step.x[1], lane).value_or(1); };
    if (const auto all = all_at_once(warp, step, mask, count)) {
      const auto done = mbarrier::arrive_together(*all, count(all->lane));
      if (!done) return Outcome::fault;
      if (*done) return Outcome::next;
    }
  }
  auto* state = warp.slot<std::uint64_t>(step.x[0]);
  return each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
    mbarrier::Arrival arrival;
    arrival.count = number(warp, step.x[1], by.lane).value_or(1);
    arrival.expects = number(warp, step.x[2], by.lane);
    arrival.drops = step.x[3] != 0;
    arrival.may_complete = step.x[4] != 0;
    arrival.returns = step.x[0] != discard_offset;
    const auto before = mbarrier::arrive(by, arrival);
    if (before) state[by.lane] = *before;
    return before.has_value();
  });
}

// x[0] = predicate, x[1] = state or parity, x[2] = the predicate of what failed. A wait that fails is a poll: it says no at once,
// which a time limit allows, and other warps get their turns before this one asks again.
template <bool parity>
Outcome wait(Warp& warp, const Step& step, Mask mask) {
  Mask complete = 0;
  const auto phase = [&](int lane) {
    return std::uint64_t{parity ? warp.slot<std::uint32_t>(step.x[1])[lane] : warp.slot<std::uint64_t>(step.x[1])[lane]};
  };
  const auto ask = [&](const mbarrier::Operator& by) {
    const auto done =
        parity ? mbarrier::test_parity(by, static_cast<std::uint32_t>(phase(by.lane))) : mbarrier::test_state(by, phase(by.lane));
    if (done && *done) complete |= by.lanes();
    return done;
  };
  async::Queue* const queue = warp.cta->cluster->queue.get();
  const auto all = all_at_once(warp, step, mask, phase);
  const auto done = all ? ask(*all) : std::optional<bool>(false);
  if (!done) return Outcome::fault;
  if (!all || (!*done && queue != nullptr)) {  // each that has to wait performs something of the queue
    const Outcome outcome = each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
      const auto its = ask(by);
      if (!its) return false;
      return *its || queue == nullptr || queue->wait_at({by.space, by.address});
    });
    if (outcome != Outcome::next) return outcome;
  }
  Mask& p = warp.pred(step.x[0]);
  p = (p & ~mask) | complete;
  warp.pred(step.x[2]) &= ~mask;  // operations of a kind that can fail are not executed
  if (complete != mask) {
    ++warp.cta->polls;
    warp.polled = step.item;
    warp.yields = true;
  }
  return Outcome::next;
}

}  // namespace

namespace op {

Handler mbarrier_init(Decoding& in) {
  if (in.wrote("layout::v1")) return in.refuse("the executor has mbarriers of layout v0 alone");
  read_mbarrier(in);
  in.step.x[0] = in.read("count", Type::u32);
  return [](Warp& warp, const Step& step, Mask mask) {
    return each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
      return mbarrier::init(by, warp.slot<std::uint32_t>(step.x[0])[by.lane]);
    });
  };
}

Handler mbarrier_inval(Decoding& in) {
  read_mbarrier(in);
  return [](Warp& warp, const Step& step, Mask mask) { return each_lane(warp, step, mask, mbarrier::invalidate); };
}

Handler mbarrier_check_layout(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.write_pred("p");
  in.step.x[1] = in.wrote("layout::v0") ? all_lanes : 0;
  return [](Warp& warp, const Step& step, Mask mask) {
    const Outcome outcome = each_lane(warp, step, mask, mbarrier::check);
    Mask& p = warp.pred(step.x[0]);
    p = (p & ~mask) | (step.x[1] & mask);
    return outcome;
  };
}

Handler mbarrier_arrive(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.write("state", Type::u64);
  in.step.x[1] = read_number(in, "count");
  in.step.x[2] = read_number(in, "tx");
  in.step.x[3] = in.wrote("arrive_drop") ? 1 : 0;
  in.step.x[4] = in.wrote("noComplete") ? 0 : 1;
  return &arrive;
}

Handler mbarrier_expect_tx(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.read("tx", Type::u32);
  return [](Warp& warp, const Step& step, Mask mask) {
    return each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
      return mbarrier::expect(by, warp.slot<std::uint32_t>(step.x[0])[by.lane]);
    });
  };
}

Handler mbarrier_complete_tx(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.read("tx", Type::u32);
  return [](Warp& warp, const Step& step, Mask mask) {
    return each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
      return mbarrier::complete(by, warp.slot<std::uint32_t>(step.x[0])[by.lane]);
    });
  };
}

// The primary and the conditional phase of an mbarrier of layout v0, the only one here, complete in unison (manual:
// "mbarrier.test_wait").
Handler mbarrier_wait(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.write_pred("p");
  in.step.x[2] = in.write_pred("report");
  if (in.given("parity")) {
    in.step.x[1] = in.read("parity", Type::u32);
    return &wait<true>;
  }
  in.step.x[1] = in.read("state", Type::u64);
  return &wait<false>;
}

Handler mbarrier_pending_count(Decoding& in) {
  in.step.x[0] = in.write("d", Type::u32);
  in.step.x[1] = in.read("state", Type::u64);
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* states = warp.slot<std::uint64_t>(step.x[1]);
    auto* counts = warp.slot<std::uint32_t>(step.x[0]);
    for (Mask left = mask; left != 0; left &= left - 1) {
      const int lane = lowest_lane(left);
      const auto count = mbarrier::pending_count(states[lane]);
      if (!count)
        return warp.fail(step, lane, Rule::M_08,
                         cat("is given the state 0x", hex(states[lane]), ", which no arrival has returned"));
      counts[lane] = *count;
    }
    return Outcome::next;
  };
}

Handler cp_async_mbarrier_arrive(Decoding& in) {
  read_mbarrier(in);
  in.step.x[0] = in.has("noinc") ? 0 : 1;
  return [](Warp& warp, const Step& step, Mask mask) {
    return each_lane(warp, step, mask, [&](const mbarrier::Operator& by) {
      if (step.x[0] != 0 && !mbarrier::count_in(by)) return false;
      return async::begin(warp, step, by.lane, {async::Arrive{}, async::Location{by.space, by.address}});
    });
  };
}

}  // namespace op
}  // namespace ptx::vgpu

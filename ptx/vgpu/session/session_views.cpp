// What a session shows of a run that has stopped.
#include <algorithm>
#include <bit>

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/session/session.hpp"

namespace ptx::vgpu {
namespace {

std::string say_barrier(const Warp& warp, std::uint32_t key) {
  const Cta& cta = *warp.cta;
  if (key == cluster_wait)
    return cat("the cluster's barrier: ", cta.cluster->came_warps, " of ", cta.cluster->live_warps, " warps have come");
  if (key >= barrier_count) return "the cluster's barrier";
  const Barrier& barrier = cta.barriers[key];
  const std::uint32_t want = barrier.expected_threads != 0 ? barrier.expected_threads : cta.live_warps * lane_count;
  return cat("barrier ", key, ": ", barrier.arrived_warps * lane_count, " of ", want, " threads have come");
}

std::string say_wait(const Warp& warp, const LaneGroup& group) {
  switch (group.wait) {
    case Wait::none:
      break;
    case Wait::converge:
      return cat("the other live lanes of the warp: ", say_lanes(warp.live & ~group.mask));
    case Wait::members:
      return cat("lanes of membermask 0x", hex(group.key, 8));
    case Wait::barrier:
    case Wait::arrived:
      return say_barrier(warp, group.key);
  }
  return {};
}

// The phase that a warp asked for last and that is not complete.
const LiveMbarrier* awaited(const Warp& warp) {
  if (warp.live == 0 || warp.polled == never_polled) return nullptr;
  const ir::Inst& inst = warp.cta->launch->code.function->body[warp.polled];
  if (isa::form(inst.form).row->effects.sync != isa::Sync::mbarrier) return nullptr;
  const auto live = warp.cta->mbarriers.find(warp.awaited.address);
  return live != warp.cta->mbarriers.end() && live->second.phase == warp.awaited.phase ? &live->second : nullptr;
}

// "phase 3 of full, which lacks 1 of 2 arrivals and 128 bytes"
std::string say_question(const Warp& warp, const LiveMbarrier& barrier) {
  const mbarrier::Lacks lacks = mbarrier::lacks(barrier.word);
  return cat("phase ", barrier.phase, " of ", name_of_shared(warp.cta->launch->code, warp.awaited.address), ", which lacks ",
             lacks.pending, " of ", lacks.expected, " arrivals",
             lacks.bytes > 0 ? cat(" and ", lacks.bytes, " bytes") : std::string());
}

}  // namespace

Warp* Session::focused() const {
  if (!focus_ || launch_ == nullptr) return nullptr;
  for (Cluster* cluster : clusters_)
    for (Cta& cta : cluster->blocks)
      if (cta.index == focus_->first && focus_->second < cta.warps.size()) return &cta.warps[focus_->second];
  return nullptr;
}

bool Session::focus(const std::array<std::uint32_t, 3>& block, std::uint32_t warp) {
  for (Cluster* cluster : clusters_)
    for (Cta& cta : cluster->blocks)
      if (cta.id == block && warp < cta.warps.size()) {
        focus_ = {cta.index, warp};
        return true;
      }
  return false;
}

std::vector<WarpView> Session::warps() const {
  std::vector<WarpView> views;
  const Warp* const focus = focused();
  for (const Cluster* cluster : clusters_)
    for (const Cta& cta : cluster->blocks)
      for (const Warp& warp : cta.warps) {
        const Code& code = launch_->code;
        const auto add = [&](std::uint32_t lanes, std::string state, std::string waits, const Step* at) {
          WarpView view{.block = cta.id,
                        .warp = warp.index,
                        .lanes = lanes,
                        .state = std::move(state),
                        .waits = std::move(waits),
                        .ptx_line = 0,
                        .instruction = {},
                        .where = {},
                        .focused = &warp == focus};
          if (at != nullptr) {
            view.ptx_line = code.ptx_line(at->item);
            view.instruction = code.line(at->item);
            view.where = authors_place(code, at->item);
          }
          views.push_back(std::move(view));
        };
        if (warp.live == 0) {
          add(0, "ended", {}, nullptr);
          continue;
        }
        const LiveMbarrier* const phase = awaited(warp);
        const bool alone = warp.others.size() + (warp.active != 0 ? 1 : 0) == 1;
        // Of several groups of lanes that one asks which stands there.
        const auto asks = [&](const Step& at) { return phase != nullptr && (alone || at.item == warp.polled); };
        const std::string question = phase == nullptr ? std::string() : say_question(warp, *phase);
        if (warp.active != 0) {
          const Step* at = &warp == stopped_warp_ && stopped_step_ != nullptr ? stopped_step_ : &code.steps[warp.pc];
          const bool runs = &warp == stopped_warp_;
          add(warp.active, runs ? "runs" : asks(*at) ? "asks" : "ready", asks(*at) && !runs ? question : std::string(), at);
        }
        for (const LaneGroup& group : warp.others) {
          const bool waits = group.wait != Wait::none;
          const Step* at = &code.steps[group.pc];
          while (!at->is_instruction && at != &code.steps.back()) ++at;
          add(group.mask,
              waits       ? "waits"
              : asks(*at) ? "asks"
                          : "ready",
              waits       ? say_wait(warp, group)
              : asks(*at) ? question
                          : std::string(),
              at);
        }
      }
  return views;
}

// Nothing: the kernel does not use it.
std::optional<RegisterView> Session::register_of(const Warp& warp, std::uint32_t scalar) const {
  const Code& code = launch_->code;
  const ScalarSlot& slot = code.scalar_slots[scalar];
  if (slot.offset == no_slot) return std::nullopt;
  RegisterView view;
  view.name = code.scalar_name(scalar);
  const auto reg = std::upper_bound(code.first_scalar.begin(), code.first_scalar.end(), scalar) - code.first_scalar.begin() - 1;
  if (scalar < code.first_scalar.back()) view.type = code.function->regs[static_cast<std::size_t>(reg)].type;
  view.bits = slot.bits;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (slot.bits == 1) {
      view.low[lane] = warp.pred(slot.offset) >> lane & 1u;
    } else if (slot.bits <= 32) {
      view.low[lane] = warp.slot<std::uint32_t>(slot.offset)[lane];
      if (slot.bits < 32) view.low[lane] &= (std::uint64_t{1} << slot.bits) - 1;
    } else {
      view.low[lane] = warp.slot<std::uint64_t>(slot.offset)[lane];
      if (slot.bits == 128) view.high[lane] = warp.slot<std::uint64_t>(slot.offset)[lane_count + lane];
    }
  }
  const auto written = written_.find({warp.cta->index, warp.index});
  view.undefined = written == written_.end() || scalar >= written->second.size() ? ~Mask{0} : ~written->second[scalar];
  if (warp.traced && scalar < warp.undefined.size()) view.undefined |= warp.undefined[scalar];
  return view;
}

std::vector<RegisterView> Session::registers() const {
  const Warp* const warp = focused();
  if (warp == nullptr) return {};
  std::vector<RegisterView> views;
  for (std::uint32_t scalar = 0; scalar < launch_->code.scalar_slots.size(); ++scalar)
    if (auto view = register_of(*warp, scalar)) views.push_back(*std::move(view));
  return views;
}

std::vector<SharedView> Session::shared_variables() const {
  const Warp* const warp = focused();
  if (warp == nullptr) return {};
  const std::uint64_t base = warp->cta->shared_region.begin, size = warp->cta->shared_region.size;
  std::vector<SharedView> views{{"", base, size}};
  for (const SharedVariable& variable : launch_->code.shared_variables) {
    const std::uint64_t offset = variable.begin;
    views.push_back({variable.name, base + offset, variable.bytes != 0 ? variable.bytes : size - std::min(size, offset)});
  }
  return views;
}

std::optional<Session::SharedBytes> Session::shared(std::uint64_t address, std::uint64_t bytes, layout::Swizzle swizzle) const {
  const Warp* const warp = focused();
  if (warp == nullptr || !warp->cta->shared_region.contains(address, bytes)) return std::nullopt;
  const MemoryRegion& region = warp->cta->shared_region;
  SharedBytes read;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    const std::uint64_t at = layout::swizzled(swizzle, address + i);
    if (!region.contains(at, 1)) return std::nullopt;
    read.data.push_back(region.data[at - region.begin]);
    read.written.push_back(region.written == nullptr || region.written[at - region.begin] == written_mark);
  }
  return read;
}

std::vector<MbarrierView> Session::mbarriers() const {
  std::vector<MbarrierView> views;
  for (const Cluster* cluster : clusters_)
    for (const Cta& cta : cluster->blocks) {
      if (cta.live_warps == 0) continue;
      for (const auto& [address, live] : cta.mbarriers) {
        const mbarrier::Lacks lacks = mbarrier::lacks(live.word);
        MbarrierView view{.block = cta.id,
                          .name = name_of_shared(launch_->code, address),
                          .address = address,
                          .phase = live.phase,
                          .expected = lacks.expected,
                          .pending = lacks.pending,
                          .bytes = lacks.bytes,
                          .waiting = {}};
        for (const Warp& warp : cta.warps)
          if (awaited(warp) == &live) view.waiting.push_back(cat("warp ", warp.index, " for phase ", warp.awaited.phase));
        views.push_back(std::move(view));
      }
    }
  return views;
}

std::vector<std::array<std::uint32_t, 128>> Session::tensor_memory(std::uint32_t first, std::uint32_t columns) const {
  const Warp* const warp = focused();
  if (warp == nullptr) return {};
  TensorMemory& memory = warp->cta->tensor_memory;
  if (memory.allocations().empty() || first >= layout::tensor_columns) return {};
  std::vector<std::array<std::uint32_t, 128>> cells(std::min<std::uint32_t>(columns, layout::tensor_columns - first));
  for (std::size_t column = 0; column < cells.size(); ++column)
    for (int lane = 0; lane < 128; ++lane)
      cells[column][static_cast<std::size_t>(lane)] = memory.cell(lane, static_cast<int>(first) + static_cast<int>(column));
  return cells;
}

}  // namespace ptx::vgpu

// setmaxnreg (rows: ptx/isa/table/control.hpp). A warp's registers are there from the start, and what they hold stays; followed
// is how many a thread may have, and who waits for more. An H200 was asked: the registers are the CTA's own pool, and a warpgroup
// waits until others have given back as many as it asks for (docs/facts.md).
#include "ptx/vgpu/machine/register_pool.hpp"

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

// The warps of a warpgroup do the same one after the other; false: a fault was recorded.
bool is_of_its_warpgroup(Warp& warp, const Step& step, std::uint32_t registers, bool takes) {
  std::vector<std::vector<RegisterPool::Request>>& all = warp.cta->register_pool.requests;
  all.resize((warp.cta->warps.size() + warps_of_group - 1) / warps_of_group);
  std::vector<RegisterPool::Request>& requests = all[warp.index / warps_of_group];
  if (warp.register_requests == requests.size()) requests.push_back({step.item, registers, takes});
  const RegisterPool::Request& first = requests[warp.register_requests];
  if (first.registers == registers && first.takes == takes) return true;
  warp.fail(
      step, 0, Rule::V_05,
      cat("sets ", registers, " registers where another warp of its warpgroup sets ", first.registers, ": all four do the same"),
      {cat("the other: ", warp.cta->launch->code.line(first.item))});
  return false;
}

// x[0] = registers of a thread, x[1] = whether they are taken
Outcome set_registers(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const std::uint32_t before = warp.thread_registers;
  if (before == 0) return Outcome::next;  // ptxas passes over it
  std::uint32_t& spare = warp.cta->register_pool.spare;
  const bool takes = step.x[1] != 0;
  if (warp.awaited_registers == 0 && !is_of_its_warpgroup(warp, step, step.x[0], takes)) return Outcome::fault;
  if (warp.awaited_registers == 0 && warp.races != nullptr) warp.races->set_registers(warp, step);
  if (takes && step.x[0] > before + spare) {
    warp.awaited_registers = step.x[0];
    return ask_again(warp, step);
  }
  if (takes ? step.x[0] > before : step.x[0] < before) {
    spare = spare + before - step.x[0];
    warp.thread_registers = step.x[0];
  }
  warp.awaited_registers = 0;
  ++warp.register_requests;
  ++warp.cta->changes;
  return Outcome::next;
}

}  // namespace

bool all_have_set_registers(Warp& last) {
  const Cta& cta = *last.cta;
  for (const Warp& warp : cta.warps) {
    if (cta.register_pool.requests.empty()) break;
    const std::vector<RegisterPool::Request>& requests = cta.register_pool.requests[warp.index / warps_of_group];
    if (warp.register_requests == requests.size()) continue;
    Step step;
    step.item = requests[warp.register_requests].item;
    last.fail(step, 0, Rule::V_05,
              cat("is not executed by warp ", warp.index, ", as it is by others of its warpgroup: all four do the same"));
    return false;
  }
  return true;
}

std::string say_awaited_registers(const Warp& warp) {
  return cat(warp.awaited_registers, " registers a thread: it has ", warp.thread_registers, ", and its block has ",
             warp.cta->register_pool.spare, " to spare for the threads of a warp");
}

namespace op {

Handler setmaxnreg(Decoding& in) {
  in.step.x[0] = static_cast<std::uint32_t>(in.immediate("n").value_or(0));
  in.step.x[1] = in.wrote("inc") ? 1 : 0;
  return &set_registers;
}

}  // namespace op
}  // namespace ptx::vgpu

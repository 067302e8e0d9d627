// Accesses of tensor memory, and what orders them (manual: "Memory Consistency Model for 5th generation of TensorCore
// operations").
//
// All of them are asynchronous. Products and copies are done one after the other; of any other two the second comes after the
// first where somebody has waited for the first: tcgen05.wait for the warp's own loads and stores, tcgen05.commit and its
// mbarrier for what the tensor cores do. Between threads a tcgen05.fence stands on each side of what orders them.
#include <algorithm>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::races {
namespace {

constexpr std::size_t most_loads_of_cell = 64;  // of a cell that are remembered

bool is_of_cores(TensorUse use) { return use == TensorUse::product || use == TensorUse::copy; }

std::string_view say_use(TensorUse use, bool is_store) {
  switch (use) {
    case TensorUse::load:
      return "loads";
    case TensorUse::store:
    case TensorUse::copy:
      return "stores to";
    case TensorUse::product:
      return is_store ? "stores to" : "reads";
    case TensorUse::give_back:
      return "gives back";
  }
  return "accesses";
}

std::string_view wait_for(TensorUse use) {
  if (use == TensorUse::load) return "tcgen05.wait::ld in the warp of the first";
  if (use == TensorUse::store) return "tcgen05.wait::st in the warp of the first";
  return "tcgen05.commit behind the first, and a wait at its mbarrier before the second";
}

}  // namespace

TensorShadow::Cell& TensorShadow::at(int lane, int column) {
  constexpr auto parts = static_cast<std::size_t>(layout::tensor_lanes / lanes);
  if (cells.empty()) cells.resize(parts * layout::tensor_columns);
  return cells[static_cast<std::size_t>(column) * parts + static_cast<std::size_t>(lane / lanes)];
}

void Detector::access_tensor_memory(Warp& warp, const Step& step, Mask lanes, const Cta& of, TensorUse use, bool is_store,
                                    const TensorRange& range) {
  ClusterKnowledge& all = state(*of.cluster);
  WarpState& mine = state(warp);
  const auto agent_of = [&](Agent& agent) {
    if (agent.cluster == 0) agent = {all.number, all.agents++};
    return agent;
  };
  TensorAccess now{access_by(warp, step, lanes, is_store), 0, use};
  now.begun = now.access.clock;
  if (use == TensorUse::load) {
    now.access.agent = agent_of(mine.tensor_loads), now.access.clock = mine.tensor_loads_done + 1;
  } else if (use == TensorUse::store) {
    now.access.agent = agent_of(mine.tensor_stores), now.access.clock = mine.tensor_stores_done + 1;
  } else if (is_of_cores(use)) {
    now.access.agent = mine.tensor, now.access.clock = mine.tensor_closed + 1;
  }
  TensorShadow& shadow = all.tensor[of.rank];
  const int first = range.lane - range.lane % TensorShadow::lanes;
  for (int column = range.column; column < range.column + range.columns; ++column)
    for (int lane = first; lane < range.lane + range.lanes; lane += TensorShadow::lanes) {
      TensorShadow::Cell& cell = shadow.at(lane, column);
      if (cell.store.access.agent.cluster != 0) hold_against(warp, step, lanes, of, cell.store, now, lane, column);
      if (is_store) {
        for (const TensorAccess& load : cell.loads) hold_against(warp, step, lanes, of, load, now, lane, column);
        cell.loads.clear();
        cell.store = now;
        continue;
      }
      const auto same = std::find_if(cell.loads.begin(), cell.loads.end(), [&](const TensorAccess& load) {
        return load.access.agent == now.access.agent && load.access.item == now.access.item;
      });
      if (same != cell.loads.end())
        *same = now;
      else if (cell.loads.size() < most_loads_of_cell)
        cell.loads.push_back(now);
    }
}

void Detector::hold_against(Warp& warp, const Step& step, Mask lanes, const Cta& of, const TensorAccess& before,
                            const TensorAccess& now, int lane, int column) {
  WarpState& mine = state(warp);
  const bool own = before.access.warp == now.access.warp;
  // Of one that need only have begun, the warp's time says so.
  Access first = before.access;
  if (is_of_cores(before.use) && is_of_cores(now.use)) {
    if (own) return;
    first.agent.number = before.access.warp, first.clock = before.begun;
  }
  const bool synchronous = before.use == TensorUse::give_back;
  if (own && synchronous) return;
  if (!reaches(judge_of(mine, lanes), first, &Knowledge::happened))
    return found_in_tensor_memory(warp, step, false, of, before, now, lane, column);
  // A program without these fences relies on what orders all other accesses, which the manual says holds here, too.
  const bool fenced = synchronous || now.use == TensorUse::give_back || (own && !is_of_cores(before.use)) ||
                      mine.behind_tensor_fence.reaches(first.agent, first.clock, first.lanes);
  if (fences_tensor_memory_ && !fenced) found_in_tensor_memory(warp, step, true, of, before, now, lane, column);
}

// Whether a register of a tcgen05.ld is read behind it before anything orders other accesses. ptxas 13.0 waits for the load
// there: of tcgen05.wait::ld it makes an empty instruction that waits for the same (docs/facts.md).
bool Detector::uses_what_it_loads(std::uint32_t item) const {
  const auto scalars = [&](std::uint32_t first, std::uint32_t count) { return std::span(code_.traced).subspan(first, count); };
  const Trace& load = code_.traces[item];
  const auto loaded = scalars(load.first + load.needs + load.values, load.results);
  const auto& body = code_.function->body;
  for (std::uint32_t next = item + 1; next < body.size(); ++next) {
    if (body[next].kind != ir::ItemKind::inst) continue;
    const isa::Effects& does = effects(next);
    if (does.sync != isa::Sync::none && does.sync != isa::Sync::access) return false;
    const Trace& trace = code_.traces[next];
    for (const std::uint32_t scalar : scalars(trace.first, std::uint32_t{trace.needs} + trace.values))
      if (scalar != no_scalar && std::find(loaded.begin(), loaded.end(), scalar) != loaded.end()) return true;
  }
  return false;
}

void Detector::found_in_tensor_memory(Warp& warp, const Step& step, bool complete, const Cta& of, const TensorAccess& before,
                                      const TensorAccess& now, int lane, int column) {
  const Rule rule = complete ? Rule::K_06 : Rule::K_07;
  const Findings::Key key(rule, before.access.item, now.access.item);
  if (!findings_.is_new(key)) return;
  const std::size_t warps = of.cluster->blocks.front().warps.size();
  const std::string cells =
      cat("lanes ", lane, " to ", lane + TensorShadow::lanes - 1, " of column ", column, " of tensor memory");
  const std::string did = cat("warp ", before.access.warp % warps, ' ', say_use(before.use, before.access.is_store),
                              " there by `", code_.spell(before.access.item), "`");
  Fault fault = fault_of(rule, step.item, lowest_lane(now.access.lanes));
  fault.message = complete ? cat(say_use(now.use, now.access.is_store), ' ', cells, ", and of what ", did,
                                 ", nothing tells it through the fences of tcgen05")
                           : cat(say_use(now.use, now.access.is_store), ' ', cells, ", and nothing says that what ", did,
                                 is_of_cores(before.use) && is_of_cores(now.use) ? " has begun" : " is complete");
  const auto access_at = [&](const TensorAccess& access) {
    return ExecutionPoint::Access{.is_store = access.access.is_store,
                                  .address = static_cast<std::uint64_t>(lane) << 16 | static_cast<std::uint64_t>(column),
                                  .bytes = 4,
                                  .space = "tensor",
                                  .region = "tensor memory",
                                  .element = cat("lane ", lane, ", column ", column)};
  };
  const bool is_used = !complete && before.use == TensorUse::load && uses_what_it_loads(before.access.item);
  Diagnostic d = report_both(warp, fault, is_used ? Severity::warning : row(rule).severity, before.access, access_at(before));
  if (is_used)
    d.note(
        "value: registers that it loads are used behind it, and ptxas has that use wait for them; the manual asks for "
        "tcgen05.wait::ld");
  d.execution.front().access = access_at(now);
  if (complete)
    d.hint(row(rule).mend);
  else
    d.hint(
        cat(wait_for(before.use), before.access.warp == now.access.warp ? "" : "; and a barrier or an mbarrier between the two"));
  findings_.add(key, std::move(d));
}

void Detector::allocate_with_pair(Warp& warp, const Step& step) {
  state(*warp.cta->cluster).pair_allocations[warp.cta->rank] = access_by(warp, step, warp.live, true);
}

// A block that gives tensor memory back before the other one has its own ends the launch with an error, whatever columns they
// are: seen on a B300 whenever the block of rank 1 came 10 us late (CUTLASS issue 3435). Both ask before either gets any here.
void Detector::give_back_with_pair(Warp& warp, const Step& step, const Cta& peer) {
  const Access& taken = state(*peer.cluster).pair_allocations[peer.rank];
  if (taken.agent.cluster == 0 || reaches(judge_of(state(warp), warp.live), taken, &Knowledge::happened)) return;
  const Findings::Key key(Rule::K_08, taken.item, step.item);
  if (!findings_.is_new(key)) return;
  Fault fault = fault_of(Rule::K_08, step.item);
  fault.message = cat("gives tensor memory back, and nothing says that rank ", peer.rank,
                      " of the cluster has taken its own by `", code_.spell(taken.item), "`");
  Diagnostic d = report_both(warp, fault, row(Rule::K_08).severity, taken, {.is_store = true, .space = "tensor"});
  d.hint(row(Rule::K_08).mend);
  findings_.add(key, std::move(d));
}

}  // namespace ptx::vgpu::races

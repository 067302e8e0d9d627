#include "ptx/vgpu/machine/specials.hpp"

#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/occupancy.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t warps_of_multiprocessor = 64;

const LaunchConfig& config(const Warp& w) { return w.cta->launch->config; }
std::uint32_t thread(const Warp& w, std::uint32_t lane) { return w.index * lane_count + lane; }
std::uint64_t own_shared_bytes(const Warp& w) {
  return w.cta->shared_region.size - (reads_reserved_memory(w.cta->launch->code) ? shared_base : 0);
}
constexpr Mask bit(std::uint32_t lane) { return Mask{1} << lane; }

using Lane = std::uint32_t;

constexpr SpecialValue special_values[] = {
    {"%tid.x", true, false, [](const Warp& w, Lane l) -> std::uint64_t { return thread(w, l) % config(w).block[0]; }},
    {"%tid.y", true, false,
     [](const Warp& w, Lane l) -> std::uint64_t { return thread(w, l) / config(w).block[0] % config(w).block[1]; }},
    {"%tid.z", true, false,
     [](const Warp& w, Lane l) -> std::uint64_t { return thread(w, l) / config(w).block[0] / config(w).block[1]; }},
    {"%ntid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).block[0]; }},
    {"%ntid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).block[1]; }},
    {"%ntid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).block[2]; }},
    {"%laneid", true, false, [](const Warp&, Lane l) -> std::uint64_t { return l; }},
    {"%warpid", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.index; }},
    {"%nwarpid", false, false, [](const Warp&, Lane) -> std::uint64_t { return warps_of_multiprocessor; }},
    {"%ctaid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[0]; }},
    {"%ctaid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[1]; }},
    {"%ctaid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[2]; }},
    {"%nctaid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[0]; }},
    {"%nctaid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[1]; }},
    {"%nctaid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[2]; }},
    {"%smid", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->index % multiprocessors; }},
    {"%nsmid", false, false, [](const Warp&, Lane) -> std::uint64_t { return multiprocessors; }},
    {"%gridid", false, false, [](const Warp&, Lane) -> std::uint64_t { return 1; }},
    {"%clusterid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->cluster->id[0]; }},
    {"%clusterid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->cluster->id[1]; }},
    {"%clusterid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->cluster->id[2]; }},
    {"%nclusterid.x", false, false,
     [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[0] / config(w).cluster[0]; }},
    {"%nclusterid.y", false, false,
     [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[1] / config(w).cluster[1]; }},
    {"%nclusterid.z", false, false,
     [](const Warp& w, Lane) -> std::uint64_t { return config(w).grid[2] / config(w).cluster[2]; }},
    {"%cluster_ctaid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[0] % config(w).cluster[0]; }},
    {"%cluster_ctaid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[1] % config(w).cluster[1]; }},
    {"%cluster_ctaid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->id[2] % config(w).cluster[2]; }},
    {"%cluster_nctaid.x", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).cluster[0]; }},
    {"%cluster_nctaid.y", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).cluster[1]; }},
    {"%cluster_nctaid.z", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).cluster[2]; }},
    {"%cluster_ctarank", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->rank; }},
    {"%cluster_nctarank", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->cluster->blocks.size(); }},
    {"%lanemask_eq", true, false, [](const Warp&, Lane l) -> std::uint64_t { return bit(l); }},
    {"%lanemask_le", true, false, [](const Warp&, Lane l) -> std::uint64_t { return bit(l) | (bit(l) - 1); }},
    {"%lanemask_lt", true, false, [](const Warp&, Lane l) -> std::uint64_t { return bit(l) - 1; }},
    {"%lanemask_ge", true, false, [](const Warp&, Lane l) -> std::uint64_t { return ~(bit(l) - 1); }},
    {"%lanemask_gt", true, false, [](const Warp&, Lane l) -> std::uint64_t { return ~(bit(l) | (bit(l) - 1)); }},
    {"%clock", false, true, nullptr},
    {"%clock_hi", false, true, nullptr},
    {"%clock64", false, true, nullptr},
    {"%globaltimer", false, true, nullptr},
    {"%globaltimer_lo", false, true, nullptr},
    {"%globaltimer_hi", false, true, nullptr},
    {"%total_smem_size", false, false, [](const Warp& w, Lane) -> std::uint64_t { return own_shared_bytes(w); }},
    {"%aggr_smem_size", false, false, [](const Warp& w, Lane) -> std::uint64_t { return own_shared_bytes(w) + shared_base; }},
    {"%dynamic_smem_size", false, false, [](const Warp& w, Lane) -> std::uint64_t { return config(w).dynamic_smem_bytes; }},
    {"%reserved_smem_offset_begin", false, false, [](const Warp&, Lane) -> std::uint64_t { return 0; }},
    {"%reserved_smem_offset_end", false, false, [](const Warp&, Lane) -> std::uint64_t { return shared_base; }},
    {"%reserved_smem_offset_cap", false, false, [](const Warp&, Lane) -> std::uint64_t { return shared_base; }},
    {"%reserved_smem_offset_0", false, false, [](const Warp&, Lane) -> std::uint64_t { return 0; }},
    {"%reserved_smem_offset_1", false, false, [](const Warp&, Lane) -> std::uint64_t { return 0; }},
    {"%envreg1", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->launch->grid_workspace >> 32; }},
    {"%envreg2", false, false, [](const Warp& w, Lane) -> std::uint64_t { return w.cta->launch->grid_workspace & 0xFFFF'FFFF; }},
    {"%current_graph_exec", false, false, [](const Warp&, Lane) -> std::uint64_t { return 0; }},
};

// The fourth elements, performance counters that nobody sets up, and what a driver would pass.
constexpr SpecialValue always_zero{"", false, false, [](const Warp&, Lane) -> std::uint64_t { return 0; }};
bool is_always_zero(std::string_view name) {
  return name.ends_with(".w") || name.starts_with("%pm") || name.starts_with("%envreg");
}

}  // namespace

const SpecialValue* special_value(isa::SpecialId id) {
  const auto* found = std::find_if(std::begin(special_values), std::end(special_values),
                                   [&](const SpecialValue& v) { return v.name == isa::specials()[id].name; });
  if (found != std::end(special_values)) return found;
  return is_always_zero(isa::specials()[id].name) ? &always_zero : nullptr;
}

bool reads_reserved_memory(const Code& code) {
  return std::any_of(code.specials.begin(), code.specials.end(), [](const SpecialSlot& special) {
    return special.value->name == "%reserved_smem_offset_0" || special.value->name == "%reserved_smem_offset_1";
  });
}

void fill_specials(Warp& warp) {
  for (const SpecialSlot& special : warp.cta->launch->code.specials)
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
      const std::uint64_t value = special.value->value(warp, special.value->by_lane ? lane : 0);
      if (special.wide)
        warp.slot<std::uint64_t>(special.offset)[lane] = value;
      else
        warp.slot<std::uint32_t>(special.offset)[lane] = static_cast<std::uint32_t>(value);
    }
}

std::uint64_t time_at(const Warp& warp, const Step& step) {
  return warp.cta->executed + (warp.executed - warp.turn_start) + (step.ordinal - warp.segment_start);
}

}  // namespace ptx::vgpu

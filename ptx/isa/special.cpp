#include "ptx/isa/special.hpp"

#include <array>
#include <map>

#include "ptx/isa/row.hpp"

namespace ptx::isa {
namespace {

constexpr TargetSet all = node(Target::sm_10);
constexpr TargetSet hopper = node(Target::sm_90);

constexpr Special all_specials[] = {
    {"%tid", Type::b128, {1, 0}, all, "thread index in the CTA: x, y, z and 0"},
    {"%tid.x", Type::u32, {1, 0}, all, "thread index in the CTA, x"},
    {"%tid.y", Type::u32, {1, 0}, all, "thread index in the CTA, y"},
    {"%tid.z", Type::u32, {1, 0}, all, "thread index in the CTA, z"},
    {"%tid.w", Type::u32, {1, 0}, all, "always 0"},
    {"%ntid", Type::b128, {1, 0}, all, "threads of a CTA: x, y, z and 0"},
    {"%ntid.x", Type::u32, {1, 0}, all, "threads of a CTA, x"},
    {"%ntid.y", Type::u32, {1, 0}, all, "threads of a CTA, y"},
    {"%ntid.z", Type::u32, {1, 0}, all, "threads of a CTA, z"},
    {"%ntid.w", Type::u32, {1, 0}, all, "always 0"},
    {"%laneid", Type::u32, {1, 3}, all, "lane of the warp, 0 to 31"},
    {"%warpid", Type::u32, {1, 3}, all, "warp of the CTA; volatile"},
    {"%nwarpid", Type::u32, {2, 0}, node(Target::sm_20), "largest number of warps"},
    {"%ctaid", Type::b128, {1, 0}, all, "CTA index in the grid: x, y, z and 0"},
    {"%ctaid.x", Type::u32, {1, 0}, all, "CTA index in the grid, x"},
    {"%ctaid.y", Type::u32, {1, 0}, all, "CTA index in the grid, y"},
    {"%ctaid.z", Type::u32, {1, 0}, all, "CTA index in the grid, z"},
    {"%ctaid.w", Type::u32, {1, 0}, all, "always 0"},
    {"%nctaid", Type::b128, {1, 0}, all, "CTAs of the grid: x, y, z and 0"},
    {"%nctaid.x", Type::u32, {1, 0}, all, "CTAs of the grid, x"},
    {"%nctaid.y", Type::u32, {1, 0}, all, "CTAs of the grid, y"},
    {"%nctaid.z", Type::u32, {1, 0}, all, "CTAs of the grid, z"},
    {"%nctaid.w", Type::u32, {1, 0}, all, "always 0"},
    {"%smid", Type::u32, {1, 3}, all, "multiprocessor that runs the thread; volatile"},
    {"%nsmid", Type::u32, {2, 0}, node(Target::sm_20), "largest number of multiprocessors"},
    {"%gridid", Type::u64, {1, 0}, all, "identifier of the grid"},
    {"%is_explicit_cluster", Type::pred, {7, 8}, hopper, "true when a cluster launch was asked for"},
    {"%clusterid", Type::b128, {7, 8}, hopper, "cluster index in the grid: x, y, z and 0"},
    {"%clusterid.x", Type::u32, {7, 8}, hopper, "cluster index in the grid, x"},
    {"%clusterid.y", Type::u32, {7, 8}, hopper, "cluster index in the grid, y"},
    {"%clusterid.z", Type::u32, {7, 8}, hopper, "cluster index in the grid, z"},
    {"%clusterid.w", Type::u32, {7, 8}, hopper, "always 0"},
    {"%nclusterid", Type::b128, {7, 8}, hopper, "clusters of the grid: x, y, z and 0"},
    {"%nclusterid.x", Type::u32, {7, 8}, hopper, "clusters of the grid, x"},
    {"%nclusterid.y", Type::u32, {7, 8}, hopper, "clusters of the grid, y"},
    {"%nclusterid.z", Type::u32, {7, 8}, hopper, "clusters of the grid, z"},
    {"%nclusterid.w", Type::u32, {7, 8}, hopper, "always 0"},
    {"%cluster_ctaid", Type::b128, {7, 8}, hopper, "CTA index in the cluster: x, y, z and 0"},
    {"%cluster_ctaid.x", Type::u32, {7, 8}, hopper, "CTA index in the cluster, x"},
    {"%cluster_ctaid.y", Type::u32, {7, 8}, hopper, "CTA index in the cluster, y"},
    {"%cluster_ctaid.z", Type::u32, {7, 8}, hopper, "CTA index in the cluster, z"},
    {"%cluster_ctaid.w", Type::u32, {7, 8}, hopper, "always 0"},
    {"%cluster_nctaid", Type::b128, {7, 8}, hopper, "CTAs of the cluster: x, y, z and 0"},
    {"%cluster_nctaid.x", Type::u32, {7, 8}, hopper, "CTAs of the cluster, x"},
    {"%cluster_nctaid.y", Type::u32, {7, 8}, hopper, "CTAs of the cluster, y"},
    {"%cluster_nctaid.z", Type::u32, {7, 8}, hopper, "CTAs of the cluster, z"},
    {"%cluster_nctaid.w", Type::u32, {7, 8}, hopper, "always 0"},
    {"%cluster_ctarank", Type::u32, {7, 8}, hopper, "rank of the CTA in its cluster"},
    {"%cluster_nctarank", Type::u32, {7, 8}, hopper, "CTAs of the cluster"},
    {"%lanemask_eq", Type::u32, {2, 0}, node(Target::sm_20), "mask with this lane's bit"},
    {"%lanemask_le", Type::u32, {2, 0}, node(Target::sm_20), "mask of the lanes up to this one"},
    {"%lanemask_lt", Type::u32, {2, 0}, node(Target::sm_20), "mask of the lanes below this one"},
    {"%lanemask_ge", Type::u32, {2, 0}, node(Target::sm_20), "mask of the lanes from this one on"},
    {"%lanemask_gt", Type::u32, {2, 0}, node(Target::sm_20), "mask of the lanes above this one"},
    {"%clock", Type::u32, {1, 0}, all, "cycle counter, low 32 bits; volatile"},
    {"%clock_hi", Type::u32, {5, 0}, node(Target::sm_20), "cycle counter, high 32 bits; volatile"},
    {"%clock64", Type::u64, {2, 0}, node(Target::sm_20), "cycle counter; volatile"},
    {"%globaltimer", Type::u64, {3, 1}, node(Target::sm_30), "nanosecond timer; volatile"},
    {"%globaltimer_lo", Type::u32, {3, 1}, node(Target::sm_30), "nanosecond timer, low 32 bits; volatile"},
    {"%globaltimer_hi", Type::u32, {3, 1}, node(Target::sm_30), "nanosecond timer, high 32 bits; volatile"},
    {"%total_smem_size", Type::u32, {4, 1}, node(Target::sm_20), "shared memory of the CTA, bytes"},
    {"%aggr_smem_size", Type::u32, {8, 1}, hopper, "shared memory of the CTA with what the system reserves, bytes"},
    {"%dynamic_smem_size", Type::u32, {4, 1}, node(Target::sm_20), "dynamic shared memory of the CTA, bytes"},
    {"%reserved_smem_offset_begin", Type::u32, {7, 6}, node(Target::sm_80), "start of the reserved shared memory"},
    {"%reserved_smem_offset_end", Type::u32, {7, 6}, node(Target::sm_80), "end of the reserved shared memory"},
    {"%reserved_smem_offset_cap", Type::u32, {7, 6}, node(Target::sm_80), "size of the reserved shared memory"},
    {"%reserved_smem_offset_0", Type::u32, {7, 6}, node(Target::sm_80), "offset of a part of the reserved shared memory"},
    {"%reserved_smem_offset_1", Type::u32, {7, 6}, node(Target::sm_80), "offset of a part of the reserved shared memory"},
    {"%current_graph_exec", Type::u64, {8, 0}, node(Target::sm_50), "identifier of the running CUDA graph"},
    // Performance monitor counters, which a tool sets up, and what the driver passes to a kernel.
    {"%pm0", Type::u32, {1, 3}, all, "performance monitor counter 0; volatile"},
    {"%pm1", Type::u32, {1, 3}, all, "performance monitor counter 1; volatile"},
    {"%pm2", Type::u32, {1, 3}, all, "performance monitor counter 2; volatile"},
    {"%pm3", Type::u32, {1, 3}, all, "performance monitor counter 3; volatile"},
    {"%pm4", Type::u32, {3, 0}, node(Target::sm_20), "performance monitor counter 4; volatile"},
    {"%pm5", Type::u32, {3, 0}, node(Target::sm_20), "performance monitor counter 5; volatile"},
    {"%pm6", Type::u32, {3, 0}, node(Target::sm_20), "performance monitor counter 6; volatile"},
    {"%pm7", Type::u32, {3, 0}, node(Target::sm_20), "performance monitor counter 7; volatile"},
    {"%pm0_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 0, 64 bits; volatile"},
    {"%pm1_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 1, 64 bits; volatile"},
    {"%pm2_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 2, 64 bits; volatile"},
    {"%pm3_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 3, 64 bits; volatile"},
    {"%pm4_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 4, 64 bits; volatile"},
    {"%pm5_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 5, 64 bits; volatile"},
    {"%pm6_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 6, 64 bits; volatile"},
    {"%pm7_64", Type::u64, {4, 0}, node(Target::sm_50), "performance monitor counter 7, 64 bits; volatile"},
    {"%envreg0", Type::b32, {2, 1}, all, "value 0 that the driver passes"},
    {"%envreg1", Type::b32, {2, 1}, all, "value 1 that the driver passes"},
    {"%envreg2", Type::b32, {2, 1}, all, "value 2 that the driver passes"},
    {"%envreg3", Type::b32, {2, 1}, all, "value 3 that the driver passes"},
    {"%envreg4", Type::b32, {2, 1}, all, "value 4 that the driver passes"},
    {"%envreg5", Type::b32, {2, 1}, all, "value 5 that the driver passes"},
    {"%envreg6", Type::b32, {2, 1}, all, "value 6 that the driver passes"},
    {"%envreg7", Type::b32, {2, 1}, all, "value 7 that the driver passes"},
    {"%envreg8", Type::b32, {2, 1}, all, "value 8 that the driver passes"},
    {"%envreg9", Type::b32, {2, 1}, all, "value 9 that the driver passes"},
    {"%envreg10", Type::b32, {2, 1}, all, "value 10 that the driver passes"},
    {"%envreg11", Type::b32, {2, 1}, all, "value 11 that the driver passes"},
    {"%envreg12", Type::b32, {2, 1}, all, "value 12 that the driver passes"},
    {"%envreg13", Type::b32, {2, 1}, all, "value 13 that the driver passes"},
    {"%envreg14", Type::b32, {2, 1}, all, "value 14 that the driver passes"},
    {"%envreg15", Type::b32, {2, 1}, all, "value 15 that the driver passes"},
    {"%envreg16", Type::b32, {2, 1}, all, "value 16 that the driver passes"},
    {"%envreg17", Type::b32, {2, 1}, all, "value 17 that the driver passes"},
    {"%envreg18", Type::b32, {2, 1}, all, "value 18 that the driver passes"},
    {"%envreg19", Type::b32, {2, 1}, all, "value 19 that the driver passes"},
    {"%envreg20", Type::b32, {2, 1}, all, "value 20 that the driver passes"},
    {"%envreg21", Type::b32, {2, 1}, all, "value 21 that the driver passes"},
    {"%envreg22", Type::b32, {2, 1}, all, "value 22 that the driver passes"},
    {"%envreg23", Type::b32, {2, 1}, all, "value 23 that the driver passes"},
    {"%envreg24", Type::b32, {2, 1}, all, "value 24 that the driver passes"},
    {"%envreg25", Type::b32, {2, 1}, all, "value 25 that the driver passes"},
    {"%envreg26", Type::b32, {2, 1}, all, "value 26 that the driver passes"},
    {"%envreg27", Type::b32, {2, 1}, all, "value 27 that the driver passes"},
    {"%envreg28", Type::b32, {2, 1}, all, "value 28 that the driver passes"},
    {"%envreg29", Type::b32, {2, 1}, all, "value 29 that the driver passes"},
    {"%envreg30", Type::b32, {2, 1}, all, "value 30 that the driver passes"},
    {"%envreg31", Type::b32, {2, 1}, all, "value 31 that the driver passes"},
};

using Index = std::map<std::string_view, SpecialId>;

Index index_by_name() {
  Index index;
  for (std::size_t i = 0; i < std::size(all_specials); ++i) index.emplace(all_specials[i].name, static_cast<SpecialId>(i));
  return index;
}

}  // namespace

std::span<const Special> specials() { return all_specials; }

std::optional<SpecialId> special_from_name(std::string_view name) {
  static const Index& index = *new Index(index_by_name());  // never destroyed: used by other statics
  const auto it = index.find(name);
  return it == index.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace ptx::isa

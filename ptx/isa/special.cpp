#include "ptx/isa/special.hpp"

#include <array>
#include <map>

#include "ptx/isa/row.hpp"

namespace ptx::isa {
namespace {

constexpr TargetSet all = node(Target::sm_10);
constexpr TargetSet hopper = node(Target::sm_90);

constexpr Special table[] = {
    {"%tid.x", Type::u32, {1, 0}, all, "thread index in the CTA, x"},
    {"%tid.y", Type::u32, {1, 0}, all, "thread index in the CTA, y"},
    {"%tid.z", Type::u32, {1, 0}, all, "thread index in the CTA, z"},
    {"%ntid.x", Type::u32, {1, 0}, all, "threads of a CTA, x"},
    {"%ntid.y", Type::u32, {1, 0}, all, "threads of a CTA, y"},
    {"%ntid.z", Type::u32, {1, 0}, all, "threads of a CTA, z"},
    {"%laneid", Type::u32, {1, 3}, all, "lane of the warp, 0 to 31"},
    {"%warpid", Type::u32, {1, 3}, all, "warp of the CTA; volatile"},
    {"%nwarpid", Type::u32, {2, 0}, node(Target::sm_20), "largest number of warps"},
    {"%ctaid.x", Type::u32, {1, 0}, all, "CTA index in the grid, x"},
    {"%ctaid.y", Type::u32, {1, 0}, all, "CTA index in the grid, y"},
    {"%ctaid.z", Type::u32, {1, 0}, all, "CTA index in the grid, z"},
    {"%nctaid.x", Type::u32, {1, 0}, all, "CTAs of the grid, x"},
    {"%nctaid.y", Type::u32, {1, 0}, all, "CTAs of the grid, y"},
    {"%nctaid.z", Type::u32, {1, 0}, all, "CTAs of the grid, z"},
    {"%smid", Type::u32, {1, 3}, all, "multiprocessor that runs the thread; volatile"},
    {"%nsmid", Type::u32, {2, 0}, node(Target::sm_20), "largest number of multiprocessors"},
    {"%gridid", Type::u64, {1, 0}, all, "identifier of the grid"},
    {"%is_explicit_cluster", Type::pred, {7, 8}, hopper, "true when a cluster launch was asked for"},
    {"%clusterid.x", Type::u32, {7, 8}, hopper, "cluster index in the grid, x"},
    {"%clusterid.y", Type::u32, {7, 8}, hopper, "cluster index in the grid, y"},
    {"%clusterid.z", Type::u32, {7, 8}, hopper, "cluster index in the grid, z"},
    {"%nclusterid.x", Type::u32, {7, 8}, hopper, "clusters of the grid, x"},
    {"%nclusterid.y", Type::u32, {7, 8}, hopper, "clusters of the grid, y"},
    {"%nclusterid.z", Type::u32, {7, 8}, hopper, "clusters of the grid, z"},
    {"%cluster_ctaid.x", Type::u32, {7, 8}, hopper, "CTA index in the cluster, x"},
    {"%cluster_ctaid.y", Type::u32, {7, 8}, hopper, "CTA index in the cluster, y"},
    {"%cluster_ctaid.z", Type::u32, {7, 8}, hopper, "CTA index in the cluster, z"},
    {"%cluster_nctaid.x", Type::u32, {7, 8}, hopper, "CTAs of the cluster, x"},
    {"%cluster_nctaid.y", Type::u32, {7, 8}, hopper, "CTAs of the cluster, y"},
    {"%cluster_nctaid.z", Type::u32, {7, 8}, hopper, "CTAs of the cluster, z"},
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
    {"%current_graph_exec", Type::u64, {8, 0}, node(Target::sm_50), "identifier of the running CUDA graph"},
};

using Index = std::map<std::string_view, SpecialId>;

Index index_by_name() {
  Index index;
  for (std::size_t i = 0; i < std::size(table); ++i) index.emplace(table[i].name, static_cast<SpecialId>(i));
  return index;
}

}  // namespace

std::span<const Special> specials() { return table; }

std::optional<SpecialId> special_from_name(std::string_view name) {
  static const Index& index = *new Index(index_by_name());  // never destroyed: used by other statics
  const auto it = index.find(name);
  return it == index.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace ptx::isa

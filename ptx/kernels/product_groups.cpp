#include "ptx/kernels/product_groups.hpp"

namespace ptx::kernels::product {
namespace {
constexpr int warp_lanes = 32;
}

Groups::Groups(Kernel& kernel, const Recipe& recipe, const Of& of)
    : group(kernel.scalar<Type::u32>()),
      begin(kernel.scalar<Type::u32>()),
      end(kernel.scalar<Type::u32>()),
      inside(kernel.scalar<Type::u32>()),
      k(kernel),
      of_(of),
      rows_(recipe.swapped ? recipe.columns : recipe.rows * recipe.down),
      groups_(kernel.param<Type::u32>("G")),
      tiles_across_(kernel.scalar<Type::u32>()),
      chunk_(kernel.scalar<Type::u32>(0)),
      before_(kernel.scalar<Type::u32>(0)),
      ends_(kernel.global_ptrs("offsets")[0]),
      found_(kernel.scalar<Type::pred>()) {
  const int across = recipe.swapped ? recipe.rows : results(recipe) * recipe.across;
  const auto tiles = (of.n + (across - 1)) / across;
  k << inst.mov.u32(tiles_across_, tiles);
}

Reg<Type::pred> Groups::find(const std::string& label, const Reg<Type::u32>& tile) {
  k.loop(write::Name(std::string_view(label)), [&] {
    const auto mine = chunk_ + of_.lane;
    const auto exists = mine < groups_, has_before = exists & (mine > 0);
    const auto place = k.from_<Type::b64>(ends_);
    k << inst.mad.wide.u32(place, mine, 4, place);
    const auto from = k.scalar<Type::u32>(0), to = k.scalar<Type::u32>(0);
    k << inst.ld.global_.nc.u32(to, addr(place)).on(exists);
    k << inst.ld.global_.nc.u32(from, addr(place, -4)).on(has_before);
    // Ends that descend, or lie behind the last row, make a group empty or short, and nothing worse.
    k << inst.min.u32(to, to, of_.m) << inst.min.u32(from, from, to);
    const auto tiles = (to - from + (rows_ - 1)) / rows_ * tiles_across_;
    const auto sum = k.from_<Type::u32>(tiles);
    for (int by = 1; by < warp_lanes; by *= 2) {
      const auto left = k.scalar<Type::u32>();
      k << inst.shfl.sync.up.b32(left, sum, by, 0, -1);
      k << inst.add.u32(sum, sum, left).on(of_.lane >= by);
    }
    const auto shared = [&](const Reg<Type::u32>& destination, const Reg<Type::u32>& value, const auto& lane) {
      k << inst.shfl.sync.idx.b32(destination, value, lane, warp_lanes - 1, -1);
    };
    const auto all = k.scalar<Type::u32>();
    shared(all, sum, warp_lanes - 1);
    const auto upto = sum + before_;
    const auto lanes = k.scalar<Type::b32>();
    k << inst.vote.sync.ballot.b32(lanes, tile < upto, -1);
    const auto lowest = k.scalar<Type::b32>();
    const auto first = k.scalar<Type::u32>();  // the lane of the first group that ends behind the tile
    k << inst.neg.s32(lowest, lanes) << inst.and_.b32(lowest, lowest, lanes) << inst.sub.u32(lowest, lowest, 1);
    k << inst.popc.b32(first, lowest);
    const auto tiles_before = upto - tiles;
    shared(begin, from, first), shared(end, to, first), shared(inside, tiles_before, first);
    k << inst.sub.u32(inside, tile, inside);
    k << inst.add.u32(group, chunk_, first);
    const auto limit = before_ + all;
    k << inst.setp.lt.u32(found_, tile, limit);
    const auto next = chunk_ + warp_lanes;
    const auto more = (tile >= limit) & (next < groups_);
    k << inst.mov.u32(before_, limit).on(more) << inst.mov.u32(chunk_, next).on(more);
    return more;
  });
  return found_;
}

}  // namespace ptx::kernels::product

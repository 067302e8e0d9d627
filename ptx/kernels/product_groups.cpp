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
      to_(kernel.scalar<Type::u32>()),
      upto_(kernel.scalar<Type::u32>()),
      ends_(kernel.global_ptrs("offsets")[0]),
      found_(kernel.scalar<Type::pred>()) {
  const int across = recipe.swapped ? recipe.rows : results(recipe) * recipe.across;
  const auto tiles = (of.n + (across - 1)) / across;
  k << inst.mov.u32(tiles_across_, tiles);
  read_chunk(k.scalar<Type::u32>(0));
}

Reg<Type::u32> Groups::tiles(const Reg<Type::u32>& from, const Reg<Type::u32>& to) {
  return (to - from + (rows_ - 1)) / rows_ * tiles_across_;
}

template <class Lane>
void Groups::shared(const Reg<Type::u32>& destination, const Reg<Type::u32>& value, const Lane& lane) {
  k << inst.shfl.sync.idx.b32(destination, value, lane, warp_lanes - 1, -1);
}

void Groups::read_chunk(const Reg<Type::u32>& before) {
  const auto mine = chunk_ + of_.lane;
  const auto exists = mine < groups_, has_before = exists & (mine > 0);
  const auto place = k.from_<Type::b64>(ends_);
  k << inst.mad.wide.u32(place, mine, 4, place);
  const auto from = k.scalar<Type::u32>(0);
  k << inst.mov.u32(to_, 0);
  k << inst.ld.global_.nc.u32(to_, addr(place)).on(exists);
  k << inst.ld.global_.nc.u32(from, addr(place, -4)).on(has_before);
  // Ends that descend, or lie behind the last row, make a group empty or short, and nothing worse.
  k << inst.min.u32(to_, to_, of_.m) << inst.min.u32(from, from, to_);
  k << inst.mov.u32(upto_, tiles(from, to_));
  for (int by = 1; by < warp_lanes; by *= 2) {
    const auto left = k.scalar<Type::u32>();
    k << inst.shfl.sync.up.b32(left, upto_, by, 0, -1);
    k << inst.add.u32(upto_, upto_, left).on(of_.lane >= by);
  }
  k << inst.add.u32(upto_, upto_, before);
}

Reg<Type::pred> Groups::find(const std::string& label, const Reg<Type::u32>& tile) {
  k.loop(write::Name(std::string_view(label)), [&] {
    const auto limit = k.scalar<Type::u32>();
    shared(limit, upto_, warp_lanes - 1);
    k << inst.setp.lt.u32(found_, tile, limit);
    const auto next = chunk_ + warp_lanes;
    const auto more = (tile >= limit) & (next < groups_);
    k.if_(more, [&] {
      k << inst.mov.u32(chunk_, next);
      read_chunk(limit);
    });
    return more;
  });
  const auto lanes = k.scalar<Type::b32>();
  k << inst.vote.sync.ballot.b32(lanes, tile < upto_, -1);
  const auto lowest = k.scalar<Type::b32>();
  const auto first = k.scalar<Type::u32>();  // the lane of the first group that ends behind the tile
  k << inst.neg.s32(lowest, lanes) << inst.and_.b32(lowest, lowest, lanes) << inst.sub.u32(lowest, lowest, 1);
  k << inst.popc.b32(first, lowest);
  k << inst.add.u32(group, chunk_, first);
  shared(end, to_, first), shared(inside, upto_, first);
  // It begins where the group before it ends; of the first lane's that is read again, for want of registers.
  k << inst.mov.u32(begin, 0);
  const auto place = k.from_<Type::b64>(ends_);
  k << inst.mad.wide.u32(place, group, 4, place);
  k << inst.ld.global_.nc.u32(begin, addr(place, -4)).on((first == 0) & (chunk_ > 0) & found_);
  const auto previous = k.scalar<Type::u32>();
  shared(previous, to_, first - 1);
  k << inst.mov.u32(begin, previous).on(first > 0);
  k << inst.min.u32(begin, begin, end);
  k << inst.sub.u32(inside, inside, tiles(begin, end)) << inst.sub.u32(inside, tile, inside);
  return found_;
}

}  // namespace ptx::kernels::product

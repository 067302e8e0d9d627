// What bulk copies and copies of tensors ask alike.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/async/reduction.hpp"
#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// A reduction, or none, as a number of a step.
inline constexpr std::int64_t no_reduction = 0;
std::int64_t packed(const async::Reduction& reduction);
std::optional<async::Reduction> reduction_in(std::int64_t packed);
/// Of the modifier that says which.
async::ReductionOp reduction_op(std::string_view word);

/// Begins a copy into each block of the cluster that a mask names by its rank: `make(to, mbarrier)` makes that into one block of
/// addresses in .shared::cluster. With `pairs` (.cta_group::2) the mbarrier of the same parity of rank as the one named is told.
/// False: a fault was recorded; so it is where the mask names blocks that the cluster does not have.
struct Multicast {
  std::uint32_t blocks = 0;
  std::uint64_t to = 0, mbarrier = 0;
  bool pairs = false;
};
bool check_multicast(Warp& warp, const Step& step, int lane, std::uint32_t blocks);
template <class Make>
bool begin_multicast(Warp& warp, const Step& step, int lane, const Multicast& multicast, Make make) {
  if (!check_multicast(warp, step, lane, multicast.blocks)) return false;
  for (std::uint32_t left = multicast.blocks & 0xFFFF; left != 0; left &= left - 1) {
    const auto rank = static_cast<std::uint64_t>(std::countr_zero(left));
    const std::uint64_t told = multicast.pairs ? (rank & ~std::uint64_t{1}) | (rank_of(multicast.mbarrier) & 1) : rank;
    if (!async::begin(warp, step, lane, make(in_block(rank, multicast.to), in_block(told, multicast.mbarrier)))) return false;
  }
  return true;
}

}  // namespace ptx::vgpu

// What the helpers of `ptx.warp` and `ptx.block` and `ptx.global_index` are called and do: see declare.hpp. C++ has them as
// functions of typed registers (ptx/write/kernel.hpp, ptx/write/block.hpp).
#pragma once

#include "ptx/write/door/declare.hpp"
#include "ptx/write/idiom/block.hpp"

namespace ptx::write::declare {

template <idiom::Reduction op>
Expected<void> over_lanes(Builder& builder, const Reg& value, int width, SourceLocation at) {
  return idiom::warp_reduce(builder, op, value, width, at);
}
template <idiom::Reduction op>
Expected<void> over_block(Builder& builder, const Reg& value, std::int64_t threads, SourceLocation at) {
  return idiom::block_reduce(builder, op, value, threads, at);
}
inline Expected<Reg> index_in_grid(Builder& builder, const std::optional<Source>& limit, std::string_view axis,
                                   SourceLocation at) {
  return idiom::global_index(builder, axis.size() == 1 ? axis[0] : '?', limit ? std::optional(limit->value) : std::nullopt, at);
}

inline constexpr std::tuple warp_helpers{
    helper<&over_lanes<idiom::Reduction::sum>>("ptx.warp.reduce_sum", "value|v|val, *, width = 32 -> value",
                                               "The sum over groups of `width` lanes, in place."),
    helper<&over_lanes<idiom::Reduction::max>>("ptx.warp.reduce_max", "value|v|val, *, width = 32 -> value",
                                               "The largest value of groups of `width` lanes, in place."),
    helper<&over_lanes<idiom::Reduction::min>>("ptx.warp.reduce_min", "value|v|val, *, width = 32 -> value",
                                               "The smallest value of groups of `width` lanes, in place.")};

inline constexpr std::tuple block_reductions{
    helper<&over_block<idiom::Reduction::sum>>("ptx.block.reduce_sum", "value, *, threads -> value",
                                               "The sum over the block, in place: `ptx.block.reduce_sum(x, threads=256)`."),
    helper<&over_block<idiom::Reduction::max>>("ptx.block.reduce_max", "value, *, threads -> value",
                                               "The largest value of the block, in place."),
    helper<&over_block<idiom::Reduction::min>>("ptx.block.reduce_min", "value, *, threads -> value",
                                               "The smallest value of the block, in place.")};

inline constexpr std::tuple grid_helpers{
    helper<&index_in_grid>("ptx.global_index", "limit, *, axis = 'x'",
                           "The thread's number in the grid, `ctaid * ntid + tid`, in a fresh register. With a limit, threads at "
                           "it and beyond end here: `i = ptx.global_index(n)` is an index and its bounds guard.")};

}  // namespace ptx::write::declare

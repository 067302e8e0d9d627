// What instructions on tensor memory have in common.
#pragma once

#include <optional>

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// x[8], imm = an address in tensor memory.
inline void read_tensor_address(Decoding& in, std::string_view name) {
  const auto address = in.read_address(name);
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
}
/// The other CTA of the pair that a CTA is of, whose rank differs in the last bit; nullptr where there is none, or it has ended.
inline Cta* peer_of(const Cta& cta) {
  const std::size_t rank = cta.rank ^ 1u;
  if (rank >= cta.cluster->blocks.size() || cta.cluster->blocks[rank].live_warps == 0) return nullptr;
  return &cta.cluster->blocks[rank];
}
inline Outcome fail_alone(Warp& warp, const Step& step, int lane) {
  return warp.fail(step, lane, Rule::K_05,
                   cat("is for the two CTAs of a pair (.cta_group::2); rank ", warp.cta->rank ^ 1u, " of the cluster ",
                       (warp.cta->rank ^ 1u) >= warp.cta->cluster->blocks.size() ? "does not exist" : "has ended"));
}

/// What a lane has in a slot of 64 bits as an address in tensor memory.
inline layout::TensorAddress tensor_address_of(const Warp& warp, std::uint32_t slot, int lane) {
  return layout::tensor_address(static_cast<std::uint32_t>(warp.slot<std::uint64_t>(slot)[lane]));
}

/// False: a fault was recorded, because the cells cannot be reached. `does`: "loads", "stores", "reads a from".
inline bool can_reach(Warp& warp, const Step& step, int lane, TensorMemory& memory, std::string_view does,
                      layout::TensorAddress first, int lanes, int columns) {
  const auto why = memory.unreachable(first.lane, lanes, first.column, columns);
  if (!why) return true;
  warp.fail(step, lane, Kind::out_of_bounds, cat(does, ' ', *why));
  return false;
}

/// "loads lane 3, column 7 of tensor memory, which nothing has written"
inline std::string say_unwritten_cell(std::string_view does, int lane, int column, std::uint8_t mark) {
  return cat(does, " lane ", lane, ", column ", column, " of tensor memory, ",
             mark == undefined_mark ? "where an undefined value lies" : "which nothing has written");
}

}  // namespace ptx::vgpu

// Addresses in the shared memory of a cluster's blocks (rows: ptx/isa/table/data_movement.hpp). How they lie: cluster_part in
// ptx/vgpu/memory/memory.hpp.
#include <algorithm>

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t no_rank = 0xFFFFFFFFu;
constexpr std::uint32_t nobody = 0xFF;  // a rank that fits an address, and no cluster has

std::string say_cluster(const Cluster& cluster) {
  const std::size_t blocks = cluster.blocks.size();
  return blocks == 1 ? std::string("a cluster that has block 0 alone") : cat("a cluster of ", blocks, " blocks");
}

// x[0] = d, x[1] = the address, imm is added, x[2] = rank, or no_rank: the address' own is the result
template <class From, class To, bool generic>
Outcome map_address(Warp& warp, const Step& step, Mask mask) {
  const Cluster& cluster = *warp.cta->cluster;
  const auto* from = warp.slot<From>(step.x[1]);
  constexpr std::uint64_t window = generic ? shared_window : 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t full = from[lane] + static_cast<std::uint64_t>(step.imm);
    const std::uint64_t address = generic ? full - window : static_cast<From>(full), rank = rank_of(address);
    if (rank >= cluster.blocks.size())
      return warp.fail(step, lane, Rule::A_03,
                       cat("takes address 0x", hex(generic ? full : address),
                           " for one in shared memory, where it is not: it is in ", say_cluster(cluster)));
    if (step.x[2] == no_rank) {
      warp.slot<std::uint32_t>(step.x[0])[lane] = static_cast<std::uint32_t>(rank);
      continue;
    }
    // CUTLASS takes the address in a block for each lane's number, and uses those of blocks that are there: that of another is in
    // nobody's memory, and an access to it faults.
    const std::uint32_t to = std::min(warp.slot<std::uint32_t>(step.x[2])[lane], nobody);
    warp.slot<To>(step.x[0])[lane] = static_cast<To>(window + in_block(to, address));
  }
  return Outcome::next;
}

// The address: of a variable, or as it stands in a register.
Handler map_address_of(Decoding& in, Type type) {
  const bool generic = !in.wrote("shared::cluster");
  const bool wide = isa::bits(type) == 64;
  if (generic && !wide) return in.refuse("the executor's generic addresses have 64 bits");
  if (!in.names_variable("a")) {
    in.step.x[1] = in.read("a", type);
    if (!wide) return &map_address<std::uint32_t, std::uint32_t, false>;
  } else {
    const auto symbol = in.read_symbol("a");  // 64 bits
    in.step.x[1] = symbol.base;
    // A generic instruction takes the variable's address in .shared as it is, which no generic address is (facts.md: H200).
    in.step.imm = symbol.address;
    if (!wide) return &map_address<std::uint64_t, std::uint32_t, false>;
  }
  return generic ? &map_address<std::uint64_t, std::uint64_t, true> : &map_address<std::uint64_t, std::uint64_t, false>;
}

}  // namespace

namespace op {

Handler mapa(Decoding& in) {
  in.step.x[0] = in.write("d", in.type("type"));
  in.step.x[2] = in.read("b", Type::u32);
  return map_address_of(in, in.type("type"));
}

Handler getctarank(Decoding& in) {
  in.step.x[0] = in.write("d", Type::u32);
  in.step.x[2] = no_rank;
  return map_address_of(in, in.type("type"));
}

}  // namespace op
}  // namespace ptx::vgpu

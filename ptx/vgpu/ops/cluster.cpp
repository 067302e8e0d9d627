// Addresses in the shared memory of a cluster's blocks (rows: ptx/isa/table/data_movement.hpp). A cluster has one block here,
// whose shared memory lies in .shared::cluster where it lies in .shared::cta.
#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = d, x[1] = the address in 64 bits, imm is added, x[2] = rank, or no_rank
constexpr std::uint32_t no_rank = 0xFFFFFFFFu;
template <class T, bool generic>
Outcome own_block(Warp& warp, const Step& step, Mask mask) {
  const auto* from = warp.slot<SlotOf<T>>(step.x[1]);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t address = from[lane] + static_cast<std::uint64_t>(step.imm);
    if (generic && address >> 56 != shared_window >> 56)
      return warp.fail(step, lane, Kind::out_of_bounds,
                       cat("takes address 0x", hex(address), " for one in shared memory, where it is not"));
    if (step.x[2] == no_rank) continue;
    if (const std::uint32_t rank = warp.slot<std::uint32_t>(step.x[2])[lane]; rank != 0)
      return warp.fail(step, lane, Kind::out_of_bounds, cat("names block ", rank, " of a cluster that has block 0 alone"));
  }
  if (step.x[2] == no_rank)
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [](int) { return 0; });
  else
    write_lanes(warp.slot<SlotOf<T>>(step.x[0]), mask, [&](int l) { return from[l] + static_cast<SlotOf<T>>(step.imm); });
  return Outcome::next;
}

// The address: of a variable, or as it stands in a register.
Handler in_own_block(Decoding& in, Type type) {
  const bool generic = !in.wrote("shared::cluster");
  const bool wide = isa::bits(type) == 64;
  if (in.names_variable("a")) {
    const auto symbol = in.read_symbol("a");
    in.step.x[1] = symbol.base;
    in.step.imm = static_cast<std::int64_t>(static_cast<std::uint64_t>(symbol.address) + (generic ? shared_window : 0));
  } else {
    in.step.x[1] = in.read("a", type);
  }
  if (generic && !wide) return in.refuse("the executor's generic addresses have 64 bits");
  if (generic) return &own_block<std::uint64_t, true>;
  return wide ? Handler{&own_block<std::uint64_t, false>} : Handler{&own_block<std::uint32_t, false>};
}

}  // namespace

namespace op {

Handler mapa(Decoding& in) {
  in.step.x[0] = in.write("d", in.type("type"));
  in.step.x[2] = in.read("b", Type::u32);
  return in_own_block(in, in.type("type"));
}

Handler getctarank(Decoding& in) {
  in.step.x[0] = in.write("d", Type::u32);
  in.step.x[2] = no_rank;
  return in_own_block(in, in.type("type"));
}

}  // namespace op
}  // namespace ptx::vgpu

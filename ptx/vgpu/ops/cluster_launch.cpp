// Taking over the work of clusters that have not begun (rows: ptx/isa/table/sync.hpp, clusterlaunchcontrol). Which clusters those
// are is a matter of time; here they are handed out in their order, to whoever asks first.
#include <cstring>

#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/cluster.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/map.hpp"
#include "ptx/vgpu/ops/reductions.hpp"

namespace ptx::vgpu {
namespace {

// The response is opaque to kernels. Here it is the number of the first block in x, y, z, and whether there is one: in words
// that nothing else leaves behind by chance.
using Response = std::array<std::uint32_t, 4>;
constexpr std::uint32_t cancelled = 0x434C'4331, none_left = 0x434C'4330;

Response request(const Launch& launch) {
  const auto index = launch.waiting.cancel();
  if (!index) return {0, 0, 0, none_left};
  const auto id = cluster_id(launch.config, *index);
  const auto& shape = launch.config.cluster;
  return {id[0] * shape[0], id[1] * shape[1], id[2] * shape[2], cancelled};
}

// x[0] = address of the response, x[1] = mbarrier, x[2] = whether each block of the cluster gets it
Outcome try_cancel(Warp& warp, const Step& step, Mask mask) {
  const Cta& cta = *warp.cta;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    if (cta.saw_no_cluster)
      return warp.fail(step, lane, Rule::C_05,
                       "asks for another cluster, after the block has learned that there is none: what that does is undefined");
    std::array<std::uint64_t, 2> at{};
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = warp.slot<std::uint64_t>(step.x[i])[lane];
      if (step.space != Space::generic) continue;
      if (space_of(at[i]) != Space::shared)
        return warp.fail(step, lane, Rule::A_03,
                         cat("is given address 0x", hex(at[i]), " of ", name(space_of(at[i])),
                             " memory; what fits is the block's ", "own shared memory"));
      at[i] -= shared_window;
    }
    async::Store store;
    store.bytes = store.alignment = sizeof(Response);
    const Response response = request(*cta.launch);
    std::memcpy(store.data.data(), response.data(), sizeof response);
    const auto into = [&](Space space) {
      return [&store, space](std::uint64_t to, std::uint64_t mbarrier) {
        store.to = {space, to};
        return async::Operation{store, async::Location{space, mbarrier}};
      };
    };
    const auto everyone = static_cast<std::uint32_t>((std::uint64_t{1} << cta.cluster->blocks.size()) - 1);
    const bool begun = step.x[2] != 0 ? begin_multicast(warp, step, lane, {everyone, at[0], at[1]}, into(Space::cluster))
                                      : async::begin(warp, step, lane, into(Space::shared)(at[0], at[1]));
    if (!begun) return Outcome::fault;
  }
  return Outcome::next;
}

// False: a fault was recorded. x[8] = the response, 128 bits.
bool read_response(Warp& warp, const Step& step, int lane, Response& response) {
  const auto* low = warp.slot<std::uint64_t>(step.x[8]);
  const auto* high = warp.slot<std::uint64_t>(step.x[8] + lane_count * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < response.size(); ++i)
    response[i] = static_cast<std::uint32_t>((i < 2 ? low : high)[lane] >> (32 * (i % 2)));
  if (response[3] == cancelled || response[3] == none_left) return true;
  // CUTLASS's pingpong kernels say by 16 zeros of their own that there is no more work: nothing was cancelled.
  if (response == Response{}) return true;
  warp.fail(step, lane, Rule::C_05, "is given 16 bytes that no clusterlaunchcontrol.try_cancel has left");
  return false;
}

// x[0] = d
Outcome is_canceled(Warp& warp, const Step& step, Mask mask) {
  Mask& d = warp.pred(step.x[0]);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    Response response;
    if (!read_response(warp, step, lane, response)) return Outcome::fault;
    const bool is = response[3] == cancelled;
    warp.cta->saw_no_cluster |= response[3] == none_left;
    d = (d & ~(Mask{1} << lane)) | static_cast<Mask>(is) << lane;
  }
  return Outcome::next;
}

// x[0] to x[3] = d, or no_slot. Of a response that no cluster was cancelled the results are undefined.
Outcome first_ctaid(Warp& warp, const Step& step, Mask mask) {
  const bool was_traced = warp.traced;
  const Mask unknown = was_traced ? undefined_value(warp, step, 0) & mask : 0;
  Mask undefined = unknown;
  for (Mask left = mask & ~unknown; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    Response response;
    if (!read_response(warp, step, lane, response)) return Outcome::fault;
    if (response[3] != cancelled) undefined |= Mask{1} << lane;
    for (std::size_t i = 0; i < step.operand_count; ++i)
      warp.slot<std::uint32_t>(step.x[i])[lane] = response[step.operand_count == 1 ? static_cast<std::size_t>(step.imm) : i];
  }
  if (undefined != 0 && unknown == 0) note_found(warp, step, "asks for the first block of a cluster, but none was cancelled");
  for (std::size_t i = 0; warp.traced && i < step.operand_count; ++i)
    set_result(warp, step, i, mask, undefined, unknown != 0 ? 0 : no_value);
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

}  // namespace

namespace op {

Handler clusterlaunchcontrol_try_cancel(Decoding& in) {
  in.step.x[0] = in.read_full_address("addr");
  in.step.x[1] = in.read_full_address("mbar");
  in.step.x[2] = in.has("multicast") ? 1 : 0;
  in.step.space = in.space("addr");
  return &try_cancel;
}

Handler clusterlaunchcontrol_is_canceled(Decoding& in) {
  in.step.x[0] = in.write_pred("p");
  in.step.x[8] = in.read("response", Type::b128);
  return &is_canceled;
}

Handler clusterlaunchcontrol_first_ctaid(Decoding& in) {
  in.tracks_undefined = true;
  const auto slots = in.write_all("d", Type::b32);
  std::copy(slots.begin(), slots.end(), in.step.x.begin());
  in.step.x[8] = in.read("response", Type::b128);
  in.step.operand_count = static_cast<std::uint32_t>(slots.size());
  if (in.has("dimension")) in.step.imm = in.chosen("dimension").back() - 'x';
  return &first_ctaid;
}

}  // namespace op
}  // namespace ptx::vgpu

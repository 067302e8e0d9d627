// Copies of tensors, and the tensor maps that describe them (rows: ptx/isa/table/async_copy.hpp). A map is read where the
// instruction says, in .param, .const, .global or shared memory, when the copy begins.
#include <cstring>

#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/ops/reductions.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t map_bytes = sizeof(layout::TensorMapWords);
constexpr std::uint32_t map_alignment = 64;

// The tensor map that a lane names, read; nothing: a fault was recorded.
std::optional<layout::TensorMapWords> load_map(Warp& warp, const Step& step, int lane, const async::Location& from,
                                               bool is_used = false) {
  const auto place = find_range(warp, step, lane, from.space, false, from.address, map_bytes, map_alignment);
  if (!place || !async::check_written(warp, step, lane, from, *place, map_bytes)) return std::nullopt;
  if (warp.races != nullptr && is_used) warp.races->access_of_tensor_map(warp, step, lane, place->data);
  layout::TensorMapWords words;
  std::memcpy(words.word.data(), place->data, map_bytes);
  return words;
}

// Which of a tensor copy's operands is which; those that an instruction does not have are zeros.
enum OperandAt : std::size_t {
  map_at,
  shared_at,
  mbarrier_at,
  blocks_at,
  coordinates_at,
  offsets_at = coordinates_at + 5,
  all_operands = offsets_at + 3
};

// x[0] = dimensions, x[1] = how it walks, x[2] = loads, x[3] = has an mbarrier, x[4] = has a mask of blocks, x[5] = has a
// reduction, x[6] = which, x[7] = has .cta_group::2 (1), the target copies packed types (2); space: of shared memory
Outcome copy_tensor(Warp& warp, const Step& step, Mask mask) {
  const auto slots = operands_of(warp.cta->launch->code, step);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto address = [&](std::size_t at) { return warp.slot<std::uint64_t>(slots[at])[lane]; };
    const auto number = [&](std::size_t at) { return warp.slot<std::uint32_t>(slots[at])[lane]; };
    const auto words = load_map(warp, step, lane, {Space::generic, address(map_at)}, true);
    if (!words) return Outcome::fault;
    auto decoded = layout::decode(*words);
    if (!decoded)
      return warp.fail(step, lane, Rule::T_01,
                       cat("names a tensor map at address 0x", hex(address(map_at)), " that is none: ", decoded.error().message));
    const std::uint32_t rank = decoded->map.rank;
    if (rank != step.x[0])
      return warp.fail(step, lane, Rule::T_01, cat("copies a tensor of ", step.x[0], " dimensions; its tensor map has ", rank));
    async::TensorCopy copy;
    copy.tensor = *decoded;
    copy.mode = static_cast<async::BoxMode>(step.x[1]);
    copy.loads = step.x[2] != 0;
    copy.shared = {step.space, address(shared_at)};
    copy.takes_packed = (step.x[7] & 2) != 0;
    if (step.x[5] != 0) copy.reduction = static_cast<async::ReductionOp>(step.x[6]);
    for (std::size_t i = 0; i < copy.coordinates.size(); ++i)
      copy.coordinates[i] = static_cast<std::int32_t>(number(coordinates_at + i));
    for (std::size_t i = 0; i < copy.offsets.size(); ++i) copy.offsets[i] = static_cast<std::uint16_t>(number(offsets_at + i));
    const bool pairs = (step.x[7] & 1) != 0;
    const auto into = [&](std::uint64_t to, std::uint64_t mbarrier) {
      copy.shared.address = to;
      async::Operation operation{copy, {}, pairs};
      if (step.x[3] != 0)
        operation.mbarrier = {Space::cluster, mbarrier};
      else
        operation.group = async::Group::bulk;
      return operation;
    };
    const Multicast multicast{number(blocks_at), address(shared_at), address(mbarrier_at), pairs};
    const bool begun = step.x[4] != 0 ? begin_multicast(warp, step, lane, multicast, into)
                                      : async::begin(warp, step, lane, into(multicast.to, multicast.mbarrier));
    if (!begun) return Outcome::fault;
  }
  return Outcome::next;
}

// How the copy walks; `.tile` is what is left out.
async::BoxMode mode_of(const Decoding& in) {
  const std::string_view mode = in.chosen("load_mode");
  if (mode == "im2col::w") return async::BoxMode::im2col_w;
  if (mode == "im2col::w::128") return async::BoxMode::im2col_w_128;
  if (mode.starts_with("im2col")) return async::BoxMode::im2col;
  return mode.starts_with("tile::") ? async::BoxMode::rows : async::BoxMode::tile;
}

// Elements of 4 and 6 bits are Blackwell's, and sm_120 only stores them (manual: "Restriction on Tensor Copy instructions").
bool takes_packed(Target target, bool loads) {
  const unsigned base = isa::info(target).base;
  return base >= 100 && !(loads && base >= 120);
}

// x[0] = address, x[1] = the value's slot, x[2] = field, x[3] = ordinal, x[4] = the value has 64 bits
Outcome replace_field(Warp& warp, const Step& step, Mask mask) {
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint64_t address = warp.slot<std::uint64_t>(step.x[0])[lane];
    auto words = load_map(warp, step, lane, {step.space, address});
    if (!words) return Outcome::fault;
    const auto place = find_range(warp, step, lane, step.space, true, address, map_bytes, map_alignment);
    if (!place) return Outcome::fault;
    const std::uint64_t value =
        step.x[4] != 0 ? warp.slot<std::uint64_t>(step.x[1])[lane] : std::uint64_t{warp.slot<std::uint32_t>(step.x[1])[lane]};
    if (warp.races != nullptr) {
      std::array<Place, lane_count> places{};
      places[static_cast<std::size_t>(lane)] = *place;
      warp.races->access(warp, step, Mask{1} << lane, true, map_bytes, places);
    }
    layout::replace(*words, static_cast<layout::TensorMapField>(step.x[2]), step.x[3], value);
    std::memcpy(place->data, words->word.data(), map_bytes);
  }
  ++warp.cta->changes;
  return Outcome::next;
}

// x[0] = to, x[1] = from
Outcome copy_map(Warp& warp, const Step& step, Mask mask) {
  if (mask != warp.live) return park(warp, step, mask, Wait::converge);
  if (warp.races != nullptr) warp.races->meet(warp, mask);  // it is .sync: Triton's first lane has written what all copy
  const auto* to = warp.slot<std::uint64_t>(step.x[0]);
  const auto* from = warp.slot<std::uint64_t>(step.x[1]);
  for (Mask left = mask; left != 0;) {  // the warp's threads copy together what they name alike
    const int lane = lowest_lane(left);
    left &= ~lanes_where([&](int l) { return to[l] == to[lane] && from[l] == from[lane]; });
    const async::Location source{Space::shared, from[lane]};
    const auto read = find_range(warp, step, lane, source.space, false, source.address, map_bytes, map_alignment);
    if (!read || !async::check_written(warp, step, lane, source, *read, map_bytes)) return Outcome::fault;
    const auto written = find_range(warp, step, lane, Space::global, true, to[lane], map_bytes, map_alignment);
    if (!written) return Outcome::fault;
    if (warp.races != nullptr) {
      warp.races->access_by_all(warp, step, false, read->data, map_bytes);
      warp.races->access_together(warp, step, true, written->data, map_bytes);
    }
    std::memcpy(written->data, read->data, map_bytes);
    async::copy_marks(written->written, read->written, map_bytes);
  }
  ++warp.cta->changes;
  if (warp.races != nullptr) {
    warp.races->meet(warp, mask);
    warp.races->fence(warp, step, mask);
  }
  return Outcome::next;
}

}  // namespace

namespace op {

Handler cp_async_bulk_tensor(Decoding& in) {
  std::array<std::uint32_t, all_operands> slots{};
  slots.fill(zero_offset);
  const auto put = [&](const std::vector<std::uint32_t>& some, std::size_t at, std::size_t most) {
    if (some.size() > most) return false;
    std::copy(some.begin(), some.end(), slots.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  };
  const auto tensor = in.read_tensor("tensorMap", Type::s32);
  const async::BoxMode mode = mode_of(in);
  const bool loads = in.given("dstMem"), signals = in.given("mbar"), multicasts = in.given("ctaMask"), reduces = in.has("op");
  slots[map_at] = tensor.map;
  slots[shared_at] = in.read_full_address(loads ? "dstMem" : "srcMem");
  if (signals) slots[mbarrier_at] = in.read_full_address("mbar");
  if (multicasts) slots[blocks_at] = in.read("ctaMask", Type::u16);
  if (!put(tensor.coordinates, coordinates_at, offsets_at - coordinates_at))
    return in.refuse("a tensor has at most 5 coordinates");
  if (in.given("offsets") && !put(in.read_all("offsets", Type::u16), offsets_at, all_operands - offsets_at))
    return in.refuse("a tensor has at most 3 offsets");
  in.add_operands(slots);
  in.step.x[0] = mode == async::BoxMode::rows ? 2 : static_cast<std::uint32_t>(tensor.coordinates.size());
  in.step.x[1] = static_cast<std::uint32_t>(mode);
  in.step.x[2] = loads;
  in.step.x[3] = signals;
  in.step.x[4] = multicasts;
  in.step.x[5] = reduces;
  in.step.x[7] = (in.wrote("cta_group::2") ? 1u : 0u) | (takes_packed(in.target(), loads) ? 2u : 0u);
  in.step.space = in.space(loads ? "dstMem" : "srcMem");
  in.step.x[6] = reduces ? static_cast<std::uint32_t>(reduction_op(in.chosen("op"))) : 0;
  return &copy_tensor;
}

Handler tensormap_replace(Decoding& in) {
  using enum layout::TensorMapField;
  constexpr std::pair<std::string_view, layout::TensorMapField> fields[] = {{"global_address", global_address},
                                                                            {"rank", rank},
                                                                            {"box_dim", box_dim},
                                                                            {"global_dim", global_dim},
                                                                            {"global_stride", global_stride},
                                                                            {"element_stride", element_stride},
                                                                            {"elemtype", elemtype},
                                                                            {"interleave_layout", interleave_layout},
                                                                            {"swizzle_mode", swizzle_mode},
                                                                            {"swizzle_atomicity", swizzle_atomicity},
                                                                            {"fill_mode", fill_mode}};
  const std::string_view word = in.chosen("field");
  const auto* field = std::find_if(std::begin(fields), std::end(fields), [&](const auto& f) { return f.first == word; });
  const bool wide = field->second == global_address || field->second == global_stride;
  in.step.x[0] = in.read_full_address("addr");
  in.step.x[1] = in.read("new_val", wide ? Type::b64 : Type::b32);
  in.step.x[2] = static_cast<std::uint32_t>(field->second);
  in.step.x[3] = static_cast<std::uint32_t>(in.immediate("ord").value_or(0));
  in.step.x[4] = wide ? 1 : 0;
  in.step.space = in.space("addr");
  return &replace_field;
}

Handler tensormap_cp_fenceproxy(Decoding& in) {
  in.step.x[0] = in.read_full_address("dst");
  in.step.x[1] = in.read_full_address("src");
  return &copy_map;
}

}  // namespace op
}  // namespace ptx::vgpu

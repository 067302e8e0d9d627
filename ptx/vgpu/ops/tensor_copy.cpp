// Copies of tensors, and the tensor maps that describe them (rows: ptx/isa/table/async_copy.hpp). A map is read where the
// instruction says, in .param, .const, .global or shared memory, when the copy begins.
#include <cstring>

#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/ops/reductions.hpp"
#include "ptx/vgpu/schedule.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t map_bytes = sizeof(layout::TensorMapWords);
constexpr std::uint32_t map_alignment = 64;

// The tensor map that a lane names, read; nothing: a fault was recorded.
std::optional<layout::TensorMapWords> load_map(Warp& warp, const Step& step, int lane, const async::Location& from) {
  const auto place = find_range(warp, step, lane, from.space, false, from.address, map_bytes, map_alignment);
  if (!place || !async::check_written(warp, step, lane, from, *place, map_bytes)) return std::nullopt;
  layout::TensorMapWords words;
  std::memcpy(words.word.data(), place->data, map_bytes);
  return words;
}

// step.target: the number of the operands among the kernel's
Outcome copy_tensor(Warp& warp, const Step& step, Mask mask) {
  const TensorOperands& operands = warp.cta->launch->code.tensor_operands[step.target];
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto address = [&](std::uint32_t slot) { return warp.slot<std::uint64_t>(slot)[lane]; };
    const auto number = [&](std::uint32_t slot) { return warp.slot<std::uint32_t>(slot)[lane]; };
    if (operands.multicasts && !reaches_own_block(warp, step, lane, number(operands.blocks))) {
      if (warp.fault) return Outcome::fault;
      continue;
    }
    const auto words = load_map(warp, step, lane, {Space::generic, address(operands.map)});
    if (!words) return Outcome::fault;
    auto decoded = layout::decode(*words);
    if (!decoded)
      return warp.fail(
          step, lane, Kind::bad_descriptor,
          cat("names a tensor map at address 0x", hex(address(operands.map)), " that is none: ", decoded.error().message));
    const std::uint8_t rank = decoded->map.rank;
    if (rank != operands.rank)
      return warp.fail(step, lane, Kind::bad_descriptor,
                       cat("copies a tensor of ", int{operands.rank}, " dimensions; its tensor map has ", int{rank}));
    async::TensorCopy copy;
    copy.tensor = std::move(*decoded);
    copy.mode = operands.mode;
    copy.loads = operands.loads;
    copy.shared = {Space::shared, address(operands.shared)};
    copy.reduction = operands.reduction;
    const std::size_t coordinates = operands.mode == async::BoxMode::rows ? copy.coordinates.size() : rank;
    for (std::size_t i = 0; i < coordinates; ++i)
      copy.coordinates[i] = static_cast<std::int32_t>(number(operands.coordinates[i]));
    for (std::size_t i = 0; i < copy.offsets.size(); ++i)
      copy.offsets[i] = static_cast<std::uint16_t>(number(operands.offsets[i]));
    async::Operation operation{std::move(copy), {}};
    if (operands.signals) operation.mbarrier = {Space::shared, address(operands.mbarrier)};
    if (!async::begin(warp, step, lane, operation)) return Outcome::fault;
  }
  return Outcome::next;
}

// How the copy walks; `.tile` is what is left out.
async::BoxMode mode_of(const Decoding& in) {
  const std::string_view mode = in.chosen("load_mode");
  if (mode.starts_with("im2col")) return async::BoxMode::im2col;
  return mode.starts_with("tile::") ? async::BoxMode::rows : async::BoxMode::tile;
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
    layout::replace(*words, static_cast<layout::TensorMapField>(step.x[2]), step.x[3], value);
    std::memcpy(place->data, words->word.data(), map_bytes);
  }
  ++warp.cta->changes;
  return Outcome::next;
}

// x[0] = to, x[1] = from
Outcome copy_map(Warp& warp, const Step& step, Mask mask) {
  if (mask != warp.live) return park(warp, step, mask, Wait::converge);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    async::Copy copy;
    copy.to = {Space::global, warp.slot<std::uint64_t>(step.x[0])[lane]};
    copy.from = {Space::shared, warp.slot<std::uint64_t>(step.x[1])[lane]};
    copy.bytes = copy.read = map_bytes;
    copy.alignment = map_alignment;
    if (!async::begin(warp, step, lane, {copy, {}})) return Outcome::fault;
  }
  return Outcome::next;
}

}  // namespace

namespace op {

Handler cp_async_bulk_tensor(Decoding& in) {
  TensorOperands operands;
  const auto tensor = in.read_tensor("tensorMap", Type::s32);
  operands.map = tensor.map;
  operands.mode = mode_of(in);
  operands.loads = in.given("dstMem");
  operands.shared = in.read_full_address(operands.loads ? "dstMem" : "srcMem");
  if (tensor.coordinates.size() > operands.coordinates.size()) return in.refuse("a tensor has at most 5 coordinates");
  std::copy(tensor.coordinates.begin(), tensor.coordinates.end(), operands.coordinates.begin());
  operands.rank = operands.mode == async::BoxMode::rows ? 2 : static_cast<std::uint8_t>(tensor.coordinates.size());
  operands.offsets.fill(zero_offset);
  if (in.given("offsets")) {
    const auto offsets = in.read_all("offsets", Type::u16);
    if (offsets.size() > operands.offsets.size()) return in.refuse("a tensor has at most 3 offsets");
    std::copy(offsets.begin(), offsets.end(), operands.offsets.begin());
  }
  operands.signals = in.given("mbar");
  if (operands.signals) operands.mbarrier = in.read_full_address("mbar");
  operands.multicasts = in.given("ctaMask");
  if (operands.multicasts) operands.blocks = in.read("ctaMask", Type::u16);
  if (in.has("op")) operands.reduction = reduction_op(in.chosen("op"));
  in.step.target = in.keep(operands);
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

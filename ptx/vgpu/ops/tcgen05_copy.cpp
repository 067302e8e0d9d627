// Copies from shared to tensor memory, and shifts in it (rows: ptx/isa/table/tcgen05.hpp, tcgen05.cp and shift). One thread
// issues them, and they are done when they are issued, as asynchronous ones may be. Which lanes the rows of a copy go to is what
// the traits of CuTe say, and how a shift moves them what others saw on a B200 (docs/facts.md).
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/reach.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = layout::CopyShape, x[1] = CTAs, x[2] = address in tensor memory, x[3] = descriptor, x[4] = bytes of a piece that count:
// all 16, or 12 or 8 that hold 16 elements of 6 or 4 bits, the others being padding
constexpr int words_of_piece = row_bytes / 4;
constexpr std::uint32_t sextet_bytes = 12, nibble_bytes = 8;

// Word `w` of a piece in tensor memory: as it is, or four elements where the tensor cores want them in a byte, those of 6 bits in
// the low ones, those of 4 in the middle.
std::uint32_t word_of_piece(const std::byte* piece, int w, std::uint32_t bytes) {
  if (bytes == row_bytes) return load_as<std::uint32_t>(piece + 4 * w);
  std::uint32_t word = 0;
  if (bytes == nibble_bytes) {
    for (int i = 0; i < 4; ++i) word |= (static_cast<std::uint32_t>(piece[2 * w + i / 2]) >> 4 * (i % 2) & 0xF) << (8 * i + 2);
    return word;
  }
  for (int i = 0; i < 3; ++i) word |= static_cast<std::uint32_t>(piece[3 * w + i]) << (8 * i);
  return (word & 0x3F) | (word >> 6 & 0x3F) << 8 | (word >> 12 & 0x3F) << 16 | (word >> 18 & 0x3F) << 24;
}

// From the shared memory of a CTA to its tensor memory. False: a fault was recorded.
bool copy_rows(Warp& warp, const Step& step, int lane, Cta& cta, const layout::SharedMatrix& from, layout::TensorAddress to) {
  const auto shape = static_cast<layout::CopyShape>(step.x[0]);
  const int columns = layout::columns_of(shape);
  if (!can_reach(warp, step, lane, cta.tensor_memory, "copies to", {0, to.column}, layout::tensor_lanes, columns)) return false;
  const MemoryRegion& region = cta.shared_region;
  if (warp.races != nullptr)
    for (int row = 0; row < layout::rows_of(shape); ++row)
      for (int copy = 0; copy < layout::copies_of(shape); ++copy)
        if (const int at = to.lane + layout::lane_of_row(shape, row, copy); row == 0 || at % races::TensorShadow::lanes == 0)
          warp.races->access_tensor_memory(warp, step, Mask{1} << lane, cta, races::TensorUse::copy, true,
                                           {at, 1, to.column, columns});
  for (int row = 0; row < layout::rows_of(shape); ++row)
    for (int piece = 0; piece < columns / words_of_piece; ++piece) {
      const std::uint64_t address = own_shared(cta, from.along_k(index_of(row), index_of(piece)));
      if (!region.contains(address, row_bytes)) {
        warp.fail(step, lane, Kind::out_of_bounds,
                  cat("reads ", row_bytes, " bytes at shared address 0x", hex(address), ", ",
                      describe_position(address, row_bytes, {&region, 1})));
        return false;
      }
      const std::uint64_t offset = address - region.begin;
      const std::uint8_t* marks = region.written == nullptr ? nullptr : region.written + offset;
      const std::uint32_t bytes = step.x[4];
      const bool written = marks == nullptr || (bytes == sextet_bytes   ? all_written<sextet_bytes>(marks)
                                                : bytes == nibble_bytes ? all_written<nibble_bytes>(marks)
                                                                        : all_written<row_bytes>(marks));
      if (!written) cta.tensor_memory.note_undefined(say_unwritten(warp, Space::shared, address, {marks, step.x[4]}));
      if (warp.races != nullptr) warp.races->access_of_operation(warp, step, false, region.data + offset, row_bytes);
      for (int copy = 0; copy < layout::copies_of(shape); ++copy)
        for (int w = 0; w < words_of_piece; ++w) {
          const int at = to.lane + layout::lane_of_row(shape, row, copy), column = to.column + piece * words_of_piece + w;
          cta.tensor_memory.cell(at, column) = word_of_piece(region.data + offset, w, bytes);
          cta.tensor_memory.mark(at, column) = written ? written_mark : undefined_mark;
        }
    }
  return true;
}

Outcome copy(Warp& warp, const Step& step, Mask mask) {
  const auto shape = static_cast<layout::CopyShape>(step.x[0]);
  const int last_lane = shape == layout::CopyShape::rows4_b256 ? 31 : 0;
  ++warp.cta->changes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const races::Performing performing(warp, [&] { return warp.races->begin_product(warp, step, Mask{1} << lane); });
    const layout::TensorAddress to = tensor_address_of(warp, step.x[2], lane);
    if (to.lane > last_lane)
      return warp.fail(step, lane, Kind::tensor_memory_misuse,
                       cat("copies to lane ", to.lane, " of tensor memory; what fits is ", last_lane == 0 ? "0" : "0 to 31"));
    const auto from = layout::read_tcgen05_descriptor(warp.slot<std::uint64_t>(step.x[3])[lane]);
    if (!from) return warp.fail(step, lane, Kind::bad_descriptor, cat("copies a matrix: ", from.error().message));
    if (from->goes_on_elsewhere)
      return warp.fail(step, lane, Kind::not_executed,
                       "copies a matrix whose descriptor gives its leading dimension as an absolute address");
    if (!copy_rows(warp, step, lane, *warp.cta, *from, to)) return Outcome::fault;
    if (step.x[1] == 1) continue;
    Cta* const peer = peer_of(*warp.cta);
    if (peer == nullptr) return fail_alone(warp, step, lane);
    if (!copy_rows(warp, step, lane, *peer, *from, to)) return Outcome::fault;
  }
  return Outcome::next;
}

// A lane gets the 32 bytes of its successor, in each quarter of the lanes on its own: the last one of a quarter keeps its own.
bool shift_rows(Warp& warp, const Step& step, int lane, Cta& cta, int column) {
  constexpr int columns = 8, quarter = layout::tensor_lanes / 4;
  TensorMemory& memory = cta.tensor_memory;
  if (!can_reach(warp, step, lane, memory, "shifts rows in", {0, column}, layout::tensor_lanes, columns)) return false;
  if (warp.races != nullptr)
    warp.races->access_tensor_memory(warp, step, Mask{1} << lane, cta, races::TensorUse::copy, true,
                                     {0, layout::tensor_lanes, column, columns});
  for (int to = 0; to < layout::tensor_lanes; ++to)
    for (int c = column; to % quarter != quarter - 1 && c < column + columns; ++c) {
      memory.cell(to, c) = memory.cell(to + 1, c);
      memory.mark(to, c) = memory.mark(to + 1, c);
    }
  return true;
}

Outcome shift(Warp& warp, const Step& step, Mask mask) {
  ++warp.cta->changes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const races::Performing performing(warp, [&] { return warp.races->begin_product(warp, step, Mask{1} << lane); });
    const layout::TensorAddress at = tensor_address_of(warp, step.x[2], lane);
    if (at.lane % 32 != 0)
      return warp.fail(step, lane, Kind::tensor_memory_misuse,
                       cat("shifts rows from lane ", at.lane, " of tensor memory on; what fits is a multiple of 32"));
    if (at.lane != 0)
      return warp.fail(step, lane, Kind::not_executed,
                       cat("shifts rows from lane ", at.lane, " of tensor memory on; which of them go then nobody has told"));
    Cta* const peer = step.x[1] == 1 ? nullptr : peer_of(*warp.cta);
    if (step.x[1] != 1 && peer == nullptr) return fail_alone(warp, step, lane);
    if (!shift_rows(warp, step, lane, *warp.cta, at.column)) return Outcome::fault;
    if (peer != nullptr && !shift_rows(warp, step, lane, *peer, at.column)) return Outcome::fault;
  }
  return Outcome::next;
}

}  // namespace

namespace op {

Handler tcgen05_cp(Decoding& in) {
  using layout::CopyShape;
  const std::string_view shape = in.chosen("shape");
  in.step.x[0] = static_cast<std::uint32_t>(shape == "128x256b"         ? CopyShape::rows128_b256
                                            : shape == "4x256b"         ? CopyShape::rows4_b256
                                            : shape == "128x128b"       ? CopyShape::rows128_b128
                                            : shape == "32x128b"        ? CopyShape::rows32
                                            : in.wrote("warpx2::02_13") ? CopyShape::rows64_02_13
                                                                        : CopyShape::rows64_01_23);
  in.step.x[1] = in.wrote("cta_group::2") ? 2 : 1;
  in.step.x[2] = in.read_full_address("taddr");
  in.step.x[3] = in.read("source", Type::u64);
  in.step.x[4] = in.wrote("b4x16_p64") ? nibble_bytes : in.has("src_fmt") ? sextet_bytes : row_bytes;
  if (in.wrote("b4x16_p64"))
    in.inferred = "4 bits go to the middle of a byte, where the tensor cores want them; the manual shows it in a picture alone";
  return &copy;
}

Handler tcgen05_shift(Decoding& in) {
  in.step.x[1] = in.wrote("cta_group::2") ? 2 : 1;
  in.step.x[2] = in.read_full_address("taddr");
  in.inferred = "rows go as others saw them go on a B200; the manual does not say which way";
  return &shift;
}

}  // namespace op
}  // namespace ptx::vgpu

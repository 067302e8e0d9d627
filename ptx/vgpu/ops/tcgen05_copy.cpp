// Copies from shared to tensor memory (rows: ptx/isa/table/tcgen05.hpp, tcgen05.cp). One thread issues a copy, and it is done
// when it is issued, as an asynchronous one may be. Which lanes the rows go to is what the traits of CuTe say; no GPU has been
// asked.
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/reach.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

// x[0] = layout::CopyShape, x[1] = CTAs, x[2] = address in tensor memory, x[3] = descriptor, x[4] = bytes of a piece that count:
// all 16, or 12 that hold 16 elements of 6 bits, the others being padding
constexpr int words_of_piece = row_bytes / 4;
constexpr std::uint32_t sextet_bytes = 12;

// Word `w` of a piece in tensor memory: as it is, or four elements of 6 bits, each in the low bits of a byte.
std::uint32_t word_of_piece(const std::byte* piece, int w, bool sextets) {
  if (!sextets) return load_as<std::uint32_t>(piece + 4 * w);
  std::uint32_t word = 0;
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
      const bool sextets = step.x[4] == sextet_bytes;
      const bool written = marks == nullptr || (sextets ? all_written<sextet_bytes>(marks) : all_written<row_bytes>(marks));
      if (!written) cta.tensor_memory.note_undefined(say_unwritten(warp, Space::shared, address, {marks, step.x[4]}));
      if (warp.races != nullptr) warp.races->access_of_operation(warp, step, false, region.data + offset, row_bytes);
      for (int copy = 0; copy < layout::copies_of(shape); ++copy)
        for (int w = 0; w < words_of_piece; ++w) {
          const int at = to.lane + layout::lane_of_row(shape, row, copy), column = to.column + piece * words_of_piece + w;
          cta.tensor_memory.cell(at, column) = word_of_piece(region.data + offset, w, sextets);
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
    if (!copy_rows(warp, step, lane, *warp.cta, *from, to)) return Outcome::fault;
    if (step.x[1] == 1) continue;
    Cta* const peer = peer_of(*warp.cta);
    if (peer == nullptr) return fail_alone(warp, step, lane);
    if (!copy_rows(warp, step, lane, *peer, *from, to)) return Outcome::fault;
  }
  return Outcome::next;
}

}  // namespace

namespace op {

Handler tcgen05_cp(Decoding& in) {
  using layout::CopyShape;
  if (in.wrote("b4x16_p64"))
    return in.refuse(
        "where in its byte an element of 4 bits goes the manual shows in a picture alone, and others read it differently");
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
  in.step.x[4] = in.has("src_fmt") ? sextet_bytes : row_bytes;
  return &copy;
}

}  // namespace op
}  // namespace ptx::vgpu

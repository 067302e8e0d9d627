// Matrix operands that tensor cores read from shared memory, by their descriptors.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/tensor/fragment.hpp"
#include "ptx/vgpu/tensor/panel.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {

/// How elements lie in their pieces of 16 bytes.
struct Packing {
  int bits = 16;      ///< of an element
  int per_piece = 8;  ///< elements; the bytes behind them are padding, which need not be written
  [[nodiscard]] std::size_t element_bytes() const { return static_cast<std::size_t>(bits * per_piece / 8); }
  static constexpr Packing whole(int bits) { return {bits, 128 / bits}; }
};

/// Elements of a matrix in the shared memory of a CTA.
struct SharedOperand {
  Warp& warp;
  const Step& step;
  std::string_view name;
  int lane;
  const Cta& owner;  ///< whose memory
  bool failed = false;
  std::uint64_t block_begin = own_shared(owner, 0);
  std::size_t used = row_bytes;  ///< bytes of a piece that are elements

  // Where checks are on: what is read of a line of memory, until it is told.
  const std::byte* line = nullptr;
  std::uint32_t where = 0;

  [[gnu::always_inline]] const std::byte* piece(std::uint64_t offset_in_block, bool& written) {
    const std::byte* const found = find_piece(offset_in_block, written);
    if (warp.races != nullptr && found != nullptr) note_piece(found);
    return found;
  }
  void note_piece(const std::byte* at) {
    constexpr std::uint32_t granules = (1u << (row_bytes / races::granule_bytes)) - 1;
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % races::line_bytes;
    if (at - offset != line) tell_line();
    line = at - offset;
    where |= granules << (offset / races::granule_bytes);
  }
  void tell_line() {
    if (where != 0) warp.races->access_line_of_operation(warp, step, line, where);
    where = 0;
  }

  /// Most pieces are there and written, which two comparisons say.
  [[gnu::always_inline]] const std::byte* find_piece(std::uint64_t offset_in_block, bool& written) {
    const MemoryRegion& region = owner.shared_region;
    const std::uint64_t offset = block_begin + offset_in_block - region.begin;
    if (region.size >= row_bytes && offset <= region.size - row_bytes) {
      const std::uint8_t* const marks = region.written;
      static_assert(row_bytes == 16 && written_mark == 0xFF);
      if (marks == nullptr) return region.data + offset;
      const auto half = [&](std::size_t at) {
        std::uint64_t word;
        std::memcpy(&word, marks + offset + at, sizeof word);
        return word;
      };
      if ((half(0) & half(8)) == ~std::uint64_t{0}) return region.data + offset;
    }
    return questionable_piece(offset_in_block, written);
  }
  [[gnu::noinline]] const std::byte* questionable_piece(std::uint64_t offset_in_block, bool& written) {
    const MemoryRegion& region = owner.shared_region;
    const std::uint64_t address = own_shared(owner, offset_in_block);
    if (!region.contains(address, row_bytes)) {
      if (!failed)
        warp.fail(step, lane, Kind::out_of_bounds,
                  cat("reads ", row_bytes, " bytes of matrix ", name, " at shared address 0x", hex(address), ", ",
                      describe_position(address, row_bytes, {&region, 1})));
      failed = true;
      return nullptr;
    }
    const std::uint64_t offset = address - region.begin;
    const std::uint8_t* const marks = region.written == nullptr ? nullptr : region.written + offset;
    if (marks != nullptr && !std::all_of(marks, marks + used, [](std::uint8_t mark) { return mark == written_mark; })) {
      written = false;
      note_found(warp, step, say_unwritten(warp, Space::shared, address, {marks, used}));
    }
    return region.data + offset;
  }

  /// The pieces of `count` rows from `first` on, of `depth` elements along k: take(outer, inner, bytes) of each, the pieces of a
  /// row, or of a column where they lie along m or n. unwritten(row) is told of a row that has bytes which nothing has written.
  /// False: a fault was recorded.
  template <class Take, class Unwritten>
  bool each_piece(const layout::SharedMatrix& from, bool transposed, int first, int count, int depth, Packing packing, Take take,
                  Unwritten unwritten) {
    const int per_piece = packing.per_piece;
    used = packing.element_bytes();
    const int outer = transposed ? depth : count, inner = (transposed ? count : depth) / per_piece;
    for (int o = 0; o < outer; ++o)
      for (int i = 0; i < inner; ++i) {
        const auto address = transposed ? from.along_mn(static_cast<std::uint64_t>(o), index_of(first / per_piece + i))
                                        : from.along_k(index_of(first + o), index_of(i));
        bool written = true;
        const std::byte* bytes = piece(address, written);
        if (bytes == nullptr) return false;
        take(o, i, bytes);
        if (!written) {
          if (!transposed)
            unwritten(o);
          else
            for (int j = 0; j < per_piece; ++j) unwritten(i * per_piece + j);
        }
      }
    if (warp.races != nullptr) tell_line();
    return true;
  }

  /// The same by elements: element(row, k) is where one goes.
  template <class Element, class Unwritten>
  bool operator()(const layout::SharedMatrix& from, bool transposed, int first, int count, int depth, Packing packing,
                  Element element, Unwritten unwritten) {
    const auto take = [&](int o, int i, const std::byte* bytes) {
      each_of_piece(bytes, packing, [&](int j, std::uint32_t raw) {
        const int along = i * packing.per_piece + j;
        element(transposed ? along : o, transposed ? o : along) = raw;
      });
    };
    return each_piece(from, transposed, first, count, depth, packing, take, unwritten);
  }

  /// All elements at once, 8, 16 or 32 bits wide, as runs along k, or transposed along m or n.
  template <class Unwritten>
  bool read(Panel& panel, const layout::SharedMatrix& from, bool transposed, int first, int count, int depth, int bits,
            Unwritten unwritten) {
    panel.begin(bits, index_of(transposed ? depth : count), index_of(transposed ? count : depth));
    if (!transposed && first % 8 == 0) {  // rows come in eights
      layout::SharedMatrix rows = from;
      rows.start += index_of(first / 8) * from.stride;
      const PiecePlaces& places = piece_places(rows, transposed, count, depth, bits);
      if (const std::byte* bytes = at_once(rows, places)) return panel.read(bytes, places), true;
    }
    const auto take = [&](int o, int i, const std::byte* bytes) {
      std::memcpy(panel.piece(index_of(o), index_of(i)), bytes, row_bytes);
    };
    return each_piece(from, transposed, first, count, depth, Packing::whole(bits), take, unwritten);
  }

  /// What the places of a matrix count from, where all its pieces lie in memory and are written; else nullptr: they are to be
  /// looked at one by one.
  [[nodiscard]] const std::byte* at_once(const layout::SharedMatrix& from, const PiecePlaces& places) const {
    const MemoryRegion& region = owner.shared_region;
    const std::uint64_t offset = block_begin + pattern_begin(from) - region.begin;
    if (places.size > region.size || offset > region.size - places.size) return nullptr;
    if (region.written != nullptr && !all_pieces_written(region.written + offset, places)) return nullptr;
    if (warp.races != nullptr)
      warp.races->access_sheets_of_operation(warp, step, region.data + offset, places.parts, places.number);
    return region.data + offset;
  }

  /// The elements of one piece. (Those of 6 bits lie across the borders of words.)
  template <class Use>
  static void each_of_piece(const std::byte* bytes, Packing packing, Use use) {
    if (packing.bits != 6) {
      const int per_word = 32 / packing.bits;
      for (int w = 0; w < packing.per_piece / per_word; ++w)
        each_element(load_as<std::uint32_t>(bytes + 4 * w), per_word, packing.bits,
                     [&](int j, std::uint32_t raw) { use(w * per_word + j, raw); });
      return;
    }
    for (int j = 0; j < packing.per_piece; ++j) {
      const int bit = 6 * j;
      const auto low = static_cast<std::uint32_t>(bytes[bit / 8]), high = static_cast<std::uint32_t>(bytes[bit / 8 + 1]);
      use(j, (low | high << 8) >> bit % 8 & 0x3F);
    }
  }
};

}  // namespace ptx::vgpu

#include "ptx/vgpu/tensor/panel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "ptx/vgpu/memory/memory.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::size_t piece_bytes = 16;
using Piece = std::uint64_t __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Piece piece_at(const void* from) {
  Piece piece;
  std::memcpy(&piece, from, sizeof piece);
  return piece;
}

// What the places of a matrix depend on.
using PlacesKey = std::array<std::uint64_t, 10>;
struct KnownPlaces {
  PlacesKey key{};  // no matrix has a width of 0
  PiecePlaces places;
};

PiecePlaces find_places(const layout::SharedMatrix& matrix, std::size_t outer, std::size_t inner, bool transposed) {
  static thread_local std::uint64_t last = 0;
  PiecePlaces found;
  found.number = ++last;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      const std::uint64_t at = transposed ? matrix.along_mn(o, i) : matrix.along_k(o, i);
      found.offsets.push_back(static_cast<std::uint32_t>(at));
      found.size = std::max(found.size, at + piece_bytes);
    }
  std::map<std::uint32_t, races::SheetPart> parts;
  constexpr std::uint32_t granules = (1u << (piece_bytes / races::granule_bytes)) - 1;
  for (const std::uint32_t at : found.offsets)
    parts[at / races::sheet_bytes][at % races::sheet_bytes / races::line_bytes] |=
        granules << (at % races::line_bytes / races::granule_bytes);
  for (const auto& [sheet, where] : parts) found.parts.push_back({sheet, where});
  return found;
}

constexpr std::size_t eight = 8;
using Bytes = std::uint8_t __attribute__((vector_size(8)));
using Shorts = std::uint16_t __attribute__((vector_size(16)));
using Words = std::uint32_t __attribute__((vector_size(32)));

// Eight elements, 8 or 16 bits wide.
template <std::size_t element_bytes>
[[gnu::always_inline]] inline void load(Shorts& to, const std::byte* from) {
  if constexpr (element_bytes == 1) {
    Bytes elements;
    std::memcpy(&elements, from, sizeof elements);
    to = __builtin_convertvector(elements, Shorts);
  } else {
    std::memcpy(&to, from, sizeof to);
  }
}

// What has row r of eight has column r then: pairs are exchanged at a distance of 1, then of 2, then of 4.
[[gnu::always_inline]] inline void transpose(Shorts (&m)[eight]) {
  for (std::size_t r = 0; r < eight; r += 2) {
    const Shorts a = m[r], b = m[r + 1];
    m[r] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    m[r + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (const std::size_t r : {0, 1, 4, 5}) {
    const Shorts a = m[r], b = m[r + 2];
    m[r] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    m[r + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (std::size_t r = 0; r < 4; ++r) {
    const Shorts a = m[r], b = m[r + 4];
    m[r] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    m[r + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

template <class T>
void expand_runs(const std::byte* from, std::size_t count, std::uint32_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * sizeof(T), sizeof element);
    to[i] = element;
  }
}

// Blocks of eight by eight where there are whole ones, and what is left by itself.
template <class T>
void expand_transposed(const std::byte* from, std::size_t outer, std::size_t inner, std::uint32_t* to) {
  const auto one = [&](std::size_t o, std::size_t i) {
    T element;
    std::memcpy(&element, from + (o * inner + i) * sizeof(T), sizeof element);
    to[i * outer + o] = element;
  };
  std::size_t o = 0;
  if constexpr (sizeof(T) <= 2) {
    for (; o + eight <= outer; o += eight)
      for (std::size_t i = 0; i + eight <= inner; i += eight) {  // pieces hold 8 elements or 16
        Shorts block[eight];
        for (std::size_t r = 0; r < eight; ++r) load<sizeof(T)>(block[r], from + ((o + r) * inner + i) * sizeof(T));
        transpose(block);
        for (std::size_t r = 0; r < eight; ++r) {
          const Words words = __builtin_convertvector(block[r], Words);
          std::memcpy(&to[(i + r) * outer + o], &words, sizeof words);
        }
      }
  }
  for (; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) one(o, i);
}

}  // namespace

void Panel::begin(int bits, std::size_t outer, std::size_t inner) {
  bits_ = static_cast<std::size_t>(bits), outer_ = outer, inner_ = inner, run_bytes_ = inner * bits_ / 8;
  if (bytes_.size() < outer * run_bytes_) bytes_.resize(outer * run_bytes_);
}

bool operator==(const Panel& a, const Panel& b) {
  return a.bits_ == b.bits_ && a.outer_ == b.outer_ && a.inner_ == b.inner_ &&
         std::memcmp(a.bytes_.data(), b.bytes_.data(), a.outer_ * a.run_bytes_) == 0;
}

const PiecePlaces& piece_places(const layout::SharedMatrix& matrix, bool transposed, int count, int depth, int bits) {
  static thread_local std::array<KnownPlaces, 32> known;
  static thread_local std::size_t oldest = 0;
  layout::SharedMatrix first = matrix;
  first.start %= pattern_bytes;
  const auto pieces_of = [&](int elements) { return static_cast<std::size_t>(elements * bits / 128); };
  const std::size_t outer = static_cast<std::size_t>(transposed ? depth : count), inner = pieces_of(transposed ? count : depth);
  const PlacesKey key = {
      first.start, first.leading, first.stride,        first.base_offset, first.width, first.rows, first.double_atoms ? 1u : 0u,
      outer,       inner,         transposed ? 1u : 0u};
  auto* const found = std::find_if(known.begin(), known.end(), [&](const KnownPlaces& some) { return some.key == key; });
  if (found != known.end()) return found->places;
  KnownPlaces& next = known[oldest++ % known.size()];
  next.key = key, next.places = find_places(first, outer, inner, transposed);
  return next.places;
}

bool all_pieces_written(const std::uint8_t* marks, const PiecePlaces& places) {
  static_assert(written_mark == 0xFF);
  // Each warp of a group asks for the same, product after product.
  struct Known {
    const std::uint8_t* marks = nullptr;
    std::uint64_t number = 0, when = 0;
  };
  static thread_local std::array<Known, 256> known;
  const std::uint64_t when = marks_taken_back;
  Known& same = known[(reinterpret_cast<std::uintptr_t>(marks) / pattern_bytes + places.number * 37) % known.size()];
  if (same.marks == marks && same.number == places.number && same.when == when) return true;
  Piece all = ~Piece{};
  for (const std::uint32_t offset : places.offsets) all &= piece_at(marks + offset);
  if ((all[0] & all[1]) != ~std::uint64_t{0}) return false;
  same = {marks, places.number, when};
  return true;
}

void Panel::read(const std::byte* from, const PiecePlaces& places) {
  std::byte* to = bytes_.data();
  for (const std::uint32_t offset : places.offsets) {
    std::memcpy(to, from + offset, piece_bytes);
    to += piece_bytes;
  }
}

bool Panel::holds(const std::byte* from, const PiecePlaces& places, int bits, std::size_t outer, std::size_t inner) const {
  if (bits_ != static_cast<std::size_t>(bits) || outer_ != outer || inner_ != inner) return false;
  constexpr std::size_t at_once = 64;
  const std::byte* mine = bytes_.data();
  for (std::size_t i = 0; i < places.offsets.size(); i += at_once) {
    Piece differences{};
    for (std::size_t j = i; j < std::min(i + at_once, places.offsets.size()); ++j) {
      differences |= piece_at(mine) ^ piece_at(from + places.offsets[j]);
      mine += piece_bytes;
    }
    if ((differences[0] | differences[1]) != 0) return false;
  }
  return true;
}

void Panel::expand(bool transposed, std::span<std::uint32_t> to) const {
  const auto by_type = [&](auto type) {
    using T = decltype(type);
    if (transposed)
      expand_transposed<T>(bytes_.data(), outer_, inner_, to.data());
    else
      expand_runs<T>(bytes_.data(), outer_ * inner_, to.data());
  };
  if (bits_ == 8) return by_type(std::uint8_t{});
  if (bits_ == 16) return by_type(std::uint16_t{});
  by_type(std::uint32_t{});
}

}  // namespace ptx::vgpu

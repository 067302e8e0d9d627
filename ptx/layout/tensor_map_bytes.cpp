#include "ptx/layout/tensor_map_bytes.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/layout/layout.hpp"

namespace ptx::layout {
namespace {

/// `width` bits of a word, from bit `at` on.
struct MapBits {
  unsigned word, at, width;
};
// Word 2: what the elements are and how they are copied.
constexpr MapBits im2col_bit{2, 0, 1}, rank_bits{2, 4, 3}, type_bits{2, 7, 4}, interleave_bits{2, 11, 2}, swizzle_bits{2, 13, 2},
    fill_bit{2, 15, 1}, tf32_bit{2, 16, 1}, promotion_bits{2, 17, 2}, atomicity_bits{2, 19, 2}, wide_bit{2, 21, 1};
// Words 3 to 7: strides in units of 16 bytes, 36 bits each, the upper 4 of all of them in word 7. Words 8 to 12: sizes less one.
constexpr MapBits stride_low(unsigned i) { return {3 + i, 0, 32}; }
constexpr MapBits stride_high(unsigned i) { return {7, 4 * i, 4}; }
constexpr MapBits size_bits(unsigned i) { return {8 + i, 0, 32}; }
constexpr MapBits element_stride_bits(unsigned i) { return {13, 3 * i, 3}; }
constexpr MapBits box_bits(unsigned i) { return i == 0 ? MapBits{13, 24, 8} : MapBits{14, 8 * (i - 1), 8}; }
// Of an im2col map, where a tiled one has its box.
constexpr MapBits channels_bits{13, 24, 8}, pixels_bits{15, 0, 10};
constexpr MapBits corner_bits(unsigned space, unsigned i, bool upper) {
  const unsigned width = space == 1 ? 16 : space == 2 ? 8 : 5;
  return {14, (upper ? 16 : 0) + width * i, width};
}
constexpr MapBits transfer_bits{16, 0, 32}, pattern_bits{18, 0, 32};  // which the driver keeps for itself

constexpr std::uint32_t mask(MapBits bits) { return bits.width == 32 ? 0xFFFFFFFFu : (1u << bits.width) - 1; }
std::uint32_t get(const TensorMapWords& words, MapBits bits) { return words.word[bits.word] >> bits.at & mask(bits); }
void put(TensorMapWords& words, MapBits bits, std::uint64_t value) {
  std::uint32_t& word = words.word[bits.word];
  word = (word & ~(mask(bits) << bits.at)) | ((static_cast<std::uint32_t>(value) & mask(bits)) << bits.at);
}

// The swizzle is told by its width, and by what it exchanges: pieces of 16, 32 or 64 bytes.
constexpr std::uint32_t width_128 = 3;
struct SwizzleCode {
  Swizzle swizzle;
  std::uint32_t width, atomicity;
};
constexpr SwizzleCode swizzle_codes[] = {{Swizzle::none, 0, 0},
                                         {Swizzle::b32, 1, 0},
                                         {Swizzle::b64, 2, 0},
                                         {Swizzle::b128, width_128, 0},
                                         {Swizzle::b128_atom32, width_128, 1},
                                         {Swizzle::b128_atom64, width_128, 3}};

// tf32 is f32 with a bit beside it. The numbers of packed types are ThunderKittens' (its encode_tiled); no driver has shown them.
struct TypeCode {
  TensorMapType type;
  std::uint32_t code, tf32;
};
constexpr TypeCode type_codes[] = {
    {TensorMapType::u8, 0, 0},        {TensorMapType::u16, 1, 0},     {TensorMapType::u32, 2, 0},
    {TensorMapType::s32, 3, 0},       {TensorMapType::u64, 4, 0},     {TensorMapType::s64, 5, 0},
    {TensorMapType::f16, 6, 0},       {TensorMapType::f32, 7, 0},     {TensorMapType::f64, 9, 0},
    {TensorMapType::bf16, 10, 0},     {TensorMapType::f32_ftz, 8, 0}, {TensorMapType::tf32, 7, 1},
    {TensorMapType::tf32_ftz, 8, 1},  {TensorMapType::b4x16, 11, 0},  {TensorMapType::b4x16_p64, 12, 0},
    {TensorMapType::b6x16_p32, 13, 0}};

std::int32_t sign_extend(std::uint32_t value, unsigned width) {
  return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}

Unexpected no_map(std::string why) { return {{.kind = Kind::bad_tile, .message = std::move(why)}}; }

void put_address(TensorMapWords& words, std::uint64_t tensor) {
  words.word[0] = static_cast<std::uint32_t>(tensor);
  words.word[1] = static_cast<std::uint32_t>(tensor >> 32);
}
void put_stride(TensorMapWords& words, unsigned i, std::uint64_t bytes) {
  put(words, stride_low(i), bytes >> 4);
  put(words, stride_high(i), bytes >> 36);
}
void put_type(TensorMapWords& words, const TypeCode& type) {
  put(words, type_bits, type.code);
  put(words, tf32_bit, type.tf32);
}

}  // namespace

TensorMapWords encode(const TensorMap& map, std::uint64_t tensor) {
  TensorMapWords words;
  put_address(words, tensor);
  put(words, rank_bits, map.rank - 1u);
  put_type(words, *std::find_if(std::begin(type_codes), std::end(type_codes), [&](const auto& t) { return t.type == map.type; }));
  put(words, interleave_bits, static_cast<std::uint32_t>(map.interleave));
  const auto code = std::find_if(std::begin(swizzle_codes), std::end(swizzle_codes),
                                 [&](const SwizzleCode& s) { return s.swizzle == map.swizzle; });
  put(words, swizzle_bits, code->width);
  put(words, atomicity_bits, code->atomicity);
  put(words, fill_bit, map.fill == TensorMapFill::nan ? 1 : 0);
  put(words, promotion_bits, static_cast<std::uint32_t>(map.l2_promotion));
  for (unsigned i = 0; i + 1 < map.rank; ++i) put_stride(words, i, map.strides[i]);
  std::uint64_t elements = 1, whole_steps = 1;
  for (unsigned i = 0; i < map.rank; ++i) {
    whole_steps *= map.box[i] / map.element_strides[i];  // what the driver writes down, though a copy takes the last step too
    put(words, size_bits(i), map.sizes[i] - 1);
    put(words, element_stride_bits(i), map.element_strides[i] - 1);
    if (!map.im2col) put(words, box_bits(i), map.box[i] - 1);
    elements *= map.im2col ? 1 : map.box[i];
  }
  if (map.im2col) {
    const unsigned space = map.rank - 2u;
    put(words, im2col_bit, 1);
    put(words, channels_bits, map.im2col->channels_per_pixel - 1);
    put(words, pixels_bits, map.im2col->pixels_per_column - 1);
    for (unsigned i = 0; i < space; ++i) {
      put(words, corner_bits(space, i, false), static_cast<std::uint32_t>(map.im2col->lower_corner[i]));
      put(words, corner_bits(space, i, true), static_cast<std::uint32_t>(map.im2col->upper_corner[i]));
    }
    elements = std::uint64_t{map.im2col->channels_per_pixel} * map.im2col->pixels_per_column;
  }
  constexpr std::uint64_t many = 65536;
  const std::uint64_t transfer = map.nominal_bytes();
  put(words, wide_bit, (map.interleave == Interleave::none ? elements : transfer) >= many ? 1 : 0);
  put(words, transfer_bits, map.im2col ? transfer : bytes_of(map.type, whole_steps));
  put(words, pattern_bits, code->width == 0 ? 0x10 : 1u << (7 + code->width));
  return words;
}

Expected<DecodedTensorMap> decode(const TensorMapWords& words) {
  DecodedTensorMap decoded;
  TensorMap& map = decoded.map;
  decoded.tensor = words.word[0] | std::uint64_t{words.word[1]} << 32;
  if (get(words, rank_bits) >= TensorMap::max_rank) return no_map(cat("its rank is ", get(words, rank_bits) + 1));
  map.rank = static_cast<std::uint8_t>(get(words, rank_bits) + 1);
  const std::uint32_t code = get(words, type_bits), tf32 = get(words, tf32_bit);
  const auto type = std::find_if(std::begin(type_codes), std::end(type_codes),
                                 [&](const TypeCode& t) { return t.code == code && t.tf32 == tf32; });
  if (type == std::end(type_codes)) return no_map(cat("the number of its element type is ", code));
  map.type = type->type;
  if (get(words, interleave_bits) > 2) return no_map("its channels are interleaved in a way that does not exist");
  map.interleave = static_cast<Interleave>(get(words, interleave_bits));
  const std::uint32_t width = get(words, swizzle_bits), atomicity = width == width_128 ? get(words, atomicity_bits) : 0;
  const auto swizzle = std::find_if(std::begin(swizzle_codes), std::end(swizzle_codes),
                                    [&](const SwizzleCode& s) { return s.width == width && s.atomicity == atomicity; });
  if (swizzle == std::end(swizzle_codes)) return no_map("its swizzle exchanges pieces of 32 bytes and 8 within them");
  map.swizzle = swizzle->swizzle;
  map.fill = get(words, fill_bit) != 0 ? TensorMapFill::nan : TensorMapFill::zero;
  map.l2_promotion = static_cast<L2Promotion>(get(words, promotion_bits));
  const bool im2col = get(words, im2col_bit) != 0;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.sizes[i] = std::uint64_t{get(words, size_bits(i))} + 1;
    map.element_strides[i] = get(words, element_stride_bits(i)) + 1;
    if (!im2col) map.box[i] = get(words, box_bits(i)) + 1;
    if (i + 1 < map.rank) map.strides[i] = (get(words, stride_low(i)) | std::uint64_t{get(words, stride_high(i))} << 32) << 4;
  }
  if (im2col) {
    if (map.rank < 3) return no_map(cat("an im2col tensor map has 3 to 5 dimensions, not ", int{map.rank}));
    const unsigned space = map.rank - 2u;
    Im2col columns;
    columns.channels_per_pixel = get(words, channels_bits) + 1;
    columns.pixels_per_column = get(words, pixels_bits) + 1;
    for (unsigned i = 0; i < space; ++i) {
      const MapBits lower = corner_bits(space, i, false), upper = corner_bits(space, i, true);
      columns.lower_corner[i] = sign_extend(get(words, lower), lower.width);
      columns.upper_corner[i] = sign_extend(get(words, upper), upper.width);
    }
    map.im2col = columns;
  }
  if (auto ok = map.check(); !ok) return Unexpected{std::move(ok).error()};
  if (const std::uint64_t multiple = address_alignment(map); decoded.tensor % multiple != 0)
    return no_map(cat("the address of its tensor, 0x", hex(decoded.tensor), ", is not a multiple of ", multiple));
  return decoded;
}

void replace(TensorMapWords& words, TensorMapField field, unsigned ordinal, std::uint64_t value) {
  constexpr unsigned strides = TensorMap::max_rank - 1;
  switch (field) {
    case TensorMapField::global_address:
      return put_address(words, value);
    case TensorMapField::rank:
      return put(words, rank_bits, value);
    case TensorMapField::box_dim:
      return put(words, box_bits(ordinal), value - 1);
    case TensorMapField::global_dim:
      return put(words, size_bits(ordinal), value - 1);
    case TensorMapField::global_stride:
      if (ordinal < strides) put_stride(words, ordinal, value);
      return;
    case TensorMapField::element_stride:
      return put(words, element_stride_bits(ordinal), value - 1);
    case TensorMapField::elemtype: {
      // the instruction's numbers are the descriptor's, but for two more of tf32 before the packed types
      constexpr std::uint64_t tf32 = 11, packed = 13;
      if (value >= packed) return put_type(words, {TensorMapType::u8, static_cast<std::uint32_t>(value - 2), 0});
      if (value >= tf32) return put_type(words, {TensorMapType::tf32, static_cast<std::uint32_t>(value - tf32 + 7), 1});
      return put_type(words, {TensorMapType::u8, static_cast<std::uint32_t>(value), 0});
    }
    case TensorMapField::interleave_layout:
      return put(words, interleave_bits, value);
    case TensorMapField::swizzle_mode:
      return put(words, swizzle_bits, value);
    case TensorMapField::swizzle_atomicity:
      return put(words, atomicity_bits, value);
    case TensorMapField::fill_mode:
      return put(words, fill_bit, value);
  }
}

}  // namespace ptx::layout

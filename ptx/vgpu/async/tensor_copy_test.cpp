// Copies of tensors against a reference that goes element by element: coordinates by division, swizzles by the manual's tables.
#include <random>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/tensor_copies.hpp"

namespace ptx::vgpu::tensor_copies {
namespace {

using layout::Swizzle;
using layout::TensorMap;
using layout::TensorMapType;
using testing::Buffer;
using testing::make_body;

// ---- the reference

/// Where the byte at offset `at` of a tile lies: the manual's tables say which piece of a row of 128 bytes changes places with
/// which, by the number of the row.
std::size_t place_of(Swizzle swizzle, std::size_t at) {
  const std::size_t address = at + tile_begin, row = address / 128, in_row = address % 128;
  const auto exchange = [&](std::size_t piece, std::size_t pieces, std::size_t period) {
    return row * 128 + ((in_row / piece) ^ (row / period % pieces)) * piece + in_row % piece - tile_begin;
  };
  switch (swizzle) {
    case Swizzle::none:
      return at;
    case Swizzle::b32:
      return exchange(16, 2, 1);
    case Swizzle::b64:
      return exchange(16, 4, 1);
    case Swizzle::b128:
      return exchange(16, 8, 1);
    case Swizzle::b128_atom32:
      return exchange(32, 4, 1);
    case Swizzle::b128_atom64:
      return exchange(64, 2, 1);
    default:
      return ~std::size_t{0};
  }
}
std::size_t span_of(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : swizzle == Swizzle::b32 ? 32 : swizzle == Swizzle::b64 ? 64 : 128;
}

/// One element of a box: where it lies in the tensor (nothing: outside) and in shared memory.
struct Pair {
  std::optional<std::size_t> tensor;
  std::size_t shared = 0;
};
std::vector<Pair> pairs_of(const TensorMap& map, const std::array<std::int32_t, 5>& at) {
  const auto size = static_cast<std::size_t>(layout::element_bytes(map.type));
  std::array<std::size_t, 5> counts{1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < map.rank; ++i)
    counts[i] = i == 0 ? map.box[0] : (map.box[i] + map.element_strides[i] - 1) / map.element_strides[i];
  const std::size_t pitch = std::max(counts[0] * size, span_of(map.swizzle));
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < counts[0] * counts[1] * counts[2] * counts[3] * counts[4]; ++k) {
    std::size_t rest = k;
    bool inside = true;
    std::int64_t offset = 0;
    std::array<std::size_t, 5> index{};
    for (std::size_t i = 0; i < map.rank; ++i) {
      index[i] = rest % counts[i];
      rest /= counts[i];
      const std::int64_t c = at[i] + static_cast<std::int64_t>(index[i]) * (i == 0 ? 1 : map.element_strides[i]);
      inside = inside && c >= 0 && c < static_cast<std::int64_t>(map.sizes[i]);
      offset += c * static_cast<std::int64_t>(i == 0 ? size : map.strides[i - 1]);
    }
    const std::size_t row = k / counts[0];
    Pair pair{std::nullopt, place_of(map.swizzle, row * pitch + index[0] * size)};
    if (inside) pair.tensor = static_cast<std::size_t>(offset);
    pairs.push_back(pair);
  }
  return pairs;
}

struct Tensor {
  TensorMap map;
  Buffer<std::uint8_t> data;
  [[nodiscard]] layout::TensorMapWords words() { return layout::encode(map, aligned()); }
  [[nodiscard]] std::uint64_t aligned() { return (data.address() + 31) / 32 * 32; }
  [[nodiscard]] std::size_t shift() { return aligned() - data.address(); }
};
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  template <class T>
  T pick(std::initializer_list<T> from) {
    return std::data(from)[random_() % from.size()];
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }

 private:
  std::mt19937 random_;
};
std::optional<Tensor> random_tensor(Dice& dice, std::initializer_list<TensorMapType> types) {
  TensorMap map{.type = dice.pick(types), .rank = dice.pick<std::uint8_t>({1, 2, 2, 3, 4, 5})};
  const auto size = static_cast<std::uint64_t>(layout::element_bytes(map.type));
  map.swizzle = dice.pick({Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64});
  map.fill = dice.pick({layout::TensorMapFill::zero, layout::TensorMapFill::zero, layout::TensorMapFill::nan});
  map.box[0] = static_cast<std::uint32_t>(dice.pick<std::uint64_t>({16, 32, 64, 96, 128, 256}) / size);
  map.sizes[0] = dice.pick<std::uint64_t>({16, 40, 64, 100, 128, 200}) / size + dice.pick<std::uint64_t>({0, 1});
  std::uint64_t stride = (map.sizes[0] * size + 15) / 16 * 16 + dice.pick<std::uint64_t>({0, 16, 48});
  for (std::size_t i = 1; i < map.rank; ++i) {
    map.sizes[i] = dice.pick<std::uint64_t>({1, 2, 3, 5, 8});
    map.box[i] = dice.pick<std::uint32_t>({1, 2, 3, 4, 7});
    map.element_strides[i] = dice.pick<std::uint32_t>({1, 1, 1, 2, 3});
    map.strides[i - 1] = stride;
    stride = stride * map.sizes[i] + dice.pick<std::uint64_t>({0, 32});
  }
  if (!map.check()) return std::nullopt;
  Tensor tensor{map, {"X", std::vector<std::uint8_t>(stride + 64), true}};
  for (std::uint8_t& byte : tensor.data.data) byte = dice.byte();
  for (const Pair& pair : pairs_of(map, {}))
    if (pair.shared >= room) return std::nullopt;
  return tensor;
}
std::array<std::int32_t, 5> random_place(Dice& dice, const TensorMap& map, bool stores) {
  std::array<std::int32_t, 5> at{};
  for (std::size_t i = 0; i < map.rank; ++i) {
    const int unit = i == 0 ? 16 / layout::element_bytes(map.type) : 1, size = static_cast<int>(map.sizes[i]);
    at[i] = dice.pick({0, 0, 0, 1, 2, -1, -2, size / unit - 1, size / unit, size / unit + 3}) * unit;
    if (stores) at[i] = std::max(at[i], 0);
  }
  return at;
}

// ---- the sweeps

TEST(TensorCopies, BoxesInAndOutOfTheTensor) {
  Dice dice(1);
  using enum TensorMapType;
  for (int done = 0; done < 400;) {
    auto tensor = random_tensor(dice, {u8, u16, s32, u64, f16, bf16, f32, f64, f32_ftz});
    if (!tensor) continue;
    ++done;
    const TensorMap& map = tensor->map;
    const auto size = static_cast<std::size_t>(layout::element_bytes(map.type));
    Call call{tensor->words()};
    call.coordinates = random_place(dice, map, false);
    const auto pairs = pairs_of(map, call.coordinates);
    call.bytes = static_cast<std::uint32_t>(pairs.size() * size);
    std::vector<std::uint8_t> wanted(room, untouched);
    for (const Pair& pair : pairs)
      for (std::size_t b = 0; b < size; ++b) {
        const std::uint8_t outside = map.fill == layout::TensorMapFill::zero ? 0 : b % 2 == 0 ? 0xF7 : 0x7F;
        wanted[pair.shared + b] = pair.tensor ? tensor->data.data[tensor->shift() + *pair.tensor + b] : outside;
      }
    const auto got =
        run_call(program_of(load_of(map.rank, done % 2 != 0 ? "shared::cluster" : "shared::cta")), call, {tensor->data.region()});
    ASSERT_TRUE(got) << render(got.error());
    ASSERT_EQ(*got, wanted) << to_string(map) << " at " << call.coordinates[0] << ", " << call.coordinates[1];
  }
}

TEST(TensorCopies, StoresAndReductionsAreClipped) {
  Dice dice(2);
  using enum TensorMapType;
  for (int done = 0; done < 300; ++done) {
    auto tensor = random_tensor(dice, {u32, s32, f16, u64});
    if (!tensor) continue;
    const TensorMap& map = tensor->map;
    const auto size = static_cast<std::size_t>(layout::element_bytes(map.type));
    Call call{tensor->words()};
    call.coordinates = random_place(dice, map, true);
    for (std::uint8_t& byte : call.image) byte = dice.byte();
    const bool adds = done % 3 == 0 && map.type != f16;
    std::vector<std::uint8_t> wanted = tensor->data.data;
    for (const Pair& pair : pairs_of(map, call.coordinates)) {
      if (!pair.tensor) continue;
      unsigned carry = 0;
      for (std::size_t b = 0; b < size; ++b) {  // a sum, byte by byte
        std::uint8_t& byte = wanted[tensor->shift() + *pair.tensor + b];
        const unsigned sum = call.image[pair.shared + b] + (adds ? byte + carry : 0u);
        byte = static_cast<std::uint8_t>(sum);
        carry = sum >> 8;
      }
    }
    const auto got = run_call(program_of(store_of(map.rank, adds ? ".add" : "")), call, {tensor->data.region()});
    ASSERT_TRUE(got) << render(got.error());
    ASSERT_EQ(tensor->data.data, wanted) << to_string(map) << " at " << call.coordinates[0] << ", " << call.coordinates[1];
    ASSERT_EQ(*got, call.image);
  }
}

// Elements of tf32 are rounded when they come; those of f32.ftz are not flushed, but by an addition.
TEST(TensorCopies, WhatTypesDoToNumbers) {
  TensorMap map{.type = TensorMapType::tf32, .rank = 1};
  map.sizes[0] = map.box[0] = 64;
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(72)};
  const std::size_t shift = ((x.address() + 15) / 16 * 16 - x.address()) / 4;
  const std::pair<std::uint32_t, std::uint32_t> rounded[] = {
      {0x3F800000, 0x3F800000}, {0x3F800FFF, 0x3F800000}, {0x3F801000, 0x3F800000}, {0x3F801001, 0x3F802000},
      {0x3F803000, 0x3F804000}, {0x7F7FFFFF, 0x7F800000}, {0xFF800000, 0xFF800000}, {0x7F800001, 0x7FFFE000},
      {0xFFC00000, 0x7FFFE000}, {0x00001000, 0x00000000}, {0x00003000, 0x00004000}, {0x807FFFFF, 0x80800000}};
  for (std::size_t i = 0; i < std::size(rounded); ++i) x.data[shift + i] = rounded[i].first;
  const auto word = [](const std::vector<std::uint8_t>& bytes, std::size_t i) {
    std::uint32_t value = 0;
    std::memcpy(&value, &bytes[4 * i], 4);
    return value;
  };
  Call call{layout::encode(map, x.address() + 4 * shift)};
  call.bytes = 256;
  const auto got = run_call(program_of(load_of(1)), call, {x.region()});
  ASSERT_TRUE(got) << render(got.error());
  for (std::size_t i = 0; i < std::size(rounded); ++i)
    EXPECT_EQ(word(*got, i), rounded[i].second) << std::hex << rounded[i].first;
  for (const bool ftz : {false, true}) {
    map.type = ftz ? TensorMapType::f32_ftz : TensorMapType::f32;
    call.map = layout::encode(map, x.address() + 4 * shift);
    const auto kept = run_call(program_of(load_of(1)), call, {x.region()});
    ASSERT_TRUE(kept);
    EXPECT_EQ(word(*kept, 9), 0x00001000u);
    Call add = call;
    add.bytes = 0;
    std::fill(add.image.begin(), add.image.end(), 0);
    ASSERT_TRUE(run_call(program_of(store_of(1, ".add")), add, {x.region()}));
    EXPECT_EQ(x.data[shift + 9], ftz ? 0u : 0x00001000u);
  }
}

// ---- im2col

// Along w: from the instruction's place through a row of the box, then through the same row of the next image. The manual's own
// example, 128 images of 9 x 7 pixels, and others; the first may lie before the box. (No GPU has been asked.)
TEST(TensorCopies, PixelsAlongW) {
  struct Case {
    std::array<std::uint64_t, 5> sizes;
    std::int32_t lower, upper;
    std::array<std::int32_t, 5> at;
    std::uint16_t offset;
    std::uint32_t pixels, stride;
    std::uint8_t rank;
  };
  const Case cases[] = {{{8, 7, 9, 30}, 0, 0, {0, 3, 2, 7}, 0, 100, 1, 4},
                        {{8, 67, 9, 5}, -1, 0, {0, -1, 2, 1}, 1, 90, 2, 4},
                        {{8, 7, 7, 30}, -1, -1, {0, -1, 2, 7}, 2, 60, 3, 4},
                        {{16, 20, 4}, -2, 1, {0, -4, 0}, 0, 70, 1, 3},
                        {{8, 5, 4, 3, 40}, -1, -1, {0, 1, 2, 1, 3}, 1, 65, 1, 5}};
  for (const Case& c : cases)
    for (const std::string_view mode : {".im2col::w", ".im2col::w::128"}) {
      TensorMap map{.type = TensorMapType::u16, .rank = c.rank};
      map.sizes = c.sizes;
      const std::uint32_t pixels = mode.ends_with("128") ? 128 : c.pixels, channels = 8;
      map.im2col = layout::Im2col{
          .lower_corner = {c.lower}, .upper_corner = {c.upper}, .channels_per_pixel = channels, .pixels_per_column = c.pixels};
      std::uint64_t stride = 2;
      for (std::size_t i = 0; i + 1 < c.rank; ++i) map.strides[i] = stride *= c.sizes[i];
      const std::size_t images = c.rank - 1u;
      map.element_strides[1] = c.stride;
      Buffer<std::uint16_t> x{"X", std::vector<std::uint16_t>(stride * c.sizes[images] / 2 + 8)};
      std::mt19937 random(4);
      for (auto& element : x.data) element = static_cast<std::uint16_t>(random());
      const std::size_t shift = ((x.address() + 15) / 16 * 16 - x.address()) / 2;
      std::vector<std::uint8_t> wanted(room, untouched);
      const std::int64_t last = static_cast<std::int64_t>(c.sizes[1]) - 1 + c.upper + c.offset;
      std::int64_t w = c.at[1] + c.offset, image = c.at[images];
      for (std::uint32_t i = 0; i < pixels; ++i, w += c.stride) {
        if (w > last) w = c.lower + c.offset, ++image;
        for (std::uint32_t channel = 0; channel < channels; ++channel) {
          std::int64_t row = image;  // numbered over all but w and the channels
          for (std::size_t k = images - 1; k >= 2; --k) row = row * static_cast<std::int64_t>(c.sizes[k]) + c.at[k];
          const std::int64_t element =
              (row * static_cast<std::int64_t>(c.sizes[1]) + w) * static_cast<std::int64_t>(c.sizes[0]) + channel;
          const bool inside =
              w >= 0 && w < static_cast<std::int64_t>(c.sizes[1]) && image < static_cast<std::int64_t>(c.sizes[images]);
          const std::uint16_t value = inside ? x.data[shift + static_cast<std::size_t>(element)] : std::uint16_t{0};
          std::memcpy(&wanted[2 * (std::size_t{i} * channels + channel)], &value, 2);
        }
      }
      Call call{layout::encode(map, x.address() + 2 * shift)};
      call.coordinates = c.at;
      call.offsets = {0, c.offset};
      call.bytes = 2 * pixels * channels;
      for (const std::string_view dst : {"shared::cluster", "shared::cta"}) {
        const auto program = program_of(load_of(c.rank, dst, mode), {"8.6", "sm_100a"});
        const auto got = run_call(program, call, {x.region()});
        ASSERT_TRUE(got) << render(got.error());
        EXPECT_EQ(*got, wanted) << to_string(map) << mode;
        Call halo = call;
        halo.offsets[0] = 2;
        const auto refused = run_call(program, halo, {x.region()});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, Kind::not_executed);
        EXPECT_NE(refused.error().message.find("copies a halo of 2 pixels"), std::string::npos) << refused.error().message;
      }
    }
}

// The manual's first example, and others: the pixels as nested loops over the box in space meet them.
TEST(TensorCopies, PixelsUnderAFilter) {
  struct Case {
    std::array<std::uint64_t, 5> sizes;
    std::array<std::int32_t, 3> lower, upper;
    std::array<std::int32_t, 5> at;
    std::array<std::uint16_t, 3> offsets;
    std::uint32_t channels, pixels, stride;
    std::uint8_t rank;
  };
  const Case cases[] = {{{64, 9, 14, 64}, {-1, -1}, {-1, -1}, {8, 7, 4, 0}, {0, 0}, 8, 64, 1, 4},
                        {{64, 9, 14, 64}, {0, 0}, {-2, -2}, {8, 6, 4, 0}, {2, 2}, 8, 64, 1, 4},
                        {{64, 8, 14, 64}, {-1, -1}, {-1, -1}, {8, 5, 5, 0}, {1, 1}, 16, 32, 2, 4},
                        {{32, 20, 3}, {-2}, {1}, {0, -2, 0}, {3}, 32, 70, 1, 3},
                        {{16, 5, 4, 3, 2}, {-1, -1, 0}, {-1, -1, 0}, {0, -1, 2, 1, 0}, {2, 1, 0}, 16, 100, 1, 5}};
  for (const Case& c : cases) {
    TensorMap map{.type = TensorMapType::u16, .rank = c.rank};
    map.sizes = c.sizes;
    layout::Im2col columns{
        .lower_corner = c.lower, .upper_corner = c.upper, .channels_per_pixel = c.channels, .pixels_per_column = c.pixels};
    map.im2col = columns;
    std::uint64_t stride = 2;
    for (std::size_t i = 0; i + 1 < c.rank; ++i) map.strides[i] = stride *= c.sizes[i];
    const std::size_t space = c.rank - 2u, images = c.rank - 1u;
    for (std::size_t i = 1; i <= space; ++i) map.element_strides[i] = c.stride;
    Buffer<std::uint16_t> x{"X", std::vector<std::uint16_t>(stride * c.sizes[images] / 2 + 8)};
    std::mt19937 random(3);
    for (auto& element : x.data) element = static_cast<std::uint16_t>(random());
    const std::size_t shift = ((x.address() + 15) / 16 * 16 - x.address()) / 2;
    // every place of the filter's base, in order; those from the instruction's on
    std::vector<std::array<std::int64_t, 5>> places;
    const std::int64_t step = c.stride;
    const auto bound = [&](std::size_t i) { return static_cast<std::int64_t>(c.sizes[i]) - 1 + c.upper[i - 1]; };
    for (std::int64_t n = c.at[images]; n < static_cast<std::int64_t>(c.sizes[images]) + 70; ++n)
      for (std::int64_t d = space > 2 ? c.lower[2] : 0; d <= (space > 2 ? bound(3) : 0); d += step)
        for (std::int64_t h = space > 1 ? c.lower[1] : 0; h <= (space > 1 ? bound(2) : 0); h += step)
          for (std::int64_t w = c.lower[0]; w <= bound(1); w += step) {
            std::array<std::int64_t, 5> place{c.at[0], w};
            if (space > 1) place[2] = h;
            if (space > 2) place[3] = d;
            place[images] = n;
            places.push_back(place);
          }
    std::array<std::int64_t, 5> first{};
    std::copy(c.at.begin(), c.at.end(), first.begin());
    auto place = std::find(places.begin(), places.end(), first);
    ASSERT_NE(place, places.end());
    std::vector<std::uint8_t> wanted(room, untouched);
    for (std::uint32_t i = 0; i < c.pixels; ++i, ++place)
      for (std::uint32_t channel = 0; channel < c.channels; ++channel) {
        ASSERT_NE(place, places.end());
        std::int64_t element = (*place)[0] + channel, scale = static_cast<std::int64_t>(c.sizes[0]);
        bool inside = element < scale;
        for (std::size_t k = 1; k < c.rank; ++k) {
          const std::int64_t at = (*place)[k] + (k <= space ? c.offsets[k - 1] : 0);
          inside = inside && at >= 0 && at < static_cast<std::int64_t>(c.sizes[k]);
          element += at * scale;
          scale *= static_cast<std::int64_t>(c.sizes[k]);
        }
        const std::uint16_t value = inside ? x.data[shift + static_cast<std::size_t>(element)] : std::uint16_t{0};
        std::memcpy(&wanted[2 * (std::size_t{i} * c.channels + channel)], &value, 2);
      }
    Call call{layout::encode(map, x.address() + 2 * shift)};
    call.coordinates = c.at;
    call.offsets = c.offsets;
    call.bytes = 2 * c.pixels * c.channels;
    for (const std::string_view dst : {"shared::cluster", "shared::cta"}) {
      const auto got = run_call(program_of(load_of(c.rank, dst, ".im2col")), call, {x.region()});
      ASSERT_TRUE(got) << render(got.error());
      EXPECT_EQ(*got, wanted) << to_string(map);
    }
  }
}

TEST(TensorCopies, PixelsGoBack) {
  TensorMap map{.type = TensorMapType::u32, .rank = 3};
  map.sizes = {8, 6, 2};
  map.strides = {32, 192};
  map.im2col = layout::Im2col{.channels_per_pixel = 8, .pixels_per_column = 7};
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(96 + 4, 1)};
  const std::size_t shift = ((x.address() + 15) / 16 * 16 - x.address()) / 4;
  Call call{layout::encode(map, x.address() + 4 * shift)};
  call.coordinates = {0, 3, 0, 0, 0};
  for (std::uint32_t i = 0; i < 56; ++i) std::memcpy(&call.image[std::size_t{4} * i], &i, 4);
  for (const std::string_view reduction : {"", ".add"})
    ASSERT_TRUE(run_call(program_of(store_of(3, reduction, ".im2col_no_offs")), call, {x.region()}));
  for (std::uint32_t i = 0; i < 96; ++i) EXPECT_EQ(x.data[shift + i], i >= 24 && i < 80 ? 2 * (i - 24) : 1u) << i;
  // A box that reaches outside of the tensor is for loads alone: an illegal instruction on an H200.
  for (const auto& [lower, upper] : {std::pair{-1, 0}, std::pair{0, 1}})
    for (const std::string_view reduction : {"", ".add"}) {
      map.im2col->lower_corner = {lower}, map.im2col->upper_corner = {upper};
      call.map = layout::encode(map, x.address() + 4 * shift);
      const auto ran = run_call(program_of(store_of(3, reduction, ".im2col_no_offs")), call, {x.region()});
      ASSERT_FALSE(ran);
      EXPECT_NE(ran.error().message.find("which reaches outside of the tensor; only loads do"), std::string::npos);
    }
}

// ---- rows

TEST(TensorCopies, FourRows) {
  TensorMap map{.type = TensorMapType::u32, .rank = 2, .swizzle = Swizzle::b128};
  map.sizes = {64, 10};
  map.strides = {256};
  map.box = {32, 1};
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(640 + 4)};
  for (std::uint32_t i = 0; i < 640; ++i) x.data[i] = i;
  const std::size_t shift = ((x.address() + 15) / 16 * 16 - x.address()) / 4;
  Call call{layout::encode(map, x.address() + 4 * shift)};
  call.coordinates = {16, 7, 0, 9, 10};
  call.bytes = 512;
  const std::string five = "{%r8, %r9, %r10, %r11, %r12}";
  for (const std::string_view dst : {"shared::cluster", "shared::cta"}) {
    const auto got =
        run_call(program_of(cat("cp.async.bulk.tensor.2d.", dst,
                                ".global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%rd8, ", five, "], [bar];"),
                            {"8.7", "sm_100a"}),
                 call, {x.region()});
    ASSERT_TRUE(got) << render(got.error());
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t i = 0; i < 32; ++i) {
        std::uint32_t value = 0;
        std::memcpy(&value, &(*got)[place_of(Swizzle::b128, 128 * row + 4 * i)], 4);
        const auto from = static_cast<std::size_t>(call.coordinates[row + 1]) * 64 + 16 + i;
        EXPECT_EQ(value, row == 3 ? 0u : x.data[shift + from]);
      }
  }
  call.bytes = 0;
  std::fill(call.image.begin(), call.image.end(), 0);
  ASSERT_TRUE(
      run_call(program_of(cat("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd8, ", five, "], [%r1];"),
                          {"8.7", "sm_100a"}),
               call, {x.region()}));
  for (const std::size_t row : {7u, 0u, 9u})
    for (std::size_t i = 16; i < 48; ++i) EXPECT_EQ(x.data[shift + 64 * row + i], 0u);
  EXPECT_NE(x.data[shift + 64 * 7 + 15], 0u);
}

// ---- prefetches, multicast, and where a map may lie

TEST(TensorCopies, OtherForms) {
  TensorMap map{.type = TensorMapType::u32, .rank = 3};
  map.sizes = {16, 4, 2};
  map.strides = {64, 256};
  map.box = {16, 4, 2};
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(132, 5)};
  const std::uint64_t at = (x.address() + 15) / 16 * 16;
  Call call{layout::encode(map, at)};
  call.bytes = 512;
  const std::string three = "[%rd8, {%r8, %r9, %r10}]";
  const std::string load = load_of(3);
  const auto ok = [&](const std::string& instructions, testing::TextOptions options = {}) {
    const auto got = run_call(program_of(instructions, options), call, {x.region()});
    EXPECT_TRUE(got) << instructions << render(got.error());
    EXPECT_TRUE(!got || ((*got)[0] == 5 && (*got)[508] == 5)) << instructions;
  };
  ok(cat("cp.async.bulk.prefetch.tensor.3d.L2.global.tile ", three, ";\ncp.async.bulk.prefetch.tensor.3d.L2.global.im2col ",
         three, ", {%h0};\n", load));
  ok(cat("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd8, {%r8, %r9, %r10, %r11, %r12}];\n"
         "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col::w ",
         three, ", {%h0, %h1};\n", load),
     {"8.7", "sm_100a"});
  ok(
      cat("mov.u16 %h3, 1;\nmov.u64 %rd9, 0;\ncp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
          ".multicast::cluster.L2::cache_hint [%r1], ",
          three, ", [bar], %h3, %rd9;"));
  ok(
      cat("fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.gpu [%rd8], 128;\n"
          "fence.proxy.async;\nfence.proxy.async.global;\n",
          load));
  ok(
      cat("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n"
          "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n",
          load));
}

// A map in shared memory, every field of it replaced, then released to global memory.
TEST(TensorCopies, MapsThatKernelsChange) {
  TensorMap map{.type = TensorMapType::u8, .rank = 1};
  map.sizes[0] = map.box[0] = 16;
  map.l2_promotion = layout::L2Promotion::none;
  TensorMap other{.type = TensorMapType::bf16, .rank = 3, .swizzle = Swizzle::b64};
  other.sizes = {40, 9, 3};
  other.strides = {96, 2048};
  other.box = {32, 4, 2};
  other.element_strides = {1, 2, 1, 1, 1};
  other.fill = layout::TensorMapFill::nan;
  other.l2_promotion = layout::L2Promotion::none;
  Buffer<std::uint16_t> x{"X", std::vector<std::uint16_t>(4096)};
  for (std::size_t i = 0; i < 4096; ++i) x.data[i] = static_cast<std::uint16_t>(i);
  const std::uint64_t at = (x.address() + 15) / 16 * 16;
  Buffer<layout::TensorMapWords> placed{"map", std::vector<layout::TensorMapWords>(1)};
  std::string change = cat("mov.u32 %r2, %tid.x;\n");
  const auto field = [&](std::string_view name, std::string_view type, std::string_view operands) {
    change += cat("tensormap.replace.tile.", name, ".shared::cta.b1024.", type, " [%r3], ", operands, ";\n");
  };
  field("global_address", "b64", cat(at));
  field("rank", "b32", "2");
  for (int i = 0; i < 3; ++i) {
    field("box_dim", "b32", cat(i, ", ", other.box[static_cast<std::size_t>(i)]));
    field("global_dim", "b32", cat(i, ", ", other.sizes[static_cast<std::size_t>(i)]));
    field("element_stride", "b32", cat(i, ", ", other.element_strides[static_cast<std::size_t>(i)]));
  }
  for (int i = 0; i < 2; ++i) field("global_stride", "b64", cat(i, ", ", other.strides[static_cast<std::size_t>(i)]));
  field("elemtype", "b32", "10");
  field("interleave_layout", "b32", "0");
  field("swizzle_mode", "b32", "2");
  field("fill_mode", "b32", "1");
  // the whole warp copies the map to where tensor copies find it
  const std::string body =
      cat(".shared .align 128 .b8 m[128];\nld.param.u64 %rd0, [from];\nld.param.u64 %rd1, [to];\nmov.u32 %r0, %tid.x;\nmov.u32 "
          "%r3, m;\n"
          "shl.b32 %r4, %r0, 2;\nadd.u32 %r5, %r3, %r4;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd3, %rd0, %rd2;\nld.global.b32 %r6, "
          "[%rd3];\n"
          "st.shared.b32 [%r5], %r6;\nbar.warp.sync 0xffffffff;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra CHANGED;\n",
          change,
          "CHANGED:\nbar.warp.sync 0xffffffff;\n"
          "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [m], 128;\n");
  auto program = make_body(".param .u64 from, .param .u64 to", body);
  ASSERT_TRUE(program) << render(program.error());
  Buffer<layout::TensorMapWords> from{"from", {layout::encode(map, at)}, false};
  testing::run(*program, testing::block(32), testing::params({from.address(), placed.address()}),
               {from.region(), placed.region()});
  const auto wanted = layout::encode(other, at);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(placed.data[0].word[i], wanted.word[i]) << "word " << i;
  const auto decoded = layout::decode(placed.data[0]);
  ASSERT_TRUE(decoded) << render(decoded.error());
  EXPECT_EQ(decoded->map, other);
  // and the copy that it describes, from global memory
  Call call{placed.data[0]};
  call.bytes = 32 * 2 * 2 * 2;
  const auto loaded = run_call(program_of(load_of(3)), call, {x.region()});
  ASSERT_TRUE(loaded) << render(loaded.error());
  const auto by_global = make_body(
      ".param .u64 map, .param .u64 image, .param .u64 dump, .param .u32 n, .param .u32 c0, .param .u32 c1, "
      ".param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u16 o0, .param .u16 o1, .param .u16 o2",
      kernel_around(load_of(3), "ld.param.u64 %rd8, [map];\n"));
  ASSERT_TRUE(by_global);
  Buffer<std::uint8_t> image{"image", call.image, false}, dump{"dump", std::vector<std::uint8_t>(room)};
  std::vector<std::byte> block(24 + 24 + 6);
  const std::uint64_t pointers[] = {placed.address(), image.address(), dump.address()};
  std::memcpy(block.data(), pointers, 24);
  std::memcpy(&block[24], &call.bytes, 4);
  testing::run(*by_global, testing::block(64), block, {placed.region(), x.region(), image.region(), dump.region()});
  EXPECT_EQ(dump.data, *loaded);
  // one field more needs a newer target
  const auto newer = make_body(".param .u64 from, .param .u64 to",
                               "ld.param.u64 %rd1, [to];\ntensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1], 1;\n"
                               "tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], 3;\n",
                               {"8.7", "sm_100a"});
  ASSERT_TRUE(newer) << render(newer.error());
  testing::run(*newer, testing::block(1), testing::params({0, placed.address()}), {placed.region()});
  EXPECT_EQ(layout::decode(placed.data[0])->map.swizzle, Swizzle::b128_atom32);
}

// ---- what is refused

TEST(TensorCopies, SaysWhatIsWrong) {
  TensorMap map{.type = TensorMapType::u32, .rank = 2};
  map.sizes = {32, 8};
  map.strides = {128};
  map.box = {32, 4};
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(32 * 8 + 4)};
  const std::uint64_t at = (x.address() + 15) / 16 * 16;
  const auto fault = [&](const std::string& instructions, const TensorMap& described,
                         std::array<std::int32_t, 5> coordinates = {}, std::uint64_t tensor = 0, bool writable = true) {
    Call call{layout::encode(described, tensor == 0 ? at : tensor)};
    call.coordinates = coordinates;
    call.bytes = 512;
    Buffer<std::uint32_t> copy = x;
    Region region = x.region();
    region.writable = writable;
    const auto got = run_call(program_of(instructions), call, {region});
    EXPECT_FALSE(got) << instructions;
    return got ? Diagnostic{} : got.error();
  };
  const auto expect = [](const Diagnostic& d, Kind kind, std::string_view words) {
    EXPECT_EQ(d.kind, kind) << render(d);
    EXPECT_NE(d.message.find(words), std::string::npos) << render(d);
  };
  expect(fault(load_of(2), map, {1, 0}), Kind::misaligned, "begins at column 1, byte 4 of a row");
  expect(fault(store_of(2), map, {-4, 0}), Kind::out_of_bounds, "stores at coordinate -4");
  expect(fault(store_of(2, ".add"), map, {0, -1}), Kind::out_of_bounds, "only loads begin before a tensor");
  expect(fault(load_of(3), map), Kind::bad_descriptor, "copies a tensor of 3 dimensions; its tensor map has 2");
  expect(fault(cat("add.u32 %r1, %r1, 64;\n", load_of(2), "\nsub.u32 %r1, %r1, 64;"), map), Kind::misaligned,
         "not a multiple of 128");
  expect(fault(cat("add.u32 %r1, %r1, 16128;\n", load_of(2)), map), Kind::out_of_bounds, "past the end of shared memory");
  TensorMap taller = map;
  taller.sizes[1] = 64;
  expect(fault(load_of(2), taller, {0, 6}), Kind::out_of_bounds, "`X`");
  expect(fault(store_of(2), map, {}, 0, false), Kind::read_only, "which the kernel may only read");
  TensorMap floats = map;
  floats.type = TensorMapType::f32;
  expect(fault(store_of(2, ".min"), floats), Kind::not_executed, "no such operation");
  TensorMap longs = map;
  longs.type = TensorMapType::s64;
  longs.sizes[0] = longs.box[0] = 16;
  expect(fault(store_of(2, ".xor"), longs), Kind::not_executed, "no such operation");
  TensorMap pixels{.type = TensorMapType::u32, .rank = 3};
  pixels.sizes = {32, 4, 2};
  pixels.strides = {128, 512};
  pixels.im2col = layout::Im2col{.channels_per_pixel = 32, .pixels_per_column = 4};
  expect(fault(load_of(3), pixels), Kind::bad_descriptor, "its tensor map is for .im2col");
  pixels.im2col.reset();
  pixels.box = {32, 4, 1};
  expect(fault(load_of(3, "shared::cta", ".im2col"), pixels), Kind::bad_descriptor, "its tensor map is for tiles");
  Call blank;
  const auto none = run_call(program_of(load_of(2)), blank, {x.region()});
  ASSERT_FALSE(none);
  expect(none.error(), Kind::bad_descriptor, "that is none");
  // bytes that nothing has written do not leave the block
  const auto program = make_body(cat(parameters),
                                 ".shared .align 128 .b8 t[512];\nmov.b64 %rd8, map;\ncvta.param.u64 %rd8, %rd8;\n"
                                 "mov.u32 %r1, t;\nmov.u32 %r8, 0;\nmov.u32 %r9, 0;\n"
                                 "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd8, {%r8, %r9}], [%r1];");
  ASSERT_TRUE(program);
  const auto unwritten = run_call(*program, Call{layout::encode(map, at)}, {x.region()});
  ASSERT_FALSE(unwritten);
  expect(unwritten.error(), Kind::uninitialised, "copies what nothing has written in shared memory");
}

}  // namespace
}  // namespace ptx::vgpu::tensor_copies

// Tensor copies of elements of 4 and 6 bits (manual: "Sub-byte Types"), by the manual alone: they are Blackwell's, and no GPU has
// been asked.
#include <random>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/tensor_copies.hpp"

namespace ptx::vgpu::tensor_copies {
namespace {

using layout::Swizzle;
using layout::TensorMap;
using layout::TensorMapType;
using testing::Buffer;

const testing::TextOptions blackwell{"8.8", "sm_100a"};

TensorMap map_of(TensorMapType type, Swizzle swizzle = Swizzle::none) {
  TensorMap map{.type = type, .rank = 2, .swizzle = swizzle};
  map.sizes = {256, 6};
  map.strides = {(layout::bytes_of(type, 256) + 31) / 32 * 32};
  map.box = {128, 4};
  return map;
}

struct Tensor {
  Tensor() : data{"X", std::vector<std::uint8_t>(6 * 192 + 32), true} {
    std::mt19937 random(3);
    for (auto& byte : data.data) byte = static_cast<std::uint8_t>(random());
  }
  std::uint64_t address() { return (data.address() + 31) / 32 * 32; }
  std::uint8_t& at(std::uint64_t offset) { return data.data[static_cast<std::size_t>(offset + address() - data.address())]; }
  Buffer<std::uint8_t> data;
};

/// Where the 16-byte piece of a row of a box lies in shared memory (a box of rows of 128 bytes at a multiple of 1024).
std::size_t place_of(Swizzle swizzle, std::size_t row, std::size_t piece) {
  const std::size_t to = swizzle == Swizzle::b128          ? piece ^ (row % 8)
                         : swizzle == Swizzle::b128_atom32 ? piece ^ (row % 4 * 2)
                                                           : piece;
  return row * 128 + to * 16;
}

TEST(PackedCopies, SixteenElementsAreAPieceOfSharedMemory) {
  for (const auto type : {TensorMapType::b4x16_p64, TensorMapType::b6x16_p32})
    for (const auto swizzle : {Swizzle::none, Swizzle::b128, Swizzle::b128_atom32}) {
      Tensor tensor;
      const TensorMap map = map_of(type, swizzle);
      const std::size_t packed = layout::bytes_of(type, 16);
      Call call{layout::encode(map, tensor.address())};
      call.coordinates = {128, 3};  // the last of the rows lies outside
      call.bytes = static_cast<std::uint32_t>(map.box_bytes());
      EXPECT_EQ(call.bytes, 4 * 8 * packed);  // padding does not count
      Options options;
      options.check_initialised = false;  // the padding is dumped, too
      const auto got = run_call(program_of(load_of(2), blackwell), call, {tensor.data.region()}, options);
      ASSERT_TRUE(got) << render(got.error());
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t piece = 0; piece < 8; ++piece)
          for (std::size_t i = 0; i < packed; ++i) {
            const std::uint8_t wanted = row == 3 ? 0 : tensor.at((row + 3) * map.strides[0] + 8 * packed + piece * packed + i);
            ASSERT_EQ((*got)[place_of(swizzle, row, piece) + i], wanted) << layout::to_string(map) << row << ' ' << piece;
          }
    }
}

TEST(PackedCopies, WithoutPaddingTheyAreBytes) {
  Tensor tensor;
  const TensorMap map = map_of(TensorMapType::b4x16, Swizzle::b64);
  Call call{layout::encode(map, tensor.address())};
  call.coordinates = {-32, 0};
  call.bytes = static_cast<std::uint32_t>(map.box_bytes());
  EXPECT_EQ(call.bytes, 256u);
  const auto got = run_call(program_of(load_of(2), blackwell), call, {tensor.data.region()});
  ASSERT_TRUE(got) << render(got.error());
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t at = row * 64 + ((i / 16) ^ (row / 2)) * 16 + i % 16;
      ASSERT_EQ((*got)[at], i < 16 ? 0 : tensor.at(row * map.strides[0] + i - 16)) << row << ' ' << i;
    }
  // and back: what lies in shared memory, row by row
  Call back{layout::encode(map, tensor.address()), *got};
  std::vector<std::uint8_t> before = tensor.data.data;
  back.coordinates = {64, 1};
  ASSERT_TRUE(run_call(program_of(store_of(2), blackwell), back, {tensor.data.region()}));
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t i = 0; i < 64; ++i)
      ASSERT_EQ(tensor.at((row + 1) * map.strides[0] + 32 + i), (*got)[row * 64 + ((i / 16) ^ (row / 2)) * 16 + i % 16]);
  EXPECT_NE(tensor.data.data, before);
}

TEST(PackedCopies, AStoreTakesTheLowerSixBitsOfEachByte) {
  Tensor tensor;
  const TensorMap map = map_of(TensorMapType::b6x16_p32, Swizzle::b128);
  Call call{layout::encode(map, tensor.address())};
  std::mt19937 random(4);
  for (auto& byte : call.image) byte = static_cast<std::uint8_t>(random());
  call.coordinates = {0, 4};  // two of four rows lie inside
  const std::uint8_t before = tensor.at(3 * 192);
  const auto got = run_call(program_of(store_of(2), blackwell), call, {tensor.data.region()});
  ASSERT_TRUE(got) << render(got.error());
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t i = 0; i < 128; ++i) {
      const std::uint8_t element = call.image[place_of(Swizzle::b128, row, i / 16) + i % 16] & 63;
      const std::size_t bit = 6 * i;
      const unsigned two = tensor.at((row + 4) * 192 + bit / 8) | tensor.at((row + 4) * 192 + bit / 8 + (i % 128 != 127 ? 1 : 0))
                                                                      << 8;
      ASSERT_EQ(two >> bit % 8 & 63, element) << row << ' ' << i;
    }
  EXPECT_EQ(tensor.at(3 * 192), before);
}

TEST(PackedCopies, ThatCannotBe) {
  Tensor tensor;
  const auto fault = [&](const std::string& instruction, const TensorMap& map, std::array<std::int32_t, 5> at,
                         testing::TextOptions options) {
    Call call{layout::encode(map, tensor.address())};
    call.coordinates = at;
    call.bytes = 16;
    const auto got = run_call(program_of(instruction, options), call, {tensor.data.region()});
    EXPECT_FALSE(got);
    return got ? std::string() : got.error().message;
  };
  const auto says = [](const std::string& message, std::string_view words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  const TensorMap b4 = map_of(TensorMapType::b4x16_p64), b6 = map_of(TensorMapType::b6x16_p32);
  says(fault(load_of(2), b4, {64, 0}, blackwell), "it is a multiple of 128");
  says(fault(store_of(2), b4, {}, blackwell), "are only loaded");
  says(fault(store_of(2, ".add"), b6, {}, blackwell), "reduces elements of type b6x16_p32, which no GPU does");
  says(fault(load_of(2), map_of(TensorMapType::b6x16_p32, Swizzle::b128_atom64), {}, blackwell), "which is for stores");
  says(fault(load_of(2, "shared::cta"), b4, {}, {"8.7", "sm_90a"}), "which the module's target does not");
  says(fault(load_of(2, "shared::cluster", ".tile"), b4, {}, {"8.8", "sm_120a"}), "which the module's target does not");
}

// Nobody has written the padding.
TEST(PackedCopies, ThePaddingIsUndefined) {
  Tensor tensor;
  const TensorMap map = map_of(TensorMapType::b6x16_p32);
  const auto program = [&](int offset) {
    return testing::make_body(
        parameters,
        cat(".shared .align 128 .b8 t[512];\n.shared .align 8 .b64 bar;\nmov.b64 %rd8, map;\ncvta.param.u64 %rd8, %rd8;\n"
            "mov.u32 %r1, t;\nmov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.u32 %r0, %tid.x;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 "
            "ret;\nmbarrier.init.shared.b64 [bar], 1;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 384;\n",
            load_of(2), "\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\nld.shared.u32 %r2, [%r1+",
            offset, "];\nld.param.u64 %rd1, [dump];\nst.global.u32 [%rd1], %r2;\n"),
        blackwell);
  };
  for (const auto& [offset, defined] : {std::pair{8, true}, std::pair{12, false}}) {
    const auto made = program(offset);
    ASSERT_TRUE(made) << render(made.error());
    Call call{layout::encode(map, tensor.address())};
    EXPECT_EQ(static_cast<bool>(run_call(*made, call, {tensor.data.region()})), defined) << offset;
  }
}

}  // namespace
}  // namespace ptx::vgpu::tensor_copies

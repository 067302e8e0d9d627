#include "ptx/cuda/tensor_map.hpp"

#include <cstring>
#include <set>
#include <thread>

#include "tests/cuda/fake_driver.hpp"

namespace ptx::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

class TensorMapTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    maps = &device->tensor_maps();
  }
  /// The number of the fake's tensor map that lies at an address of the "GPU".
  static std::size_t number_at(api::DeviceAddr addr) {
    std::uint64_t number = 0;
    std::memcpy(&number, reinterpret_cast<const void*>(addr), sizeof number);
    return number;
  }
  TensorMaps* maps = nullptr;
  layout::TensorMap map =
      layout::tiled_tensor_map(layout::TensorMapType::bf16, Sizes{256, 192}, Sizes{128, 64}, layout::Swizzle::b128).value();
};

TEST_F(TensorMapTest, tells_the_driver_what_the_description_says) {
  ASSERT_TRUE(encode(map, 0x1000, *device));
  ASSERT_EQ(fake.tensor_maps.size(), 1u);
  EXPECT_EQ(fake.tensor_maps[0], (FakeTensorMap{.type = api::TensorMapType::bf16,
                                                .tensor = 0x1000,
                                                .sizes = {192, 256},
                                                .strides = {384},
                                                .box = {64, 128},
                                                .swizzle = api::TensorMapSwizzle::b128,
                                                .l2_promotion = api::TensorMapL2Promotion::b128}));
  constexpr std::pair<layout::Swizzle, api::TensorMapSwizzle> swizzles[] = {
      {layout::Swizzle::none, api::TensorMapSwizzle::none},
      {layout::Swizzle::b32, api::TensorMapSwizzle::b32},
      {layout::Swizzle::b64, api::TensorMapSwizzle::b64},
      {layout::Swizzle::b128_atom32, api::TensorMapSwizzle::b128_atom32},
      {layout::Swizzle::b128_atom64, api::TensorMapSwizzle::b128_atom64}};
  map.box[0] = 16;
  for (const auto& [ours, theirs] : swizzles) {
    map.swizzle = ours;
    ASSERT_TRUE(encode(map, 0x1000, *device));
    EXPECT_EQ(fake.tensor_maps.back().swizzle, theirs);
  }
  EXPECT_EQ(fake.calls.back(), "cuCtxPopCurrent");
}

TEST_F(TensorMapTest, checks_before_it_asks) {
  const auto odd = encode(map, 0x1008, *device);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, Kind::argument_alignment);
  EXPECT_TRUE(says(odd.error(), "the data pointer 0x1008 is not a multiple of 16 bytes"));
  map.box[1] = 300;
  EXPECT_EQ(encode(map, 0x1000, *device).error().kind, Kind::bad_tile);
  EXPECT_EQ(fake.count("cuTensorMapEncodeTiled"), 0u);
}

TEST_F(TensorMapTest, a_refusal_of_the_driver_shows_the_map) {
  fake.fail["cuTensorMapEncodeTiled"] = api::Result::invalid_value;
  const auto refused = encode(map, 0x1000, *device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::driver_error);
  EXPECT_TRUE(says(refused.error(), "tensor map: bf16 (256, 192) in boxes of (128, 64), swizzle 128B, at 0x1000"));
}

TEST_F(TensorMapTest, older_gpus_have_none) {
  fake.devices[1].major = 8;
  const auto refused = encode(map, 0x1000, **driver->device(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::wrong_device);
}

TEST_F(TensorMapTest, one_descriptor_for_each_content) {
  const PlacedTensorMap* first = maps->place(map, 0x1000).value();
  const PlacedTensorMap* second = maps->place(map, 0x2000).value();
  EXPECT_EQ(maps->place(map, 0x1000).value(), first);
  EXPECT_NE(first->addr, second->addr);
  EXPECT_EQ(first->tensor, 0x1000u);
  EXPECT_EQ(first->addr % 128, 0u);
  EXPECT_EQ(maps->size(), 2u);
  EXPECT_EQ(number_at(first->addr), 0u);
  EXPECT_EQ(number_at(second->addr), 1u);
  map.box[1] = 64;
  EXPECT_NE(maps->place(map, 0x1000).value()->addr, first->addr);
  EXPECT_EQ(fake.count("cuMemcpyHtoDAsync"), 3u);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 3u) << "each is complete before it is used";
  EXPECT_EQ(fake.count("cuMemAlloc"), 1u);
}

TEST_F(TensorMapTest, stays_where_it_is_while_others_come) {
  const PlacedTensorMap* first = maps->place(map, 0).value();
  std::set<api::DeviceAddr> addrs;
  for (api::DeviceAddr tensor = 16; tensor <= 16 * 2000; tensor += 16) addrs.insert(maps->place(map, tensor).value()->addr);
  EXPECT_EQ(addrs.size(), 2000u);
  EXPECT_EQ(maps->place(map, 0).value(), first);
  EXPECT_EQ(number_at(first->addr), 0u);
  EXPECT_EQ(fake.count("cuMemAlloc"), 4u) << "64 KiB hold 512";
  EXPECT_EQ(fake.count("cuMemFree"), 0u);
}

TEST_F(TensorMapTest, comes_while_a_stream_is_captured) {
  fake.capture = api::CaptureStatus::active;
  const auto placed = maps->place(map, 0x1000);
  ASSERT_TRUE(placed) << render(placed.error());
  EXPECT_EQ(fake.count("cuThreadExchangeStreamCaptureMode"), 2u);
  api::DeviceAddr addr = 0;
  EXPECT_EQ(driver->call.mem_alloc(&addr, 1), api::Result::stream_capture_unsupported) << "the thread's own mode is back";
}

TEST_F(TensorMapTest, says_so_where_a_capture_is_in_the_way_after_all) {
  for (const char* symbol : {"cuMemAlloc", "cuMemcpyHtoDAsync", "cuStreamSynchronize"}) {
    fake.fail = {{symbol, api::Result::stream_capture_unsupported}};
    const auto refused = maps->place(map, 0x1000);
    ASSERT_FALSE(refused) << symbol;
    EXPECT_EQ(refused.error().kind, Kind::capture_unprepared);
    EXPECT_TRUE(says(refused.error(), "hint: call the kernel with these tensors once before the capture begins"));
  }
  EXPECT_EQ(maps->size(), 0u);
  fake.fail.clear();
  EXPECT_TRUE(maps->place(map, 0x1000));
}

TEST_F(TensorMapTest, many_threads_share) {
  std::vector<std::thread> threads;
  std::array<std::array<const PlacedTensorMap*, 64>, 4> found{};
  for (auto& mine : found) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = maps->place(map, 0x1000 * (i + 1)).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
  EXPECT_EQ(maps->size(), 64u);
}

TEST_F(TensorMapTest, reserving_takes_memory_once) {
  ASSERT_TRUE(maps->reserve());
  ASSERT_TRUE(maps->reserve());
  ASSERT_TRUE(maps->place(map, 0x1000));
  EXPECT_EQ(fake.count("cuMemAlloc"), 1u);
  EXPECT_EQ(fake.count("cuStreamCreate"), 1u);
}

TEST_F(TensorMapTest, recent_ones_are_found_without_asking) {
  RecentTensorMaps recent;
  EXPECT_EQ(recent.find(0), nullptr);
  const PlacedTensorMap one{.tensor = 0x1000, .addr = 0x80}, other{.tensor = 0x7FFF'0000'2000, .addr = 0x100};
  recent.remember(one);
  recent.remember(other);
  EXPECT_EQ(recent.find(0x1000), &one);
  EXPECT_EQ(recent.find(0x7FFF'0000'2000), &other);
  EXPECT_EQ(recent.find(0x3000), nullptr);
}

}  // namespace
}  // namespace ptx::cuda

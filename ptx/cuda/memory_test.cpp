#include "ptx/cuda/memory.hpp"

#include <array>
#include <numeric>

#include "tests/cuda/fake_driver.hpp"

namespace ptx::cuda {
namespace {

using MemoryTest = FakeDriverTest;

TEST_F(MemoryTest, bytes_go_there_and_back) {
  std::array<float, 64> sent{};
  std::iota(sent.begin(), sent.end(), 1.0f);
  auto buffer = DeviceBuffer::copy_of(*device, std::span(sent));
  ASSERT_TRUE(buffer) << render(buffer.error());
  EXPECT_EQ(buffer->size_bytes(), 256u);
  EXPECT_NE(buffer->addr(), 0u);
  std::array<float, 64> back{};
  ASSERT_TRUE(buffer->copy_to(std::as_writable_bytes(std::span(back))));
  EXPECT_EQ(back, sent);

  const std::array<float, 2> two{-1, -2};
  ASSERT_TRUE(buffer->copy_from(std::as_bytes(std::span(two)), 4 * 3));
  std::array<float, 2> read{};
  ASSERT_TRUE(buffer->copy_to(std::as_writable_bytes(std::span(read)), 4 * 3));
  EXPECT_EQ(read, two);

  ASSERT_TRUE(buffer->fill(0));
  ASSERT_TRUE(buffer->copy_to(std::as_writable_bytes(std::span(back))));
  EXPECT_EQ(back, (std::array<float, 64>{}));
  EXPECT_EQ(fake.calls.back(), "cuCtxPopCurrent");  // nothing stays current
}

TEST_F(MemoryTest, copies_stay_inside) {
  auto buffer = DeviceBuffer::make(*device, 16);
  ASSERT_TRUE(buffer);
  std::array<std::byte, 17> bytes{};
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, ~std::size_t{0}}) {
    const auto out = buffer->copy_from(bytes, offset);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().kind, Kind::out_of_bounds);
    EXPECT_FALSE(buffer->copy_to(bytes, offset));
  }
  EXPECT_EQ(fake.count("cuMemcpyHtoD") + fake.count("cuMemcpyDtoH"), 0u);
}

TEST_F(MemoryTest, is_freed_once_wherever_it_moves) {
  {
    auto first = DeviceBuffer::make(*device, 16);
    auto second = DeviceBuffer::make(*device, 32);
    ASSERT_TRUE(first && second);
    DeviceBuffer moved = std::move(*first);
    moved = std::move(*second);
    EXPECT_EQ(moved.size_bytes(), 32u);
  }
  EXPECT_TRUE(fake.memory.empty());
  EXPECT_EQ(fake.count("cuMemFree"), 2u);
}

TEST_F(MemoryTest, nothing_is_a_buffer_too) {
  auto buffer = DeviceBuffer::make(*device, 0);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->addr(), 0u);
  EXPECT_TRUE(buffer->fill(1));
  EXPECT_TRUE(buffer->copy_to({}));
  EXPECT_EQ(fake.count("cuMemAlloc"), 0u);
}

TEST_F(MemoryTest, running_out_says_how_much_was_asked_for) {
  fake.fail["cuMemAlloc"] = api::Result::out_of_memory;
  const auto buffer = DeviceBuffer::make(*device, 1 << 20);
  ASSERT_FALSE(buffer);
  EXPECT_TRUE(says(buffer.error(), "CUDA_ERROR_OUT_OF_MEMORY (2)"));
  EXPECT_TRUE(says(buffer.error(), "1048576 bytes were asked for on GPU 0")) << render(buffer.error());
}

TEST_F(MemoryTest, streams_live_and_die) {
  {
    auto stream = Stream::make(*device);
    ASSERT_TRUE(stream);
    EXPECT_NE(stream->handle(), nullptr);
    EXPECT_EQ(fake.live_streams, 1);
    EXPECT_TRUE(stream->synchronize());
    fake.fail["cuStreamSynchronize"] = api::Result::launch_failed;
    EXPECT_FALSE(stream->synchronize());
  }
  EXPECT_EQ(fake.live_streams, 0);
}

}  // namespace
}  // namespace ptx::cuda

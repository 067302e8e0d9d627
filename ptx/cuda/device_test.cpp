#include "ptx/cuda/device.hpp"

#include <thread>

#include "tests/cuda/fake_driver.hpp"

namespace ptx::cuda {
namespace {

using DeviceTest = FakeDriverTest;

TEST_F(DeviceTest, reads_what_the_device_can_do) {
  EXPECT_EQ(device->name(), "Fake H200");
  EXPECT_EQ(device->ordinal(), 0);
  EXPECT_EQ(device->capability(), (ComputeCapability{9, 0}));
  EXPECT_EQ(target_name(*device), "sm_90a");
  const DeviceLimits& limits = device->limits();
  EXPECT_EQ(limits.max_threads_per_block, 1024u);
  EXPECT_EQ(limits.max_block, (std::array<std::uint32_t, 3>{1024, 1024, 64}));
  EXPECT_EQ(limits.max_grid, (std::array<std::uint32_t, 3>{2147483647, 65535, 65535}));
  EXPECT_EQ(limits.max_smem_bytes, 227u * 1024);
  EXPECT_EQ(limits.sm_count, 132u);
  EXPECT_TRUE(limits.clusters);
}

TEST_F(DeviceTest, one_object_for_each_ordinal) {
  EXPECT_EQ(*driver->device_count(), 2);
  EXPECT_EQ(*driver->device(0), device);
  EXPECT_NE(*driver->device(1), device);
  for (const int ordinal : {-1, 2, 64}) {
    const auto none = driver->device(ordinal);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, Kind::no_device);
    EXPECT_TRUE(says(none.error(), "the driver shows 2 GPUs")) << render(none.error());
  }
}

TEST_F(DeviceTest, a_failing_attribute_is_an_error) {
  fake.fail["cuDeviceGetAttribute"] = api::Result::invalid_value;
  const auto second = driver->device(1);
  ASSERT_FALSE(second);
  EXPECT_TRUE(says(second.error(), "`cuDeviceGetAttribute` failed: CUDA_ERROR_INVALID_VALUE (1)")) << render(second.error());
}

TEST_F(DeviceTest, the_primary_context_is_retained_once) {
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 0u);  // knowing a device costs no context
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(*device->context(), fake_context(0)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 1u);
}

TEST_F(DeviceTest, the_guard_switches_only_when_it_must) {
  {
    const ContextGuard guard(*driver, fake_context(0));
    EXPECT_TRUE(guard.ok());
    const ContextGuard same(*driver, fake_context(0));
    EXPECT_EQ(fake.count("cuCtxPushCurrent"), 1u);
    {
      const ContextGuard other(*driver, fake_context(1));
      api::Context current = nullptr;
      driver->call.ctx_get_current(&current);
      EXPECT_EQ(current, fake_context(1));
    }
    api::Context current = nullptr;
    driver->call.ctx_get_current(&current);
    EXPECT_EQ(current, fake_context(0));
  }
  EXPECT_EQ(fake.count("cuCtxPushCurrent"), 2u);
  EXPECT_EQ(fake.count("cuCtxPopCurrent"), 2u);
  api::Context current = fake_context(0);
  driver->call.ctx_get_current(&current);
  EXPECT_EQ(current, nullptr);
}

TEST_F(DeviceTest, a_context_that_cannot_be_entered_is_an_error) {
  fake.fail["cuCtxPushCurrent"] = api::Result::invalid_context;
  EXPECT_FALSE(synchronize(*device));
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0u);
  EXPECT_EQ(fake.count("cuCtxPopCurrent"), 0u);
}

TEST_F(DeviceTest, synchronize_reports_what_failed_on_the_gpu) {
  EXPECT_TRUE(synchronize(*device));
  fake.fail["cuCtxSynchronize"] = api::Result::illegal_address;
  const auto failed = synchronize(*device);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(says(failed.error(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
}

TEST_F(DeviceTest, the_target_check_says_what_runs_where) {
  EXPECT_TRUE(check_target({{9, 0}, Target::Reach::architecture}, *device));
  EXPECT_TRUE(check_target({{8, 0}}, *device));
  const auto wrong = check_target({{10, 0}, Target::Reach::architecture}, *device);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, Kind::wrong_device);
  EXPECT_EQ(wrong.error().message,
            "the kernel targets `sm_100a` (architecture-specific, runs only on compute capability 10.0); GPU 0 (Fake H200) is "
            "compute capability 9.0");
  EXPECT_TRUE(says(wrong.error(), "hint: write the kernel for `sm_90a`"));
  EXPECT_TRUE(says(check_target({{10, 0}, Target::Reach::family}, *device).error(), "family-specific"));
  EXPECT_TRUE(says(check_target({{8, 0}}, *device, ImageKind::cubin).error(), "a cubin, runs on compute capability 8.0 to 8.9"));
}

}  // namespace
}  // namespace ptx::cuda

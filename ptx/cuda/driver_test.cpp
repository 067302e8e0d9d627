#include "ptx/cuda/driver.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/cuda/fake_driver.hpp"

namespace ptx::cuda {
namespace {

using DriverTest = FakeDriverTest;

Diagnostic load_error(const std::string& path = PTX_FAKE_LIBCUDA) {
  auto loaded = Driver::load(path);
  EXPECT_FALSE(loaded);
  return loaded ? Diagnostic{} : loaded.error();
}

TEST(DriverLoad, names_the_missing_library_and_what_still_works) {
  const Diagnostic error = load_error("libcuda-of-no-machine.so.1");
  EXPECT_EQ(error.kind, Kind::no_driver);
  EXPECT_TRUE(says(error, "CUDA driver not found (libcuda-of-no-machine.so.1: cannot open shared object file")) << render(error);
  EXPECT_TRUE(says(error, "; CPU tensors still work through the executor"));
}

TEST(DriverLoad, refuses_a_library_that_is_no_recent_driver) {
  const Diagnostic error = load_error("libm.so.6");
  EXPECT_EQ(error.kind, Kind::no_driver);
  EXPECT_TRUE(says(error, "has no `cuGetProcAddress_v2`")) << render(error);
}

TEST_F(DriverTest, reads_the_version) { EXPECT_EQ(driver->version(), 13000); }

TEST_F(DriverTest, asks_for_each_function_in_the_form_it_declares) {
  constexpr std::uint64_t legacy = 1;
  EXPECT_EQ(fake.asked.at("cuMemAlloc"), std::pair(3020, legacy));  // the form with 64-bit addresses
  EXPECT_EQ(fake.asked.at("cuLibraryLoadData"), std::pair(12000, legacy));
  EXPECT_EQ(fake.asked.at("cuLaunchKernelEx"), std::pair(11060, legacy));  // the null stream is the legacy one
}

TEST_F(DriverTest, a_driver_before_12_does_not_do) {
  fake.missing = {"cuLibraryLoadData"};
  const Diagnostic error = load_error();
  EXPECT_EQ(error.kind, Kind::no_driver);
  EXPECT_TRUE(says(error, "has no `cuLibraryLoadData` of CUDA 12.0")) << render(error);
}

TEST_F(DriverTest, what_is_newer_than_12_may_be_missing) {
  fake.missing = {"cuFuncLoad", "cuKernelGetParamInfo"};
  auto loaded = Driver::load(PTX_FAKE_LIBCUDA);
  ASSERT_TRUE(loaded);
  EXPECT_EQ((*loaded)->call.func_load, nullptr);
  EXPECT_NE((*loaded)->call.launch_kernel_ex, nullptr);
}

TEST_F(DriverTest, an_error_of_cuInit_is_named_with_its_meaning) {
  fake.fail["cuInit"] = api::Result::system_driver_mismatch;
  Diagnostic error = load_error();
  EXPECT_EQ(error.kind, Kind::no_driver);
  EXPECT_TRUE(says(error, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): system has unsupported display driver")) << render(error);
  EXPECT_TRUE(says(error, "libcuda and the kernel module are of different versions"));

  fake.fail.clear();
  fake.devices.clear();
  error = load_error();
  EXPECT_EQ(error.kind, Kind::no_device);
  EXPECT_TRUE(says(error, "CUDA_ERROR_NO_DEVICE (100)")) << render(error);
  EXPECT_TRUE(says(error, "CUDA_VISIBLE_DEVICES"));
}

TEST_F(DriverTest, a_result_that_the_driver_cannot_name_keeps_its_number) {
  EXPECT_EQ(describe(*driver, static_cast<api::Result>(12345)), "CUDA error (12345)");
}

TEST_F(DriverTest, sticky_errors_say_that_an_earlier_kernel_caused_them) {
  const Diagnostic sticky = driver_error(*driver, api::Result::illegal_address, "cuMemFree");
  EXPECT_EQ(sticky.kind, Kind::driver_error);
  EXPECT_TRUE(says(sticky, "`cuMemFree` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access")) << render(sticky);
  EXPECT_TRUE(says(sticky, "a kernel that ran earlier in this process caused it"));
  EXPECT_TRUE(says(sticky, "CUDA_LAUNCH_BLOCKING=1"));
  const Diagnostic plain = driver_error(*driver, api::Result::invalid_value, "cuMemFree");
  EXPECT_FALSE(says(plain, "earlier")) << render(plain);
  EXPECT_TRUE(is_sticky(api::Result::launch_failed));
  EXPECT_FALSE(is_sticky(api::Result::launch_out_of_resources));
}

TEST_F(DriverTest, a_forked_child_is_told_so) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto count = driver->device_count();
    const bool told = !count && count.error().kind == Kind::no_driver &&
                      says(count.error(), "CUDA was initialised before fork") && driver->forked() && !device->context() &&
                      !synchronize(*device);
    _exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(driver->forked());
  EXPECT_TRUE(driver->device_count());
}

TEST(ProcessDriver, is_there_or_says_why_not_and_stays_so) {
  const auto first = cuda::driver();
  const auto second = cuda::driver();
  ASSERT_EQ(first.has_value(), second.has_value());
  if (first) {
    EXPECT_EQ(*first, *second);
    EXPECT_GE((*first)->version(), 12000);
  } else {
    EXPECT_FALSE(first.error().message.empty());
    EXPECT_EQ(first.error().message, second.error().message);
    EXPECT_FALSE(device_count());
    EXPECT_FALSE(cuda::device(0));
  }
}

}  // namespace
}  // namespace ptx::cuda

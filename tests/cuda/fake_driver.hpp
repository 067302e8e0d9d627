// What the room's tests share: a Driver loaded from the fake libcuda, and the fake's state.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ptx/cuda/cuda.hpp"
#include "tests/cuda/fake_libcuda.hpp"

namespace ptx::cuda {

/// The fake's state, as new.
inline FakeCuda& reset_fake() {
  static void* const library = dlopen(PTX_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  static const auto reset = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda_reset"));
  return *reset();
}

/// A test on a machine that seems to have two GPUs of the H200's kind.
class FakeDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake.devices = {FakeDevice{}, FakeDevice{.name = "Fake H200 again"}};
    load();
  }
  void load() {
    device = nullptr;
    auto loaded = Driver::load(PTX_FAKE_LIBCUDA);
    ASSERT_TRUE(loaded) << render(loaded.error());
    driver = std::move(*loaded);
    auto first = driver->device(0);
    ASSERT_TRUE(first) << render(first.error());
    device = *first;
    fake.calls.clear();
  }

  FakeCuda& fake = reset_fake();
  std::unique_ptr<const Driver> driver;
  const Device* device = nullptr;
};

inline bool says(const Diagnostic& error, std::string_view text) { return render(error).find(text) != std::string::npos; }

}  // namespace ptx::cuda

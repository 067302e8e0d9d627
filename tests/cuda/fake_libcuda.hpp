// A stand-in for libcuda.so.1 on machines without a GPU: records what it is asked, fails where a test wants it to, and keeps
// "device" memory in host memory so that copies work. Load it with ptx::cuda::Driver::load(path); reach its state through
// fake_cuda(), found by dlsym in the same library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/cuda/driver_api.hpp"

struct FakeDevice {
  std::string name = "Fake H200";
  int major = 9, minor = 0;
  int max_smem_bytes = 232448;
};

struct FakeKernel {
  std::vector<std::pair<std::size_t, std::size_t>> params{{0, 8}, {8, 8}};  // offset, size
  std::map<ptx::cuda::api::FunctionAttribute, int> attributes{{ptx::cuda::api::FunctionAttribute::max_threads_per_block, 1024},
                                                              {ptx::cuda::api::FunctionAttribute::shared_size_bytes, 0},
                                                              {ptx::cuda::api::FunctionAttribute::local_size_bytes, 0},
                                                              {ptx::cuda::api::FunctionAttribute::num_regs, 32}};
};

struct FakeLaunch {
  ptx::cuda::api::LaunchConfig config;
  std::vector<ptx::cuda::api::LaunchAttribute> attributes;
  std::vector<std::vector<std::byte>> params;  // the values, by the kernel's parameter sizes
  ptx::cuda::api::Function function = nullptr;
  ptx::cuda::api::Context context = nullptr;  // current at the launch
};

/// What cuTensorMapEncodeTiled and its like were asked for: the "descriptor" of this driver is a number, the index into
/// FakeCuda::tensor_maps.
struct FakeTensorMap {
  ptx::cuda::api::TensorMapType type{};
  std::uint64_t tensor = 0;
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box;     // of an im2col map: channels and pixels
  std::vector<std::int32_t> corners;  // of an im2col map: the lower ones, then the upper ones
  ptx::cuda::api::TensorMapSwizzle swizzle{};
  ptx::cuda::api::TensorMapL2Promotion l2_promotion{};
  friend bool operator==(const FakeTensorMap&, const FakeTensorMap&) = default;
};

struct FakeCuda {
  // What the driver is to be.
  int version = 13000;
  std::vector<FakeDevice> devices{FakeDevice{}};
  std::map<std::string, ptx::cuda::api::Result> fail;  // by symbol: what its calls return
  std::set<std::string> missing;                       // symbols that this driver lacks
  std::map<std::string, FakeKernel> kernels{{"kernel", {}}};
  std::string jit_log;         // the next compile of a text fails with this log
  bool refuse_cubins = false;  // too old for them
  bool lazy = true;            // compiles when a function is asked for, not when the library is loaded
  ptx::cuda::api::CaptureStatus capture = ptx::cuda::api::CaptureStatus::none;
  int active_clusters = 16;
  bool recording = true;                             // false: launches leave no trace and allocate nothing
  std::function<void(const FakeLaunch&)> on_launch;  // what the "GPU" does

  // What it saw.
  std::vector<std::string> calls;  // symbols in order
  std::vector<FakeLaunch> launches;
  std::vector<FakeTensorMap> tensor_maps;                      // distinct ones
  std::map<std::string, std::pair<int, std::uint64_t>> asked;  // symbol: version and flags of cuGetProcAddress
  std::vector<std::string> images;                             // loaded code
  std::map<ptx::cuda::api::DeviceAddr, std::vector<std::byte>> memory;
  std::map<std::pair<ptx::cuda::api::Function, ptx::cuda::api::FunctionAttribute>, int> function_attributes;
  int live_libraries = 0;
  /// Writes into the log buffer of each library that is still loaded, as a later compile would; how many there were.
  std::function<std::size_t(std::string_view)> write_logs;
  int live_streams = 0;

  [[nodiscard]] std::size_t count(const std::string& symbol) const {
    std::size_t n = 0;
    for (const std::string& call : calls) n += call == symbol;
    return n;
  }
};

extern "C" {
/// The state, as new.
FakeCuda* fake_cuda_reset();
}

/// The context that is device `ordinal`'s primary one.
inline ptx::cuda::api::Context fake_context(int ordinal) {
  return reinterpret_cast<ptx::cuda::api::Context>(std::uintptr_t{0x1000} + static_cast<std::uintptr_t>(ordinal));
}

// The heap of device code: what malloc() and free() of a kernel, or new and delete, give out and take back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

/// Memory of one size for a module's kernels. What a launch was given stays for the next ones until somebody frees it, as on a
/// GPU. What was taken back is given out again when nothing else is left: accesses of two owners, between which nothing stands
/// but the allocator, are no race then, and one behind a free() meets nobody else's data. Any thread of the host may ask.
class Heap {
 public:
  /// As the driver's default, cudaLimitMallocHeapSize.
  static constexpr std::uint64_t bytes = std::uint64_t{8} << 20;
  static constexpr std::uint64_t alignment = 16;

  /// Nothing when this machine has no room.
  static std::unique_ptr<Heap> make();

  /// The address of so many bytes, or 0: there are none left.
  std::uint64_t allocate(std::uint64_t size);
  /// False: nothing was given out at that address, or it was taken back already.
  bool free(std::uint64_t address);
  /// All of it, as an access finds it.
  [[nodiscard]] Region region() const;

  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

 private:
  struct Release {
    void operator()(std::byte* memory) const;
  };
  explicit Heap(std::unique_ptr<std::byte, Release> memory);
  /// Of the unused memory from `from` on; 0: no piece is large enough.
  std::uint64_t take(std::uint64_t whole, std::uint64_t from);

  std::unique_ptr<std::byte, Release> memory_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;                                // behind what was given out last
  std::map<std::uint64_t, std::uint64_t> used_, unused_;  // address to bytes; of `unused_` no two touch
};

}  // namespace ptx::vgpu

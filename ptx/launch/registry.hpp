// The process's kernels by content: what an XLA executable or a torch operator names by key or handle, found here again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"

namespace ptx::launch {

/// Images live as long as the registry: whoever found one may keep the pointer. Lookups take no lock.
class Registry {
 public:
  /// The one of this process, never destroyed.
  static Registry& process();

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Adds an image; the one kept under its key is returned. An image that the executor can run takes the place of one made from
  /// text. Kind internal when another kernel has the same 63-bit handle.
  Expected<std::shared_ptr<const KernelImage>> add(std::shared_ptr<const KernelImage> image);
  [[nodiscard]] const KernelImage* find(std::int64_t handle) const noexcept;
  [[nodiscard]] const KernelImage* find(const Digest& key) const noexcept;
  /// The same, to keep.
  [[nodiscard]] std::shared_ptr<const KernelImage> share(std::int64_t handle) const;
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  struct Table;
  [[nodiscard]] static std::atomic<const KernelImage*>& slot_of(const Table& table, std::int64_t handle) noexcept;

  std::atomic<const Table*> table_;
  std::atomic<std::size_t> size_{0};
  mutable std::mutex mutex_;                    // guards what follows; readers never take it
  std::vector<std::unique_ptr<Table>> tables_;  // outgrown ones stay: a reader may be in one
  std::vector<std::shared_ptr<const KernelImage>> images_;
};

}  // namespace ptx::launch

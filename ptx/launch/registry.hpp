// The process's kernels by content: what an XLA executable or a torch operator names by key or handle, found here again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"

namespace ptx::launch {

/// It knows every image that somebody still holds, and holds those itself that were pinned: what a compiled program refers to,
/// which nobody tells us the end of. Whoever finds a pinned image may keep the pointer; finding one takes no lock.
class Registry {
 public:
  /// The one of this process, never destroyed.
  static Registry& process();

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Makes an image known while somebody holds it; one known already under its key is returned in its place, unless it was made
  /// from text and this one was not. Kind internal when another kernel has the same 63-bit handle.
  Expected<std::shared_ptr<const KernelImage>> add(std::shared_ptr<const KernelImage> image);
  /// The same, and holds it for good.
  Expected<std::shared_ptr<const KernelImage>> pin(std::shared_ptr<const KernelImage> image);
  /// A pinned image.
  [[nodiscard]] const KernelImage* find(std::int64_t handle) const noexcept;
  [[nodiscard]] const KernelImage* find(const Digest& key) const noexcept;
  /// Any image that is known.
  [[nodiscard]] std::shared_ptr<const KernelImage> share(std::int64_t handle) const;
  /// How many images are known.
  [[nodiscard]] std::size_t size() const;
  /// How many of them are pinned.
  [[nodiscard]] std::size_t pinned() const noexcept { return pinned_.load(std::memory_order_relaxed); }

 private:
  struct Table;
  [[nodiscard]] static std::atomic<const KernelImage*>& slot_of(const Table& table, std::int64_t handle) noexcept;

  Expected<std::shared_ptr<const KernelImage>> add_locked(std::shared_ptr<const KernelImage> image);

  std::atomic<const Table*> table_;  // of pinned images
  std::atomic<std::size_t> pinned_{0};
  mutable std::mutex mutex_;                                                  // guards what follows; find() never takes it
  std::unordered_map<std::int64_t, std::weak_ptr<const KernelImage>> known_;  // by handle
  std::size_t sweep_at_ = 64;                               // size of known_ at which the gone ones are taken out
  std::vector<std::unique_ptr<Table>> tables_;              // outgrown ones stay: a reader may be in one
  std::vector<std::shared_ptr<const KernelImage>> images_;  // pinned, and those that pinned ones took the place of
};

}  // namespace ptx::launch

#include "ptx/launch/registry.hpp"

#include <algorithm>

namespace ptx::launch {

/// Open addressing on the handle, at most half full: a probe always ends at an empty slot.
struct Registry::Table {
  explicit Table(std::size_t slot_count) : slots(slot_count) {}
  mutable std::vector<std::atomic<const KernelImage*>> slots;  // a power of two of them
};

Registry& Registry::process() {
  static Registry& registry = *new Registry;  // NOLINT: executables may outlive our statics
  return registry;
}

Registry::Registry() {
  tables_.push_back(std::make_unique<Table>(64));
  table_.store(tables_.back().get(), std::memory_order_release);
}

Registry::~Registry() = default;

std::atomic<const KernelImage*>& Registry::slot_of(const Table& table, std::int64_t handle) noexcept {
  const std::size_t mask = table.slots.size() - 1;
  std::size_t at = static_cast<std::size_t>(handle) & mask;  // bits of a digest: already well mixed
  for (;; at = (at + 1) & mask) {
    const KernelImage* image = table.slots[at].load(std::memory_order_acquire);
    if (image == nullptr || image->handle() == handle) return table.slots[at];
  }
}

const KernelImage* Registry::find(std::int64_t handle) const noexcept {
  return slot_of(*table_.load(std::memory_order_acquire), handle).load(std::memory_order_acquire);
}

const KernelImage* Registry::find(const Digest& key) const noexcept {
  const KernelImage* image = find(KernelImage::handle_of(key));
  return image != nullptr && image->key() == key ? image : nullptr;
}

std::shared_ptr<const KernelImage> Registry::share(std::int64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(handle);
  return found != known_.end() ? found->second.lock() : nullptr;
}

std::size_t Registry::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(known_.begin(), known_.end(), [](const auto& each) { return !each.second.expired(); }));
}

Expected<std::shared_ptr<const KernelImage>> Registry::add_locked(std::shared_ptr<const KernelImage> image) {
  std::weak_ptr<const KernelImage>& slot = known_[image->handle()];
  if (std::shared_ptr<const KernelImage> kept = slot.lock()) {
    if (kept->key() != image->key()) {
      return Unexpected{{.kind = Kind::internal,
                         .message = cat("kernels `", kept->spec().entry, "` and `", image->spec().entry, "` have one handle")}};
    }
    if (kept->has_module() || !image->has_module()) return kept;
  }
  slot = image;
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    sweep_at_ = 2 * known_.size() + 64;
  }
  return image;
}

Expected<std::shared_ptr<const KernelImage>> Registry::add(std::shared_ptr<const KernelImage> image) {
  const std::lock_guard lock(mutex_);
  return add_locked(std::move(image));
}

Expected<std::shared_ptr<const KernelImage>> Registry::pin(std::shared_ptr<const KernelImage> image) {
  const std::lock_guard lock(mutex_);
  auto added = add_locked(std::move(image));
  if (!added) return added;
  const std::shared_ptr<const KernelImage>& wanted = *added;
  const Table& table = *tables_.back();
  std::atomic<const KernelImage*>& slot = slot_of(table, wanted->handle());
  const KernelImage* pinned = slot.load(std::memory_order_acquire);
  if (pinned == wanted.get()) return added;
  images_.push_back(wanted);
  slot.store(wanted.get(), std::memory_order_release);
  if (pinned != nullptr) return added;  // whose place it takes; some program may be running that one
  const std::size_t count = pinned_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (2 * count > table.slots.size()) {
    auto larger = std::make_unique<Table>(2 * table.slots.size());
    for (const auto& old : table.slots) {
      if (const KernelImage* kept = old.load(std::memory_order_relaxed))
        slot_of(*larger, kept->handle()).store(kept, std::memory_order_relaxed);
    }
    table_.store(larger.get(), std::memory_order_release);
    tables_.push_back(std::move(larger));
  }
  return added;
}

}  // namespace ptx::launch

#include "ptx/base/store.hpp"

#include <algorithm>
#include <array>

namespace ptx::detail {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps = false;
#elif defined(__has_feature)
constexpr bool keeps = !__has_feature(address_sanitizer);
#else
constexpr bool keeps = true;
#endif

// Stands in front of a block.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Head {
  std::size_t bytes;  // behind it
};
Head* head_of(void* block) { return static_cast<Head*>(block) - 1; }
void free_block(void* block) noexcept { ::operator delete(head_of(block)); }

// Those of one thread, the longest kept first.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    while (count_ != 0) free_block(remove(count_ - 1));
    ended_ = true;
  }

  // The smallest that holds so many bytes, and not many more; or nullptr.
  void* take(std::size_t bytes) {
    std::size_t best = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t has = head_of(blocks_[i])->bytes;
      if (has >= bytes && has / 2 <= bytes && (best == count_ || has < head_of(blocks_[best])->bytes)) best = i;
    }
    return best == count_ ? nullptr : remove(best);
  }
  void give(void* block) {
    const std::size_t bytes = head_of(block)->bytes;
    if (ended_ || bytes > most_kept_bytes) return free_block(block);
    while (count_ == blocks_.size() || bytes_ + bytes > most_kept_bytes) free_block(remove(0));
    blocks_[count_++] = block;
    bytes_ += bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* remove(std::size_t i) {
    void* const block = blocks_[i];
    std::copy(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1, blocks_.begin() + static_cast<std::ptrdiff_t>(count_),
              blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    bytes_ -= head_of(block)->bytes;
    return block;
  }

  std::array<void*, 48> blocks_{};
  std::size_t count_ = 0, bytes_ = 0;
  bool ended_ = false;  // the thread ends: what is given back later is freed
};

thread_local Kept kept;

}  // namespace

const bool keeps_blocks = keeps;

void* take_block(std::size_t bytes) {
  if (void* const block = keeps ? kept.take(bytes) : nullptr; block != nullptr) return block;
  return ::new (::operator new(sizeof(Head) + bytes)) Head{bytes} + 1;
}

void give_block(void* block) noexcept {
  if (keeps)
    kept.give(block);
  else
    free_block(block);
}

std::size_t kept_bytes() noexcept { return kept.bytes(); }

}  // namespace ptx::detail

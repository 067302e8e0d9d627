// Stores: vectors of what there is a lot of. Fresh memory comes from the operating system a page at a time, and writing to it for
// the first time costs a kernel's author more than checking what is written; a thread that has written one kernel writes the next
// into the same memory.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ptx {

namespace detail {
/// Blocks of this size and larger are kept.
inline constexpr std::size_t least_kept_bytes = std::size_t{1} << 15;
/// What a thread keeps at most.
inline constexpr std::size_t most_kept_bytes = std::size_t{1} << 25;

/// A block of at least that many bytes: one that the thread has kept, or a fresh one.
[[nodiscard]] void* take_block(std::size_t bytes);
/// Gives back such a block, which another thread may have taken. It is kept for the next, in place of those that have been kept
/// longest where that is too much.
void give_block(void* block) noexcept;
/// Whether blocks are kept at all: AddressSanitizer does not see what is used after its end when its memory is given out again.
extern const bool keeps_blocks;
/// Bytes of the blocks that this thread keeps.
[[nodiscard]] std::size_t kept_bytes() noexcept;
}  // namespace detail

/// An allocator of such memory.
template <class T>
struct KeptMemory {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  KeptMemory() = default;
  template <class Other>
  KeptMemory(const KeptMemory<Other>& /*of*/) noexcept {}  // NOLINT(google-explicit-constructor): as allocators are

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);  // a vector asks for no more than there can be
    return static_cast<T*>(bytes < detail::least_kept_bytes ? ::operator new(bytes) : detail::take_block(bytes));
  }
  void deallocate(T* first, std::size_t count) noexcept {
    if (count * sizeof(T) < detail::least_kept_bytes)
      ::operator delete(first);
    else
      detail::give_block(first);
  }
  friend bool operator==(const KeptMemory& /*a*/, const KeptMemory& /*b*/) { return true; }
};

/// A vector in such memory.
template <class T>
using Store = std::vector<T, KeptMemory<T>>;

}  // namespace ptx

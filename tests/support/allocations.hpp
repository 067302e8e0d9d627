// Counts heap allocations, for promises that something makes none. Replaces the program's operator new: include it in one file of
// a test program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace heap {
/// Allocations of this thread so far.
inline thread_local std::size_t allocations = 0;
}  // namespace heap

// Not inlined: GCC would take `free` for the wrong partner of `new`.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++heap::allocations;
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++heap::allocations;
  return std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

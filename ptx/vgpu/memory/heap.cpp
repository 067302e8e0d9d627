#include "ptx/vgpu/memory/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace ptx::vgpu {

void Heap::Release::operator()(std::byte* memory) const { std::free(memory); }  // NOLINT: of calloc

Heap::Heap(std::unique_ptr<std::byte, Release> memory) : memory_(std::move(memory)) {
  const std::uint64_t begin = align_size(reinterpret_cast<std::uintptr_t>(memory_.get()), alignment);
  unused_.emplace(begin, bytes);
}

std::unique_ptr<Heap> Heap::make() {
  // zeros that cost nothing until they are touched
  std::unique_ptr<std::byte, Release> memory(static_cast<std::byte*>(std::calloc(1, bytes + alignment)));  // NOLINT
  return memory ? std::unique_ptr<Heap>(new Heap(std::move(memory))) : nullptr;
}

std::uint64_t Heap::take(std::uint64_t whole, std::uint64_t from) {
  for (auto [address, had] : unused_) {
    const std::uint64_t begin = std::max(address, from), end = address + had;
    if (begin >= end || end - begin < whole) continue;
    unused_.erase(address);
    if (begin > address) unused_.emplace(address, begin - address);
    if (end - begin > whole) unused_.emplace(begin + whole, end - begin - whole);
    used_.emplace(begin, whole);
    return begin;
  }
  return 0;
}

std::uint64_t Heap::allocate(std::uint64_t size) {
  if (size > bytes) return 0;
  const std::uint64_t whole = align_size(std::max<std::uint64_t>(size, 1), alignment);
  const std::scoped_lock lock(mutex_);
  std::uint64_t address = take(whole, next_);
  if (address == 0) address = take(whole, 0);
  if (address != 0) next_ = address + whole;
  return address;
}

bool Heap::free(std::uint64_t address) {
  const std::scoped_lock lock(mutex_);
  const auto known = used_.find(address);
  if (known == used_.end()) return false;
  auto piece = unused_.emplace(known->first, known->second).first;
  used_.erase(known);
  if (const auto next = std::next(piece); next != unused_.end() && piece->first + piece->second == next->first) {
    piece->second += next->second;
    unused_.erase(next);
  }
  if (piece != unused_.begin())
    if (const auto before = std::prev(piece); before->first + before->second == piece->first) {
      before->second += piece->second;
      unused_.erase(piece);
    }
  return true;
}

Region Heap::region() const {
  const std::uint64_t begin = align_size(reinterpret_cast<std::uintptr_t>(memory_.get()), alignment);
  return {.data = memory_.get() + (begin - reinterpret_cast<std::uintptr_t>(memory_.get())),
          .bytes = bytes,
          .writable = true,
          .initialised = true,
          .name = "the heap of malloc"};
}

}  // namespace ptx::vgpu

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

std::uint64_t Heap::allocate(std::uint64_t size) {
  if (size > bytes) return 0;
  const std::uint64_t whole = align_size(std::max<std::uint64_t>(size, 1), alignment);
  const std::scoped_lock lock(mutex_);
  const auto room = std::find_if(unused_.begin(), unused_.end(), [&](const auto& piece) { return piece.second >= whole; });
  if (room == unused_.end()) return 0;
  const auto [address, had] = *room;
  unused_.erase(room);
  if (had > whole) unused_.emplace(address + whole, had - whole);
  used_.emplace(address, whole);
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

// Loads and stores of a warp: from the lanes' addresses to host memory. An access whose lanes lie in the region that the site
// touched last is checked with a few vector comparisons; anything else goes lane by lane through find_places.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// The lanes' offsets into one region's memory. Inactive lanes have the offset of an active one, so that every lane may be
/// loaded.
struct Offsets {
  const MemoryRegion* region = nullptr;
  std::array<std::uint64_t, lane_count> of;
};

[[gnu::always_inline]] inline const MemoryRegion* likely_region(const Warp& warp, const Step& step) {
  switch (step.space) {
    case Space::shared:
      return &warp.cta->shared_region;
    case Space::local:
      return &warp.local_region;
    case Space::param:
      return &warp.cta->param_region;
    default:
      return warp.cta->worker->site_cache[step.site];
  }
}

/// base + offset of every lane; a 32-bit register's address wraps at 32 bits.
[[gnu::always_inline]] inline void read_addresses(const Warp& warp, const Step& step,
                                                  std::array<std::uint64_t, lane_count>& address) {
  if (step.narrow_address) {
    const auto* base = warp.slot<std::uint32_t>(step.x[8]);
    for (std::size_t l = 0; l < lane_count; ++l) address[l] = base[l] + static_cast<std::uint32_t>(step.imm);
  } else {
    const auto* base = warp.slot<std::uint64_t>(step.x[8]);
    for (std::size_t l = 0; l < lane_count; ++l) address[l] = base[l] + static_cast<std::uint64_t>(step.imm);
  }
}

/// True when all lanes are active and each one's bytes lie right behind those of the lane before it, in the likely region and
/// aligned: `offset` is where they begin in the region's memory. Costs one pass over the addresses.
template <std::uint32_t bytes>
[[gnu::always_inline]] inline bool in_order(const Warp& warp, const Step& step, Mask mask, bool write,
                                            const MemoryRegion*& region, std::uint64_t& offset) {
  if (mask != all_lanes) return false;
  std::uint64_t first = 0;
  if (step.narrow_address) {
    const auto* base = warp.slot<std::uint32_t>(step.x[8]);
    std::uint32_t disorder = 0;
    for (std::uint32_t l = 0; l < lane_count; ++l) disorder |= base[l] ^ (base[0] + l * bytes);
    if (disorder != 0) return false;
    first = base[0] + static_cast<std::uint32_t>(step.imm);
    if (first > 0xFFFFFFFFu - bytes * lane_count) return false;  // would wrap
  } else {
    const auto* base = warp.slot<std::uint64_t>(step.x[8]);
    std::uint64_t disorder = 0;
    for (std::uint64_t l = 0; l < lane_count; ++l) disorder |= base[l] ^ (base[0] + l * bytes);
    if (disorder != 0) return false;
    first = base[0] + static_cast<std::uint64_t>(step.imm);
  }
  region = likely_region(warp, step);
  offset = first - region->begin;
  return region->size >= bytes * lane_count && offset <= region->size - bytes * lane_count && first % bytes == 0 &&
         region->lane_stride == 0 && (!write || region->writable);
}

/// True when the active lanes' bytes are the same, in the likely region and aligned: `offset` is where.
template <std::uint32_t bytes>
[[gnu::always_inline]] inline bool in_one_place(const Warp& warp, const Step& step, Mask mask, const MemoryRegion*& region,
                                                std::uint64_t& offset) {
  std::uint64_t at = 0;
  const auto same = [&](const auto* base, auto add) {
    using Address = std::remove_cvref_t<decltype(base[0])>;
    const Address first = base[lowest_lane(mask)];
    Address different = 0;
    for (int l = 0; l < lane_count; ++l) different |= (base[l] ^ first) & (Address{0} - static_cast<Address>(mask >> l & 1u));
    at = static_cast<Address>(first + add);
    return different == 0;
  };
  if (!(step.narrow_address ? same(warp.slot<std::uint32_t>(step.x[8]), static_cast<std::uint32_t>(step.imm))
                            : same(warp.slot<std::uint64_t>(step.x[8]), static_cast<std::uint64_t>(step.imm))))
    return false;
  region = likely_region(warp, step);
  offset = at - region->begin;
  return region->size >= bytes && offset <= region->size - bytes && at % bytes == 0 && region->lane_stride == 0;
}

/// True when every active lane's bytes lie in the likely region, aligned.
template <std::uint32_t bytes>
[[gnu::always_inline]] inline bool find_offsets(const Warp& warp, const Step& step, Mask mask,
                                                const std::array<std::uint64_t, lane_count>& address, bool write,
                                                Offsets& offsets) {
  const MemoryRegion& region = *likely_region(warp, step);
  offsets.region = &region;
  if (region.size < bytes || (write && !region.writable)) return false;
  const std::uint64_t begin = region.begin, last = region.size - bytes;
  const std::uint64_t first = address[static_cast<std::size_t>(lowest_lane(mask))];
  std::uint64_t outside = 0, low_bits = 0;
  for (std::size_t l = 0; l < lane_count; ++l) {
    const std::uint64_t chosen = std::uint64_t{0} - (mask >> l & 1u);
    const std::uint64_t at = (address[l] & chosen) | (first & ~chosen);
    const std::uint64_t offset = at - begin;
    outside |= offset > last ? 1 : 0;
    low_bits |= at;
    offsets.of[l] = offset + l * region.lane_stride;
  }
  return outside == 0 && low_bits % bytes == 0;
}

/// True when all of the bytes are marked as written.
template <std::uint32_t bytes>
[[gnu::always_inline]] inline bool all_written(const std::uint8_t* marks) {
  std::uint8_t all = 0xFF;
  for (std::uint32_t i = 0; i < bytes; ++i) all &= marks[i];
  return all == written_mark;
}

// The same where other workers may mark these bytes meanwhile, and marking them.
inline bool all_marked(std::uint8_t* marks, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (std::atomic_ref(marks[i]).load(std::memory_order_relaxed) != written_mark) return false;
  return true;
}
inline void mark_written(std::uint8_t* marks, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) std::atomic_ref(marks[i]).store(written_mark, std::memory_order_relaxed);
}

/// What a strong access of 16 bytes holds meanwhile: hosts have no such instructions everywhere.
std::mutex& lock_of_16_bytes(const std::byte* memory);

template <class T>
[[gnu::always_inline]] inline T load_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace ptx::vgpu

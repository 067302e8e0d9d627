// What has been done to memory: for each 4 bytes the last store and the loads behind it, byte by byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/races/clock.hpp"

namespace ptx::vgpu::races {

/// An access that was made.
struct Access {
  Agent agent;              ///< by whose clock it is known to have happened; agent.cluster 0: there was none
  std::uint16_t warp = 0;   ///< that executed the instruction, counted through the blocks of its cluster
  std::uint32_t clock = 0;  ///< the agent's
  std::uint32_t item = 0;   ///< the instruction
  Mask lanes = 0;           ///< that made it
  std::uint8_t bytes = 0;   ///< a bit for each of the 4 bytes
  bool is_store = false;
  bool through_async_proxy = false;
  bool strong = false;
  bool of_parts = false;                ///< each of its lanes accessed some of the bytes
  bool of_mbarrier = false;             ///< by an instruction on mbarriers: a store initialises one
  bool of_tensor_map = false;           ///< by a tensor copy, of the map: through the proxy of tensor maps
  isa::Scope scope = isa::Scope::none;  ///< of a strong one
};

/// Four bytes of memory.
struct Granule {
  Access store, load;
  std::uint32_t more = 0;  ///< further accesses: which list of its Shadow; 0: none
};

/// Accesses that a granule has no room for.
class Lists {
 public:
  std::vector<Access>& operator[](std::uint32_t list) { return lists_[list - 1]; }
  std::uint32_t take();
  void give_back(std::uint32_t list);

 private:
  std::vector<std::vector<Access>> lists_;
  std::vector<std::uint32_t> free_;
};

/// The granules of a run's memory, by the host's addresses. Their room is kept by the thread for its next run, with what the last
/// one left in it: whoever asks for a granule knows it for old by the number of its agents' cluster (Detector::forget_old).
class Shadow {
 public:
  Shadow() = default;
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// The granule with this byte.
  Granule& at(const std::byte* address);

  Lists lists;

 private:
  static constexpr std::size_t page_bytes = 4096, granule_bytes = 4, most_spare_pages = 1024;
  using Page = std::array<Granule, page_bytes / granule_bytes>;
  static std::vector<std::unique_ptr<Page>>& spare_pages();

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::uintptr_t last_ = 0;
  Page* last_page_ = nullptr;
};

}  // namespace ptx::vgpu::races

// Memory as the kernel sees it: regions of addresses with exact bounds, and which of their bytes have been written. Global memory
// is the host's own, at its own addresses; the other spaces have windows in the generic address space where no host address can
// lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/vgpu/machine/lanes.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

struct Cta;
struct Step;
struct Warp;

/// Where an address operand points (manual: "State Spaces"). Constant memory is read through global addresses. `shared` is
/// .shared::cta, `cluster` is .shared::cluster, and `multimem` are addresses that multimem.* alone may use.
enum class Space : std::uint8_t { global, shared, local, param, generic, cluster, multimem };
std::string_view name(Space space);

/// Shared memory starts here: the system keeps the first KiB of a CTA's shared memory, as on a GPU, so that address 0 is
/// nobody's.
inline constexpr std::uint64_t shared_base = 1024;
/// It lies in the host's memory where multiples of so much are multiples there: of what the patterns of swizzles repeat in.
inline constexpr std::size_t shared_memory_alignment = 1024;
template <class T>
struct SharedAllocator {
  using value_type = T;
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{shared_memory_alignment}));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t{shared_memory_alignment}); }
  friend bool operator==(const SharedAllocator&, const SharedAllocator&) { return true; }
};
using SharedBytes = std::vector<std::byte, SharedAllocator<std::byte>>;
/// Each block of a cluster has its own part of .shared::cluster, which begins at its rank times so many bytes. An address in a
/// block's own shared memory is its address there, in both spaces, as on a GPU. What has no room for a rank, a descriptor of a
/// matrix, means the offset in the block's own part: own_shared.
inline constexpr std::uint64_t cluster_part = std::uint64_t{1} << 24;
inline constexpr std::uint64_t local_base = 16;
/// Where the windows start in the generic address space. No user address of the host has its upper bits set.
inline constexpr std::uint64_t shared_window = 0xF100'0000'0000'0000;
inline constexpr std::uint64_t local_window = 0xF200'0000'0000'0000;
inline constexpr std::uint64_t param_window = 0xF300'0000'0000'0000;
/// The offset between a space's addresses and their generic addresses.
std::uint64_t window_of(Space space);

/// The space that a generic address lies in.
Space space_of(std::uint64_t generic_address);

/// What is known of a byte whose region keeps such marks: 0 until something is stored there, then its bits that are defined
/// (undefined_bits.hpp). Where none is, it says what was stored.
inline constexpr std::uint8_t written_mark = 0xFF;
inline constexpr std::uint8_t undefined_mark = 0x5A;  ///< an undefined value
inline constexpr std::uint8_t gap_mark = 0xA5;        ///< what lay in the gap of a structure
/// How often the thread has set marks of shared memory to anything but written_mark: until then what was found to be written is
/// so. Whoever sets such marks counts one more.
inline thread_local std::uint64_t marks_taken_back = 0;

struct MemoryRegion {
  std::uint64_t begin = 0;          ///< the first address
  std::uint64_t size = 0;           ///< bytes
  std::byte* data = nullptr;        ///< the host memory behind it
  std::uint8_t* written = nullptr;  ///< a mark for each byte; nullptr: all of it counts as written
  std::uint64_t lane_stride = 0;    ///< local memory: bytes between the memories of neighbouring lanes
  bool writable = true;
  std::string_view name;           ///< as reports call it: "`X`", "shared memory"
  const Region* tensor = nullptr;  ///< whose shape is known: the caller's region, which lives as long as the run

  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return bytes <= size && address - begin <= size - bytes;
  }
};

inline constexpr MemoryRegion no_region{};

/// Where one lane's access lies in host memory.
struct Place {
  std::byte* data = nullptr;
  std::uint8_t* written = nullptr;
};

/// Where the same access lies in each of several memories, or in one.
class Replicas {
 public:
  Replicas() = default;
  explicit Replicas(Place one) : one_(one), count_(1) {}
  explicit Replicas(std::vector<Place> all) : all_(std::move(all)), count_(all_.size()) {}
  [[nodiscard]] bool empty() const { return count_ == 0; }  ///< a fault was recorded
  [[nodiscard]] std::span<const Place> places() const { return {all_.empty() ? &one_ : all_.data(), count_}; }

 private:
  Place one_;
  std::vector<Place> all_;
  std::size_t count_ = 0;
};

/// A multicast region: its addresses, and its first byte in each replica.
struct MulticastRegion {
  MemoryRegion addresses;
  std::vector<Place> replicas;
};

/// The regions of a launch, and the bookkeeping of those whose contents count as uninitialised.
class GlobalMemory {
 public:
  GlobalMemory(std::span<const Region> regions, std::span<const Region> variables, bool check_initialised);
  /// The region that holds all these bytes; where regions overlap, one that may be written and counts as initialised comes first.
  [[nodiscard]] const MemoryRegion* find(std::uint64_t address, std::uint64_t bytes, bool write) const;
  [[nodiscard]] std::span<const MemoryRegion> regions() const { return regions_; }
  [[nodiscard]] std::span<const MulticastRegion> multicast_regions() const { return multicast_regions_; }

 private:
  void add(const Region& region, bool check_initialised);
  void add_multicast(const Region& region, bool check_initialised);

  std::vector<MemoryRegion> regions_;
  std::vector<MulticastRegion> multicast_regions_;
  std::deque<std::string> names_;
  std::deque<std::vector<std::uint8_t>> written_;
};

/// Finds every active lane's place, one by one, and remembers the region for next time. False: a fault was recorded (misaligned,
/// out_of_bounds, read_only).
bool find_places(Warp& warp, const Step& step, Mask mask, Space space, bool write, std::uint32_t bytes,
                 const std::uint64_t* addresses, std::array<Place, lane_count>& places);
/// The region that holds these bytes as a lane of the warp sees them, or nullptr.
const MemoryRegion* find_region(const Warp& warp, Space space, std::uint64_t address, std::uint64_t bytes, bool write);
/// One lane's bytes, as many as they are, at a multiple of `alignment`: for copies. Nothing: a fault was recorded, as by
/// find_places.
std::optional<Place> find_range(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                                std::uint64_t bytes, std::uint32_t alignment);
/// The same in every replica of a multicast region; where the space is another one, the one place. Empty: a fault was recorded.
Replicas find_replicas(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                       std::uint64_t bytes, std::uint32_t alignment);
/// The rank that an address of .shared::cluster names, and the address in .shared::cta or .shared::cluster for an offset in the
/// shared memory of a block.
constexpr std::uint64_t rank_of(std::uint64_t cluster_address) { return cluster_address / cluster_part; }
constexpr std::uint64_t in_block(std::uint64_t rank, std::uint64_t address) {
  return rank * cluster_part + address % cluster_part;
}
std::uint64_t own_shared(const Cta& cta, std::uint64_t offset);
/// "loads 4 bytes at shared address 0x404: nothing has written byte 4 of shared memory", of marks that are not all written.
std::string say_unwritten(const Warp& warp, Space space, std::uint64_t address, std::span<const std::uint8_t> marks);
/// Whether others than the block can see what is stored there.
bool outlives_block(Space space, std::uint64_t address);
/// The marks of these bytes in a lane's view of memory, or nullptr.
std::uint8_t* marks_of(const Warp& warp, Space space, int lane, std::uint64_t address, std::uint64_t bytes);

/// "4 bytes past the end of `X` (32768 bytes)": where an access lies beside the nearest region.
std::string describe_position(std::uint64_t address, std::uint64_t bytes, std::span<const MemoryRegion> regions);

}  // namespace ptx::vgpu

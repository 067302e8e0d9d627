#include "ptx/vgpu/memory.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/vgpu/machine.hpp"
#include "ptx/vgpu/ops/access.hpp"

namespace ptx::vgpu {
namespace {

// "shared address 0x404", "address 0x7f…": what kind of number it is.
std::string spell_address(Space space, std::uint64_t address) {
  if (space == Space::global || space == Space::generic) return cat("address 0x", hex(address));
  return cat(name(space), " address 0x", hex(address));
}

std::string count_bytes(std::uint64_t n) { return n == 1 ? "1 byte" : cat(n, " bytes"); }

// The regions that an access in this space may fall into, for a report.
std::vector<MemoryRegion> candidates(const Warp& warp, Space space, std::uint64_t address) {
  const Cta& cta = *warp.cta;
  switch (space) {
    case Space::shared:
      return {cta.shared_region};
    case Space::local:
      return {warp.local_region};
    case Space::param:
      return {cta.param_region};
    case Space::global:
      break;
    case Space::generic:
      if (address >> 56 == shared_window >> 56) return {cta.shared_window_region};
      if (address >> 56 == local_window >> 56) return {warp.local_window_region};
      if (address >> 56 == param_window >> 56) return {cta.param_window_region};
      break;
  }
  const auto regions = cta.launch->global.regions();
  return {regions.begin(), regions.end()};
}

std::string say_access(bool write, std::uint64_t bytes, Space space, std::uint64_t address) {
  return cat(write ? "stores " : "loads ", count_bytes(bytes), " at ", spell_address(space, address));
}

}  // namespace

const MemoryRegion* find_region(const Warp& warp, Space space, std::uint64_t address, std::uint64_t bytes, bool write) {
  const Cta& cta = *warp.cta;
  const MemoryRegion* region = nullptr;
  switch (space) {
    case Space::shared:
      region = &cta.shared_region;
      break;
    case Space::local:
      region = &warp.local_region;
      break;
    case Space::param:
      region = &cta.param_region;
      break;
    case Space::global:
      return cta.launch->global.find(address, bytes, write);
    case Space::generic:
      if (address >> 56 == shared_window >> 56)
        region = &cta.shared_window_region;
      else if (address >> 56 == local_window >> 56)
        region = &warp.local_window_region;
      else if (address >> 56 == param_window >> 56)
        region = &cta.param_window_region;
      else
        return cta.launch->global.find(address, bytes, write);
      break;
  }
  return region->contains(address, bytes) ? region : nullptr;
}

std::string_view name(Space space) {
  constexpr std::string_view names[] = {"global", "shared", "local", "param", "generic"};
  return names[static_cast<std::size_t>(space)];
}

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return shared_window;
    case Space::local:
      return local_window;
    case Space::param:
      return param_window;
    default:
      return 0;
  }
}

Space space_of(std::uint64_t generic_address) {
  for (const Space space : {Space::shared, Space::local, Space::param})
    if (generic_address >> 56 == window_of(space) >> 56) return space;
  return Space::global;
}

GlobalMemory::GlobalMemory(std::span<const Region> regions, std::span<const Region> variables, bool check_initialised) {
  const std::size_t count = regions.size() + variables.size();
  regions_.reserve(count);
  names_.reserve(count);
  written_.reserve(count);
  const auto add = [&](const Region& region) {
    MemoryRegion r;
    r.begin = reinterpret_cast<std::uintptr_t>(region.data);
    r.size = region.bytes;
    r.data = region.data;
    r.writable = region.writable;
    if (!region.initialised && check_initialised) r.written = written_.emplace_back(region.bytes).data();
    r.name = names_.emplace_back(region.name.empty() ? std::string("an unnamed allocation") : cat('`', region.name, '`'));
    const auto below = [](std::uint64_t begin, const MemoryRegion& other) { return begin < other.begin; };
    regions_.insert(std::upper_bound(regions_.begin(), regions_.end(), r.begin, below), r);
  };
  for (const Region& region : regions) add(region);
  for (const Region& variable : variables) add(variable);
}

const MemoryRegion* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes, bool write) const {
  const MemoryRegion* best = nullptr;
  const auto rank = [&](const MemoryRegion& r) { return 2 * (!write || r.writable) + (r.written == nullptr); };
  for (const MemoryRegion& region : regions_) {
    if (region.begin > address) break;
    if (region.contains(address, bytes) && (best == nullptr || rank(region) > rank(*best))) best = &region;
  }
  return best;
}

std::string describe_position(std::uint64_t address, std::uint64_t bytes, std::span<const MemoryRegion> regions) {
  const MemoryRegion* nearest = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const MemoryRegion& r : regions) {
    if (r.data == nullptr && r.size == 0) continue;
    const std::uint64_t end = r.begin + r.size;
    const std::uint64_t distance = address >= end ? address - end : address >= r.begin ? 0 : r.begin - address;
    if (distance < least) least = distance, nearest = &r;
  }
  if (nearest == nullptr) return "where the kernel has no memory";
  const std::uint64_t end = nearest->begin + nearest->size;
  const std::string region = cat(nearest->name, " (", count_bytes(nearest->size), ')');
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  if (least >= far) return cat("far from every allocation; the nearest is ", region);
  if (address < nearest->begin) return cat(count_bytes(nearest->begin - address), " before the start of ", region);
  if (address < end)
    return cat("of which ", count_bytes(address + bytes - end), (address + bytes - end) == 1 ? " is" : " are",
               " past the end of ", region);
  return address == end ? cat("just past the end of ", region) : cat(count_bytes(address - end), " past the end of ", region);
}

namespace {

// The region of one lane's access; nullptr: a fault was recorded.
const MemoryRegion* find_or_fail(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                                 std::uint64_t bytes, std::uint32_t alignment) {
  const auto fail = [&](Kind kind, const std::string& why) -> const MemoryRegion* {
    warp.fail(step, lane, kind, cat(say_access(write, bytes, space, address), ", ", why));
    return nullptr;
  };
  if (address % alignment != 0) return fail(Kind::misaligned, cat("which is not a multiple of ", alignment));
  const MemoryRegion* region = find_region(warp, space, address, bytes, write);
  if (region == nullptr) return fail(Kind::out_of_bounds, describe_position(address, bytes, candidates(warp, space, address)));
  if (write && !region->writable)
    return fail(Kind::read_only, cat("byte ", address - region->begin, " of ", region->name, ", which the kernel may only read"));
  return region;
}

Place place_in(const MemoryRegion& region, std::uint64_t address, int lane) {
  const std::uint64_t offset = address - region.begin + static_cast<std::uint64_t>(lane) * region.lane_stride;
  return {region.data + offset, region.written == nullptr ? nullptr : region.written + offset};
}

}  // namespace

bool find_places(Warp& warp, const Step& step, Mask mask, Space space, bool write, std::uint32_t bytes,
                 const std::uint64_t* addresses, std::array<Place, lane_count>& places) {
  const MemoryRegion* region = nullptr;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    region = find_or_fail(warp, step, lane, space, write, addresses[lane], bytes, bytes);
    if (region == nullptr) return false;
    places[static_cast<std::size_t>(lane)] = place_in(*region, addresses[lane], lane);
  }
  // Shared, local and param memory need no cache: there is one region. A generic access keeps global regions alone, which outlive
  // the CTA.
  if (space == Space::global || (space == Space::generic && addresses[lowest_lane(mask)] >> 56 < 0xF1))
    warp.cta->worker->site_cache[step.site] = region;
  return true;
}

std::optional<Place> find_range(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                                std::uint64_t bytes, std::uint32_t alignment) {
  const MemoryRegion* region = find_or_fail(warp, step, lane, space, write, address, bytes, alignment);
  if (region == nullptr) return std::nullopt;
  return place_in(*region, address, lane);
}

std::string say_unwritten(const Warp& warp, Space space, std::uint64_t address, std::span<const std::uint8_t> marks) {
  const auto bad = std::find_if(marks.begin(), marks.end(), [](std::uint8_t mark) { return mark != written_mark; });
  const MemoryRegion* region = find_region(warp, space, address, marks.size(), false);
  return cat(say_access(false, marks.size(), space, address),
             *bad == undefined_mark ? ": an undefined value was stored to byte " : ": nothing has written byte ",
             address - region->begin + static_cast<std::uint64_t>(bad - marks.begin()), " of ", region->name);
}

bool outlives_block(Space space, std::uint64_t address) {
  if (space == Space::generic) return address >> 56 != shared_window >> 56 && address >> 56 != local_window >> 56;
  return space != Space::shared && space != Space::local;
}

std::uint8_t* marks_of(const Warp& warp, Space space, int lane, std::uint64_t address, std::uint64_t bytes) {
  const MemoryRegion* region = find_region(warp, space, address, bytes, true);
  if (region == nullptr || region->written == nullptr) return nullptr;
  return region->written + (address - region->begin) + static_cast<std::uint64_t>(lane) * region->lane_stride;
}

std::mutex& lock_of_16_bytes(const std::byte* memory) {
  static std::array<std::mutex, 64> locks;
  return locks[reinterpret_cast<std::uintptr_t>(memory) / 16 % locks.size()];
}

}  // namespace ptx::vgpu

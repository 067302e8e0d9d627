#include "ptx/vgpu/memory/memory.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/machine.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

// "shared address 0x404", "address 0x7f…": what kind of number it is.
std::string spell_address(Space space, std::uint64_t address) {
  if (space == Space::global || space == Space::generic) return cat("address 0x", hex(address));
  return cat(name(space), " address 0x", hex(address));
}

std::string count_bytes(std::uint64_t n) { return n == 1 ? "1 byte" : cat(n, " bytes"); }

bool is_multimem(std::uint64_t address) { return address >> 56 == multimem_window >> 56; }

bool in_shared_window(std::uint64_t generic_address) { return generic_address >> 56 == shared_window >> 56; }

// The block of the cluster in whose part of .shared::cluster an address lies, also as a generic one; nullptr: there is none.
const Cta* block_of(const Cta& cta, Space space, std::uint64_t address) {
  const std::uint64_t rank = rank_of(space == Space::generic ? address - shared_window : address);
  return rank < cta.cluster->blocks.size() ? &cta.cluster->blocks[rank] : nullptr;
}

// What another block of the cluster, or none, has to do with an access in shared memory that does not fit; "" for nothing.
std::string describe_block(const Cta& cta, Space space, std::uint64_t address) {
  const bool of_cluster = space == Space::cluster || (space == Space::generic && in_shared_window(address));
  const std::size_t blocks = cta.cluster->blocks.size();
  if (!of_cluster && (space != Space::shared || blocks == 1)) return {};
  const Cta* block = block_of(cta, space, address);
  if (block == nullptr)
    return cat("which is in no block's shared memory: the cluster has ", blocks, blocks == 1 ? " block" : " blocks");
  const std::string whose =
      cat("in the shared memory of block ", to_string(block->id), ", rank ", block->rank, " of the cluster");
  if (block == &cta && cta.live_warps != 0) return {};
  if (!of_cluster) return cat(whose, ": .shared is the block's own, .shared::cluster reaches others");
  return block->live_warps == 0 ? cat(whose, ", which has exited") : std::string();
}

// The regions that an access in this space may fall into, for a report.
std::vector<MemoryRegion> candidates(const Warp& warp, Space space, std::uint64_t address) {
  const Cta& cta = *warp.cta;
  switch (space) {
    case Space::shared:
      return {cta.shared_region};
    case Space::cluster:
      if (const Cta* owner = block_of(cta, space, address)) return {owner->shared_region};
      return {};
    case Space::local:
      return {warp.local_region};
    case Space::param:
      return {cta.param_region};
    case Space::multimem: {
      std::vector<MemoryRegion> all;
      for (const MulticastRegion& region : cta.launch->global.multicast_regions()) all.push_back(region.addresses);
      return all;
    }
    case Space::global:
      break;
    case Space::generic:
      if (in_shared_window(address)) {
        if (const Cta* owner = block_of(cta, space, address)) return {owner->shared_window_region};
        return {};
      }
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

// Without the marks that reports put around it.
std::string plain_name(const MemoryRegion& region) {
  const bool marked = region.name.size() > 1 && region.name.front() == '`' && region.name.back() == '`';
  return std::string(marked ? region.name.substr(1, region.name.size() - 2) : region.name);
}

}  // namespace

const MemoryRegion* find_region(const Warp& warp, Space space, std::uint64_t address, std::uint64_t bytes, bool write) {
  const Cta& cta = *warp.cta;
  const MemoryRegion* region = nullptr;
  switch (space) {
    case Space::shared:
      region = &cta.shared_region;
      break;
    case Space::cluster: {
      const Cta* block = block_of(cta, space, address);
      if (block == nullptr || block->live_warps == 0) return nullptr;
      region = &block->shared_region;
      break;
    }
    case Space::local:
      region = &warp.local_region;
      break;
    case Space::param:
      region = &cta.param_region;
      break;
    case Space::global:
      return cta.launch->global.find(address, bytes, write);
    case Space::multimem:
      for (const MulticastRegion& multicast : cta.launch->global.multicast_regions())
        if (multicast.addresses.contains(address, bytes)) return &multicast.addresses;
      return nullptr;
    case Space::generic:
      if (in_shared_window(address)) {
        const Cta* block = block_of(cta, space, address);
        if (block == nullptr || block->live_warps == 0) return nullptr;
        region = &block->shared_window_region;
      } else if (address >> 56 == local_window >> 56) {
        region = &warp.local_window_region;
      } else if (address >> 56 == param_window >> 56) {
        region = &cta.param_window_region;
      } else {
        return cta.launch->global.find(address, bytes, write);
      }
      break;
  }
  return region->contains(address, bytes) ? region : nullptr;
}

std::uint64_t own_shared(const Cta& cta, std::uint64_t offset) { return in_block(cta.rank, offset); }

std::string_view name(Space space) {
  constexpr std::string_view names[] = {"global", "shared", "local", "param", "generic", "shared::cluster", "multicast"};
  return names[static_cast<std::size_t>(space)];
}

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
    case Space::cluster:
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
  regions_.reserve(regions.size() + variables.size());
  for (const std::span<const Region> all : {regions, variables})
    for (const Region& region : all)
      if (!region.multicast) add(region, check_initialised);
  for (const Region& region : regions)
    if (region.multicast) add_multicast(region, check_initialised);
}

void GlobalMemory::add(const Region& region, bool check_initialised) {
  MemoryRegion r;
  r.begin = region.address();
  r.size = region.bytes;
  r.data = region.data;
  r.writable = region.writable;
  if (!region.initialised && check_initialised) r.written = written_.emplace_back(region.bytes).data();
  r.name = names_.emplace_back(region.name.empty() ? std::string("an unnamed allocation") : cat('`', region.name, '`'));
  if (!region.shape.empty()) r.tensor = &region;
  const auto below = [](std::uint64_t begin, const MemoryRegion& other) { return begin < other.begin; };
  regions_.insert(std::upper_bound(regions_.begin(), regions_.end(), r.begin, below), r);
}

// A replica that lies in another region shares its marks: what the one stores the other may load.
void GlobalMemory::add_multicast(const Region& region, bool check_initialised) {
  MulticastRegion& made = multicast_regions_.emplace_back();
  made.addresses.begin = region.address();
  made.addresses.size = region.bytes;
  made.addresses.data = region.data;
  made.addresses.writable = region.writable;
  made.addresses.name =
      names_.emplace_back(region.name.empty() ? std::string("an unnamed multicast region") : cat('`', region.name, '`'));
  const auto add_replica = [&](std::byte* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const MemoryRegion* same = find(address, region.bytes, true);
    std::uint8_t* written = nullptr;
    if (same != nullptr && same->written != nullptr) written = same->written + (address - same->begin);
    if (same == nullptr && !region.initialised && check_initialised) written = written_.emplace_back(region.bytes).data();
    made.replicas.push_back({data, written});
  };
  add_replica(region.data);
  for (std::byte* const data : region.further_replicas) add_replica(data);
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

namespace {

// How far an address lies from a region: 0 inside of it.
std::uint64_t distance(std::uint64_t address, const MemoryRegion& r) {
  const std::uint64_t end = r.begin + r.size;
  return address >= end ? address - end : address >= r.begin ? 0 : r.begin - address;
}

const MemoryRegion* nearest_region(std::uint64_t address, std::span<const MemoryRegion> regions) {
  const MemoryRegion* nearest = nullptr;
  for (const MemoryRegion& r : regions)
    if ((r.data != nullptr || r.size != 0) && (nearest == nullptr || distance(address, r) < distance(address, *nearest)))
      nearest = &r;
  return nearest;
}

}  // namespace

std::string describe_position(std::uint64_t address, std::uint64_t bytes, std::span<const MemoryRegion> regions) {
  const MemoryRegion* nearest = nearest_region(address, regions);
  if (nearest == nullptr) return "where the kernel has no memory";
  const std::uint64_t least = distance(address, *nearest);
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

// What an author forgets who has `.extern .shared` memory: that a launch says how much of it there is.
std::vector<std::string> note_of_dynamic_memory(const Cta& cta, Space space, std::uint64_t address) {
  const Code& code = cta.launch->code;
  if (space == Space::generic && in_shared_window(address)) space = Space::shared, address -= shared_window;
  if (space != Space::shared || cta.launch->config.dynamic_smem_bytes != 0) return {};
  if (address < shared_base + code.dynamic_smem_offset) return {};
  const auto dynamic = std::find_if(code.shared_variables.begin(), code.shared_variables.end(),
                                    [](const SharedVariable& v) { return v.bytes == 0; });
  if (dynamic == code.shared_variables.end()) return {};
  return {cat("`", dynamic->name, "` is `.extern .shared`: its size is the launch's dynamic shared memory, which is 0 bytes")};
}

// The region of one lane's access; nullptr: a fault was recorded.
const MemoryRegion* find_or_fail(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                                 std::uint64_t bytes, std::uint32_t alignment) {
  const auto fail = [&](Rule rule, const std::string& why) -> const MemoryRegion* {
    warp.fail(step, lane, rule, cat(say_access(write, bytes, space, address), ", ", why),
              rule == Rule::A_01 ? note_of_dynamic_memory(*warp.cta, space, address) : std::vector<std::string>());
    const std::vector<MemoryRegion> all = candidates(warp, space, address);
    const MemoryRegion* nearest = nearest_region(address, all);
    warp.fault->access = {write, address, bytes, std::string(name(space)), nearest == nullptr ? "" : plain_name(*nearest)};
    return nullptr;
  };
  if (address % alignment != 0) return fail(Rule::A_02, cat("which is not a multiple of ", alignment));
  const MemoryRegion* region = find_region(warp, space, address, bytes, write);
  if (region == nullptr && is_multimem(address) != (space == Space::multimem))
    return fail(Rule::A_03, space == Space::multimem
                                ? "which is no multimem address: what multimem.* reaches are multicast regions"
                                : "which is a multimem address: multimem.* alone may use it");
  if (region == nullptr) {
    const std::string block = describe_block(*warp.cta, space, address);
    if (block.empty()) return fail(Rule::A_01, describe_position(address, bytes, candidates(warp, space, address)));
    const bool of_cluster = space == Space::cluster || space == Space::generic;
    return fail(!of_cluster ? Rule::A_03 : block_of(*warp.cta, space, address) == nullptr ? Rule::C_02 : Rule::C_03, block);
  }
  if (write && !region->writable)
    return fail(Rule::A_05, cat("byte ", address - region->begin, " of ", region->name, ", which the kernel may only read"));
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
  if (space == Space::global || (space == Space::generic && region != nullptr && region->begin >> 56 < shared_window >> 56))
    warp.cta->worker->site_cache[step.site] = region;
  return true;
}

std::optional<Place> find_range(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                                std::uint64_t bytes, std::uint32_t alignment) {
  const MemoryRegion* region = find_or_fail(warp, step, lane, space, write, address, bytes, alignment);
  if (region == nullptr) return std::nullopt;
  const Place place = place_in(*region, address, lane);
  if (warp.races != nullptr) warp.races->access_of_operation(warp, step, write, place.data, bytes);
  return place;
}

Replicas find_replicas(Warp& warp, const Step& step, int lane, Space space, bool write, std::uint64_t address,
                       std::uint64_t bytes, std::uint32_t alignment) {
  const MemoryRegion* region = find_or_fail(warp, step, lane, space, write, address, bytes, alignment);
  if (region == nullptr) return {};
  if (space != Space::multimem) {
    const Place place = place_in(*region, address, lane);
    if (warp.races != nullptr) warp.races->access_of_operation(warp, step, write, place.data, bytes);
    return Replicas(place);
  }
  const auto all = warp.cta->launch->global.multicast_regions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MulticastRegion& m) { return &m.addresses == region; });
  std::vector<Place> places = found->replicas;
  const std::uint64_t offset = address - region->begin;
  for (Place& place : places) place = {place.data + offset, place.written == nullptr ? nullptr : place.written + offset};
  return Replicas(std::move(places));
}

std::string say_unwritten(const Warp& warp, Space space, std::uint64_t address, std::span<const std::uint8_t> marks) {
  const auto bad = std::find_if(marks.begin(), marks.end(), [](std::uint8_t mark) { return mark != written_mark; });
  const MemoryRegion* region = find_region(warp, space, address, marks.size(), false);
  return cat(say_access(false, marks.size(), space, address),
             *bad == 0 ? ": nothing has written byte " : ": an undefined value was stored to byte ",
             address - region->begin + static_cast<std::uint64_t>(bad - marks.begin()), " of ", region->name);
}

bool outlives_block(Space space, std::uint64_t address) {
  if (space == Space::generic) return !in_shared_window(address) && address >> 56 != local_window >> 56;
  return space != Space::shared && space != Space::cluster && space != Space::local;
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

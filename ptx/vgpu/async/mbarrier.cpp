#include "ptx/vgpu/async/mbarrier.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/machine/cluster.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::mbarrier {
namespace {

constexpr std::uint32_t count_bits = 20, tx_bits = 21, phase_bits = 3;
constexpr std::uint32_t pending_at = count_bits, tx_at = 2 * count_bits, phase_at = tx_at + tx_bits;
constexpr std::uint64_t object_bytes = 8;

/// Whose mbarriers an operation may name: a wait those of its own block alone.
enum class Reach : std::uint8_t { own_block, cluster };

struct Counts {
  std::uint32_t expected = 0, pending = 0;
  std::int32_t tx = 0;
  std::uint32_t phase = 0;
};

Counts unpack(std::uint64_t word) {
  const auto tx = static_cast<std::uint32_t>(word >> tx_at) << (32 - tx_bits);
  return {static_cast<std::uint32_t>(word) & max_count, static_cast<std::uint32_t>(word >> pending_at) & max_count,
          static_cast<std::int32_t>(tx) >> (32 - tx_bits), static_cast<std::uint32_t>(word >> phase_at)};
}
std::uint64_t pack(const Counts& counts) {
  const std::uint64_t tx = static_cast<std::uint32_t>(counts.tx) & ((1u << tx_bits) - 1);
  return counts.expected | std::uint64_t{counts.pending} << pending_at | tx << tx_at |
         std::uint64_t{counts.phase & ((1u << phase_bits) - 1)} << phase_at;
}

// The state that an arrive returns is the mbarrier's word before it; where that counts bytes, which nobody asks a state for, it
// tells by 21 bits whose it is: a pattern, and the address in the block's shared memory.
constexpr std::uint64_t tx_mask = std::uint64_t{(1u << tx_bits) - 1} << tx_at;
constexpr unsigned address_tag_bits = 15;  // multiples of 8 below 256 KB
constexpr std::uint64_t state_pattern = 0b101101;
std::uint64_t state_of(std::uint64_t word, std::uint64_t address) {
  const std::uint64_t tag = state_pattern << address_tag_bits | (address / object_bytes & ((1u << address_tag_bits) - 1));
  return (word & ~tx_mask) | tag << tx_at;
}
bool is_state(std::uint64_t state) { return (state & tx_mask) >> (tx_at + address_tag_bits) == state_pattern; }

std::string say_address(std::uint64_t address) { return cat("the mbarrier at shared address 0x", hex(address)); }

Outcome misuse(const Operator& by, Rule rule, std::string message, std::vector<std::string> notes = {}) {
  return by.warp.fail(by.step, by.lane, rule, std::move(message), std::move(notes));
}

// The 8 bytes of an mbarrier in the shared memory of a block of the cluster.
struct Spot {
  std::uint64_t address = 0;
  Place place;
  Cta* block = nullptr;
};
std::optional<Spot> find_spot(const Operator& by, Reach reach) {
  std::uint64_t address = by.address;
  Space space = by.space;
  if (space == Space::generic) {
    if (address >> 56 != shared_window >> 56) {
      by.warp.fail(by.step, by.lane, Rule::A_03,
                   cat("names an mbarrier at address 0x", hex(address), ", which is not in shared memory"));
      return std::nullopt;
    }
    address -= shared_window;
    space = Space::cluster;
  }
  const auto place = find_range(by.warp, by.step, by.lane, space, true, address, object_bytes, object_bytes);
  if (!place) return std::nullopt;
  Cta& block = by.warp.cta->cluster->blocks[rank_of(address)];
  if (reach == Reach::own_block && &block != by.warp.cta) {
    misuse(by, Rule::M_07,
           cat("names ", say_address(address), ", in ", say_block(block),
               ": of another block's, only arrivals without a result, expect_tx and complete_tx are possible"));
    return std::nullopt;
  }
  return Spot{address, *place, &block};
}

std::uint64_t load(const Place& place) {
  std::uint64_t word = 0;
  std::memcpy(&word, place.data, sizeof word);
  return word;
}
void store(const Place& place, std::uint64_t word) { std::memcpy(place.data, &word, sizeof word); }

// An mbarrier in a lane's hands.
struct Open {
  Spot spot;
  LiveMbarrier& live;
  Counts counts;
};
std::optional<Open> open(const Operator& by, Reach reach) {
  const auto spot = find_spot(by, reach);
  if (!spot) return std::nullopt;
  Cta& cta = *spot->block;
  const auto live = cta.mbarriers.find(spot->address);
  if (live == cta.mbarriers.end()) {
    misuse(by, Rule::M_01,
           cat("names an mbarrier at shared address 0x", hex(spot->address), ", where none is: nothing has initialised one"));
    return std::nullopt;
  }
  if (load(spot->place) != live->second.word) {
    misuse(by, Rule::M_03, cat("operates on ", say_address(spot->address), ", whose bytes something else has overwritten"),
           {cat("it was initialised at ", say_place(cta.launch->code, live->second.made_by))});
    return std::nullopt;
  }
  return Open{*spot, live->second, unpack(live->second.word)};
}

// Writes the counts back; a phase that lacks nothing is complete, and the next one begins.
void close(const Operator& by, Open& barrier) {
  Counts& counts = barrier.counts;
  if (by.warp.exploration != nullptr) by.warp.exploration->touch(by.warp, barrier.spot.place.data, true);
  if (counts.pending == 0 && counts.tx == 0) {
    ++counts.phase;
    ++barrier.live.phase;
    counts.pending = counts.expected;
    if (by.warp.races != nullptr) by.warp.races->complete_phase(by, barrier.spot.place.data);
    if (by.warp.observer != nullptr)
      by.warp.observer->complete_phase(by, *barrier.spot.block, barrier.spot.address, barrier.live.phase - 1);
  }
  barrier.live.word = pack(counts);
  store(barrier.spot.place, barrier.live.word);
  ++by.warp.cta->changes;
}

bool add_bytes(const Operator& by, Open& barrier, std::int64_t bytes) {
  const std::int64_t sum = barrier.counts.tx + bytes;
  constexpr std::int64_t most = max_count;
  if (sum < -most || sum > most) {
    misuse(by, Rule::M_05,
           cat("makes ", say_address(barrier.spot.address), sum > 0 ? " expect " : " complete ", sum > 0 ? sum : -sum,
               sum > 0 ? " bytes" : " bytes more than it expects", "; its count reaches to ", most));
    return false;
  }
  barrier.counts.tx = static_cast<std::int32_t>(sum);
  return true;
}

bool check_count(const Operator& by, std::uint32_t count, std::string_view does) {
  if (count >= 1 && count <= max_count) return true;
  misuse(by, Rule::M_04,
         cat(does, ' ', count, count == 1 ? " arrival" : " arrivals", " at an mbarrier; 1 to ", max_count, " can be"));
  return false;
}

}  // namespace

bool init(const Operator& by, std::uint32_t count) {
  if (!check_count(by, count, "expects")) return false;
  const auto spot = find_spot(by, Reach::own_block);
  if (!spot) return false;
  Cta& cta = *by.warp.cta;
  const auto [live, is_new] = cta.mbarriers.try_emplace(spot->address);
  const std::uint64_t fresh = pack({count, count, 0, 0});
  const std::uint32_t maker = by.warp.index * lane_count + static_cast<std::uint32_t>(by.lane);
  // Lanes that run one mbarrier.init together make the same mbarrier (ThunderKittens does), and so does a thread that says it
  // twice before anybody used it (Triton does, of warp-specialised kernels).
  const LiveMbarrier& before = live->second;
  const bool same = before.word == fresh && (before.made_by == by.step.item || before.maker == maker);
  // Of one that something has overwritten the memory is already in other use.
  if (!is_new && !same && load(spot->place) == live->second.word) {
    misuse(by, Rule::M_02,
           cat("initialises ", say_address(spot->address), ", which is in use: mbarrier.inval has to free it first"),
           {cat("it was initialised at ", say_place(cta.launch->code, live->second.made_by))});
    return false;
  }
  if (by.warp.races != nullptr) by.warp.races->initialise(by, spot->place.data);
  if (by.warp.exploration != nullptr) by.warp.exploration->touch(by.warp, spot->place.data, true);
  live->second = {fresh, 0, by.step.item, maker};
  store(spot->place, live->second.word);
  if (spot->place.written != nullptr) std::memset(spot->place.written, written_mark, object_bytes);
  ++cta.changes;
  return true;
}

bool invalidate(const Operator& by) {
  const auto barrier = open(by, Reach::own_block);
  if (!barrier) return false;
  if (by.warp.exploration != nullptr) by.warp.exploration->touch(by.warp, barrier->spot.place.data, true);
  if (by.warp.races != nullptr) by.warp.races->invalidate(by, barrier->spot.place.data);
  by.warp.cta->mbarriers.erase(barrier->spot.address);
  if (barrier->spot.place.written != nullptr) std::memset(barrier->spot.place.written, 0, object_bytes), ++marks_taken_back;
  ++by.warp.cta->changes;
  return true;
}

bool check(const Operator& by) { return open(by, Reach::own_block).has_value(); }

std::optional<std::uint64_t> arrive(const Operator& by, const Arrival& arrival) {
  if (!check_count(by, arrival.count, "counts")) return std::nullopt;
  auto barrier = open(by, arrival.returns ? Reach::own_block : Reach::cluster);
  if (!barrier) return std::nullopt;
  Counts& counts = barrier->counts;
  const std::uint64_t state = state_of(barrier->live.word, barrier->spot.address);
  if (arrival.expects && !add_bytes(by, *barrier, *arrival.expects)) return std::nullopt;
  if (arrival.count > counts.pending) {
    misuse(by, Rule::M_04,
           cat("arrives ", arrival.count, arrival.count == 1 ? " time" : " times", " at ", say_address(barrier->spot.address),
               ", whose phase ", barrier->live.phase, " lacks ", counts.pending, " of ", counts.expected, " arrivals"));
    return std::nullopt;
  }
  counts.pending -= arrival.count;
  if (arrival.drops) counts.expected -= std::min(counts.expected, arrival.count);
  if (!arrival.may_complete && counts.pending == 0 && counts.tx == 0) {
    misuse(by, Rule::M_06,
           cat("completes phase ", barrier->live.phase, " of ", say_address(barrier->spot.address),
               ", which an arrival with .noComplete must not"));
    return std::nullopt;
  }
  if (by.warp.races != nullptr) by.warp.races->arrive(by, barrier->spot.place.data, arrival.of_copies);
  if (by.warp.observer != nullptr) by.warp.observer->arrive(by, *barrier->spot.block, barrier->spot.address);
  close(by, *barrier);
  return state;
}

std::optional<bool> arrive_together(const Operator& by, std::uint32_t count) {
  auto barrier = open(by, Reach::cluster);
  if (!barrier) return std::nullopt;
  Counts& counts = barrier->counts;
  const std::uint64_t all = std::uint64_t{count} * static_cast<unsigned>(std::popcount(by.lanes()));
  if (count == 0 || all > counts.pending) return false;
  counts.pending -= static_cast<std::uint32_t>(all);
  if (by.warp.races != nullptr) by.warp.races->arrive(by, barrier->spot.place.data, false);
  close(by, *barrier);
  return true;
}

bool count_in(const Operator& by) {
  auto barrier = open(by, Reach::cluster);
  if (!barrier) return false;
  if (barrier->counts.pending == max_count) {
    misuse(by, Rule::M_04, cat("makes ", say_address(barrier->spot.address), " expect more than ", max_count, " arrivals"));
    return false;
  }
  ++barrier->counts.pending;
  close(by, *barrier);
  return true;
}

bool expect(const Operator& by, std::uint32_t bytes) {
  auto barrier = open(by, Reach::cluster);
  if (!barrier || !add_bytes(by, *barrier, bytes)) return false;
  close(by, *barrier);
  return true;
}

bool complete(const Operator& by, std::uint64_t bytes) {
  auto barrier = open(by, Reach::cluster);
  if (!barrier || !add_bytes(by, *barrier, -static_cast<std::int64_t>(bytes))) return false;
  if (by.warp.observer != nullptr) by.warp.observer->arrive(by, *barrier->spot.block, barrier->spot.address);
  close(by, *barrier);
  return true;
}

namespace {

// A wait for a phase that is `behind` phases before the current one.
bool note_wait(const Operator& by, const Open& barrier, std::uint32_t behind) {
  if (by.warp.exploration != nullptr) by.warp.exploration->touch(by.warp, barrier.spot.place.data, false);
  if (behind == 0) by.warp.awaited = {barrier.spot.address, barrier.live.phase};
  if (behind != 0 && by.warp.races != nullptr) by.warp.races->wait(by, barrier.spot.place.data);
  if (by.warp.observer != nullptr)
    by.warp.observer->ask_for_phase(by, barrier.spot.address, barrier.live.phase - (behind != 0 ? 1 : 0), behind != 0);
  return behind != 0;
}

}  // namespace

std::optional<bool> test_state(const Operator& by, std::uint64_t state) {
  const auto barrier = open(by, Reach::own_block);
  if (!barrier) return std::nullopt;
  if (!is_state(state) || state_of(state, barrier->spot.address) != state) {
    misuse(by, Rule::M_08,
           cat("asks ", say_address(barrier->spot.address), " for the state 0x", hex(state), ", which ",
               is_state(state) ? "an arrival at another mbarrier has returned" : "no arrival has returned"));
    return std::nullopt;
  }
  const std::uint32_t behind = (barrier->counts.phase - unpack(state).phase) & ((1u << phase_bits) - 1);
  if (behind > 1) {
    misuse(by, Rule::M_08,
           cat("asks for a phase of ", say_address(barrier->spot.address), " that is neither the current one, ",
               barrier->live.phase, ", nor the one before it"));
    return std::nullopt;
  }
  return note_wait(by, *barrier, behind);
}

std::optional<bool> test_parity(const Operator& by, std::uint32_t parity) {
  const auto barrier = open(by, Reach::own_block);
  if (!barrier) return std::nullopt;
  return note_wait(by, *barrier, (barrier->counts.phase ^ parity) & 1);
}

std::optional<std::uint32_t> pending_count(std::uint64_t state) {
  if (!is_state(state)) return std::nullopt;
  return unpack(state).pending;
}

Lacks lacks(std::uint64_t word) {
  const Counts counts = unpack(word);
  return {counts.expected, counts.pending, counts.tx};
}

std::string say(const Cta& cta, const AwaitedMbarrier& awaited) {
  std::string text = cat("phase ", awaited.phase, " of ", say_address(awaited.address));
  const auto live = cta.mbarriers.find(awaited.address);
  if (live == cta.mbarriers.end() || live->second.phase != awaited.phase) return text;
  const Counts counts = unpack(live->second.word);
  std::string lacks;
  if (counts.pending != 0) lacks = cat(counts.pending, " of ", counts.expected, counts.expected == 1 ? " arrival" : " arrivals");
  if (counts.tx > 0) lacks += cat(lacks.empty() ? "" : " and ", counts.tx, counts.tx == 1 ? " byte" : " bytes");
  if (!lacks.empty()) text += cat(", which lacks ", lacks);
  if (counts.tx < 0) text += cat(lacks.empty() ? ", to which " : "; ", -counts.tx, " bytes more have come than are expected");
  return text;
}

}  // namespace ptx::vgpu::mbarrier
